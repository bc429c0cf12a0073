"""Attention with any encoding of the catalogue, in plain eager PyTorch.

    logit = scale · (φ(q)ᵀ exp((t-s)X) ψ(k)),   out = softmax(logit) v

A turn is applied to queries and keys, each at its own position. What fades or slides is a function of the gap
t - s, so neither e^{+γs} nor a difference of two large numbers is ever formed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, reduce

import sympy as sp
import torch
from torch import Tensor

from ..symbolic.encoding import Encoding
from ..symbolic.generator import Generator
from ..symbolic.kinds.clocked import Clocked
from ..symbolic.kinds.generated import Generated
from ..symbolic.kinds.ordered import Ordered
from ..symbolic.kinds.summed import Sum
from ..symbolic.verdict import Status, Verdict
from .constants import nearest_float, refuse_symbols
from .errors import BadChoice, BadDtype, BadTensor, NotLowered, Unbounded
from .factors import factor_bias, factor_output, factor_scores
from .flow import BlockBatch, lower, shear_weights, transport, turn
from .formula import evaluate
from .layout import select
from .softmax import Inputs, full_precision, prepare, resolve_scale

_GAP = sp.Symbol("u", real=True)


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    encoding: Encoding,
    *,
    position_ids: Tensor | None = None,
    key_position_ids: Tensor | None = None,
    causal: bool = True,
    scale: float | None = None,
    attn_mask: Tensor | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(scale · score(t, s)) v, shape (batch, heads, Tq, dv), dtype of q, for any encoding.

    All logits are formed in plain PyTorch, to compare with; on the fast paths are RotaryEmbedding before
    scaled_dot_product_attention, alibi_attention, biased_attention and, for decays, linear_attention.
    q: (batch, heads, Tq, head_dim); k: (batch, heads, Tk, head_dim); v: (batch, heads, Tk, dv); one dtype.
    Half precision is computed in float32 and rounded once. With enable_gqa k and v may have fewer heads.
    encoding: with numbers only; one for all heads, or one per query head (alibi with num_heads); or a sum.
    position_ids: (Tq,) or (batch, Tq), of the queries; key_position_ids: (Tk,) or (batch, Tk). Without them
    both count from 0; if Tq != Tk, position_ids must be given and keys count from 0. Integers, or floats.
    causal: a key is seen if s <= t, by *position*, so decode shapes (one query, many keys) need nothing else.
    scale: replaces the encoding's own (1/sqrt(head_dim)); refused where a lifted bias is built on that one.
    attn_mask: broadcasts to (batch, heads, Tq, Tk); booleans (True takes part) or floats to add.
    A query that sees no key gives zeros. Gradients flow to q, k and v. Autocast is off inside.
    Raises Unbounded for causal=False where the score has no bound for keys ahead of the query; NotLowered if
    a parameter of the encoding is a symbol; TooLarge where |ωt| > 2^28 radians or a factor overflows;
    BadTensor, BadDtype or BadChoice naming the argument that does not fit.
    """
    heads = _heads(encoding, q)
    if not causal:
        _refuse_unbounded(encoding)
    inputs = prepare(q, k, v, position_ids, key_position_ids, causal, attn_mask, enable_gqa)
    with full_precision(q):
        bodies = tuple(head.moving if isinstance(head, Sum) else head for head in heads)
        generated = tuple(body for body in bodies if isinstance(body, Generated))
        if len(generated) < len(heads):
            return _by_factors(inputs, heads, scale).to(q.dtype)
        used = resolve_scale(scale, nearest_float(encoding.scale))
        scores = _content_scores(inputs, [head.content_generator for head in generated])
        logits = used * _amplified(scores, generated)
        if any(head.biases for head in generated):
            logits = logits + _lifted_bias(inputs, generated, scale)
        elif isinstance(heads[0], Sum):
            logits = logits + _formula_bias(inputs, heads, scale)
        return _moved_values(inputs, generated[0], logits).to(q.dtype)


