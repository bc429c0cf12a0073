"""A typed matrix, bias or encoding classified: from text to the document that `exptx classify` prints."""

from __future__ import annotations

import os
from collections import abc
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sympy as sp

from ..symbolic.catalogue import encoding, encodings, entries
from ..symbolic.catalogue.registry import Entry
from ..symbolic.defined import demands
from ..symbolic.encoding import Encoding
from ..symbolic.errors import BadInput, Unsupported, WrongType
from ..symbolic.generator import Generator
from ..symbolic.matrices import is_matrix
from ..symbolic.parse import evaluated, parse, parse_signs
from ..symbolic.premises import Premises
from ..symbolic.typeset import to_text
from ..symbolic.walk import free_symbols
from .biases import bias_document
from .charted import encoding_document
from .generators import generator_document
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
        return {
            "kind": "matrix",
            "read": what,
            "where": [],
            **generator_document(Generator(read_matrix_file(Path(what)))),
        }
    typed = parse(what, name="what", signs=parse_signs(assume))
    formula = evaluated(typed)
    with shell_words():
        if is_matrix(formula):
            _only_for_a_bias(what, asked)
            known = Premises.of((), free_symbols(typed))
            where = [to_text(demand.relation) for demand in demands(typed, known=known)]
            read = {"kind": "matrix", "read": to_text(formula), "where": where}
            return read | generator_document(Generator(formula))
        return {"kind": "bias", "read": to_text(typed), **bias_document(what, typed, asked)}


def _only_for_a_bias(what: str, asked: Mapping[str, Any]) -> None:
    options = {"domain": "--domain", "modulo_row_constant": "--row-constant"}
    given = [options.get(key, f"--{key}") for key, value in asked.items() if value is not None]
    if given:
        raise BadInput(f"{given[0]} is for a bias in the gap u, and {what[:40]!r} is none; leave it out")


@contextmanager
def shell_words() -> abc.Generator[None]:
    """A refusal that asks for signs of symbols says how they are given here."""
    try:
        yield
    except (BadInput, Unsupported) as problem:
        if "positive=True" not in str(problem):
            raise
        raise type(problem)(f"{problem} (at the command line: --assume 'k > 0')") from None


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
    """true, false, a list [1, 2] of exact numbers or [A, B] of matrices, or a formula."""
    truths = {"true": True, "false": False}
    if text.lower() in truths:
        return truths[text.lower()]
    if text.replace(" ", "").startswith("[[["):
        return [parse(part, name=f"{name}[{i}]") for i, part in enumerate(_items(text))]
    if text.startswith("[") and not text.startswith("[["):
        return list(parse(f"[{text}]", name=name))
    return parse(text, name=name)


def _items(text: str) -> list[str]:
    """What stands between the commas of the outermost brackets."""
    cuts, depth = [0], 0
    for place, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        cuts += [place] if depth == 1 and character == "," else []
    ends = [*cuts[1:], text.rindex("]") if "]" in text else len(text)]
    return [text[start + 1 : end] for start, end in zip(cuts, ends, strict=True)]


def _completed(entry: Entry, given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters given, those of the example where a default is lacking; nothing given: the example."""
    taken = entry.required if given else tuple(entry.example)
    whole = {**{key: entry.example[key] for key in taken}, **given}
    return {key: int(value) if isinstance(value, sp.Integer) else value for key, value in whole.items()}
