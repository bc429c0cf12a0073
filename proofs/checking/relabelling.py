"""`reindex` steps: a finite sum or product does not change when its index is relabelled by a bijection.

reindex  index bijection body rhs [operation "sum" | "product"]: Σ_j body = Σ_j rhs, rhs = body with j := p(j)
         refuted: permutation [1, 0, 2] functions witness gap
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from .context import Context, interval
from .equalities import confirm_gap
from .reading import integer, items, one_of
from .refusal import Refusal, shown, within
from .trees import Node, name
from .values import Evaluator, Point, Value

_SIZE = 12


def reindex(context: Context, step: Mapping[str, Any]) -> None:
    with within("index"):
        index = name(step["index"])
    with within("bijection"):
        bijection = name(step["bijection"])
    with within("operation"):
        product = one_of(step.get("operation", "sum"), ("sum", "product")) == "product"
    body, rhs = context.scalar(step, "body"), context.scalar(step, "rhs")
    if step["status"] == "refuted":
        _refuted(context, step, (index, bijection, product), body, rhs)
        return
    field, forms = context.forms.field, context.forms
    image = field.function(bijection, (field.symbol(index),))
    if not field.equal(field.substitute(forms.scalar(body), {index: image}), forms.scalar(rhs)):
        raise Refusal(f"is not body with {shown(index)} replaced by {shown(bijection)}({index})", "rhs")


def _refuted(
    context: Context, step: Mapping[str, Any], names: tuple[str, str, bool], body: Node, rhs: Node
) -> None:
    """Both sums over j = 0, …, N-1 with the bijection and the opaque functions given by tables."""
    index, bijection, product = names
    with within("permutation"):
        images = items(step.get("permutation"))
        for i, image in enumerate(images):
            with within(f"[{i}]"):
                integer(image, 0, len(images) - 1)
        if not 0 < len(images) <= _SIZE or len(set(images)) < len(images):
            raise Refusal(f"is no permutation of 0, …, N-1 with N from 1 to {_SIZE}")
    given = context.point({**step, "witness": step.get("witness") or {}}, (body.free | rhs.free) - {index})
    table: dict[tuple[Fraction, ...], Fraction] = {(Fraction(j),): Fraction(p) for j, p in enumerate(images)}
    point = Point(given.symbols, {**given.functions, bijection: table})

    def difference(evaluator: Evaluator) -> Value:
        left, right = (_total(evaluator, tree, index, len(images), product) for tree in (body, rhs))
        return evaluator.add(left, evaluator.negative(right))

    with within("gap"):
        confirm_gap(context, point, difference, interval(step.get("gap")))


def _total(evaluator: Evaluator, tree: Node, index: str, size: int, product: bool) -> Value:
    total: Value = Fraction(int(product))
    for j in range(size):
        symbols = {**evaluator.symbols, index: Fraction(j)}
        value = Evaluator(evaluator.forest, evaluator.arithmetic, symbols, evaluator.functions).value(tree)
        total = evaluator.multiply(total, value) if product else evaluator.add(total, value)
    return total
