"""Owns display mathematics: sympy objects to inline SVG by typst, each with a hidden MathML twin.

All formulas of a page are compiled in one typst document, a page each; glyph outlines are shared by the
whole HTML page, colours follow the text. Without typst the MathML twin is shown instead.
"""

import functools
import importlib.util
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import sympy as sp

from ..step import decimal
from .layout import Pieces, equation, lines

POINTS_PER_EM = 11
ROOMS = {"wide": 32.0, "narrow": 24.5}
"""The widths of text columns that formulas are broken for, in ems: on a desk, and on a telephone."""

CARRIED = 9
"""So many lines are shown of what an induction carries along."""

_PREAMBLE = """#set page(width: auto, height: auto, margin: 1.5pt, fill: none)
#set text(size: 11pt)
#set text(top-edge: "bounds", bottom-edge: "bounds")
#set par(leading: 0.7em)
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
    """One display formula: `lhs relation rhs` or `lhs` alone, in typst, and the whole of it in LaTeX.

    left, right: the same in pieces at which lines may be broken; `right` begins with the relation.
    """

    lhs: str
    relation: str = ""
    rhs: str = ""
    latex: str = ""
    left: Pieces = ()
    right: Pieces = ()

    @property
    def on_one_line(self) -> str:
        return f"$ {self.lhs} {self.relation} {self.rhs} $"

    @property
    def parts(self) -> list[str]:
        """Everything that is never broken, in order."""
        return [part for piece in (*self.left, *self.right) for part in piece]


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
        right = _led(f"{name[0]} arrow.r.bar", _pieces(following))
        lines.append(Formula(lhs, f"quad {name[0]} arrow.r.bar", rest[0], latex, ((lhs,),), right))
    return lines if len(lines) <= CARRIED else [*lines[: CARRIED - 1], _more(len(lines) - CARRIED + 1)]


def _more(count: int) -> Formula:
    words = f"and {count} more of this kind, which the certificate has"
    return Formula(f'"{words}"', latex=rf"\text{{{words}}}", left=((f'"{words}"',),))


def formula_of(parts: tuple[Any, str, Any]) -> Formula:
    """The formula of `(lhs, relation, rhs)`; a side is sympy's, a pair of decimals, words, or None."""
    lhs, rhs = _side(parts[0]), _side(parts[2])
    sign, command = _RELATIONS.get(parts[1], (f'"{parts[1]}"', rf"\text{{{parts[1]}}}"))
    if parts[2] is None:
        return Formula(lhs[0], latex=lhs[1], left=_pieces(parts[0]))
    latex = f"{lhs[1]} {command} {rhs[1]}"
    return Formula(lhs[0], sign, rhs[0], latex, _pieces(parts[0]), _led(sign, _pieces(parts[2])))


def _side(part: Any) -> tuple[str, str]:
    """One side of a formula in typst and in LaTeX."""
    from ...symbolic.typeset import to_latex, to_typst

    if part is None:
        return "", ""
    if isinstance(part, str):
        return f'"{part}"', rf"\text{{{part}}}"
    if isinstance(part, tuple):
        return (f"[{', '.join(map(decimal, part))}]",) * 2
    shown = _as_shown(part)
    return to_typst(shown), to_latex(shown)


def _pieces(part: Any) -> Pieces:
    from ...symbolic.writing.breaks import typst_pieces

    if part is None or isinstance(part, (str, tuple)):
        return ((_side(part)[0],),)
    return tuple(typst_pieces(_as_shown(part)))


def _led(sign: str, pieces: Pieces) -> Pieces:
    """The pieces with a sign in front of the first."""
    (head, *tail), *rest = pieces
    return ((f"{sign} {head}", *tail), *rest)


def _as_shown(part: Any) -> Any:
    """A sum that fills a 1 × 1 matrix without its brackets, letters of a free algebra as usual."""
    if isinstance(part, sp.MatrixBase) and part.shape == (1, 1) and part[0, 0].is_Add:
        part = part[0, 0]
    return _letters_spelled_out(sp.sympify(part, strict=True))


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
    drawn = {i: dict.fromkeys(ROOMS, svg) for i, svg in pictures.items()}
    for room, most in ROOMS.items():
        wide = {i: wanted[i] for i, svg in pictures.items() if _width(svg) > most and wanted[i].parts}
        for i, svg in _broken(wide, most).items():
            drawn[i][room] = svg
    glyphs: dict[str, str] = {}
    html = {
        formula: _formula_html(formula, drawn[i], glyphs) if i in drawn else _fallback(formula)
        for i, formula in enumerate(wanted)
    }
    return Sheet(html, _glyph_sheet(glyphs), tuple((wanted[i], why) for i, why in failures.items()))