def _heads(encoding: object, q: Tensor) -> tuple[Encoding, ...]:
    """The encodings of the heads: one for all, or one per query head."""
    if not isinstance(encoding, Encoding):
        kind = type(encoding).__name__
        raise BadDtype(f"encoding is a {kind}; an Encoding works, e.g. encoding('rope', head_dim=64)")
    for part in encoding.parts:
        for name, value in part.parameters.items():
            refuse_symbols(value, f"{name} of encoding {part.name}")
        _refuse_other_kinds(part)
    heads = encoding.heads
    t, s = heads[0].shown_positions()
    if not isinstance(t, sp.Symbol):
        raise NotLowered(
            f"{encoding.name} is not read at one number a token but at positions such as {t} and {s}; "
            "its exact score is encoding.score(t, s), and encodings on one axis work here"
        )
    if q.ndim == 4 and q.shape[-1] != encoding.head_dim:
        raise BadTensor(f"q has head_dim {q.shape[-1]}, but encoding is for head_dim {encoding.head_dim}")
    if q.ndim == 4 and len(heads) not in (1, q.shape[1]):
        raise BadTensor(f"encoding has {len(heads)} heads but q has {q.shape[1]}; equal numbers work")
    return heads


def _refuse_other_kinds(part: Encoding) -> None:
    """NotLowered for encodings that are not read at positions, with what works instead."""
    if isinstance(part, Clocked) and len(part.clocks) == 1:
        raise NotLowered(
            f"{part.name} is read at a clock, a sum of gates that no argument here holds; its readings work "
            "as position_ids of an encoding on positions, e.g. for fox alibi with slope=1 and "
            "position_ids = -cumsum(log f); linear_attention takes gates as log_decay"
        )
    if isinstance(part, Clocked):
        raise NotLowered(
            f"{part.name} is read at {len(part.clocks)} clocks, sums of gates that no argument here holds; "
            "linear_attention takes gates of features as log_decay and of planes as angle"
        )
    if isinstance(part, Ordered):
        raise NotLowered(
            f"{part.name} multiplies one matrix a token, in order, so there are no per-token factors of "
            "queries and keys; its exact score is encoding.score(t, s)"
        )


@lru_cache(maxsize=64)
def _ahead(encoding: Encoding) -> Verdict:
    """Whether keys ahead of the query may be seen: the factor and the bias have upper bounds there."""
    return encoding.is_bidirectional()


def _refuse_unbounded(encoding: Encoding) -> None:
    verdict = _ahead(encoding)
    if verdict.status is Status.REFUTED:
        raise Unbounded(
            f"causal=False lets a query see keys ahead of it, where {encoding.name} "
            f"is unbounded ({verdict.reason}); causal=True works, or, as a separate choice, the symmetric "
            "form in |t - s| (encoding 'symmetric_distance')"
        )


def _content_scores(inputs: Inputs, generators: list[Generator]) -> Tensor:
    """q^T exp((t-s)X) k, (B, H, Tq, Tk): at once if the heads share X, else head by head."""
    if all(generator == generators[0] for generator in generators):
        return _scores(inputs, generators[0], slice(None))
    parts = [_scores(inputs, generator, slice(h, h + 1)) for h, generator in enumerate(generators)]
    return torch.cat(parts, dim=1)


def _amplified(scores: Tensor, heads: tuple[Generated, ...]) -> Tensor:
    """m² times the scores: an amplitude on q and k, of every head."""
    squares = [nearest_float(head.amplitude**2) for head in heads]
    if all(square == 1 for square in squares):
        return scores
    return scores * scores.new_tensor(squares)[:, None, None]


def _scores(inputs: Inputs, generator: Generator, heads: slice) -> Tensor:
    """Σ over blocks of e^{-γu} Σ_k u^k/k! (R(ωt)ᵀ q)ᵀ N^k (R(ωs)ᵀ k), in the canonical basis."""
    plan = lower(generator)
    q, k = inputs.q[:, heads], inputs.k[:, heads]
    parts = []
    for batch in plan.batches:
        turned_q = turn(plan.basis_transposed.split(q, batch), batch, inputs.query_ids, True, "bhtd")
        turned_k = turn(plan.inverse.split(k, batch), batch, inputs.key_ids, True, "bhtd")
        if batch.fades:
            gap = inputs.gap_where_visible()
            gap = gap[:, heads] if gap.shape[1] > 1 else gap
            parts += _faded_scores(turned_q, turned_k, batch, gap)
        else:
            parts.append(_dot(turned_q, turned_k))
    return reduce(torch.add, parts)


