"""Decay: printed weights, the damped plane, and where the split form overflows."""

import pytest
import sympy as sp
from exptx.symbolic import enclose, encoding

TENTH = sp.Rational(1, 10)


@pytest.mark.parametrize(
    ("gap", "weight"),
    [
        (5, "0.6065306597"),
        (10, "0.3678794412"),
        (25, "0.08208499862"),
        (50, "0.006737946999"),
        (100, "4.539992976e-5"),
    ],
)
def test_the_weight_of_a_gap(rounds_to, gap, weight):
    given = encoding("decay", head_dim=1, gamma=TENTH)
    assert rounds_to(given.score(gap + 7, 7, q=[1], k=[1]), weight)


def test_a_key_at_fifty_has_grown_by_e_to_the_five(rounds_to):
    given = encoding("decay", head_dim=1, gamma=TENTH)
    assert rounds_to(given.key_factor(sp.Integer(50))[0, 0], "148.4131591025766")


def test_the_damped_plane(rounds_to):
    given = encoding("damped_rope", head_dim=2, gamma=TENTH, frequencies=[sp.S.Half])
    assert rounds_to(given.score(3, 0, q=[1, 0], k=[1, 0]), "0.05240340787547152")
    assert rounds_to(given.score(3, 0, q=[1, 0], k=[0, 1]), "0.7389624611149496")
    assert rounds_to(given.score(0, -3, q=[0, 1], k=[1, 0]), "-0.7389624611149496")


@pytest.mark.parametrize(("dtype", "position"), [("float16", 111), ("float32", 888)])
def test_the_first_position_at_which_the_split_key_overflows(first_to_overflow, dtype, position):
    given = encoding("decay", head_dim=1, gamma=TENTH)
    assert first_to_overflow(given.key_factor(sp.Symbol("s", real=True))[0, 0], dtype, position)


@pytest.mark.parametrize(
    ("largest", "product"),
    [
        (sp.Integer(65504), "11.0899"),
        ((2 - sp.Rational(1, 2**7)) * 2**127, "88.7189"),
        ((2 - sp.Rational(1, 2**23)) * 2**127, "88.7228"),
    ],
    ids=["float16", "bfloat16", "float32"],
)
def test_the_product_of_decay_and_chunk_length_up_to_which_a_split_chunk_is_safe(largest, product):
    """The key at the far end of a chunk of length C carries e^{γC}; γ = 1 here, C given to four decimals."""
    given, half_unit = encoding("decay", head_dim=1, gamma=1), sp.Rational(1, 20000)
    ends = (sp.Rational(product) - half_unit, sp.Rational(product) + half_unit)
    low, high = (enclose(given.key_factor(end)[0, 0]) for end in ends)
    assert low.upper < largest < high.lower
