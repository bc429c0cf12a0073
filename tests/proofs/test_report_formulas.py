"""Mathematics in the report: typeset, readable aloud, and never wider than the page."""

import importlib.util
import re
from types import SimpleNamespace

import pytest
import sympy as sp
from exptx.proofs.report import formulas
from exptx.proofs.report.formulas import Formula, formula_of, formulas_of, mathml, typeset
from exptx.proofs.report.prose import inline, paragraphs, plain

t, w = sp.symbols("t omega", real=True)


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
    step = SimpleNamespace(
        kind="induction", formula=(total, "=", 1 + n * t), step=SimpleNamespace(of=induction)
    )
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
