"""Laws of reading: text means what its sympy formula means, all else is one error with a caret."""

from __future__ import annotations

import time
import tracemalloc
from contextlib import suppress

import pytest
import sympy as sp
from exptx.symbolic import BadInput, Unreadable, Unsupported, WrongType, decide, parse, parse_signs, to_text
from exptx.symbolic.parse import evaluated
from hypothesis import given
from hypothesis import strategies as st
from sympy import E, Matrix, Rational, Symbol, cos, cosh, exp, log, pi, sin, sinh, sqrt, tan, tanh

x, y, u, gamma, omega, lam = (Symbol(name, real=True) for name in ("x", "y", "u", "gamma", "omega", "lambda"))

MEANINGS = {
    "x + 1": x + 1,
    "-x^2": -(x**2),
    "(-x)^2": x**2,
    "2^-2": Rational(1, 4),
    "2^3^2": 512,
    "x^2^3": x**8,
    "x - y - 1": x - (y + 1),
    "x/y/2": x / (2 * y),
    "x/y*2": 2 * x / y,
    "2*-x": -2 * x,
    "--x": x,
    "+x": x,
    "0.1": Rational(1, 10),
    ".25": Rational(1, 4),
    "1.50*x": Rational(3, 2) * x,
    "0.1 + 0.2 - 0.3": 0,
    "γ*t": gamma * Symbol("t", real=True),
    "gamma - γ": 0,
    "λ - lambda": 0,
    "ω_q1": Symbol("omega_q1", real=True),
    "x**3": x**3,
    "x·y × 2 − 1": 2 * x * y - 1,
    "exp(-x)*cos(x)": exp(-x) * cos(x),
    "sin(x) + tan(x)": sin(x) + tan(x),
    "sinh(x) + cosh(x) + tanh(x)": sinh(x) + cosh(x) + tanh(x),
    "sqrt(2)*sqrt(8)": 4,
    "sqrt(9/4)": Rational(3, 2),
    "e^x": exp(x),
    "e^(I*π)": -1,
    "e*e": E**2,
    "pi*x": pi * x,
    "I^2": -1,
    "(x + 1)*(x - 1)": x**2 - 1,
    "  x\n+ 1\t": x + 1,
    "1/0.5": 2,
    "[[0, 1], [0, 0]]": Matrix([[0, 1], [0, 0]]),
    "[[x]]*[[y]]": Matrix([[x * y]]),
    "2*[[1, x]] - [[1, x]]": Matrix([[1, x]]),
    "[[1, 1], [0, 1]]^3": Matrix([[1, 3], [0, 1]]),
    "-[[1], [2]]": Matrix([-1, -2]),
}


@pytest.mark.parametrize("text", MEANINGS)
def test_text_means_its_formula(text):
    assert decide(parse(text), MEANINGS[text]).holds


def test_logarithms_and_absolute_values_are_read_for_those_who_can_use_them():
    assert parse("log(x) + ln(x)").has(log)
    assert parse("abs(x)").has(sp.Abs)


def test_least_and_greatest_are_read_for_clipped_distances():
    assert parse("min(x, 4, y)") == sp.Min(x, 4, y)
    assert parse("max(2, 7/2)") == Rational(7, 2)


def test_nothing_but_rational_numbers_is_worked_out():
    assert decide(parse("x/x"), 1).side_conditions == (x,)
    assert parse("sqrt(x^2)") != parse("x")
    assert parse("2/4*3") == Rational(3, 2)


def test_what_is_written_out_is_what_sympy_would_write():
    assert parse("u^2*exp(-u/10)*cos(3*u)").doit() == u**2 * exp(-u / 10) * cos(3 * u)
    assert parse("[[0, -omega], [omega, 0]]") == Matrix([[0, -omega], [omega, 0]]).as_immutable()
    assert parse("sqrt(2)/2") == sqrt(2) / 2


def test_evaluation_is_a_step_of_its_own_and_says_when_sympy_fails():
    assert evaluated(parse("log(exp(x)) + sqrt(x^2) - abs(x)")) == x
    with pytest.raises(Unsupported, match="not comparable"):
        evaluated(parse("min(I, x)"))


def test_signs_become_declarations():
    signs = parse_signs(["x > 0", "0 >= y", "u != 0", "u >= 0", "γ<0"])
    assert parse("x", signs=signs).is_positive
    assert parse("y", signs=signs).is_nonpositive
    assert parse("u", signs=signs).is_positive
    assert parse("gamma", signs=signs).is_negative
    assert parse("z", signs=signs).is_positive is None


