"""A matrix of both positions: every entry is decided, whether it is told apart, a flow, or neither."""

import pytest
import sympy as sp
from exptx.symbolic import Status, Unsupported
from exptx.symbolic.kinds.paired import Paired

t, s, u = sp.symbols("t s u", real=True)


def paired(matrix, size=1, slots=1):
    return Paired("test", {}, size, slots=slots, matrix=lambda _, a, b: sp.Matrix(matrix(a, b)))


def test_the_score_is_a_form_in_content_and_constant_ones():
    given = paired(lambda a, b: [[2, a], [b, a * b]])
    assert sp.expand(given.score(3, 5, q=[7], k=[11]) - (2 * 77 + 3 * 7 + 5 * 11 + 15)) == 0


@pytest.mark.parametrize("place", range(4))
def test_an_entry_that_is_no_function_of_the_gap_refutes_relativity(place):
    def matrix(a, b):
        entries = [a - b] * 4
        entries[place] = a
        return [entries[:2], entries[2:]]

    verdict = paired(matrix).is_relative()
    assert verdict.status is Status.REFUTED
    given = paired(matrix)
    witness = {x: value for x, value in verdict.witness.items() if x not in (s, u)}
    key, gap = verdict.witness[s], verdict.witness[u]
    difference = (given.score(key + gap, key) - given.score(gap, 0)).subs(witness)
    assert sp.Rational(verdict.gap) == difference != 0
    assert given.is_bidirectional().status is given.is_bounded().status is Status.REFUTED


def test_entries_that_are_exponential_polynomials_make_a_member():
    def member(a, b):
        return [[sp.exp(b - a), sp.cos(a - b)], [a - b, 1]]

    assert paired(member).in_family().status is Status.PROVED
    assert paired(lambda a, b: [[1, sp.Max(a - b, 0)], [0, 1]]).in_family().status is Status.REFUTED


@pytest.mark.parametrize(
    ("entry", "answer"), [(sp.cos(u), Status.PROVED), (-u, Status.REFUTED), (sp.exp(u), Status.REFUTED)]
)
def test_entries_meet_the_content_so_both_signs_of_them_are_bounded(entry, answer):
    assert paired(lambda a, b: [[entry.subs(u, a - b), 0], [0, 0]]).is_bidirectional().status is answer


def test_there_are_no_factors_and_large_heads_are_written_as_a_matrix():
    given = paired(lambda a, b: sp.eye(9), size=8)
    for factor in (given.query_factor, given.key_factor):
        with pytest.raises(Unsupported, match="no product of a query factor and a key factor"):
            factor(t)
    assert "M(t, s)" in given.latex()
    assert "M(t, s)" not in paired(lambda a, b: sp.eye(2)).latex()


def test_what_is_not_decided_to_be_relative_is_not_decided_to_be_bidirectional():
    """log(4 + 4a²) - log(1 + a²) is log 4, which the procedure does not know."""
    given = paired(lambda a, b: [[sp.log(4 + 4 * a**2) - sp.log(1 + a**2), 0], [0, 0]])
    assert given.is_relative().status is given.is_bidirectional().status is Status.UNDECIDED
