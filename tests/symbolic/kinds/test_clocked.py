"""Encodings read at clocks: cocycles, relative in the clocks, refuted in positions with gates as witness."""

import math
from dataclasses import replace

import pytest
import sympy as sp
from exptx.symbolic import encoding
from exptx.symbolic.block import Block
from exptx.symbolic.clocks import Clock
from exptx.symbolic.decide import Status, decide
from exptx.symbolic.errors import BadInput
from exptx.symbolic.generator import Generator
from exptx.symbolic.kinds.clocked import Clocked, held
from exptx.symbolic.kinds.generated import Bias
from exptx.symbolic.verdicts import verdicts

t, s, u = sp.symbols("t s u", real=True)
a, b = (sp.Function(name, real=True) for name in "ab")
FADE = Generator.direct_sum(Block(1), Block(1))
TURN = Generator.direct_sum(Block(0, 1), basis=sp.diag(1, -1))
SLIDE = Bias(Generator.direct_sum(Block(0, size=2)), sp.ImmutableMatrix([-1, 0]), sp.ImmutableMatrix([0, 1]))
DECAY, ANGLE = Clock(forward=True), Clock("b", "phi")


def both(**changes):
    """A decay at one clock and a turn at another, on one plane."""
    return replace(Clocked("both", {}, 2, (DECAY, ANGLE), (FADE, TURN)), **changes)


def test_a_decay_and_a_turn_at_two_clocks_are_relative_in_both_and_not_in_positions():
    found = verdicts(both())
    words = {name: getattr(found, name).word for name in ("group", "relative", "family")}
    assert words == {"group": "cocycle", "relative": "in its clocks", "family": "in its clocks"}
    assert both().has_group_law().status is Status.REFUTED
    assert both().in_family().status is Status.REFUTED
    assert both().is_cocycle().status is Status.PROVED


def test_the_witness_is_two_pairs_of_equal_gap_with_the_gates_passed():
    verdict = both().is_relative()
    assert verdict.status is Status.REFUTED
    key, gap = verdict.witness[s], verdict.witness[u]
    rest = {x: value for x, value in verdict.witness.items() if x not in (s, u)}
    assert any(x.func.__name__ == "a" for x in rest)
    difference = both().score(key + gap, key).subs(rest) - both().score(gap, 0).subs(rest)
    assert abs(difference.n(30)) > sp.Rational(1, 10**5)


def test_the_score_is_written_in_the_gates_between():
    score = both().score(4, 2, q=[1, 0], k=[1, 0])
    assert decide(score.subs({a(3): 2, a(4): 3, b(3): 1, b(4): 4}), sp.exp(-5) * sp.cos(5)).holds
    assert both().score(2, 2, q=[3, 0], k=[5, 1]) == 15
    ahead = both().score(2, 4, q=[1, 0], k=[1, 0])
    assert decide(ahead.subs({a(3): 2, a(4): 3, b(3): 1, b(4): 4}), sp.exp(5) * sp.cos(5)).holds


def test_symbolic_positions_have_opaque_readings():
    score = both().score(t, s, q=[1, 0], k=[1, 0])
    names = {call.func.__name__ for call in score.atoms(sp.core.function.AppliedUndef)}
    assert names == {"tau", "phi"}


def test_query_and_key_factors_give_the_score_together():
    whole = both().query_factor(sp.Integer(3)).T * both().key_factor(sp.Integer(1))
    values = {a(1): 1, a(2): 2, a(3): 5, b(1): 1, b(2): 3, b(3): 4}
    assert decide(whole.subs(values), both().evolution(sp.Integer(3), sp.Integer(1)).subs(values)).holds
    assert (
        abs(
            both().evolution(sp.Integer(3), sp.Integer(1)).subs(values)[0, 0].n() - math.exp(-7) * math.cos(7)
        )
        < 1e-12
    )


def test_a_forward_clock_of_a_decay_bounds_it_forward_and_a_turn_is_bounded_anyway():
    assert both().is_bounded().status is Status.REFUTED
    assert both().is_bounded("causal").status is Status.PROVED
    assert both(clocks=(Clock(), ANGLE)).is_bounded("causal").status is Status.REFUTED
    turn = Clocked("turn", {}, 2, (ANGLE,), (TURN,))
    assert turn.is_bounded().status is Status.PROVED
    assert turn.is_bidirectional().status is Status.PROVED
    assert both().is_bidirectional().status is Status.REFUTED
    assert "clock 0" in both().is_bidirectional().reason


