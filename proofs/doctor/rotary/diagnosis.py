"""From planes and outcomes to a diagnosis: the sentence, the findings, what could not be judged."""

from __future__ import annotations

from ...budget import single_angle_entry
from ..findings import Diagnosis, Finding, Measured
from ..identify.explain import Explanation
from ..identify.observe import Planes
from ..identify.spectrum import spectrum
from .calls import Calls
from .judge import amplitude, expected_direction, expected_pairing, explained, form, values


def diagnosis(calls: Calls, planes: Planes, verb: str, outcomes: list, reproduce) -> Diagnosis:
    """What the planes are, judged by the claims; outcomes: of the laws. verb: how the sentence begins."""
    given, claims = calls.subject, calls.subject.claims
    level = planes if planes.fades() is None else planes.levelled()
    why = explained(level, claims)
    findings = [
        *form(planes, claims, reproduce),
        *values(level, claims, why, reproduce),
        *amplitude(planes, claims, reproduce),
        *(found for found in outcomes if isinstance(found, Finding)),
    ]
    measured = [found for found in outcomes if isinstance(found, Measured)]
    if why is not None:
        held = f"cos and sin are those of {why.candidate.words}, {why.formation.sentence}"
        measured.insert(0, Measured(held, why.fit.residual, why.fit.budget))
    sentence = f"{verb} {identity(level, why)}{faded(planes)}"
    said = tuple(unjudged(calls, why))
    return Diagnosis(
        given.name,
        given.kind,
        sentence,
        tuple(findings),
        tuple(measured),
        said,
        frequencies=spectrum(level),
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
        parts += [why.candidate.words, why.formation.sentence]
        parts += [f"positions read as position + {why.offset}"] if why.offset else []
    parts += (
        [f"amplitude {planes.amplitude:.6g}"]
        if abs(planes.amplitude - 1) > 2 * single_angle_entry(0.0)
        else []
    )
    parts += [f"{len(planes.copied)} features copied"] if planes.copied else []
    return ", ".join(parts)


def faded(planes: Planes) -> str:
    """How lengths change with the position, where they do."""
    rates = planes.fades()
    if rates is None:
        return ""
    lowest, highest = float(rates.min()), float(rates.max())
    return f", lengths e^(gt) at position t with g from {lowest:.4g} to {highest:.4g}"


def unjudged(calls: Calls, why: Explanation | None) -> list[str]:
    """What no claim covers, and the claim that would let it be judged."""
    claims, said = calls.subject.claims, []
    if expected_pairing(claims) is None and calls.subject.kind == "rotary":
        said.append("whether this pairing is the right one for the weights: claim it with --pairing")
    if expected_direction(claims) is None:
        said.append("whether this direction is the right one: claim the encoding with --config or --base")
    if claims.rotary is None:
        what = (
            "frequencies" if why else "frequencies, and how exact they are, since no known rule explains them"
        )
        said.append(f"{what}: claim the encoding with --config or --base")
    if claims.rotary is not None and claims.rotary.length_dependent:
        said.append(
            f"texts shorter than {claims.longest}: the frequencies follow the length of the text, and every "
            "call here has a row that long; examine them with --kind inv_freq"
        )
    if not calls.rows:
        said.append("rows at different positions: the subject takes one row of positions for the whole batch")
    return said
