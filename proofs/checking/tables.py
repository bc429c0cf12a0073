"""`finite` and `homomorphism` steps: operation tables and maps between them, by going through all elements.

finite        elements table axioms {axiom: truth value}; refuted: axiom [elements_witness]
homomorphism  source {elements, table} target {elements, table} images claims {claim: truth value}
              refuted: claim [elements_witness]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from .reading import distinct, fields, items, one_of, texts
from .refusal import Refusal, shown, within

_SIZE = 64
Exceptions = Iterator[tuple[str, ...]]


@dataclass(frozen=True)
class Table:
    """elements and products; a product may lie outside the elements."""

    elements: tuple[str, ...]
    products: Mapping[tuple[str, str], str]

    def times(self, x: str, y: str) -> str:
        return self.products[x, y]

    @property
    def closed(self) -> bool:
        return set(self.products.values()) <= set(self.elements)

    @property
    def identity(self) -> str | None:
        for e in self.elements:
            if all(self.times(e, x) == x == self.times(x, e) for x in self.elements):
                return e
        return None

    def closure(self) -> Exceptions:
        return (pair for pair, z in self.products.items() if z not in self.elements)

    def associativity(self) -> Exceptions:
        if not self.closed:
            raise Refusal("has no meaning on a table that is not closed")
        t = self.products
        triples = product(self.elements, repeat=3)
        return ((x, y, z) for x, y, z in triples if t[t[x, y], z] != t[x, t[y, z]])

    def identities(self) -> Exceptions:
        return iter([()] if self.identity is None else [])

    def inverses(self) -> Exceptions:
        e = self.identity
        if e is None:
            return iter([(x,) for x in self.elements])
        return (
            (x,)
            for x in self.elements
            if not any(self.times(x, y) == e == self.times(y, x) for y in self.elements)
        )

    def commutativity(self) -> Exceptions:
        return ((x, y) for x, y in product(self.elements, repeat=2) if self.times(x, y) != self.times(y, x))


AXIOMS: dict[str, Callable[[Table], Exceptions]] = {
    "closure": Table.closure,
    "identity": Table.identities,
    "inverses": Table.inverses,
    "associativity": Table.associativity,
    "commutativity": Table.commutativity,
}


def finite(step: Mapping[str, Any]) -> None:
    table = _table(step)
    claimed = _claims(step, "axioms", tuple(AXIOMS))
    _compare(step, "axioms", "axiom", claimed, lambda axiom: AXIOMS[axiom](table))


def _compare(
    step: Mapping[str, Any],
    plural: str,
    singular: str,
    claimed: Mapping[str, bool],
    exceptions: Callable[[str], Exceptions],
) -> None:
    """Proved: every truth value is right. Refuted: the named one is wrong, and the elements show it."""
    if step["status"] == "refuted":
        with within(singular):
            name = one_of(step.get(singular), claimed)
            found = list(exceptions(name))
            if claimed[name] == (not found):
                raise Refusal(f"is {name}, whose truth value is as claimed; it refutes nothing")
        if step.get("elements_witness") is not None:
            with within("elements_witness"):
                if tuple(texts(step["elements_witness"])) not in (found or [()]):
                    raise Refusal(f"does not show that {name} fails")
        return
    for name, value in claimed.items():
        with within(plural, f"[{name}]"):
            exception = next(exceptions(name), None)
            if (exception is None) != value:
                raise Refusal(f"is claimed {str(value).lower()}, but {_why(name, exception)}")


def _why(name: str, exception: tuple[str, ...] | None) -> str:
    if exception is None:
        return f"{name} holds"
    return f"{name} fails" + (f" at ({', '.join(exception)})"[:80] if exception else "")


def _table(value: Mapping[str, Any]) -> Table:
    with within("elements"):
        elements = tuple(distinct(texts(value["elements"])))
        if not 0 < len(elements) <= _SIZE:
            raise Refusal(f"has {len(elements)} names; 1 to {_SIZE} are needed")
    products = {}
    with within("table"):
        rows = items(value["table"])
        if len(rows) != len(elements):
            raise Refusal(f"has {len(rows)} rows; {len(elements)} are needed")
        for i, row in enumerate(rows):
            with within(f"[{i}]"):
                if len(texts(row)) != len(elements):
                    raise Refusal(f"has {len(row)} products; {len(elements)} are needed")
                products |= {(elements[i], y): z for y, z in zip(elements, row, strict=True)}
    return Table(elements, products)


def _claims(step: Mapping[str, Any], key: str, known: tuple[str, ...]) -> dict[str, bool]:
    with within(key):
        value = fields(step[key], (), known)
        if not value:
            raise Refusal("claims nothing")
        for name, truth in value.items():
            if not isinstance(truth, bool):
                raise Refusal(f"is {shown(truth)}; true or false is needed", name)
        return value


@dataclass(frozen=True)
class Map:
    """A map between two closed tables."""

    source: Table
    target: Table
    image: Mapping[str, str]

    def homomorphism(self) -> Exceptions:
        f, s, t = self.image, self.source, self.target
        return ((x, y) for x, y in product(s.elements, repeat=2) if f[s.times(x, y)] != t.times(f[x], f[y]))

    def injective(self) -> Exceptions:
        pairs = product(self.source.elements, repeat=2)
        return ((x, y) for x, y in pairs if x != y and self.image[x] == self.image[y])

    def surjective(self) -> Exceptions:
        return ((z,) for z in self.target.elements if z not in self.image.values())


CLAIMS: dict[str, Callable[[Map], Exceptions]] = {
    "homomorphism": Map.homomorphism,
    "injective": Map.injective,
    "surjective": Map.surjective,
}


def homomorphism(step: Mapping[str, Any]) -> None:
    f = _map(step)
    claimed = _claims(step, "claims", tuple(CLAIMS))
    _compare(step, "claims", "claim", claimed, lambda claim: CLAIMS[claim](f))


def _map(step: Mapping[str, Any]) -> Map:
    tables = []
    for key in ("source", "target"):
        with within(key):
            tables.append(_table(fields(step[key], ("elements", "table"))))
            if not tables[-1].closed:
                raise Refusal("is not closed")
    source, target = tables
    with within("images"):
        images = texts(step["images"])
        if len(images) != len(source.elements):
            raise Refusal(f"has {len(images)} names; {len(source.elements)} are needed")
        for i, image in enumerate(images):
            if image not in target.elements:
                raise Refusal(f"is {shown(image)}, no element of the target", f"[{i}]")
    return Map(source, target, dict(zip(source.elements, images, strict=True)))