@pytest.mark.parametrize(
    "text", ["x > 1", "x > y", "x", "x = 0", "2*x > 0", "0 < x < 1", "pi > 0", "sin > 0", ""]
)
def test_an_assumption_is_the_sign_of_one_name(text):
    with pytest.raises(Unreadable, match="assume"):
        parse_signs([text])


def test_every_relation_leaves_its_signs():
    left = {">": {1}, "<": {-1}, ">=": {0, 1}, "≤": {-1, 0}, "≠": {-1, 1}}
    assert {sign: set(parse_signs([f"x {sign} 0"])["x"]) for sign in left} == left
    mirrored = {">": {-1}, "<": {1}, "≥": {-1, 0}, "<=": {0, 1}, "!=": {-1, 1}}
    assert {sign: set(parse_signs([f"0 {sign} x"])["x"]) for sign in mirrored} == mirrored


@pytest.mark.parametrize("texts", [["x > 0", "x < 0"], ["x >= 0", "x <= 0"]])
def test_assumptions_that_leave_no_sign_are_refused(texts):
    with pytest.raises(BadInput, match="on x leave it no sign"):
        parse_signs(texts)


REFUSED = {  # text -> (column counted from 1, a part of the sentence)
    "": (None, "is empty"),
    " \n": (None, "is empty"),
    "2x": (2, "a sign is missing"),
    "2 (x)": (3, "a sign is missing"),
    "(x)(y)": (4, "a sign is missing"),
    "x y": (3, "a sign is missing"),
    "ωt": (2, "a sign is missing"),
    "x(y)": (1, "x*(…)"),
    "sine(x)": (1, "did you mean sin"),
    "arctan(x)": (1, "is no function here"),
    "cos x": (1, "cos is a function"),
    "2 + i": (5, "I for the imaginary unit"),
    "E": (1, "e for Euler's number"),
    "1e-3": (2, "10^-3"),
    "1,5": (2, "decimals are written with a point"),
    "1.": (2, "between digits"),
    "1.2.3": (4, "a sign is missing"),
    "1/0": (3, "division by zero"),
    "x/(1 - 1)": (3, "division by zero"),
    "0^-1": (1, "zero to a power"),
    "0^x": (1, "zero to a power"),
    "log(0)": (1, "logarithm of zero"),
    "x +": (4, "ends here"),
    "*x": (1, "cannot stand here"),
    "x + * y": (5, "cannot stand here"),
    "(x": (1, "never closed"),
    "sin(x": (4, "never closed"),
    "x)": (2, "nothing opened"),
    "()": (2, "nothing stands between"),
    "exp()": (5, "nothing stands between"),
    "x = y": (3, "one side of an equation"),
    "x > 0": (3, "one side of an equation"),
    "[1, 2]": (2, "a list of rows"),
    "[]": (2, "nothing stands between"),
    "[[]]": (3, "nothing stands between"),
    "[[1, 2], [3]]": (11, "equally long"),
    "[[1, 2], [3, 4]": (1, "never closed"),
    "[[[[1]]]]": (3, "a matrix as an entry"),
    "[[1]] + 1": (9, "a matrix and a number"),
    "[[1, 2]] + [[1]]": (12, "shapes"),
    "[[1, 2]]*[[1, 2]]": (10, "shapes"),
    "1/[[1]]": (3, "division by a matrix"),
    "[[1]]^-1": (7, "whole powers"),
    "[[1, 2]]^2": (1, "square"),
    "2^[[1]]": (3, "as exponent"),
    "exp([[1]])": (5, "not a matrix"),
    "min(1, [[1]])": (8, "not a matrix"),
    "min(x)": (5, "two or more"),
    "exp(x, y)": (8, "one argument"),
    "max": (1, "max is a function"),
    "x²": (2, "write ^2"),
    "√2": (1, "write sqrt"),
    "|x|": (1, "write abs"),
    r"\pi": (1, "LaTeX"),
    "x!": (2, "factorials"),
    "x_": (2, "a name begins with a letter"),
    "x'": (2, "derivatives"),
    "а + 1": (1, "CYRILLIC SMALL LETTER A"),
    "𝐱": (1, "MATHEMATICAL BOLD SMALL X"),
    "x１": (2, "FULLWIDTH DIGIT ONE"),
    "x\u202e + 1": (2, "RIGHT-TO-LEFT OVERRIDE"),
    "x\u200by": (2, "ZERO WIDTH SPACE"),
    "x\0y": (2, "U+0000"),
    "\ud800": (1, "U+D800"),
    "__import__('os')": (1, "a name begins with a letter"),
    "().__class__": (3, "between digits"),
    "x.__class__": (2, "between digits"),
    "lambda: 0": (7, "cannot stand here"),
    "x" * 41: (1, "a name of 41 letters"),
    "9" * 1_001: (1, "a number of 1001 digits"),
    "9" * 10**6: (None, "1000000 characters"),
    "(" * 10_000 + "x" + ")" * 10_000: (None, "20001 characters"),
    "(" * 51 + "x" + ")" * 51: (51, "nested more than 50 deep"),
    "sin(" * 51 + "x" + ")" * 51: (204, "nested more than 50 deep"),
    "^".join("x" * 52): (102, "nested more than 50 deep"),
    "9**9**9**9": (4, "more than 14000 bits"),
    "9^9^9": (1, "more than 14000 bits"),
    "((2*x)^100)^1000": (1, "more than 14000 bits"),
    "9^(u + 10^9)*9^(-u)": (1, "more than 14000 bits"),
    "exp(10^9*log(2))": (1, "more than 14000 bits"),
    "exp(log(9^999)*u)^99": (1, "more than 14000 bits"),
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: ascii(text[:24]))
def test_a_refusal_names_the_column_and_is_quick_and_small(text):
    column, part = REFUSED[text]
    tracemalloc.start()
    began = time.process_time()
    with pytest.raises(Unreadable) as caught:
        parse(text, name="lhs")
    seconds, (_, peak) = time.process_time() - began, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seconds < 2
    assert peak < 50e6
    sentence, *shown = str(caught.value).split("\n")
    assert part in sentence
    if column is None:
        assert not shown
        return
    assert sentence.startswith(f"lhs, column {column}: ")
    line, caret = shown
    assert caret.strip() == "^"
    under = line[caret.index("^") :][:1]
    assert under == (text[column - 1 : column] if text[column - 1 : column].isprintable() else "\ufffd")


