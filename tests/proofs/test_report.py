"""The report: verdicts shown as they are, formulas typeset, links that resolve, files that are whole."""

import importlib.util
import json
import math
import re
from hashlib import sha256
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest
import sympy as sp
from exptx.proofs.errors import MissingExtra, Unwritable
from exptx.proofs.report.data import badge, book, citations
from exptx.proofs.report.pages import write_report
from exptx.proofs.report.residuals import numbered, reasons, residual_view, short
from exptx.proofs.report.summary import summary
from exptx.proofs.report.template import APPENDICES
from exptx.symbolic.decide import Status

t, w = sp.symbols("t omega", real=True)
CHAPTER = SimpleNamespace(id="turn", title="The turn", intro="A hand turns by `ω` a step.\n\nThat is all.")
OTHER = SimpleNamespace(id="fade", title="The fade", intro="It fades.")


def a_step(kind="identity", status=Status.PROVED, goal=True, witness=None, **more):
    point = {str(symbol): str(value) for symbol, value in (witness or {}).items()}
    claim = SimpleNamespace(
        lemma="every continuous solution is smooth", source=a_source(), lhs=t, rhs=w,
        outcome=lambda verdict: {"witness": point, "gap": ["1/2", "1/2"]} if witness else {},
    )  # fmt: skip
    formula = None if kind == "cited" else (sp.cos(w * t), "=", sp.S.One)
    made = {
        "step": claim, "verdict": None, "kind": kind, "name": f"the {kind}", "note": "because `ω > 0`",
        "goal": goal, "status": status, "reason": "canonical forms agree", "witness": witness,
        "formula": formula,
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
        "anchor": name.replace("/", "--"), "comment": "Remarkable.", "answer": "",
    }  # fmt: skip
    return SimpleNamespace(**(made | more))


def a_residual(value=3e-8, budget=6e-8, explanation="", violation=False):
    ratio = value / budget
    made = {
        "value": value, "budget": budget, "ratio": ratio, "ratios": {"float32": ratio}, "where": "`t = 5`",
        "explanation": explanation, "violation": violation, "explained": bool(explanation) or ratio >= 1 / 16,
        "as_expected": ratio > 1 if violation else ratio <= 1,
    }  # fmt: skip
    return SimpleNamespace(**made)


def a_document(proofs):
    rows = [{"id": p.id, "status": p.status.value, "certificate_sha256": "ab" * 32} for p in proofs]
    return {"schema": "exptx-proofs/1", "laws": rows}


REFUTED = a_step(status=Status.REFUTED, witness={t: sp.Rational(2, 3)}, reason="sides differ")
PROOFS = (
    a_proof(),
    a_proof(
        "keys-only",
        status=Status.REFUTED,
        expected=Status.REFUTED,
        chapter=OTHER,
        steps=(REFUTED,),
        siblings=(a_trial(Status.PROVED),),
        rests_on=("rope-relative",),
    ),
    a_proof("relative", "rope", rests_on=("rope-relative",)),
    a_proof("relative", "alibi"),
)


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


def write(out, proofs=PROOFS, residuals=None, **more):
    return write_report(proofs, residuals, out, proofs_document=a_document(proofs), **more)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return write(tmp_path_factory.mktemp("report"), residuals={"rope-relative": a_residual()})


@pytest.fixture(scope="module")
def html(written):
    return written.index.read_text("utf-8")


# ---- the page as a whole ----


def test_ids_are_unique_and_every_link_and_glyph_resolves(html):
    page = Page(html)
    assert len(page.ids) == len(set(page.ids))
    inside = {link[1:] for link in page.links if link.startswith("#")}
    assert inside
    assert page.glyphs
    assert inside | {glyph[1:] for glyph in page.glyphs} <= set(page.ids)


def test_the_page_fetches_nothing(html):
    assert Page(html).fetched == []
    assert not re.search(r"@import|url\((?!#)|xlink:href", html)


def test_every_proof_law_chapter_and_appendix_has_its_anchor(html):
    ids = set(Page(html).ids)
    assert {p.anchor for p in PROOFS} | {p.law for p in PROOFS} <= ids
    assert {"chapter-turn", "chapter-fade", *APPENDICES} <= ids


