"""(x, position_ids) -> y with position_ids (axes, batch, time): one axis at a time, then grids, then text."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from ....numeric.angles import frequency_tensor
from ....symbolic.configs.description import Rotary
from ....symbolic.encoding import Encoding
from ....symbolic.sections import axis_frequencies, sectioned
from ... import budget
from ..call import called, shaped
from ..claims import Claims
from ..failed import Failed
from ..findings import Diagnosis, Finding, Measured
from ..identify.observe import Planes, places, planes_of_map
from ..rotary import kernel
from ..rotary.calls import Calls
from ..say import Say
from ..subject import Subject
from .causes import cause_of

Outcome = Finding | Measured


@dataclass(frozen=True)
class Axes:
    """pairs: of features, in the order of the first. rates: (axes, planes), radians a step, signed."""

    pairs: tuple[tuple[int, int], ...]
    rates: Tensor
    each: tuple[Planes, ...]


def examine(subject: Subject, level: str, say: Say) -> Diagnosis:
    """Which plane turns with which axis; against the claimed rates; grids; text, where its axes are equal."""
    told = claimed_rates(subject.claims)
    say("one axis at a time")
    axes = observed(subject, len(told) if told is not None else _count(subject))
    outcomes: list[Outcome] = [*origin(axes), *against(axes, told, roundings(subject.claims))]
    say("grids")
    outcomes.append(grid(subject, axes))
    findings = [one for one in outcomes if isinstance(one, Finding)]
    measured = [one for one in outcomes if isinstance(one, Measured)]
    unjudged = [] if told is not None else ["which axis should turn which plane: claim it with --config"]
    if told is not None and isinstance(subject.claims.encoding, Rotary) and not findings:
        say("text, whose coordinates are equal")
        text = kernel.examine(along(subject, None, len(told)), level, say)
        findings += [replace(one, where=f"text, {one.where}") for one in text.findings]
        measured += text.measured
        unjudged += text.unjudged
    return Diagnosis(
        subject.name, subject.kind, _identity(axes), tuple(findings), tuple(measured), tuple(unjudged)
    )


def claimed_rates(claims: Claims) -> Tensor | None:
    """Radians a step, (axes, planes), of the claimed encoding."""
    encoding = claims.encoding
    if isinstance(encoding, Rotary) and encoding.sections:
        found = sectioned(
            encoding.frequencies(claims.longest), encoding.sections, encoding.section_layout or "chunked"
        )
    elif isinstance(encoding, Encoding):
        found = axis_frequencies(encoding)
    else:
        return None
    return frequency_tensor(found).double()


def _count(subject: Subject) -> int:
    """How many axes are taken, where nothing is claimed: 2, 3 or 4."""
    refusal = Failed("position_ids with 2, 3 or 4 axes are refused")
    for count in (3, 2, 4):
        try:
            along(subject, 0, count).apply(
                torch.ones(1, 1, 2, subject.claims.head_dim), torch.ones(1, 2).long()
            )
        except Exception as error:
            refusal = Failed(f"raised {type(error).__name__}: {error}")
        else:
            return count
    raise refusal


def along(subject: Subject, axis: int | None, count: int) -> Subject:
    """The one-dimensional kernel of one coordinate, the others 0; of all at once where axis is None."""

    def rotate(x: Tensor, position_ids: Tensor) -> Tensor:
        rows = [position_ids if axis in (None, a) else torch.zeros_like(position_ids) for a in range(count)]
        return subject.apply(x, torch.stack(rows))

    return Subject(rotate, "rotary", replace(subject.claims, positions="ids"))


def observed(subject: Subject, count: int) -> Axes:
    """The planes of every axis alone, and their rates; Failed where features mix beyond planes."""
    each = []
    for axis in range(count):
        planes = planes_of_map(Calls(along(subject, axis, count), True), places(_reach(subject)))
        if planes is None:
            raise Failed(f"axis {axis} mixes a feature with more than one other")
        each.append(planes)
    pairs = tuple(sorted({pair for planes in each for pair in planes.pairs}))
    rates = torch.zeros(count, len(pairs), dtype=torch.float64)
    for axis, planes in enumerate(each):
        for pair, step in zip(planes.pairs, planes.steps().tolist(), strict=True):
            rates[axis, pairs.index(pair)] = step
    return Axes(pairs, rates, tuple(each))


def _reach(subject: Subject) -> int:
    """Coordinates below it are tried: images and clips are shorter than texts."""
    return min(subject.claims.longest, 256)


def origin(axes: Axes) -> list[Finding]:
    """Nothing is turned at the origin."""
    for axis, planes in enumerate(axes.each):
        if planes.pairs and float(planes.sin[0].abs().max()) > 4 * budget.single_angle_entry(0.0):
            cause = f"coordinates of axis {axis} do not start at 0"
            return [Finding("axis", "coordinates 0", None, None, cause, _show(axis, len(axes.each)))]
    return []


def roundings(claims: Claims) -> float:
    """Of a frequency in float32: ln b + 3 by the recipe 1/b^x, and 2 ln b more by e^(-x ln b)."""
    encoding = claims.encoding
    given = encoding.parameters if isinstance(encoding, (Rotary, Encoding)) else {}
    base: Any = given.get("rope_theta", 100)
    return 3 * abs(math.log(float(base))) + 3


def against(axes: Axes, told: Tensor | None, roundings: float) -> list[Outcome]:
    """Every plane of every axis at every place tried, against the claimed rates."""
    if told is None:
        return []
    worst = Measured("every axis turns its own planes at the claimed rates", 0.0, 1.0)
    for axis, planes in enumerate(axes.each):
        expected = {pair: float(told[axis, i]) for i, pair in enumerate(axes.pairs) if i < told.shape[1]}
        cause = cause_of(axes.rates, told)
        if axes.rates.shape[1] != told.shape[1]:
            still = [a for a, row in enumerate(axes.rates) if not row.any() and told[a].any()]
            said = f"; axis {still[0]} turns nothing" if still else ""
            cause = f"{axes.rates.shape[1]} planes turn, claimed {told.shape[1]}{said}"
            return [Finding("axis", f"axis {axis}", None, None, cause, _show(axis, len(told)))]
        missing = [pair for pair, rate in expected.items() if rate and pair not in planes.pairs]
        if missing:
            where = f"axis {axis}, features {missing[0]}"
            return [Finding("axis", where, None, None, cause, _show(axis, len(told)))]
        rates = torch.tensor([expected[pair] for pair in planes.pairs], dtype=torch.float64)
        angle = torch.tensor(planes.positions, dtype=torch.float64)[:, None] * rates
        off = torch.maximum(
            (planes.cos / planes.amplitude - angle.cos()).abs(),
            (planes.sin / planes.amplitude - angle.sin()).abs(),
        )
        allowed = budget.single_angle_entry(angle, frequency_roundings=roundings)
        beyond = (off > allowed).nonzero()
        if len(beyond):
            t, i = beyond[0].tolist()
            where = f"axis {axis}, coordinate {planes.positions[t]}, features {planes.pairs[i]}"
            show = _show(axis, len(told))
            return [Finding("axis", where, float(off[t, i]), float(allowed[t, i]), cause, show)]
        if off.numel() and float((off / allowed).max()) > worst.residual / worst.budget:
            at = int((off / allowed).argmax())
            worst = Measured(worst.law, float(off.flatten()[at]), float(allowed.flatten()[at]))
    return [worst]


def grid(subject: Subject, axes: Axes) -> Outcome:
    """M(a, b, c) = M(a, 0, 0) M(0, b, 0) M(0, 0, c) / amplitude^2 at coordinates that all differ."""
    count = len(axes.each)
    ids = torch.stack([torch.arange(6) * (a + 1) % 7 + a for a in range(count)])[:, None]
    x = torch.randn(1, 2, 6, subject.claims.head_dim, generator=torch.Generator().manual_seed(3))
    whole = shaped(called(subject.apply, x.clone(), ids), tuple(x.shape)).double()
    step, amplitude = x, max((p.amplitude for p in axes.each if p.pairs), default=1.0)
    for axis in range(count):
        step = called(along(subject, axis, count).apply, step, ids[axis])
    off = (whole - step.double() / amplitude ** (count - 1)).norm(dim=-1).flatten()
    angle = float((axes.rates.abs().sum(0) * float(ids.max())).max()) if axes.pairs else 0.0
    entry = budget.single_angle_entry(angle, max(amplitude, 1.0))
    vector = float(budget.rotated_vector(entry, "float32"))
    allowed = ((1 + vector) ** (count + 1) - 1) * max(amplitude, 1.0) * x.double().norm(dim=-1).flatten()
    law = "coordinates act one after the other"
    at = int((off / allowed).argmax())
    if float(off[at]) > float(allowed[at]):
        where = f"coordinates {ids[:, 0, at % 6].tolist()}"
        return Finding("grid", where, float(off[at]), float(allowed[at]), "unknown", _show(0, count))
    return Measured(law, float(off[at]), float(allowed[at]))


def _identity(axes: Axes) -> str:
    shares = [int((row != 0).sum()) for row in axes.rates]
    return f"turns {len(axes.pairs)} planes by {len(shares)} axes, {', '.join(map(str, shares))} planes each"


def _show(axis: int, count: int) -> str:
    return (
        f"x, ids = torch.randn(1, 1, 4, head_dim), torch.zeros({count}, 1, 4, dtype=torch.long)\n"
        f"ids[{axis}] = torch.arange(4)\nprint(subject(x, ids) - x)"
    )
