"""Owns the report as a whole: data, pictures and formulas poured into one self-contained HTML page.

`write_report` is the door. Everything is rendered first and only then written, each file by a rename.
"""

from __future__ import annotations

import importlib.util
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

from ..certificate import canonical, sha256, write_atomically
from ..certificate import document as certificate_document
from ..errors import MissingExtra
from .data import WORDS, Book, Entry, Law, ProofLike, ResidualLike, StepLike, book, citations, evidence
from .formulas import Formula, Sheet, decimal, formulas_of, typeset
from .prose import inline, paragraphs
from .record import Run, run_document, this_run

if TYPE_CHECKING:
    from ..prove import Proof

_HERE = __name__.rpartition(".")[0]
APPENDICES = {
    "errata": "What popular accounts get wrong",
    "questions": "Questions a learner asks",
    "glossary": "Glossary",
    "trust": "What you must trust",
    "bibliography": "Bibliography",
    "reproduce": "Do it again",
}


@dataclass(frozen=True)
class Written:
    """The files of a finished report, and the formulas that typst refused (shown as MathML instead)."""

    index: Path
    proofs: Path
    run: Path
    failures: tuple[tuple[Formula, str], ...]


def write_report(
    proofs: Iterable[ProofLike],
    residuals: Mapping[str, ResidualLike] | None,
    out_dir: str | Path,
    *,
    proofs_document: Mapping[str, Any] | None = None,
    command: str = "exptx report",
    timings: Mapping[str, float] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Written:
    """Write `index.html`, `proofs.json` and `run.json` into `out_dir`.

    proofs: in story order. residuals: by proof id or law id, empty or None where nothing could be measured.
    proofs_document: the content of `proofs.json`, made from the proofs where None. timings: seconds to print,
    by description. progress: told each stage. Raises `MissingExtra` without jinja2 or matplotlib,
    `Unwritable` for a folder that cannot be written.
    """
    _require_extra()
    tell = progress or (lambda stage: None)
    proofs, out = list(proofs), Path(out_dir)
    started = perf_counter()
    document = proofs_document or certificate_document(cast("list[Proof]", proofs))
    run = this_run(command, timings or {})
    story = book(proofs, residuals or {}, {row["id"]: row["certificate_sha256"] for row in document["laws"]})
    tell("typesetting the formulas")
    formulas = {id(step): formulas_of(step) for step in _shown(proofs)}
    sheet = typeset(formula for shown in formulas.values() for formula in shown)
    tell("drawing the pictures")
    from .pictures import gallery

    pictures = gallery({law.id for law in story.laws})
    tell("laying out the page")
    run = replace(run, seconds={**run.seconds, "this page": perf_counter() - started})
    digest = sha256(document)
    html = _render(story, sheet, formulas, pictures, run, digest, measured=bool(residuals))
    tell("writing")
    written = Written(out / "index.html", out / "proofs.json", out / "run.json", sheet.failures)
    write_atomically(written.proofs, canonical(document))
    write_atomically(written.run, canonical(run_document(run, residuals, digest)))
    write_atomically(written.index, html.encode())
    return written


def _require_extra() -> None:
    missing = [name for name in ("jinja2", "matplotlib") if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingExtra(f"the report needs {' and '.join(missing)}; run pip install 'exptx[report]'")


def _shown(proofs: Sequence[ProofLike]) -> list[StepLike]:
    return [step for proof in proofs for step in proof.steps]


def chapter_data(name: str) -> dict[str, Any]:
    """One of the data files of the further chapters: errata, questions, glossary, trust, bibliography."""
    return tomllib.loads(files(_HERE).joinpath(f"{name}.toml").read_text("utf-8"))


@dataclass(frozen=True)
class Row:
    """One law in the summary table; a cell is the proof for that column, or nothing."""

    law: Law
    cells: tuple[Entry | None, ...]


@dataclass(frozen=True)
class Table:
    """The summary of the laws that are about encodings, or of those that are not."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def summary(story: Book) -> list[Table]:
    """Laws without cases first, then a grid for each family of laws that share cases (blocks, encodings)."""
    single = tuple(Row(law, law.entries) for law in story.laws if law.entries[0].proof.encoding is None)
    families: list[tuple[dict[str, None], list[Law]]] = []
    for law in (law for law in story.laws if law.entries[0].proof.encoding is not None):
        columns, members = dict.fromkeys(str(entry.proof.encoding) for entry in law.entries), [law]
        for family in [family for family in families if family[0].keys() & columns.keys()]:
            families.remove(family)
            columns, members = family[0] | columns, family[1] + members
        families.append((columns, members))
    grids = [Table(tuple(names), tuple(_row(law, names) for law in laws)) for names, laws in families]
    return [table for table in (Table((), single), *grids) if table.rows]


def _row(law: Law, columns: Iterable[str]) -> Row:
    by_case = {entry.proof.encoding: entry for entry in law.entries}
    return Row(law, tuple(by_case.get(name) for name in columns))


_GREEK = {unicodedata.name(letter).split()[-1].lower(): letter for letter in "αβγδεζηθικλμνξπρστυφχψω"}
_PRINTED = {**_GREEK, "lamda": "λ", "+/-": "±", "-": "−", "oo": "∞"}
_NAMES = re.compile(rf"\b(?:{'|'.join(_GREEK)})(?=\b|\d)|\+/-|\boo\b|(?<![\w.])-(?=[\d.]|oo)|\d+/\d{{6,}}")


def finding(executed: StepLike) -> str:
    """What deciding a step found: the reason, symbols as printed, and the witness unless it is named."""
    named = sorted((str(symbol), str(value)) for symbol, value in (executed.witness or {}).items())
    told = all(re.search(rf"\b{re.escape(s)} ?= ?{re.escape(v)}", executed.reason) for s, v in named)
    witness = "" if told else f". Witness: {', '.join(f'{s} = {v}' for s, v in named)}"
    return _NAMES.sub(lambda found: _PRINTED.get(found[0]) or decimal(found[0]), executed.reason + witness)


def steps_in_words(steps: Sequence[StepLike]) -> str:
    """`5 steps: 3 computed, 2 cited`."""
    kinds = [evidence(step) for step in steps]
    parts = [f"{kinds.count(kind)} {kind}" for kind in ("computed", "enclosed", "cited") if kind in kinds]
    return f"{len(steps)} step{'s' * (len(steps) != 1)}: {', '.join(parts)}"


def _render(
    story: Book,
    sheet: Sheet,
    formulas: Mapping[int, Sequence[Formula]],
    pictures: Any,
    run: Run,
    digest: str,
    *,
    measured: bool,
) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    def ref(name: str) -> Markup:
        if name not in story.anchors:
            return Markup(f"<span>{escape(name)}</span>")
        return Markup(f'<a href="#{escape(story.anchors[name])}">{inline(story.titles[name])}</a>')

    def see(laws: Sequence[str]) -> Markup:
        links = Markup(", ").join(ref(name) for name in laws if name in story.anchors)
        return Markup(f' <span class="see">→ {links}</span>') if links else Markup("")

    def formula(step: StepLike) -> Markup:
        return Markup("".join(sheet[shown] for shown in formulas[id(step)]))

    def text(name: str) -> Markup:
        return Markup(files(_HERE).joinpath(name).read_text("utf-8"))

    environment = Environment(
        loader=PackageLoader(_HERE, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "inline": lambda words: Markup(inline(str(words))),
        "paragraphs": lambda words: Markup(paragraphs(str(words))),
    }
    chapters = {name: chapter_data(name) for name in APPENDICES if name != "reproduce"}
    words = chapter_data("words")
    return environment.get_template("page.html").render(
        **chapters,
        **words["page"],
        book=story,
        sheet=sheet,
        summary=summary(story),
        pictures=pictures,
        citations=citations(entry.proof for entry in story.entries),
        appendices=APPENDICES.items(),
        measured=measured,
        measured_note=words["measured"]["yes" if measured else "no"],
        run=run,
        digest=digest,
        style=text("style.css"),
        early=text("early.js"),
        script=text("page.js"),
        ref=ref,
        see=see,
        formula=formula,
        found=lambda executed: Markup(inline(finding(executed))),
        steps_in_words=steps_in_words,
        status_words=lambda status: WORDS[status.name],
    )
