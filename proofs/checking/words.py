"""`words` steps: identities between matrix symbols that follow from stated relations.

words  letters central rules derivation lhs rhs; refuted: model {letter: rational matrix | rational}
       poly = [["2/3", ["A","X"]], …] or ["D", poly]; letters without derivation are constants
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from .reading import distinct, items, rational, texts
from .refusal import Refusal, shown, within
from .trees import name

REWRITES = 20_000
LETTERS = 500
RULES = 40
SIZE = 100_000  # letters of one sum before it is collected
Word = tuple[str, ...]
Poly = dict[Word, Fraction]
Matrix = list[list[Fraction]]
_SIDE = 8


@dataclass(frozen=True)
class Algebra:
    """Letters modulo relations: central letters commute with all and stand in front, sorted."""

    letters: tuple[str, ...]
    central: frozenset[str]
    rules: tuple[tuple[Word, Poly], ...]
    derivation: Mapping[str, Poly]

    # Polynomials

    def sorted(self, word: Word) -> Word:
        scalars = sorted(x for x in word if x in self.central)
        return (*scalars, *(x for x in word if x not in self.central))

    def collect(self, terms: Any) -> Poly:
        out: Poly = {}
        size = 0
        for word, c in terms:
            key = self.sorted(word)
            out[key] = out.get(key, Fraction(0)) + c
            if len(key) > LETTERS:
                raise Refusal(f"grows words of more than {LETTERS} letters")
            size += len(key)
            if size > SIZE:
                raise Refusal(f"grows sums of more than {SIZE} letters")
        return {word: c for word, c in out.items() if c}

    def derived(self, poly: Poly) -> Poly:
        """D(w1 w2 …) = D(w1) w2 … + w1 D(w2) … + …"""
        return self.collect(
            (word[:i] + middle + word[i + 1 :], c * d)
            for word, c in poly.items()
            for i, letter in enumerate(word)
            for middle, d in self.derivation.get(letter, {}).items()
        )

    def normal(self, poly: Poly) -> Poly:
        """Rewrite until no rule applies: rules in their order, each at its leftmost place."""
        todo, out, steps = dict(poly), {}, 0
        while todo:
            word, c = todo.popitem()
            new = self._rewritten(word)
            if new is None:
                out[word] = out.get(word, Fraction(0)) + c
                continue
            steps += 1
            if steps > REWRITES:
                raise Refusal(f"is not in normal form after {REWRITES} rewrites")
            for key, d in new.items():
                todo[key] = todo.get(key, Fraction(0)) + c * d
                if not todo[key]:
                    del todo[key]
        return {word: c for word, c in out.items() if c}

    def agrees(self) -> None:
        """Refuse rules that take one word to two numbers: with 0 = 1 they would prove anything."""
        if len(self.rules) > RULES:
            raise Refusal(f"has more than {RULES} rules", "rules")
        for (i, (a, one)), (j, (b, two)) in product(enumerate(self.rules), repeat=2):
            for before, overhang, after in _meetings(a, b):
                ways = ((one, (), overhang), (two, before, after))
                sums = [self.collect((u + w + v, c) for w, c in poly.items()) for poly, u, v in ways]
                try:
                    gap = self.normal(_minus(*sums))
                except Refusal:
                    continue  # two words that never end do not show a contradiction
                if set(gap) == {()}:
                    raise Refusal(f"contradict each other: rules {i} and {j} make 0 = 1", "rules")

    def _rewritten(self, word: Word) -> Poly | None:
        split = next((i for i, x in enumerate(word) if x not in self.central), len(word))
        scalars, rest = word[:split], word[split:]
        for left, right in self.rules:
            found = self._place(scalars, rest, left)
            if found is not None:
                kept, before, after = found
                return self.collect((kept + before + middle + after, d) for middle, d in right.items())
        return None

    def _place(self, scalars: Word, rest: Word, left: Word) -> tuple[Word, Word, Word] | None:
        """(other central letters, prefix, suffix) of the leftmost place of the rule's word."""
        split = next((i for i, x in enumerate(left) if x not in self.central), len(left))
        kept = Counter(scalars)
        kept.subtract(left[:split])
        if min(kept.values(), default=0) < 0:
            return None
        body = left[split:]
        for i in range(len(rest) - len(body) + 1):
            if rest[i : i + len(body)] == body:
                return tuple(sorted(kept.elements())), rest[:i], rest[i + len(body) :]
        return None


def words(step: Mapping[str, Any]) -> None:
    algebra = _algebra(step)
    sides = []
    for key in ("lhs", "rhs"):
        with within(key):
            sides.append(_poly(algebra, step[key]))
    difference = _minus(*sides)
    if step["status"] == "refuted":
        _refuted(algebra, step, difference)
        return
    algebra.agrees()
    left = algebra.normal(difference)
    if left:
        raise Refusal(f"has the normal form {_brief(left)}, which is not zero", "lhs - rhs")


def _algebra(step: Mapping[str, Any]) -> Algebra:
    with within("letters"):
        letters = tuple(map(name, distinct(texts(step["letters"]))))
    with within("central"):
        central = frozenset(_letters(letters, step["central"]))
    bare = Algebra(letters, central, (), {})
    with within("derivation"):
        derivation = _derivation(bare, step["derivation"])
    rules = []
    with within("rules"):
        for i, rule in enumerate(items(step["rules"])):
            with within(f"[{i}]"):
                rules.append(_rule(bare, rule))
    return Algebra(letters, central, tuple(rules), derivation)


