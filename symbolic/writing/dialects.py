"""How each target writes the parts of a formula: Typst, LaTeX, and one line of Unicode text.

`typeset` walks the expression and asks a dialect for every construct; a dialect knows nothing of sympy.
"""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

ADD, OPERATOR, MUL, POW, ATOM = range(5)  # how tightly a piece of text binds; OPERATOR: d/dt and the like

_LETTERS = "αβγδεζηθικλμνξοπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ"


def _greek_name(letter: str) -> str:
    """gamma for γ, Gamma for Γ (Unicode spells lambda without its b)."""
    name = unicodedata.name(letter).split()[-1].lower().replace("lamda", "lambda")
    return name.capitalize() if letter.isupper() else name


NAME_OF = {letter: _greek_name(letter) for letter in _LETTERS}
GREEK = {name: letter for letter, name in NAME_OF.items()} | {"lamda": "λ"}
_UPRIGHT = frozenset({"sin", "cos", "tan", "sinh", "cosh", "tanh", "ln", "exp", "det", "max", "min"})
_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


@dataclass(frozen=True)
class Piece:
    """A stretch of output and how tightly it binds."""

    text: str
    level: int = ATOM


class Dialect(ABC):
    """The constructs every target can write. Arguments are finished text unless they are Pieces."""

    times: str  # between factors
    dot: str  # between factors when the second begins with a digit
    words: ClassVar[dict[str, str]]  # relation and operator signs, constants, dots

    def group(self, piece: Piece, level: int) -> str:
        """The text, in parentheses if it binds less tightly than `level`."""
        return piece.text if piece.level >= level else self.parentheses(piece.text)

    def parentheses(self, text: str) -> str:
        return f"({text})"

    def name(self, base: str, above: list[str], below: list[str]) -> str:
        """A symbol with its superscripts and subscripts."""
        stem = base.rstrip("'")
        text = self.letter(stem) + base[len(stem) :]
        if below:
            text = self.subscript(text, ",".join(map(self.letter, below)))
        if above:
            text = self.power(text, ",".join(map(self.letter, above)))
        return text

    def word(self, key: str) -> str:
        """A sign, constant or set of dots; signs that are the same everywhere need no entry."""
        return self.words.get(key, key)

    @abstractmethod
    def long_number(self, first: str, last: str, digits: int) -> str: ...
    @abstractmethod
    def letter(self, name: str) -> str: ...
    @abstractmethod
    def subscript(self, base: str, index: str) -> str: ...
    @abstractmethod
    def power(self, base: str, exponent: str) -> str: ...
    @abstractmethod
    def fraction(self, above: Piece, below: Piece) -> Piece: ...

    slash: str

    def slashed(self, above: Piece, below: Piece) -> Piece:
        """A fraction on one line, as in exponents."""
        return Piece(self.group(above, MUL) + self.slash + self.group(below, POW), MUL)

    @abstractmethod
    def root(self, inside: Piece, degree: int) -> str: ...
    @abstractmethod
    def function(self, name: str) -> str: ...
    @abstractmethod
    def absolute(self, text: str) -> str: ...
    @abstractmethod
    def matrix(self, rows: list[list[str]]) -> str: ...
    @abstractmethod
    def derivative(self, order: int, variables: list[tuple[str, int]], body: Piece) -> Piece: ...
    @abstractmethod
    def at(self, body: Piece, pairs: list[str]) -> Piece: ...
    @abstractmethod
    def big(self, sign: str, lower: str, upper: str, body: Piece) -> Piece: ...
    @abstractmethod
    def cases(self, rows: list[tuple[str, str]]) -> str: ...


