"""What a person reads of the documents of `exptx decide` and `exptx classify`: a name and a text a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

BLOCKS = 8  # different ones that are shown
READABLE = 40  # digits of a whole number that are shown
SHOWN = 300  # characters of a formula on one line
WIDTH = 10  # of the names in front, at least

Document = dict[str, Any]
Row = tuple[str, Any]


def decided(document: Document) -> list[str]:
    """The verdict, the reason, and the evidence that there is."""
    read = document["read"]
    return _lines(
        [
            (document["status"], f"{_short(read['lhs'])} = {_short(read['rhs'])}"),
            ("reason", document["reason"]),
            ("witness", ", ".join(f"{x} = {value}" for x, value in (document["witness"] or {}).items())),
            ("entry", document["entry"] and "({}, {}), counted from 0".format(*document["entry"])),
            ("gap", document["gap"] and f"lhs - rhs = {document['gap']}"),
            ("where", ", ".join(document["side_conditions"])),
            ("given", ", ".join(document["assume"])),
            (
                "exact",
                ", ".join(f"{number} is read as {exact}" for number, exact in document["decimals"].items()),
            ),
        ]
    )


def classified(document: Document) -> list[str]:
    """The answer, the blocks with their kernel functions, and how the flow behaves."""
    rows = {"matrix": _matrix, "bias": _bias, "encoding": _encoding}[document["kind"]]
    return _lines([(document["kind"], _short(document["read"])), *rows(document)])


def _matrix(document: Document) -> Iterator[Row]:
    yield from _flow(document)
    yield "exp(tX)", _short(document.get("flow", ""))
    yield "basis", f"S = {_short(document['basis'])}"
    yield "isometric", "exp(tX) keeps every length" if document["isometric"] else ""
    yield "check", _verdict(document["check"])
    yield "where", ", ".join(document.get("where", ()))


def _flow(document: Document) -> Iterator[Row]:
    """Type, blocks, boundedness."""
    yield from _blocks(document)
    yield "bounded", document["bounded_reason"]
    yield "P", document.get("metric_reason") or _metric(document)


def _blocks(document: Document) -> Iterator[Row]:
    """The type, and different blocks once: all of a few, the first and the last of many."""
    yield "type", _short(document["type"])
    counted = _counted(document["blocks"])
    left_out = range(BLOCKS - 2, len(counted) - 2) if len(counted) > BLOCKS else range(0)
    for place, (block, count) in enumerate(counted):
        if place not in left_out:
            yield "block", (f"{count} times " if count > 1 else "") + _block(block)
        elif place == left_out.start:
            yield "blocks", f"{len(left_out)} more of this kind, which --json lists"


def _metric(document: Document) -> str:
    if "metric" not in document:
        return ""
    when = "" if document["bounded"]["all"] else " for t ≥ 0"
    bound = f", so ‖exp(tX)‖ ≤ {document['bound']}{when}" if document["bound"] else ""
    return f"{_short(document['metric'])} has {document['metric_relation']}{bound}"


def _block(block: Document) -> str:
    if block["kind"] == "companion":
        at = block["half_planes"]
        where = f"{at['left']} left of, {at['axis']} on, {at['right']} right of the imaginary axis"
        roots = _short(", ".join(block["eigenvalues"]))
        return f"companion of {block['factor']}, size {block['size']}; eigenvalues {roots}; {where}"
    facts = [f"{name.replace('_', '-')} {block[name]}" for name in _FACTS if block.get(name, "0") != "0"]
    return f"{', '.join([block['kind'], *facts])}; kernels {_short(', '.join(block['kernel_functions']))}"


_FACTS = ("decay", "frequency", "size", "half_life", "period")


def _counted(blocks: list[Document]) -> list[tuple[Document, int]]:
    """Each different block once, with how often it occurs."""
    return [(block, blocks.count(block)) for i, block in enumerate(blocks) if block not in blocks[:i]]


def _bias(document: Document) -> Iterator[Row]:
    yield "domain", document["domain"]
    yield "answer", document["answer"] + (f": {document['law']}" if "law" in document else "")
    yield "reason", document.get("reason")
    yield "cited", document.get("cited")
    yield "witness", document.get("witness")
    if "type" in document:
        yield from _flow(document)
    if "bound" in document:
        yield "formula", document["formula"]  # whole: the bound is one of all its digits
        yield "error", document["bound"]
        yield "floats", document["floats"]
        yield "cut into", f"{document['intervals']} pieces, the error enclosed on each by ball arithmetic"
    if "law" in document:
        yield ("X" if "u·X" in document["law"] else "A"), _short(document["matrix"])
        yield "c", _short(document["c"])
        yield "v", _short(document["v"])
        yield "least", _least(document)
        yield "row constant", document["row_constant"]
        yield "names", ", ".join(f"{name} = {value}" for name, value in document["names"].items())
    if "check" in document:
        yield "check", _verdict(document["check"])
    yield "where", ", ".join(document["where"])


def _least(document: Document) -> str:
    """That no lower order does; of a long number its ends and its length."""
    determinant = document["hankel_determinant"]
    digits = determinant.lstrip("-")
    if len(digits) > READABLE and digits.isdecimal():
        determinant = f"{determinant[: -len(digits)]}{digits[:6]}…{digits[-6:]} ({len(digits)} digits)"
    surely = "" if document["where"] else ", not 0"
    return f"the Hankel determinant of order {document['order']} is {_short(determinant)}{surely}"


def _encoding(document: Document) -> Iterator[Row]:
    yield "published", document["published"].replace("`", "")
    yield "source", document["source"]
    yield "in general", document["danger"]
    yield "answer", document["answer"]
    for question, answer in document["answers"].items():
        yield question, f"{answer['word']}: {answer['reason']}"
    yield "pairs", _pairs(document["answers"])
    if not document["score"]:
        yield "score", "too long to be read here; encoding(...).score(t, s) gives it"
    else:
        yield "score", f"{document['score'][0]} = {_short(document['score'][1])}"
    if document["heads"] > 1:
        yield "heads", f"{document['heads']}, of which the first is shown"
    for generator in document["generators"]:
        yield from _blocks(generator)


def _pairs(answers: dict[str, Document]) -> str:
    """The first two position pairs that any refutation gives."""
    found = next((answer["pairs"] for answer in answers.values() if answer["pairs"]), None)
    return f"(t, s) = {found[0]} and {found[1]} have one gap and are told apart" if found else ""


def _verdict(verdict: Document) -> str:
    return f"{verdict['status'].replace('_', ' ')}: {verdict['reason']}"


def _lines(rows: list[Row]) -> list[str]:
    shown = [(f"{name}:", text) for name, text in rows if text]
    width = max(WIDTH, *(len(name) for name, _ in shown))
    return [f"{name:{width}} {text}" for name, text in shown]


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
