"""Linear attention with decay in three forms: S <- exp(g) S + k v, out = q S."""

from __future__ import annotations

from collections.abc import Callable

import torch
from exptx.proofs import Claims, Subject
from second import Case
from torch import Tensor


def spread(log_decay: Tensor, q: Tensor) -> Tensor:
    """(batch, heads, time), from one a head or one a token."""
    return log_decay[None, :, None].expand(q.shape[:3]) if log_decay.ndim == 1 else log_decay


def lags(g: Tensor) -> Tensor:
    """The sum of g over s < l <= t, -inf where s > t."""
    total = g.double().cumsum(-1)
    late = torch.ones(g.shape[-1], g.shape[-1], dtype=torch.bool).triu(1)
    return (total[..., :, None] - total[..., None, :]).masked_fill(late, -torch.inf).to(g.dtype)


def parallel(q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
    return (q @ k.mT * lags(g).exp()) @ v


def recurrent(q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
    state, out = q.new_zeros(*q.shape[:2], q.shape[3], v.shape[3]), []
    for t in range(q.shape[2]):
        state = state * g[:, :, t, None, None].exp() + k[:, :, t, :, None] * v[:, :, t, None, :]
        out.append((q[:, :, t, None] @ state)[:, :, 0])
    return torch.stack(out, 2)


def chunked(q: Tensor, k: Tensor, v: Tensor, g: Tensor, size: int = 8) -> Tensor:
    state, out = q.new_zeros(*q.shape[:2], q.shape[3], v.shape[3]), []
    for a, b, c, d in zip(*(x.split(size, 2) for x in (q, k, v, g)), strict=True):
        total = d.cumsum(-1)
        out.append(parallel(a, b, c, d) + (a * total.exp()[..., None]) @ state)
        left = (total[..., -1:] - total).exp()[..., None]
        state = state * total[..., -1, None, None].exp() + (b * left).mT @ c
    return torch.cat(out, 2)


def three(q: Tensor, k: Tensor, v: Tensor, log_decay: Tensor, form: str) -> Tensor:
    rule = {"parallel": parallel, "recurrent": recurrent, "chunked": chunked}[form]
    return rule(q, k, v, spread(log_decay, q))


def by_chunks(q: Tensor, k: Tensor, v: Tensor, log_decay: Tensor, form: str) -> Tensor:
    """Chunks of five; the parallel form is one chunk as long as the text, the recurrent one of one token."""
    g = spread(log_decay, q)
    return chunked(q, k, v, g, {"parallel": max(q.shape[2], 1), "recurrent": 1, "chunked": 5}[form])


def doubling(q: Tensor, k: Tensor, v: Tensor, log_decay: Tensor, form: str) -> Tensor:
    """States of all tokens by a scan in log2(time) steps, for both forms."""
    g = spread(log_decay, q)
    if form == "recurrent":
        return recurrent(q, k, v, g)
    state, keep, step = k[..., :, None] * v[..., None, :], g.exp()[..., None, None], 1
    while step < q.shape[2]:
        moved = state[:, :, :-step] * keep[:, :, step:]
        state = torch.cat((state[:, :, :step], state[:, :, step:] + moved), 2)
        keep = torch.cat((keep[:, :, :step], keep[:, :, step:] * keep[:, :, :-step]), 2)
        step *= 2
    return torch.einsum("bhti,bhtij->bhtj", q, state)


def in_double(q: Tensor, k: Tensor, v: Tensor, log_decay: Tensor, form: str) -> Tensor:
    """Inside in float64."""
    q64, k64, v64, g = (x.double() for x in (q, k, v, log_decay))
    return three(q64, k64, v64, g, form).to(q.dtype)


def faulty(q: Tensor, k: Tensor, v: Tensor, log_decay: Tensor, form: str, fault: str) -> Tensor:
    """The three forms, where the named one is wrong."""
    g = spread(log_decay, q)
    if (form, fault) in FAULTS:
        return FAULTS[form, fault](q, k, v, g)
    return three(q, k, v, log_decay, form)


def decayed_after(q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
    """The new product fades with the rest of the state."""
    return recurrent(q, k * g.exp()[..., None], v, g)


def exclusive(q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
    """The sum leaves out the token's own decay."""
    total = g.cumsum(-1) - g
    late = torch.ones(q.shape[2], q.shape[2], dtype=torch.bool).triu(1)
    weight = (total[..., :, None] - total[..., None, :]).masked_fill(late, -torch.inf).exp()
    return (q @ k.mT * weight) @ v


def factored(q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
    """exp(sum) on queries and exp(-sum) on keys: it overflows."""
    total = g.cumsum(-1)[..., None]
    seen = torch.ones(q.shape[2], q.shape[2], dtype=q.dtype).tril()
    return ((q * total.exp()) @ (k * (-total).exp()).mT * seen) @ v


def boundary_twice(q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
    """A chunk's first token meets the state as if no step lay between."""
    state, out = q.new_zeros(*q.shape[:2], q.shape[3], v.shape[3]), []
    for a, b, c, d in zip(*(x.split(8, 2) for x in (q, k, v, g)), strict=True):
        total = d.cumsum(-1)
        out.append(parallel(a, b, c, d) + (a * (total - d).exp()[..., None]) @ state)
        left = (total[..., -1:] - total).exp()[..., None]
        state = state * total[..., -1, None, None].exp() + (b * left).mT @ c
    return torch.cat(out, 2)


def rest_dropped(q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
    """Tokens after the last whole chunk start from an empty state."""
    whole = q.shape[2] // 8 * 8
    first, last = ([x[:, :, :whole] for x in (q, k, v, g)], [x[:, :, whole:] for x in (q, k, v, g)])
    return torch.cat((chunked(*first) if whole else v[:, :, :0], parallel(*last)), 2)


def state_not_decayed(q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
    """Between chunks the state is added to and not faded."""
    state, out = q.new_zeros(*q.shape[:2], q.shape[3], v.shape[3]), []
    for a, b, c, d in zip(*(x.split(8, 2) for x in (q, k, v, g)), strict=True):
        total = d.cumsum(-1)
        out.append(parallel(a, b, c, d) + (a * total.exp()[..., None]) @ state)
        state = state + (b * (total[..., -1:] - total).exp()[..., None]).mT @ c
    return torch.cat(out, 2)


def no_diagonal(q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
    """A token does not see itself."""
    return parallel(q, k, v, g) - (q * k).sum(-1, keepdim=True) * v


def first_head_for_all(q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
    return recurrent(q, k, v, g[:, :1].expand_as(g))


def first_row_for_all(q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
    return parallel(q, k, v, g[:1].expand_as(g))


def later_tokens(q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
    """|t - s| without a mask."""
    total = g.cumsum(-1)
    return (q @ k.mT * (-(total[..., :, None] - total[..., None, :]).abs()).exp()) @ v


FAULTS: dict[tuple[str, str], Callable[..., Tensor]] = {
    ("recurrent", "decayed_after"): decayed_after,
    ("parallel", "exclusive"): exclusive,
    ("parallel", "factored"): factored,
    ("chunked", "boundary_twice"): boundary_twice,
    ("chunked", "rest_dropped"): rest_dropped,
    ("chunked", "state_not_decayed"): state_not_decayed,
    ("parallel", "no_diagonal"): no_diagonal,
    ("recurrent", "first_head_for_all"): first_head_for_all,
    ("parallel", "first_row_for_all"): first_row_for_all,
    ("parallel", "later_tokens"): later_tokens,
}


def _faulty(form: str, fault: str) -> Case:
    def apply(q: Tensor, k: Tensor, v: Tensor, log_decay: Tensor, form: str) -> Tensor:
        return faulty(q, k, v, log_decay, form, fault)

    what = (FAULTS[form, fault].__doc__ or fault).strip()
    return Case(f"{fault}_recurrence", what, Subject(apply, "recurrence", Claims(head_dim=16)), True)


def _right(apply: Callable[..., Tensor], claims: Claims) -> Case:
    what = (apply.__doc__ or "three forms, each on its own").strip()
    return Case(f"{apply.__name__}_recurrence", what, Subject(apply, "recurrence", claims), False)


def one_form(q: Tensor, k: Tensor, v: Tensor, log_decay: Tensor, form: str) -> Tensor:
    """Only as a loop."""
    if form != "recurrent":
        raise NotImplementedError(form)
    return recurrent(q, k, v, spread(log_decay, q))


SMALL = Claims(head_dim=16)
CASES: list[Case] = [
    _right(three, SMALL),
    _right(by_chunks, Claims(head_dim=16, heads=3)),
    _right(doubling, SMALL),
    _right(in_double, Claims(head_dim=32)),
    _right(one_form, Claims(head_dim=16, forms=("recurrent",))),
    *(_faulty(form, fault) for form, fault in FAULTS),
]
