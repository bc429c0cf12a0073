"""Householder-like products: the printed factor, caches and states of the code, what is singular."""

from fractions import Fraction

import pytest
import sympy as sp
from exptx.symbolic import BadInput, Status, WrongType, encoding

HALF = sp.Rational(1, 2)
SLANTED = [sp.Rational(3, 5), sp.Rational(4, 5)]
VECTORS = [[1, 2], [Fraction(3, 5), Fraction(-4, 5)], [0, 1], [2, Fraction(1, 3)]]
BETAS = [Fraction(1, 2), Fraction(3, 4), Fraction(5, 4), Fraction(1, 5)]
KEYS, QUERY = [[1, 2], [3, -1], [2, 5], [1, 1]], [2, -3]


def test_the_printed_factor_and_its_determinant():
    factor = encoding("path", head_dim=2, vectors=[SLANTED] * 2, betas=[HALF] * 2).evolution(1, 0)
    assert factor == sp.Matrix([["41/50", "-6/25"], ["-6/25", "17/25"]])
    assert factor.det() == HALF


def test_path_is_the_cache_that_updates_every_earlier_key():
    """k ← k - β(k·w)w for the keys before a token, whose own key enters as it is."""
    entry = encoding("path", head_dim=2, vectors=VECTORS, betas=BETAS)
    cache: list[list[Fraction]] = []
    for w, beta, key in zip(VECTORS, BETAS, KEYS, strict=True):
        for old in cache:
            along = beta * sum(x * y for x, y in zip(old, w, strict=True))
            old[:] = [x - along * y for x, y in zip(old, w, strict=True)]
        cache.append([Fraction(x) for x in key])
    for position, old in enumerate(cache):
        expected = sum(q * x for q, x in zip(QUERY, old, strict=True))
        assert entry.score(3, position, q=QUERY, k=KEYS[position]) == sp.Rational(expected)


def test_deltanet_is_the_state_that_first_takes_out_what_it_holds():
    """S ← S + k(β(v - Sᵀk))ᵀ with one-hot values v_s = e_s: then Sᵀq has β_s times the score at s."""
    entry = encoding("deltanet", head_dim=2, keys=KEYS, betas=BETAS)
    state = [[Fraction(0)] * 4 for _ in range(2)]
    for token, (key, beta) in enumerate(zip(KEYS, BETAS, strict=True)):
        held = [sum(state[i][c] * key[i] for i in range(2)) for c in range(4)]
        written = [beta * ((c == token) - held[c]) for c in range(4)]
        state = [[state[i][c] + key[i] * written[c] for c in range(4)] for i in range(2)]
    for position, beta in enumerate(BETAS):
        output = sum(state[i][position] * QUERY[i] for i in range(2))
        score = entry.score(3, position, q=QUERY, k=KEYS[position])
        assert sp.Rational(output) == sp.Rational(beta) * score


def test_gated_deltanet_fades_the_state_before_it_takes_out_what_is_held():
    """S ← αS, then S ← S + k(β(v - Sᵀk))ᵀ with one-hot values v_s = e_s."""
    gates = [Fraction(1, 2), Fraction(2, 3), Fraction(1, 5), Fraction(3, 4)]
    entry = encoding("gated_deltanet", head_dim=2, keys=KEYS, betas=BETAS, forget=gates)
    state = [[Fraction(0)] * 4 for _ in range(2)]
    for token, (key, beta, alpha) in enumerate(zip(KEYS, BETAS, gates, strict=True)):
        state = [[alpha * x for x in line] for line in state]
        held = [sum(state[i][c] * key[i] for i in range(2)) for c in range(4)]
        written = [beta * ((c == token) - held[c]) for c in range(4)]
        state = [[state[i][c] + key[i] * written[c] for c in range(4)] for i in range(2)]
    for position, beta in enumerate(BETAS):
        output = sum(state[i][position] * QUERY[i] for i in range(2))
        score = entry.score(3, position, q=QUERY, k=KEYS[position])
        assert sp.Rational(output) == sp.Rational(beta) * score
    assert entry.parameters["forget"] == tuple(map(sp.Rational, gates))
    assert entry.parameters["betas"] == tuple(map(sp.Rational, BETAS))


def test_factors_within_the_premise_of_the_source_shorten_and_others_may_not():
    for name in ("path", "deltanet", "gated_deltanet"):
        verdict = encoding(name, head_dim=3).is_bounded("causal")
        assert verdict.status is Status.PROVED
        assert "no factor makes a vector longer" in verdict.reason
    far = encoding("deltanet", head_dim=2, keys=[[1, 0], [1, 1]], betas=[2, Fraction(11, 10)])
    assert far.is_bounded("causal").status is Status.NOT_CHECKED
    edge = encoding("deltanet", head_dim=2, keys=[[1, 0], [1, 1]], betas=[2, 1])
    assert edge.is_bounded("causal").status is Status.PROVED


def test_rows_of_the_map(row):
    for name in ("path", "deltanet", "gated_deltanet"):
        assert row(encoding(name, head_dim=2)) == ["cocycle", "no", "no", "no", "forward-only"]


def test_order_counts_with_unit_vectors_and_strengths_the_code_admits():
    verdict = encoding("path", head_dim=3).is_relative()
    assert verdict.status is Status.REFUTED
    numbers = {str(x): value for x, value in verdict.witness.items()}
    for token in {name[-2] for name in numbers if name.startswith("beta")}:
        assert 0 < numbers[f"beta({token})"] < 2
        assert sum(numbers[f"w{i}({token})"] ** 2 for i in range(3)) == 1
    assert encoding("path", head_dim=3).is_relative_in_clocks().status is Status.REFUTED


def test_one_feature_has_no_order():
    assert encoding("path", head_dim=1).is_relative_in_clocks().status is Status.PROVED
    assert encoding("path", head_dim=1).is_relative().status is Status.REFUTED


def test_full_strength_along_a_unit_vector_has_no_key_side():
    singular = encoding("path", head_dim=2, vectors=[SLANTED] * 2, betas=[HALF, 1])
    assert singular.has_key_side().status is Status.REFUTED
    assert encoding("path", head_dim=2).has_key_side().status is Status.REFUTED
    regular = encoding("path", head_dim=2, vectors=VECTORS, betas=BETAS)
    assert regular.has_key_side().status is Status.PROVED
    split = regular.query_factor(sp.Integer(3)).T * regular.key_factor(sp.Integer(1))
    assert split == regular.evolution(3, 1)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"vectors": [[1, 0]]}, WrongType, "betas"),
        ({"betas": [1]}, WrongType, "vectors"),
        ({"vectors": [[1, 0]], "betas": [1, 1]}, BadInput, "one of each"),
        ({"vectors": [[1]], "betas": [1]}, BadInput, "2 exact numbers"),
        ({"vectors": [[0.5, 1]], "betas": [1]}, WrongType, "float"),
    ],
)
def test_tokens_that_do_not_fit_are_refused(given, error, words):
    with pytest.raises(error, match=words):
        encoding("path", head_dim=2, **given)
