"""Sums: scores add, answers are those of the sum, at most one part moves, biases keep their scale."""

from dataclasses import replace

import pytest
import sympy as sp
from exptx.symbolic import BadInput, Status, WrongType, encoding
from exptx.symbolic.kinds.formula import Formula
from exptx.symbolic.kinds.generated import Generated
from exptx.symbolic.kinds.summed import Sum
from exptx.symbolic.verdicts import verdicts

t, s, u = sp.symbols("t s u", real=True)
D = {"head_dim": 4}
ROPE, KEYS_ONLY = encoding("rope", **D), encoding("keys_only", **D)
RERUN = encoding("rerope", window=3, **D)
ALIBI = encoding("alibi", slope=1, **D)
KERPLE = encoding("kerple_log", r1=1, r2=1, **D)
SYMMETRIC = encoding("symmetric_distance", slope=2, **D)
FIRE, FOX, PATH = encoding("fire", **D), encoding("fox", **D), encoding("path", **D)
SINUSOIDAL = encoding("sinusoidal", **D)


def bias(formula, name="given"):
    """q·k + formula in t and s."""
    return Formula(name, {}, 4, bias_formula=lambda a, b: formula.subs({t: a, s: b}, simultaneous=True))


def words(given):
    return " ".join(answer.word.replace(" ", "-") for answer in verdicts(given).answers().values())


SUMS = [  # group law, relative, in the family, bidirectional, bounded
    (ROPE + KERPLE, "no yes no yes no"),
    (KERPLE + ROPE, "no yes no yes no"),
    (ROPE + FIRE, "no no no not-applicable not-applicable"),
    (ROPE + ALIBI + KERPLE, "no yes no no no"),
    (ROPE + ALIBI + SYMMETRIC, "no yes no yes no"),
    (ALIBI + bias(t - s) + ROPE, "yes yes yes no no"),
    (ROPE + FOX, "cocycle in-its-clocks in-its-clocks no no"),
    (encoding("nope", **D) + FOX, "cocycle in-its-clock in-its-clock no no"),
    (ALIBI + FOX, "cocycle in-its-clocks in-its-clocks no no"),
    (KERPLE + FOX, "no in-its-clock no no no"),
    (PATH + FOX, "cocycle no no no no"),
    (RERUN + KERPLE, "no yes no yes no"),
    (ROPE + encoding("grape_ap", **D), "no no no not-applicable not-applicable"),
    (encoding("axial", **D) + encoding("swin", window=2, **D), "no yes no yes yes"),
    (ROPE + bias(sp.cos(t - s)), "yes yes yes yes yes"),
    (ROPE + bias(t * s), "no no no no no"),
    (KEYS_ONLY + KERPLE, "no no no yes no"),
]


@pytest.mark.parametrize(("given", "expected"), SUMS, ids=[one[0].name for one in SUMS])
def test_the_row_of_a_sum_is_computed_from_the_sum(given, expected):
    assert words(given) == expected


def test_biases_that_are_not_relative_may_cancel():
    one, two = bias(t * s, "one"), bias(-t * s + sp.cos(t - s), "two")
    assert one.is_relative().status is two.is_relative().status is Status.REFUTED
    assert words(ROPE + one + two) == "yes yes yes yes yes"
    assert words(ROPE + one + two + KERPLE) == "no yes no yes no"
    apart = ROPE + one + bias(t**2, "square")
    assert apart.is_relative().status is Status.REFUTED
    at = {str(x): value for x, value in apart.is_relative().witness.items()}
    zero = {"q": [0] * 4, "k": [0] * 4}
    moved, fixed = apart.score(at["s"] + at["u"], at["s"], **zero), apart.score(at["u"], 0, **zero)
    assert moved - fixed == sp.Rational(apart.is_relative().gap) != 0


def test_biases_outside_the_family_may_cancel():
    assert words(ROPE + bias(sp.Abs(t - s), "up") + bias(-sp.Abs(t - s), "down")) == "yes yes yes yes yes"
    assert (
        words(ROPE + bias(sp.Abs(t - s), "up") + bias(sp.log(1 + (t - s) ** 2), "log")) == "no yes no no no"
    )


def test_no_bias_undoes_what_a_part_does_to_the_content():
    verdict = (KEYS_ONLY + FIRE).is_relative()
    assert verdict.status is Status.REFUTED
    assert "the same for q and -q" in verdict.reason


def test_a_constant_slot_and_a_bias_are_read_together():
    """With w = 1 and no content sinusoidal gives cos(t - s) + …; the witness is for the whole score."""
    both = SINUSOIDAL + bias(t * s)
    verdict = both.is_relative()
    assert verdict.status is Status.REFUTED
    at = {str(x): value for x, value in verdict.witness.items()}
    q, k = ([at.get(f"{letter}{i}", 0) for i in range(4)] for letter in "qk")
    moved, fixed = both.score(at["s"] + at["u"], at["s"], q=q, k=k), both.score(at["u"], 0, q=q, k=k)
    assert abs((moved - fixed).n(30) - sp.Rational(verdict.gap)) < sp.Rational(1, 10**8)


