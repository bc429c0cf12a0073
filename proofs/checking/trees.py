"""Expression trees: read from JSON with shapes and limits checked, equal subtrees shared, free symbols known.

["num","2/3"] ["sym","t"] ["pi"] ["i"] ["add",a,…] ["mul",a,…] ["pow",a,n] ["sqrt","p/q"]
["exp",a] and sin cos tan sinh cosh tanh; ["diff",e,"t",k] ["at",e,"t",value] ["fn","f",a,…]
["root","p/q","r/s"] and ["log",a] for numbers only; ["matrix",[[e,…],…]] ["matmul",A,…]
["matadd",A,…] ["matpow",A,n] ["transpose",A] ["smul",e,A]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .reading import integer, items, rational, text
from .refusal import Refusal, shown

DEPTH = 150
POWER = 10_000
SIDE = 128
NODES = 300_000
FUNCTIONS = ("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh")
Shape = tuple[int, int] | None


class Node:
    """A shared tree: kind, arguments (Nodes, names, numbers), free symbol names, matrix shape or None."""

    __slots__ = ("args", "depth", "divides", "free", "kind", "numeric", "real", "shape")

    def __init__(self, kind: str, args: tuple[Any, ...], shape: Shape, free: frozenset[str]) -> None:
        self.kind, self.args, self.shape, self.free = kind, args, shape, free
        children = [a for a in args if isinstance(a, Node)]
        self.depth = 1 + max((c.depth for c in children), default=0)
        self.divides = kind == "tan" or (kind == "pow" and args[1] < 0) or any(c.divides for c in children)
        self.real = kind != "i" and all(c.real for c in children)
        self.numeric = kind in ("log", "root") or any(c.numeric for c in children)

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns of a node that is known to be a matrix."""
        assert self.shape is not None
        return self.shape


class Forest:
    """All trees of one document; structurally equal trees are one object."""

    def __init__(self) -> None:
        self._nodes: dict[tuple[Any, ...], Node] = {}
        self.derivatives: dict[tuple[Node, str], Node] = {}

    def node(self, kind: str, *args: Any, shape: Shape = None) -> Node:
        """The one node with these arguments; `shape` is that of the result."""
        key = (kind, shape, *(id(a) if isinstance(a, Node) else (type(a), a) for a in args))
        found = self._nodes.get(key)
        if found is None:
            if len(self._nodes) > NODES:
                raise Refusal(f"needs more than {NODES} different subtrees")
            found = self._nodes[key] = Node(kind, args, shape, _free(kind, args))
            if found.depth > DEPTH:
                raise Refusal(f"is nested deeper than {DEPTH}")
        return found

    def read(self, tree: Any) -> Node:
        """The tree written in JSON; a refusal names the place inside it."""
        if not isinstance(tree, list) or not tree or not isinstance(tree[0], str):
            raise Refusal(f"is {shown(tree)}; a tree such as ['sym', 't'] is needed")
        reader = _READERS.get(tree[0])
        if reader is None:
            raise Refusal(f"is of the unknown kind {shown(tree[0])}")
        return reader(self, tree)

    def scalar(self, tree: Any) -> Node:
        node = self.read(tree)
        if node.shape is not None:
            raise Refusal(f"is a {node.shape[0]} x {node.shape[1]} matrix; a scalar is needed")
        return node

    def number(self, value: Any) -> Node:
        return self.node("num", value)

    # The readers, one for each group of kinds.

    def _leaf(self, tree: list[Any]) -> Node:
        _length(tree, 0, 0)
        return self.node(tree[0])

    def _num(self, tree: list[Any]) -> Node:
        _length(tree, 1, 1)
        return self.node("num", _part(tree, 1, rational))

    def _sym(self, tree: list[Any]) -> Node:
        _length(tree, 1, 1)
        return self.node("sym", _part(tree, 1, name))

    def _many(self, tree: list[Any]) -> Node:
        _length(tree, 1, None)
        return self.node(tree[0], *(_part(tree, i, self.scalar) for i in range(1, len(tree))))

    def _unary(self, tree: list[Any]) -> Node:
        _length(tree, 1, 1)
        return self.node(tree[0], _part(tree, 1, self.scalar))

    def _pow(self, tree: list[Any]) -> Node:
        _length(tree, 2, 2)
        return self.node("pow", _part(tree, 1, self.scalar), _part(tree, 2, integer, -POWER, POWER))

    def _sqrt(self, tree: list[Any]) -> Node:
        _length(tree, 1, 1)
        value = _part(tree, 1, rational)
        if value < 0:
            raise Refusal("is negative; sqrt needs a number >= 0", "[1]")
        return self.node("sqrt", value)

    def _root(self, tree: list[Any]) -> Node:
        _length(tree, 2, 2)
        base, exponent = _part(tree, 1, rational), _part(tree, 2, rational)
        if base <= 0:
            raise Refusal("is not positive; root needs a positive base", "[1]")
        return self.node("root", base, exponent)

    def _diff(self, tree: list[Any]) -> Node:
        _length(tree, 3, 3)
        body, variable, order = (
            _part(tree, 1, self.read),
            _part(tree, 2, name),
            _part(tree, 3, integer, 1, 20),
        )
        return self.node("diff", body, variable, order, shape=body.shape)

    def _at(self, tree: list[Any]) -> Node:
        _length(tree, 3, 3)
        body = _part(tree, 1, self.read)
        return self.node("at", body, _part(tree, 2, name), _part(tree, 3, self.scalar), shape=body.shape)

    def _fn(self, tree: list[Any]) -> Node:
        _length(tree, 1, None)
        return self.node(
            "fn", _part(tree, 1, name), *(_part(tree, i, self.scalar) for i in range(2, len(tree)))
        )

    def _matrix(self, tree: list[Any]) -> Node:
        _length(tree, 1, 1)
        rows = _part(tree, 1, items)
        widths = {len(row) if isinstance(row, list) else 0 for row in rows}
        if len(widths) != 1 or not 0 < len(rows) <= SIDE or not 0 < max(widths) <= SIDE:
            raise Refusal(
                f"is no matrix: rows of one length, from 1 x 1 to {SIDE} x {SIDE}, are needed", "[1]"
            )
        entries = [self._entry(rows, i, j) for i in range(len(rows)) for j in range(len(rows[0]))]
        return self.node("matrix", *entries, shape=(len(rows), len(rows[0])))

    def _entry(self, rows: list[Any], i: int, j: int) -> Node:
        try:
            return self.scalar(rows[i][j])
        except Refusal as refusal:
            refusal.place[:0] = [f"[1][{i}][{j}]"]
            raise

    def _matrices(self, tree: list[Any]) -> list[Node]:
        _length(tree, 1, None)
        parts = [_part(tree, i, self.read) for i in range(1, len(tree))]
        for i, part in enumerate(parts, 1):
            if part.shape is None:
                raise Refusal("is a scalar; a matrix is needed", f"[{i}]")
        return parts

    def _matmul(self, tree: list[Any]) -> Node:
        parts = self._matrices(tree)
        for i in range(1, len(parts)):
            left, right = parts[i - 1].size, parts[i].size
            if left[1] != right[0]:
                raise Refusal(
                    f"has {right[0]} rows; {left[1]} are needed after what stands before it", f"[{i + 1}]"
                )
        return self.node("matmul", *parts, shape=(parts[0].size[0], parts[-1].size[1]))

    def _matadd(self, tree: list[Any]) -> Node:
        parts = self._matrices(tree)
        for i, part in enumerate(parts, 1):
            if part.shape != parts[0].shape:
                raise Refusal(f"has the shape {part.shape}; {parts[0].shape} is needed", f"[{i}]")
        return self.node("matadd", *parts, shape=parts[0].shape)

    def _matpow(self, tree: list[Any]) -> Node:
        _length(tree, 2, 2)
        body, power = _part(tree, 1, self.read), _part(tree, 2, integer, 0, POWER)
        if body.shape is None or body.shape[0] != body.shape[1]:
            raise Refusal("is no square matrix", "[1]")
        return self.node("matpow", body, power, shape=body.shape)

    def _transpose(self, tree: list[Any]) -> Node:
        _length(tree, 1, 1)
        (body,) = self._matrices(tree)
        return self.node("transpose", body, shape=(body.size[1], body.size[0]))

    def _smul(self, tree: list[Any]) -> Node:
        _length(tree, 2, 2)
        factor, body = _part(tree, 1, self.scalar), _part(tree, 2, self.read)
        if body.shape is None:
            raise Refusal("is a scalar; a matrix is needed", "[2]")
        return self.node("smul", factor, body, shape=body.shape)


