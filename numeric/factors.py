"""Encodings given by factors F(t), G(s), V(s), O(t) and a bias, for which no generator need exist.

These are mostly the negative cases. A factor is evaluated as a formula, once per token, as a dense matrix.
"""

from __future__ import annotations

import sympy as sp
import torch
from torch import Tensor

from ..symbolic.encoding import Encoding
from .constants import nearest_float
from .errors import NotLowered, TooLarge
from .formula import evaluate
from .softmax import Inputs

_QUERY, _KEY, _GAP = (sp.Symbol(name, real=True) for name in "tsu")


def factor_scores(inputs: Inputs, encoding: Encoding) -> Tensor:
    """(F(t) φ(q))ᵀ (G(s) ψ(k)), (B, H, Tq, Tk), in the dtype of the arithmetic, without the bias."""
    query_column, key_column = encoding.content()
    q = _lift(inputs.q, query_column, encoding.query_lift(query_column))
    k = _lift(inputs.k, key_column, encoding.key_lift(key_column))
    q = _apply(encoding.query_factor(_QUERY), _QUERY, inputs.query_ids, q)
    k = _apply(encoding.key_factor(_KEY), _KEY, inputs.key_ids, k)
    return q @ k.transpose(-2, -1)


def factor_bias(inputs: Inputs, encoding: Encoding) -> Tensor | float:
    """scale · bias(t, s) in float64, rounded once; a function of the gap is evaluated at the gap itself."""
    relative = sp.expand(encoding.scale * encoding.bias(_KEY + _GAP, _KEY))
    if relative.is_zero:
        return 0.0
    if not relative.has(_KEY):
        return evaluate(relative, {_GAP: inputs.gap})[:, None].to(inputs.q.dtype)
    formula = sp.expand(encoding.scale * encoding.bias(_QUERY, _KEY))
    values = {_QUERY: inputs.query_ids.double()[:, :, None], _KEY: inputs.key_ids.double()[:, None, :]}
    return evaluate(formula, values)[:, None].to(inputs.q.dtype)


def factor_output(inputs: Inputs, encoding: Encoding, logits: Tensor) -> Tensor:
    """O(t) Σ_s p(t, s) V(s) v_s, in the dtype of the arithmetic."""
    values = _apply(encoding.value_factor(_KEY), _KEY, inputs.key_ids, inputs.v)
    output = inputs.output(logits, values)
    return _apply(encoding.output_factor(_QUERY), _QUERY, inputs.query_ids, output)


def _lift(x: Tensor, column: sp.MatrixBase, lifted: sp.MatrixBase) -> Tensor:
    """x with the constant slots of its lift appended."""
    size = column.rows
    if list(lifted)[:size] != list(column):
        raise NotLowered("the lift of this encoding changes q or k, not only its spare slots")
    if any(value.free_symbols & column.free_symbols for value in list(lifted)[size:]):
        raise NotLowered("the spare slots of this encoding depend on q or k; only constant ones are lowered")
    slots = [nearest_float(value) for value in list(lifted)[size:]]
    constants = torch.tensor(slots, dtype=x.dtype, device=x.device).expand(*x.shape[:-1], len(slots))
    return torch.cat((x, constants), dim=-1) if slots else x


def _apply(factor: sp.MatrixBase, symbol: sp.Symbol, ids: Tensor, x: Tensor) -> Tensor:
    """The matrix of every token applied to x (B, H, T, n); entries are formed in float64 and rounded once."""
    entries = factor.todok()
    if factor.rows == factor.cols == len(entries) and all(i == j and e == 1 for (i, j), e in entries.items()):
        return x
    if factor.cols != x.shape[-1]:
        raise NotLowered(
            f"a factor of this encoding takes {factor.cols} features, but there are {x.shape[-1]}"
        )
    time = ids.double()
    dense = torch.zeros(*ids.shape, factor.rows, factor.cols, dtype=torch.float64, device=x.device)
    for (i, j), entry in entries.items():
        dense[..., i, j] = evaluate(entry, {symbol: time})
    matrices = dense.to(x.dtype)
    if not matrices.is_meta and not torch.compiler.is_compiling() and not bool(matrices.isfinite().all()):
        raise TooLarge(f"a factor of this encoding overflows {x.dtype}; positions nearer to 0 work")
    return (matrices[:, None] @ x[..., None])[..., 0]


__all__ = ["factor_bias", "factor_output", "factor_scores"]