@pytest.mark.parametrize(
    ("whole", "moving", "others"),
    [
        (ROPE + ALIBI + KERPLE, ROPE, (ALIBI, KERPLE)),
        (KERPLE + ALIBI, encoding("nope", **D), (KERPLE, ALIBI)),
        (SINUSOIDAL + KERPLE, SINUSOIDAL, (KERPLE,)),
        (encoding("pope", **D) + KERPLE, encoding("pope", **D), (KERPLE,)),
        (RERUN + SYMMETRIC, RERUN, (SYMMETRIC,)),
    ],
)
def test_scores_add(whole, moving, others):
    zero = {"q": [0] * 4, "k": [0] * 4}
    added = sum(other.score(t, s, **zero) for other in others)
    assert sp.expand(whole.score(t, s) - moving.score(t, s) - added) == 0
    assert whole.score(5, 2) == moving.score(5, 2) + added.subs({t: 5, s: 2})
    assert whole.maps(t, s)["bias"][0] == whole.bias(t, s) == added


def test_parts_and_sentence_name_what_was_added():
    whole = ROPE + ALIBI + KERPLE
    assert isinstance(whole, Sum)
    assert isinstance(ROPE + ALIBI, Generated)
    assert whole.parts == (ROPE, ALIBI, KERPLE)
    assert whole.sentence == " + ".join(part.sentence for part in whole.parts)
    assert whole == ROPE + (ALIBI + KERPLE)
    assert whole != ROPE + KERPLE
    assert whole.heads == (whole,)


def test_a_bias_keeps_its_scale():
    sigma = sp.Symbol("sigma", positive=True)
    scaled = encoding("kerple_log", r1=1, r2=1, scale=sigma, **D)
    assert (ROPE + scaled).scale == (scaled + ROPE).scale == sigma
    with pytest.raises(BadInput, match="alibi has scale 1/2 and kerple_log has scale sigma; give both the"):
        ALIBI + scaled
    with pytest.raises(BadInput, match="mamba2 has scale 1 and kerple_log has scale 1/2"):
        encoding("mamba2", **D) + KERPLE
    t5 = encoding("t5", num_buckets=4, max_distance=8, **D)
    assert (encoding("alibi", slope=1, scale=1, **D) + t5).scale == 1


def test_heads_add_head_by_head():
    heads = encoding("alibi", num_heads=2, **D)
    for whole in (heads + KERPLE + ROPE, ROPE + (KERPLE + heads)):
        assert len(whole.heads) == 2
        assert words(whole) == "no yes no no no"
        zero = {"q": [0] * 4, "k": [0] * 4}
        difference = whole.heads[0].score(3, 1, **zero) - whole.heads[1].score(3, 1, **zero)
        assert difference == -2 * 2 * (sp.Rational(1, 16) - sp.Rational(1, 256))


BOTH_MOVE = "both move the content or the values; in a sum one part may, and the others only add a bias"


@pytest.mark.parametrize(
    ("one", "two", "text"),
    [
        (ROPE, RERUN, f"rope and rerope cannot be added: {BOTH_MOVE}"),
        (SINUSOIDAL + KERPLE, ROPE, f"sinusoidal . kerple_log and rope cannot be added: {BOTH_MOVE}"),
        (encoding("rotated_values", **D), KEYS_ONLY, BOTH_MOVE),
        (encoding("cope", positions=2, **D), ROPE, BOTH_MOVE),
        (
            KERPLE,
            encoding("swin", window=2, **D),
            "positions of swin have 2 coordinates, those of kerple_log",
        ),
        (KERPLE, encoding("rope", head_dim=6), "kerple_log has head_dim 4 and rope has head_dim 6"),
    ],
)
def test_a_refusal_states_the_rule_that_is_applied(one, two, text):
    with pytest.raises(BadInput, match=text):
        one + two


@pytest.mark.parametrize("call", [lambda: KERPLE + 1, lambda: 1 + KERPLE, lambda: ROPE + "rope"])
def test_only_encodings_add(call):
    with pytest.raises(WrongType, match="another encoding works"):
        call()


def test_given_gates_that_are_all_alike_make_a_sum_relative():
    same = encoding("fox", forget=[sp.S.Half] * 4, **D)
    other = replace(same, clocks=(replace(same.clocks[0], values=(sp.S.One, sp.S.One, sp.Integer(2))),))
    assert (ROPE + same).is_relative().status is Status.PROVED
    assert (ROPE + other).is_relative().status is Status.REFUTED
