"""Formulas of the symbolic room evaluated on tensors, in float64, node by node.

Numbers inside a formula are rounded once, as whole constants. Nothing is compiled and no text is evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import sympy as sp
import torch
from torch import Tensor

from .angles import refuse_large_angle
from .constants import nearest_float
from .errors import NotLowered

_FUNCTIONS = {
    sp.Abs: torch.abs,
    sp.cos: torch.cos,
    sp.cosh: torch.cosh,
    sp.exp: torch.exp,
    sp.floor: torch.floor,
    sp.log: torch.log,
    sp.sign: torch.sign,
    sp.sin: torch.sin,
    sp.sinh: torch.sinh,
    sp.tan: torch.tan,
    sp.tanh: torch.tanh,
}


def evaluate(formula: sp.Expr, values: Mapping[sp.Symbol, Tensor]) -> Tensor:
    """The formula at float64 tensors that broadcast; NotLowered names a part without numeric form."""
    if not formula.free_symbols:
        like = next(iter(values.values()))
        return torch.tensor(nearest_float(formula), dtype=torch.float64, device=like.device)
    if formula in values:
        return values[formula]
    if isinstance(formula, (sp.Add, sp.Mul)):
        return _combine(formula, values)
    if isinstance(formula, sp.Pow) and formula.exp.is_Integer:
        return evaluate(formula.base, values) ** int(formula.exp)
    if isinstance(formula, sp.Pow):
        return evaluate(formula.base, values) ** evaluate(formula.exp, values)
    if formula.func in _FUNCTIONS:
        argument = evaluate(formula.args[0], values)
        if formula.func in (sp.cos, sp.sin, sp.tan):
            refuse_large_angle(argument)
        return _FUNCTIONS[formula.func](argument)
    if isinstance(formula, (sp.Min, sp.Max)):
        pick = torch.minimum if isinstance(formula, sp.Min) else torch.maximum
        return reduce(pick, (evaluate(part, values) for part in formula.args))
    if isinstance(formula, sp.Piecewise):
        return _piecewise(formula, values)
    raise NotLowered(f"{formula} has no numeric form; substitute numbers and known functions before running")


def _combine(formula: sp.Add | sp.Mul, values: Mapping[sp.Symbol, Tensor]) -> Tensor:
    """Σ or Π with the constants taken together first, so that they are rounded once."""
    constants = [part for part in formula.args if not part.free_symbols]
    parts = [evaluate(part, values) for part in formula.args if part.free_symbols]
    if constants:
        parts.append(evaluate(formula.func(*constants), values))
    return reduce(torch.add if isinstance(formula, sp.Add) else torch.mul, parts)


def _piecewise(formula: sp.Piecewise, values: Mapping[sp.Symbol, Tensor]) -> Tensor:
    result = torch.tensor(float("nan"), dtype=torch.float64, device=next(iter(values.values())).device)
    for value, condition in reversed(formula.args):
        result = torch.where(_condition(condition, values), evaluate(value, values), result)
    return result


def _condition(condition: sp.Basic, values: Mapping[sp.Symbol, Tensor]) -> Tensor:
    if condition in (sp.true, sp.false):
        return torch.tensor(bool(condition), device=next(iter(values.values())).device)
    if isinstance(condition, (sp.And, sp.Or)):
        pick = torch.logical_and if isinstance(condition, sp.And) else torch.logical_or
        return reduce(pick, (_condition(part, values) for part in condition.args))
    compare = {
        sp.Eq: torch.eq,
        sp.Ge: torch.ge,
        sp.Gt: torch.gt,
        sp.Le: torch.le,
        sp.Lt: torch.lt,
        sp.Ne: torch.ne,
    }.get(condition.func)
    if compare is None:
        raise NotLowered(f"the condition {condition} has no numeric form")
    return compare(evaluate(condition.lhs, values), evaluate(condition.rhs, values))


__all__ = ["evaluate"]
