"""Mathematics in the report: typeset, readable aloud, and never wider than the page."""

import importlib.util
import re
from types import SimpleNamespace

import pytest
import sympy as sp
from exptx.proofs.report import formulas
from exptx.proofs.report.formulas import Formula, formula_of, formulas_of, mathml, typeset
from exptx.proofs.report.layout import equation, lines
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


def sizes_of(formula):
    """(class, width in ems, height in ems) of each picture."""
    shown = typeset([formula])[formula]
    found = re.findall(r'<svg[^>]*?(?: class="(\w+)")? viewBox="0 0 ([\d.]+) ([\d.]+)"', shown)
    return {
        kind: (float(w) / formulas.POINTS_PER_EM, float(h) / formulas.POINTS_PER_EM) for kind, w, h in found
    }


LONG = sp.Add(*[sp.cos(k * w * t) for k in range(1, 60)])
BANKS = sp.MatMul(
    *[sp.ImmutableMatrix(3, 3, lambda i, j, k=k: sp.cos((i + j + k) * w * t)) for k in range(1, 6)]
)
FACTORS = sp.Mul(*[sp.Add(*[sp.cos((k + j) * w * t) for k in range(3)]) for j in range(1, 9)])


def test_a_formula_that_fits_every_column_has_one_picture():
    assert list(sizes_of(TURN)) == [""]


@pytest.mark.parametrize("side", [LONG, BANKS, FACTORS])
def test_a_long_formula_is_broken_into_lines_that_fit_both_columns(side):
    sizes = sizes_of(formula_of((side, "=", side)))
    assert set(sizes) == set(formulas.ROOMS)
    for kind, room in formulas.ROOMS.items():
        assert sizes[kind][0] <= room + 0.5
    assert sizes["narrow"][1] > sizes["wide"][1] > 3


def test_sides_that_fit_on_a_line_each_are_broken_at_the_relation_only():
    widths = {"a": 5.0, "+ b": 5.0, "= c": 8.0}
    assert lines((("a",), ("+ b",)), (("= c",),), widths, 12) == ["a + b", "= c"]


def test_lines_are_filled_and_the_relation_begins_one():
    widths = {"a": 5.0, "+ b": 5.0, "+ c": 5.0, "= d": 2.0, "+ e": 5.0}
    left, right = (("a",), ("+ b",), ("+ c",)), (("= d",), ("+ e",))
    assert lines(left, right, widths, 11) == ["a + b", "+ c", "= d + e"]


def test_a_product_is_broken_between_its_factors_only_where_it_does_not_fit():
    widths = {"(a)": 6.0, "(b)": 6.0, "= c": 1.0}
    piece = ("(a)", "(b)")
    assert lines((piece,), (("= c",),), widths, 14) == ["(a) (b)", "= c"]
    assert lines((piece,), (("= c",),), widths, 8) == ["(a)", "(b)", "= c"]


def test_a_sign_at_the_head_of_a_line_stands_apart():
    assert equation(["a"]) == "$ a $"
    assert equation(["a", "(b)"]) == r"$ & a \ & quad dot.op (b) $"
    assert equation(["a", "+ b"]) == r"$ & a \ & quad + space.med b $"


def test_the_pieces_of_a_formula_are_the_whole_of_it():
    from exptx.symbolic.typeset import to_typst
    from exptx.symbolic.writing.breaks import typst_pieces

    minus = -sp.cos(t) * 2 - sp.exp(t) + t / 3
    assert [part for (part,) in typst_pieces(sp.Symbol("b") - sp.Symbol("a"))] == ["b", "- a"]
    for whole in (LONG, BANKS, FACTORS, minus, -BANKS, sp.S.Half, sp.MatMul(-2, sp.ImmutableMatrix([[t]]))):
        joined = " ".join(part for piece in typst_pieces(whole) for part in piece)
        assert re.sub(r"[ ()]", "", joined) == re.sub(r"[ ()]", "", to_typst(whole))


def test_without_typst_the_twin_is_shown(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(formulas.importlib.util, "find_spec", lambda n: None if n == "typst" else found(n))
    shown = typeset([TURN])[TURN]
    assert "<math" in shown
    assert "unseen" not in shown


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
        ("a score of -0.141", "a score of −0.141"),
        ("pages 3-7", "pages 3-7"),
        ("`-2`", '<span class="m keep">−2</span>'),
    ],
)
def test_small_markup(text, html):
    assert inline(text) == html


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("`e^(-2·γ·t)·cos(ω·t)`", "e−2γt\u2009cos(ωt)"),
        ("`q·k`", "q·k"),
        ("`(R q)·(S k)`", "(R q)·(S k)"),
        ("`2π·10000`", "2π·10000"),
        ("`exp(tSXS⁻¹)`", "exp(tSXS−1)"),
        ("`PW_q`", "PWq"),
        ("`0 ≤ angle ≤ 2π`", "0 ≤ angle ≤ 2π"),
        ("The general form: C e^{uX} B", "The general form: C euX B"),
        ("E = e^{tX} instead of e^{-tX}", "E = etX instead of e−tX"),
        ("so (k+1) f_{k+1} = 0, and a_k' is", "so (k+1) fk+1 = 0, and ak′ is"),
        ("the x_j may be negative; k! of them", "the xj may be negative; k! of them"),
        ("x = t^{k-2}/(k-2)!", "x = tk−2/(k−2)!"),
    ],
)
def test_mathematics_is_written_as_such_with_and_without_backticks(text, shown):
    written = inline(text)
    assert re.sub(r"<[^>]+>", "", written) == shown
    assert "<code>" not in written
    assert '<span class="m' in written


@pytest.mark.parametrize(
    "text",
    ["`rope_theta`", "`inv_freq`", "`head_dim`", "`proofs.json`", "`x = head_dim`", "`y = torch.exp(x)`"],
)
def test_names_of_programs_are_code(text):
    assert "<code>" in inline(text)


def test_no_text_of_the_laws_shows_source_of_formulas(proofs):
    for proof in proofs:
        steps = [text for step in proof.steps for text in (step.name, step.note)]
        trials = [x.change for x in (*proof.perturbations, *proof.siblings)]
        given = [hypothesis.text for hypothesis in proof.hypotheses]
        for text in (proof.title, proof.statement, proof.comment, *steps, *trials, *given):
            shown = re.sub(r"<code>.*?</code>|<[^>]+>", "", inline(text))
            assert not re.search(r"[\^`]|_\{|\\", shown), text


def test_paragraphs_are_split_at_blank_lines_and_plain_text_has_no_markup():
    assert paragraphs("a\nb\n\nc") == "<p>a b</p><p>c</p>"
    assert plain("*one* `t` [two](#x)") == "one t two"
