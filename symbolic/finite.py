"""Finite operation tables: group axioms and maps between tables, checked exhaustively (`finite` steps)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

from .decide import Status, Verdict
from .errors import BadInput, ExptxError, WrongType

AXIOMS = ("closure", "identity", "inverses", "associativity", "commutativity")
CLAIMS = ("homomorphism", "injective", "surjective")
Exemption = tuple[tuple[str, ...], str]  # the elements at which a law fails, and the sentence


class _Meaningless(ExptxError):
    """An axiom that presupposes another one which fails."""


@dataclass(frozen=True)
class Finite:
    """A finite operation `table[i][j] = elements[i] * elements[j]`, and the truth claimed of axioms.

    elements  names (strings or integers), all different
    table     rows of names, len(elements) x len(elements); a name outside the elements breaks closure
    axioms    {axiom: truth value} for some of closure, identity, inverses, associativity, commutativity

    `check`: proved when every truth value is right, refuted, with the elements, at the first that is wrong.
    Associativity of a table that is not closed is undecided.
    """

    elements: Sequence[str]
    table: Sequence[Sequence[str]]
    axioms: Mapping[str, bool]

    def __post_init__(self) -> None:
        object.__setattr__(self, "elements", _names(self.elements, "elements"))
        object.__setattr__(self, "table", tuple(_names(row, "table", distinct=False) for row in self.table))
        object.__setattr__(self, "axioms", _claims(self.axioms, AXIOMS, "axioms"))
        n = len(self.elements)
        if len(self.table) != n or any(len(row) != n for row in self.table):
            raise BadInput(f"table is not {n} x {n}; one row and one column for each element works")

    @classmethod
    def of(cls, members: Mapping[str, object], multiply: Callable, axioms: Mapping[str, bool]) -> Finite:
        """The table of `multiply` on {name: value}; a product equal to no member is named after its value."""
        values = list(members.items())

        def name(value: object) -> str:
            return next((key for key, other in values if other == value), f"({value})")

        return cls(
            tuple(members), tuple(tuple(name(multiply(x, y)) for _, y in values) for _, x in values), axioms
        )

    def tree(self) -> dict:
        """The claim as JSON: elements, table, axioms."""
        return {
            "kind": "finite",
            "elements": list(self.elements),
            "table": [list(row) for row in self.table],
            "axioms": dict(self.axioms),
        }

    def formula(self) -> None:
        """None: a table is no formula; the statement says it in words."""

    def outcome(self, verdict: Verdict) -> dict:
        """What a checker needs besides the claim."""
        return dict(verdict.certificate)

    def check(self) -> Verdict:
        """Test every claimed truth value by going through all elements."""
        verdict, axiom, elements = _judge(self.axioms, self.exception)
        if verdict.status is not Status.REFUTED:
            return verdict
        return replace(verdict, certificate={"axiom": axiom, "elements_witness": list(elements)})

    def times(self, x: str, y: str) -> str:
        """x * y"""
        return self.table[self.elements.index(x)][self.elements.index(y)]

    @property
    def closed(self) -> bool:
        """Whether every product is an element."""
        return self.exception("closure") is None

    @property
    def identity(self) -> str | None:
        """The e with e * x = x = x * e for all x, or None."""
        for i, e in enumerate(self.elements):
            if self.table[i] == self.elements and tuple(row[i] for row in self.table) == self.elements:
                return e
        return None

    def exception(self, axiom: str) -> Exemption | None:
        """The first elements at which the axiom fails, with a sentence; None if it holds."""
        if axiom == "identity":
            return None if self.identity is not None else ((), "no element leaves all others alone")
        if axiom == "associativity" and not self.closed:
            raise _Meaningless("associativity has no meaning on a table that is not closed")
        return next(getattr(self, f"_without_{axiom}")(), None)

    def _without_closure(self) -> Iterator[Exemption]:
        for x, y in product(self.elements, repeat=2):
            if self.times(x, y) not in self.elements:
                yield (x, y), f"{x}*{y} = {self.times(x, y)} is not an element"

    def _without_inverses(self) -> Iterator[Exemption]:
        e, times = self.identity, self.times
        for x in self.elements:
            if e is None or not any(times(x, y) == e == times(y, x) for y in self.elements):
                yield (x,), f"{x} has no inverse"

    def _without_commutativity(self) -> Iterator[Exemption]:
        for x, y in product(self.elements, repeat=2):
            if self.times(x, y) != self.times(y, x):
                yield (x, y), f"{x}*{y} differs from {y}*{x}"

    def _without_associativity(self) -> Iterator[Exemption]:
        times = self.times
        for x, y, z in product(self.elements, repeat=3):
            if times(times(x, y), z) != times(x, times(y, z)):
                yield (x, y, z), f"({x}*{y})*{z} differs from {x}*({y}*{z})"


@dataclass(frozen=True)
class Homomorphism:
    """A map between two finite tables, `images` in the order of the source, and the claims about it.

    claims  {claim: truth value} for some of homomorphism (f(x*y) = f(x)*f(y)), injective, surjective
    """

    source: Finite
    target: Finite
    images: Sequence[str]
    claims: Mapping[str, bool]

    def __post_init__(self) -> None:
        object.__setattr__(self, "images", _names(self.images, "images", distinct=False))
        object.__setattr__(self, "claims", _claims(self.claims, CLAIMS, "claims"))
        if len(self.images) != len(self.source.elements):
            raise BadInput(
                f"images has {len(self.images)} names; one for each of {self.source.elements} works"
            )
        for name in self.images:
            if name not in self.target.elements:
                raise BadInput(
                    f"images contains {name}; an element of the target {self.target.elements} works"
                )
        for side in (self.source, self.target):
            if not side.closed:
                raise BadInput("a table is not closed; a map is tested between closed tables only")

    def tree(self) -> dict:
        """The claim as JSON: source and target with elements and table, images, claims."""
        sides = {
            key: {"elements": list(side.elements), "table": [list(row) for row in side.table]}
            for key, side in (("source", self.source), ("target", self.target))
        }
        return {"kind": "homomorphism", **sides, "images": list(self.images), "claims": dict(self.claims)}

    def formula(self) -> None:
        """None: a table is no formula; the statement says it in words."""

    def outcome(self, verdict: Verdict) -> dict:
        """What a checker needs besides the claim."""
        return dict(verdict.certificate)

    def check(self) -> Verdict:
        """Test every claimed truth value by going through all elements."""
        verdict, claim, _ = _judge(self.claims, lambda claim: next(getattr(self, f"_not_{claim}")(), None))
        return replace(verdict, certificate={"claim": claim}) if verdict.status is Status.REFUTED else verdict

    @property
    def _image(self) -> dict[str, str]:
        return dict(zip(self.source.elements, self.images, strict=True))

    def _not_homomorphism(self) -> Iterator[Exemption]:
        f = self._image
        for x, y in product(self.source.elements, repeat=2):
            if f[self.source.times(x, y)] != self.target.times(f[x], f[y]):
                yield (x, y), f"the image of {x}*{y} differs from the product of the images"

    def _not_injective(self) -> Iterator[Exemption]:
        for x, y in combinations(self.source.elements, 2):
            if self._image[x] == self._image[y]:
                yield (x, y), f"{x} and {y} have one image"

    def _not_surjective(self) -> Iterator[Exemption]:
        for z in self.target.elements:
            if z not in self.images:
                yield (z,), f"{z} is no image"


def _judge(claims: Mapping[str, bool], exception: Callable) -> tuple[Verdict, str, tuple[str, ...]]:
    """(verdict, the claim that is wrong, the elements that show it)."""
    for name, claimed in claims.items():
        try:
            found = exception(name)
        except _Meaningless as error:
            return Verdict(Status.UNDECIDED, reason=str(error)), name, ()
        if (found is None) != claimed:
            elements, sentence = found or ((), "there is no exception")
            truth = str(found is None).lower()
            return Verdict(Status.REFUTED, reason=f"{name} is {truth}: {sentence}"), name, elements
    return Verdict(Status.PROVED, reason="all elements were tried"), "", ()


def _names(values: object, name: str, distinct: bool = True) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise WrongType(f"{name} is {values!r}; a list of names works")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise WrongType(f"{name} contains {value!r}; strings or integers work")
    result = tuple(str(value) for value in values)
    if not result or (distinct and len(set(result)) < len(result)):
        raise BadInput(f"{name} is {result}; a non-empty list of different names works")
    return result


def _claims(given: object, known: tuple[str, ...], name: str) -> dict[str, bool]:
    if not isinstance(given, Mapping) or not given:
        raise WrongType(f"{name} is {given!r}; a mapping such as {{{known[0]!r}: True}} works")
    for key, value in given.items():
        if key not in known:
            raise BadInput(f"{name} names {key!r}; {', '.join(known)} work")
        if not isinstance(value, bool):
            raise WrongType(f"{name}[{key}] is {value!r}; True or False works")
    return dict(given)


__all__ = ["Finite", "Homomorphism"]
