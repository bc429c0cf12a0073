"""GRAPE-AP: with the same content everywhere the bias of gap one still changes with the position."""

import mpmath
import pytest
import sympy as sp
from exptx.symbolic import BadInput, encoding
from sympy.core.function import AppliedUndef

x0, x1 = (sp.Function(name, real=True) for name in ("x0", "x1"))


@pytest.mark.parametrize(
    ("t", "bias"), [(1, "-.5671667027491845"), (2, "-.8025859736133934"), (3, "-.9709652953992180")]
)
def test_gap_one_with_content_e0_everywhere(rounds_to, t, bias):
    given = encoding("grape_ap", head_dim=2, scale=1)
    score = given.score(t, t - 1, q=[0, 0], k=[0, 0])
    assert rounds_to(score.subs({x0(sp.Integer(t)): 1, x1(sp.Integer(t)): 0}), bias)


GIVEN = {"head_dim": 4, "slope": sp.Rational(1, 4), "scale": 1}


def published(t, s, q, k, at):
    """y1 = x1 cos + x2 sin, y2 = -x1 sin + x2 cos: the rotation of the code, by the absolute position."""

    def features(n):
        return [at[f"x{i}({n})"] for i in range(4)]

    total = sum(a * b for a, b in zip(q, k, strict=True))
    for n in range(s + 1, t + 1):
        c, z, (a, b, d, e) = mpmath.cos(n), mpmath.sin(n), features(n)
        turned = [a * c + d * z, b * c + e * z, -a * z + d * c, -b * z + e * c]
        met = sum(x * y for x, y in zip(features(t), turned, strict=True)) / 4
        total += mpmath.log(1 / (1 + mpmath.exp(-met))) / 4
    return total


def test_the_bias_of_tokens_that_differ(rounds_to):
    given, tokens = encoding("grape_ap", **GIVEN), {1: (1, 2, -1, 3), 2: (2, 0, 1, 1), 3: (-1, 1, 2, 5)}
    at = {f"x{i}({n})": value for n, row in tokens.items() for i, value in enumerate(row)}
    score = given.score(3, 0, q=[1, 2, 3, 4], k=[4, 3, 2, 1])
    exact = score.subs({call: at[str(call)] for call in score.atoms(AppliedUndef)})
    with mpmath.workdps(40):
        assert rounds_to(exact, mpmath.nstr(published(3, 0, [1, 2, 3, 4], [4, 3, 2, 1], at), 20))


def test_two_pairs_of_one_gap_are_told_apart(told_apart, row):
    given = encoding("grape_ap", **GIVEN)
    assert told_apart(given, published) > mpmath.mpf(1) / 100
    assert row(given) == ["no", "no", "no", "not-applicable", "not-applicable"]
    assert "every token between e0" in given.is_relative().reason


def test_what_is_refused():
    with pytest.raises(BadInput, match="slope is -1; it must be positive"):
        encoding("grape_ap", head_dim=2, slope=-1)
    with pytest.raises(BadInput, match="head_dim is 3, which is odd"):
        encoding("grape_ap", head_dim=3)
    with pytest.raises(BadInput, match="frequencies has 1 entries; 4 features make 2 planes"):
        encoding("grape_ap", head_dim=4, frequencies=[1])
