"""Reports on linear attention with decay: three forms that should give the same numbers."""

from __future__ import annotations

from collections.abc import Callable

import torch
from exptx.proofs import Claims, Subject
from mutant import Inexpressible, Mutant, Trap
from parts import issue, pull
from torch import Tensor

D, CHUNK = 8, 16
CLAIMS = Claims(head_dim=D)
Form = Callable[..., Tensor]


def gates(q: Tensor, log_decay: Tensor) -> Tensor:
    """(batch, heads, time)."""
    return log_decay[None, :, None].expand(q.shape[:3]) if log_decay.ndim == 1 else log_decay


def recurrent(q: Tensor, k: Tensor, v: Tensor, g: Tensor, scale: float = 1.0, late: bool = False) -> Tensor:
    """Token by token; late: the state is read before the token enters it."""
    state = q.new_zeros(*q.shape[:2], q.shape[-1], v.shape[-1])
    outputs = []
    for t in range(q.shape[2]):
        fade = g[:, :, t, None, None].exp()
        new = fade * state + k[:, :, t, :, None] * v[:, :, t, None, :]
        read = fade * state if late else new
        outputs.append(scale * (q[:, :, t, :, None] * read).sum(-2))
        state = new
    return torch.stack(outputs, 2)


def between(g: Tensor) -> Tensor:
    """Σ of gates between two tokens, -inf above the diagonal: (batch, heads, T, T)."""
    time = g.shape[-1]
    t = torch.arange(time)
    later = (t[None, None, :] > t[None, :, None]) & (t[None, None, :] <= t[:, None, None])
    terms = torch.where(later, g[:, :, None, None, :], 0.0)
    lag = terms.sum(-1)
    return lag.masked_fill(t[None] > t[:, None], float("-inf"))


def parallel(q: Tensor, k: Tensor, v: Tensor, g: Tensor, scale: float = 1.0) -> Tensor:
    return scale * (q @ k.transpose(-1, -2) * between(g).exp()) @ v


def chunked(
    q: Tensor, k: Tensor, v: Tensor, g: Tensor, scale: float = 1.0, end: bool = True, start: bool = True,
    inner: float | None = None,
) -> Tensor:  # fmt: skip
    """Chunks of CHUNK. end, start: whether the decay to the end of a chunk, from its start, is there."""
    state = q.new_zeros(*q.shape[:2], q.shape[-1], v.shape[-1])
    outputs = []
    for a in range(0, q.shape[2], CHUNK):
        part = slice(a, min(a + CHUNK, q.shape[2]))
        qc, kc, vc, gc = q[:, :, part], k[:, :, part], v[:, :, part], g[:, :, part]
        so_far = gc.cumsum(-1)
        carried = (so_far.exp()[..., None] if start else 1.0) * qc @ state
        outputs.append(scale * carried + parallel(qc, kc, vc, gc, scale if inner is None else inner))
        total = so_far[..., -1:]
        after = torch.stack([gc[..., t + 1 :].sum(-1) for t in range(gc.shape[-1])], -1)
        keys = kc * after.exp()[..., None] if end else kc
        state = total.exp()[..., None] * state + keys.transpose(-1, -2) @ vc
    return torch.cat(outputs, 2)


FORMS: dict[str, Form] = {"recurrent": recurrent, "parallel": parallel, "chunked": chunked}


def forms(**changed: Form) -> Subject:
    """Right forms, one of them exchanged."""
    chosen = {**FORMS, **changed}

    def attention(q: Tensor, k: Tensor, v: Tensor, log_decay: Tensor, form: str) -> Tensor:
        return chosen[form](q, k, v, gates(q, log_decay))

    return Subject(attention, "recurrence", CLAIMS)


