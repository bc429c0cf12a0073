"""The derivative of a tree as a tree, so that witnesses of differential identities can be evaluated."""

from __future__ import annotations

from fractions import Fraction

from .refusal import Refusal
from .trees import Forest, Node

_INNER = {"sin": "cos", "cosh": "sinh", "sinh": "cosh"}


def derivative(forest: Forest, node: Node, name: str) -> Node:
    """d node / d name; `diff` inside is expanded first, `at` gives the chain rule."""
    key = (node, name)
    found = forest.derivatives.get(key)
    if found is None:
        found = forest.derivatives[key] = _derivative(forest, expanded(forest, node), name)
    return found


def expanded(forest: Forest, node: Node) -> Node:
    """A `diff` node as the tree of that derivative; any other node itself."""
    if node.kind != "diff":
        return node
    body, name, order = node.args
    for _ in range(order):
        body = derivative(forest, body, name)
    return body


def _derivative(forest: Forest, node: Node, name: str) -> Node:
    if name not in node.free:
        return _zero(forest, node.shape)
    if node.kind == "sym":
        return forest.number(Fraction(1))
    if node.kind == "at":
        return _at(forest, node, name)
    return _scalar(forest, node, name) if node.shape is None else _matrix(forest, node, name)


def _zero(forest: Forest, shape: tuple[int, int] | None) -> Node:
    zero = forest.number(Fraction(0))
    return zero if shape is None else forest.node("matrix", *[zero] * (shape[0] * shape[1]), shape=shape)


def _scalar(forest: Forest, node: Node, name: str) -> Node:
    kind, args = node.kind, node.args
    if kind == "add":
        return forest.node("add", *(derivative(forest, a, name) for a in args))
    if kind == "mul":
        terms = [
            forest.node("mul", *args[:i], derivative(forest, a, name), *args[i + 1 :])
            for i, a in enumerate(args)
            if name in a.free
        ]
        return forest.node("add", *terms)
    if kind == "fn":
        raise Refusal("has the derivative of an opaque function, which has no value at a point")
    if kind == "log":
        raise Refusal("has the derivative of a logarithm; only an enclosed number may use log")
    inner = derivative(forest, args[0], name)
    return forest.node("mul", _outer(forest, node), inner)


def _outer(forest: Forest, node: Node) -> Node:
    """f'(a) for f(a)."""
    kind, a = node.kind, node.args[0]
    if kind == "pow":
        n = node.args[1]
        if n == 0:
            return forest.number(Fraction(0))
        return forest.node("mul", forest.number(Fraction(n)), forest.node("pow", a, n - 1))
    if kind == "exp":
        return node
    if kind in _INNER:
        return forest.node(_INNER[kind], a)
    if kind == "cos":
        return forest.node("mul", forest.number(Fraction(-1)), forest.node("sin", a))
    return forest.node("pow", forest.node("cos" if kind == "tan" else "cosh", a), -2)


def _at(forest: Forest, node: Node, name: str) -> Node:
    """d/dx e(y = v(x)) = (∂e/∂x)(y = v) [unless y is x] + (∂e/∂y)(y = v) dv/dx"""
    body, bound, value = node.args
    parts = []
    if bound != name and name in body.free:
        parts.append(forest.node("at", derivative(forest, body, name), bound, value, shape=node.shape))
    if name in value.free and bound in body.free:
        slope = forest.node("at", derivative(forest, body, bound), bound, value, shape=node.shape)
        kind = "mul" if node.shape is None else "smul"
        parts.append(forest.node(kind, derivative(forest, value, name), slope, shape=node.shape))
    if not parts:
        return _zero(forest, node.shape)
    return forest.node("add" if node.shape is None else "matadd", *parts, shape=node.shape)


def _matrix(forest: Forest, node: Node, name: str) -> Node:
    kind, args, shape = node.kind, node.args, node.shape
    if kind == "matpow":
        kind, args = "matmul", (args[0],) * args[1]
    if kind in ("matrix", "matadd", "transpose"):
        return forest.node(kind, *(derivative(forest, a, name) for a in args), shape=shape)
    if not args:
        return _zero(forest, shape)
    terms = [
        forest.node(kind, *args[:i], derivative(forest, a, name), *args[i + 1 :], shape=shape)
        for i, a in enumerate(args)
        if name in a.free
    ]
    return forest.node("matadd", *terms, shape=shape)