def test_statements_are_escaped(html):
    assert "&lt;nothing&gt; moves" in html
    assert "<nothing>" not in html


def test_the_hash_on_the_page_is_that_of_the_proofs_file(written, html):
    digest = sha256(written.proofs.read_bytes()).hexdigest()
    assert digest in html
    assert json.loads(written.run.read_text("utf-8"))["proofs_sha256"] == digest


def test_residuals_go_to_the_run_file_and_never_to_the_proofs_file(written):
    run = json.loads(written.run.read_text("utf-8"))
    assert run["residuals"]["rope-relative"]["ratio"] == pytest.approx(0.5)
    assert "0.5" not in written.proofs.read_text("utf-8")


def test_without_residuals_the_page_says_so(tmp_path):
    written = write(tmp_path)
    assert "Residuals were not measured" in written.index.read_text("utf-8")
    assert json.loads(written.run.read_text("utf-8"))["residuals"] is None


@pytest.mark.parametrize("stage", range(4))
def test_an_interrupted_report_leaves_the_old_one_whole(tmp_path, stage):
    write(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    stages = []

    def interrupt(name):
        stages.append(name)
        if len(stages) > stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(tmp_path, progress=interrupt)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "report").write_text("a file")
    with pytest.raises(Unwritable, match="report"):
        write(tmp_path / "report")


def test_a_missing_extra_is_named(tmp_path, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "jinja2" else found(name))
    with pytest.raises(MissingExtra, match=r"jinja2.*exptx\[report\]"):
        write(tmp_path)


# ---- verdicts ----


@pytest.mark.parametrize(
    ("status", "expected", "words", "loud"),
    [
        (Status.PROVED, Status.PROVED, "proved", False),
        (Status.REFUTED, Status.REFUTED, "refuted, as expected", False),
        (Status.REFUTED, Status.PROVED, "refuted; expected proved", True),
        (Status.PROVED, Status.REFUTED, "proved; expected refuted", True),
        (Status.NOT_CHECKED, Status.PROVED, "not checked; expected proved", True),
    ],
)
def test_a_badge_is_loud_exactly_when_the_verdict_is_not_the_expected_one(status, expected, words, loud):
    seen = badge(a_proof(status=status, expected=expected))
    assert (seen.words, seen.loud) == (words, loud)


def test_a_proof_without_teeth_is_loud():
    assert badge(a_proof(as_expected=False)).loud


def test_an_unexpected_verdict_raises_an_alarm_at_the_top(tmp_path, html):
    assert 'role="alert"' not in html
    bad = write(tmp_path, (*PROOFS, a_proof("slide", status=Status.REFUTED)))
    page = bad.index.read_text("utf-8")
    assert "1 of 5 proofs did not come out as announced" in page
    assert "refuted; expected proved" in page


def test_a_proof_on_sand_is_unsettled_however_deep_the_sand():
    proofs = [
        a_proof("deep", status=Status.UNDECIDED),
        a_proof("middle", rests_on=("deep",)),
        a_proof("top", rests_on=("middle",)),
        a_proof("apart"),
    ]
    entries = {entry.proof.id: entry for entry in book(proofs, {}, {}).entries}
    assert entries["top"].unsettled == ("deep",)
    assert entries["apart"].unsettled == ()


def test_uses_are_the_converse_of_rests_on():
    entries = {entry.proof.id: entry for entry in book(PROOFS, {}, {}).entries}
    assert entries["rope-relative"].used_by == ("keys-only", "relative/rope")


def test_the_summary_has_a_cell_for_every_proof_and_no_other():
    tables = summary(book(PROOFS, {}, {}))
    cells = [cell.proof.id for table in tables for row in table.rows for cell in row.cells if cell]
    assert sorted(cells) == sorted(p.id for p in PROOFS)


def test_laws_that_share_a_case_share_a_grid_and_others_do_not():
    cases = [("flow", "turn"), ("flow", "fade"), ("seen", "rope"), ("bounded", "fade"), ("bounded", "slide")]
    tables = summary(book([a_proof(law, case) for law, case in cases], {}, {}))
    assert [table.columns for table in tables] == [("rope",), ("turn", "fade", "slide")]