def _rule(bare: Algebra, rule: Any) -> tuple[Word, Poly]:
    if len(items(rule)) != 2:
        raise Refusal("is no pair of a word and a polynomial")
    with within("[0]"):
        left = bare.sorted(tuple(_letters(bare.letters, rule[0])))
        if not left:
            raise Refusal("is the empty word")
    with within("[1]"):
        return left, _poly(bare, rule[1])


def _derivation(bare: Algebra, value: Any) -> dict[str, Poly]:
    if not isinstance(value, dict):
        raise Refusal(f"is {shown(value)}; an object from letters to polynomials is needed")
    out = {}
    for letter, poly in value.items():
        with within(f"[{shown(letter)}]"):
            _letters(bare.letters, [letter])
            out[letter] = _poly(bare, poly)
    for letter in sorted(bare.central & out.keys()):
        if not all(x in bare.central for word in out[letter] for x in word):
            with within(f"[{shown(letter)}]"):
                raise Refusal("makes the derivative of a central letter depend on letters that are not")
    return out


def _letters(known: tuple[str, ...], value: Any) -> list[str]:
    for i, letter in enumerate(texts(value)):
        if letter not in known:
            raise Refusal(f"is {shown(letter)}, which is not among the letters", f"[{i}]")
    return value


def _poly(algebra: Algebra, value: Any) -> Poly:
    if len(items(value)) == 2 and value[0] == "D":
        with within("[1]"):
            return algebra.derived(_poly(algebra, value[1]))
    terms = []
    for i, term in enumerate(value):
        with within(f"[{i}]"):
            if len(items(term)) != 2:
                raise Refusal("is no pair of a coefficient and a word")
            with within("[0]"):
                c = rational(term[0])
            with within("[1]"):
                terms.append((tuple(_letters(algebra.letters, term[1])), c))
    return algebra.collect(terms)


def _meetings(a: Word, b: Word) -> Iterator[tuple[Word, Word, Word]]:
    """(before, overhang, after) with a·overhang = before·b·after: b begins inside a."""
    for i in range(len(a)):
        k = min(len(a) - i, len(b))
        if a[i : i + k] == b[:k]:
            yield a[:i], b[k:], a[i + k :]


def _minus(a: Poly, b: Poly) -> Poly:
    out = {word: a.get(word, Fraction(0)) - b.get(word, Fraction(0)) for word in {**a, **b}}
    return {word: c for word, c in out.items() if c}


def _refuted(algebra: Algebra, step: Mapping[str, Any], difference: Poly) -> None:
    """The model obeys the rules and separates the sides; the rules imply their own derivatives."""
    with within("model"):
        model, size = _model(algebra, step.get("model"))
        for letter in sorted(algebra.central):
            for other in algebra.letters:
                if _times(model[letter], model[other]) != _times(model[other], model[letter]):
                    raise Refusal(f"has the central letter {shown(letter)} not commuting with {shown(other)}")
        for i, (left, right) in enumerate(algebra.rules):
            if any(map(any, _value(_minus({left: Fraction(1)}, right), model, size))):
                raise Refusal(f"breaks rules[{i}]")
        if not any(map(any, _value(difference, model, size))):
            raise Refusal("makes both sides equal; it refutes nothing")
    if algebra.derivation:
        for i, (left, right) in enumerate(algebra.rules):
            if algebra.normal(algebra.derived(_minus({left: Fraction(1)}, right))):
                raise Refusal(
                    "has a derivative that the rules do not imply, so a model says nothing", f"rules[{i}]"
                )


def _model(algebra: Algebra, value: Any) -> tuple[dict[str, Matrix], int]:
    if not isinstance(value, dict):
        raise Refusal(f"is {shown(value)}; a rational matrix for every letter is needed")
    sizes = {len(m) for m in value.values() if isinstance(m, list)}
    if len(sizes) > 1 or not sizes <= set(range(1, _SIDE + 1)):
        raise Refusal(f"has no common size from 1 to {_SIDE}")
    size = sizes.pop() if sizes else 1
    for letter in (*algebra.letters, *value):
        if letter not in value or letter not in algebra.letters:
            raise Refusal(f"{'lacks' if letter not in value else 'has the unknown'} letter {shown(letter)}")
    out = {}
    for letter, matrix in value.items():
        with within(f"[{shown(letter)}]"):
            out[letter] = (
                _scalar(rational(matrix), size) if isinstance(matrix, str) else _matrix(matrix, size)
            )
    return out, size


def _matrix(value: Any, size: int) -> Matrix:
    out = []
    for i, row in enumerate(items(value)):
        with within(f"[{i}]"):
            if len(items(row)) != size:
                raise Refusal(f"has {len(row)} entries; {size} are needed")
            out.append(list(map(rational, row)))
    return out


def _scalar(c: Fraction, size: int) -> Matrix:
    return [[c if i == j else Fraction(0) for j in range(size)] for i in range(size)]


def _times(a: Matrix, b: Matrix) -> Matrix:
    columns = list(zip(*b, strict=True))
    return [[sum((x * y for x, y in zip(r, c, strict=True)), Fraction(0)) for c in columns] for r in a]


def _value(poly: Poly, model: Mapping[str, Matrix], size: int) -> Matrix:
    total = _scalar(Fraction(0), size)
    for word, c in poly.items():
        product = _scalar(c, size)
        for letter in word:
            product = _times(product, model[letter])
        total = [[x + y for x, y in zip(r, s, strict=True)] for r, s in zip(total, product, strict=True)]
    return total


def _brief(poly: Poly) -> str:
    return " + ".join(f"{c} {'·'.join(word) or '1'}" for word, c in sorted(poly.items())[:4])[:120]
