"""Identities between matrix symbols: normal forms in the free algebra modulo relations (`words` steps)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import cast

import sympy as sp

from .decide import Status, Verdict
from .errors import BadInput, ExptxError, WrongType
from .free import Derived, Word, WordPoly, letters, word_poly
from .models import Model, Rule, broken_rule, exact_model, model_tree, search, separation

_STEPS = 20_000
_LENGTH = 200


class Endless(ExptxError):
    """Rewriting does not stop: the rules run in a circle or let a word grow without end."""


def inverses(a: WordPoly, b: WordPoly) -> tuple[Rule, Rule]:
    """Rules a b -> 1 and b a -> 1."""
    one = word_poly(1)
    return (a * b, one), (b * a, one)


def commuting(a: WordPoly, b: WordPoly) -> tuple[Rule]:
    """Rule b a -> a b: the first-named letter moves to the left."""
    return ((b * a, a * b),)


@dataclass(frozen=True)
class Words:
    """The claim `lhs = rhs` for all square matrices (real, one size) that satisfy the rules.

    lhs, rhs    WordPoly, or Derived(poly) for the derivative by `derivation` (Leibniz, no entry: constant)
    rules       pairs (word, polynomial): the word may be replaced by the polynomial (hypothesis)
    central     letters that commute with every letter (scalars)
    derivation  {letter: its derivative}
    model       {letter: square matrix of rationals} that satisfies the rules and separates the sides;
                without it `check` searches small integer 2 x 2 matrices when the normal forms differ

    Proved when both sides have the same normal form; refuted by a model only; otherwise undecided.
    """

    lhs: WordPoly | Derived
    rhs: WordPoly | Derived
    rules: Sequence[Rule] = ()
    central: Sequence[WordPoly] = ()
    derivation: Mapping[WordPoly, WordPoly] | Sequence[tuple[WordPoly, WordPoly]] = ()
    model: Mapping[WordPoly, object] | None = None

    def __post_init__(self) -> None:
        for side in ("lhs", "rhs"):
            value = getattr(self, side)
            object.__setattr__(self, side, value if isinstance(value, Derived) else word_poly(value))
        pairs = self.derivation.items() if isinstance(self.derivation, Mapping) else self.derivation
        object.__setattr__(self, "rules", tuple(_rule(rule) for rule in self.rules))
        object.__setattr__(self, "central", tuple(self.central))
        object.__setattr__(self, "derivation", tuple((key, word_poly(value)) for key, value in pairs))
        for name in (*self.central, *(key for key, _ in self._rates)):
            _letter(name, "a central letter or a key of derivation")
        for key, rate in self._rates:
            if key.letters <= self._central and not rate.letters <= self._central:
                raise BadInput(
                    f"the derivative of the central letter {key} is {rate}; only central letters work in it"
                )
        if self.model is not None:
            given = {
                key if isinstance(key, str) else _letter(key, "a key of model"): value
                for key, value in self.model.items()
            }
            object.__setattr__(self, "model", exact_model(given, self.letters))

    @property
    def letters(self) -> tuple[str, ...]:
        """Every letter of the claim, sorted."""
        polys = [_inner(self.lhs), _inner(self.rhs), *self.central]
        polys += [poly for pair in (*self.rules, *self._rates) for poly in pair]
        return tuple(sorted({name for poly in polys for name in poly.letters}))

    def tree(self) -> dict:
        """The claim as JSON: letters, central, rules, derivation, lhs, rhs."""
        return {
            "kind": "words",
            "letters": list(self.letters),
            "central": sorted(self._central),
            "rules": [[list(left.word() or ()), right.tree()] for left, right in self.rules],
            "derivation": {_letter(key, "letter"): poly.tree() for key, poly in self._rates},
            "lhs": self.lhs.tree(),
            "rhs": self.rhs.tree(),
        }

    def formula(self) -> tuple[sp.Expr, str, sp.Expr]:
        """(lhs, "=", rhs) with non-commutative symbols; a derivative is D(word)."""
        return self._written(self.lhs), "=", self._written(self.rhs)

    def _written(self, side: WordPoly | Derived) -> sp.Expr:
        if isinstance(side, Derived):
            return sp.Function("D", commutative=False)(self._written(side.poly))
        symbols = {x: sp.Symbol(x, commutative=x in self._central) for x in self.letters}
        terms = (
            sp.Mul(sp.Rational(c.numerator, c.denominator), *(symbols[x] for x in word))
            for word, c in side.terms
        )
        return sp.Add(*terms)

    def outcome(self, verdict: Verdict) -> dict:
        """What a checker needs besides the claim."""
        return dict(verdict.certificate)

    def check(self) -> Verdict:
        """Compare normal forms; look for a separating model when they differ."""
        sides = self._expanded(self.lhs), self._expanded(self.rhs)
        try:
            left, right = map(self.normal_form, sides)
            if clash := self._clash():
                return Verdict(Status.UNDECIDED, reason=f"the rules contradict each other: {clash}")
            stuck = self._underived_rule()
            if left == right and not stuck:
                return Verdict(Status.PROVED, reason=f"both sides have the normal form {left}")
            same = "agree" if left == right else "differ"
            why = f"the normal forms {left} and {right} {same}"
        except Endless as error:
            return Verdict(Status.UNDECIDED, reason=str(error))
        if stuck:
            return Verdict(Status.UNDECIDED, reason=f"{why}; the rules lack the derivative of {stuck}")
        return self._refutation(sides, why)

    def normal_form(self, poly: WordPoly) -> WordPoly:
        """Apply the rules until none applies. Raises Endless on a circle, 20000 steps, a word of 200."""
        rules = [(_split(left.word() or (), self._central), right) for left, right in self.rules]
        poly = WordPoly.of(self._sorted(poly.terms))
        seen = {poly}
        for _ in range(_STEPS):
            step = self._one_step(poly, rules)
            if step is None:
                return poly
            if step in seen:
                raise Endless("the rules run in a circle; orient them so that words shrink")
            if step.terms and len(step.terms[-1][0]) > _LENGTH:
                raise Endless(f"a word grew past {_LENGTH} letters; orient the rules so that words shrink")
            seen.add(step)
            poly = step
        raise Endless(f"no end after {_STEPS} steps; orient the rules so that words shrink")

    def _one_step(self, poly: WordPoly, rules: list) -> WordPoly | None:
        for word, c in poly.terms:
            place = _place(_split(word, self._central), rules)
            if place is not None:
                scalars, before, after, right = place
                rest = [term for term in poly.terms if term[0] != word]
                new = [(scalars + before + middle + after, c * d) for middle, d in right.terms]
                return WordPoly.of([*rest, *self._sorted(new)])
        return None

    def _sorted(self, terms: Iterable[tuple[Word, Fraction]]) -> Iterator[tuple[Word, Fraction]]:
        for word, c in terms:
            scalars, rest = _split(word, self._central)
            yield scalars + rest, c

    @property
    def _rates(self) -> tuple[tuple[WordPoly, WordPoly], ...]:
        """Pairs (letter, its derivative), the form that `derivation` has after __post_init__."""
        return cast("tuple[tuple[WordPoly, WordPoly], ...]", self.derivation)

    @property
    def _central(self) -> frozenset[str]:
        return frozenset(_letter(poly, "a central letter") for poly in self.central)

    def _expanded(self, side: WordPoly | Derived) -> WordPoly:
        rates = {_letter(key, "a key of derivation"): poly for key, poly in self._rates}
        return side.poly.derived(rates) if isinstance(side, Derived) else side

    def _refutation(self, sides: tuple[WordPoly, WordPoly], why: str) -> Verdict:
        model = cast("Model | None", self.model) or search(self.letters, self._central, self.rules, sides)
        if model is None:
            return Verdict(Status.UNDECIDED, reason=f"{why}; rules may be incomplete; give a model")
        broken = broken_rule(model, self._central, self.rules)
        gap = separation(model, sides)
        if broken or gap is None:
            fault = f"does not satisfy {broken}" if broken else "does not separate the sides"
            return Verdict(Status.UNDECIDED, reason=f"{why}; the given model {fault}")
        return _separated(model, *gap)

    def _clash(self) -> str | None:
        """A word that two rules take to different numbers: then 0 = 1 follows, and with it every claim.

        Also where the difference becomes a number times a letter, as A does for AB = 1.
        """
        letters = [_product((name,)) for name in self.letters]
        for (left, one), (right, two) in product(self.rules, repeat=2):
            for before, overhang, after in _meetings(left.word() or (), right.word() or ()):
                ways = one * _product(overhang), _product(before) * two * _product(after)
                try:
                    gap = self.normal_form(ways[0] - ways[1])
                    near = [self.normal_form(p) for x in letters for p in (gap * x, x * gap) if gap.terms]
                except Endless:
                    continue
                if any(found.terms and not found.letters for found in (gap, *near)):
                    return f"{left * _product(overhang)} is both {ways[0]} and {ways[1]}"
        return None

    def _underived_rule(self) -> str | None:
        """A rule whose derivative the rules do not imply: a model need not continue in time."""
        rates = {_letter(key, "letter"): poly for key, poly in self._rates}
        for left, right in self.rules if rates else ():
            if self.normal_form(left.derived(rates) - right.derived(rates)).terms:
                return f"{left} = {right}"
        return None


def _separated(model: Model, entry: tuple[int, int], gap: Fraction) -> Verdict:
    return Verdict(
        Status.REFUTED,
        reason=f"a model satisfies every rule, and the sides differ by {gap} at entry {entry}",
        entry=entry,
        gap=str(gap),
        certificate={"model": model_tree(model)},
    )


def _meetings(a: Word, b: Word) -> Iterator[tuple[Word, Word, Word]]:
    """(before, overhang, after) with a·overhang = before·b·after: b begins inside a, from left to right."""
    for i in range(len(a)):
        k = min(len(a) - i, len(b))
        if a[i : i + k] == b[:k]:
            yield a[:i], b[k:], a[i + k :]


def _product(word: Word) -> WordPoly:
    return WordPoly.of([(word, Fraction(1))])


def _inner(side: WordPoly | Derived) -> WordPoly:
    return side.poly if isinstance(side, Derived) else side


def _rule(rule: object) -> Rule:
    if not isinstance(rule, tuple) or len(rule) != 2 or not isinstance(rule[0], WordPoly):
        raise WrongType(f"a rule is {rule!r}; a pair (word, polynomial) such as (X*A, A*X) works")
    if not rule[0].word():
        raise BadInput(f"a rule replaces {rule[0]}; one word with coefficient 1 works, such as X*A")
    return rule[0], word_poly(rule[1])


def _letter(poly: object, name: str) -> str:
    word = poly.word() if isinstance(poly, WordPoly) else None
    if word is None or len(word) != 1:
        raise BadInput(f"{name} is {poly}; a single letter made by letters(...) works")
    return word[0]


def _split(word: Word, central: frozenset[str]) -> tuple[Word, Word]:
    """Central letters, sorted, and the others in their order."""
    return tuple(sorted(x for x in word if x in central)), tuple(x for x in word if x not in central)


def _place(word: tuple[Word, Word], rules: list) -> tuple[Word, Word, Word, WordPoly] | None:
    """The leftmost place where a rule applies, and the first rule there: (scalars, prefix, suffix, new)."""
    for i in range(len(word[1]) + 1):
        for (scalars, left), right in rules:
            if word[1][i : i + len(left)] == left:
                over = Counter(word[0])
                over.subtract(scalars)
                if min(over.values(), default=0) >= 0:
                    kept = tuple(sorted(over.elements()))
                    return kept, word[1][:i], word[1][i + len(left) :], right
    return None


__all__ = ["Derived", "Endless", "Words", "commuting", "inverses", "letters"]
