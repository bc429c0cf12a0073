"""Slopes, examined: (num_heads) -> (num_heads,)."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from ..call import called, finite, shaped
from ..failed import Failed
from ..findings import Diagnosis, Finding
from ..say import Say
from ..subject import Subject
from .judged import Outcome, judged
from .rules import CODE_RULE, Rule, Slopes, allowed, conventions, explained, faults, raised, spec

COUNTS = (*range(1, 33), 40)


def examine(given: Subject, level: str, say: Say) -> Diagnosis:
    """1 to 32 heads, 40, and the claimed number; Failed where that one cannot be called."""
    found, refused = _read(given)
    told, table = spec(given.claims), given.claims.table
    known = [rule for rule in (told, *conventions(found), *faults()) if rule is not None]
    why = explained(found, known, table)
    outcomes = list(_outcomes(given, found, told, why))
    unjudged = []
    if refused:
        unjudged.append(f"slopes of {', '.join(map(str, refused))} heads: the subject refuses these numbers")
    if told is None and (why is None or why[0].words != CODE_RULE):
        unjudged.append("whether these slopes are the right ones: claim the encoding with --config")
    words = "by no known rule" if why is None else why[0].words
    words += "" if why is None or why[1] is None else f", rounded to {why[1]}"
    return Diagnosis(
        given.name,
        given.kind,
        f"gives slopes: {words}",
        tuple(f for f in outcomes if isinstance(f, Finding)),
        tuple(f for f in outcomes if not isinstance(f, Finding)),
        tuple(unjudged),
    )


def _read(given: Subject) -> tuple[Slopes, list[int]]:
    """What is returned, and the numbers of heads that are refused."""
    found, refused = {given.claims.heads: _call(given, given.claims.heads)}, []
    for n in COUNTS:
        try:
            found[n] = _call(given, n)
        except Failed:
            refused.append(n)
    return found, refused


def _call(given: Subject, n: int) -> Tensor:
    slopes = finite(called(given.apply, n))
    return shaped(slopes.reshape(-1) if slopes.numel() == n else slopes, (n,)).to("cpu", torch.float64)


def _outcomes(
    given: Subject, found: Slopes, told: Rule | None, why: tuple[Rule, str | None] | None
) -> Iterator[Outcome]:
    cause = "unknown" if why is None else why[0].words
    for n, values in found.items():
        if not bool((values > 0).all()):
            where = f"{n} heads, head {int((values <= 0).nonzero()[0])}"
            yield Finding("slope-sign", where, None, None, cause, _repro(n))
            return
    if why is not None and why[1] is not None:
        yield _precision(given, found, why[0], why[1])
    convention = why is not None and why[0].convention
    right = told or (why[0] if why is not None and convention else None)
    if right is None and why is not None:
        right = raised(1.0)
    if right is None or (why is not None and why[1] is not None and why[0].words == right.words):
        return
    held = None
    for n in sorted(found, key=lambda n: (n != given.claims.heads, n)):
        expected = right.values(n)
        if bool(expected.isnan().any()):
            continue
        off, room = (found[n] - expected).abs(), allowed(n, expected, given.claims.table)
        one = judged("slope-value", off[None], room[None], ("row", "head"), cause, _repro(n, expected))
        if isinstance(one, Finding):
            where = one.where.replace("row 0", f"{n} heads")
            yield Finding(one.code, where, one.residual, one.budget, cause, one.reproduction)
            return
        held = one if held is None or one.residual * held.budget > held.residual * one.budget else held
    if held is not None:
        yield held
    for n in (given.claims.heads, min(found)):
        again = _call(given, n)
        off = (again - found[n]).abs()
        cause = "something is kept from call to call under too small a key"
        found_again = judged("slope-again", off, torch.zeros_like(off), ("head",), cause, _repro(n))
        if isinstance(found_again, Finding) or n == min(found):
            yield found_again
            return


def _precision(given: Subject, found: Slopes, rule: Rule, rounded: str) -> Finding:
    """At the first number of heads where the rounding shows."""
    for n in sorted(found, key=lambda n: (n != given.claims.heads, n)):
        right = rule.values(n)
        off, room = (found[n] - right).abs(), allowed(n, right.abs(), given.claims.table)
        if bool((off > room).any()):
            h = int((off > room).nonzero()[0])
            cause = f"slopes rounded to {rounded}"
            where = f"{n} heads, head {h}"
            return Finding(
                "slope-precision", where, float(off[h]), float(room[h]), cause, _repro(n, right, h)
            )
    raise AssertionError("a rounding that shows nowhere is none")


def _repro(n: int, expected: Tensor | None = None, head: int = 0) -> str:
    should = "" if expected is None else f"  # head {head}: {float(expected[head]):.9g}"
    return f"import torch\nslopes = subject({n})\nprint(slopes.dtype, slopes.tolist()){should}"