class Typst(Dialect):
    """Typst math, without the dollar signs."""

    times, dot, slash = " ", " dot.op ", "\\/"
    words: ClassVar[dict[str, str]] = {
        "oo": "infinity",
        "to": "->",
        "transpose": "top",
        "kron": "times.o",
        "down": "dots.v",
        "across": "dots.c",
        "diagonal": "dots.down",
        "otherwise": '"otherwise"',
    }

    def long_number(self, first: str, last: str, digits: int) -> str:
        return f'{first} dots.h {last} "({digits} digits)"'

    def letter(self, name: str) -> str:
        name = NAME_OF.get(name, "lambda" if name == "lamda" else name)
        if name in GREEK or name.isdigit() or (len(name) == 1 and name.isalpha()):
            return name
        return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'

    def subscript(self, base: str, index: str) -> str:
        return f"{base}_{index}" if index.isalnum() else f"{base}_({index})"

    def power(self, base: str, exponent: str) -> str:
        return f"{base}^{exponent}" if exponent.isalnum() else f"{base}^({exponent})"

    def fraction(self, above: Piece, below: Piece) -> Piece:
        return Piece(f"frac({above.text}, {below.text})", MUL)

    def root(self, inside: Piece, degree: int) -> str:
        return f"sqrt({inside.text})" if degree == 2 else f"root({degree}, {inside.text})"

    def function(self, name: str) -> str:
        return name if name in _UPRIGHT else f'op("{name}")'

    def absolute(self, text: str) -> str:
        return f"abs({text})"

    def matrix(self, rows: list[list[str]]) -> str:
        return 'mat(delim: "[", ' + "; ".join(", ".join(row) for row in rows) + ")"

    def derivative(self, order: int, variables: list[tuple[str, int]], body: Piece) -> Piece:
        above = "dif" if order == 1 else f"dif^{order}"
        below = " ".join(f"dif {x}" if k == 1 else f"dif {self.power(x, str(k))}" for x, k in variables)
        return Piece(f"frac({above}, {below}) {self.group(body, POW)}", OPERATOR)

    def at(self, body: Piece, pairs: list[str]) -> Piece:
        return Piece(f"lr({body.text} |)_({', '.join(pairs)})", POW)

    def big(self, sign: str, lower: str, upper: str, body: Piece) -> Piece:
        name = {"sum": "sum", "product": "product", "limit": "lim"}[sign]
        above = f"^({upper})" if upper else ""
        return Piece(f"{name}_({lower}){above} {self.group(body, MUL)}", ADD)

    def cases(self, rows: list[tuple[str, str]]) -> str:
        return "cases(" + ", ".join(f"{value} quad & {when}" for value, when in rows) + ")"


class Latex(Dialect):
    """LaTeX math, without delimiters; stays within what MathJax and KaTeX read."""

    times, dot, slash = " ", r" \cdot ", "/"
    words: ClassVar[dict[str, str]] = {
        "!=": r"\ne",
        "<=": r"\le",
        ">=": r"\ge",
        "pi": r"\pi",
        "oo": r"\infty",
        "to": r"\to",
        "transpose": r"\top",
        "kron": r"\otimes",
        "and": r"\wedge",
        "or": r"\vee",
        "not": r"\neg",
        "in": r"\in",
        "down": r"\vdots",
        "across": r"\cdots",
        "diagonal": r"\ddots",
        "otherwise": r"\text{otherwise}",
    }

    def long_number(self, first: str, last: str, digits: int) -> str:
        return rf"{first}\ldots {last}\text{{ ({digits} digits)}}"

    def parentheses(self, text: str) -> str:
        return rf"\left({text}\right)"

    def letter(self, name: str) -> str:
        name = NAME_OF.get(name, "lambda" if name == "lamda" else name)
        if name == "omicron":
            return "o"
        if name in GREEK:
            return "\\" + name
        if name.isdigit() or len(name) == 1:
            return name
        return r"\mathrm{" + name.replace("_", r"\_") + "}"

    def subscript(self, base: str, index: str) -> str:
        return f"{base}_{{{index}}}"

    def power(self, base: str, exponent: str) -> str:
        return f"{base}^{{{exponent}}}"

    def fraction(self, above: Piece, below: Piece) -> Piece:
        return Piece(rf"\frac{{{above.text}}}{{{below.text}}}", MUL)

    def root(self, inside: Piece, degree: int) -> str:
        return rf"\sqrt{{{inside.text}}}" if degree == 2 else rf"\sqrt[{degree}]{{{inside.text}}}"

    def function(self, name: str) -> str:
        return f"\\{name}" if name in _UPRIGHT else rf"\operatorname{{{name}}}"

    def absolute(self, text: str) -> str:
        return rf"\left|{text}\right|"

    def matrix(self, rows: list[list[str]]) -> str:
        return r"\begin{bmatrix}" + r" \\ ".join(" & ".join(row) for row in rows) + r"\end{bmatrix}"

    def derivative(self, order: int, variables: list[tuple[str, int]], body: Piece) -> Piece:
        above = "d" if order == 1 else f"d^{{{order}}}"
        below = r"\,".join(f"d{x}" if k == 1 else f"d{self.power(x, str(k))}" for x, k in variables)
        return Piece(rf"\frac{{{above}}}{{{below}}} {self.group(body, POW)}", OPERATOR)

    def at(self, body: Piece, pairs: list[str]) -> Piece:
        return Piece(rf"\left. {body.text} \right|_{{{', '.join(pairs)}}}", POW)

    def big(self, sign: str, lower: str, upper: str, body: Piece) -> Piece:
        name = {"sum": r"\sum", "product": r"\prod", "limit": r"\lim"}[sign]
        above = f"^{{{upper}}}" if upper else ""
        return Piece(f"{name}_{{{lower}}}{above} {self.group(body, MUL)}", ADD)

    def cases(self, rows: list[tuple[str, str]]) -> str:
        return r"\begin{cases}" + r" \\ ".join(f"{v} & {w}" for v, w in rows) + r"\end{cases}"


