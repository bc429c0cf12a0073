"""A generator as a document, in text: blocks with their kernel functions, bounds, closed form, checks."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_CEILING, Context, Decimal
from itertools import groupby
from typing import Any

import sympy as sp

from ..symbolic.balls import Enclosure
from ..symbolic.errors import Unsupported
from ..symbolic.generator import Generator
from ..symbolic.spectral.companion import CompanionBlock
from ..symbolic.typeset import to_text
from ..symbolic.verdict import Verdict

WRITTEN_OUT = 8  # up to this size exp(tX) is written out

Block = Any  # a canonical or a companion block


def generator_document(generator: Generator) -> dict[str, Any]:
    """Type, blocks, boundedness with P, basis, and exp(tX) where it is small."""
    kinds = _type(generator)  # first: a decay of unknown sign is refused by its own name
    bounded = generator.bounded()
    found = {
        "type": kinds,
        "dimension": generator.dim,
        "blocks": [_block(block, generator.time) for block in generator.blocks],
        "isometric": generator.isometric,
        "bounded": {"all": bounded.all_times, "forward": bounded.forward, "backward": bounded.backward},
        "bounded_reason": bounded.reason,
        **_metric(generator),
        "basis": to_text(generator.basis),
        "check": verdict_document(generator.verify()),
    }
    if generator.dim <= WRITTEN_OUT:
        found["flow"] = to_text(generator.exp(generator.time))
    return found


def _type(generator: Generator) -> str:
    """hold (64 times) ⊕ slide: kinds in order, neighbours of one kind counted."""
    runs = [(kind, len(list(run))) for kind, run in groupby(block.kind for block in generator.blocks)]
    return " ⊕ ".join(kind if count < 3 else f"{kind} ({count} times)" for kind, count in _single(runs))


def _single(runs: list[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Two neighbours are written out."""
    for kind, count in runs:
        yield from [(kind, 1)] * 2 if count == 2 else [(kind, count)]


def _metric(generator: Generator) -> dict[str, Any]:
    """P and the bound that it proves, where the flow is bounded for t >= 0."""
    try:
        metric = generator.metric()
    except Unsupported as problem:
        return {"metric_reason": str(problem)}
    if metric is None:
        return {}
    relation = "XᵀP + PX = 0" if metric.all_times else "XᵀP + PX ⪯ 0"
    bound = None if metric.bound is None else above(metric.bound.upper)
    return {"metric": to_text(metric.matrix), "metric_relation": relation, "bound": bound}


def _block(block: Block, t: sp.Symbol) -> dict[str, Any]:
    if isinstance(block, CompanionBlock):
        at = block.half_planes
        return {
            "kind": block.kind,
            "factor": to_text(block.factor.as_expr()),
            "size": block.size,
            "eigenvalues": [_root(root.real, root.imag) for root in block.roots(12)],
            "half_planes": {"left": at.left, "axis": at.axis, "right": at.right},
        }
    found = {
        "kind": block.kind,
        "decay": _number(block.decay),
        "frequency": _number(block.frequency),
        "size": block.size,
    }
    if block.fate > 0:
        found["half_life"] = _number(block.half_life)
    if block.turns:
        found["period"] = _number(block.period)
    return found | {"kernel_functions": [to_text(kernel) for kernel in _kernels(block, t)]}


def _number(value: sp.Expr) -> str:
    """The exact number, and where it is not rational some digits of it."""
    if value.free_symbols or value.is_Rational:
        return to_text(value)
    return f"{to_text(value)} ≈ {sp.N(value, 6)}"


def _kernels(block: Block, t: sp.Symbol) -> list[sp.Expr]:
    """t^k e^{-γt}, times cos ωt and sin ωt where the block turns, for k below its size."""
    turns = [sp.cos(block.frequency * t), sp.sin(block.frequency * t)] if block.turns else [sp.S.One]
    return [t**k * sp.exp(-block.decay * t) * turn for k in range(block.size) for turn in turns]


def verdict_document(verdict: Verdict) -> dict[str, str]:
    """Status and reason."""
    return {"status": verdict.status.value, "reason": verdict.reason}


def _root(real: Enclosure, imag: Enclosure) -> str:
    sign = "-" if imag.upper < 0 else "+"
    turning = "" if not imag.lower and not imag.upper else f" {sign} {_decimal(abs(imag.upper))}i"
    return f"{_decimal(real.upper)}{turning}"


def _decimal(value: sp.Rational) -> str:
    return f"{float(value):.10g}"


def above(value: sp.Rational) -> str:
    """Ten digits, rounded up."""
    rounding = Context(prec=10, rounding=ROUND_CEILING)
    return str(rounding.divide(Decimal(int(value.p)), Decimal(int(value.q))).normalize())
