"""Laws that need no written specification: one call compared with another, on random content."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from ....numeric.rounding import unit_roundoff
from ... import budget
from ..failed import Failed
from ..findings import Finding
from ..identify.observe import planes_of_map
from .trial import DTYPE, Outcome, Trial, broken, judged, turned


def content(given: Trial) -> Outcome:
    """y = M(t) x, M read off unit vectors of one head; queries and keys alike."""
    outputs = given.calls.rotate_both(given.x, given.ids)
    cause = "arithmetic, or a table, of fewer bits than float32; or another map for other heads, rows or keys"
    found = [
        judged("content", (y.double() - expected).abs(), allowed, given.planes.dim, cause, ids=given.ids)
        for y, (expected, allowed) in zip(
            outputs, ((given.expected, given.allowed), given.keys), strict=False
        )
    ]
    if len(found) == 2 and isinstance(found[1], Finding) and not isinstance(found[0], Finding):
        return replace(found[1], cause=_keys(given))
    return next((one for one in found if isinstance(one, Finding)), found[0])


def _keys(given: Trial) -> str:
    """How keys are turned otherwise than queries."""
    keys, own = planes_of_map(replace(given.calls, side=-1), given.planes.positions), given.planes
    if keys is None:
        return "keys mix features otherwise than queries"
    if not keys.pairs:
        return "keys are not turned, and queries are"
    if keys.pairs != own.pairs:
        return f"keys turn {keys.pairing}, queries {own.pairing}"
    if keys.direction != own.direction:
        return f"keys turn {keys.direction}, queries {own.direction}"
    last = [float(planes.steps()[-1]) for planes in (keys, own)]
    return f"the last plane of keys turns {last[0]:.6g} radians a position, that of queries {last[1]:.6g}"


def tail(given: Trial) -> Outcome | None:
    """Features that no unit vector saw turn are copied."""
    kept = list(given.planes.copied)
    if not kept:
        return None
    off = (given.y[..., kept].to(torch.float64) - given.x[..., kept].to(torch.float64)).abs()
    cause = "the untouched features are computed, not copied"
    return judged("tail", off, torch.zeros_like(off), given.planes.dim, cause, ids=given.ids)


def relative(given: Trial) -> Outcome:
    """(R_t q)·(R_s k) at gap 1, at the start and at other pairs (t, t + 1); angles as in float32."""
    planes, places = given.planes, given.planes.positions
    starts = [n for n, t in enumerate(places[:-1]) if places[n + 1] == t + 1]
    q, k = given.x[0, :1], given.x[0, 1:2]
    same = (1, 1, len(places), planes.dim)
    ids = torch.tensor(places)[None]
    spread = [v[:, :1].expand(same[1:])[None].contiguous() for v in (q, k)]
    left = given.calls.rotate_both(spread[0], ids)[0][0, 0].double()
    right = given.calls.rotate_both(spread[1], ids)[-1][0, 0].double()
    scores = (left[[n + 1 for n in starts]] * right[starts]).sum(-1)
    angle = torch.tensor([places[n + 1] for n in starts], dtype=torch.float64) * planes.steps().abs().max()
    vector = budget.rotated_vector(entry(given, angle), DTYPE)
    norms = planes.amplitude**2 * float(q[0, 0].double().norm() * k[0, 0].double().norm())
    allowed = budget.score_of_vectors(norms, vector, vector, planes.dim, "float64")
    off = (scores - scores[0]).abs()
    cause = "angles at far positions are coarser than float32, or are no multiples of one frequency"
    rows = [f"positions {places[n + 1]} and {places[n]}" for n in starts]
    return judged("relative", off, allowed + allowed[0], planes.dim, cause, rows=rows)


def batch(given: Trial) -> Outcome:
    """The second row, of a short text, alone and beside a long one."""
    short = given.ids % 9 if given.calls.rows else given.ids
    ids = torch.stack((given.ids[0], short[1]))
    alone, beside = given.calls.rotate(given.x[1:], ids[1:]), given.calls.rotate(given.x, ids)[1:]
    off = (alone - beside).abs().to(torch.float64)
    cause = "a row depends on the rows around it"
    return judged("batch", off, 2 * given.allowed[1:], given.planes.dim, cause)


def single_token(given: Trial) -> Outcome:
    """The token at the third position alone, with batch and heads."""
    one = slice(2, 3)
    alone = given.calls.rotate(given.x[:, :, one].contiguous(), given.ids[:, one].contiguous())
    off = (alone - given.y[:, :, one]).abs().to(torch.float64)
    cause = "the length of the input, or the head, is taken for a position"
    return judged("single-token", off, 2 * given.allowed[:, :, one], given.planes.dim, cause)


def strides(given: Trial) -> Outcome:
    """x as a slice of something wider, with heads and time exchanged in memory."""
    wide = torch.zeros(2, given.x.shape[2], 3, given.planes.dim + 5)
    view = wide.transpose(1, 2)[..., 3:-2]
    view.copy_(given.x)
    off = (given.calls.rotate(view, given.ids) - given.y).abs().to(torch.float64)
    return judged(
        "strides", off, 2 * given.allowed, given.planes.dim, "memory is read as if it were contiguous"
    )


def purity(given: Trial) -> Outcome:
    """A short call, one longer than any before, the short one again; x and ids are left alone.

    Then the first shape at positions in the other order: what the planes say.
    """
    x, ids = given.x[:, :, :3].contiguous(), given.ids[:, :3].contiguous()
    kept, version = x.clone(), x._version
    first = given.calls.rotate(x, ids).clone()
    if not torch.equal(x, kept) or x._version != version:
        cause = "the input is written to"
        return broken("purity", "the first call", cause, given.planes.dim)
    given.calls.rotate(torch.cat((given.x, given.x), 2), torch.cat((given.ids, given.ids), 1))
    again = given.calls.rotate(x, ids)
    off = (again - first).abs().to(torch.float64)
    cause = "something is kept from call to call under too small a key"
    found = judged("purity", off, torch.zeros_like(off), given.planes.dim, cause)
    if isinstance(found, Finding) or given.calls.subject.claims.positions != "ids":
        return found
    given.calls.rotate(given.x, given.ids)
    other = given.calls.rotate(given.x, given.ids.flip(1))
    expected, allowed = turned(given.planes, given.x, given.rows.flip(1), DTYPE)
    return judged("purity", (other - expected).abs(), allowed, given.planes.dim, cause)


def heads(given: Trial) -> Outcome:
    """Heads in another order give the outputs in that order."""
    order = [2, 0, 1]
    off = (given.calls.rotate(given.x[:, order].contiguous(), given.ids) - given.y[:, order]).abs()
    cause = "the head, or its place in memory, enters the angle"
    return judged("heads", off.double(), 2 * given.allowed[:, order], given.planes.dim, cause, ids=given.ids)


def shared_keys(given: Trial) -> Outcome | None:
    """Keys of one head are turned as keys of many; a kernel that refuses them is right."""
    if not given.calls.subject.both:
        return None
    try:
        _, one = given.calls.rotate_both(given.x, given.ids, keys=given.x[:, :1].contiguous())
    except Failed:
        return None
    off = (one.double() - given.keys[0][:, :1]).abs()
    cause = "keys of one head come back as they went in" if torch.equal(one, given.x[:, :1]) else "unknown"
    return judged("shared-keys", off, given.keys[1][:, :1], given.planes.dim, cause)


def norm(given: Trial) -> Outcome:
    """(cos, sin) of every plane is as long at every position as at the first."""
    planes = given.planes
    length = planes.cos**2 + planes.sin**2
    allowed = norm_budget(given) * (length[:1] + length)
    cause = "cos and sin are rounded, or scaled by something that depends on the position"
    rows = [f"position {t}" for t in planes.positions]
    return judged("norm", (length - length[:1]).abs(), allowed, planes.dim, cause, rows=rows)


def norm_budget(given: Trial) -> float:
    """Relative error of c^2 + s^2: two entries, each off by 4u and by the claimed format of tables."""
    off = float(entry(given, torch.zeros(1)))
    return 2 * off + off**2


def entry(given: Trial, angle: Tensor) -> Tensor:
    """How far cos or sin may be off: angles rounded in their claimed format, entries in that of tables."""
    claims, amplitude = given.calls.subject.claims, max(given.planes.amplitude, 1.0)
    coarse = [
        unit_roundoff(f) if unit_roundoff(f) > unit_roundoff(DTYPE) else 0.0
        for f in (claims.angles, claims.table)
    ]
    own = budget.single_angle_entry(angle, amplitude, frequency_roundings=0)
    return own + amplitude * (3 * coarse[0] * angle.abs() + coarse[1])
