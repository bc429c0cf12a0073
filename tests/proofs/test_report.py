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
from exptx.proofs.report import formulas
from exptx.proofs.report.curves import curves, plane_frequencies
from exptx.proofs.report.data import badge, book, citations, residual_view
from exptx.proofs.report.formulas import Formula, formula_of, formulas_of, mathml, typeset
from exptx.proofs.report.pages import APPENDICES, chapter_data, finding, summary, write_report
from exptx.proofs.report.pictures import drawn, gallery
from exptx.proofs.report.precision import bfloat16, worst_errors
from exptx.proofs.report.prose import inline, paragraphs, plain
from exptx.symbolic.decide import Status

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


def test_a_residual_far_below_its_budget_is_explained_and_one_above_it_is_an_alarm():
    assert residual_view(a_residual(1e-9, 6e-8, "the sum has one term")).explanation == "the sum has one term"
    assert residual_view(a_residual(1e-9, 6e-8)).explanation
    assert residual_view(a_residual(3e-8, 6e-8, "unneeded")).explanation == ""
    assert residual_view(a_residual(7e-8, 6e-8)).alarm
    assert residual_view(a_residual(math.nan, 6e-8)).alarm
    assert residual_view(a_residual(1e-9, 6e-8, violation=True)).alarm
    assert not residual_view(a_residual(1.0, 6e-8, violation=True)).alarm


def test_a_kernel_that_breaks_a_proved_law_is_a_surprise():
    assert [e.proof.id for e in book(PROOFS, {"keys-only": a_residual(1.0)}, {}).surprises] == ["keys-only"]


def test_a_witness_is_told_once_and_symbols_are_printed_as_in_formulas():
    assert finding(REFUTED) == "sides differ. Witness: t = 2/3"
    told = a_step(witness={w: sp.Rational(-2, 3)}, reason="at omega = -2/3 they differ by [-1 +/- 1e-9]")
    assert finding(told) == "at ω = −2/3 they differ by [−1 ± 1e-9]"


def test_a_cited_lemma_is_listed_once_with_all_who_need_it():
    (citation,) = citations(PROOFS)
    assert citation.needed_by == ("rope-relative", "relative")


# ---- formulas ----

TURN = formula_of((sp.cos(w * t), "=", sp.sin(w * t)))
FADE = formula_of((sp.exp(-w * t), "<=", sp.S.One))


def test_formulas_share_their_glyphs_and_follow_the_text_colour():
    sheet = typeset([TURN, FADE, TURN])
    assert sheet.failures == ()
    defined = re.findall(r'<symbol id="(\w+)"', sheet.glyphs)
    used = set(re.findall(r'href="#(\w+)"', sheet[TURN] + sheet[FADE]))
    assert len(defined) == len(set(defined))
    assert used == set(defined)
    assert "#000000" not in sheet[TURN] + sheet[FADE] + sheet.glyphs
    assert "#ffffff" not in sheet[TURN]


def test_every_picture_of_a_formula_has_a_twin_to_be_read_aloud():
    shown = typeset([TURN])[TURN]
    assert shown.count('aria-hidden="true"') == 1
    assert shown.count('role="math"') == 1
    assert "cos" in mathml(TURN)


def size_of(formula):
    view = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', typeset([formula])[formula])
    return tuple(map(float, view.groups()))


def test_a_wide_formula_is_broken_at_its_relation():
    long = sp.Add(*[sp.cos(k * w * t) for k in range(1, 25)])
    wide = formula_of((long, "=", long))
    width, height = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', typeset([wide])[wide]).groups())
    low = float(re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)"', typeset([TURN])[TURN])[1])
    assert height > 1.8 * low
    assert width < 1.2 * float(
        re.search(r"0 0 ([\d.]+)", typeset([half := formula_of((long, "", None))])[half])[1]
    )


