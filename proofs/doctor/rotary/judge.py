"""Planes against claims: pairing, direction, origin, amplitude, values and how angles were formed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import torch

from ....numeric.rounding import unit_roundoff
from ....symbolic.configs.description import Rotary
from ...budget import single_angle_entry
from ..claims import Claims
from ..findings import Finding
from ..identify.explain import Candidate, Explanation, claimed, compare, explain, held, known, origin
from ..identify.formation import formations
from ..identify.observe import Planes
from ..identify.scaled import measured_rules
from ..identify.spectrum import spectrum

EXPECTED = {True: "interleaved", False: "half", None: None}


def expected_pairing(claims: Claims) -> str | None:
    """What the claims say, the pairing itself before the encoding."""
    return claims.pairing or (EXPECTED[claims.rotary.interleaved] if claims.rotary else None)


def expected_direction(claims: Claims) -> str | None:
    """A written rope turns counter-clockwise."""
    return claims.direction or ("counter-clockwise" if claims.rotary else None)


def form(planes: Planes, claims: Claims, reproduce) -> Iterator[Finding]:
    """Planes, pairing, direction, origin."""
    stored = max(unit_roundoff(claims.table), unit_roundoff(held(planes)))
    allowed = 2 * max(1.0, planes.amplitude) * (single_angle_entry(0.0) + stored)
    if planes.skew > allowed:
        t, i = planes.skewed_at
        cause = "two features of a plane have different angles, or one is overwritten before it is read"
        where = f"position {t}, " + (f"features {planes.pairs[i]}" if planes.pairs else f"plane {i}")
        yield Finding("planes", where, planes.skew, allowed, cause, reproduce(t, i))
    pairing = expected_pairing(claims)
    if pairing and planes.pairs and planes.pairing not in (pairing, "either"):
        cause = f"features {planes.pairs[0]} turn together: {planes.pairing}, claimed {pairing}"
        yield _finding("pairing", "position 1", cause, reproduce(1, 0))
    elif claims.rotary and _partner(planes) not in (None, _claimed_partner(claims.rotary)):
        cause = (
            f"feature 0 turns with feature {_partner(planes)}, claimed {_claimed_partner(claims.rotary)}: "
            "halves of the head, not of the part that turns, or the reverse"
        )
        yield _finding("pairing", "position 1", cause, reproduce(1, 0))
    direction = expected_direction(claims)
    if planes.direction == "mixed" or (direction and planes.direction != direction):
        cause = (
            f"planes turn {planes.direction}, claimed {direction or 'one way for all'}: the sign of the sine"
        )
        yield _finding("direction", "position 1", cause, reproduce(1, 0))
    if claims.rotary and origin(planes) != 0:
        count = origin(planes)
        cause = f"positions are read as position + {count}" if count is not None else "unknown"
        yield _finding("origin", "position 0", cause, reproduce(0, 0))


def explained(planes: Planes, claims: Claims) -> Explanation | None:
    """By the claim if it does, else by a known rule."""
    offset = origin(planes) or 0
    candidates = [] if claims.rotary is None else [claimed(claims.rotary, claims.longest)]
    measured = measured_rules(spectrum(planes), claims.longest)
    return explain(planes, chain(candidates, known(planes, claims.rotary, claims.longest), measured), offset)


def values(planes: Planes, claims: Claims, why: Explanation | None, reproduce) -> Iterator[Finding]:
    """The table against the claim, or the rounding alone where nothing is claimed."""
    told = None if claims.rotary is None else claimed(claims.rotary, claims.longest)
    differs = told is not None and len(told.waves) != planes.count
    if told is not None and (differs or why is None or why.candidate.words != told.words):
        yield _value(planes, told, why, reproduce)
    if why is None:
        yield from _stored(planes, claims, reproduce)
        return
    if not why.formation.within(claims.angles, claims.table):
        plain = next(f for f in reversed(formations()[:2]) if f.within(claims.angles, "float32"))
        there = compare(planes, why.candidate, plain, why.offset).fit
        t, i = there.outside or (0, 0)
        yield Finding(
            "angle-precision",
            f"from position {planes.positions[t]} on, plane {i}",
            there.residual,
            there.budget,
            f"{why.formation.words}",
            reproduce(planes.positions[t], i, there.expected),
        )


def _stored(planes: Planes, claims: Claims, reproduce) -> Iterator[Finding]:
    """Where no rule explains entries, that all are numbers of a format coarser than claimed says it still.

    A float32 entry is one of bfloat16 by chance once in 2^16: three besides 0 and ±1 are no chance.
    """
    entries = torch.stack((planes.cos, planes.sin)).abs()
    format_ = held(planes)
    telling = ((entries != 0) & (entries != 1)).sum() >= 3
    if telling and unit_roundoff(format_) > unit_roundoff(claims.table):
        cause = f"every entry of cos and sin is a number of {format_}, claimed {claims.table}"
        yield _finding("angle-precision", "position 1", cause, reproduce(1, 0))


def amplitude(planes: Planes, claims: Claims, reproduce) -> Iterator[Finding]:
    """The length at position 0 against the claimed one; a plain turn has it everywhere."""
    if (claims.rotary is None and claims.amplitude is None) or not planes.count:
        return
    rates = planes.fades()
    if rates is not None and claims.rotary is not None:
        cause = "lengths change by e^(gt) with the position t, as those of xPos do"
        yield Finding("amplitude", "every position", None, None, cause, reproduce(planes.positions[-1], 0))
    factor = claims.amplitude
    if factor is None and claims.rotary is not None:
        factor = float(claims.rotary.frequencies(claims.longest).attention_factor)
    if factor is None:
        return
    off, budget = abs(planes.amplitude - factor), 2 * single_angle_entry(0.0, factor)
    if off > budget:
        cause = f"the amplitude is {planes.amplitude:.6g}, claimed {factor:.6g}"
        yield Finding("amplitude", "position 0", off, budget, cause, reproduce(0, 0))


def _value(planes: Planes, told: Candidate, why: Explanation | None, reproduce) -> Finding:
    cause = (
        "unknown"
        if why is None
        else f"the frequencies are those of {why.candidate.words}, claimed {told.words}"
    )
    if len(told.waves) != planes.count:
        said = "" if why is None or why.candidate.words == told.words else f"; {cause}"
        cause = f"{planes.count} planes turn, claimed {len(told.waves)}{said}"
        return _finding("value", "position 1", cause, reproduce(1, 0))
    there = compare(planes, told, formations()[1], 0).fit
    t, i = there.outside or (0, 0)
    t = planes.positions[t]
    return Finding(
        "value",
        f"position {t}, plane {i}",
        there.residual,
        there.budget,
        cause,
        reproduce(t, i, there.expected),
    )


def _partner(planes: Planes) -> int | None:
    return planes.pairs[0][1] - planes.pairs[0][0] if planes.pairs and planes.pairing == "half" else None


def _claimed_partner(encoding: Rotary) -> int:
    return (encoding.head_dim if encoding.rule == "proportional" else encoding.rotary_dim) // 2


def _finding(code: str, where: str, cause: str, reproduction: str) -> Finding:
    """Without a number: it is one or the other."""
    return Finding(code, where, None, None, cause, reproduction)
