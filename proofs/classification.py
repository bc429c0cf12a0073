"""A typed matrix, bias or encoding classified: from text to the document that `exptx classify` prints."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, Context, Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import sympy as sp

from ..symbolic.balls import Enclosure
from ..symbolic.catalogue import encoding, encodings, entries
from ..symbolic.encoding import Encoding
from ..symbolic.errors import BadInput, Unsupported, WrongType
from ..symbolic.generator import Generator
from ..symbolic.matrices import is_matrix
from ..symbolic.parse import evaluated, parse, parse_signs
from ..symbolic.realization import NotRealizable, Realization, realize
from ..symbolic.spectral.companion import CompanionBlock
from ..symbolic.typeset import to_text
from ..symbolic.verdict import Status, Verdict
from .matrix_file import read_matrix_file

WRITTEN_OUT = 8  # up to this size exp(tX) is written out

Block = Any  # a canonical or a companion block


def classification(
    what: str, assume: Sequence[str], domain: str, parameters: Mapping[str, str]
) -> dict[str, Any]:
    """A catalogue name, a file, a matrix literal or a bias in u, and what is known of it, in text.

    Errors: BadInput with what `what` could have been; those of the parser, Generator, realize and encoding.
    """
    signs = parse_signs(assume)
    if what in encodings():
        return _encoding(what, {name: _parameter(name, text) for name, text in parameters.items()})
    if parameters:
        raise BadInput(f"--set is for the parameters of a catalogue name, and {what[:40]!r} is none")
    if what.endswith((".npy", ".json")) or os.path.exists(what):
        return {"kind": "matrix", "read": what, **_generator(Generator(read_matrix_file(Path(what))))}
    formula = evaluated(parse(what, name="what", signs=signs))
    if is_matrix(formula):
        return {"kind": "matrix", "read": to_text(formula), **_generator(Generator(formula))}
    return {"kind": "bias", "read": to_text(formula), **_bias(what, formula, domain)}


# ---- a matrix ----


def _generator(generator: Generator) -> dict[str, Any]:
    bounded = generator.bounded()
    found = {
        "type": " ⊕ ".join(block.kind for block in generator.blocks),
        "dimension": generator.dim,
        "blocks": [_block(block, generator.time) for block in generator.blocks],
        "isometric": generator.isometric,
        "bounded": {"all": bounded.all_times, "forward": bounded.forward, "backward": bounded.backward},
        "bounded_reason": bounded.reason,
        **_metric(generator),
        "basis": to_text(generator.basis),
        "check": _verdict(generator.verify()),
    }
    if generator.dim <= WRITTEN_OUT:
        found["flow"] = to_text(generator.exp(generator.time))
    return found


def _metric(generator: Generator) -> dict[str, Any]:
    """P and the bound that it proves, where the flow is bounded for t >= 0."""
    try:
        metric = generator.metric()
    except Unsupported as problem:
        return {"metric_reason": str(problem)}
    if metric is None:
        return {}
    relation = "XᵀP + PX = 0" if metric.all_times else "XᵀP + PX ⪯ 0"
    bound = None if metric.bound is None else _above(metric.bound.upper)
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
        "decay": to_text(block.decay),
        "frequency": to_text(block.frequency),
        "size": block.size,
    }
    if block.fate > 0:
        found["half_life"] = to_text(block.half_life)
    if block.turns:
        found["period"] = to_text(block.period)
    return found | {"kernel_functions": [to_text(kernel) for kernel in _kernels(block, t)]}


def _kernels(block: Block, t: sp.Symbol) -> list[sp.Expr]:
    """t^k e^{-γt}, times cos ωt and sin ωt where the block turns, for k below its size."""
    turns = [sp.cos(block.frequency * t), sp.sin(block.frequency * t)] if block.turns else [sp.S.One]
    return [t**k * sp.exp(-block.decay * t) * turn for k in range(block.size) for turn in turns]


# ---- a bias ----


def _bias(what: str, formula: sp.Expr, domain: str) -> dict[str, Any]:
    u = next((symbol for symbol in formula.free_symbols if symbol.name == "u"), None)
    if u is None and formula.free_symbols:
        near = get_close_matches(what, encodings(), 1)
        meant = f", did you mean {near[0]}?" if near else ""
        raise BadInput(
            f"{what[:60]!r} is no catalogue name{meant or ','} no matrix, no .npy or .json file, "
            "and no bias, which would be a formula in the gap u"
        )
    found: Any = realize(formula, u or sp.Symbol("u", real=True), domain=domain)
    answer = _refused(found) if isinstance(found, NotRealizable) else _realized(found)
    return {"domain": domain, **answer}


def _realized(found: Realization) -> dict[str, Any]:
    law = "bias = cᵀ·exp(u·X)·v" if found.X is not None else "bias = cᵀ·Aⁿ·v"
    document = {
        "answer": f"realizable, order {found.order}",
        "order": found.order,
        "law": law,
        "matrix": to_text(found.step if found.X is None else found.X),
        "c": to_text(found.c.T),
        "v": to_text(found.v.T),
        "check": _verdict(found.verdict),
        "hankel_determinant": to_text(found.determinant),
        "where": [f"{to_text(formula)} ≠ 0" for formula in found.conditions],
        "names": {str(name): to_text(value) for name, value in found.values.items()},
    }
    return document | ({} if found.generator is None else _behaviour(found.generator))


def _behaviour(generator: Generator) -> dict[str, Any]:
    whole = _generator(generator)
    return {key: whole[key] for key in ("type", "blocks", "bounded", "bounded_reason")}


def _refused(found: NotRealizable) -> dict[str, Any]:
    return {
        "answer": "not realizable",
        "reason": found.reason,
        "cited": found.cited,
        "witness": found.witness and found.witness.sentence,
        "where": [f"{to_text(formula)} ≠ 0" for formula in found.conditions],
    }


# ---- an encoding ----


def _encoding(name: str, given: dict[str, Any]) -> dict[str, Any]:
    try:
        found = encoding(name, **_completed(name, given))
    except (BadInput, WrongType) as problem:
        raise BadInput(f"{problem} (at the command line: --set head_dim=8, --set edges='[1, 2]')") from None
    relative, family = found.is_relative(), found.in_family()
    return {
        "kind": "encoding",
        "read": found.sentence,
        "parameters": {key: str(value) for key, value in found.parameters.items() if value is not None},
        "answer": _WORDS[family.status],
        "relative": _verdict(relative),
        "pairs": _pairs(relative),
        "family": _verdict(family),
        "generators": [_generator(generator) for generator in found.generators],
        "score": _score(found),
    }


_WORDS = {
    Status.PROVED: "inside the family of exp(uX)",
    Status.REFUTED: "outside the family of exp(uX)",
    Status.UNDECIDED: "undecided",
    Status.NOT_CHECKED: "not checked",
}


def _parameter(name: str, text: str) -> Any:
    """true, false, a list [1, 2] of exact numbers, or a formula."""
    truths = {"true": True, "false": False}
    if text.lower() in truths:
        return truths[text.lower()]
    if text.startswith("[") and not text.startswith("[["):
        return list(parse(f"[{text}]", name=name))
    return parse(text, name=name)


def _completed(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """The parameters given, those of the example where a default is lacking; nothing given: the example."""
    entry = entries()[name]
    taken = entry.required if given else tuple(entry.example)
    whole = {**{key: entry.example[key] for key in taken}, **given}
    return {key: int(value) if isinstance(value, sp.Integer) else value for key, value in whole.items()}


def _pairs(verdict: Verdict) -> list[str]:
    """The two position pairs (t, s) of one gap whose scores a refutation tells apart."""
    at = {str(symbol): value for symbol, value in (verdict.witness or {}).items()}
    if verdict.status is not Status.REFUTED or not {"s", "u"} <= at.keys():
        return []
    return [f"({at['s'] + at['u']}, {at['s']})", f"({at['u']}, 0)"]


def _score(found: Encoding) -> str | None:
    if found.head_dim not in (1, 2, 3, 4):
        return None
    return to_text(found.heads[0].score(*sp.symbols("t s", real=True)))


# ---- words ----


def _verdict(verdict: Verdict) -> dict[str, str]:
    return {"status": verdict.status.value, "reason": verdict.reason}


def _root(real: Enclosure, imag: Enclosure) -> str:
    sign = "-" if imag.upper < 0 else "+"
    turning = "" if not imag.lower and not imag.upper else f" {sign} {_decimal(abs(imag.upper))}i"
    return f"{_decimal(real.upper)}{turning}"


def _decimal(value: sp.Rational) -> str:
    return f"{float(value):.10g}"


def _above(value: sp.Rational) -> str:
    """Ten digits, rounded up."""
    rounding = Context(prec=10, rounding=ROUND_CEILING)
    return str(rounding.divide(Decimal(int(value.p)), Decimal(int(value.q))).normalize())