class Text(Dialect):
    """One line of Unicode text."""

    times, dot, slash = "·", "·", "/"
    words: ClassVar[dict[str, str]] = {
        "!=": "≠",
        "<=": "≤",
        ">=": "≥",
        "pi": "π",
        "oo": "∞",
        "to": "→",
        "transpose": "ᵀ",
        "kron": "⊗",
        "and": "∧",
        "or": "∨",
        "not": "¬",
        "in": "∈",
        "down": "⋮",
        "across": "⋯",
        "diagonal": "⋱",
        "otherwise": "otherwise",
    }

    def long_number(self, first: str, last: str, digits: int) -> str:
        return f"{first}…{last} ({digits} digits)"

    def letter(self, name: str) -> str:
        return GREEK.get(name, name)

    def subscript(self, base: str, index: str) -> str:
        if index.isdecimal():
            return base + index.translate(_SUBSCRIPT)
        return f"{base}_{index}" if index.isalnum() else f"{base}[{index}]"

    def power(self, base: str, exponent: str) -> str:
        if exponent.lstrip("-").isdecimal():
            return base + exponent.translate(_SUPERSCRIPT)
        if exponent == self.word("transpose"):
            return base + exponent
        return f"{base}^{exponent}" if exponent.isalnum() else f"{base}^({exponent})"

    def fraction(self, above: Piece, below: Piece) -> Piece:
        return self.slashed(above, below)

    def root(self, inside: Piece, degree: int) -> str:
        sign = {2: "√", 3: "∛", 4: "∜"}.get(degree)
        return f"{sign}{self.group(inside, ATOM)}" if sign else f"{self.group(inside, ATOM)}^(1/{degree})"

    def function(self, name: str) -> str:
        return name

    def absolute(self, text: str) -> str:
        return f"|{text}|"

    def matrix(self, rows: list[list[str]]) -> str:
        return "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]"

    def derivative(self, order: int, variables: list[tuple[str, int]], body: Piece) -> Piece:
        above = "d" if order == 1 else self.power("d", str(order))
        below = " ".join(f"d{x}" if k == 1 else f"d{self.power(x, str(k))}" for x, k in variables)
        return Piece(f"{above}/{below} {self.group(body, POW)}", OPERATOR)

    def at(self, body: Piece, pairs: list[str]) -> Piece:
        return Piece(f"{self.group(body, POW)}|{', '.join(pairs).replace(' = ', '=')}", MUL)

    def big(self, sign: str, lower: str, upper: str, body: Piece) -> Piece:
        name = {"sum": "∑", "product": "∏", "limit": "lim"}[sign]
        reach = f"{lower}..{upper}" if upper else lower
        return Piece(f"{name}[{reach}] {self.group(body, MUL)}", ADD)

    def cases(self, rows: list[tuple[str, str]]) -> str:
        return "{" + "; ".join(f"{value} if {when}" for value, when in rows) + "}"
