"""Guaranteed values against typed digits, against mpmath, and against exp(tX) from its definition."""

from fractions import Fraction

import mpmath
import pytest
import sympy as sp
import torch
from exptx.numeric import BadDtype, BadTensor, NotLowered, exact
from exptx.symbolic import Block, Generator, frequencies
from hypothesis import given, settings
from hypothesis import strategies as st

LAW = settings(max_examples=25, deadline=None, derandomize=True)

# theta = 10000, head_dim 4, x = (1, 2, 3, 4): the rotated vector at positions 1, 2, 3
INTERLEAVED = {
    1: ("-1.142639663747653", "1.922075596544176", "2.959850667913329", "4.029799501669161"),
    2: ("-2.234741690198506", "0.07700375373139692", "2.919405353226401", "4.059196026746310"),
    3: ("-1.272232512720180", "-1.838864985141024", "2.878668100436980", "4.088186635603437"),
}
HALF_SPLIT = {
    1: ("-1.984110648555550", "1.959900667496664", "2.462377902412316", "4.019799668334994"),
    2: ("-3.144039117024187", "1.919605346559823", "-0.3391430828157455", "4.039197360052977"),
    3: ("-1.413352520780047", "1.879118066687992", "-2.828857481741469", "4.058191135400941"),
}
# q = (1, 2, 3, 4), k = (4, 3, 2, 1): interleaved and half-split score at (t, s)
SCORES = {
    (5, 2): (-0.760002169826393824, -1.61557971113820824),
    (105, 102): (-0.760002169826393824, -1.61557971113820824),
    (2, 5): (0.951152912797235004, 1.80673045410904942),
}


def has_digits(value, digits):
    """Agrees with all typed digits: within half a unit of the last one and the rounding of value itself."""
    last = len(digits.partition(".")[2])
    slack = Fraction(1, 2 * 10**last) + abs(Fraction(value)) / 2**53
    return abs(Fraction(value) - Fraction(digits)) <= slack


@pytest.mark.parametrize("interleaved", [True, False])
@pytest.mark.parametrize("position", [1, 2, 3])
def test_rotated_vectors_have_the_known_digits(interleaved, position):
    known = (INTERLEAVED if interleaved else HALF_SPLIT)[position]
    x = torch.tensor([1.0, 2, 3, 4]).reshape(1, 1, 1, 4)
    y = exact.rotary_embedding(x, frequencies(10000, 4), [position], interleaved=interleaved)
    for got, digits in zip(y.flatten().tolist(), known, strict=True):
        assert has_digits(got, digits)


@pytest.mark.parametrize("pair", SCORES)
def test_scores_have_the_known_digits_for_both_orders_of_t_and_s(pair):
    q, k = torch.tensor([1.0, 2, 3, 4]), torch.tensor([4.0, 3, 2, 1])
    got = [exact.rotary_score(q, k, frequencies(10000, 4), *pair, interleaved=i) for i in (True, False)]
    assert got == [float(x) for x in SCORES[pair]]


@LAW
@given(
    st.integers(-(10**40), 10**40),
    st.integers(2, 10**6),
    st.integers(1, 64),
    st.sampled_from([torch.float64, torch.float32, torch.bfloat16, torch.float16]),
)
def test_tables_agree_with_mpmath_at_any_position(position, base, pairs, dtype):
    cos, sin = exact.rotary_table(frequencies(base, 2 * pairs), [position], dtype=dtype)
    with mpmath.workdps(120):
        for k in {0, pairs // 2, pairs - 1}:
            angle = position * mpmath.mpf(base) ** (-mpmath.mpf(k) / pairs)
            for table, value in ((cos, mpmath.cos(angle)), (sin, mpmath.sin(angle))):
                entry = mpmath.mpf(table[0, k].item())
                step = torch.finfo(dtype).eps * max(abs(value), torch.finfo(dtype).smallest_normal)
                assert abs(entry - value) <= step / 2


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_position_may_be_a_fraction_or_an_attention_factor_exact(dtype):
    cos, _ = exact.rotary_table(
        frequencies(10000, 4), [Fraction(1, 3)], attention_scaling=Fraction(6, 5), dtype=dtype
    )
    with mpmath.workdps(40):
        known = mpmath.mpf(6) / 5 * mpmath.cos(mpmath.mpf(1) / 3)
    assert cos[0, 0].item() == torch.tensor(float(known), dtype=torch.float64).to(dtype).item()


def test_a_shape_of_positions_is_the_shape_of_the_table():
    f = frequencies(10000, 6)
    assert exact.rotary_table(f, [[1, 2], [3, 4]])[0].shape == (2, 2, 3)
    assert exact.rotary_table(f, torch.zeros(2, 0, dtype=torch.int64))[0].shape == (2, 0, 3)
    assert torch.equal(exact.rotary_table(f, torch.tensor([5]))[1], exact.rotary_table(f, [5])[1])


def test_the_closed_form_lies_in_the_balls_of_the_definition():
    half, tenth = sp.Rational(1, 2), sp.Rational(1, 10)
    basis = sp.Matrix(9, 9, lambda i, j: int(i == j) + sp.Rational(int(j == i + 1), 3))
    generator = Generator.direct_sum(
        Block(tenth, half, 2), Block(0, size=3), Block(-tenth), Block(tenth), basis=basis
    )
    for t in (0, 12, -7, Fraction(5, 3)):
        closed, balls = exact.flow(generator, t), exact.flow_by_definition(generator, t)
        for i in range(9):
            for j in range(9):
                ball, value = balls[i, j], closed[i, j].item()
                assert abs(float(ball.mid()) - value) <= 2.0**-52 * abs(value) + float(ball.rad())


def test_known_entries_of_jordan_blocks():
    turning = exact.flow(Generator.direct_sum(Block(0, sp.Rational(1, 2), 2)), 2)[0]
    known = "0.54030230586814", "-0.84147098480790", "1.0806046117363", "-1.6829419696158"
    assert all(has_digits(got.item(), digits) for got, digits in zip(turning, known, strict=True))
    fading = exact.flow(Generator.direct_sum(Block(sp.Rational(1, 10), size=3)), 3)[0]
    for got, digits in zip(fading, ("0.74081822068172", "2.2224546620452", "3.3336819930677"), strict=True):
        assert has_digits(got.item(), digits)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda f: exact.rotary_table(f, ["5"]),
            BadDtype,
            "'5' is no position; an int, a Fraction or a sympy",
        ),
        (
            lambda f: exact.rotary_table(f, [[1], [1, 2]]),
            BadTensor,
            "position_ids has rows of different lengths",
        ),
        (lambda f: exact.rotary_table(torch.ones(2, 2), [1]), BadTensor, "positions have 2 coordinates"),
        (lambda f: exact.rotary_table(torch.ones(2, 2, 2), [1]), BadTensor, r"has shape \(2, 2, 2\)"),
        (
            lambda f: exact.rotary_score(torch.ones(3), torch.ones(4), f, 1, 0),
            BadTensor,
            r"q has shape \(3,\)",
        ),
        (
            lambda f: exact.rotary_embedding(torch.ones(1, 1, 2, 4), f, [1, 2, 3]),
            BadTensor,
            r"position_ids has shape \(3,\); shape \(2,\) or \(1, 2\) works",
        ),
        (
            lambda f: exact.flow(Generator.direct_sum(Block(sp.Symbol("g", positive=True))), 1),
            NotLowered,
            r"exp\(tX\)\[0, 0\] is exp\(-g\), with the symbol g; tensors need numbers",
        ),
    ],
)
def test_what_has_no_guaranteed_value_is_refused_in_one_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call(frequencies(10000, 4))
