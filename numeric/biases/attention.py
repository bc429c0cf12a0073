"""Attention with a bias of the gap on top of PyTorch's fused kernels: no bias is formed for all pairs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import torch
from torch import Tensor

from ...symbolic.realization import Approximation, Realization
from ..errors import BadChoice, BadDtype, BadTensor, Unbounded
from ..softmax import check_mask, check_shapes, full_precision, positions, resolve_scale
from ..transforms import refuse_transforms
from ..validation import check_flag, check_tensor, compute_dtype, same_device
from .fused import kernel_dtype
from .gap_bias import Realized
from .ops import SLIDE, WithBias
from .pieces import Call


def alibi_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    slopes: Tensor,
    *,
    causal: bool = True,
    symmetric: bool = False,
    scale: float | None = None,
    position_ids: Tensor | None = None,
    key_position_ids: Tensor | None = None,
    attn_mask: Tensor | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(scale · q·k - m(t - s)) v, shape (batch, heads, Tq, dv), dtype of q; bias added after scaling.

    q: (batch, heads, Tq, head_dim); k: (batch, heads, Tk, head_dim); v: (batch, heads, Tk, dv); one dtype.
    With enable_gqa k and v may have fewer heads; they are read where they stand, not repeated.
    slopes: m >= 0 (1/position), (heads,) or (batch, heads), e.g. alibi_slopes(heads); the minus sign is in
    the formula. scale: 1/sqrt(head_dim) if None.
    symmetric: use -m|t - s|, which is bounded on both sides and hence the one that takes causal=False.
    position_ids: (Tq,) or (batch, Tq); key_position_ids: (Tk,) or (batch, Tk); attn_mask: booleans (True
    takes part) or floats to add, without a gradient; defaults and causal as for `attention`. Gradients flow
    to q, k, v and slopes, once.

    Memory and speed: where positions ascend and there is no attn_mask, the slide goes into extra coordinates
    of q and k, and neither hidden keys nor keys so far behind that their weight is 0 cost anything. Otherwise
    the bias is formed for a few queries with all keys at a time. Memory is linear in time either way, apart
    from a mask that is given. On the CPU every part runs in the fused kernel of scaled_dot_product_attention,
    elsewhere in plain products.
    Accuracy: that of scaled_dot_product_attention with an exact mask. Half precision is computed in float32
    and rounded once; on CPUs that multiply it in tiles (AMX) weights and partial outputs are rounded as well.
    Raises Unbounded for causal=False unless symmetric; BadTensor, BadDtype naming the argument.
    Source: Press et al., arXiv 2108.12409.
    """
    refuse_transforms("alibi_attention")
    check_shapes(q, k, v, enable_gqa)
    slopes = _check_slopes(slopes, q)
    if not check_flag(causal, "causal") and not check_flag(symmetric, "symmetric"):
        raise Unbounded(
            "causal=False lets a query see keys ahead of it, where -m(t - s) grows without bound; "
            "causal=True works, or symmetric=True for the separate choice -m|t - s|"
        )
    call = _call(q, k, position_ids, key_position_ids, causal, symmetric, scale, attn_mask)
    options = (call.query_ids, call.key_ids, call.mask, call.causal, call.symmetric, call.scale)
    with full_precision(q):
        return SLIDE(*_for_kernel(q, k, v), slopes, *options)[0].to(q.dtype)


