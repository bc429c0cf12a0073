"""What the checks of one document share: trees, canonical forms, hypotheses, divisors, witnesses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .forms import Forms
from .quotients import Quotient
from .reading import bound, items, rational
from .refusal import Refusal, shown, within
from .signs import MEANING, Assumed, Signs, signs, sum_signs
from .trees import Forest, Node, name
from .values import Point, sign_at


@dataclass
class Context:
    """One document being checked."""

    hypotheses: frozenset[str] = frozenset()
    forest: Forest = field(default_factory=Forest)
    forms: Forms = field(default_factory=Forms)
    _divisors: dict[Node, tuple[tuple[Node, Quotient], ...]] = field(default_factory=dict)

    def read(self, step: Mapping[str, Any], key: str) -> Node:
        with within(key):
            return self.forest.read(step[key])

    def scalar(self, step: Mapping[str, Any], key: str) -> Node:
        with within(key):
            return self.forest.scalar(step[key])

    def renew(self) -> None:
        """A new budget for the next step."""
        self.forms.field.ring.work = 0

    # Divisors

    def divisors(self, node: Node) -> tuple[tuple[Node, Quotient], ...]:
        """(tree, form) of everything that the tree divides by, after the substitutions around it."""
        if not node.divides:
            return ()
        if node not in self._divisors:
            self._divisors[node] = tuple(self._collected(node))
        return self._divisors[node]

    def _collected(self, node: Node) -> Iterable[tuple[Node, Quotient]]:
        kind, args = node.kind, node.args
        if kind == "at" and args[0].divides:
            value = {args[1]: self.forms.scalar(args[2])}
            moved = [(node, self.forms.field.substitute(q, value)) for _, q in self.divisors(args[0])]
            return [*moved, *self.divisors(args[2])]
        found = [pair for child in args if isinstance(child, Node) for pair in self.divisors(child)]
        if kind == "tan":
            cosine = self.forest.node("cos", args[0])
            found.append((cosine, self.forms.scalar(cosine)))
        elif kind == "pow" and args[1] < 0:
            found += [(factor, self.forms.scalar(factor)) for factor in _factors(args[0])]
        return {id(form): (tree, form) for tree, form in found}.values()

    def divides_safely(self, node: Node, assumed: Mapping[str, Signs], listed: Iterable[Node] = ()) -> None:
        """Refuse a divisor that is neither non-zero by the assumptions nor among the listed conditions."""
        divisors = self.divisors(node)
        if not divisors:
            return
        known = [self.forms.scalar(f) for tree in listed for f in _factors(tree)]
        for tree, form in divisors:
            if self.forms.field.is_zero(form):
                raise Refusal(f"divides by {brief(tree)}, which is identically zero")
            if not self.nonzero(tree, form, assumed) and not any(self._proportional(form, k) for k in known):
                raise Refusal(
                    f"divides by {brief(tree)}, which is neither non-zero by the assumptions nor listed"
                )

    def nonzero(self, tree: Node, form: Quotient, assumed: Mapping[str, Signs]) -> bool:
        """Whether the assumptions keep a divisor away from zero."""
        if 0 not in sum_signs(self.forms, form.num, assumed):
            return True
        return tree.kind != "at" and 0 not in signs(self.forms, tree, assumed)

    def _proportional(self, a: Quotient, b: Quotient) -> bool:
        """a = c b for a rational c, read off one pair of leading terms."""
        ring = self.forms.field.ring
        x, y = ring.reduced(a.num), ring.reduced(b.num)
        if len(x.terms) != len(y.terms) or max(x.terms) != max(y.terms):
            return False
        top = max(x.terms)
        ratio = Fraction(x.terms[top] * y.den, y.terms[top] * x.den)
        scaled = ring.multiply(ring.constant(ratio), y)
        return ring.is_zero(ring.subtract(x, scaled))

    # Points

    def point(self, step: Mapping[str, Any], free: Iterable[str]) -> Point:
        """The witness, with exactly the free symbols, and the stated values of opaque functions."""
        with within("witness"):
            symbols = _values(step.get("witness"))
            for symbol in sorted(free):
                if symbol not in symbols:
                    raise Refusal(f"gives no value to {shown(symbol)}")
        with within("functions"):
            return Point(symbols, _tables(step.get("functions") or {}))

    def admits(self, point: Point, assumed: Assumed) -> None:
        """Refuse a witness that an assumption forbids."""
        for symbol, allowed in assumed.items():
            value = point.symbols.get(symbol)
            if value is not None and (value > 0) - (value < 0) not in allowed:
                meaning = next((k for k, v in MEANING.items() if v == allowed), "the assumptions")
                raise Refusal(f"has {shown(symbol)} = {shown(str(value))}, against {meaning}", "witness")

    def nonzero_at(self, point: Point, nodes: Iterable[Node]) -> None:
        for node in nodes:
            if not sign_at(self.forest, point, node):
                raise Refusal(f"makes {brief(node)} zero, or too near to tell", "witness")


def _values(value: Any) -> dict[str, Fraction]:
    if not isinstance(value, dict):
        raise Refusal(f'is {shown(value)}; rational values such as {{"x": "2/3"}} are needed')
    out = {}
    for symbol, number in value.items():
        with within(f"[{shown(symbol)}]"):
            out[name(symbol)] = rational(number)
    return out


def _tables(value: Any) -> dict[str, dict[tuple[Fraction, ...], Fraction]]:
    if not isinstance(value, dict):
        raise Refusal(f"is {shown(value)}; a table of values for every function is needed")
    out: dict[str, dict[tuple[Fraction, ...], Fraction]] = {}
    for function, rows in value.items():
        with within(f"[{shown(function)}]"):
            out[function] = {}
            for i, row in enumerate(items(rows)):
                with within(f"[{i}]"):
                    if len(items(row)) != 2:
                        raise Refusal("is no pair of arguments and value")
                    key = tuple(map(rational, items(row[0])))
                    if key in out[function]:
                        raise Refusal("gives a second value at the same point")
                    out[function][key] = rational(row[1])
    return out


def interval(value: Any, count: tuple[int, ...] = (2,)) -> list[Fraction]:
    """[lo, hi] (or [lo, hi, lo, hi]) with lo <= hi."""
    if len(items(value)) not in count:
        raise Refusal(f"has {len(value)} numbers; {' or '.join(map(str, count))} are needed")
    numbers = []
    for i, entry in enumerate(value):
        with within(f"[{i}]"):
            numbers.append(bound(entry))
    if any(a > b for a, b in zip(numbers[::2], numbers[1::2], strict=True)):
        raise Refusal("has its ends in the wrong order")
    return numbers


def _factors(node: Node) -> list[Node]:
    """The factors of a written product or power."""
    if node.kind == "mul":
        return [f for a in node.args for f in _factors(a)]
    if node.kind == "pow" and node.args[1] > 0:
        return _factors(node.args[0])
    return [node]


def brief(node: Node) -> str:
    """A tree for a message."""
    if node.kind in ("num", "sym"):
        return str(node.args[0])[:40]
    parts = (brief(a) if isinstance(a, Node) else str(a)[:20] for a in node.args)
    text = f"{node.kind}({', '.join(parts)})" if node.args else node.kind
    return text if len(text) < 80 else text[:79] + "…"
