"""Owns display mathematics: sympy objects to inline SVG by typst, each with a hidden MathML twin.

All formulas of a page are compiled in one typst document, a page each; glyph outlines are shared by the
whole HTML page, colours follow the text. Without typst the MathML twin is shown instead.
"""

import functools
import importlib.util
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any

POINTS_PER_EM = 11
WIDE_EM = 36.0
"""Formulas wider than the text column are broken at their relation, and made a little smaller if need be."""
SMALLEST = 0.66
"""No formula is shrunk further than this; what is still too wide can be scrolled."""

_PREAMBLE = """#set page(width: auto, height: auto, margin: 1.5pt, fill: none)
#set text(size: 11pt)
#set text(top-edge: "bounds", bottom-edge: "bounds")
#set par(hanging-indent: 2em, leading: 0.5em)
#show math.equation: set block(spacing: 0pt)
"""
_RELATIONS = {
    "=": ("=", "="), "==": ("=", "="), "!=": ("≠", r"\neq"), "≠": ("≠", r"\neq"),
    "<=": ("≤", r"\leq"), "≤": ("≤", r"\leq"), ">=": ("≥", r"\geq"), "≥": ("≥", r"\geq"),
    "<": ("<", "<"), ">": (">", ">"), "->": ("→", r"\to"), "→": ("→", r"\to"), "∈": ("∈", r"\in"),
    "≈": ("≈", r"\approx"), ":=": (":=", ":="),
}  # fmt: skip


@dataclass(frozen=True)
class Formula:
    """One display formula: `lhs relation rhs` or `lhs` alone, in typst, and the whole of it in LaTeX."""

    lhs: str
    relation: str = ""
    rhs: str = ""
    latex: str = ""

    @property
    def on_one_line(self) -> str:
        return f"$ {self.lhs} {self.relation} {self.rhs} $"

    @property
    def broken(self) -> str:
        if not self.relation:
            return self.on_one_line
        return f"$ & {self.lhs} \\ & quad {self.relation} {self.rhs} $"

    @property
    def flowing(self) -> str:
        """Broken wherever it fits; only for formulas without matrices, which cannot be broken."""
        return f"#block(width: {WIDE_EM * POINTS_PER_EM}pt)[${self.lhs} {self.relation} {self.rhs}$]"

    @property
    def can_flow(self) -> bool:
        return not re.search(r"mat\(|cases\(|vec\(", self.lhs + self.rhs)


def formulas_of(step: Any) -> list[Formula]:
    """What is shown of a step: its formula; for an induction the recursion and then what is claimed."""
    if step.formula is None:
        return []
    claimed = formula_of(step.formula)
    return [*_recursion(step.step.of), claimed] if step.kind == "induction" else [claimed]


def _recursion(induction: Any) -> list[Formula]:
    """`S = 0 at n = 0,  S ↦ S + term` for each symbol that the induction carries along."""
    start = [f"{a} = {b}" for a, b in zip(_side(induction.index), _side(induction.start), strict=True)]
    lines = []
    for symbol, (first, following) in induction.state.items():
        name, value, rest = _side(symbol), _side(first), _side(following)
        lhs = f'{name[0]} = {value[0]} quad "at" {start[0]},'
        latex = rf"{name[1]} = {value[1]} \text{{ at }} {start[1]},\quad {name[1]} \mapsto {rest[1]}"
        lines.append(Formula(lhs, f"quad {name[0]} arrow.r.bar", rest[0], latex))
    return lines


def formula_of(parts: tuple[Any, str, Any]) -> Formula:
    """The formula of `(lhs, relation, rhs)`; a side is sympy's, a pair of decimals, words, or None."""
    lhs, rhs = _side(parts[0]), _side(parts[2])
    sign, command = _RELATIONS.get(parts[1], (f'"{parts[1]}"', rf"\text{{{parts[1]}}}"))
    if parts[2] is None:
        return Formula(lhs[0], latex=lhs[1])
    return Formula(lhs[0], sign, rhs[0], f"{lhs[1]} {command} {rhs[1]}")


def _side(part: Any) -> tuple[str, str]:
    """One side of a formula in typst and in LaTeX."""
    from ...symbolic.typeset import to_latex, to_typst

    if part is None:
        return "", ""
    if isinstance(part, str):
        return f'"{part}"', rf"\text{{{part}}}"
    if isinstance(part, tuple):
        return (f"[{', '.join(map(decimal, part))}]",) * 2
    spelled = _letters_spelled_out(part)
    return to_typst(spelled), to_latex(spelled)


def decimal(number: str) -> str:
    """A rational as a decimal where it has a finite one, else as it is."""
    value = Fraction(number)
    places = next((n for n in range(60) if 10**n % value.denominator == 0), None)
    if places is None:
        return number
    digits = f"{abs(value.numerator) * 10**places // value.denominator:0{places + 1}d}"
    sign = "-" if value < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def _letters_spelled_out(part: Any) -> Any:
    """Letters of the free algebra as mathematics writes them: `G0inv` becomes G₀⁻¹."""
    letters = [x for x in getattr(part, "free_symbols", ()) if not x.is_commutative]
    return part.subs({x: type(x)(_spelled(x.name), commutative=False) for x in letters}) if letters else part


def _spelled(name: str) -> str:
    base, index, inverse = re.findall(r"^(.)(.*?)(inv)?$", name)[0]
    return base + (f"_{index}" if index else "") + ("__−1" if inverse else "")


