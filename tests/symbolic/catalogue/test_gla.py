"""Gated linear attention: its recurrence, a clock a feature, gates refused."""

from fractions import Fraction

import pytest
import sympy as sp
from exptx.symbolic import BadInput, Status, encoding

GATES = [(Fraction(1, 2), Fraction(1, 3)), (Fraction(1, 4), Fraction(1)), (Fraction(2, 3), Fraction(3, 4))]
KEYS, QUERY = [(1, 2), (3, -1), (2, 2)], (5, 7)


def test_it_is_its_recurrence_exactly():
    """S ← Diag(α)S + k vᵀ with one-hot values: column s of S is what the key at s has become."""
    columns: list[tuple[Fraction, ...]] = []
    entry = encoding("gla", head_dim=2, forget=GATES)
    for gates, key in zip(GATES, KEYS, strict=True):
        columns = [tuple(g * x for g, x in zip(gates, column, strict=True)) for column in columns]
        columns.append(tuple(map(Fraction, key)))
    for position, column in enumerate(columns):
        expected = sum(q * x for q, x in zip(QUERY, column, strict=True))
        score = sp.expand(entry.score(2, position, q=list(QUERY), k=list(KEYS[position])))
        assert sp.simplify(score) == sp.Rational(expected)


def test_its_row_of_the_map(row):
    assert row(encoding("gla", head_dim=2)) == [
        "cocycle", "in-its-clocks", "in-its-clocks", "no", "forward-only",
    ]  # fmt: skip
    assert row(encoding("gla", head_dim=1))[1] == "in-its-clock"


def test_features_need_a_clock_each_unless_their_gates_are_powers():
    free = encoding("gla", head_dim=3)
    assert len(free.generators) == 3
    assert free.needs_one_clock().status is Status.REFUTED
    powers = [(Fraction(1, 2), Fraction(1, 4)), (Fraction(1, 3), Fraction(1, 9)), (Fraction(1), Fraction(1))]
    assert encoding("gla", head_dim=2, forget=GATES).needs_one_clock().status is Status.REFUTED
    one = encoding("gla", head_dim=2, forget=[[sp.Rational(x) for x in pair] for pair in powers])
    assert one.needs_one_clock().status in (Status.PROVED, Status.UNDECIDED)


def test_one_gate_a_feature_and_token():
    with pytest.raises(BadInput, match="2 work"):
        encoding("gla", head_dim=2, forget=[[1], [1]])
    with pytest.raises(BadInput, match="at most 1"):
        encoding("gla", head_dim=1, forget=[[2]])
