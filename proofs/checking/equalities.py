"""Steps about two sides or one number: `identity`, `apart` and `enclosed`.

identity  lhs rhs assume; proved: [nonzero]; refuted: witness gap [entry nonzero functions]
apart     lhs rhs assume; proved: witness gap [entry functions]; refuted: (the sides are formally equal)
enclosed  expr lower upper: lower < expr < upper for a number; refuted: it lies outside
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from .context import Context, brief, interval
from .intervals import Interval
from .reading import bound, integer, items
from .refusal import Refusal, shown, within
from .signs import assumptions
from .trees import Node, entries
from .values import Evaluator, Point, Value, settle

Step = Mapping[str, Any]


def identity(context: Context, step: Step) -> None:
    """Proved by canonical form; refuted by the value at the witness."""
    lhs, rhs = sides(context, step)
    if step["status"] == "proved":
        formally_equal(context, step, lhs, rhs)
    else:
        apart_at_witness(context, step, lhs, rhs)


def apart(context: Context, step: Step) -> None:
    """Proved by the value at the witness; refuted by canonical form."""
    lhs, rhs = sides(context, step)
    if step["status"] == "proved":
        apart_at_witness(context, step, lhs, rhs)
    else:
        formally_equal(context, step, lhs, rhs)


def sides(context: Context, step: Step) -> tuple[Node, Node]:
    lhs, rhs = context.read(step, "lhs"), context.read(step, "rhs")
    zero = rhs.kind == "num" and not rhs.args[0]
    if lhs.shape != rhs.shape and not (lhs.shape and zero):
        raise Refusal(f"has the shape {rhs.shape}; {lhs.shape} is needed", "rhs")
    return lhs, rhs


def formally_equal(context: Context, step: Step, lhs: Node, rhs: Node) -> None:
    with within("assume"):
        assumed = assumptions(step["assume"])
    listed = conditions(context, step)
    for key, node in (("lhs", lhs), ("rhs", rhs)):
        with within(key):
            context.divides_safely(node, assumed, listed)
    with within("lhs - rhs"):
        _all_zero(context, lhs, rhs)


def conditions(context: Context, step: Step) -> list[Node]:
    """The listed non-zero conditions; none of them may be identically zero."""
    listed = []
    with within("nonzero"):
        for i, tree in enumerate(items(step.get("nonzero") or [])):
            with within(f"[{i}]"):
                listed.append(context.forest.scalar(tree))
                if context.forms.field.is_zero(context.forms.scalar(listed[-1])):
                    raise Refusal("is identically zero")
    return listed


def _all_zero(context: Context, lhs: Node, rhs: Node) -> None:
    field, forms = context.forms.field, context.forms
    if lhs.shape is None:
        if not field.equal(forms.scalar(lhs), forms.scalar(rhs)):
            raise Refusal("is not zero in canonical form")
        return
    left = forms.rows(lhs)
    right = forms.rows(rhs) if rhs.shape else [[field.zero] * lhs.shape[1]] * lhs.shape[0]
    for i, j in entries(lhs):
        if not field.equal(left[i][j], right[i][j]):
            raise Refusal("is not zero in canonical form", f"[{i}][{j}]")


def apart_at_witness(context: Context, step: Step, lhs: Node, rhs: Node) -> None:
    with within("assume"):
        assumed = assumptions(step["assume"])
    point = context.point(step, lhs.free | rhs.free)
    context.admits(point, assumed)
    context.nonzero_at(point, conditions(context, step))
    entry = _entry(step, lhs)

    def difference(evaluator: Evaluator) -> Value:
        left, right = _picked(evaluator, lhs, entry), _picked(evaluator, rhs, entry)
        return evaluator.add(left, evaluator.negative(right))

    with within("gap"):
        confirm_gap(context, point, difference, interval(step.get("gap"), (2, 4)))


def _entry(step: Step, lhs: Node) -> tuple[int, int] | None:
    value = step.get("entry")
    with within("entry"):
        if lhs.shape is None:
            if value is not None:
                raise Refusal(f"is {shown(value)}; the sides are no matrices")
            return None
        if value is None or len(items(value)) != 2:
            raise Refusal(f"is {shown(value)}; [row, column] is needed, the sides are matrices")
        return integer(value[0], 0, lhs.shape[0] - 1), integer(value[1], 0, lhs.shape[1] - 1)


def _picked(evaluator: Evaluator, node: Node, entry: tuple[int, int] | None) -> Value:
    if entry is None or node.shape is None:
        return evaluator.value(node)
    return evaluator.rows(node)[entry[0]][entry[1]]


def confirm_gap(context: Context, point: Point, difference: Any, gap: list[Fraction]) -> None:
    """The difference lies in the gap (a real interval, or a real and an imaginary one), and 0 does not."""
    if all(a <= 0 <= b for a, b in zip(gap[::2], gap[1::2], strict=True)):
        raise Refusal("contains 0, so nothing keeps the sides apart")
    inside = settle(context.forest, point, lambda evaluator: _inside(evaluator, difference(evaluator), gap))
    if inside is None:
        raise Refusal("cannot be confirmed: its ends are too near to the value of lhs - rhs at the witness")
    if not inside:
        raise Refusal("does not contain the value of lhs - rhs at the witness")


def _inside(evaluator: Evaluator, value: Value, gap: list[Fraction]) -> bool | None:
    if isinstance(value, Fraction):
        return gap[0] <= value <= gap[1] and (len(gap) == 2 or gap[2] <= 0 <= gap[3])
    answers = [
        within_bounds(evaluator, x, *gap[2 * k : 2 * k + 2]) for k, x in enumerate(value[: len(gap) // 2])
    ]
    return False if False in answers else None if None in answers else True


def within_bounds(evaluator: Evaluator, x: Interval, low: Fraction, high: Fraction) -> bool | None:
    """True: the interval lies between the bounds; False: beyond one of them; None: it straddles an end."""
    (a, b), one = x, evaluator.arithmetic.one
    if a >= low * one and b <= high * one:
        return True
    return False if b < low * one or a > high * one else None


def enclosed(context: Context, step: Step) -> None:
    expr = context.scalar(step, "expr")
    with within("lower"):
        low = bound(step["lower"])
    with within("upper"):
        high = bound(step["upper"])
    if low >= high:
        raise Refusal("is not above lower", "upper")
    if expr.free:
        raise Refusal(f"has the free symbol {shown(min(expr.free))}; a number is needed", "expr")
    with within("expr"):
        inside = settle(context.forest, Point(), lambda evaluator: _between(evaluator, expr, low, high))
        if inside is None:
            raise Refusal(f"= {brief(expr)} is too near to a bound to tell")
        if inside != (step["status"] == "proved"):
            raise Refusal(f"= {brief(expr)} lies {'inside' if inside else 'outside'} ({low}, {high})"[:300])


def _between(evaluator: Evaluator, expr: Node, low: Fraction, high: Fraction) -> bool | None:
    value = evaluator.value(expr)
    if isinstance(value, Fraction):
        return low < value < high
    if value[1] != (0, 0):
        raise Refusal("may be complex; a real number is needed")
    (a, b), one = value[0], evaluator.arithmetic.one
    if a > low * one and b < high * one:
        return True
    return False if b <= low * one or a >= high * one else None