def test_a_bias_rises_without_bound_when_keys_lie_ahead():
    slide = Clocked("slide", {}, 2, (DECAY,), (held(2),), ((0, SLIDE),))
    assert slide.score(5, 3) == slide.score(5, 5) - a(4) - a(5)
    verdict = slide.is_bidirectional()
    assert verdict.status is Status.REFUTED
    assert "upper bound" in verdict.reason
    assert slide.is_relative_in_clocks().status is Status.PROVED
    assert len(slide.generators) == 1
    assert slide.generators[0].dim == 4


def test_a_clock_moves_its_own_bias_and_no_other():
    mixed = Clocked("mixed", {}, 2, (DECAY, ANGLE), (held(2), TURN), ((0, SLIDE),))
    assert mixed.score(3, 2, q=[0, 0], k=[0, 0]) == -a(3)
    assert mixed.is_cocycle().status is Status.PROVED


def test_two_clocks_are_needed_for_free_gates_and_one_for_gates_in_one_ratio():
    assert both().needs_one_clock().status is Status.REFUTED
    ratio = both(clocks=(Clock(values=(1, 2, 5)), Clock("b", "phi", values=(3, 6, 15))))
    assert ratio.needs_one_clock().status is Status.PROVED
    mixed = both(clocks=(Clock(values=(sp.S.One, sp.Integer(2))), ANGLE))
    assert mixed.needs_one_clock().status is Status.REFUTED


def test_given_gates_are_relative_exactly_when_every_step_is_the_same():
    def given(gates):
        return Clocked("fade", {}, 2, (Clock(values=tuple(map(sp.Rational, gates))),), (FADE,))

    assert given([9, 1, 1, 1]).is_relative().status is Status.PROVED  # token 0 is never passed
    assert given([9, 1, 1, 1]).in_family().status is Status.PROVED
    verdict = given([1, 1, 1, 2]).is_relative()
    assert verdict.status is Status.REFUTED
    assert (verdict.witness[s], verdict.witness[u]) == (2, 1)
    exclusive = replace(given([1, 1, 1, 2]), clocks=(Clock(values=(1, 1, 1, 2), inclusive=False),))
    assert exclusive.is_relative().status is Status.PROVED
    assert given([1, 1]).is_relative_in_clocks().status is Status.PROVED


def test_one_step_is_always_one_and_the_same():
    short = Clocked("fade", {}, 2, (Clock(values=(sp.S.One,)),), (FADE,))
    assert short.is_relative().status is Status.PROVED


def test_clocks_without_generators_of_the_right_size_are_refused():
    with pytest.raises(BadInput, match="1 clocks and 2 generators"):
        both(clocks=(DECAY,))
    with pytest.raises(BadInput, match="size 3"):
        both(movers=(FADE, held(3)))


def test_generators_that_do_not_commute_are_no_cocycle():
    mixed = both(movers=(Generator.direct_sum(Block(0, size=2)), TURN))
    assert mixed.is_cocycle().status is Status.REFUTED
    assert mixed.is_relative_in_clocks().status is Status.REFUTED


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("fox", {"forget": (1, 1, 1)}),
        ("gla", {"forget": [(1, 1)] * 3}),
        ("mamba2", {"decay": (0, 0, 0)}),
    ],
)
def test_a_clock_that_never_moves_bounds_everything(name, given):
    """Forget gates of 1 and decays of 0 leave every score as it is without positions."""
    still = encoding(name, head_dim=2, **given)
    assert still.score(2, 0, q=[1, 2], k=[3, 4]) == 11
    assert still.is_bounded().holds
    assert still.is_bidirectional().holds


def test_a_clock_of_which_one_gate_moves_does_not_stand():
    assert not Clock(values=(sp.S.Zero, sp.S.One)).stands
    assert not Clock().stands
    assert Clock(values=(sp.S.Zero, sp.log(1))).stands
    moving = encoding("mamba2", head_dim=2, decay=(0, 0, 1))
    assert moving.is_bounded().status is Status.REFUTED
