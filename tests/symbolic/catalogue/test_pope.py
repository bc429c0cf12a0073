"""PoPE: one angle a feature, magnitudes by softplus, and its row."""

import math

import pytest
import sympy as sp
from exptx.symbolic import BadInput, Status, WrongType, enclose, encoding
from exptx.symbolic.catalogue.pope import MAGNITUDE

THIRD = sp.Rational(1, 3)


def test_the_frequencies_are_one_a_feature():
    given = encoding("pope", head_dim=4)
    expected = [sp.Integer(10000) ** sp.Rational(-c, 4) for c in range(4)]
    assert [block.frequency for block in given.generators[0].blocks] == expected
    assert given.generators[0].dim == 8


@pytest.mark.parametrize("gap", [0, 4, -7])
def test_the_score_with_softplus_in_place(gap):
    given = encoding("pope", head_dim=2, phases=[0, -THIRD])
    score = given.score(gap + 2, 2, q=[1, -2], k=[3, 0]).replace(MAGNITUDE, lambda x: sp.log(1 + sp.exp(x)))
    mu = [math.log1p(math.exp(x)) for x in (1, -2, 3, 0)]
    angles = [-gap * 1.0, -gap / 100 - 1 / 3]
    expected = sum(mu[c] * mu[c + 2] * math.cos(angles[c]) for c in (0, 1))
    assert abs(float(enclose(score).lower) - expected) < 1e-12


def test_the_lift_is_decided_for_free_phases_and_frequencies():
    given = encoding("pope", head_dim=3)
    assert given.agreement.status is Status.PROVED
    assert given.in_family().holds
    assert [str(delta) for delta in given.parameters["phases"]] == ["d0", "d1", "d2"]


def test_a_magnitude_may_be_any_function_of_the_content_but_not_of_the_position():
    q, _ = (given := encoding("pope", head_dim=1)).content()
    assert given.query_lift(q) == sp.Matrix([MAGNITUDE(q[0]), 0])


def test_its_row(row):
    assert row(encoding("pope", head_dim=2)) == ["yes"] * 5


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        ({"phases": [0]}, BadInput, "phases has 1 entries; 2 are needed"),
        ({"phases": [0, 0.1]}, WrongType, r"phases\[1\] is .*, which is a float"),
        ({"frequencies": [1]}, BadInput, "frequencies has 1 entries"),
    ],
)
def test_other_input_is_refused_in_one_sentence(given, error, sentence):
    with pytest.raises(error, match=sentence):
        encoding("pope", head_dim=2, **given)
