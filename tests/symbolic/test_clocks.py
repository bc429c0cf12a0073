"""Clocks: sums of gates, when one clock is enough, which gates count, and what order does to a product."""

from fractions import Fraction

import pytest
import sympy as sp
from exptx.symbolic.block import Block
from exptx.symbolic.clocks import (
    LONGEST,
    OTHER,
    TOKEN,
    Clock,
    any_product_is_a_cocycle,
    inclusive_is_exclusive,
    is_cocycle,
    joint_flow,
    one_clock,
    order_free,
)
from exptx.symbolic.decide import Status, decide
from exptx.symbolic.errors import BadInput, ExptxError, WrongType
from exptx.symbolic.generator import Generator

a, b = (sp.Function(name, real=True) for name in "ab")
x = sp.Symbol("x", real=True)
TURN = Generator.direct_sum(Block(0, 1))
FADE = Generator.direct_sum(Block(1), Block(1))
SLIDE = Generator.direct_sum(Block(0, size=2))
HALF = sp.Rational(1, 2)


# ---- sums of gates ----


def test_an_inclusive_sum_has_the_gates_after_s_up_to_t_and_an_exclusive_one_those_from_s_before_t():
    assert Clock().advance(5, 2) == a(3) + a(4) + a(5)
    assert Clock(inclusive=False).advance(5, 2) == a(2) + a(3) + a(4)


@pytest.mark.parametrize("inclusive", [True, False])
def test_advances_add_up_along_every_way_and_turn_round_in_sign(inclusive):
    clock = Clock(inclusive=inclusive)
    for t, s, r in ((5, 3, 0), (0, 4, 2), (2, 2, -3), (-4, 1, 1)):
        assert sp.expand(clock.advance(t, s) + clock.advance(s, r) - clock.advance(t, r)) == 0
        assert sp.expand(clock.advance(t, s) + clock.advance(s, t)) == 0


def test_given_gates_are_summed_and_known_for_their_own_tokens_only():
    values = [Fraction(1, 3), 2, 5, 7]
    clock = Clock(values=tuple(sp.Rational(v) for v in values))
    assert clock.advance(3, 0) == 14
    assert Clock(values=clock.values, inclusive=False).advance(3, 0) == sp.Rational(22, 3)
    for wrong in (4, -1):
        with pytest.raises(BadInput, match="tokens 0 to 3"):
            clock.advance(wrong, 0)
    with pytest.raises(BadInput, match="tokens 0 to 3"):
        clock.read(x)


def test_a_reading_is_a_sum_at_whole_numbers_and_opaque_elsewhere():
    assert Clock().read(sp.Integer(3)) == a(1) + a(2) + a(3)
    assert Clock().read(sp.S.Zero) == 0
    assert Clock().read(sp.Integer(-2)) == -a(0) - a(-1)
    assert Clock(reading="phi").read(x) == sp.Function("phi", real=True)(x)


def test_a_clock_that_only_moves_forward_has_no_negative_gate():
    with pytest.raises(BadInput, match="moves forward"):
        Clock(values=(sp.S.One, sp.Integer(-1)), forward=True)


def test_too_many_gates_are_not_written_out():
    with pytest.raises(BadInput, match=f"at most {LONGEST}"):
        Clock().advance(LONGEST + 1, 0)


# ---- cocycles ----


def test_two_commuting_generators_at_two_clocks_are_a_cocycle():
    verdict = is_cocycle([TURN, FADE])
    assert verdict.status is Status.PROVED
    assert "2 clocks" in verdict.reason
    d, e = sp.symbols("d e", real=True)
    turned = sp.exp(-e) * sp.Matrix([[sp.cos(d), -sp.sin(d)], [sp.sin(d), sp.cos(d)]])
    assert decide(joint_flow([TURN, FADE], [d, e]), turned).holds


def test_irrational_rates_are_freed_first():
    assert is_cocycle([Generator.direct_sum(Block(sp.sqrt(2), sp.log(3)))]).status is Status.PROVED


def test_generators_that_do_not_commute_are_no_cocycle_with_added_exponents():
    verdict = is_cocycle([TURN, SLIDE])
    assert verdict.status is Status.REFUTED
    assert "exponents do not add" in verdict.reason
    row, column = verdict.entry
    bracket = TURN.matrix * SLIDE.matrix - SLIDE.matrix * TURN.matrix
    assert bracket[row, column] != 0


