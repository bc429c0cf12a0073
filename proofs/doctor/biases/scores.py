"""Scores, examined: (q, k, query_positions, key_positions) -> logits, with scale and bias."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from ....symbolic.encoding import Encoding
from ... import budget
from ..call import called, shown
from ..failed import Failed
from ..findings import Diagnosis, Finding, Measured
from ..say import Say
from ..subject import Subject
from .exact import PLACES, allowed, content, logits
from .form import Form, claimed, scales, turns
from .judged import Outcome, judged
from .linear import allowed as line_allowed
from .linear import named
from .matrix import seen, visible
from .reference import bias_faults

TOKENS = 16
FAR = 1000
NAMES = ("head", "query", "key")


class Scores:
    """Calls on one row: q (H, Tq, d), k (Hkv, Tk, d), positions (T,); logits (H, Tq, Tk), float64."""

    def __init__(self, given: Subject) -> None:
        self.given, claims = given, given.claims
        self.heads, self.kv_heads = claims.heads, claims.kv_heads or claims.heads
        self.dim, self.rows = claims.head_dim, True
        made = torch.Generator().manual_seed(1)
        count = min(TOKENS, claims.longest // 2)
        self.q = torch.randn(self.heads, count, self.dim, generator=made)
        self.k = torch.randn(self.kv_heads, count, self.dim, generator=made)
        self.ids = torch.arange(count)
        try:
            self(self.q, self.k, self.ids, self.ids)
        except Failed:
            self.rows = False
            self(self.q, self.k, self.ids, self.ids)

    def __call__(self, q: Tensor, k: Tensor, t: Tensor, s: Tensor) -> Tensor:
        positions = (t[None], s[None]) if self.rows else (t, s)
        layout = self.given.claims.layout
        given = [x[None].transpose(1, 2).contiguous() if layout == "bthd" else x[None] for x in (q, k)]
        found = called(self.given.apply, *(x.clone() for x in (*given, *positions)))
        wanted = (1, self.heads, len(t), len(s))
        if not isinstance(found, Tensor) or tuple(found.shape) != wanted or not found.is_floating_point():
            raise Failed(f"returned {shown(found)}; logits of shape {wanted} were expected")
        lowest = torch.finfo(found.dtype).min / 2
        logits = found[0].detach().to("cpu", torch.float64)
        hidden = (s[None] > t[:, None]) & (logits <= lowest)
        if not bool(torch.where(hidden, 0.0, logits).isfinite().all()):
            raise Failed("returned numbers that are not finite where no key is hidden")
        return torch.where(hidden, -torch.inf, logits)

    def keys(self, k: Tensor, tiled: bool = False) -> Tensor:
        """The keys that each query head reads."""
        count = self.heads // self.kv_heads
        return k.repeat(count, 1, 1) if tiled else k.repeat_interleave(count, 0)

    def shown(self, t: Tensor, s: Tensor) -> Tensor:
        """The pairs that count, (H, Tq, Tk)."""
        pairs = s[None] <= t[:, None] if self.given.claims.causal else torch.ones(len(t), len(s)).bool()
        return pairs.expand(self.heads, -1, -1)


def examine(given: Subject, level: str, say: Say) -> Diagnosis:
    """Bias at q = 0, scale from unit vectors, groups, turns, positions. Failed where it cannot be called."""
    calls, form = Scores(given), claimed(given.claims)
    bias = calls(torch.zeros_like(calls.q), calls.k, calls.ids, calls.ids)
    scale, spread = _scale(calls)
    outcomes = list(_outcomes(calls, form, bias, scale, spread))
    unjudged = []
    if form is None and not isinstance(given.claims.encoding, Encoding):
        unjudged.append("scale, bias and turns: claim an ALiBi or a rotary encoding with --config")
    return Diagnosis(
        given.name,
        given.kind,
        _identity(calls, bias, scale),
        tuple(f for f in outcomes if isinstance(f, Finding)),
        tuple(f for f in outcomes if isinstance(f, Measured)),
        tuple(unjudged),
    )


def _scale(calls: Scores) -> tuple[float, Tensor]:
    """The median of e_a·e_a at position 0 over heads and features, and all of them, (H, d)."""
    eye, ids = torch.eye(calls.dim), torch.zeros(calls.dim, dtype=torch.int64)
    q, k = eye.expand(calls.heads, -1, -1), eye.expand(calls.kv_heads, -1, -1)
    found = calls(q, k, ids, ids) - calls(torch.zeros_like(q), k, ids, ids)
    units = found.diagonal(dim1=-2, dim2=-1)
    return float(units.median()), units


def _identity(calls: Scores, bias: Tensor, scale: float) -> str:
    here = seen(bias)
    last = bias.shape[-1] - 1
    slopes = -here[:, last, 0] / last
    words = f"scales q·k by {scale:.6g} (√d scale is {scale * calls.dim**0.5:.6g})"
    noise = budget.gamma(4, calls.given.claims.arithmetic) * bias[:, last].abs().amax(-1)
    if bool((slopes.abs() * last > noise).any()):
        words += f", adds -m(t-s) with {named(slopes, calls.given.claims)}"
    return words + (", causal" if bool(bias.isneginf().any()) else "")


def _outcomes(
    calls: Scores, form: Form | None, bias: Tensor, scale: float, units: Tensor
) -> Iterator[Outcome]:
    yield _groups(calls)
    if isinstance(local := _positions(calls), Finding):
        yield local
        return
    yield local
    if isinstance(calls.given.claims.encoding, Encoding):
        yield _exact(calls, calls.given.claims.encoding)
    if form is None:
        yield _relative(calls)
        return
    yield _scaled(calls, form, scale, units)
    yield _biased(calls, form, bias)
    if form.waves:
        yield _turned(calls, form, scale)
    else:
        yield _linear(calls, bias, scale)


def _groups(calls: Scores) -> Outcome:
    """Which query heads a key head moves."""
    empty = calls(calls.q, torch.zeros_like(calls.k), calls.ids, calls.ids)
    reads = torch.zeros(calls.heads, calls.kv_heads)
    for g in range(calls.kv_heads):
        only = torch.zeros_like(calls.k)
        only[g] = calls.k[g]
        found = calls(calls.q, only, calls.ids, calls.ids)
        moved = (found != empty) & calls.shown(calls.ids, calls.ids)
        reads[:, g] = moved.any(-1).any(-1).float()
    right = calls.keys(torch.eye(calls.kv_heads)[:, None])[:, 0]
    tiled = calls.keys(torch.eye(calls.kv_heads)[:, None], tiled=True)[:, 0]
    cause = "kv heads tiled instead of repeated: head h reads h % kv_heads"
    cause = cause if torch.equal(reads, tiled) else f"key heads read: {reads.int().tolist()}"
    off = (reads - right).abs().double()
    return judged("score-heads", off, torch.zeros_like(off), ("head", "key head"), cause, _repro(calls))


def _positions(calls: Scores) -> Outcome:
    """Later queries with every second earlier key alone, against the same pairs of the whole."""
    half = len(calls.ids) // 2
    t, s = calls.ids[half:], calls.ids[:half:2]
    whole = calls(calls.q, calls.k, calls.ids, calls.ids)[:, half:, :half:2]
    part = calls(calls.q[:, half:], calls.k[:, :half:2], t, s)
    off = (seen_first(part) - seen_first(whole)).abs()
    room = 4 * _arithmetic(calls, whole, half)
    elsewhere = calls(calls.q, calls.k, calls.ids + 3, calls.ids * 2)
    index = torch.equal(elsewhere, calls(calls.q, calls.k, calls.ids, calls.ids))
    cause = "positions are taken from the index in the call" if index else "unknown"
    return judged("score-positions", off, room, NAMES, cause, _repro(calls))


def _arithmetic(calls: Scores, logits: Tensor, half: int) -> Tensor:
    """Roundings of products, turns and bias of a pair at its own positions, in each of two calls."""
    dtype = calls.given.claims.arithmetic
    keys = calls.keys(calls.k)[:, :half:2].double().norm(dim=-1)
    norms = calls.q[:, half:].double().norm(dim=-1)[..., None] * keys[:, None]
    places = calls.ids[half:].double()[:, None] + calls.ids[:half:2]
    vector = budget.rotated_vector(budget.single_angle_entry(0.0, 2.0), dtype)  # the angles are the same
    score = budget.score_of_vectors(norms, vector, vector, calls.dim, dtype)
    return score + budget.gamma(4, dtype) * (logits.abs() + norms + places)


def _exact(calls: Scores, encoding: Encoding) -> Outcome:
    """The exact score of the claimed encoding, up to a constant a row."""
    claims, ids = calls.given.claims, torch.tensor(PLACES)
    right, norms = logits(encoding, calls.heads)
    q, k = (
        torch.tensor(content(calls.dim, turn)).float().expand(heads, len(ids), -1)
        for turn, heads in ((1, calls.heads), (2, calls.kv_heads))
    )
    found = calls(q, k, ids, ids).tril()
    own = [x.diagonal(dim1=-2, dim2=-1)[..., None] for x in (found, right)]
    off = ((found - own[0]) - (right - own[1])).abs().tril()
    room = allowed(right, norms, calls.dim, claims.table, claims.arithmetic).tril()
    cause = "unknown"
    for words, factor in (("1/√d", calls.dim**-0.5), ("√d", calls.dim**0.5)):
        if bool(((found - own[0] - factor * (right - own[1])).abs().tril() <= max(1.0, factor) * room).all()):
            cause = f"logits are {words} times the claimed ones"
    return judged("score-exact", off, room, ("head", "place of query", "place of key"), cause, _repro(calls))


def _scaled(calls: Scores, form: Form, scale: float, units: Tensor) -> Outcome:
    one = budget.rotated_vector(budget.single_angle_entry(0.0), calls.given.claims.arithmetic)
    score = budget.score_of_vectors(1.0, one, one, calls.dim, calls.given.claims.arithmetic)
    room = budget.logit(form.scale, 1.0, score, 0.0, calls.given.claims.arithmetic)
    cause = next(
        (words for words, value in scales(form, calls.given.claims) if abs(scale - value) <= 2 * room),
        f"q·k is scaled by {scale / form.scale:.6g} times the claimed {form.scale:.6g}",
    )
    off = (units - form.scale).abs()
    return judged("score-scale", off, torch.full_like(off, room), ("head", "feature"), cause, _repro(calls))


def _biased(calls: Scores, form: Form, bias: Tensor) -> Outcome:
    """Up to a constant a row, at q = 0."""
    claims = calls.given.claims
    slopes = bias.new_zeros(calls.heads) if form.slopes is None else form.slopes
    gap = (calls.ids[:, None] - calls.ids).double().abs()
    room = line_allowed(slopes, bias, claims.table) if form.slopes is not None else torch.zeros_like(bias)
    # a scale on the bias, and the sum with the scores, round once more each
    room = room + budget.gamma(4, claims.arithmetic) * slopes[:, None, None] * (2 * gap + 1)
    here, shown = seen(bias), calls.shown(calls.ids, calls.ids)
    cause = "unknown"
    for words, factor in bias_faults(form):
        near = (here + factor * slopes[:, None, None] * gap).abs() <= max(1.0, abs(factor)) * room
        if bool(near[shown].all()):
            cause = words
            break
    off = torch.where(shown, (here + slopes[:, None, None] * gap).abs(), 0.0)
    return judged(
        "score-bias", off, torch.where(visible(bias, claims.causal), room, 0.0), NAMES, cause, _repro(calls)
    )


def _turned(calls: Scores, form: Form, scale: float) -> Outcome:
    """Random content near and far against the claimed turns, with the scale that was seen."""
    near = replace(form, scale=scale)
    ids = torch.cat((calls.ids[: len(calls.ids) // 2], calls.ids[len(calls.ids) // 2 :] + _far(calls)))
    keys, shown = calls.keys(calls.k), calls.shown(ids, ids)
    found = calls(calls.q, calls.k, ids, ids)
    room = near.allowed(calls.q, keys, ids, ids, calls.given.claims.arithmetic)
    # the scale is read off, and is off itself by as much as a product of unit vectors may be
    own = near.allowed(torch.ones(1, 1), torch.ones(1, 1), ids[:1], ids[:1], calls.given.claims.arithmetic)
    product = near.product(calls.q, keys, ids, ids)
    room = room + float(own) * product.abs()

    def off(one: Form) -> Tensor:
        right = scale * one.product(calls.q, keys, ids, ids)
        return torch.where(shown, (found - right).abs(), 0.0)

    rotary = calls.given.claims.rotary
    if calls.given.claims.pairing is None and rotary is not None and rotary.interleaved is None:
        other = replace(near, interleaved=True)  # nothing says which pairing is the right one
        near = other if bool((off(other) <= room).all()) else near
    cause = next((words for words, one in turns(near) if bool((off(one) <= room).all())), "unknown")
    return judged("score-turn", off(near), room, NAMES, cause, _repro(calls))


def _linear(calls: Scores, bias: Tensor, scale: float) -> Outcome:
    """Random content is the bias and σ q·k, with the scale and the bias that were seen."""
    dtype, keys = calls.given.claims.arithmetic, calls.keys(calls.k)
    found = calls(calls.q, calls.k, calls.ids, calls.ids)
    plain = Form(scale, scale)
    shown = calls.shown(calls.ids, calls.ids)
    product = scale * plain.product(calls.q, keys, calls.ids, calls.ids)
    own = plain.allowed(torch.ones(1, 1), torch.ones(1, 1), calls.ids[:1], calls.ids[:1], dtype)
    room = plain.allowed(calls.q, keys, calls.ids, calls.ids, dtype)
    room = room + float(own) / abs(scale or 1.0) * product.abs() + budget.gamma(4, dtype) * bias.abs()
    room = torch.where(shown, room, 0.0)
    off = torch.where(shown, (found - bias - product).abs(), 0.0)
    return judged("score-linear", off, room, NAMES, "unknown", _repro(calls))


def _relative(calls: Scores) -> Outcome:
    """All pairs moved on by one distance, up to a constant a row."""
    count, moved = len(calls.ids), _far(calls)
    here = seen(calls(calls.q, calls.k, calls.ids, calls.ids))
    there = seen(calls(calls.q, calls.k, calls.ids + moved, calls.ids + moved))
    dtype, keys = calls.given.claims.arithmetic, calls.keys(calls.k)
    fastest = Form(1.0, 1.0, None, (1.0,))  # no plane of a known rule turns faster than 1 radian a position
    room = fastest.allowed(calls.q, keys, calls.ids + moved, calls.ids + moved, dtype)
    room = 4 * room + line_allowed(torch.ones(calls.heads).double(), here, dtype)
    room = room + budget.gamma(6, dtype) * 2.0 * (moved + count)
    shown = calls.shown(calls.ids, calls.ids)
    off = torch.where(shown, (here - there).abs(), 0.0)
    return judged("score-relative", off, room, NAMES, "unknown", _repro(calls))


def seen_first(logits: Tensor) -> Tensor:
    """Without a constant a row: against the first key."""
    return logits - logits[..., :1]


def _far(calls: Scores) -> int:
    return min(FAR, calls.given.claims.longest - len(calls.ids) - 1)


def _repro(calls: Scores) -> str:
    heads, keys, dim = calls.heads, calls.kv_heads, calls.dim
    return (
        f"q, k = torch.randn(1, {heads}, 16, {dim}), torch.randn(1, {keys}, 16, {dim})\n"
        "ids = torch.arange(16)[None]\n"
        "print(subject(q, k, ids, ids)[0, :, -1], subject(0 * q, k, ids, ids)[0, :, -1])"
    )
