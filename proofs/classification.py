"""A typed matrix, bias or encoding classified: from text to the document that `exptx classify` prints."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import sympy as sp

from ..symbolic.catalogue import encoding, encodings, entries
from ..symbolic.catalogue.registry import Entry
from ..symbolic.encoding import Encoding
from ..symbolic.errors import BadInput, Unsupported, WrongType
from ..symbolic.generator import Generator
from ..symbolic.matrices import is_matrix
from ..symbolic.parse import evaluated, parse, parse_signs
from ..symbolic.realization import Approximation, NotRealizable, Realization, realize
from ..symbolic.typeset import to_text
from .charted import encoding_document
from .generators import above, generator_document, verdict_document
from .matrix_file import read_matrix_file


def classification(
    what: str, assume: Sequence[str], asked: Mapping[str, Any], parameters: Mapping[str, str]
) -> dict[str, Any]:
    """A catalogue name, a file, a matrix literal or a bias in u, and what is known of it, in text.

    asked: how a bias is asked about, the keywords of `realize`, numbers as text; what is None is not asked.

    Errors: BadInput with what `what` could have been; those of the parser, Generator, realize and encoding.
    """
    if what in encodings():
        _only_for_a_bias(what, asked)
        return _encoding(what, parameters)
    if parameters:
        raise BadInput(f"--set is for the parameters of a catalogue name, and {what[:40]!r} is none")
    if what.endswith((".npy", ".json")) or os.path.exists(what):
        _only_for_a_bias(what, asked)
        return {"kind": "matrix", "read": what, **generator_document(Generator(read_matrix_file(Path(what))))}
    formula = evaluated(parse(what, name="what", signs=parse_signs(assume)))
    with shell_words():
        if is_matrix(formula):
            _only_for_a_bias(what, asked)
            return {"kind": "matrix", "read": to_text(formula), **generator_document(Generator(formula))}
        return {"kind": "bias", "read": to_text(formula), **_bias(what, formula, _asked(asked))}


def _only_for_a_bias(what: str, asked: Mapping[str, Any]) -> None:
    options = {"domain": "--domain", "modulo_row_constant": "--row-constant"}
    given = [options.get(key, f"--{key}") for key, value in asked.items() if value is not None]
    if given:
        raise BadInput(f"{given[0]} is for a bias in the gap u, and {what[:40]!r} is none; leave it out")


@contextmanager
def shell_words() -> Iterator[None]:
    """A refusal that asks for signs of symbols says how they are given here."""
    try:
        yield
    except Unsupported as problem:
        if "positive=True" not in str(problem):
            raise
        raise Unsupported(f"{problem} (at the command line: --assume 'k > 0')") from None


# ---- a bias ----


def _asked(texts: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of `realize`: tolerance a number, window two numbers '0, 8192'."""
    asked = {key: value for key, value in texts.items() if value is not None}
    if "tolerance" in asked:
        asked["tolerance"] = parse(asked["tolerance"], name="tolerance")
    if "window" in asked:
        asked["window"] = tuple(parse(f"[[{asked['window']}]]", name="window"))
    return asked


def _bias(what: str, formula: sp.Expr, asked: Mapping[str, Any]) -> dict[str, Any]:
    u = next((symbol for symbol in formula.free_symbols if symbol.name == "u"), None)
    if u is None and formula.free_symbols:
        near = get_close_matches(what, encodings(), 1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise BadInput(
            f"{what[:60]!r} is no catalogue name, no matrix, no .npy or .json file, and no bias, which would "
            f"be a formula in the gap u{meant}"
        )
    found: Any = realize(formula, u or sp.Symbol("u", real=True), **asked)
    told = {NotRealizable: _refused, Realization: _realized, Approximation: _approximated}
    return {"domain": asked.get("domain", "real"), **told[type(found)](found)}


def _approximated(found: Approximation) -> dict[str, Any]:
    a, b = found.window
    return {
        "answer": f"a constant and {len(found.decays)} decays, near it on [{to_text(a)}, {to_text(b)}]",
        "decays": [[str(weight), str(rate)] for weight, rate in found.decays],
        "constant": str(found.constant),
        "formula": _rounded(found),
        "bound": f"at most {above(found.bound)} for every real u of the window, proved",
        "intervals": found.intervals,
        "where": [],
    }


def _rounded(found: Approximation) -> str:
    """The formula with six digits, to be read; the exact numbers stand beside it."""
    terms = (f"{float(weight):+.6g}·e^(-{float(rate):.6g}·{found.u})" for weight, rate in found.decays)
    return " ".join([f"{float(found.constant):.6g}", *terms])


def _realized(found: Realization) -> dict[str, Any]:
    law = "bias = cᵀ·exp(u·X)·v" if found.X is not None else "bias = cᵀ·Aⁿ·v"
    document = {
        "answer": f"realizable, order {found.order}{_counted(found)}",
        "order": found.order,
        "law": law,
        "matrix": to_text(found.step if found.X is None else found.X),
        "c": to_text(found.c.T),
        "v": to_text(found.v.T),
        "check": verdict_document(found.verdict),
        "hankel_determinant": to_text(found.determinant),
        "where": [f"{to_text(formula)} ≠ 0" for formula in found.conditions],
        "names": {str(name): to_text(value) for name, value in found.values.items()},
    }
    return document | ({} if found.generator is None else _behaviour(found.generator))


def _counted(found: Realization) -> str:
    return "" if found.dropped is None else ", a constant per query not counted"


def _behaviour(generator: Generator) -> dict[str, Any]:
    whole = generator_document(generator)
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


def _encoding(name: str, parameters: Mapping[str, str]) -> dict[str, Any]:
    return {"kind": "encoding", **encoding_document(entries()[name], named(name, parameters))}


def named(name: str, parameters: Mapping[str, str], command: str = "classify") -> Encoding:
    """The encoding of a catalogue name with parameters as typed; what is not given is as in its example."""
    entry = entries()[name]
    given = {key: _parameter(key, text) for key, text in parameters.items()}
    try:
        return encoding(name, **_completed(entry, given))
    except (BadInput, WrongType) as problem:
        raise BadInput(f"{problem} (at the command line: {_as_set(command, entry)})") from None


def _as_set(command: str, entry: Entry) -> str:
    """How the parameters of a name are given."""
    return f"exptx {command} {entry.name} " + " ".join(f"--set {key}=…" for key in entry.keywords[:3])


def _parameter(name: str, text: str) -> Any:
    """true, false, a list [1, 2] of exact numbers, or a formula."""
    truths = {"true": True, "false": False}
    if text.lower() in truths:
        return truths[text.lower()]
    if text.startswith("[") and not text.startswith("[["):
        return list(parse(f"[{text}]", name=name))
    return parse(text, name=name)


def _completed(entry: Entry, given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters given, those of the example where a default is lacking; nothing given: the example."""
    taken = entry.required if given else tuple(entry.example)
    whole = {**{key: entry.example[key] for key in taken}, **given}
    return {key: int(value) if isinstance(value, sp.Integer) else value for key, value in whole.items()}
