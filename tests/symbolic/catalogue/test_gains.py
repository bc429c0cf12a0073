"""Gains after the rotation: equal products in a plane commute with it, others are refuted digit by digit."""

import pytest
import sympy as sp
from exptx.symbolic import BadInput, D, Status, WrongType, decide, encoding

t, s = sp.symbols("t s", real=True)
w, a, b = sp.symbols("w a b", positive=True)


@pytest.mark.parametrize(
    ("position", "score"), [(0, "2"), (1, "1.291926581726429"), (2, "1.173178189568194")]
)
def test_one_plane_with_gain_two_and_one_swings_at_gap_zero(rounds_to, position, score):
    """1 + cos²(t) for q = k = (1, 0)."""
    given = encoding("untied_gains", head_dim=2, query_gains=[2, 1])
    assert rounds_to(given.score(position, position, q=[1, 0], k=[1, 0]), score)
    assert decide(given.score(t, t, q=[1, 0], k=[1, 0]), 1 + sp.cos(t) ** 2).holds


def test_the_derivative_along_equal_gaps_measures_the_difference_of_the_products():
    """(∂t + ∂s) of F(t)ᵀG(s) is -ω(e1 - e2) [[sin, cos], [cos, -sin]](ω(s+t)), e1 and e2 the products."""
    gains = {"query_gains": [a, 3], "key_gains": [2, b], "frequencies": [w]}
    given = encoding("untied_gains", head_dim=2, **gains)
    maps = given.query_factor(t).T * given.key_factor(s)
    slope = maps.applyfunc(lambda entry: D(entry, t) + D(entry, s))
    sine, cosine = sp.sin(w * (s + t)), sp.cos(w * (s + t))
    expected = -w * (2 * a - 3 * b) * sp.Matrix([[sine, cosine], [cosine, -sine]])
    assert decide(slope, expected).holds
    assert not decide(slope, -expected).holds


def test_untied_gains_are_refuted_at_two_pairs_of_equal_gap(row):
    given = encoding("untied_gains", head_dim=2, query_gains=[2, 1])
    verdict = given.is_relative()
    assert verdict.status is Status.REFUTED
    key, gap = (verdict.witness[x] for x in (s, sp.Symbol("u", real=True)))
    content = {x: verdict.witness[x] for x in [*given.content()[0], *given.content()[1]]}
    difference = (given.score(key + gap, key) - given.score(gap, 0)).subs(content)
    assert abs(difference.n(20)) > sp.Rational(1, 1000)
    assert row(given)[:3] == ["no", "no", "no"]


def test_free_gains_are_refuted_as_well():
    assert encoding("untied_gains", head_dim=4).is_relative().status is Status.REFUTED


@pytest.mark.parametrize(
    "gains",
    [
        {},
        {"query_gains": [2, 3, 6, 4], "key_gains": [3, 4, 1, 3]},
        {"query_gains": [1, 1, 1, 1], "key_gains": [5, 7, 5, 7]},
        {"query_gains": [a, b, a, b], "key_gains": [b, a, b, a]},
        {"interleaved": True},
    ],
)
def test_equal_products_in_every_plane_are_relative_and_inside(row, gains):
    given = encoding("tied_gains", head_dim=4, **gains)
    assert given.is_relative().holds
    assert row(given) == ["yes"] * 5


def test_tied_gains_weight_the_planes_of_rope():
    given = encoding("tied_gains", head_dim=2, query_gains=[2, 3], key_gains=[3, 2])
    assert decide(given.score(t, s), 6 * encoding("rope", head_dim=2).score(t, s)).holds


@pytest.mark.parametrize(
    ("name", "given", "error", "sentence"),
    [
        (
            "tied_gains",
            {"query_gains": [2, 1], "key_gains": [1, 1]},
            BadInput,
            "the gains of features 0 and 1, one plane, have products 2 and 1; equal products work",
        ),
        ("untied_gains", {"query_gains": [3, 3]}, BadInput, "agree on every plane; tied_gains takes these"),
        ("tied_gains", {"query_gains": [1]}, BadInput, "query_gains has 1 entries; 2 are needed"),
        ("untied_gains", {"key_gains": [1, 0.5]}, WrongType, r"key_gains\[1\] is .*, which is a float"),
    ],
)
def test_other_input_is_refused_in_one_sentence(name, given, error, sentence):
    with pytest.raises(error, match=sentence):
        encoding(name, head_dim=2, **given)
