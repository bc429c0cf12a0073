"""Slots: extra coordinates whose scaled dot product is the bias, exactly, up to what softmax ignores."""

import pytest
import sympy as sp
from exptx.symbolic import BadInput, WrongType, decide, realize

u = sp.Symbol("u")
t, s = sp.symbols("t s", real=True)
g, w, m, sigma = sp.symbols("g w m sigma", positive=True)
Q = sp.Rational
BIASES = [
    -m * u,
    u**2 - 3 * u,
    sp.exp(-g * u) + sp.cos(w * u) + u,
    u * sp.exp(-u / 7) * sp.cos(3 * u),
    sp.sin(u + 1) - 2,
]


@pytest.mark.parametrize("bias", BIASES, ids=str)
@pytest.mark.parametrize("scale", [1, 1 / sp.sqrt(64), 1 / sp.sqrt(80), sigma], ids=str)
@pytest.mark.parametrize("gauge", [False, True])
def test_the_scaled_product_and_the_row_constant_are_the_bias(bias, scale, gauge):
    found = realize(bias, u, modulo_row_constant=gauge)
    slots = found.slots(scale)
    assert slots.width == found.order == slots.query(t).rows == slots.key(s).rows
    logit = scale * (slots.query(t).T * slots.key(s))[0] + slots.row_constant(t)
    assert decide(logit, bias.subs(u, t - s)).holds
    assert not decide(2 * logit, bias.subs(u, t - s)).holds
    assert gauge or slots.row_constant(t) == 0


def test_alibi_needs_one_key_coordinate_modulo_a_row_constant():
    slots = realize(-m * u, u, modulo_row_constant=True).slots(1)
    assert slots.key(s) == sp.Matrix([-s])
    assert slots.query(t) == sp.Matrix([-m])
    assert slots.row_constant(t) == -m * t


def test_an_irrational_rate_gives_slots_too():
    slots = realize(2 ** (-u), u).slots(1)
    assert sp.simplify(slots.query(5)[0] * slots.key(3)[0]) == Q(1, 4)


@pytest.mark.parametrize(
    ("scale", "error"), [(0, BadInput), (0.125, WrongType), ("1", WrongType), (g - w, BadInput)]
)
def test_a_scale_that_is_no_exact_non_zero_number_is_refused(scale, error):
    with pytest.raises(error, match="scale"):
        realize(-u, u).slots(scale)
