"""From trees to canonical form: a scalar is a quotient of exponential sums, a matrix a list of rows."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from .quotients import Field, Quotient
from .refusal import Refusal
from .sums import PI
from .trees import Node

Rows = list[list[Quotient]]


class Forms:
    """The canonical forms of one document, each tree expanded once."""

    def __init__(self) -> None:
        self.field = Field()
        self._scalars: dict[Node, Quotient] = {}
        self._matrices: dict[Node, Rows] = {}

    def scalar(self, node: Node) -> Quotient:
        found = self._scalars.get(node)
        if found is None:
            found = self._scalars[node] = self._scalar(node)
        return found

    def rows(self, node: Node) -> Rows:
        found = self._matrices.get(node)
        if found is None:
            found = self._matrices[node] = self._rows(node)
        return found

    def _scalar(self, node: Node) -> Quotient:
        field, kind, args = self.field, node.kind, node.args
        if kind == "num":
            return field.constant(args[0])
        if kind == "sym":
            return field.symbol(args[0])
        if kind in ("add", "mul"):
            return self._many(kind, args)
        if kind == "pow":
            return field.power(self.scalar(args[0]), args[1])
        if kind == "pi":
            return field.symbol(PI)
        if kind == "i":
            return field.whole(field.ring.root(Fraction(1, 2)))
        if kind == "sqrt":
            return field.square_root(args[0])
        if kind == "fn":
            return field.function(args[0], tuple(map(self.scalar, args[1:])))
        if kind == "diff":
            return self._derived(self.scalar(args[0]), args[1], args[2])
        if kind == "at":
            return field.substitute(self.scalar(args[0]), {args[1]: self.scalar(args[2])})
        if kind in ("log", "root"):
            raise Refusal(f"uses {kind}, which has no canonical form; only an enclosed number may")
        return self._transcendental(kind, self.scalar(args[0]))

    def _many(self, kind: str, args: tuple[Node, ...]) -> Quotient:
        field, parts = self.field, [self.scalar(a) for a in args]
        if kind == "add" and all(p.den is field.ring.one for p in parts):
            return field.whole(field.ring.total(p.num for p in parts))
        combine = field.add if kind == "add" else field.multiply
        result = parts[0]
        for part in parts[1:]:
            result = combine(result, part)
        return result

    def _derived(self, a: Quotient, name: str, order: int) -> Quotient:
        for _ in range(order):
            a = self.field.derivative(a, name)
        return a

    def _transcendental(self, kind: str, a: Quotient) -> Quotient:
        """cos x = (e^(ix) + e^(-ix))/2 and its relatives."""
        field = self.field
        if kind == "exp":
            return field.exponential(a)
        i = field.whole(field.ring.root(Fraction(1, 2)))
        x = field.multiply(i, a) if kind in ("sin", "cos", "tan") else a
        up, down = field.exponential(x), field.exponential(field.negative(x))
        half = field.constant(Fraction(1, 2))
        even = field.multiply(half, field.add(up, down))
        odd = field.multiply(half, field.subtract(up, down))
        if kind in ("sin", "tan"):
            odd = field.multiply(odd, field.negative(i))
        if kind in ("cos", "cosh"):
            return even
        return odd if kind in ("sin", "sinh") else field.multiply(odd, field.inverse(even))

    def _rows(self, node: Node) -> Rows:
        kind, args = node.kind, node.args
        if kind == "matrix":
            width = node.size[1]
            flat = [self.scalar(a) for a in args]
            return [flat[i : i + width] for i in range(0, len(flat), width)]
        if kind == "matmul":
            return self._product([self.rows(a) for a in args])
        if kind == "matpow":
            return self._power(self.rows(args[0]), args[1])
        if kind == "transpose":
            return [list(column) for column in zip(*self.rows(args[0]), strict=True)]
        if kind == "matadd":
            return self._sum([self.rows(a) for a in args])
        if kind == "smul":
            factor = self.scalar(args[0])
            return [[self.field.multiply(factor, a) for a in row] for row in self.rows(args[1])]
        if kind == "diff":
            return [[self._derived(a, args[1], args[2]) for a in row] for row in self.rows(args[0])]
        values = {args[1]: self.scalar(args[2])}
        return [[self.field.substitute(a, values) for a in row] for row in self.rows(args[0])]

    def _sum(self, parts: list[Rows]) -> Rows:
        result = parts[0]
        for part in parts[1:]:
            result = [list(map(self.field.add, r, s)) for r, s in zip(result, part, strict=True)]
        return result

    def _product(self, parts: list[Rows]) -> Rows:
        """The cheapest neighbours first: a row vector from the left, a column vector from the right."""
        parts = list(parts)
        while len(parts) > 1:
            sizes = [len(a) * len(b) * len(b[0]) for a, b in pairwise(parts)]
            k = sizes.index(min(sizes))
            parts[k : k + 2] = [self._times(parts[k], parts[k + 1])]
        return parts[0]

    def _times(self, a: Rows, b: Rows) -> Rows:
        """Zero entries cost nothing."""
        field = self.field
        sparse = [[(j, x) for j, x in enumerate(row) if x.num] for row in b]
        out = []
        for row in a:
            sums: list[list[Quotient]] = [[] for _ in b[0]]
            for k, x in enumerate(row):
                if x.num:
                    for j, y in sparse[k]:
                        sums[j].append(field.multiply(x, y))
            out.append([self._total(parts) for parts in sums])
        return out

    def _total(self, parts: list[Quotient]) -> Quotient:
        field = self.field
        if all(p.den is field.ring.one for p in parts):
            return field.whole(field.ring.total(p.num for p in parts))
        result = field.zero
        for part in parts:
            result = field.add(result, part)
        return result

    def _power(self, a: Rows, n: int) -> Rows:
        one, zero = self.field.one, self.field.zero
        result = [[one if i == j else zero for j in range(len(a))] for i in range(len(a))]
        while n:
            if n & 1:
                result = self._times(result, a)
            n >>= 1
            if n:
                a = self._times(a, a)
        return result
