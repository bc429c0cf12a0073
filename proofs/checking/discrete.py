"""Claims without formulas, a function for each step kind: words of matrix symbols, tables, homomorphisms."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import reduce
from types import SimpleNamespace as Step
from typing import Any

from .reading import each, entries, fields, need, number, one_of, part, spend, typed
from .sums import form
from .trees import Tree, num, product, total

LETTERS, SIDE, ELEMENTS = 500, 8, 64
Word = tuple[str, ...]
Poly = dict[Word, Fraction]


def collected(terms: Iterable[tuple[Word, Fraction]]) -> Poly:
    out: Poly = {}
    for word, c in terms:
        spend(1 + len(word) + max(abs(c.numerator), c.denominator).bit_length() // 64)
        need(len(word) <= LETTERS, f"grows words of more than {LETTERS} letters")
        out[word] = out.get(word, Fraction(0)) + c
    return {word: c for word, c in out.items() if c}


def minus(a: Poly, b: Poly) -> Poly:
    return collected([*a.items(), *((w, -c) for w, c in b.items())])


class Algebra:
    """Words in some letters, rewritten by rules [(word, polynomial)]; D is the derivation of the letters."""

    def __init__(self, s: Step) -> None:
        need(not s.central, "is not empty; rules that commute work", "central")
        self.letters = s.letters
        self.derivation = part(vars(s), "derivation", entries, self.plain)
        need(self.derivation.keys() <= {*s.letters}, "derives what is no letter", "derivation")
        self.rules = part(vars(s), "rules", each, self.rule)

    def word(self, value: Any) -> Word:
        return tuple(each(value, one_of, self.letters))

    def plain(self, value: Any) -> Poly:
        """[["2/3", ["A","X"]], …]"""
        return collected((self.word(word), number(c)) for c, word in each(value, typed, list))

    def poly(self, value: Any) -> Poly:
        """The same, or ["D", poly]."""
        nested = typed(value, list)[:1] == ["D"]
        return self.derived(part(value, 1, self.poly)) if nested else self.plain(value)

    def rule(self, value: Any) -> tuple[Word, Poly]:
        left, right = part(value, 0, self.word), part(value, 1, self.poly)
        need(left and len(value) == 2, "is the empty word, or no pair", "[0]")
        return left, right

    def derived(self, a: Poly) -> Poly:
        """D(w1 w2 …) = D(w1) w2 … + w1 D(w2) … + …"""
        places = ((w, c, i, self.derivation.get(x, {})) for w, c in a.items() for i, x in enumerate(w))
        return collected((w[:i] + v + w[i + 1 :], c * d) for w, c, i, new in places for v, d in new.items())

    def normal(self, a: Poly) -> Poly:
        """Rewritten by the first rule that applies, at its leftmost place, until none does."""
        done, todo = list[tuple[Word, Fraction]](), a
        while todo:
            w, c = todo.popitem()
            spend((len(w) + 1) * len(self.rules))
            places = ((left, right, i) for left, right in self.rules for i in range(len(w)))
            hit = next((place for place in places if w[place[2] :][: len(place[0])] == place[0]), None)
            if hit is None:
                done.append((w, c))
            else:
                left, right, i = hit
                new = ((w[:i] + v + w[i + len(left) :], c * d) for v, d in right.items())
                todo = collected([*todo.items(), *new])
        return collected(done)

    def agree(self) -> None:
        """Where two rules meet, both ways lead to one number: rules with 0 = 1 would prove anything."""
        for (a, one), (b, two) in itertools.product(self.rules, repeat=2):
            for i in range(len(a)):
                k = min(len(a) - i, len(b))
                if a[i : i + k] == b[:k]:
                    first = collected((w + b[k:], c) for w, c in one.items())
                    second = collected((a[:i] + w + a[i + k :], c) for w, c in two.items())
                    gap = self.normal(minus(first, second))
                    self.no_number(gap)
                    for x in self.letters if gap else ():
                        self.no_number(self.normal({(x, *w): c for w, c in gap.items()}))
                        self.no_number(self.normal({(*w, x): c for w, c in gap.items()}))

    def no_number(self, a: Poly) -> None:
        """What must be zero is not a number other than 0."""
        need(a.keys() != {()}, "contradict each other", "rules")

    def continue_in_time(self) -> None:
        """The derivatives of rules are rewritten to nothing, so that the rules go on to hold."""
        for i, (left, right) in enumerate(self.rules):
            change = self.derived(minus({left: Fraction(1)}, right))
            need(not self.normal(change), "has a derivative of its own", f"rules[{i}]")


def words(s: Step) -> None:
    """letters central rules derivation lhs rhs

    Proved: lhs - rhs is rewritten to nothing. Refuted: model {letter: matrix}, where the rules hold and
    the sides differ. Either way the rules must go on to hold under the derivation.
    """
    algebra, model = Algebra(s), s.model or {}
    difference = minus(part(vars(s), "lhs", algebra.poly), part(vars(s), "rhs", algebra.poly))
    algebra.continue_in_time()
    if s.proved:
        algebra.agree()
        return need(not algebra.normal(difference), "is not rewritten to zero", "lhs - rhs")
    need(model.keys() == {*s.letters}, "has not exactly the letters", "model")
    need(len({*map(len, model.values())}) == 1, "has no common size", "model")
    for i, (left, right) in enumerate(algebra.rules):
        relation = minus({left: Fraction(1)}, right)
        need(vanishes(relation, model), f"breaks rules[{i}]", "model")
    return need(not vanishes(difference, model), "makes both sides equal; it refutes nothing", "model")


def vanishes(a: Poly, model: Mapping[str, Tree]) -> bool:
    """Whether the polynomial of the matrices is the zero matrix."""
    side = range(len(next(iter(model.values()))))
    out = [[num(0) for _ in side] for _ in side]
    for w, c in a.items():
        one = [[num(c * (i == j)) for j in side] for i in side]
        out = total(out, reduce(product, (model[x] for x in w), one))
    return all(form(x).zero for row in out for x in row)


def square(rows: Any) -> Tree:
    """A matrix of numbers."""
    found = [[num(x) for x in row] for row in each(rows, each, number)]
    need({*map(len, found)} == {len(found)} <= {*range(1, SIDE + 1)}, f"is no square matrix up to {SIDE}")
    return found


def operation(value: Any) -> tuple[list[str], dict[tuple[str, str], str]]:
    """(elements, {(x, y): x y}) of an object with elements and table."""
    elements, rows = part(value, "elements", each, typed), part(value, "table", each, each, typed)
    need(0 < len({*elements}) == len(elements) <= ELEMENTS, "has none, too many, or one twice", "elements")
    need([*map(len, rows)] == [len(elements)] * len(elements), "is no square over the elements", "table")
    return elements, {(x, y): rows[i][j] for i, x in enumerate(elements) for j, y in enumerate(elements)}


def finite(s: Step) -> None:
    """elements table axioms {axiom: truth value}; refuted: axiom [elements_witness]"""
    elements, t = operation(vars(s))
    pairs, closed = [(x, y) for x in elements for y in elements], {*t.values()} <= {*elements}
    unit = next((e for e in elements if all(t[e, x] == x == t[x, e] for x in elements)), None)
    inverse = [x for x in elements if any(t[x, y] == unit == t[y, x] for y in elements)]
    asked = s.axioms if s.proved else [s.axiom]
    need(closed or "associativity" not in asked, "is about the associativity of an open table", "axioms")
    triples = itertools.product(elements, repeat=3) if closed else ()
    failures = {
        "closure": (pair for pair in pairs if t[pair] not in elements),
        "associativity": ((x, y, z) for x, y, z in triples if t[t[x, y], z] != t[x, t[y, z]]),
        "identity": [()] if unit is None else [],
        "inverses": ((x,) for x in elements if x not in inverse),
        "commutativity": ((x, y) for x, y in pairs if t[x, y] != t[y, x]),
    }
    compare(s, "axioms", "axiom", failures)


def homomorphism(s: Step) -> None:
    """source target images claims {claim: truth value}; refuted: claim [elements_witness]"""
    (source, a), (target, b) = (operation(fields(of, ("elements", "table"))) for of in (s.source, s.target))
    need({*a.values()} <= {*source} and {*b.values()} <= {*target}, "is not closed", "source or target")
    image = dict(zip(source, part(vars(s), "images", each, one_of, target), strict=True))
    pairs = [*itertools.product(source, repeat=2)]
    failures = {
        "homomorphism": ((x, y) for x, y in pairs if image[a[x, y]] != b[image[x], image[y]]),
        "injective": ((x, y) for x, y in pairs if x != y and image[x] == image[y]),
        "surjective": ((z,) for z in target if z not in image.values()),
    }
    compare(s, "claims", "claim", failures)


def compare(s: Step, plural: str, singular: str, failures: Mapping[str, Iterable[Any]]) -> None:
    """Proved: every truth value is right. Refuted: the named one is wrong, and the elements show it."""
    claimed, wrong, shown = getattr(s, plural), getattr(s, singular), s.elements_witness
    need(claimed and claimed.keys() <= failures.keys(), f"is not about {', '.join(failures)}", plural)
    for name in claimed if s.proved else ():
        need(claimed[name] == (not [*failures[name]]), "is not so", f"{plural}[{name}]")
    if not s.proved:
        need(wrong in claimed, "is not claimed", singular)
        found = [*failures[wrong]]
        need(claimed[wrong] != (not found), "is as claimed; it refutes nothing", singular)
        need(shown is None or tuple(shown) in (found or [()]), "does not show it", "elements_witness")