def _broken(formulas: Mapping[int, Formula], room: float) -> dict[int, str]:
    """Pictures of formulas broken into lines that fit, by index."""
    widths = _widths(part for formula in formulas.values() for part in formula.parts)
    sources = [equation(lines(each.left, each.right, widths, room)) for each in formulas.values()]
    pictures, _ = _compile_all(sources)
    return {i: pictures[place] for place, i in enumerate(formulas) if place in pictures}


def _widths(parts: Iterable[str]) -> dict[str, float]:
    """How wide each part is after another one, in ems."""
    distinct = list(dict.fromkeys(parts))
    pictures, _ = _compile_all([f"$ x {part} $" for part in distinct])
    alone = _width(_compile(("$ x $",))[0])
    return {part: _width(pictures[i]) - alone for i, part in enumerate(distinct)}


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


def _formula_html(formula: Formula, drawn: Mapping[str, str], glyphs: dict[str, str]) -> str:
    """The pictures for both widths of column, or the one that serves both, and the twin to be read aloud."""
    one = len(set(drawn.values())) == 1
    shown = {"": next(iter(drawn.values()))} if one else drawn
    pictures = "".join(_themed(svg, glyphs, room) for room, svg in shown.items())
    return f'<div class="formula">{pictures}<span class="unseen">{mathml(formula)}</span></div>'


def _themed(svg: str, glyphs: dict[str, str], room: str) -> str:
    """The picture with its glyph outlines moved to the page's sheet and its colours left to the text."""
    names = {name: glyphs.setdefault(outline, f"g{len(glyphs)}") for name, outline in _SYMBOL.findall(svg)}
    body = re.sub(r"<defs.*?</defs>", "", svg[svg.index(">") + 1 : svg.rindex("</svg>")], flags=re.DOTALL)
    body = re.sub(r'xlink:href="#(\w+)"', lambda m: f'href="#{names[m[1]]}"', body)
    body = re.sub(r' fill="#000000"| fill-rule="nonzero"| [xy]="0"', "", body)
    body = body.replace('stroke="#000000"', 'stroke="currentColor"')
    body = _UPRIGHT.sub(_placed, body)
    body = re.sub(r'(?<=[ "(-])(\d+\.\d{2})\d+', r"\1", body)
    width, height = (float(number) for number in _size(svg))
    kind = f' class="{room}"' if room else ""
    return (
        f'<svg aria-hidden="true" focusable="false"{kind} viewBox="0 0 {width:.2f} {height:.2f}" '
        f'style="--w:{width / POINTS_PER_EM:.3f}em">{body}</svg>'
    )


_UPRIGHT = re.compile(r'<g transform="matrix\(1 0 0 -1 ([-\d.]+) ([-\d.]+)\)">((?:<use [^>]*/>)+)</g>')
_USE = re.compile(r'href="#(\w+)"(?: x="([-\d.]+)")?(?: y="([-\d.]+)")?')


def _placed(group: re.Match[str]) -> str:
    """Glyphs of an upside-down group, each put where it stands; their outlines are upright in the sheet."""
    x, y = float(group[1]), float(group[2])
    return "".join(
        f'<use href="#{name}" x="{x + float(right or 0):.2f}" y="{y - float(up or 0):.2f}"/>'
        for name, right, up in _USE.findall(group[3])
    )


def _glyph_sheet(glyphs: dict[str, str]) -> str:
    symbols = "".join(
        f'<symbol id="{name}" overflow="visible"><g transform="scale(1 -1)">{outline}</g></symbol>'
        for outline, name in glyphs.items()
    )
    return f'<svg class="glyphs" aria-hidden="true" width="0" height="0"><defs>{symbols}</defs></svg>'


def mathml(formula: Formula) -> str:
    """The formula for screen readers; its LaTeX where latex2mathml is missing."""
    if importlib.util.find_spec("latex2mathml") is None:
        return f'<span role="math">{escape(formula.latex)}</span>'
    from latex2mathml.converter import convert

    return _terse(convert(formula.latex, display="block")).replace("<math ", '<math role="math" ', 1)


def _terse(markup: str) -> str:
    """The same MathML in fewer letters: no defaults of HTML, no row around a single leaf, letters as such."""
    markup = re.sub(r' (?:xmlns="[^"]*"|stretchy="true"|fence="true"|form="(?:pre|post)fix")', "", markup)
    markup = re.sub(r"&#x([0-9A-F]+);", lambda code: escape(chr(int(code[1], 16))), markup)
    return re.sub(r"<mrow>(<(m[ino])[^>]*>[^<]*</\2>)</mrow>", r"\1", markup)


def _fallback(formula: Formula) -> str:
    return f'<div class="formula">{mathml(formula)}</div>'
