"""Transformer-XL: the lift against the four published terms, worked out by hand, and its row."""

import math

import pytest
import sympy as sp
from exptx.symbolic import BadInput, Status, enclose, encoding


def direct(gap, weights, q, k):
    """qᵀk + qᵀWR + uᵀk + vᵀWR with R = (sin, cos) of gap and gap/100, in floats."""
    content, position, matrix = weights
    sinusoid = [math.sin(gap), math.sin(gap / 100), math.cos(gap), math.cos(gap / 100)]
    projected = [sum(x * y for x, y in zip(row, sinusoid, strict=True)) for row in matrix]
    met = [(a + b, a + c) for a, b, c in zip(q, content, position, strict=True)]
    return sum(x * y + z * p for (x, z), y, p in zip(met, k, projected, strict=True))


@pytest.mark.parametrize("gap", [0, 3, -5, 1000])
def test_the_lift_gives_the_four_terms_of_the_paper(gap):
    given = encoding("transformer_xl", head_dim=2, position_dim=4)
    weights = ([2, -1], [1, 3], [[1, -2, 3, 1], [4, 1, -1, 2]])
    values = {sp.Symbol(f"{x}{i}", real=True): weights[n][i] for n, x in enumerate("ab") for i in (0, 1)}
    values |= {sp.Symbol(f"W{i}_{j}", real=True): weights[2][i][j] for i in (0, 1) for j in range(4)}
    q, k = [1, 2], [3, -1]
    found = enclose(given.score(gap + 11, 11, q=q, k=k).subs(values))
    assert abs(float(found.lower) - direct(gap, weights, q, k)) < 1e-9


def test_the_published_score_is_proved_equal_to_that_of_the_lift():
    given = encoding("transformer_xl", head_dim=3, position_dim=2)
    assert given.agreement.status is Status.PROVED
    assert given.generators[0].dim == 5
    assert "the published score is" in given.in_family().reason


def test_the_width_of_the_sinusoids_is_that_of_the_head_unless_given():
    assert encoding("transformer_xl", head_dim=4).parameters["position_dim"] == 4


def test_its_row(row):
    assert row(encoding("transformer_xl", head_dim=2)) == ["yes"] * 5


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"head_dim": 3}, "position_dim is 3, which is odd"),
        ({"head_dim": 2, "position_dim": 4, "frequencies": [1]}, "frequencies has 1 entries"),
    ],
)
def test_other_input_is_refused_in_one_sentence(given, sentence):
    with pytest.raises(BadInput, match=sentence):
        encoding("transformer_xl", **given)