_READERS = {
    "num": Forest._num, "sym": Forest._sym, "pi": Forest._leaf, "i": Forest._leaf, "add": Forest._many,
    "mul": Forest._many, "pow": Forest._pow, "sqrt": Forest._sqrt, "root": Forest._root, "log": Forest._unary,
    **dict.fromkeys(FUNCTIONS, Forest._unary), "diff": Forest._diff, "at": Forest._at, "fn": Forest._fn,
    "matrix": Forest._matrix, "matmul": Forest._matmul, "matadd": Forest._matadd, "matpow": Forest._matpow,
    "transpose": Forest._transpose, "smul": Forest._smul,
}  # fmt: skip


def name(value: Any) -> str:
    if not text(value) or len(value) > 100:
        raise Refusal(f"is {shown(value)}; a name of 1 to 100 characters is needed")
    return value


def entries(node: Node) -> list[tuple[int, int]]:
    """The index pairs of a matrix node, row by row."""
    return [(i, j) for i in range(node.size[0]) for j in range(node.size[1])]


def _part(tree: list[Any], i: int, reader: Any, *limits: int) -> Any:
    try:
        return reader(tree[i], *limits)
    except Refusal as refusal:
        refusal.place.insert(0, f"[{i}]")
        raise


def _length(tree: Sequence[Any], least: int, most: int | None) -> None:
    if len(tree) - 1 < least or (most is not None and len(tree) - 1 > most):
        wanted = f"at least {least}" if most is None else str(most)
        raise Refusal(f"has {len(tree) - 1} arguments; {tree[0]} takes {wanted}")


def _free(kind: str, args: tuple[Any, ...]) -> frozenset[str]:
    if kind == "sym":
        return frozenset((args[0],))
    if kind == "at":
        return (args[0].free - {args[1]}) | args[2].free
    return frozenset().union(*(a.free for a in args if isinstance(a, Node)))
