"""The free algebra over Q: polynomials in letters that do not commute, the ground of `words` claims."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational as AnyRational

from .admit import write_exactly
from .errors import BadInput, WrongType

Word = tuple[str, ...]
_LETTER = re.compile(r"[^\W\d]\w*'*")


@dataclass(frozen=True)
class WordPoly:
    """A polynomial sum c_w w; `terms` holds (word, c_w), c_w != 0, sorted by length and then by letters.

    Made by `letters("A X B")` and +, -, *, integer powers >= 0, and exact rational numbers.
    """

    terms: tuple[tuple[Word, Fraction], ...] = ()

    @classmethod
    def of(cls, terms: Iterable[tuple[Word, Fraction]]) -> WordPoly:
        """Collect like words and drop the zeros."""
        total: dict[Word, Fraction] = {}
        for word, c in terms:
            total[word] = total.get(word, Fraction(0)) + c
        kept = [(word, c) for word, c in total.items() if c]
        return cls(tuple(sorted(kept, key=lambda term: (len(term[0]), term[0]))))

    @property
    def letters(self) -> frozenset[str]:
        """The names of all letters that occur."""
        return frozenset(name for word, _ in self.terms for name in word)

    def word(self) -> Word | None:
        """The word w if the polynomial is 1·w, else None."""
        return self.terms[0][0] if len(self.terms) == 1 and self.terms[0][1] == 1 else None

    def derived(self, derivation: Mapping[str, WordPoly]) -> WordPoly:
        """D(w1 w2 ...) = D(w1) w2 ... + w1 D(w2) ... + ...; letters without an entry are constants."""
        total = WordPoly()
        for word, c in self.terms:
            for i, name in enumerate(word):
                if name in derivation:
                    before, after = _monomial(word[:i], c), _monomial(word[i + 1 :])
                    total = total + before * derivation[name] * after
        return total

    def tree(self) -> list:
        """[["2/3", ["A", "X"]], ...]"""
        return [[str(c), list(word)] for word, c in self.terms]

    def __add__(self, other: object) -> WordPoly:
        return WordPoly.of((*self.terms, *word_poly(other).terms))

    def __mul__(self, other: object) -> WordPoly:
        right = word_poly(other).terms
        return WordPoly.of((v + w, c * d) for v, c in self.terms for w, d in right)

    def __neg__(self) -> WordPoly:
        return WordPoly(tuple((word, -c) for word, c in self.terms))

    def __pow__(self, power: int) -> WordPoly:
        if isinstance(power, bool) or not isinstance(power, int) or power < 0:
            raise BadInput(
                f"power is {power!r}; an integer >= 0 works (an inverse is a letter with its own rules)"
            )
        result = _monomial(())
        for _ in range(power):
            result = result * self
        return result

    def __sub__(self, other: object) -> WordPoly:
        return self + (-word_poly(other))

    def __radd__(self, other: object) -> WordPoly:
        return word_poly(other) + self

    def __rsub__(self, other: object) -> WordPoly:
        return word_poly(other) - self

    def __rmul__(self, other: object) -> WordPoly:
        return word_poly(other) * self

    def __str__(self) -> str:
        return " + ".join(_text(word, c) for word, c in self.terms).replace("+ -", "- ") or "0"


@dataclass(frozen=True)
class Derived:
    """The derivative of `poly`, taken by the derivation of the claim it stands in."""

    poly: WordPoly

    def tree(self) -> list:
        """["D", poly]"""
        return ["D", self.poly.tree()]

    def __str__(self) -> str:
        return f"D({self.poly})"


def letters(names: str) -> tuple[WordPoly, ...]:
    """`A, X = letters("A X")`: one polynomial per name."""
    if not isinstance(names, str):
        raise WrongType(f"names is a {type(names).__name__}; a string such as 'A X B' works")
    split = names.split()
    for name in split:
        if not _LETTER.fullmatch(name):
            raise BadInput(f"names contains {name!r}; letters such as A, M0 or E' work, separated by blanks")
    if not split or len(set(split)) < len(split):
        raise BadInput(f"names is {names!r}; different letters separated by blanks work, e.g. 'A X B'")
    return tuple(_monomial((name,)) for name in split)


def word_poly(value: object) -> WordPoly:
    """`value` as a polynomial: a WordPoly, or an exact rational number times the empty word."""
    if isinstance(value, WordPoly):
        return value
    return _monomial((), exact_fraction(value, "a coefficient"))


def exact_fraction(value: object, name: str) -> Fraction:
    """An int, Fraction or sympy Rational as a Fraction; floats and truth values are refused."""
    if isinstance(value, float):
        raise WrongType(f"{name} is {value}, which is a float; {write_exactly(value)}")
    if isinstance(value, bool) or not isinstance(value, AnyRational):
        raise WrongType(f"{name} is {value!r}; an integer, a Fraction or a sympy Rational works")
    return Fraction(int(value.numerator), int(value.denominator))


def _monomial(word: Word, c: Fraction | int = 1) -> WordPoly:
    return WordPoly.of([(word, Fraction(c))])


def _text(word: Word, c: Fraction) -> str:
    if not word:
        return str(c)
    sign = "" if c == 1 else "-" if c == -1 else f"{c} "
    return sign + " ".join(word)
