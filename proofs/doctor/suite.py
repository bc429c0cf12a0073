"""The examination from beginning to end: calls, identity, laws, claims."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..budget import single_angle_entry
from .calls import Calls, Failed, opened
from .explain import Explanation
from .findings import Diagnosis, Finding, Measured
from .judge import amplitude, expected_direction, expected_pairing, explained, form, values
from .laws import measure
from .observe import Planes, places, planes_of_map, planes_of_tables
from .subject import Claims, Subject, subject


def check(target: Subject | Callable[..., Any], claims: Claims | None = None) -> Diagnosis:
    """Identify a rotary kernel or a table from calls alone and hold it to the laws and to what is claimed.

    target: a Subject, or a callable (position_ids), (x, position_ids) or (q, k, position_ids) in float32.
    claims: of a callable, or in place of those of the Subject. BadClaim for what cannot be examined; what the
    subject raises is a finding.
    """
    given = target if isinstance(target, Subject) else subject(target, claims)
    if claims is not None:
        given = Subject(given.apply, given.kind, claims)
    try:
        calls = opened(given)
        return _rotary(calls) if given.kind == "rotary" else _tables(calls)
    except Failed as failed:
        shown = f"subject(*arguments)  # {failed}"
        where = f"well-formed arguments at positions below {given.claims.longest} (the claim `longest`)"
        finding = Finding("call", where, None, None, str(failed), shown)
        return Diagnosis(given.name, given.kind, "cannot be called", (finding,), (), ())


def _rotary(calls: Calls) -> Diagnosis:
    given = calls.subject
    planes = planes_of_map(calls, places(given.claims.longest))
    if planes is None:
        cause = "a feature meets more than one other"
        found = Finding(
            "planes", "unit vectors", None, None, cause, "subject(torch.eye(d)[:, None, None], ids)"
        )
        return Diagnosis(given.name, given.kind, "mixes features beyond planes", (found,), (), ())
    if not planes.pairs:
        found = Finding("value", "every position", None, None, "nothing turns", "subject(x, ids) == x")
        return Diagnosis(given.name, given.kind, "turns nothing", (found,), (), ())

    def reproduce(t: int, i: int, expected: tuple[float, float] | None = None) -> str:
        a, b = planes.pairs[i]
        should = "" if expected is None else f"  # {expected[0]:.9g}, ±{expected[1]:.9g}"
        return (
            f"x = torch.zeros(1, 1, 1, {planes.dim}); x[..., {a}] = 1\n"
            f"y = subject(x, torch.tensor([[{t}]]))\nprint(y[..., {a}], y[..., {b}]){should}"
        )

    outcomes = list(measure(calls, planes))
    return _diagnosis(calls, planes, "turns", outcomes, reproduce)


def _tables(calls: Calls) -> Diagnosis:
    planes, width = planes_of_tables(calls, places(calls.subject.claims.longest))

    def reproduce(t: int, i: int, expected: tuple[float, float] | None = None) -> str:
        should = "" if expected is None else f"  # {expected[0]:.9g}, {expected[1]:.9g}"
        return f"cos, sin = subject(torch.tensor([[{t}]]))\nprint(cos[..., {i}], sin[..., {i}]){should}"

    return _diagnosis(calls, planes, f"tables of {width} for", [], reproduce)


def _diagnosis(calls: Calls, planes: Planes, verb: str, outcomes: list, reproduce) -> Diagnosis:
    given, claims = calls.subject, calls.subject.claims
    why = explained(planes, claims)
    findings = [
        *form(planes, claims, reproduce),
        *values(planes, claims, why, reproduce),
        *amplitude(planes, claims, reproduce),
        *(found for found in outcomes if isinstance(found, Finding)),
    ]
    measured = [found for found in outcomes if isinstance(found, Measured)]
    if why is not None:
        held = f"cos and sin are those of {why.candidate.words}, formed in {why.formation.words}"
        measured.insert(0, Measured(held, why.fit.residual, why.fit.budget))
    sentence = f"{verb} {identity(planes, why)}"
    return Diagnosis(
        given.name, given.kind, sentence, tuple(findings), tuple(measured), tuple(unjudged(calls, why))
    )


def identity(planes: Planes, why: Explanation | None) -> str:
    """Planes, pairing, direction, rule, amplitude, rounding: "64 planes, half-split, …"."""
    parts = [f"{planes.count} planes"]
    if planes.pairs:
        parts.append(
            {"half": "half-split", "either": "of either pairing"}.get(planes.pairing, planes.pairing)
        )
    parts.append(planes.direction)
    if why is None:
        steps = planes.steps().abs()
        parts.append(
            f"by no known rule, {float(steps.max()):.6g} to {float(steps.min()):.6g} radians a position"
        )
    else:
        parts += [why.candidate.words, f"angles formed in {why.formation.words}"]
        parts += [f"positions read as position + {why.offset}"] if why.offset else []
    parts += (
        [f"amplitude {planes.amplitude:.6g}"]
        if abs(planes.amplitude - 1) > 2 * single_angle_entry(0.0)
        else []
    )
    parts += [f"{len(planes.copied)} features copied"] if planes.copied else []
    return ", ".join(parts)


def unjudged(calls: Calls, why: Explanation | None) -> list[str]:
    """What no claim covers, and the claim that would let it be judged."""
    claims, said = calls.subject.claims, []
    if expected_pairing(claims) is None and calls.subject.kind == "rotary":
        said.append("whether this pairing is the right one for the weights: claim it with --pairing")
    if expected_direction(claims) is None:
        said.append("whether this direction is the right one: claim the encoding with --config or --base")
    if claims.encoding is None:
        what = (
            "frequencies" if why else "frequencies, and how exact they are, since no known rule explains them"
        )
        said.append(f"{what}: claim the encoding with --config or --base")
    if not calls.rows:
        said.append("rows at different positions: the subject takes one row of positions for the whole batch")
    return said