@dataclass(frozen=True)
class Sheet:
    """All formulas of one page: HTML by formula, the shared glyphs, and what typst refused."""

    html: dict[Formula, str]
    glyphs: str
    failures: tuple[tuple[Formula, str], ...]

    def __getitem__(self, formula: Formula) -> str:
        return self.html[formula]


def typeset(formulas: Iterable[Formula]) -> Sheet:
    """Every formula as HTML: SVG with a hidden MathML twin, or visible MathML where there is no SVG."""
    wanted = list(dict.fromkeys(formulas))
    if importlib.util.find_spec("typst") is None:
        return Sheet({formula: _fallback(formula) for formula in wanted}, "", ())
    pictures, failures = _compile_all([formula.on_one_line for formula in wanted])
    too_wide = [i for i, svg in pictures.items() if _width(svg) > WIDE_EM and wanted[i].relation]
    pictures |= _again([(i, wanted[i].broken) for i in too_wide])
    still = [i for i in too_wide if _width(pictures[i]) > WIDE_EM and wanted[i].can_flow]
    pictures |= _again([(i, wanted[i].flowing) for i in still])
    glyphs: dict[str, str] = {}
    html = {
        formula: _formula_html(formula, pictures[i], glyphs) if i in pictures else _fallback(formula)
        for i, formula in enumerate(wanted)
    }
    return Sheet(html, _glyph_sheet(glyphs), tuple((wanted[i], why) for i, why in failures.items()))


def _again(sources: list[tuple[int, str]]) -> dict[int, str]:
    """Other pictures for formulas that did not fit, by index."""
    pictures, _ = _compile_all([source for _, source in sources])
    return {sources[place][0]: svg for place, svg in pictures.items()}


def _compile_all(sources: list[str]) -> tuple[dict[int, str], dict[int, str]]:
    """SVG by index, and the message of typst by index for sources it refuses."""
    import typst

    try:
        return dict(enumerate(_compile(tuple(sources)))), {}
    except typst.TypstError:
        pass
    pictures, failures = {}, {}
    for index, source in enumerate(sources):
        try:
            (pictures[index],) = _compile((source,))
        except typst.TypstError as error:
            failures[index] = str(error)
    return pictures, failures


@functools.cache
def _compile(sources: tuple[str, ...]) -> tuple[str, ...]:
    import typst

    if not sources:
        return ()
    document = _PREAMBLE + "\n#pagebreak()\n".join(sources)
    pages = typst.compile(document.encode(), format="svg")
    return tuple(page.decode() for page in (pages if isinstance(pages, list) else [pages]))


_SYMBOL = re.compile(r'<symbol id="(\w+)"[^>]*>(.*?)</symbol>', re.DOTALL)
_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')


def _size(svg: str) -> tuple[str, str]:
    """Width and height of the picture, in points."""
    return _SIZE.findall(svg)[0]


def _width(svg: str) -> float:
    return float(_size(svg)[0]) / POINTS_PER_EM


def _formula_html(formula: Formula, svg: str, glyphs: dict[str, str]) -> str:
    return f'<div class="formula">{_themed(svg, glyphs)}<span class="unseen">{mathml(formula)}</span></div>'


def _themed(svg: str, glyphs: dict[str, str]) -> str:
    """The picture with its glyph outlines moved to the page's sheet and its colours left to the text."""
    names = {name: glyphs.setdefault(outline, f"g{len(glyphs)}") for name, outline in _SYMBOL.findall(svg)}
    body = re.sub(r"<defs.*?</defs>", "", svg[svg.index(">") + 1 : svg.rindex("</svg>")], flags=re.DOTALL)
    body = re.sub(r'xlink:href="#(\w+)"', lambda m: f'href="#{names[m[1]]}"', body)
    body = re.sub(r' fill="#000000"| fill-rule="nonzero"| [xy]="0"', "", body)
    body = body.replace('stroke="#000000"', 'stroke="currentColor"')
    body = re.sub(r'(?<=[ "(-])(\d+\.\d{3})\d+', r"\1", body)
    width, height = (float(number) for number in _size(svg))
    scale = max(SMALLEST, min(1.0, WIDE_EM * POINTS_PER_EM / width)) / POINTS_PER_EM
    return (
        f'<svg aria-hidden="true" focusable="false" viewBox="0 0 {width:.2f} {height:.2f}" '
        f'style="width:{width * scale:.3f}em;height:{height * scale:.3f}em">{body}</svg>'
    )


def _glyph_sheet(glyphs: dict[str, str]) -> str:
    symbols = "".join(f'<symbol id="{n}" overflow="visible">{o}</symbol>' for o, n in glyphs.items())
    return f'<svg class="glyphs" aria-hidden="true" width="0" height="0"><defs>{symbols}</defs></svg>'


def mathml(formula: Formula) -> str:
    """The formula for screen readers; its LaTeX where latex2mathml is missing."""
    if importlib.util.find_spec("latex2mathml") is None:
        return f'<span role="math">{escape(formula.latex)}</span>'
    from latex2mathml.converter import convert

    return convert(formula.latex, display="block").replace("<math ", '<math role="math" ', 1)


def _fallback(formula: Formula) -> str:
    return f'<div class="formula">{mathml(formula)}</div>'
