"""Formats: of the output, of products and tables for narrow inputs, under autocast, and of a cast module."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from ....numeric.rounding import unit_roundoff
from ... import budget
from ..identify.observe import planes_of_map
from ..subject import Subject
from .calls import Calls
from .trial import Outcome, Trial, broken, judged, turned

NARROW = ("bfloat16", "float16")


def output(given: Trial) -> Outcome | None:
    """The output has the dtype of the input, in the format that is claimed."""
    name = given.calls.subject.claims.dtype
    y = given.calls.rotate(given.x.to(getattr(torch, name)), given.ids)
    came = str(y.dtype).removeprefix("torch.")
    if came == name:
        return None
    cause = f"{name} goes in and {came} comes out: a table of another format promotes it"
    return broken("dtype", f"inputs in {name}", cause, given.planes.dim)


def arithmetic(given: Trial) -> Outcome | None:
    """Narrow inputs, claimed as such: as exact maps in float32, rounded once, or as coarse as is claimed."""
    claims = given.calls.subject.claims
    if claims.dtype not in NARROW:
        return None
    dtype = getattr(torch, claims.dtype)
    x = given.x.to(dtype)
    y = given.calls.rotate(x, given.ids)
    expected, allowed = turned(given.planes, x, given.rows, claims.dtype)
    allowed = allowed + _coarser(given, x)
    off = (y.double() - expected).abs()
    return judged("arithmetic", off, allowed, given.planes.dim, _cause(given, x, y), ids=given.ids)


def _coarser(given: Trial, x: Tensor) -> Tensor:
    """What claimed formats add to a coordinate: (u_t + 2u_a + u_a^2) of both its products."""
    claims = given.calls.subject.claims
    table, sums = (
        unit_roundoff(name) if name in NARROW else 0.0 for name in (claims.table, claims.arithmetic)
    )
    pairs = given.planes.pairs
    first, second = ([p[side] for p in pairs] for side in (0, 1))
    spread = x.double()[..., first].abs() + x.double()[..., second].abs()
    added = torch.zeros_like(x, dtype=torch.float64)
    factor = (table + 2 * sums + sums**2) * (1 + table) * max(given.planes.amplitude, 1.0)
    added[..., first] = added[..., second] = factor * spread
    return added


def _cause(given: Trial, x: Tensor, y: Tensor) -> str:
    """The narrow recipe that gives the same bits, if one does."""
    first, second = ([p[side] for p in given.planes.pairs] for side in (0, 1))
    c, s = (t[given.rows][:, None].float() for t in (given.planes.cos, given.planes.sin))
    name = str(x.dtype).removeprefix("torch.")
    narrow = (c.to(x.dtype), s.to(x.dtype))
    x0, x1, y0 = x[..., first], x[..., second], y[..., first]
    recipes = {
        f"cos and sin are rounded to {name}, and so is every product and sum": x0 * narrow[0]
        - x1 * narrow[1],
        f"cos and sin are rounded to {name}": (
            x0.float() * narrow[0].float() - x1.float() * narrow[1].float()
        ).to(x.dtype),
        f"every product and sum is rounded to {name}": (
            (x0.float() * c).to(x.dtype) - (x1.float() * s).to(x.dtype)
        ),
    }
    for words, found in recipes.items():
        if float((found == y0).float().mean()) > 1 - unit_roundoff(name):
            return words
    return "unknown"


def autocast(given: Trial) -> Outcome | None:
    """Under autocast to bfloat16 the angles are as exact as without; sums may be rounded where it says so."""
    with torch.autocast("cpu", torch.bfloat16):
        y = given.calls.rotate(given.x, given.ids)
    allowed = 2 * given.allowed
    if y.dtype != torch.float32:
        allowed = allowed + 4 * unit_roundoff("bfloat16") * given.x.double().norm(dim=-1, keepdim=True)
    cause = "angles come from a matrix product, which autocast runs in bfloat16"
    return judged(
        "autocast", (y.double() - given.y.double()).abs(), allowed, given.planes.dim, cause, ids=given.ids
    )


def module_cast(given: Trial) -> Outcome | None:
    """A module cast to the claimed narrow format, and back: planes as before. None for functions."""
    subject = given.calls.subject
    module = module_of(subject)
    if module is None or subject.claims.dtype not in NARROW:
        return None
    cast = copy.deepcopy(module).to(getattr(torch, subject.claims.dtype)).to(torch.float32)
    calls = Calls(Subject(cast, subject.kind, subject.claims), given.calls.rows)
    found = planes_of_map(calls, given.planes.positions)
    if found is None or found.pairs != given.planes.pairs:
        return broken("module-cast", "the cast module", "other features turn", given.planes.dim)
    off = torch.maximum((found.cos - given.planes.cos).abs(), (found.sin - given.planes.sin).abs())
    allowed = torch.full_like(off, 2 * budget.single_angle_entry(0.0, max(given.planes.amplitude, 1.0)))
    cause = f"frequencies, or tables, are kept in a buffer that a cast to {subject.claims.dtype} rounds"
    return judged("module-cast", off, allowed, given.planes.dim, cause)


def module_of(subject: Subject) -> nn.Module | None:
    """The module that is called, if it is one."""
    return subject.apply if isinstance(subject.apply, nn.Module) else None
