"""A catalogue name or a matrix lowered: from text to the document that `exptx lower` prints."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ..symbolic.catalogue import encodings
from ..symbolic.emission import heading
from ..symbolic.emit_c import c_function
from ..symbolic.emit_torch import torch_source
from ..symbolic.emit_triton import triton_source
from ..symbolic.encoding import Encoding
from ..symbolic.errors import BadInput, ExptxError
from ..symbolic.generator import Generator
from ..symbolic.lowered import Lowered, lower_generator
from ..symbolic.matrices import is_matrix
from ..symbolic.parse import evaluated, parse, parse_signs
from ..symbolic.program import Program
from ..symbolic.readback import statements_in, verify_statements
from ..symbolic.typeset import to_text
from ..symbolic.verdict import Status, Verdict, conjunction
from ..symbolic.verdicts import verdicts
from .charted import REGIONS, region
from .classification import named, shell_words
from .generators import verdict_document
from .matrix_file import read_matrix_file

Source = Callable[[Lowered, str, str], str]
LANGUAGES: dict[str, Source] = {"c": c_function, "torch": torch_source, "triton": triton_source}
FACTORS: dict[str, tuple[dict[str, bool], str]] = {
    "flow": ({}, "y = exp(tX)·x"),
    "query": ({"transpose": True}, "y = exp(tX)ᵀ·x, for a query at position t"),
    "key": ({"inverse": True}, "y = exp(-tX)·x, for a key at position t"),
}


def lowering(
    what: str, assume: Sequence[str], to: str | None, factor: str | None, parameters: Mapping[str, str]
) -> dict[str, Any]:
    """The source of a catalogue name, a matrix literal or a matrix in a file, and whether it is proved.

    to: "c", "torch", "triton", or None for the programs alone. factor: "flow", "query" or "key"; an encoding
    gives its query factor where none is named, a matrix its flow. Errors: BadInput naming what would work;
    those of the parser, Generator and encoding.
    """
    _refuse_unknown("to", to, LANGUAGES)
    _refuse_unknown("factor", factor, FACTORS)
    title, generators, size = _generators(what, assume, parameters)
    of_name = what in encodings()
    options, formula = FACTORS[factor or ("query" if of_name else "flow")]
    word = what if of_name else "flow"
    names = [word] if len(generators) == 1 else [f"{word}_{axis}" for axis in range(len(generators))]
    parts = [lower_generator(generator, **options) for generator in generators]
    above = [f"{title}, axis {axis}" if len(parts) > 1 else title for axis in range(len(parts))]
    texts = [
        _text(part, to, name, f"{line}{size}\n{formula}")
        for name, part, line in zip(names, parts, above, strict=True)
    ]
    checks = [part.verify() for part in parts]
    checks += [check for part, text in zip(parts, texts, strict=True) for check in _read_back(part, to, text)]
    return {
        "kind": "encoding" if of_name else "matrix",
        "read": title,
        "to": to,
        "formula": formula,
        "source": "\n\n".join(texts),
        "programs": [_program(program) for part in parts for program in part.programs],
        "check": verdict_document(_told(conjunction(checks))),
    }


def _told(verdict: Verdict) -> Verdict:
    """One sentence for what was proved; any other verdict as it is."""
    if verdict.status is not Status.PROVED:
        return verdict
    return replace(verdict, reason="all statements, and their direct sum, equal the closed form")


def _refuse_unknown(name: str, value: str | None, known: Mapping[str, Any]) -> None:
    if value is not None and value not in known:
        raise BadInput(f"--{name} is {value[:40]!r}; one of {', '.join(known)} works")


def _text(part: Lowered, to: str | None, name: str, title: str) -> str:
    if to is not None:
        return LANGUAGES[to](part, name, title)
    return "\n\n".join(["\n".join(heading(part, title)), *map(str, part.programs)])


def _read_back(part: Lowered, to: str | None, text: str) -> list[Verdict]:
    """What the statements of every run compute, decided from the text that is shown."""
    if to is None:
        return []
    found = zip(statements_in(text), part.runs, strict=True)
    return [verify_statements(statements, to, run.program) for statements, run in found]


def _program(program: Program) -> dict[str, Any]:
    operations = program.operations()
    return {
        "name": program.name,
        "tables": {str(symbol): str(value) for symbol, value in program.tables},
        "steps": [[str(step.symbol), step.written] for step in program.steps],
        "outputs": [str(output) for output in program.outputs],
        "products": operations.products,
        "sums": operations.sums,
    }


def _generators(
    what: str, assume: Sequence[str], parameters: Mapping[str, str]
) -> tuple[str, tuple[Generator, ...], str]:
    """What the input is called, its generators, one or one an axis, and a line on a size not asked for."""
    if what in encodings():
        found = named(what, parameters, "lower")
        _refuse_outside(what, found)
        head = f", head 0 of {len(found.heads)}" if len(found.heads) > 1 else ""
        return f"{found.sentence}{head}", found.heads[0].generators, _size(found, parameters)
    if parameters:
        raise BadInput(f"--set is for the parameters of a catalogue name, and {what[:40]!r} is none")
    return (*_matrix(what, assume), "")


def _size(found: Encoding, parameters: Mapping[str, str]) -> str:
    """That the number of features is an example, where it was not given."""
    if "head_dim" in parameters or "head_dim" not in found.parameters:
        return ""
    return f"\nhead_dim {found.parameters['head_dim']} is an example; give yours, as in --set head_dim=128"


def _refuse_outside(what: str, found: Encoding) -> None:
    """Encodings of the family pass, read at a position or at their own clocks."""
    if found.in_family().status is Status.PROVED:
        return
    where = region(verdicts(found))
    if where != "clocks":
        reason = REGIONS[where][0].lower() + REGIONS[where][1:]
        raise BadInput(f"{what} has no exp(tX) to lower ({reason}); encodings of the family do, such as rope")


def _matrix(what: str, assume: Sequence[str]) -> tuple[str, tuple[Generator, ...]]:
    if what.endswith((".npy", ".json")) or os.path.exists(what):
        file = re.sub(r"[^\w.-]", "_", Path(what).name)  # it is written into a comment
        return f"the matrix in {file}", (Generator(read_matrix_file(Path(what))),)
    try:
        formula = evaluated(parse(what, name="what", signs=parse_signs(assume)))
    except ExptxError:
        if what.lstrip().startswith("["):
            raise
        formula = None
    if not is_matrix(formula):
        near = get_close_matches(what, encodings(), 1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise BadInput(f"{what[:60]!r} is no catalogue name, no matrix and no .npy or .json file{meant}")
    with shell_words():
        return to_text(formula), (Generator(formula),)
