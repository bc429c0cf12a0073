"""Expression trees as JSON, and unevaluated derivatives and substitutions, entry by entry for matrices.

JSON nodes: ["num","2/3"] ["sym","t"] ["pi"] ["i"] ["add",…] ["mul",…] ["pow",a,n] ["sqrt","p/q"]
["root","p/q","p/q"] ["log",a] ["exp",a] and sin cos tan sinh cosh tanh, ["diff",e,"t",k] ["at",e,"t",value]
["fn",name,…]; ["matrix",rows] ["matmul",…] ["matadd",…] ["matpow",A,n] ["transpose",A] ["smul",e,A].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp
from sympy import S
from sympy.core.function import AppliedUndef
from sympy.matrices import MatrixBase
from sympy.matrices.expressions import MatAdd, MatMul, MatPow, Transpose
from sympy.matrices.expressions.matexpr import MatrixExpr

from .admit import admit, check_symbol
from .advice import advice
from .errors import BadInput, Unsupported, WrongType
from .walk import text

_FUNCTIONS = {f.__name__: f for f in (sp.exp, sp.sin, sp.cos, sp.tan, sp.sinh, sp.cosh, sp.tanh, sp.log)}


def D(formula: Any, *symbols: sp.Symbol) -> Any:
    """∂formula/∂symbols, unevaluated; entry by entry for a matrix. Numbers have derivative 0."""
    if not symbols:
        raise BadInput("D needs the symbol to differentiate in, as in D(formula, t)")
    for symbol in symbols:
        _check_variable(symbol, "D")
    return _entrywise(
        formula, lambda e: sp.Derivative(e, *symbols, evaluate=False) if e.args or e.is_Symbol else S.Zero
    )


def At(formula: Any, symbol: sp.Symbol, value: Any) -> Any:
    """formula with symbol := value, unevaluated; entry by entry for a matrix. Numbers stay as they are."""
    _check_variable(symbol, "At")
    point = admit(value, "value")
    return _entrywise(formula, lambda e: _subs(e, symbol, point) if e.args or e.is_Symbol else e)


def _subs(body: sp.Expr, symbol: sp.Symbol, value: sp.Expr) -> sp.Expr:
    """Subs; an inner one is joined, since sympy would read the pair in either of two ways."""
    if not isinstance(body, sp.Subs):
        return sp.Subs(body, symbol, value)
    inner, variables, point = body.args
    moved = tuple(
        v.xreplace({symbol: value}) if not v.has(sp.Derivative, sp.Subs) else _subs(v, symbol, value)
        for v in point
    )
    if symbol in variables:
        return sp.Subs(inner, variables, moved)
    return admit(sp.Subs(inner, (*variables, symbol), (*moved, value)), "At")


def _check_variable(symbol: Any, name: str) -> None:
    if not isinstance(symbol, sp.Symbol):
        raise WrongType(f"{name} takes a Symbol as variable, not {text(symbol)}")
    check_symbol(symbol, name)


def _entrywise(formula: Any, change: Callable[[sp.Expr], sp.Expr]) -> Any:
    formula = admit(formula, "formula")
    if isinstance(formula, MatrixExpr) and not isinstance(formula, MatrixBase):
        formula = formula.as_explicit()
    if isinstance(formula, MatrixBase):
        entries = [change(entry) for entry in formula.flat()]
        return sp.ImmutableDenseMatrix(formula.rows, formula.cols, entries)
    return change(formula)


def to_tree(formula: Any) -> list[Any]:
    """The JSON tree of an expression or matrix; Unsupported for nodes the format does not have."""
    return _to(admit(formula, "formula"))


def _to(node: Any) -> list[Any]:
    if isinstance(node, MatrixBase):
        flat, width = node.flat(), node.cols
        return ["matrix", [[_to(e) for e in flat[i * width : (i + 1) * width]] for i in range(node.rows)]]
    if isinstance(node, MatrixExpr):
        return _matrix_to(node)
    if isinstance(node, sp.Rational):
        return ["num", _fraction(node)]
    if isinstance(node, sp.Symbol):
        return ["sym", node.name]
    if isinstance(node, sp.Add | sp.Mul):
        return ["add" if isinstance(node, sp.Add) else "mul", *map(_to, node.args)]
    if isinstance(node, sp.Pow):
        return _pow_to(node)
    return _atom_or_function_to(node)


def _fraction(number: sp.Rational) -> str:
    """p or p/q, as `str` has it, which takes the way through a printer."""
    return str(int(number.p)) if number.q == 1 else f"{int(number.p)}/{int(number.q)}"


def _atom_or_function_to(node: Any) -> list[Any]:
    if node is S.Pi or node is S.ImaginaryUnit:
        return ["pi" if node is S.Pi else "i"]
    if node is S.Exp1:
        return ["exp", ["num", "1"]]
    if isinstance(node, AppliedUndef):
        return ["fn", str(node.func), *map(_to, node.args)]
    if isinstance(node, sp.Derivative):
        tree: list[Any] = _to(node.args[0])
        for symbol, count in node.args[1:]:
            tree = ["diff", tree, symbol.name, int(count)]
        return tree
    if isinstance(node, sp.Subs):
        return _subs_to(node)
    if _FUNCTIONS.get(type(node).__name__) is type(node):
        return [type(node).__name__, _to(node.args[0])]
    if isinstance(node, sp.cot | sp.coth):  # sympy turns tan(x + pi/2) into -cot(x)
        over, under = ("cos", "sin") if isinstance(node, sp.cot) else ("cosh", "sinh")
        argument = _to(node.args[0])
        return ["mul", [over, argument], ["pow", [under, argument], -1]]
    raise Unsupported(advice(node))


def _subs_to(node: sp.Subs) -> list[Any]:
    body, variables, point = node.args
    tree: list[Any] = _to(body)
    for variable, value in zip(variables, point, strict=True):
        tree = ["at", tree, variable.name, _to(value)]
    return tree


def _pow_to(node: sp.Pow) -> list[Any]:
    base, exponent = node.args
    if isinstance(exponent, sp.Integer):
        return ["pow", _to(base), int(exponent)]
    if isinstance(exponent, sp.Rational):
        if isinstance(base, sp.exp):
            return ["exp", _to(exponent * base.args[0])]
        if base is S.NegativeOne:
            return ["exp", ["mul", ["num", _fraction(exponent)], ["i"], ["pi"]]]
        if isinstance(base, sp.Rational) and base > 0:
            return (
                ["sqrt", _fraction(base)]
                if exponent == S.Half
                else ["root", _fraction(base), _fraction(exponent)]
            )
    raise Unsupported(advice(node))


def _matrix_to(node: MatrixExpr) -> list[Any]:
    if isinstance(node, MatMul):
        scalars = [_to(f) for f in node.args if isinstance(f, sp.Expr) and not getattr(f, "is_Matrix", False)]
        factors = [_to(f) for f in node.args if getattr(f, "is_Matrix", False)]
        tree: list[Any] = factors[0] if len(factors) == 1 else ["matmul", *factors]
        for scalar in reversed(scalars):
            tree = ["smul", scalar, tree]
        return tree
    if isinstance(node, MatAdd):
        return ["matadd", *map(_to, node.args)]
    if isinstance(node, Transpose):
        return ["transpose", _to(node.args[0])]
    if isinstance(node, MatPow) and isinstance(node.args[1], sp.Integer):
        return ["matpow", _to(node.args[0]), int(node.args[1])]
    if isinstance(node, sp.Identity | sp.ZeroMatrix):
        return _to(node.as_explicit().as_immutable())
    raise Unsupported(f"{text(node)} has no tree ({type(node).__name__}); write explicit matrices")


def from_tree(tree: Any, symbols: Mapping[str, sp.Symbol] | None = None) -> Any:
    """The sympy formula of a JSON tree; names become real symbols unless `symbols` says otherwise.

    Errors: BadInput for a node that is not in the format. Nothing is parsed as Python or sympy text.
    """
    return _from(tree, symbols or {})


def _from(tree: Any, symbols: Mapping[str, sp.Symbol]) -> Any:
    try:
        head, *rest = tree
        build = _BUILDERS[head]
    except (TypeError, ValueError, KeyError):
        raise BadInput(f"{text(tree)} is no node of an expression tree") from None
    try:
        return build(rest, symbols)
    except (TypeError, ValueError, IndexError, AttributeError, ZeroDivisionError) as problem:
        if isinstance(problem, BadInput):
            raise
        raise BadInput(f"{text(tree)} is a malformed {head!r} node") from problem


def _rational(words: Any) -> sp.Rational:
    if not isinstance(words, str):
        raise BadInput(f"{text(words)} is no number; numbers are strings such as '2/3'")
    top, slash, bottom = words.partition("/")
    if slash and int(bottom) == 0:
        raise BadInput(f"{words} has the denominator 0")
    return sp.Rational(int(top), int(bottom) if slash else 1)


def _whole(value: Any, least: int | None = None) -> sp.Integer:
    if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
        raise BadInput(f"{text(value)} is no whole number{'' if least is None else f' of at least {least}'}")
    return sp.Integer(value)


def _symbol(name: Any, symbols: Mapping[str, sp.Symbol]) -> sp.Symbol:
    if not isinstance(name, str):
        raise BadInput(f"{text(name)} is no symbol name")
    return symbols.get(name) or sp.Symbol(name, real=True)


def _one(rest: list[Any]) -> Any:
    (only,) = rest
    return only


def _power(rest: list[Any], symbols: Mapping[str, sp.Symbol]) -> sp.Expr:
    base, exponent = rest
    return sp.Pow(_from(base, symbols), _whole(exponent))


def _derivative(rest: list[Any], symbols: Mapping[str, sp.Symbol]) -> sp.Expr:
    body, name, count = rest
    times = (_symbol(name, symbols), _whole(count, 1))
    return sp.Derivative(_from(body, symbols), times, evaluate=False)


def _application(name: Any, first: Any, *rest_and_symbols: Any) -> sp.Expr:
    *rest, symbols = rest_and_symbols
    return sp.Function(_symbol(name, {}).name)(*(_from(e, symbols) for e in (first, *rest)))


def _matrix(rows: list[list[Any]], symbols: Mapping[str, sp.Symbol]) -> sp.ImmutableDenseMatrix:
    return sp.ImmutableDenseMatrix([[_from(entry, symbols) for entry in row] for row in rows])


def _function(
    function: Callable[[sp.Expr], sp.Expr],
) -> Callable[[list[Any], Mapping[str, sp.Symbol]], sp.Expr]:
    return lambda rest, symbols: function(_from(_one(rest), symbols))


_BUILDERS: dict[str, Callable[[list[Any], Mapping[str, sp.Symbol]], Any]] = {
    "num": lambda r, s: _rational(_one(r)),
    "sym": lambda r, s: _symbol(_one(r), s),
    "pi": lambda r, s: S.Pi,
    "i": lambda r, s: S.ImaginaryUnit,
    "add": lambda r, s: sp.Add(*(_from(e, s) for e in r)),
    "mul": lambda r, s: sp.Mul(*(_from(e, s) for e in r)),
    "pow": lambda r, s: _power(r, s),
    "sqrt": lambda r, s: sp.sqrt(_rational(_one(r))),
    "root": lambda r, s: sp.Pow(_rational(r[0]), _rational(r[1])),
    "diff": lambda r, s: _derivative(r, s),
    "at": lambda r, s: At(_from(r[0], s), _symbol(r[1], s), _from(r[2], s)),
    "fn": lambda r, s: _application(*r, s),
    "matrix": lambda r, s: _matrix(_one(r), s),
    "matmul": lambda r, s: MatMul(*(_from(e, s) for e in r)),
    "matadd": lambda r, s: MatAdd(*(_from(e, s) for e in r)),
    "matpow": lambda r, s: MatPow(_from(r[0], s), _whole(r[1], 0)),
    "transpose": lambda r, s: Transpose(_from(_one(r), s)),
    "smul": lambda r, s: MatMul(_from(r[0], s), _from(r[1], s)),
    **{name: _function(function) for name, function in _FUNCTIONS.items()},
}
