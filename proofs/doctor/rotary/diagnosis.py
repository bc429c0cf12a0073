"""From planes and outcomes to a diagnosis: the sentence, the findings, what could not be judged."""

from __future__ import annotations

import torch

from ...budget import single_angle_entry
from ..findings import Diagnosis, Finding, Measured
from ..identify.explain import Explanation
from ..identify.observe import Planes, planes_of_map
from ..identify.spectrum import spectrum
from .calls import Calls
from .judge import amplitude, expected_direction, expected_pairing, explained, form, values

FROM_PLANES = ("content", "norm", "relative", "gradient", "shared-keys", "purity", "out-of-range", "value")


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
    if any(
        found.code == "planes" for found in findings
    ):  # what follows from planes says nothing without them
        findings = [found for found in findings if found.code not in FROM_PLANES or found.residual is None]
    measured = [found for found in outcomes if isinstance(found, Measured)]
    if why is not None:
        held = f"cos and sin are those of {why.candidate.words}, {why.formation.sentence}"
        measured.insert(0, Measured(held, why.fit.residual, why.fit.budget))
    grows = followed(calls, planes) if given.kind == "rotary" else ""
    sentence = f"{verb} {identity(level, why)}{faded(planes)}{grows}"
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
    if (
        planes.pairing == "half"
        and planes.copied
        and planes.pairs[0][1] - planes.pairs[0][0] == planes.dim // 2
    ):
        parts.append("with partners half a head away, as the rule proportional has them")
    return ", ".join(parts)


def followed(calls: Calls, planes: Planes) -> str:
    """That the first nine positions turn otherwise in a short text, where they do; "" where they do not."""
    short = planes_of_map(calls, planes.positions[:9]) if planes.pairs else None
    if short is None or short.pairs != planes.pairs:
        return ""
    near = 4 * single_angle_entry(0.0, max(planes.amplitude, 1.0))
    off = torch.maximum((short.cos - planes.cos[:9]).abs(), (short.sin - planes.sin[:9]).abs())
    if float(off.max()) <= near:
        return ""
    why = explained(short, calls.subject.claims)
    words = "other frequencies" if why is None else why.candidate.words
    return f"; frequencies follow the length of the text: {words} where it has 9 positions"


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
    if claims.encoding is not None and claims.rotary is None:
        said.append(
            "the claimed encoding: kernels are judged by a rotary one; scores, attention, decode by any"
        )
    elif claims.rotary is None:
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