def test_without_typst_the_twin_is_shown(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(formulas.importlib.util, "find_spec", lambda n: None if n == "typst" else found(n))
    shown = typeset([TURN])[TURN]
    assert "<math" in shown
    assert "unseen" not in shown


def test_a_very_wide_sum_flows_over_lines_that_fit():
    long = sp.Add(*[sp.cos(k * w * t) for k in range(1, 60)])
    width, _ = size_of(formula_of((long, "=", long)))
    assert width <= formulas.WIDE_EM * formulas.POINTS_PER_EM + 4


def test_an_induction_shows_its_recursion_before_its_claim():
    n, total = sp.Symbol("n", nonnegative=True), sp.Symbol("S", real=True)
    induction = SimpleNamespace(index=n, start=sp.S.Zero, state={total: (sp.S.One, total + t)})
    step = a_step("induction", formula=(total, "=", 1 + n * t), step=SimpleNamespace(of=induction))
    recursion, claim = formulas_of(step)
    assert recursion.latex == r"S = 1 \text{ at } n = 0,\quad S \mapsto S + t"
    assert claim == formula_of((total, "=", 1 + n * t))


@pytest.mark.parametrize(
    ("rational", "printed"),
    [("1/8", "0.125"), ("-3/20", "-0.15"), ("7", "7"), ("1/3", "1/3"), ("5/2", "2.5")],
)
def test_a_rational_with_a_finite_decimal_is_printed_as_one(rational, printed):
    assert formulas.decimal(rational) == printed


def test_letters_of_a_free_algebra_are_written_as_mathematics_writes_them():
    inverse = sp.Symbol("G0inv", commutative=False)
    shown = formula_of((inverse, "=", sp.Symbol("Fu", commutative=False)))
    assert shown.lhs == 'G_0^("−1")'
    assert shown.rhs == "F_u"


def test_a_formula_that_typst_refuses_is_reported_and_the_others_are_typeset():
    broken = Formula("nosuchname", latex="x")
    sheet = typeset([TURN, broken])
    assert [formula for formula, _ in sheet.failures] == [broken]
    assert "<svg" in sheet[TURN]
    assert "<math" in sheet[broken]


# ---- prose ----


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a < b", "a &lt; b"),
        ("a < `t`", 'a &lt; <span class="m keep"><i>t</i></span>'),
        ("*a < b*", "<em>a &lt; b</em>"),
        ("`tX`", '<span class="m keep"><i>tX</i></span>'),
        ("`w_k`", '<span class="m keep"><i>w</i><sub><i>k</i></sub></span>'),
        ("`e^{-γt}`", '<span class="m keep"><i>e</i><sup>−<i>γ</i><i>t</i></sup></span>'),
        ("`e^((t-s)X)`", '<span class="m keep"><i>e</i><sup>(<i>t</i>−<i>s</i>)<i>X</i></sup></span>'),
        ("`X⁻¹`", '<span class="m keep"><i>X</i><sup>−1</sup></span>'),
        ("`exp(x) != 0`", '<span class="m keep">exp(<i>x</i>) ≠ 0</span>'),
        ("`A_half`", '<span class="m keep"><i>A</i><sub>half</sub></span>'),
        ("`inv_freq`", "<code>inv_freq</code>"),
        ("``tX``", "<code>tX</code>"),
        ("*not* 2*3*4", "<em>not</em> 2<em>3</em>4"),
        ("[the `X` law](#x)", '<a href="#x">the <span class="m keep"><i>X</i></span> law</a>'),
        ("[no](javascript:x)", "[no](javascript:x)"),
    ],
)
def test_small_markup(text, html):
    assert inline(text) == html


def test_paragraphs_are_split_at_blank_lines_and_plain_text_has_no_markup():
    assert paragraphs("a\nb\n\nc") == "<p>a b</p><p>c</p>"
    assert plain("*one* `t` [two](#x)") == "one t two"


# ---- pictures ----


def test_pictures_come_out_the_same_twice_and_speak_their_theme_colours():
    once = gallery(set())
    drawn.cache_clear()
    assert gallery(set()) == once
    for picture in (*once.triptych, *once.unplaced):
        assert "var(--" in picture.svg
        assert 'aria-label="' in picture.svg
        assert not re.search(r"#[0-9a-f]{6}|font-family|<style", picture.svg)


def test_a_picture_stands_beside_its_law_or_in_the_opening():
    beside = gallery({"lookup-table"})
    assert [picture.id for picture in beside.by_law["lookup-table"]] == ["picture-lookup"]
    assert "picture-lookup" not in [picture.id for picture in beside.unplaced]