def _faded_scores(q: Tensor, k: Tensor, batch: BlockBatch, gap: Tensor) -> Iterator[Tensor]:
    """Blocks of one shape, q and k (B, H, T, width, n, m); blocks of equal decay share their weights."""
    for decay in dict.fromkeys(batch.decays):
        members = [i for i, other in enumerate(batch.decays) if other == decay]
        left, right = select(q, members, -2), select(k, members, -2)
        weights = shear_weights((decay,), batch.size, gap[..., None], q.dtype)
        for shift, weight in enumerate(weights):
            part = _dot(left[..., : batch.size - shift], right[..., shift:])
            yield weight[..., 0].to(q.dtype) * part


def _dot(q: Tensor, k: Tensor) -> Tensor:
    """Σ q k over the last three axes, for all pairs: (B, H, Tq, w, n, m) and (B, H, Tk, w, n, m)."""
    return q.flatten(-3) @ k.flatten(-3).transpose(-2, -1)


def _lifted_bias(inputs: Inputs, heads: tuple[Generated, ...], scale: float | None) -> Tensor:
    """scale · b(u) of every head, (1 or B, 1 or H, Tq, Tk), formed in float64, rounded once."""
    _refuse_other_scale(heads[0], scale)
    gap = inputs.gap_where_visible()
    rows = []
    for h, head in enumerate(heads):
        own_gap = gap[:, h : h + 1] if gap.shape[1] > 1 and len(heads) > 1 else gap
        bias = evaluate(sp.expand(head.scale * head.relative_bias(_GAP)), {_GAP: own_gap})
        rows.append(bias.expand_as(own_gap))
    return torch.cat(rows, dim=1).to(inputs.q.dtype)


def _moved_values(inputs: Inputs, head: Generated, logits: Tensor) -> Tensor:
    """The output, with values carried to a common place and back if the encoding moves them."""
    mover = head.value_generator
    if mover is None:
        return inputs.output(logits)
    values = transport(inputs.v, mover, -inputs.key_ids)
    return transport(inputs.output(logits, values), mover, inputs.query_ids)


def _by_factors(inputs: Inputs, heads: tuple[Encoding, ...], scale: float | None) -> Tensor:
    """Encodings that are no exp(tX): F(t), G(s), V(s), O(t) and the bias are evaluated as formulas.

    Heads share their factors and may differ in their biases.
    """
    encoding = heads[0]
    if not isinstance(encoding.head_dim, int):
        raise NotLowered(f"encoding has head_dim {encoding.head_dim}; a whole number works")
    bias = _formula_bias(inputs, heads, scale)
    used = resolve_scale(scale, nearest_float(encoding.scale))
    return factor_output(inputs, encoding, used * factor_scores(inputs, encoding) + bias)


def _formula_bias(inputs: Inputs, heads: tuple[Encoding, ...], scale: float | None) -> Tensor | float:
    """scale · bias(t, s) of every head, (1 or B, 1 or H, Tq, Tk), or 0 if no head has one."""
    rows = [factor_bias(inputs, head) for head in heads]
    if not any(isinstance(row, Tensor) for row in rows):
        return 0.0
    _refuse_other_scale(heads[0], scale)
    shape = (*torch.broadcast_shapes(*(row.shape for row in rows if isinstance(row, Tensor))),)
    return torch.cat([inputs.q.new_zeros(shape) + row for row in rows], dim=1)


def _refuse_other_scale(encoding: Encoding, scale: float | None) -> None:
    if scale is not None and scale != nearest_float(encoding.scale):
        raise BadChoice(
            f"scale is {scale}, but the bias of {encoding.name} is built for the scale {encoding.scale}; "
            "leave scale=None, or build the encoding with the scale that is meant"
        )


__all__ = ["attention"]
