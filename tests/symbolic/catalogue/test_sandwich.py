"""Sandwich: the printed value of a sum of cosines, its lift, and its row."""

import pytest
import sympy as sp
from exptx.symbolic import BadInput, decide, encoding

t, s = sp.symbols("t s", real=True)
sigma, r, w = sp.symbols("sigma r w", positive=True)


def test_the_product_of_two_sinusoidal_vectors(rounds_to):
    """d = 4, gap 3: cos 3 + cos 0.03, as p_t·p_s of the sinusoidal table."""
    given = encoding("sandwich", head_dim=2, position_dim=4, scale=1)
    assert rounds_to(given.score(8, 5, q=[0, 0], k=[0, 0]), "0.009557537148542059")
    table = encoding("sinusoidal", head_dim=4)
    position = (table.query_factor(sp.Integer(8))[:, -1].T * table.key_factor(sp.Integer(5))[:, -1])[0, 0]
    assert decide(position, sp.cos(3) + sp.cos(sp.Rational(3, 100))).holds


def test_the_logit_is_the_content_and_a_sum_of_cosines():
    given = encoding("sandwich", head_dim=2, position_dim=4, ratio=r, scale=sigma, frequencies=[w, 2 * w])
    q, k = given.content()
    cosines = sp.cos(w * (t - s)) + sp.cos(2 * w * (t - s))
    assert decide(given.scale * given.score(t, s), sigma * (q.T * k)[0, 0] + r * cosines).holds


def test_its_row(row):
    assert row(encoding("sandwich", head_dim=2, position_dim=4)) == ["yes"] * 5


def test_it_adds_to_a_rotation():
    both = encoding("rope", head_dim=4) + encoding("sandwich", head_dim=4, position_dim=2)
    assert both.in_family().holds


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"position_dim": 3}, "position_dim is 3, which is odd"),
        ({"ratio": 0}, "ratio is 0; it must be positive"),
        ({"scale": -1}, "scale is -1; it must be positive"),
    ],
)
def test_other_input_is_refused_in_one_sentence(given, sentence):
    with pytest.raises(BadInput, match=sentence):
        encoding("sandwich", **given)
