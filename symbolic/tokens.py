"""Text typed by people, cut into tokens: the one place that knows which characters a formula may contain."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from .errors import Unreadable, WrongType
from .writing.dialects import NAME_OF

MAX_LENGTH, MAX_DIGITS, MAX_NAME = 20_000, 1_000, 40
SHOWN = 60  # how much of the text a message shows on either side of the caret

_GREEK = "".join(NAME_OF)
_TOKEN = re.compile(
    rf"""(?P<space>[ \t\r\n]+)
       | (?P<number>[0-9]*\.[0-9]+|[0-9]+)
       | (?P<name>(?:[A-Za-z][A-Za-z0-9]*|[{_GREEK}][0-9]*)(?:_[A-Za-z0-9]+)*)
       | (?P<sign>\*\*|>=|<=|!=|[-+*/^(),\[\]<>=−·⋅×÷≥≤≠])""",
    re.VERBOSE,
)
_SAME = {"**": "^", "−": "-", "·": "*", "⋅": "*", "×": "*", "÷": "/", "≥": ">=", "≤": "<=", "≠": "!="}
_INSTEAD = {
    ".": "a point stands between digits, as in 0.5",
    "_": "a name begins with a letter and ends in a letter or digit",
    "|": "write abs(…)",
    "√": "write sqrt(…)",
    "{": "write ( or [",
    "}": "write ) or ]",
    "\\": "LaTeX is not read; write pi, sqrt(2), exp(x)",
    "!": "factorials are not read",
    "%": "write a fraction",
    ";": "rows of a matrix are lists: [[1, 2], [3, 4]]",
    "∞": "only finite values have a place here",
    "'": "derivatives and text are not read",
    '"': "text is not read",
} | dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹", (f"write ^{n}" for n in range(10)), strict=True))

Kind = Literal["number", "name", "sign", "end"]


@dataclass(frozen=True)
class Token:
    """A number, a name (Greek letters spelt out), a sign, or the end; `column` counts from 0."""

    kind: Kind
    text: str
    column: int


@dataclass(frozen=True)
class Source:
    """The text being read and the name of the argument it came in."""

    text: str
    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise WrongType(f"{self.name} is of type {type(self.text).__name__}; text such as 'x + 1' works")
        if len(self.text) > MAX_LENGTH:
            raise Unreadable(
                f"{self.name} has {len(self.text)} characters; at most {MAX_LENGTH} are read, "
                "larger matrices come from a file"
            )
        if not self.text.strip():
            raise Unreadable(f"{self.name} is empty; a formula such as 'exp(-x)' works")

    def refuse(self, column: int, sentence: str) -> Unreadable:
        """The error that says what is wrong at a column, with the text and a caret below it."""
        first = max(0, column - SHOWN)
        before = "…" if first else ""
        shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in self.text)
        after = "…" if len(shown) > column + SHOWN else ""
        line = before + shown[first : column + SHOWN] + after
        caret = " " * (len(before) + column - first) + "^"
        return Unreadable(f"{self.name}, column {column + 1}: {sentence}\n  {line}\n  {caret}")


def tokens(source: Source) -> Iterator[Token]:
    """The tokens of a text, an end token last. Errors: Unreadable for a character outside the language."""
    text, place = source.text, 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise source.refuse(place, _foreign(text[place]))
        kind, word = found.lastgroup, found.group()
        if kind != "space":
            yield _token(source, kind, word, place)
        place = found.end()
    yield Token("end", "", len(text))


def decimals(text: str) -> tuple[str, ...]:
    """The numbers of a text that are written with a decimal point, each once, in order."""
    found = (token for token in tokens(Source(text, "text")) if token.kind == "number" and "." in token.text)
    return tuple(dict.fromkeys(token.text for token in found))


def _token(source: Source, kind: str | None, word: str, place: int) -> Token:
    if kind == "number":
        if len(word) > MAX_DIGITS:
            raise source.refuse(place, f"a number of {len(word)} digits; at most {MAX_DIGITS} are read")
        return Token("number", word, place)
    if kind == "name":
        if len(word) > MAX_NAME:
            raise source.refuse(place, f"a name of {len(word)} letters; at most {MAX_NAME} are read")
        return Token("name", NAME_OF.get(word[0], word[0]) + word[1:], place)
    return Token("sign", _SAME.get(word, word), place)


def _foreign(character: str) -> str:
    """Why a character has no place in a formula."""
    name = unicodedata.name(character, "a control character or unassigned")
    shown = f"{character!r} " if character.isascii() and character.isprintable() else ""
    instead = _INSTEAD.get(character, "names are Latin or single Greek letters, digits are 0 to 9")
    return f"{shown}(U+{ord(character):04X}, {name}) cannot stand here; {instead}"
