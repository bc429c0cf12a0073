"""Sums of encodings: what adds, what the sum is, and what cannot be added."""

import pytest
import sympy as sp
from exptx.symbolic.catalogue import encoding
from exptx.symbolic.decide import Status
from exptx.symbolic.errors import BadInput, ExptxError, WrongType
from exptx.symbolic.kinds.generated import FreeNames

m, sigma, gamma = sp.symbols("m sigma gamma", positive=True)


def test_the_score_of_a_sum_adds_bias_to_rotation():
    both = encoding("rope", head_dim=4) + encoding("alibi", slope=m, head_dim=4)
    rope = encoding("rope", head_dim=4)
    assert sp.expand(both.score(5, 2) - rope.score(5, 2) + 3 * m * 2) == 0
    assert both.in_family().status is Status.PROVED
    assert [part.name for part in both.parts] == ["rope", "alibi"]


def test_a_sum_with_heads_is_a_sum_in_every_head():
    both = encoding("rope", head_dim=4) + encoding("alibi", num_heads=4, head_dim=4)
    turned = encoding("alibi", num_heads=4, head_dim=4) + encoding("rope", head_dim=4)
    assert len(both.heads) == 4
    assert both.name == "rope + alibi"
    assert turned.name == "alibi + rope"
    slope = sp.Rational(1, 4)
    assert sp.expand(both.heads[0].score(1, 0) - encoding("rope", head_dim=4).score(1, 0)) == -2 * slope
    assert both.is_relative().status is Status.PROVED


def test_decay_and_rope_make_damped_rope():
    both = encoding("decay", head_dim=4, gamma=gamma) + encoding("rope", head_dim=4)
    assert both.generators == encoding("damped_rope", head_dim=4, gamma=gamma).generators


def test_two_rotations_of_the_same_planes_add_their_frequencies():
    a, b = sp.symbols("a b", positive=True)
    both = encoding("rope", head_dim=2, frequencies=[a]) + encoding("rope", head_dim=2, frequencies=[b])
    assert both.generators == encoding("rope", head_dim=2, frequencies=[a + b]).generators


def test_encodings_are_equal_when_name_and_parameters_are():
    assert encoding("rope", head_dim=4) == encoding("rope", head_dim=4, rope_theta=10_000)
    assert encoding("rope", head_dim=4) != encoding("rope", head_dim=4, interleaved=True)
    assert encoding("rope", head_dim=4) + encoding("nope", head_dim=4) != encoding("rope", head_dim=4)
    assert len({encoding("nope", head_dim=2), encoding("nope", head_dim=2)}) == 1


REFUSED = [
    (lambda: encoding("rope", head_dim=4) + 3, WrongType, ["rope", "int", "encoding"]),
    (lambda: 3 + encoding("rope", head_dim=4), WrongType, ["rope", "int", "encoding"]),
    (
        lambda: encoding("rope", head_dim=4) + encoding("nope", head_dim=8),
        BadInput,
        ["head_dim 4", "head_dim 8"],
    ),
    (
        lambda: encoding("rope", head_dim=4) + encoding("rope", head_dim=4, interleaved=True),
        BadInput,
        ["do not commute"],
    ),
    (
        lambda: encoding("rope", head_dim=4) + encoding("keys_only", head_dim=4),
        BadInput,
        ["keys_only", "cannot be added"],
    ),
    (
        lambda: encoding("alibi", num_heads=2, head_dim=4) + encoding("alibi", num_heads=3, head_dim=4),
        BadInput,
        ["2 heads", "has 3"],
    ),
    (
        lambda: encoding("alibi", slope=1, head_dim=4) + encoding("alibi", slope=1, head_dim=4, scale=sigma),
        BadInput,
        ["scale 1/2", "sigma"],
    ),
    (
        lambda: encoding("rotated_values_back", head_dim=2) + encoding("rotated_values_back", head_dim=2),
        BadInput,
        ["both move the values"],
    ),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSED)
def test_a_refusal_names_the_argument_and_what_would_work(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, ExptxError)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert "\n" not in str(caught.value)


def test_free_names_have_the_signs_of_their_numbers_and_no_more():
    """What is proved for a positive symbol is not proved for a negative number."""
    names, unknown = FreeNames(), sp.Symbol("x", real=True) + 1
    plus, minus, either = map(names.amplitude, (sp.sqrt(2), -sp.sqrt(2), unknown))
    assert plus.is_positive
    assert minus.is_negative
    assert either.is_real
    assert either.is_positive is either.is_negative is None
    assert names.values == {plus: sp.sqrt(2), minus: -sp.sqrt(2), either: unknown}
