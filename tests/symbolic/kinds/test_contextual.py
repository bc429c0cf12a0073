"""Scores that look at the tokens between: told apart by positions alone if possible, else by the tokens."""

import pytest
import sympy as sp
from exptx.symbolic import Status, Unsupported
from exptx.symbolic.kinds.contextual import Contextual, summed

t, s, u = sp.symbols("t s u", real=True)


def contextual(rule, size=1, **given):
    return Contextual("test", {}, size, rule=rule, **given)


def confirmed(given):
    """The verdict, its difference by plain substitution of the witness."""
    verdict = given.is_relative()
    assert verdict.status is Status.REFUTED
    witness = {x: value for x, value in verdict.witness.items() if x not in (s, u)}
    key, gap = verdict.witness[s], verdict.witness[u]
    difference = given.score(key + gap, key).subs(witness) - given.score(gap, 0).subs(witness)
    assert difference == sp.Rational(verdict.gap) != 0
    return verdict


def test_a_rule_of_the_absolute_position_is_refuted_with_equal_tokens():
    given = contextual(lambda q, k, x, a, b: q.dot(k) + summed(lambda n: n * x(n)[0], b + 1, a))
    assert "every token between e0" in confirmed(given).reason


def test_a_count_of_tokens_is_refuted_by_other_tokens():
    given = contextual(lambda q, k, x, a, b: q.dot(k) + summed(lambda n: x(n)[0], b + 1, a))
    assert "(-1)^l e0" in confirmed(given).reason
    assert given.in_family().status is given.has_group_law().status is Status.REFUTED


def test_a_rule_that_ignores_the_tokens_is_left_open():
    """It is relative, but that is not what is asked here."""
    given = contextual(lambda q, k, x, a, b: q.dot(k) * (a - b))
    assert given.is_relative().status is given.in_family().status is Status.UNDECIDED


def test_a_sum_is_written_out_between_whole_positions():
    x = sp.Function("x", real=True)
    assert summed(x, sp.Integer(2), sp.Integer(4)) == x(2) + x(3) + x(4)
    assert summed(x, sp.Integer(2), sp.Integer(1)) == 0
    index = sp.Symbol("l", integer=True)
    assert summed(x, s + 1, t) == sp.Sum(x(index), (index, s + 1, t))


def test_what_does_not_arise_is_said_so():
    given = contextual(lambda q, k, x, a, b: q.dot(k) + x(a)[0], size=6)
    assert {given.is_bidirectional().status, given.is_bounded().status} == {Status.NOT_CHECKED}
    assert r"f(q, k, x_{s+1}" in given.latex()
    with pytest.raises(Unsupported, match="tokens between key and query"):
        given.query_factor(t)