def test_a_grid_with_many_cases_has_the_cases_as_rows():
    cases = [(law, f"case{i}") for law in ("flow", "bounded") for i in range(21) if (law, i) != ("flow", 3)]
    (table,) = summary(book([a_proof(law, case) for law, case in cases], {}, {}))
    assert table.columns == ("flow", "bounded")
    assert len(table.rows) == 21
    assert {cell.proof.id for row in table.rows for cell in row.cells if cell} == {
        f"{law}/{case}" for law, case in cases
    }
    (alone,) = [row for row in table.rows if None in row.cells]
    assert alone.cells[1].proof.encoding == "case3"


def test_a_residual_far_below_its_budget_is_explained_and_one_above_it_is_an_alarm():
    assert residual_view(a_residual(1e-9, 6e-8, "One term.")).reasons == (("", "One term."),)
    assert residual_view(a_residual(1e-9, 6e-8)).reasons
    assert residual_view(a_residual(3e-8, 6e-8, "unneeded")).reasons == ()
    assert residual_view(a_residual(7e-8, 6e-8)).alarm
    assert residual_view(a_residual(math.nan, 6e-8)).alarm
    assert residual_view(a_residual(1e-9, 6e-8, violation=True)).alarm
    assert not residual_view(a_residual(1.0, 6e-8, violation=True)).alarm


def test_a_reason_is_told_once_however_many_laws_and_dtypes_share_it():
    one = "In float64 and float32 the signs cancel: at `t = 1`. In bfloat16 nothing is rounded."
    assert reasons(one) == (
        ("float64 and float32", "The signs cancel: at `t = 1`."),
        ("bfloat16", "Nothing is rounded."),
    )
    views = [
        residual_view(a_residual(1e-9, 6e-8, said))
        for said in (one, "In float16 the signs cancel: at `t = 1`.")
    ]
    assert numbered([*views, None]) == {"The signs cancel: at `t = 1`.": 1, "Nothing is rounded.": 2}


def test_nothing_measured_where_nothing_is_rounded_is_called_exact():
    exact = SimpleNamespace(**{**vars(a_residual()), "value": 0.0, "budget": 0.0, "ratio": 0.0})
    assert residual_view(exact).told == "exact: no rounding occurs"
    assert residual_view(a_residual(0.0, 6e-8)).told == "no error at all, where `6.0·10^{-8}` is allowed"
    assert [short(x) for x in (0.5, 250.0, 1e15)] == ["0.5", "250", "`1.0·10^{15}`"]


def test_notes_are_linked_from_the_margin(tmp_path):
    html = write(tmp_path, residuals={"rope-relative": a_residual(1e-9, 6e-8, "One term.")}).index.read_text(
        "utf-8"
    )
    assert 'href="#note-1"' in html
    assert re.search(r'<li id="note-1"><p>One term\.</p>', html)


def test_an_answer_stands_in_the_table_instead_of_a_mark_that_would_mislead(tmp_path):
    proofs = [
        a_proof("bounded", "slide", title="Slide: bounded", answer="neither"),
        a_proof("bounded", "turn"),
    ]
    html = write(tmp_path, proofs).index.read_text("utf-8")
    table = html[html.index('id="summary"') : html.index('class="note"')]
    assert re.search(r"<a class=\"mark proved\"[^>]*>neither</a>", table)
    assert "<span>Slide</span>" in table


def test_a_kernel_that_breaks_a_proved_law_is_a_surprise():
    assert [e.proof.id for e in book(PROOFS, {"keys-only": a_residual(1.0)}, {}).surprises] == ["keys-only"]


def test_a_cited_lemma_is_listed_once_with_all_who_need_it():
    (citation,) = citations(PROOFS)
    assert citation.needed_by == ("rope-relative", "relative")


def test_lemmas_from_one_place_are_one_entry_however_they_are_worded():
    other = a_step("cited", step=SimpleNamespace(lemma="in other words", source=a_source()))
    (citation,) = citations((*PROOFS, a_proof("turn", steps=(other,))))
    assert citation.needed_by == ("rope-relative", "relative", "turn")
