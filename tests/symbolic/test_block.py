"""Every real Jordan block: its name, its matrix, the closed form of its exponential, and what is refused."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from exptx.symbolic.block import Block
from exptx.symbolic.errors import BadInput, ExptxError, WrongType

t, s = sp.symbols("t s", real=True)
g, w = sp.symbols("gamma omega", positive=True)

KINDS = [
    ((0,), "hold"),
    ((g,), "fade"),
    ((-g,), "grow"),
    ((0, w), "turn"),
    ((g, w), "damped-turn"),
    ((-g, w), "growing-turn"),
    ((0, 0, 2), "slide"),
    ((0, 0, 7), "slide"),
    ((g, 0, 2), "faded-slide"),
    ((-g, 0, 3), "grown-slide"),
    ((0, w, 2), "turning-slide"),
    ((g, w, 2), "damped-turning-slide"),
    ((-g, w, 5), "growing-turning-slide"),
]


@pytest.mark.parametrize(("parameters", "kind"), KINDS)
def test_every_region_of_decay_frequency_and_size_has_its_name(parameters, kind):
    assert Block(*parameters).kind == kind


@pytest.mark.parametrize("size", range(1, 17))
@pytest.mark.parametrize("frequency", [sp.S.Zero, w])
def test_the_matrix_is_the_kronecker_form(size, frequency):
    block = Block(g, frequency, size)
    ones = sp.Matrix(size, size, lambda i, j: 1 if j == i + 1 else 0)
    cell = sp.Matrix([[-g, -w], [w, -g]]) if frequency else sp.Matrix([[-g]])
    kronecker = sp.kronecker_product
    expected = kronecker(sp.eye(size), cell) + kronecker(ones, sp.eye(cell.rows))
    assert block.matrix == sp.ImmutableMatrix(expected)
    assert block.dim == block.matrix.rows == (2 * size if frequency else size)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("decay", [0, g, -g])
def test_the_derivatives_at_zero_are_the_powers_of_the_matrix(size, decay):
    block = Block(decay, w, size)
    derivative, power = block.exp(t), sp.eye(block.dim)
    for _ in range(6):
        assert derivative.subs(t, 0).applyfunc(sp.expand) == power
        derivative, power = derivative.diff(t), (power * block.matrix).applyfunc(sp.expand)


@pytest.mark.parametrize("size", [1, 2, 3, 8])
@pytest.mark.parametrize("decay", [sp.S.Zero, g])
def test_a_vanishing_frequency_leaves_two_slides_side_by_side(size, decay):
    still = Block(decay, w, size).exp(t).subs(w, 0)
    order = [*range(0, 2 * size, 2), *range(1, 2 * size, 2)]  # even coordinates, then odd ones
    slide = Block(decay, 0, size).exp(t)
    assert not still.has(sp.nan, sp.zoo, sp.oo)
    assert still.extract(order, order) == sp.ImmutableMatrix(sp.diag(slide, slide))


def test_the_frequency_never_stands_below_a_bar():
    for entry in Block(g, w, 4).exp(t):
        assert w not in sp.fraction(sp.together(entry))[1].free_symbols


def test_half_life_halves_and_period_returns():
    assert sp.exp(-g * Block(g).half_life) == sp.Rational(1, 2)
    assert sp.cos(w * Block(0, w).period) == 1
    assert sp.sin(w * Block(0, w).period) == 0
    assert Block(Fraction(1, 10)).half_life == 10 * sp.log(2)


@pytest.mark.parametrize("block", [Block(0), Block(-1), Block(0, 1)])
def test_what_does_not_fade_has_no_half_life(block):
    with pytest.raises(BadInput, match="half-life"):
        _ = block.half_life


def test_what_does_not_turn_has_no_period():
    with pytest.raises(BadInput, match="period"):
        _ = Block(1).period


REFUSED = [
    ((0.1,), WrongType, r"decay is 0.1, which is a float.*Rational"),
    ((1, 0.5), WrongType, r"frequency is 0.5, which is a float.*Rational"),
    ((np.float64(0.25),), WrongType, "decay"),
    ((np.float32(0.25),), WrongType, "decay"),
    ((sp.Float("0.1"),), WrongType, "decay.*float"),
    ((sp.Float("0.1") * g,), WrongType, "decay.*float"),
    ((float("nan"),), BadInput, "decay is nan"),
    ((float("inf"),), BadInput, "decay is inf"),
    ((0, float("-inf")), BadInput, "frequency is -inf"),
    ((sp.nan,), BadInput, "decay is nan"),
    ((sp.oo,), BadInput, "decay is oo"),
    ((sp.zoo,), BadInput, "decay is zoo"),
    ((sp.I,), BadInput, "decay is I.*not real"),
    ((1 + sp.I * g,), BadInput, "decay.*not real"),
    ((1 + sp.I * sp.Symbol("z"),), BadInput, "decay.*not real"),
    ((1j,), WrongType, "decay is 1j"),
    (("1/10",), WrongType, "decay is the string '1/10'"),
    ((True,), WrongType, "decay is the truth value.* True"),
    ((0, False), WrongType, "frequency is the truth value.* False"),
    ((None,), WrongType, "decay is of type NoneType"),
    ((0, -1), BadInput, "frequency is -1.*at least 0"),
    ((0, -w), BadInput, "frequency is -omega"),
    ((0, sp.Symbol("omega")), BadInput, r"frequency is omega.*positive=True"),
    ((0, 1, 0), BadInput, "size is 0"),
    ((0, 1, -3), BadInput, "size is -3"),
    ((0, 1, True), WrongType, "size is True"),
    ((0, 1, 2.0), WrongType, "size is 2.0"),
    ((0, 1, "2"), WrongType, "size is '2'"),
]


@pytest.mark.parametrize(("parameters", "error", "sentence"), REFUSED)
def test_refusals_name_the_argument(parameters, error, sentence):
    with pytest.raises(error, match=sentence) as caught:
        Block(*parameters)
    assert isinstance(caught.value, ExptxError)
    assert isinstance(caught.value, ValueError | TypeError)


@pytest.mark.parametrize("time", [0.5, "1", None, float("nan"), sp.Float(1)])
def test_time_must_be_exact(time):
    with pytest.raises(ExptxError, match=r"^t "):
        Block(1).exp(time)


def test_a_kind_needs_a_sign_and_says_what_to_declare():
    free = Block(sp.Symbol("a"), w)
    assert free.exp(t)[0, 0] == sp.exp(-sp.Symbol("a") * t) * sp.cos(w * t)
    with pytest.raises(BadInput, match=r"Symbol\('a', positive=True\)"):
        _ = free.kind
    assert str(free).startswith("block: decay a")


def test_equal_parameters_give_equal_blocks():
    assert Block(Fraction(1, 2), 1, 2) == Block(sp.Rational(1, 2), sp.S.One, 2)
    assert len({Block(1), Block(1, 0), Block(1, 0, 1), Block(1, 0, 2)}) == 2


def test_shown_in_notebook_paper_and_terminal():
    block = Block(g, w)
    assert r"-\gamma & -\omega" in block.latex()
    assert block.latex() in block._repr_latex_()
    assert block._repr_html_().startswith("<pre")
    assert "damped-turn" in block._repr_html_()
    assert str(block).splitlines()[0] == "damped-turn: decay γ, frequency ω, size 1"
    assert str(block).splitlines()[1].startswith("⎡")
    assert repr(block) == "Block(gamma, frequency=omega, size=1)"


@pytest.mark.parametrize("size", [10**6, 10**5000, -(10**5000)], ids=["million", "monster", "negative"])
def test_a_size_that_would_exhaust_the_machine_is_refused_at_once(size):
    with pytest.raises(BadInput, match=r"size is .*; a whole number from 1 to 1024 works"):
        Block(1, size=size)
