"""Laws that need no written specification: one call compared with another, on random content."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from ... import budget
from ..codes import CODES
from ..failed import Failed
from ..findings import Finding, Measured
from ..identify.observe import Planes
from .calls import Calls

Outcome = Finding | Measured
DTYPE = "float32"


@dataclass(frozen=True)
class Trial:
    """Random x (2, 3, T, d) at ids (2, T), y of the subject, and how far a coordinate may be off."""

    calls: Calls
    planes: Planes
    x: Tensor
    ids: Tensor
    y: Tensor
    expected: Tensor
    allowed: Tensor


def trial(calls: Calls, planes: Planes) -> Trial:
    """Rows at different positions where the subject takes them; what the planes make of x, in float64."""
    count = len(planes.positions)
    order = torch.arange(count)
    rows = torch.stack((order, order.flip(0) if calls.rows else order))
    ids = torch.tensor(planes.positions)[rows]
    x = torch.randn(2, 3, count, planes.dim, generator=torch.Generator().manual_seed(1))
    first, second = ([p[side] for p in planes.pairs] for side in (0, 1))
    wide = x.to(torch.float64)
    x0, x1 = wide[..., first], wide[..., second]
    c, s = (table[rows][:, None] for table in (planes.cos, planes.sin))
    expected, allowed = wide.clone(), torch.zeros_like(wide)
    for where, one, other in ((first, x0 * c, -x1 * s), (second, x1 * c, x0 * s)):
        expected[..., where] = one + other
        allowed[..., where] = budget.rotated_coordinate(
            (one + other).abs(), one.abs(), other.abs(), 0.0, x0.abs() + x1.abs(), DTYPE
        )
    return Trial(calls, planes, x, ids, calls.rotate(x, ids), expected, allowed)


def measure(calls: Calls, planes: Planes) -> Iterator[Outcome]:
    """Every law, in order; one whose call fails is a finding under its own code."""
    try:
        given = trial(calls, planes)
    except Failed as failed:
        yield Finding("call", "random content", None, None, str(failed), _repro("call", planes.dim))
        return
    for law in (content, tail, relative, batch, single_token, strides, purity):
        code = law.__name__.replace("_", "-")
        try:
            found = law(given)
        except Failed as failed:
            found = Finding(
                code, "the call that this law needs", None, None, str(failed), _repro(code, planes.dim)
            )
        if found is not None:
            yield found


def content(given: Trial) -> Outcome:
    """y = M(t) x, M read off unit vectors of one head; queries and keys alike."""
    outputs = given.calls.rotate_both(given.x, given.ids)
    off = torch.stack([(y.to(torch.float64) - given.expected).abs() for y in outputs]).amax(0)
    cause = "arithmetic, or a table, of fewer bits than float32; or another map for other heads, rows or keys"
    return _judged("content", off, given.allowed, given, cause)


def tail(given: Trial) -> Outcome | None:
    """Features that no unit vector saw turn are copied."""
    kept = list(given.planes.copied)
    if not kept:
        return None
    off = (given.y[..., kept].to(torch.float64) - given.x[..., kept].to(torch.float64)).abs()
    return _judged(
        "tail", off, torch.zeros_like(off), given, "the untouched features are computed, not copied"
    )


def relative(given: Trial) -> Outcome:
    """(R_t q)·(R_s k) at gap 1, at the start and at other pairs (t, t + 1); angles as in float32."""
    planes, places = given.planes, given.planes.positions
    starts = [n for n, t in enumerate(places[:-1]) if places[n + 1] == t + 1]
    q, k = given.x[0, :1], given.x[0, 1:2]
    same = (1, 1, len(places), planes.dim)
    ids = torch.tensor(places)[None]
    rotated = [given.calls.rotate(v[:, :1].expand(same[1:])[None].contiguous(), ids)[0, 0] for v in (q, k)]
    left, right = (y.to(torch.float64) for y in rotated)
    scores = (left[[n + 1 for n in starts]] * right[starts]).sum(-1)
    angle = torch.tensor([places[n + 1] for n in starts], dtype=torch.float64) * planes.steps().abs().max()
    entry = budget.single_angle_entry(angle, max(planes.amplitude, 1.0), frequency_roundings=0)
    vector = budget.rotated_vector(entry, DTYPE)
    norms = planes.amplitude**2 * float(q[0, 0].double().norm() * k[0, 0].double().norm())
    allowed = budget.score_of_vectors(norms, vector, vector, planes.dim, "float64")
    off = (scores - scores[0]).abs()
    cause = "angles at far positions are coarser than float32, or are no multiples of one frequency"
    return _judged("relative", off[:, None], (allowed + allowed[0])[:, None], given, cause)


def batch(given: Trial) -> Outcome:
    """The second row alone."""
    alone = given.calls.rotate(given.x[1:], given.ids[1:])
    off = (alone - given.y[1:]).abs().to(torch.float64)
    return _judged("batch", off, 2 * given.allowed[1:], given, "a row depends on the rows around it")


def single_token(given: Trial) -> Outcome:
    """The token at the third position alone, with batch and heads."""
    one = slice(2, 3)
    alone = given.calls.rotate(given.x[:, :, one].contiguous(), given.ids[:, one].contiguous())
    off = (alone - given.y[:, :, one]).abs().to(torch.float64)
    cause = "the length of the input, or the head, is taken for a position"
    return _judged("single-token", off, 2 * given.allowed[:, :, one], given, cause)


def strides(given: Trial) -> Outcome:
    """x as a slice of something wider, with heads and time exchanged in memory."""
    wide = torch.zeros(2, given.x.shape[2], 3, given.planes.dim + 5)
    view = wide.transpose(1, 2)[..., 3:-2]
    view.copy_(given.x)
    off = (given.calls.rotate(view, given.ids) - given.y).abs().to(torch.float64)
    return _judged("strides", off, 2 * given.allowed, given, "memory is read as if it were contiguous")


def purity(given: Trial) -> Outcome:
    """A short call, one longer than any before, the short one again; x and ids are left alone."""
    x, ids = given.x[:, :, :3].contiguous(), given.ids[:, :3].contiguous()
    kept, version = x.clone(), x._version
    first = given.calls.rotate(x, ids).clone()
    if not torch.equal(x, kept) or x._version != version:
        cause = "the input is written to"
        return Finding("purity", "the first call", None, None, cause, _repro("purity", given.planes.dim))
    given.calls.rotate(torch.cat((given.x, given.x), 2), torch.cat((given.ids, given.ids), 1))
    again = given.calls.rotate(x, ids)
    off = (again - first).abs().to(torch.float64)
    cause = "something is kept from call to call under too small a key"
    return _judged("purity", off, torch.zeros_like(off), given, cause)


def _judged(code: str, off: Tensor, allowed: Tensor, given: Trial, cause: str) -> Outcome:
    """A finding at the first entry beyond its budget, else the worst residual beside its budget."""
    beyond = (off > allowed).nonzero()
    if len(beyond):
        at = tuple(beyond[0].tolist())
        where = f"entry {list(at)} of (batch, head, token, feature)" if len(at) == 4 else f"pair {at[0]}"
        return Finding(code, where, float(off[at]), float(allowed[at]), cause, _repro(code, given.planes.dim))
    worst = int((off / allowed).nan_to_num(0.0).argmax())
    return Measured(CODES[code].law, float(off.flatten()[worst]), float(allowed.flatten()[worst]))


def _repro(code: str, dim: int) -> str:
    """Three lines that show it; `subject` is the callable."""
    start = f"x, ids = torch.randn(2, 3, 4, {dim}), torch.arange(4).expand(2, 4)"
    return "\n".join((start, *_REPRODUCTIONS[code]))


_REPRODUCTIONS = {
    "call": ("y = subject(x, ids)", "print(y.shape, y.isfinite().all())"),
    "content": ("y = subject(x, ids)", "print((y[1, 2] - subject(x[1:, 2:], ids[1:])[0, 0]).abs().max())"),
    "tail": ("y = subject(x, ids)", "print((y != x).any(0).any(0).any(0))"),
    "relative": (
        "def score(t): return subject(x, ids + t + 1)[0, 0, 0] @ subject(x, ids + t)[0, 1, 0]",
        "print(score(0) - score(2047))",
    ),
    "batch": ("y = subject(x, ids)", "print((subject(x[1:], ids[1:]) - y[1:]).abs().max())"),
    "single-token": (
        "y = subject(x, ids)",
        "print((subject(x[:, :, 2:3], ids[:, 2:3]) - y[:, :, 2:3]).abs().max())",
    ),
    "strides": (
        "view = x.transpose(1, 2).contiguous().transpose(1, 2)",
        "print((subject(view, ids) - subject(x, ids)).abs().max())",
    ),
    "purity": (
        "before, y = x.clone(), subject(x, ids)",
        "print((x != before).any(), (subject(x, ids) != y).any())",
    ),
}