# ---- one clock ----


def test_constant_ratios_need_one_clock():
    assert one_clock([a(TOKEN), 3 * a(TOKEN), -a(TOKEN) / 2]).status is Status.PROVED
    verdict = one_clock([[1, 0, 5], [2, 0, 10], [Fraction(1, 3), 0, Fraction(5, 3)]])
    assert verdict.status is Status.PROVED
    assert "1, 2, 1/3" in verdict.reason


def test_free_gates_need_a_clock_each():
    verdict = one_clock([a(TOKEN), b(TOKEN)])
    assert verdict.status is Status.REFUTED
    t, s = verdict.witness[TOKEN], verdict.witness[OTHER]
    numbers = [verdict.witness[f(x)] for f in (a, b) for x in (t, s)]
    assert numbers[0] * numbers[3] != numbers[1] * numbers[2]


@pytest.mark.parametrize(
    ("gates", "tokens", "clocks"),
    [
        ([[1, 2, 3], [2, 4, 7]], (0, 2), (0, 1)),
        ([[0, 0, 3, 1], [0, 1, 6, 2]], (1, 2), (1, 0)),
        ([[1, 1], [1, 1], [1, 2]], (0, 1), (0, 2)),
        ([[0, 1], [1, 0]], (0, 1), (1, 0)),
    ],
)
def test_the_witness_names_two_tokens_whose_ratio_differs(gates, tokens, clocks):
    verdict = one_clock(gates)
    assert verdict.status is Status.REFUTED
    assert (verdict.witness[OTHER], verdict.witness[TOKEN]) == tokens
    assert verdict.entry == clocks
    (p, q), (r, c) = tokens, clocks
    assert gates[r][p] * gates[c][q] != gates[c][p] * gates[r][q]


def test_gates_that_stand_still_need_one_clock_at_most():
    assert one_clock([[0, 0], [0, 0]]).status is Status.PROVED


def test_expressions_are_told_apart_at_whole_tokens():
    verdict = one_clock([(-1) ** TOKEN, sp.S.One])
    assert verdict.status is Status.REFUTED
    assert {int(verdict.witness[TOKEN]) % 2, int(verdict.witness[OTHER]) % 2} == {0, 1}
    assert one_clock([TOKEN**2, TOKEN * (TOKEN + 1)]).status is Status.REFUTED
    assert one_clock([TOKEN**2 + TOKEN, TOKEN * (TOKEN + 1)]).status is Status.PROVED


def test_a_difference_that_whole_tokens_do_not_show_is_left_open():
    verdict = one_clock([sp.sin(sp.pi * TOKEN), TOKEN])
    assert verdict.status is Status.UNDECIDED
    assert "no whole tokens" in verdict.reason


def test_dependent_generators_share_a_clock_whatever_the_gates():
    double = Generator.direct_sum(Block(0, 2))
    assert one_clock([a(TOKEN), b(TOKEN)], [TURN, double]).status is Status.PROVED
    assert one_clock([a(TOKEN), b(TOKEN)], [TURN, FADE]).status is Status.REFUTED
    assert one_clock([[1, 2], [3, 5]], [TURN, double]).status is Status.PROVED
    # X, 2X, Y with gates 1, 3, 1 and 2, 5, 2: the gates of X and Y are 7, 1 and 12, 2.
    assert one_clock([[1, 2], [3, 5], [1, 2]], [TURN, double, FADE]).status is Status.REFUTED
    # and with 1, 3, 1 and 2, 6, 2 they are 7, 1 and 14, 2.
    assert one_clock([[1, 2], [3, 6], [1, 2]], [TURN, double, FADE]).status is Status.PROVED


@pytest.mark.parametrize(
    ("gates", "error", "words"),
    [
        ([[0.5, 1], [1, 2]], WrongType, "float"),
        ([[1, 2], [1]], BadInput, "lengths"),
        ([a(TOKEN), [1, 2]], BadInput, "kinds"),
        ([], BadInput, "kinds"),
        (["ab", "cd"], WrongType, "list with one exact value"),
        ([[], []], WrongType, "list with one exact value"),
    ],
)
def test_gates_that_cannot_be_read_are_refused(gates, error, words):
    with pytest.raises(error, match=words):
        one_clock(gates)


def test_as_many_generators_as_gates():
    with pytest.raises(BadInput, match="1 generators and 2 gates"):
        one_clock([[1], [2]], [TURN])


