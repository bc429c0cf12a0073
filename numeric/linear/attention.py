"""Linear attention with decay, turn and gates, in three forms that give the same numbers."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import torch
from torch import Tensor

from ..errors import BadChoice
from ..softmax import full_precision
from .checks import check_bounds, check_chunk_size, check_scale, check_state, check_tokens
from .forms import chunked, packed, parallel, recurrent
from .inputs import Tokens
from .ops import operator

FORMS = ("chunked", "recurrent", "parallel")


def linear_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    log_decay: Tensor,
    *,
    angle: Tensor | None = None,
    form: str = "chunked",
    scale: float = 1.0,
    initial_state: Tensor | None = None,
    cu_seqlens: Tensor | None = None,
    chunk_size: int = 64,
    interleaved: bool = False,
    enable_gqa: bool = False,
) -> tuple[Tensor, Tensor]:
    """(out, final_state) of S_t = D_t S_{t-1} + k_t v_tᵀ, out_t = scale · S_tᵀ q_t: a token sees itself too.

    D_t = e^{log_decay_t} R(-angle_t), the step exp(a_t X) of the family, so that without gates
    out_t = scale · Σ_{s<=t} e^{(t-s)·log_decay} (R(tω) q_t · R(sω) k_s) v_s, as rotary q and k score.

    q, k: (B, H, T, dk); v: (B, H, T, dv); one float dtype. With enable_gqa k and v may have fewer heads, each
    for as many query heads. Half precision is computed in float32 and rounded once. out: (B, H, T, dv) in
    that dtype. log_decay <= 0: (H,), one for all tokens; (B, H, T), a gate a
    token; (B, H, T, dk), one a feature; -inf forgets all before the token. It acts on what came before its
    token. angle: radians a token for each plane of dk, (dk/2,), (H, dk/2) or (B, H, T, dk/2); the two
    features of a plane then share one decay, so the third shape of log_decay is (B, H, T, dk/2). Planes are
    (i, i + dk/2), or (2i, 2i + 1) if interleaved. For a normaliser append a 1 to every v and divide.
    form: "chunked": time and memory O(T); "recurrent": token by token, for decoding; "parallel": all pairs.
    chunk_size: a power of two. initial_state, final_state: (B, H, dk, dv) float32 (float64 for float64 q): S
    as the recurrence has it, so a call goes on where another one ended, at any token.
    cu_seqlens: (N + 1,) integers from 0 to T where B = 1: sequences one after the other, that see nothing of
    each other; states are then (N, H, dk, dv). Gradients flow to q, k, v, log_decay, angle and initial_state.
    Only e^{log_decay} and products of it are formed, so nothing overflows. Autocast is off inside.
    Under torch.compile this is one operator, so that one graph serves every length.
    Raises BadTensor, BadDtype or BadChoice naming the argument, TooLarge where |Σ angle| > 2^28 radians.
    Source: Katharopoulos et al., arXiv 2006.16236; Sun et al., Retentive Network, arXiv 2307.08621.
    """
    if form not in FORMS:
        raise BadChoice(f"form is {form!r}; one of {', '.join(map(repr, FORMS))} works")
    check_chunk_size(chunk_size)
    check_scale(scale)
    if torch.compiler.is_compiling():
        tensors = (q, k, v, log_decay, angle, initial_state, cu_seqlens)
        return LINEAR(*tensors, form, float(scale), chunk_size, interleaved, enable_gqa)
    given = (form, scale, chunk_size, interleaved, enable_gqa)
    return _attention(q, k, v, log_decay, angle, initial_state, cu_seqlens, *given)


def _attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    log_decay: Tensor,
    angle: Tensor | None,
    initial_state: Tensor | None,
    cu_seqlens: Tensor | None,
    form: str,
    scale: float,
    chunk_size: int,
    interleaved: bool,
    enable_gqa: bool,
) -> tuple[Tensor, Tensor]:
    """`linear_attention`, its tensors checked here."""
    tokens = check_tokens(q, k, v, log_decay, angle, scale, interleaved, enable_gqa)
    bounds = None if cu_seqlens is None else check_bounds(cu_seqlens, q.shape[0], q.shape[2])
    states = q.shape[0] if bounds is None else len(bounds) - 1
    state = check_state(initial_state, "initial_state", q, v, states)
    if not tokens.time:
        return v.new_zeros(*q.shape[:3], v.shape[3]), state.clone()
    with full_precision(q):
        before, last = ([-1], [tokens.time - 1]) if bounds is None else _around(bounds)
        state = tokens.state_turned(state, before, back=False)
        out, state = _run(form, tokens, state, chunk_size, bounds)
        return out.to(q.dtype), tokens.state_turned(state, last, back=True)


def _run(
    form: str, tokens: Tokens, state: Tensor, size: int, bounds: list[int] | None
) -> tuple[Tensor, Tensor]:
    if form == "chunked":
        return chunked(tokens, state, size) if bounds is None else packed(tokens, state, size, bounds)
    alone = recurrent if form == "recurrent" else partial(parallel, size=size)
    if bounds is None:
        return alone(tokens, state)
    outs, states = [], list(state.split(1))
    for n, piece in enumerate(tokens.split([b - a for a, b in pairwise(bounds)])):
        if piece.time:
            out, states[n] = alone(piece, states[n])
            outs.append(out)
    return torch.cat(outs, dim=2), torch.cat(states)


def _around(bounds: list[int]) -> tuple[list[int], list[int]]:
    """The last token before every sequence, -1 for none, and its own last one."""
    return [start - 1 for start in bounds[:-1]], [stop - 1 for stop in bounds[1:]]


LINEAR = operator(_attention)

__all__ = ["linear_attention"]