def test_drawn_scores_are_those_of_the_formulas():
    by_title = {curve.title: dict(zip(curve.gaps, curve.scores, strict=True)) for curve in curves()}
    turning = [sum(math.cos(10 ** (-k / 2) * u) for k in range(8)) for u in (3, 7, 20)]
    assert [by_title["RoPE"][u] for u in (3, 7, 20)] == pytest.approx(turning)
    assert by_title["NoPE"][64] == 8
    assert by_title["decay"][10] == pytest.approx(8 / math.e)
    assert by_title["damped RoPE"][7] == pytest.approx(turning[1] * math.exp(-0.7))
    assert by_title["ALiBi"][64] == pytest.approx(8 - 64 * 4 / 16)
    assert by_title["RoPE + ALiBi"][20] == pytest.approx(turning[2] - 20 * 4 / 16)
    assert plane_frequencies(16) == pytest.approx([10 ** (-k / 2) for k in range(8)])


def test_float32_angles_go_wrong_far_out_and_float64_angles_do_not():
    far, farther = worst_errors("float32 angles", [131_071, 1_048_575])
    assert 2e-3 < far < 5e-3
    assert farther == pytest.approx(2.5e-2, rel=0.05)
    assert all(error > 1.5 for error in worst_errors("bfloat16 angles", [4095, 131_071]))
    assert max(worst_errors("float64 angles")) < 2**-25 + 2**-40


def test_bfloat16_rounding_is_to_nearest_even():
    import numpy as np

    kept = {1.0: 1.0, 1 + 2**-8: 1.0, 1 + 3 * 2**-8: 1 + 2**-6, 1 + 2**-8 + 2**-20: 1 + 2**-7, -3.0: -3.0}
    assert bfloat16(np.array(list(kept), np.float32)).tolist() == list(kept.values())


# ---- further chapters ----


def test_every_law_that_the_further_chapters_and_pictures_name_exists():
    from exptx.proofs.laws import CHAPTERS

    entries = [entry for chapter in CHAPTERS for entry in chapter.entries]
    known = {name for entry in entries for name in (entry.id, *entry.proof_ids())}
    named = {
        law
        for name in ("errata", "questions", "glossary")
        for entry in chapter_data(name)["entry"]
        for law in entry.get("laws", ())
    }
    placed = {words["place"] for words in chapter_data("pictures").values() if "place" in words}
    assert (named | placed) - known == set()


def test_files_that_are_to_be_trusted_exist():
    from importlib.resources import files

    root = files("exptx")
    for entry in chapter_data("trust")["entry"]:
        for name in entry.get("files", ()):
            assert root.joinpath(name).is_file() or root.joinpath(name).is_dir(), name


def unseen_planes(base, dim, length):
    return [k for k in range(dim // 2) if base ** (-2 * k / dim) * (length - 1) < 2 * math.pi]


def softmax(scores):
    return [math.exp(x) / sum(map(math.exp, scores)) for x in scores]


def rotated_dot(t, s):
    q, k = (math.cos(t), math.sin(t)), (-math.sin(s), math.cos(s))
    return q[0] * k[0] + q[1] * k[1]


def bank(gap):
    return sum(math.cos(10_000 ** (-k / 8) * gap) for k in range(8))


NUMBERS = {
    "0.14112": rotated_dot(5, 2),
    "−0.14112": rotated_dot(2, 5),
    "planes 46 to 63": unseen_planes(10_000, 128, 4096)[0],
    "planes 35 to 63": unseen_planes(500_000, 128, 8192)[0],
    "0.0625": 1 / 16,
    "0.798": math.cos(-169),
    "−0.0021": 239 - 169 * math.sqrt(2),
    "1.631": (0.1 * math.log(16) + 1) ** 2,
    "3.679": 10 * math.exp(-1),
    "148.4": math.exp(5),
    "62,832": 2 * math.pi * 10_000,
    "54,410": 2 * math.pi * 10_000 ** (126 / 128),
    "47,117": 2 * math.pi * 10_000 ** (62 / 64),
    "19,869": 2 * math.pi * 10_000 ** (14 / 16),
    "5.543": bank(3),
    "5.892": bank(7),
    "5.776": bank(20),
    "16384": 128**2,
    **dict(zip((".058", ".096", ".158", ".260", ".429"), softmax([u / 2 for u in range(5)]), strict=True)),
}


@pytest.mark.parametrize("printed", NUMBERS)
def test_a_number_in_the_errata_is_what_it_is_said_to_be(printed):
    errata = " ".join(entry["right"] for entry in chapter_data("errata")["entry"])
    assert printed in errata
    digits = re.search(r"[−\d.,]+", printed)[0].replace("−", "-").replace(",", "")
    decimals = len(digits.partition(".")[2])
    assert NUMBERS[printed] == pytest.approx(float(digits), abs=0.5000001 * 10**-decimals)
