"""Expression trees: read from JSON, and written out until only plain operations on scalars are left.

A matrix becomes rows of scalars, `diff` the derived and `at` the substituted tree; what is left is num sym pi
i add mul pow root log exp sin cos fn. Nothing that divides is ever dropped: 0/x stays 0·x^-1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, lru_cache, reduce
from typing import Any

from .reading import each, integer, need, number, part, spend, typed

DEPTH, POWER, SIDE, HALF = 200, 10_000, 128, Fraction(1, 2)
Tree = Any  # a Node, or a list of rows of Nodes


class Node:
    """A scalar: kind, arguments (Nodes, names, numbers); free symbols, those inside fn, divisors, depth."""

    __slots__ = ("args", "depth", "divisors", "free", "kind", "opaque")

    def __init__(self, kind: str, args: tuple[Any, ...]) -> None:
        inner = [a for a in args if isinstance(a, Node)]
        divides = kind == "pow" and args[1] < 0
        self.kind, self.args = kind, args
        self.free = frozenset[Any](args if kind == "sym" else ()).union(*(a.free for a in inner))
        self.opaque = self.free if kind == "fn" else frozenset[Any]().union(*(a.opaque for a in inner))
        self.divisors = frozenset[Node](inner if divides else ()).union(*(a.divisors for a in inner))
        self.depth = 1 + max((a.depth for a in inner), default=0)
        need(self.depth <= DEPTH, f"is nested deeper than {DEPTH}")


@lru_cache(maxsize=1 << 15)
def node(kind: str, *args: Any) -> Node:
    """The one Node with these arguments."""
    spend(1)
    return Node(kind, args)


def num(value: Fraction | int) -> Node:
    return node("num", Fraction(value))


def add(*parts: Node) -> Node:
    parts = tuple(p for p in parts if p.args != (0,))
    return node("add", *parts) if len(parts) > 1 else parts[0] if parts else num(0)


def mul(*parts: Node) -> Node:
    if any(p.args == (0,) for p in parts) and not any(p.divisors for p in parts):
        return num(0)
    parts = tuple(p for p in parts if p.args != (1,))
    return node("mul", *parts) if len(parts) > 1 else parts[0] if parts else num(1)


def minus(a: Node, b: Node) -> Node:
    return add(a, mul(num(-1), b))


def entrywise(change: Callable[[Node], Node], tree: Tree) -> Tree:
    return [[change(a) for a in row] for row in tree] if isinstance(tree, list) else change(tree)


def substitution(values: Mapping[Any, Node]) -> Callable[[Node], Node]:
    """Every named symbol replaced, all at once."""

    @cache
    def change(a: Node) -> Node:
        if a.free.isdisjoint(values):
            return a
        if a.kind == "sym":
            return values[a.args[0]]
        parts = [change(b) if isinstance(b, Node) else b for b in a.args]
        return add(*parts) if a.kind == "add" else mul(*parts) if a.kind == "mul" else node(a.kind, *parts)

    return change


def derivation(x: str) -> Callable[[Node], Node]:
    """d/dx by the rules of sum, product, power and chain."""

    @cache
    def change(a: Node) -> Node:
        kind, args = a.kind, a.args
        if x not in a.free or kind == "sym":
            return num(1) if x in a.free else mul(num(0), a)
        if kind == "add":
            return add(*map(change, args))
        if kind == "mul":
            return add(*(mul(*args[:k], change(b), *args[k + 1 :]) for k, b in enumerate(args)))
        if kind == "pow":
            base, n = args
            return mul(num(n), node("pow", base, n - 1) if n != 1 else num(1), change(base))
        need(kind in ("exp", "sin", "cos"), f"has the derivative of {kind}")
        outer = {"exp": a, "sin": node("cos", *args), "cos": mul(num(-1), node("sin", *args))}[kind]
        return mul(outer, change(args[0]))

    return change


def product(a: Tree, b: Tree) -> Tree:
    need(len(a[0]) == len(b), f"multiplies {len(a[0])} columns by {len(b)} rows")
    spend(len(a) * len(b) * len(b[0]))
    return [[add(*map(mul, row, column)) for column in zip(*b, strict=True)] for row in a]


def total(a: Tree, b: Tree) -> Tree:
    return [[add(*pair) for pair in zip(r, s, strict=True)] for r, s in zip(a, b, strict=True)]


def matrix(rows: list[list[Node]]) -> Tree:
    need(0 < len(rows[0]) <= SIDE >= len(rows), f"has no size up to {SIDE}")
    need(len({*map(len, rows)}) == 1, "has rows of different lengths")
    return rows


def derived(tree: Tree, x: str, order: int) -> Tree:
    return reduce(lambda a, _: entrywise(derivation(x), a), range(integer(order, 1, 20)), tree)


def substituted(tree: Tree, x: str, value: Node) -> Tree:
    change = substitution({x: value})
    return entrywise(lambda a: add(change(a), mul(num(0), value)), tree)


# The arguments of each kind: q rational, s name, n integer, e scalar, m matrix, t either, r rows, and
# * the one before it again and again. Then what is written out, and how.
PATTERNS = (
    "num:q sym:s pi: i: add:e* mul:e* pow:en sqrt:q root:qq log:e exp:e sin:e cos:e fn:se* diff:tsn at:tse "
    "matrix:r matmul:m* matadd:m* matpow:mn transpose:m smul:em"
)
KINDS = {kind: pattern for kind, _, pattern in (pair.partition(":") for pair in PATTERNS.split())}
WRITTEN: dict[str, Callable[..., Tree]] = {
    "sqrt": lambda q: node("root", q, HALF),
    "diff": derived,
    "at": substituted,
    "matrix": matrix,
    "matmul": lambda *matrices: reduce(product, matrices),
    "matadd": lambda *matrices: reduce(total, matrices),
    "matpow": lambda a, n: reduce(product, [a] * integer(n, 1, 64)),
    "transpose": lambda a: [[*column] for column in zip(*a, strict=True)],
    "smul": lambda c, a: entrywise(lambda b: mul(c, b), a),
}


def read(tree: Any, shape: type | None = None) -> Tree:
    """A scalar as a Node, a matrix as rows of Nodes; a refusal names the place inside the tree."""
    need(isinstance(tree, list) and tree and isinstance(tree[0], str), "is no tree such as ['sym', 't']")
    need(tree[0] in KINDS, f"is of the unknown kind {tree[0]!r:.60}")
    spend(3)
    kind, pattern = tree[0], KINDS[tree[0]]
    if pattern.endswith("*"):
        pattern = pattern[:-1] + pattern[-2] * (len(tree) - len(pattern))
    need(len(tree) - 1 == len(pattern), f"has {len(tree) - 1} arguments, not those of {kind}")
    readers: dict[str, tuple[Any, ...]] = {
        "q": (number,), "s": (typed,), "n": (integer, -POWER, POWER), "r": (each, each, read, Node),
        "e": (read, Node), "m": (read, list), "t": (read,),
    }  # fmt: skip
    args = [part(tree, i, *readers[letter]) for i, letter in enumerate(pattern, 1)]
    found = WRITTEN[kind](*args) if kind in WRITTEN else node(kind, *args)
    need(shape is None or isinstance(found, shape), "is a matrix" if shape is Node else "is no matrix")
    return found
