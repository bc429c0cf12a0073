"""The report: verdicts shown as they are, formulas typeset, links that resolve, files that are whole."""

import json
import re
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest
import sympy as sp

from exptx.proofs.report.data import badge, book, residual_view, unsettled
from exptx.proofs.report.formulas import Formula, formula_of, typeset
from exptx.proofs.report.pages import APPENDICES, chapter_data, write_report
from exptx.proofs.report.prose import inline, looks_like_code, plain
from exptx.symbolic.verdict import Status

t, w = sp.symbols("t omega", real=True)
CHAPTER = SimpleNamespace(id="turn", title="The turn", intro="A hand turns by `ω` a step.\n\nThat is all.")
OTHER = SimpleNamespace(id="fade", title="The fade", intro="It fades.")


def a_step(kind="identity", status=Status.PROVED, goal=True, witness=None, **more):
    claim = SimpleNamespace(lemma="every continuous solution is smooth", source=a_source())
    formula = None if kind == "cited" else (sp.cos(w * t) ** 2 + sp.sin(w * t) ** 2, "=", sp.S.One)
    made = {
        "step": claim, "kind": kind, "name": f"the {kind}", "note": "because `ω > 0`", "goal": goal,
        "status": status, "reason": "canonical forms agree", "witness": witness, "formula": formula,
    }  # fmt: skip
    return SimpleNamespace(**(made | more))


def a_source(text="Hall, theorem 2.14", url="https://example.org/hall"):
    return SimpleNamespace(text=text, url=url)


def a_trial(status=Status.REFUTED):
    broken = a_step(status=status, witness={t: sp.Rational(2, 3)}, reason="the sides differ by [0.1 ± 1e-9]")
    return SimpleNamespace(of="the identity", change="the sign of `ω`", executed=broken)


def a_proof(law="rope-relative", encoding=None, status=Status.PROVED, expected=Status.PROVED, **more):
    name = law if encoding is None else f"{law}/{encoding}"
    made = {
        "id": name, "law": law, "encoding": encoding, "title": "Only `t − s` is seen", "chapter": CHAPTER,
        "statement": "For all real `t, s`: <nothing> moves.", "status": status, "expected": expected,
        "hypotheses": (SimpleNamespace(name="real", text="`ω` is real"),), "as_expected": status == expected,
        "rests_on": (), "steps": (a_step(), a_step("cited", goal=False), a_step("enclosed", goal=False)),
        "perturbations": (a_trial(), a_trial()), "siblings": (), "sources": (a_source(),),
        "anchor": name.replace("/", "--"), "comment": "Remarkable.",
    }  # fmt: skip
    return SimpleNamespace(**(made | more))


def a_residual(value=3e-8, budget=6e-8, explanation=""):
    return SimpleNamespace(
        value=value, budget=budget, ratio=value / budget, where="`t = 5`", explanation=explanation
    )


def a_document(proofs):
    rows = [{"id": p.id, "status": p.status.value, "certificate_sha256": "ab" * 32} for p in proofs]
    return {"schema": "exptx-proofs/1", "laws": rows}


PROOFS = (
    a_proof(),
    a_proof("keys-only", status=Status.REFUTED, expected=Status.REFUTED, chapter=OTHER, siblings=(a_trial(Status.PROVED),),
            steps=(a_step(status=Status.REFUTED, witness={t: sp.Rational(2, 3)}),), rests_on=("rope-relative",)),
    a_proof("relative", "rope", rests_on=("rope-relative",)),
    a_proof("relative", "alibi"),
)  # fmt: skip


class Page(HTMLParser):
    """Ids, links, and every address a browser would fetch."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.fetched, self.glyphs = [], [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "a":
            self.links.append(given["href"])
        elif tag == "use":
            self.glyphs.add(given["href"])
        elif "src" in given or (tag == "link" and not given["href"].startswith("data:")):
            self.fetched.append(given)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    out = tmp_path_factory.mktemp("report")
    return write_report(PROOFS, {"rope-relative": a_residual()}, out, document=a_document(PROOFS))


@pytest.fixture(scope="module")
def html(written):
    return written.index.read_text("utf-8")


def test_ids_are_unique_and_links_resolve(html):
    page = Page(html)
    assert len(page.ids) == len(set(page.ids))
    inside = {link[1:] for link in page.links if link.startswith("#")}
    assert inside <= set(page.ids)
    assert {glyph[1:] for glyph in page.glyphs} <= set(page.ids)
