"""Owns the filling of `page.html`: data files, links by law id, formulas and pictures as safe HTML."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ...symbolic.verdicts import QUESTIONS
from .atlas import Region
from .data import WORDS, Book, StepLike, case_name, citations
from .findings import finding
from .formulas import Formula, Sheet
from .prose import inline, paragraphs
from .record import Run
from .residuals import numbered
from .summary import summary
from .wording import steps_in_words

if TYPE_CHECKING:
    from .pictures import Gallery

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
class Content:
    """All that one page shows; `formulas` are those of each step, by the id of the step object."""

    book: Book
    regions: Sequence[Region]
    sheet: Sheet
    formulas: Mapping[int, Sequence[Formula]]
    pictures: Gallery
    run: Run
    digest: str
    measured: bool


def chapter_data(name: str) -> dict[str, Any]:
    """One of the data files: words, errata, questions, glossary, trust, bibliography, pictures."""
    return tomllib.loads(_text(f"{name}.toml"))


def _text(name: str) -> str:
    return files(_HERE).joinpath(name).read_text("utf-8")


def render(content: Content) -> str:
    """The page as HTML."""
    words = chapter_data("words")
    return _template().render(
        **{name: chapter_data(name) for name in APPENDICES if name != "reproduce"},
        **words["page"],
        **vars(content) | _helpers(content),
        summary=summary(content.book),
        questions_of_the_map=QUESTIONS,
        citations=citations(entry.proof for entry in content.book.entries),
        notes=numbered(entry.residual for entry in content.book.entries),
        appendices=APPENDICES.items(),
        measured_note=words["measured"]["yes" if content.measured else "no"],
    )


def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader(_HERE, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["inline"] = lambda words: Markup(inline(str(words)))
    environment.filters["paragraphs"] = lambda words: Markup(paragraphs(str(words)))
    parts = {"style": "style.css", "early": "early.js", "script": "page.js"}
    return environment.get_template(
        "page.html", globals={name: Markup(_text(part)) for name, part in parts.items()}
    )


def _helpers(content: Content) -> dict[str, Any]:
    """What the template calls: links, formulas and findings, each as safe HTML."""
    from markupsafe import Markup, escape

    anchors, titles = content.book.anchors, content.book.titles

    def ref(name: str) -> Markup:
        if name not in anchors:
            return Markup(f"<span>{escape(name)}</span>")
        return Markup(f'<a href="#{escape(anchors[name])}">{inline(titles[name])}</a>')

    def see(laws: Sequence[str]) -> Markup:
        links = Markup(", ").join(ref(name) for name in laws if name in anchors)
        return Markup(f' <span class="see">→ {links}</span>') if links else Markup("")

    def formula(step: StepLike) -> Markup:
        return Markup("".join(content.sheet[shown] for shown in content.formulas[id(step)]))

    return {
        "ref": ref,
        "see": see,
        "case_name": case_name,
        "formula": formula,
        "found": lambda executed: Markup(inline(finding(executed))),
        "steps_in_words": steps_in_words,
        "status_words": lambda status: WORDS[status.name],
    }