def exp_first(q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
    """Decays of later tokens are formed, e^{+gap}, and multiplied by a mask of zeros."""
    total = g.cumsum(-1)
    lag = total[..., :, None] - total[..., None, :]
    mask = torch.ones(q.shape[2], q.shape[2]).tril()
    return (q @ k.transpose(-1, -2) * lag.exp() * mask) @ v


def factorised(q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
    """e^{G_t} q and e^{-G_s} k."""
    total = g.cumsum(-1)[..., None]
    mask = torch.ones(q.shape[2], q.shape[2]).tril()
    return ((q * total.exp()) @ (k * (-total).exp()).transpose(-1, -2) * mask) @ v


def divided(form: Form, root: bool) -> Form:
    """By the root of the sum of decays, or by the sum."""

    def run(q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
        ones = torch.ones_like(q[..., :1])
        sums = recurrent(ones, ones, ones, g)
        return form(q, k, v, g) / (sums.sqrt() if root else sums)

    return run


def in_chunk(q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
    """Divided by the root of the sum of the decays inside the chunk alone."""
    ones = torch.ones_like(q[..., :1])
    given = (ones, ones, ones, g)
    starts = range(0, q.shape[2], CHUNK)
    parts = [recurrent(*(x[:, :, a : a + CHUNK] for x in given)) for a in starts]
    return chunked(q, k, v, g) / torch.cat(parts, 2).sqrt()


def without_end(q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
    return chunked(q, k, v, g, end=False)


def along_heads(q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
    """A kernel that expects (batch, time, heads, d)."""
    swapped = (x.transpose(1, 2) for x in (q, k, v))
    rates = g[:, :1, 0].expand(-1, q.shape[2])[..., None].expand(-1, -1, q.shape[1])
    return recurrent(*swapped, rates).transpose(1, 2)


def read_with_key(q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
    return recurrent(k, k, v, g)


def late(q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
    return recurrent(q, k, v, g, late=True)


def scaled_parts(q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
    """The scale reaches what is inside a chunk, and not what comes from before."""
    return chunked(q, k, v, g, scale=1.0, inner=D**-0.5)


def scaled(form: Form) -> Form:
    def run(q: Tensor, k: Tensor, v: Tensor, g: Tensor) -> Tensor:
        return form(q, k, v, g, D**-0.5)

    return run


ROOTS: dict[str, Form] = {name: divided(form, True) for name, form in FORMS.items()}
SCALED: dict[str, Form] = {name: scaled(form) for name, form in FORMS.items()}
VALUE = ("recurrence",)
MUTANTS = [
    Mutant(
        "D01", (pull("AI-Hypercomputer/accelerator-agents", 67),),
        "exp is taken of positive gaps, and inf meets the zeros of the mask",
        forms(parallel=exp_first), forms(),
        ("strong-decay", "recurrence-gradient"),
    ),
    Mutant(
        "D02", (pull("microsoft/torchscale", 50),),
        "the recurrent form divides by the sum of decays, the others by its root",
        forms(**{**ROOTS, "recurrent": divided(recurrent, False)}), forms(**ROOTS),
        VALUE, "the sum of decays",
    ),
    Mutant(
        "D04", (issue("Jamie-Stirling/RetNet", 10), issue("Jamie-Stirling/RetNet", 34)),
        "the state of a chunk lacks the decay to its end",
        forms(chunked=without_end), forms(),
        VALUE, "decay to its end",
    ),
    Mutant(
        "D05", (issue("syncdoth/RetNet", 10),),
        "a chunk is normalised by its own rows alone",
        forms(**{**ROOTS, "chunked": in_chunk}), forms(**ROOTS),
        VALUE,
    ),
    Mutant(
        "D10", (issue("fla-org/flash-linear-attention", 20),),
        "cumulative gates are factorised, so that a reset is 0 times infinity",
        forms(chunked=factorised), forms(),
        ("reset", "strong-decay"),
    ),
    Mutant(
        "D13", (issue("fla-org/flash-linear-attention", 47),),
        "the scale is on the part inside a chunk only",
        forms(**{**SCALED, "chunked": scaled_parts}), forms(**SCALED),
        VALUE, "scale",
    ),
    Mutant(
        "D14", (issue("fla-org/flash-linear-attention", 547),),
        "one form expects time before heads",
        forms(recurrent=along_heads), forms(),
        VALUE,
    ),
    Mutant(
        "D16", (pull("ooples/AiDotNet.Tensors", 895),),
        "the state is read with the key in place of the query",
        forms(recurrent=read_with_key), forms(),
        VALUE, "by the key",
    ),
    Mutant(
        "D18", (pull("open-lm-engine/lm-engine", 496),),
        "the read-out comes before the update",
        forms(recurrent=late), forms(),
        VALUE, "precedes",
    ),
]  # fmt: skip

TRAPS = [
    Trap(
        "X4", (pull("Jamie-Stirling/RetNet", 26),),
        "one of two published schedules of decay: any schedule that is given is right",
        forms(),
    ),
]  # fmt: skip

INEXPRESSIBLE = [
    Inexpressible(
        "D09",
        (issue("fla-org/flash-linear-attention", 1272),),
        "what fails is a mask of pads beside the gates, an argument that no kind has; that a gate of 0 and a "
        "zero key leave the state alone is held to",
    ),
]