@pytest.mark.parametrize("value", [None, 1, 0.1, b"x", x])
def test_what_is_no_text_is_of_the_wrong_type(value):
    with pytest.raises(WrongType, match="formula is of type"):
        parse(value)


SLOW_FOR_SYMPY = {
    "radicals": "sqrt(2/3 - " * 40 + "5" + ")" * 40,
    "exponentials": "exp(2/3 - " * 40 + "5" + ")" * 40,
    "absolute values": "abs(x*y - " * 40 + "I*x" + ")" * 40,
    "hidden zeros": "1/(sqrt(2) + sqrt(3) - sqrt(5 + 2*sqrt(6)))*" * 50 + "x",
    "long roots": "[[" + ",".join(f"sqrt({10**900 + i})" for i in range(21)) + "]]",
    "long sum": "+".join(f"exp(-{i}*x)" for i in range(800)),
    "many signs": "-" * 19_999 + "x",
    "many divisions": "/".join(["x"] * 5_000),
}


@pytest.mark.parametrize("name", SLOW_FOR_SYMPY)
def test_reading_takes_no_time_where_evaluation_would(name):
    began = time.process_time()
    assert parse(SLOW_FOR_SYMPY[name]) is not None
    assert time.process_time() - began < 1


WORDS = ["x", "2", "0.5", "+", "-", "*", "/", "^", "(", ")", "[", "]", ",", "exp(", "log(", "sqrt(", "abs("]
WORDS += ["min(", "pi", "e", "I", "10", "999", "ω", "[[1,2],[3,4]]", " ", "=", "sin", "**", "."]


@given(st.text(max_size=60) | st.lists(st.sampled_from(WORDS), max_size=40).map("".join))
def test_any_text_is_read_or_refused_within_a_second(text):
    began = time.process_time()
    with suppress(Unreadable):
        parse(text)
    assert time.process_time() - began < 1


ATOMS = st.sampled_from(["x", "y", "2", "1/3", "0.5", "pi", "e", "γ"])
FORMULAS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda p: f"({p[0]}) {p[1]} ({p[2]})"),
        inner.map(lambda text: f"-({text})"),
        inner.map(lambda text: f"({text})^2"),
        st.tuples(st.sampled_from(["exp", "sin", "cosh"]), ATOMS).map(lambda p: f"{p[0]}({p[1]})"),
    ),
    max_leaves=6,
)


@given(FORMULAS)
def test_a_formula_that_sympy_prints_is_read_back_to_the_same(text):
    with suppress(Unreadable):  # a written division by zero
        formula = parse(text)
        assert parse(str(formula).replace("E", "e")).doit() == formula.doit()


@pytest.mark.parametrize("text", ["exp(-γ·t)·cos(ω·t)", "x/(y + 1) - 2", "-x·(y - 1)/3"])
def test_one_line_of_text_without_raised_digits_is_read_back_to_the_same(text):
    formula = parse(text)
    assert decide(parse(to_text(formula)), formula).holds
