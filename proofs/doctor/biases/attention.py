"""Attention, examined: (q, k, v) -> out at positions 0 … T - 1. Unit vectors as values show the weights."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from ....numeric.rounding import unit_roundoff
from ... import budget
from ..call import called, shown
from ..failed import Failed
from ..findings import Diagnosis, Finding, Measured
from ..say import Say
from ..subject import Subject
from .form import Form, claimed
from .judged import Outcome, judged
from .linear import named
from .matrix import seen
from .reference import Attention, faults

TOKENS = 16
NAMES = ("head", "query", "key")


class Calls:
    """q (B, H, T, d), k, v (B, Hkv, T, d) in the claimed dtype; out (B, H, T, d) in float64."""

    def __init__(self, given: Subject) -> None:
        claims = given.claims
        self.given, self.heads, self.kv_heads = given, claims.heads, claims.kv_heads or claims.heads
        self.count, self.dtype = min(TOKENS, claims.head_dim), getattr(torch, claims.dtype)
        made, size = torch.Generator().manual_seed(1), (self.count, claims.head_dim)
        self.q = torch.randn(2, self.heads, *size, generator=made).to(self.dtype)
        self.k = torch.randn(2, self.kv_heads, *size, generator=made).to(self.dtype)
        self.eye = torch.eye(*size).to(self.dtype).expand(2, self.kv_heads, -1, -1)

    def __call__(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        flip = self.given.claims.layout == "bthd"
        given = [
            (x.transpose(1, 2) if flip else x).clone(memory_format=torch.contiguous_format) for x in (q, k, v)
        ]
        found = called(self.given.apply, *given)
        if not isinstance(found, Tensor) or tuple(found.shape) != tuple(given[0].shape):
            raise Failed(f"returned {shown(found)}; {shown(given[0])} was expected")
        if not bool(found.isfinite().all()):
            raise Failed("returned numbers that are not finite")
        return (found.transpose(1, 2) if flip else found).detach().to("cpu", torch.float64)

    def weights(self, q: Tensor, k: Tensor) -> Tensor:
        """p of the first row of the batch, (H, T, T)."""
        return self(q, k, self.eye[: len(q)])[0, ..., : self.count]


def examine(given: Subject, level: str, say: Say) -> Diagnosis:
    """Weights, groups, mask, rows, one token, large logits. Failed where it cannot be called."""
    calls, form = Calls(given), claimed(given.claims)
    weights = calls.weights(calls.q, calls.k)
    outcomes = list(_outcomes(calls, form, weights))
    unjudged = ["the values of the gradients of queries and keys: only that they are finite is measured"]
    if form is None:
        unjudged.append("scale, bias and turns: claim an ALiBi or a rotary encoding with --config")
    return Diagnosis(
        given.name,
        given.kind,
        _identity(calls, weights),
        tuple(f for f in outcomes if isinstance(f, Finding)),
        tuple(f for f in outcomes if isinstance(f, Measured)),
        tuple(unjudged),
    )


def _identity(calls: Calls, weights: Tensor) -> str:
    """Bias from the logarithms of the weights at q = 0."""
    flat = calls.weights(torch.zeros_like(calls.q), calls.k)
    last = calls.count - 1
    slopes = -seen(flat.clamp(min=1e-300).log())[:, last, 0] / last
    words = f"attends with {calls.heads} heads"
    # two weights of a row are off by a normaliser, a quotient and exp each, in relation to themselves
    read = 2 * budget.gamma(2 * calls.count + 8, calls.given.claims.arithmetic) / last
    read += 2 * unit_roundoff(calls.given.claims.dtype) / last
    if bool((slopes.abs() > read).any()):
        words += f", adds -m(t-s) with {named(slopes, calls.given.claims, read)}"
    return words + (", causal" if bool((weights.triu(1) == 0).all()) else ", sees later keys")


def _outcomes(calls: Calls, form: Form | None, weights: Tensor) -> Iterator[Outcome]:
    groups = _groups(calls)
    yield groups
    mask = _mask(calls, weights)
    if mask is not None:
        yield mask
    elif form is not None and isinstance(groups, Measured):
        yield _weighed(calls, form, weights)
    laws = {"attention-batch": lambda: _alone(calls), "attention-single": lambda: _single(calls)}
    if calls.given.claims.gradient and isinstance(groups, Measured):
        laws["attention-gradient"] = lambda: _adjoint(calls, weights)
    for code, law in laws.items():
        try:
            yield law()
        except Failed as failed:
            yield Finding(code, "the call that this law needs", None, None, str(failed), _repro(calls))
    try:
        calls(1000 * calls.q, 1000 * calls.k, calls.eye)
    except Failed as failed:
        cause = f"{failed}: the largest logit of a row is not subtracted before exp"
        text = _repro(calls).replace("subject(q, k, v)", "subject(1000 * q, 1000 * k, v)")
        yield Finding("attention-large", "logits near 10^6", None, None, cause, text)


def _groups(calls: Calls) -> Outcome:
    """Values that say which value head they are of; weights add up to 1."""
    own = torch.arange(1, calls.kv_heads + 1, dtype=torch.float64)
    v = own.to(calls.dtype)[None, :, None, None].expand_as(calls.eye)
    found = calls(calls.q, calls.k, v)[0]
    count = calls.heads // calls.kv_heads
    right, tiled = (x[:, None, None] for x in (own.repeat_interleave(count), own.repeat(count)))
    dtype = calls.given.claims.arithmetic
    # Σ p of rounded weights: the normaliser and the weighted sum, over T keys each, and the quotient
    room = budget.rounded(right, budget.gamma(2 * calls.count + 2, dtype) * right, calls.dtype)
    near = bool(((found - tiled).abs() <= calls.kv_heads * room.amax()).all())
    cause = "kv heads tiled instead of repeated: head h reads h % kv_heads" if near else "unknown"
    return judged(
        "attention-heads", (found - right).abs(), room.expand_as(found), ("head", "query", "feature"), cause,
        _repro(calls),
    )  # fmt: skip


def _mask(calls: Calls, weights: Tensor) -> Finding | None:
    """Later keys have weight 0 where attention is causal; otherwise all that is representable is seen."""
    later = weights.triu(1) != 0
    if calls.given.claims.causal and bool(later.any()):
        head, query, key = later.nonzero()[0].tolist()
        off, cause = float(weights[head, query, key]), "look-ahead: later keys are seen"
        return Finding(
            "attention-causal", f"head {head}, query {query}, key {key}", off, 0.0, cause, _repro(calls)
        )
    if not calls.given.claims.causal and not bool(later.any()):
        cause = "later keys are hidden, though causal=False is claimed"
        return Finding("attention-causal", "head 0, query 0, key 1", None, None, cause, _repro(calls))
    return None


def _weighed(calls: Calls, form: Form, weights: Tensor) -> Outcome:
    """Weights against those of the claim, in float64."""
    claims, q, k = calls.given.claims, calls.q[0], calls.k[0]
    right = Attention(form, claims.causal)

    def off(one: Attention) -> Tensor:
        return (weights - one.weights(q, k)[0]).abs()

    cause = next(
        (
            words
            for words, one in faults(right, claims)
            if bool((off(one) <= one.allowed(q, k, claims)).all())
        ),
        "unknown",
    )
    return judged("attention-weights", off(right), right.allowed(q, k, claims), NAMES, cause, _repro(calls))


def _adjoint(calls: Calls, weights: Tensor) -> Outcome:
    """The gradient of values is the transposed weights times that of the output; the others are finite."""
    claims, count = calls.given.claims, calls.heads // calls.kv_heads
    v = calls.eye[:1].clone()
    inputs = [x.clone().requires_grad_() for x in (calls.q[:1], calls.k[:1], v)]
    out = called(
        calls.given.apply, *(x.transpose(1, 2) if claims.layout == "bthd" else x for x in inputs), learns=True
    )
    if not out.requires_grad:
        raise Failed("returned no gradient; the claim gradient=False says that there is none")
    pull = calls.q[:1].transpose(1, 2) if claims.layout == "bthd" else calls.q[:1]
    found = torch.autograd.grad(out, inputs, pull, allow_unused=True)
    if any(x is None or not bool(x.isfinite().all()) for x in found):
        cause = "the gradient of queries, keys or values is missing or not finite"
        return Finding("attention-gradient", "random content", None, None, cause, _repro(calls))
    w = calls.q[0].double()

    def summed(x: Tensor) -> Tensor:
        return x.unflatten(0, (calls.kv_heads, count)).sum(1)

    # two formations of each weight, and a sum over queries and the heads of a group
    relative = torch.expm1(4 * _logit_error(calls)) + budget.gamma(
        5 * calls.count + 8 + count, claims.arithmetic
    )
    relative = relative + 2 * unit_roundoff(claims.dtype)
    room = relative * summed(weights.mT @ w.abs())
    off = (found[2][0].double() - summed(weights.mT @ w)).abs()
    names = ("head", "key", "feature")
    cause = "values get another gradient than their weights say"
    return judged("attention-gradient", off, room, names, cause, _repro(calls))


def _logit_error(calls: Calls) -> Tensor:
    """Roundings of a product of d features, a scale and a bias, as large as any of them gets."""
    norms = calls.q.double().norm(dim=-1).amax() * calls.k.double().norm(dim=-1).amax()
    return budget.gamma(calls.q.shape[-1] + 8, calls.given.claims.arithmetic) * (norms + calls.count)


def _alone(calls: Calls) -> Outcome:
    """The second row of the batch without the first: each is within the roundings of a softmax."""
    both = calls(calls.q, calls.k, calls.eye)[1:]
    alone = calls(calls.q[1:], calls.k[1:], calls.eye[1:])
    room = both * torch.expm1(4 * _logit_error(calls))
    room = room + budget.gamma(4 * calls.count + 8, calls.given.claims.arithmetic)
    room = room + 2 * unit_roundoff(calls.given.claims.dtype) * both
    names = ("row", "head", "query", "feature")
    cause = "a row depends on the rows around it"
    return judged("attention-batch", (both - alone).abs(), room, names, cause, _repro(calls))


def _single(calls: Calls) -> Outcome:
    """One token: its weight is 1 whatever it says."""
    q, k = calls.q[:1, :, :1], calls.k[:1, :, :1]
    found = calls(q, k, k)[0]
    right = k[0].double().repeat_interleave(calls.heads // calls.kv_heads, 0)
    room = budget.rounded(
        right.abs(), budget.gamma(4, calls.given.claims.arithmetic) * right.abs(), calls.dtype
    )
    cause = "one token alone does not return its value"
    names = ("head", "query", "feature")
    return judged("attention-single", (found - right).abs(), room, names, cause, _repro(calls))


def _repro(calls: Calls) -> str:
    d, t = calls.q.shape[-1], calls.count
    return (
        f"q, k = torch.randn(1, {calls.heads}, {t}, {d}), torch.randn(1, {calls.kv_heads}, {t}, {d})\n"
        f"v = torch.eye({t}, {d}).expand_as(k)\n"
        f"print(subject(q, k, v)[0, :, -1, :{t}])  # the weights of the last query"
    )