# ---- inclusive and exclusive ----


def test_the_two_sums_agree_for_constant_gates_only():
    assert inclusive_is_exclusive([3, 3, 3]).status is Status.PROVED
    assert inclusive_is_exclusive(x).status is Status.PROVED
    verdict = inclusive_is_exclusive(a(TOKEN))
    assert verdict.status is Status.REFUTED
    t, s = int(verdict.witness[TOKEN]), int(verdict.witness[OTHER])
    assert t > s
    difference = Clock().advance(t, s) - Clock(inclusive=False).advance(t, s)
    assert sp.expand(difference - a(t) + a(s)) == 0
    assert difference.subs({f: v for f, v in verdict.witness.items() if not f.is_Symbol}) != 0


def test_the_witness_of_a_list_is_where_its_gates_first_change():
    gates = [2, 2, 5, 2]
    verdict = inclusive_is_exclusive(gates)
    t, s = int(verdict.witness[TOKEN]), int(verdict.witness[OTHER])
    assert (t, s) == (2, 0)
    assert sum(gates[s + 1 : t + 1]) != sum(gates[s:t])


def test_a_pole_at_a_token_is_passed_over():
    verdict = inclusive_is_exclusive(1 / TOKEN)
    assert verdict.status is Status.REFUTED
    assert verdict.witness[OTHER] > 0


# ---- order ----


def test_two_factors_in_both_orders_are_the_witness():
    one, two = sp.Matrix([[1, 1], [0, 1]]), sp.Matrix([[1, 0], [1, 1]])
    verdict = order_free([sp.eye(2), one, two])
    assert verdict.status is Status.REFUTED
    assert "factors 1 and 2" in verdict.reason
    assert (one * two - two * one)[verdict.entry] == 1


def test_commuting_factors_are_free_also_with_symbols():
    y = sp.Symbol("y", real=True)
    assert order_free([[[x, y], [-y, x]], [[1, 2], [-2, 1]]]).status is Status.PROVED
    assert order_free([[[x, y], [y, x]], [[1, 2], [-2, 1]]]).status is Status.REFUTED


def test_products_of_any_factors_are_cocycles():
    verdict = any_product_is_a_cocycle()
    assert verdict.status is Status.PROVED
    factors = [sp.Matrix([[i + j, i], [2, j - i]]) for i, j in ((1, 2), (0, 3), (4, -1), (2, 2))]

    def way(t, s):
        result = sp.eye(2)
        for factor in factors[s:t]:
            result = factor * result
        return result

    assert way(4, 2) * way(2, 0) == way(4, 0)
    assert way(4, 2) * way(3, 1) != way(4, 1)


def test_equal_generators_written_differently_are_never_told_apart():
    """log 6 = log 2 + log 3: one X, so one clock does; what is not decided is not refuted."""
    same = [Generator([[sp.log(6), 0], [0, 1]]), Generator([[sp.log(2) + sp.log(3), 0], [0, 1]])]
    assert one_clock([[1, 2], [3, 4]], same).status is not Status.REFUTED
    other = [Generator([[sp.log(6), 0], [0, 1]]), Generator([[sp.log(2), 0], [0, 1]])]
    assert one_clock([[1, 2], [3, 4]], other).status is Status.REFUTED


def test_a_gate_with_three_powers_is_not_taken_for_two():
    """0 is parallel to everything, so every pair of clocks counts, not only those with the first one."""
    assert one_clock([sp.S.Zero, TOKEN, TOKEN**2]).status is Status.REFUTED
    assert one_clock([[0, 0], [1, 2], [1, 4]]).status is Status.REFUTED


@pytest.mark.parametrize(
    ("gates", "generators", "sentence"),
    [
        (None, None, "gates is a NoneType"),
        ("ab", None, "gates is a str"),
        ([[1]], [None], r"generators\[0\] is a NoneType"),
        ([[1], [2]], [Generator([[1]]), Generator([[0, 1], [0, 0]])], r"sizes \[1, 2\]"),
    ],
)
def test_what_is_no_list_of_gates_or_generators_is_refused(gates, generators, sentence):
    with pytest.raises(ExptxError, match=sentence):
        one_clock(gates, generators)


def test_factors_are_a_list():
    with pytest.raises(WrongType, match="factors is a NoneType"):
        order_free(None)
