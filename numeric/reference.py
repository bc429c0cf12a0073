"""The specification, in float64: exp(tX) is written out from its closed form and multiplied, pair by pair.

Every entry of every matrix comes from the symbolic room, is enclosed by balls and correctly rounded to
float64; nothing is shared with the fast paths, which never import this file. Meant to be read and believed,
not to be fast: the number of matrices formed is the number of distinct positions, or of position pairs.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import flint
import sympy as sp
import torch
from torch import Tensor

from ..symbolic.encoding import Encoding
from ..symbolic.generator import Generator
from ..symbolic.kinds.generated import Generated
from .constants import number_ball
from .errors import BadTensor
from .exact import flow
from .rounding import round_correctly

_BITS = 256


def transport(x: Tensor, generator: Generator, position_ids: Tensor, *, transpose: bool = False) -> Tensor:
    """exp(tX) x, or exp(tX)ᵀ x with transpose=True; same shape as x, float64.

    x: (batch, heads, time, dim), any float dtype; position_ids: (time,), integers or float clock readings.
    NotLowered if a symbol is left in the generator.
    """
    y = torch.empty(x.shape, dtype=torch.float64)
    for i, t in enumerate(position_ids.tolist()):
        matrix = flow(generator, t)
        y[:, :, i] = x[:, :, i].double() @ (matrix if transpose else matrix.T)
    return y


def scores(
    q: Tensor, k: Tensor, encoding: Encoding, position_ids: Tensor, key_position_ids: Tensor
) -> Tensor:
    """score(t, s), shape (batch, heads, Tq, Tk), float64; it never contains the scale.

    q: (batch, heads, Tq, d), k: (batch, heads, Tk, d), any float dtype; position_ids: (Tq,),
    key_position_ids: (Tk,). An encoding with heads uses its h-th member for head h. BadTensor if the numbers
    of heads differ.
    """
    members = encoding.heads
    if len(members) not in (1, q.shape[1]):
        raise BadTensor(f"encoding has {len(members)} heads but q has {q.shape[1]}; equal numbers work")
    result = torch.empty(*q.shape[:3], k.shape[2], dtype=torch.float64)
    for h in range(q.shape[1]):
        member = members[h if len(members) > 1 else 0]
        left, right = (_lifted(x[:, h].double(), side, member) for side, x in (("query", q), ("key", k)))
        for i, t in enumerate(position_ids.tolist()):
            for j, s in enumerate(key_position_ids.tolist()):
                matrix, bias = pair_matrix(member, t, s)
                result[:, h, i, j] = ((left[:, i] @ matrix) * right[:, j]).sum(-1) + bias
    return result


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    encoding: Encoding,
    *,
    position_ids: Tensor,
    key_position_ids: Tensor,
    causal: bool = True,
) -> Tensor:
    """O(t) Σ_s softmax(scale · score)_s V(s) v_s, shape (batch, heads, Tq, dv), float64.

    Over the keys with s <= t, or all if not causal. v: (batch, heads, Tk, dv); q, k, encoding, position_ids,
    key_position_ids as for `scores`, and so are the errors: BadTensor if the numbers of heads differ.
    """
    logits = _number(encoding.scale) * scores(q, k, encoding, position_ids, key_position_ids)
    if causal:
        logits = logits.masked_fill(position_ids[:, None] < key_position_ids, -math.inf)
    weights = logits.softmax(dim=-1)
    member = encoding.heads[0]
    values = _moved(v.double(), member, "value_factor", key_position_ids)
    return _moved(weights @ values, member, "output_factor", position_ids)


def linear_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    log_decay: Tensor,
    *,
    angle: Tensor | None = None,
    scale: float = 1.0,
    initial_state: Tensor | None = None,
    interleaved: bool = False,
) -> tuple[Tensor, Tensor]:
    """(out, final_state), float64, token by token: S ← e^{log_decay} R(-angle) S + k vᵀ, out = scale Sᵀq.

    q, k: (B, H, T, dk); v: (B, H, T, dv); log_decay: (H,), (B, H, T) or (B, H, T, dk), with angle
    (B, H, T, dk/2); angle: (dk/2,), (H, dk/2) or (B, H, T, dk/2), radians a token for planes (i, i + dk/2),
    or (2i, 2i + 1) if interleaved; scale: a number; initial_state: (B, H, dk, dv). Any float dtypes; T >= 1;
    BadTensor if q and k differ in shape. A positive log decay grows, which no fast form allows.
    """
    if q.shape != k.shape:
        raise BadTensor(f"k has shape {tuple(k.shape)} but q has {tuple(q.shape)}; equal shapes work")
    (batch, heads, time, dim), width = q.shape, v.shape[-1]
    q, k, v = q.double(), k.double(), v.double()
    state = torch.zeros(batch, heads, dim, width, dtype=torch.float64)
    state = state if initial_state is None else initial_state.double()
    fades = log_decay.double().exp()
    if log_decay.ndim == 4 and angle is not None:  # one a plane
        fades = fades.repeat_interleave(2, -1) if interleaved else torch.cat((fades, fades), -1)
    fades = fades[:, None, None].expand(heads, 1, 1) if log_decay.ndim == 1 else fades
    rows = []
    for t in range(time):
        if angle is not None:
            state = _turned_back(state, angle[:, :, t] if angle.ndim == 4 else angle, interleaved)
        fade = fades if log_decay.ndim == 1 else fades[:, :, t].reshape(batch, heads, -1, 1)
        state = fade * state + k[:, :, t, :, None] * v[:, :, t, None, :]
        rows.append(scale * (q[:, :, t, :, None] * state).sum(-2))
    return torch.stack(rows, dim=2), state


def _turned_back(state: Tensor, angle: Tensor, interleaved: bool) -> Tensor:
    """R(-angle) on the rows of a state, plane by plane."""
    turned, pairs, angle = torch.empty_like(state), state.shape[-2] // 2, angle.double()
    for i in range(pairs):
        a, b = (2 * i, 2 * i + 1) if interleaved else (i, i + pairs)
        cos, sin = angle[..., i, None].cos(), angle[..., i, None].sin()
        turned[..., a, :] = cos * state[..., a, :] + sin * state[..., b, :]
        turned[..., b, :] = cos * state[..., b, :] - sin * state[..., a, :]
    return turned


def _moved(x: Tensor, encoding: Encoding, name: str, position_ids: Tensor) -> Tensor:
    """V(s) x or O(t) x, token by token."""
    moved = [_value_matrix(encoding, name, _exact(t)) for t in position_ids.tolist()]
    return torch.stack([x[:, :, i] @ matrix.T for i, matrix in enumerate(moved)], dim=2)


@lru_cache(maxsize=4096)
def _value_matrix(encoding: Encoding, name: str, position: sp.Rational) -> Tensor:
    return _matrix(getattr(encoding, name)(position))


def pair_matrix(encoding: Encoding, t: float, s: float) -> tuple[Tensor, float]:
    """(M, b) with score = φ(q)ᵀ M ψ(k) + b: (exp((t-s)X), 0) in the family, else (F(t)ᵀ G(s), bias(t, s)).

    encoding: of one head; t, s: finite numbers that count as exact. M: float64, shape (lifted, lifted).
    NotLowered if a symbol is left in the encoding.
    """
    query, key = _exact(t), _exact(s)
    if isinstance(encoding, Generated):
        return _flow(encoding.generator, query - key), 0.0
    with flint.ctx.workprec(_BITS):
        product = _factor(encoding, "query_factor", query).transpose() * _factor(encoding, "key_factor", key)
        rows = [[float(entry.mid()) for entry in row] for row in product.tolist()]
    return torch.tensor(rows, dtype=torch.float64), _number(encoding.bias(query, key))


@lru_cache(maxsize=4096)
def _flow(generator: Generator, gap: sp.Rational) -> Tensor:
    return flow(generator, gap)


@lru_cache(maxsize=4096)
def _factor(encoding: Encoding, name: str, position: sp.Rational) -> flint.arb_mat:
    """F(t) or G(s) as balls of 2^-200 and less: far below what rounding the product to float64 would show."""
    matrix = getattr(encoding, name)(position)
    with flint.ctx.workprec(_BITS):
        return flint.arb_mat([[number_ball(entry) for entry in row] for row in matrix.tolist()])


def _exact(position: float) -> sp.Rational:
    return sp.Rational(Fraction(position))


def _lifted(x: Tensor, side: str, encoding: Encoding) -> Tensor:
    """φ(q) or ψ(k): x (batch, time, d) times the amplitude, with the constant slots appended."""
    column = encoding.content()[side == "key"]
    lifted = encoding.query_lift(column) if side == "query" else encoding.key_lift(column)
    slots = torch.tensor([_number(value) for value in list(lifted)[column.rows :]], dtype=torch.float64)
    if isinstance(encoding, Generated):
        x = x * _number(encoding.amplitude)
    return torch.cat((x, slots.expand(*x.shape[:-1], len(slots))), dim=-1)


def _matrix(matrix: sp.MatrixBase) -> Tensor:
    """A matrix of exact numbers, every entry correctly rounded."""
    result = torch.zeros(matrix.rows, matrix.cols, dtype=torch.float64)
    for (i, j), entry in matrix.todok().items():
        result[i, j] = _number(entry)
    return result


@lru_cache(maxsize=65536)
def _number(value: sp.Expr) -> float:
    return round_correctly(lambda: number_ball(value), torch.float64)


__all__ = ["attention", "linear_attention", "pair_matrix", "scores", "transport"]
