"""Laws of expression trees: writing and reading keep the meaning, and nothing else is read."""

from __future__ import annotations

import json

import pytest
import sympy as sp
from exptx.symbolic import At, BadInput, D, Unsupported, WrongType, decide, from_tree, to_tree
from sympy import (
    Derivative,
    E,
    Function,
    I,
    ImmutableMatrix,
    MatAdd,
    MatMul,
    MatPow,
    Matrix,
    Rational,
    Subs,
    Symbol,
    Transpose,
    cos,
    exp,
    log,
    pi,
    sin,
    sinh,
    sqrt,
    symbols,
    tan,
)

t, s, w, g, x = symbols("t s w g x", real=True)
f = Function("f")
A, B = ImmutableMatrix([[1, t], [0, 1]]), ImmutableMatrix([[cos(w), -sin(w)], [sin(w), cos(w)]])

FORMULAS = [
    Rational(-2, 3),
    exp(-g * t) * cos(w * t) / x**2,
    sqrt(2) * I * pi + E,
    sqrt(Rational(2, 3)),
    exp(t) ** 2 * tan(x) * sinh(x),
    exp(I * pi / 3, evaluate=False),
    D(exp(-g * t), t, t),
    D(D(t * s, t), s),
    At(sin(w * t), t, s + 1),
    At(At(sin(t * s), t, s), s, 2),
    At(D(t**3, t), t, 0),
    f(t, s + 1),
    log(2) / 3 + 10000 ** Rational(-3, 64),
    A,
    MatMul(A, B),
    MatMul(t, A, B),
    MatAdd(A, B),
    MatPow(A, 3),
    Transpose(A),
]


@pytest.mark.parametrize("formula", FORMULAS, ids=str)
def test_a_tree_is_json_and_reads_back_as_the_same_tree(formula):
    tree = to_tree(formula)
    assert json.loads(json.dumps(tree)) == tree
    assert to_tree(from_tree(tree)) == tree


@pytest.mark.parametrize("formula", [e for e in FORMULAS if not e.has(log)], ids=str)
def test_reading_back_keeps_the_meaning(formula):
    assert decide(formula, from_tree(to_tree(formula))).holds


def test_the_format_is_as_documented():
    assert to_tree(-t / 3) == ["mul", ["num", "-1/3"], ["sym", "t"]]
    assert to_tree(exp(x) / x) == ["mul", ["pow", ["sym", "x"], -1], ["exp", ["sym", "x"]]]
    assert to_tree(sqrt(2)) == ["sqrt", "2"]
    assert to_tree(3 ** Rational(1, 5)) == ["root", "3", "1/5"]
    assert to_tree(D(t**2, t)) == ["diff", ["pow", ["sym", "t"], 2], "t", 1]
    assert to_tree(At(t, t, s)) == ["at", ["sym", "t"], "t", ["sym", "s"]]
    assert to_tree(f(t)) == ["fn", "f", ["sym", "t"]]
    assert to_tree(Matrix([[1, t]])) == ["matrix", [[["num", "1"], ["sym", "t"]]]]
    assert to_tree(MatMul(t, A)) == ["smul", ["sym", "t"], to_tree(A)]


def test_symbols_are_real_unless_given():
    assert from_tree(["sym", "t"]) == Symbol("t", real=True)
    positive = Symbol("t", positive=True)
    assert from_tree(["sym", "t"], {"t": positive}) is positive


def test_operators_stay_unevaluated_entry_by_entry():
    derived, taken = D(A, t), At(A, t, s)
    assert isinstance(derived[0, 1], Derivative)
    assert isinstance(taken[0, 1], Subs)
    assert derived[0, 0] == 0
    assert taken[0, 0] == 1
    assert D(MatMul(A, A), t).shape == (2, 2)


@pytest.mark.parametrize(
    "tree",
    [
        None,
        "t",
        [],
        ["t"],
        ["num", 2],
        ["num", "2/0"],
        ["num", "__import__('os')"],
        ["sym", 3],
        ["pow", ["sym", "t"]],
        ["pow", ["sym", "t"], 0.5],
        ["pow", ["sym", "t"], "2"],
        ["exp"],
        ["exp", ["sym", "t"], ["sym", "t"]],
        ["diff", ["sym", "t"], "t", 0],
        ["eval", "1"],
        ["matrix", [[["num", "1"]], []]],
        ["fn", "f"],
        ["fn", 3, ["num", "1"]],
    ],
)
def test_what_is_no_tree_is_refused(tree):
    with pytest.raises(BadInput):
        from_tree(tree)


def test_what_has_no_tree_is_refused():
    for formula in (sp.Abs(t), sp.gamma(t), t**x, sqrt(t)):
        with pytest.raises(Unsupported, match=r"outside|symbolic exponent|root"):
            to_tree(formula)
    with pytest.raises(WrongType, match="float"):
        to_tree(0.5 * t)


def test_the_variable_is_a_symbol():
    with pytest.raises(WrongType, match="Symbol"):
        D(t**2, t**2)
    with pytest.raises(WrongType, match="Symbol"):
        At(t**2, 2, 3)
    with pytest.raises(BadInput, match="symbol to differentiate"):
        D(t**2)