def _outside_graphs(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The function, which torch.compile calls as it stands, between two graphs.

    The marks are those of torch.compiler.disable, which as a decorator would import the whole compiler along
    with this file.
    """

    alone: list[Callable[..., Tensor]] = []  # made once the compiler is there; a cache is not what it traces

    @wraps(function)
    def called(*given: Any, **options: Any) -> Tensor:
        if "torch._dynamo" in sys.modules and not alone:
            alone.append(torch.compiler.disable(function))
        return (alone[0] if alone else function)(*given, **options)

    frames = torch._C._dynamo.eval_frame
    if hasattr(frames, "set_code_exec_strategy"):  # torch 2.7: the compiler need not look into these lines
        skip = frames._FrameAction.SKIP
        frames.set_code_exec_strategy(called.__code__, frames._FrameExecStrategy(skip, skip))
    vars(called)["_torchdynamo_disable"] = True
    vars(called)["_torchdynamo_disable_msg"] = (
        f"{function.__name__} reads exact numbers, which no graph holds: fullgraph=False works, or "
        "alibi_attention where the bias is -m u"
    )
    return called


@_outside_graphs
def biased_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Realization | Sequence[Realization],
    *,
    causal: bool = True,
    symmetric: bool = False,
    scale: float | None = None,
    position_ids: Tensor | None = None,
    key_position_ids: Tensor | None = None,
    attn_mask: Tensor | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(scale · q·k + b(t - s)) v with a realised bias b(u) = cᵀ exp(uX) v, say realize(-u**2 / 9, u).

    bias: one realisation for all heads, or one for each, with numbers only. On the integers it may also be
    cᵀ Aⁿ v with a step A that is singular or turns a sign, as exceptions at small gaps and (-1)^n are.
    symmetric: use b(|t - s|), the same on both sides. causal=False without it takes b at gaps of both signs,
    for which b must have been realised ("causal" domains refuse), and where b may grow.
    q, k, v, causal, scale, position_ids, key_position_ids, attn_mask and enable_gqa as for `alibi_attention`;
    gradients flow to q, k and v. Under torch.compile this runs between two graphs: not with fullgraph=True.
    Raises BadChoice where b is not known for the gaps asked for, TooLarge where a factor of it is beyond the
    dtype, NotLowered where it holds a symbol, and BadTensor or BadDtype naming the argument.
    """
    refuse_transforms("biased_attention")
    check_shapes(q, k, v, enable_gqa)
    heads = _check_realizations(bias, q)
    call = _call(q, k, position_ids, key_position_ids, causal, symmetric, scale, attn_mask)
    for head in heads:
        _refuse_unknown_gaps(head, call)
    with full_precision(q):
        given = (q, k, v) if q.dtype != torch.float16 else (q.float(), k.float(), v.float())
        # powers of a gap are soon beyond what two numbers of float16 multiply to
        return WithBias.apply(*_for_kernel(*given), Realized(heads), call).to(q.dtype)


def _for_kernel(*tensors: Tensor) -> list[Tensor]:
    return [x.to(kernel_dtype(x)) for x in tensors]


def _call(
    q: Tensor,
    k: Tensor,
    position_ids: Tensor | None,
    key_position_ids: Tensor | None,
    causal: bool,
    symmetric: bool,
    scale: float | None,
    attn_mask: Tensor | None,
) -> Call:
    """Everything checked, positions in one dtype."""
    check_flag(causal, "causal")
    check_flag(symmetric, "symmetric")
    query_ids, key_ids = positions(q, k, position_ids, key_position_ids)
    for ids, name in ((query_ids, "position_ids"), (key_ids, "key_position_ids")):
        if ids.requires_grad:
            raise BadChoice(
                f"{name} requires a gradient, which is not formed here; {name}.detach() works, or attention()"
            )
    clock = torch.float64 if query_ids.is_floating_point() or key_ids.is_floating_point() else torch.int64
    used = resolve_scale(scale, q.shape[-1] ** -0.5)
    if attn_mask is not None:
        attn_mask = check_mask(attn_mask, q, k)
        if attn_mask.requires_grad:
            raise BadChoice(
                "attn_mask requires a gradient, which is not formed here; attn_mask.detach() works, or a "
                "learned bias as a score_mod of flex_attention"
            )
        attn_mask = attn_mask if attn_mask.dtype == torch.bool else attn_mask.to(compute_dtype(q.dtype))
    return Call(query_ids.to(clock), key_ids.to(clock), causal, symmetric, used, attn_mask)


def _check_realizations(bias: object, q: Tensor) -> tuple[Realization, ...]:
    heads = (bias,) if isinstance(bias, Realization) else bias
    if not isinstance(heads, Sequence) or not all(isinstance(head, Realization) for head in heads):
        works = "a Realization works, e.g. realize(-u**2 / 9, u), or one a head"
        works = "its .realization works" if isinstance(bias, Approximation) else works
        raise BadDtype(f"bias is a {type(bias).__name__}; {works}")
    if len(heads) not in (1, q.shape[1]):
        raise BadTensor(
            f"bias has {len(heads)} realisations but q has {q.shape[1]} heads; 1 or {q.shape[1]} works"
        )
    return tuple(heads)


def _refuse_unknown_gaps(head: Realization, call: Call) -> None:
    """b is known on its domain only."""
    if head.domain not in ("real", "causal", "integers", "causal-integers"):
        raise BadChoice(
            f"bias was realised from samples at {head.domain} only and not known at other gaps; a formula, "
            "realize(bias, u, domain='causal-integers'), works"
        )
    if not (call.causal or call.symmetric) and head.domain not in ("real", "integers"):
        raise BadChoice(
            f"causal=False reads bias at gaps below 0, but it was realised on the domain {head.domain!r}; "
            "causal=True works, or symmetric=True for b(|t - s|)"
        )
    if call.query_ids.is_floating_point() and head.domain not in ("real", "causal"):
        raise BadChoice(
            f"positions are floats, but bias was realised on the domain {head.domain!r}; whole positions work"
        )


def _check_slopes(slopes: Tensor, q: Tensor) -> Tensor:
    slopes = check_tensor(slopes, "slopes")
    if slopes.shape not in (q.shape[1:2], q.shape[:2]):
        raise BadTensor(
            f"slopes has shape {tuple(slopes.shape)}; ({q.shape[1]},) or ({q.shape[0]}, {q.shape[1]}) works"
        )
    same_device(q, "q", slopes, "slopes")
    if not slopes.is_meta and not torch.compiler.is_compiling() and not _finite_slopes(slopes):
        raise BadTensor(
            "slopes contains a negative number, NaN or infinity; finite m >= 0 works (the minus is added)"
        )
    return slopes


def _finite_slopes(slopes: Tensor) -> bool:
    return bool(((slopes >= 0) & slopes.isfinite()).all())


__all__ = ["alibi_attention", "biased_attention"]
