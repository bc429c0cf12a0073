"""The value of a tree at a rational point: exact where arithmetic alone gives it, else a complex box.

The original tree is evaluated, not its canonical form. A derivative is taken on the tree first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from .calculus import expanded
from .intervals import Arithmetic, Interval
from .refusal import Refusal, shown
from .trees import Forest, Node

PRECISIONS = (96, 256, 768, 2304)
_BITS = 30_000
_WORK = 1_000_000
_LARGE = "has numbers that are too large to evaluate"
Box = tuple[Interval, Interval]
Value = Fraction | Box
Answer = TypeVar("Answer")
Table = Mapping[str, Mapping[tuple[Fraction, ...], Fraction]]


class Vague(Exception):
    """An enclosure is too wide to go on (a divisor or a logarithm near 0): more precision may help."""


@dataclass(frozen=True)
class Point:
    """Rational values of the symbols, and of opaque functions at rational arguments."""

    symbols: Mapping[str, Fraction] = field(default_factory=dict)
    functions: Table = field(default_factory=dict)


def real(value: Value, arithmetic: Arithmetic) -> Interval | None:
    """The value as a real interval, None if it may have an imaginary part."""
    if isinstance(value, Fraction):
        return arithmetic.enclose(value)
    return value[0] if value[1] == (0, 0) else None


class Evaluator:
    """Values of trees at one point with one precision."""

    def __init__(
        self, forest: Forest, arithmetic: Arithmetic, symbols: Mapping[str, Value], functions: Table
    ) -> None:
        self.forest, self.arithmetic, self.symbols, self.functions = forest, arithmetic, symbols, functions
        self._work = 0
        self._values: dict[Node, Value] = {}
        self._matrices: dict[Node, list[list[Value]]] = {}

    def box(self, value: Value) -> Box:
        return (self.arithmetic.enclose(value), (0, 0)) if isinstance(value, Fraction) else value

    def value(self, node: Node) -> Value:
        found = self._values.get(node)
        if found is None:
            found = self._values[node] = self._value(node)
        return found

    # Arithmetic of values

    def add(self, a: Value, b: Value) -> Value:
        if isinstance(a, Fraction) and isinstance(b, Fraction):
            return a + b
        (x, y), (z, w) = self.box(a), self.box(b)
        return self.arithmetic.add(x, z), self.arithmetic.add(y, w)

    def negative(self, a: Value) -> Value:
        if isinstance(a, Fraction):
            return -a
        return self.arithmetic.negative(a[0]), self.arithmetic.negative(a[1])

    def multiply(self, a: Value, b: Value) -> Value:
        if isinstance(a, Fraction) and isinstance(b, Fraction):
            return _small(a * b)
        if a == 0 or b == 0:
            return Fraction(0)
        ar, (x, y), (z, w) = self.arithmetic, self.box(a), self.box(b)
        if y == w == (0, 0):
            return ar.multiply(x, z), (0, 0)
        real_part = ar.add(ar.multiply(x, z), ar.negative(ar.multiply(y, w)))
        return real_part, ar.add(ar.multiply(x, w), ar.multiply(y, z))

    def inverse(self, a: Value) -> Value:
        if isinstance(a, Fraction):
            if not a:
                raise Refusal("divides by zero at this point")
            return 1 / a
        ar, (x, y) = self.arithmetic, a
        if y == (0, 0):
            return _certain(ar.inverse(x)), (0, 0)
        size = _certain(ar.inverse(ar.add(ar.multiply(x, x), ar.multiply(y, y))))
        return ar.multiply(x, size), ar.multiply(ar.negative(y), size)

    def power(self, a: Value, n: int) -> Value:
        if n < 0:
            a, n = self.inverse(a), -n
        if isinstance(a, Fraction):
            if n * max(a.numerator.bit_length(), a.denominator.bit_length()) > _BITS:
                raise Refusal(_LARGE)
            return a**n
        result: Value = Fraction(1)
        while n:
            if n & 1:
                result = self.multiply(result, a)
            n >>= 1
            if n:
                a = self._bounded(self.multiply(a, a))
        return result

    def _bounded(self, a: Value) -> Value:
        if any(abs(end).bit_length() > self.arithmetic.bits + _BITS for x in self.box(a) for end in x):
            raise Refusal(_LARGE)
        return a

    # Trees

    def _value(self, node: Node) -> Value:
        kind, args = node.kind, node.args
        if kind in _PLAIN:
            return _PLAIN[kind](self, args)
        if kind == "diff":
            return self.value(expanded(self.forest, node))
        if kind == "at":
            return self._moved(args).value(args[0])
        return self._transcendental(kind, self.value(args[0]))

    def _moved(self, args: tuple) -> Evaluator:
        symbols = {**self.symbols, args[1]: self.value(args[2])}
        return Evaluator(self.forest, self.arithmetic, symbols, self.functions)

    def _symbol(self, args: tuple) -> Value:
        if args[0] not in self.symbols:
            raise Refusal(f"gives no value to the symbol {shown(args[0])}")
        return self.symbols[args[0]]

    def _fold(self, combine: Callable[[Value, Value], Value], args: Iterable[Node]) -> Value:
        first, *rest = map(self.value, args)
        for value in rest:
            first = combine(first, value)
        return first

    def _sqrt(self, x: Fraction) -> Value:
        interval = self.arithmetic.sqrt(x)
        root = Fraction(interval[0], self.arithmetic.one)
        return root if root * root == x else (interval, (0, 0))

    def _root(self, base: Fraction, exponent: Fraction) -> Value:
        """base^exponent = exp(exponent · log base)"""
        ar = self.arithmetic
        inner = self.multiply(exponent, (_certain(ar.log(ar.enclose(base))), (0, 0)))
        return Fraction(1) if isinstance(inner, Fraction) else (ar.exp(inner[0]), (0, 0))

    def _log(self, args: tuple) -> Value:
        value = self.value(args[0])
        inner = real(value, self.arithmetic)
        if inner is None or value == 0 or inner[1] < 0:
            raise Refusal("takes the logarithm of a number that is not positive")
        return _certain(self.arithmetic.log(inner)), (0, 0)

    def _function(self, args: tuple) -> Value:
        name, *inner = args
        point = tuple(map(self.value, inner))
        if not all(isinstance(v, Fraction) for v in point):
            raise Refusal(f"needs the opaque function {shown(name)} at a point that is no exact rational")
        if point not in self.functions.get(name, {}):
            raise Refusal(f"gives no value of {shown(name)} at ({', '.join(map(str, point))})")
        return self.functions[name][point]

    def _transcendental(self, kind: str, value: Value) -> Value:
        if value == 0:
            return Fraction(1 if kind in ("exp", "cos", "cosh") else 0)
        x, y = self.box(value)
        if kind == "exp":
            return self._exp(x, y)
        if kind in ("sin", "cos", "tan"):
            if y == (0, 0):
                sine, cosine = (((s), (0, 0)) for s in self.arithmetic.sin_cos(x))
                return self._circular(kind, sine, cosine)
            turned = (self.arithmetic.negative(y), x)
            even, odd = self._halves(turned)
            return self._circular(kind, self.multiply(odd, ((0, 0), (-self.arithmetic.one,) * 2)), even)
        even, odd = self._halves((x, y))
        return {"cosh": even, "sinh": odd}.get(kind) or self.multiply(odd, self.inverse(even))

    def _circular(self, kind: str, sine: Value, cosine: Value) -> Value:
        return {"sin": sine, "cos": cosine}.get(kind) or self.multiply(sine, self.inverse(cosine))

    def _exp(self, x: Interval, y: Interval) -> Value:
        size = (self.arithmetic.exp(x), (0, 0))
        if y == (0, 0):
            return size
        sine, cosine = self.arithmetic.sin_cos(y)
        return self.multiply(size, (cosine, sine))

    def _halves(self, z: Box) -> tuple[Value, Value]:
        """((e^z + e^-z)/2, (e^z - e^-z)/2)"""
        up, down = self._exp(*z), self._exp(*self.box(self.negative(z)))
        half = Fraction(1, 2)
        return self.multiply(half, self.add(up, down)), self.multiply(half, self.add(up, self.negative(down)))

    # Matrices

    def rows(self, node: Node) -> list[list[Value]]:
        found = self._matrices.get(node)
        if found is None:
            found = self._matrices[node] = self._rows(node)
        return found

    def _rows(self, node: Node) -> list[list[Value]]:
        kind, args = node.kind, node.args
        if kind == "matrix":
            width, flat = node.size[1], list(map(self.value, args))
            return [flat[i : i + width] for i in range(0, len(flat), width)]
        if kind == "diff":
            return self.rows(expanded(self.forest, node))
        if kind == "at":
            return self._moved(args).rows(args[0])
        if kind == "transpose":
            return [list(column) for column in zip(*self.rows(args[0]), strict=True)]
        if kind == "smul":
            factor = self.value(args[0])
            return [[self.multiply(factor, x) for x in row] for row in self.rows(args[1])]
        if kind == "matpow":
            return self._matrix_power(self.rows(args[0]), args[1])
        result = self.rows(args[0])
        for part in args[1:]:
            result = self._combine(kind, result, self.rows(part))
        return result

    def _combine(self, kind: str, a: list[list[Value]], b: list[list[Value]]) -> list[list[Value]]:
        if kind == "matadd":
            return [list(map(self.add, r, s)) for r, s in zip(a, b, strict=True)]
        columns = list(zip(*b, strict=True))
        self._work += len(a) * len(b) * len(columns)
        if self._work > _WORK:
            raise Refusal("has matrix products that are too large to evaluate")
        return [[self._dot(row, column) for column in columns] for row in a]

    def _dot(self, row: Iterable[Value], column: Iterable[Value]) -> Value:
        total: Value = Fraction(0)
        for x, y in zip(row, column, strict=True):
            if x != 0 and y != 0:
                total = self.add(total, self.multiply(x, y))
        return total

    def _matrix_power(self, a: list[list[Value]], n: int) -> list[list[Value]]:
        result: list[list[Value]] = [[Fraction(i == j) for j in range(len(a))] for i in range(len(a))]
        while n:
            if n & 1:
                result = self._combine("matmul", result, a)
            n >>= 1
            if n:
                a = self._combine("matmul", a, a)
        return result


_PLAIN: dict[str, Callable[[Evaluator, tuple], Value]] = {
    "num": lambda self, args: args[0],
    "sym": Evaluator._symbol,
    "pi": lambda self, args: (self.arithmetic.pi(), (0, 0)),
    "i": lambda self, args: ((0, 0), (self.arithmetic.one,) * 2),
    "add": lambda self, args: self._fold(self.add, args),
    "mul": lambda self, args: self._fold(self.multiply, args),
    "pow": lambda self, args: self.power(self.value(args[0]), args[1]),
    "sqrt": lambda self, args: self._sqrt(args[0]),
    "root": lambda self, args: self._root(args[0], args[1]),
    "log": Evaluator._log,
    "fn": Evaluator._function,
}


def _small(a: Fraction) -> Fraction:
    if max(a.numerator.bit_length(), a.denominator.bit_length()) > _BITS:
        raise Refusal(_LARGE)
    return a


def _certain(a: Interval | None) -> Interval:
    if a is None:
        raise Vague
    return a


def evaluators(forest: Forest, point: Point) -> Iterable[Evaluator]:
    """Evaluators at the point, more and more precise."""
    for bits in PRECISIONS:
        yield Evaluator(forest, Arithmetic(bits), point.symbols, point.functions)


def settle(forest: Forest, point: Point, attempt: Callable[[Evaluator], Answer | None]) -> Answer | None:
    """The first answer that some precision gives; None if the last one does not either."""
    for evaluator in evaluators(forest, point):
        try:
            answer = attempt(evaluator)
        except Vague:
            continue
        if answer is not None:
            return answer
    return None


def sign_at(forest: Forest, point: Point, node: Node) -> int | None:
    """-1, 0 (exactly) or 1 of a real tree at the point; None where no precision separates it from 0."""

    def attempt(evaluator: Evaluator) -> int | None:
        value = evaluator.value(node)
        if isinstance(value, Fraction):
            return (value > 0) - (value < 0)
        interval = real(value, evaluator.arithmetic)
        if interval is None:
            raise Refusal("has a value that may be complex; a real one is needed")
        return 1 if interval[0] > 0 else -1 if interval[1] < 0 else None

    return settle(forest, point, attempt)
