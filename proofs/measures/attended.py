"""`attention` beside its exact output, with the budget of every output.

Logits are off by what the moved queries and keys are off, their sum, and the bias; weights and outputs
follow. Exact values are kept from one call to the next, what a kernel computed is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import flint
import torch
from torch import Tensor

from ...numeric.constants import nearest_float
from ...symbolic.encoding import Encoding
from .. import budget
from .places import Places, places
from .rotated import Measured


@dataclass(frozen=True)
class Heads:
    """Queries, keys and values (batch, heads, time, d) at positions (time,), of one dtype."""

    q: Tensor
    k: Tensor
    v: Tensor
    ids: Tensor

    def moved(self, shift: int) -> Heads:
        """The same heads with every position moved by `shift`."""
        return Heads(self.q, self.k, self.v, self.ids + shift)


def moved(x: Measured, matrices: Tensor, angles: Tensor, terms: int, dtype: torch.dtype) -> Measured:
    """matrices[t] @ x_t in the arithmetic of `dtype`; terms: products added a coordinate, 0 for a copy."""
    if terms == 0:
        return x
    size = (x.known.abs() + x.error)[..., None]
    above, touched = ((part @ size)[..., 0] for part in (matrices.abs(), (matrices != 0).double()))
    carried = (matrices.abs() @ x.error[..., None])[..., 0]
    known = (matrices @ x.known[..., None])[..., 0]
    return Measured(known, known, carried + budget.factored(above, touched, angles, terms, dtype))


def given(x: Tensor, slots: int = 0) -> Measured:
    """Vectors that are exact, with constant slots of 1 appended."""
    x = torch.cat((x.double(), torch.ones(*x.shape[:-1], slots, dtype=torch.float64)), dim=-1)
    return Measured(x, x, torch.zeros_like(x))


def logits(heads: Heads, at: Places, scale: float, causal: bool) -> Measured:
    """scale · score in float64, -∞ where hidden, and how far a kernel may be off."""
    dtype, angles = heads.q.dtype, heads.ids.double().abs()[:, None] * at.rates
    q, k = given(heads.q, at.slots), given(heads.k, at.slots)
    pairs = at.pairs.expand(heads.q.shape[1], -1, -1, -1, -1)
    known = scale * (torch.einsum("bhti,htsij,bhsj->bhts", q.known, pairs, k.known) + at.bias)
    left, right = moved(q, at.query, angles, at.terms, dtype), moved(k, at.key, angles, at.terms, dtype)
    a, ea = (part.unsqueeze(-2) for part in (left.known.abs(), left.error))
    b, eb = (part.unsqueeze(-3) for part in (right.known.abs(), right.error))
    off = budget.score(a, b, ea, eb, a.shape[-1] + at.roundings, dtype)
    error = budget.logit(scale, (a * b).sum(-1), off, scale * at.bias.abs(), dtype)
    hidden = (heads.ids[:, None] < heads.ids) & torch.tensor(causal)
    return Measured(known, known.masked_fill(hidden, -math.inf), error)


def output(heads: Heads, encoding: Encoding, causal: bool = True, scale: float | None = None) -> Measured:
    """Output in float64 and the budget of a kernel's; values moved by the encoding included."""
    at, dtype = places(encoding, tuple(heads.ids.tolist())), heads.q.dtype
    scaled = logits(heads, at, nearest_float(encoding.scale) if scale is None else scale, causal)
    p = scaled.known.softmax(dim=-1)
    gaps = (scaled.known.amax(-1, keepdim=True) - scaled.known).nan_to_num(posinf=0.0)
    angles = heads.ids.double().abs()[:, None] * at.rates
    v = given(heads.v)
    there = v if at.values is None else moved(v, at.values, angles, at.terms, dtype)
    error = budget.attended(p, gaps, there.known, scaled.error, dtype)
    if at.values is not None:
        error = error + p @ there.error + budget.attended(p, gaps, there.error, scaled.error, dtype)
    summed = Measured(p @ there.known, p @ there.known, error)
    back = summed if at.output is None else moved(summed, at.output, angles, at.terms, dtype)
    return Measured(back.known, back.known, budget.rounded(back.known.abs(), back.error, dtype))


def exact_output(heads: Heads, encoding: Encoding, scale: float | None = None) -> Tensor:
    """The causal output at increasing positions, by ball arithmetic on the correctly rounded matrices."""
    at = places(encoding, tuple(heads.ids.tolist()))
    sigma = flint.arb(nearest_float(encoding.scale) if scale is None else scale)
    pairs = [[[_balls(matrix) for matrix in row] for row in head] for head in at.pairs]
    bias = [[[flint.arb(entry) for entry in row] for row in head] for head in at.bias.tolist()]
    between = [[_balls(matrix) for matrix in row] for row in _between_values(at, len(heads.ids))]
    y = torch.empty(heads.v.shape, dtype=torch.float64)
    with flint.ctx.workprec(128):
        for b, h, t in torch.cartesian_prod(*map(torch.arange, heads.v.shape[:3])).tolist():
            q, top, total = _balls(heads.q[b, h, t][None]), _balls(torch.zeros(y.shape[-1], 1)), flint.arb(0)
            for s in range(int((heads.ids <= heads.ids[t]).sum())):
                k, v = (_balls(x[b, h, s][:, None]) for x in (heads.k, heads.v))
                score = (q * pairs[h % len(pairs)][t][s] * k)[0, 0] + bias[h % len(bias)][t][s]
                weight = (sigma * score).exp()
                top, total = top + between[t][s] * v * weight, total + weight
            y[b, h, t] = torch.tensor([float(entry / total) for entry in top.entries()], dtype=torch.float64)
    return y


def _between_values(at: Places, time: int) -> Tensor:
    """O(t) V(s), (T, T, d, d)."""
    if at.values is None or at.output is None:
        return torch.eye(at.pairs.shape[-1], dtype=torch.float64).expand(time, time, -1, -1)
    return at.output[:, None] @ at.values[None]


def _balls(matrix: Tensor) -> flint.arb_mat:
    """A matrix of floats, each taken as exact."""
    return flint.arb_mat([[flint.arb(entry) for entry in row] for row in matrix.double().tolist()])
