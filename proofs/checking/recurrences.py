"""`induction` steps: a closed form for a recursion, base and step each decided with a symbolic index.

induction  index start relation ("==" | ">=") state {s: {first, next}} claim {s: tree} assume
           [reparametrize {x: tree}]: the values that parameters may have, put in last, since parameters are
           constant along the recursion; a tree in the index is c·index + r + constant, c >= 0, own r >= 0
           refuted: witness {index: integer, parameters} symbol gap
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .context import Context, interval
from .equalities import confirm_gap
from .quotients import Quotient
from .reading import fields, one_of, rational
from .refusal import Refusal, shown, within
from .signs import NONNEGATIVE, POSITIVE, Assumed, assumptions, quotient_signs
from .trees import Node, name
from .values import Evaluator, Value

_RUN = 200
Forms = dict[str, Quotient]


@dataclass(frozen=True)
class Recursion:
    """s_start = first, s_(n+1) = next; the claim is a tree for each claimed symbol."""

    index: str
    start: int
    first: Mapping[str, Node]
    next: Mapping[str, Node]
    claim: Mapping[str, Node]
    assumed: Assumed
    parameters: Mapping[str, Node]

    def signs(self, slack: Mapping[str, str]) -> Assumed:
        """What is known during the step: the assumptions, the index from its start on, slacks >= 0."""
        known = {s: v for s, v in self.assumed.items() if s not in self.claim}
        if self.start >= 0:
            known[self.index] = POSITIVE if self.start else NONNEGATIVE
        return known | dict.fromkeys(slack.values(), NONNEGATIVE)


def induction(context: Context, step: Mapping[str, Any]) -> None:
    with within("relation"):
        relation = one_of(step["relation"], ("==", ">="))
    recursion = _read(context, step)
    if step["status"] == "refuted":
        _refuted(context, step, recursion, relation)
    else:
        _proved(context, recursion, relation)


def _read(context: Context, step: Mapping[str, Any]) -> Recursion:
    with within("index"):
        index = name(step["index"])
    with within("start"):
        start = rational(step["start"])
        if start.denominator != 1:
            raise Refusal("is no integer")
    first, following = _state(context, step["state"])
    claim = _trees(context, step, "claim")
    parameters = _trees(context, step, "reparametrize") if "reparametrize" in step else {}
    with within("assume"):
        assumed = assumptions(step["assume"])
    recursion = Recursion(index, int(start), first, following, claim, assumed, parameters)
    _well_formed(recursion)
    _admissible(context, recursion)
    return recursion


def _state(context: Context, value: Any) -> tuple[dict[str, Node], dict[str, Node]]:
    first, following = {}, {}
    with within("state"):
        if not isinstance(value, dict) or not value:
            raise Refusal(f"is {shown(value)}; an object of state symbols is needed")
        for symbol, rule in value.items():
            with within(f"[{shown(symbol)}]"):
                fields(rule, ("first", "next"))
                first[name(symbol)] = context.scalar(rule, "first")
                following[symbol] = context.scalar(rule, "next")
    return first, following


def _trees(context: Context, step: Mapping[str, Any], key: str) -> dict[str, Node]:
    with within(key):
        if not isinstance(step[key], dict) or not step[key]:
            raise Refusal(f"is {shown(step[key])}; an object from symbols to trees is needed")
        out = {}
        for symbol in step[key]:
            with within(f"[{shown(symbol)}]"):
                out[name(symbol)] = context.forest.scalar(step[key][symbol])
        return out


def _well_formed(r: Recursion) -> None:
    for symbol in r.claim:
        if symbol not in r.first:
            raise Refusal(f"is about {shown(symbol)}, which is no state symbol", "claim")
    for symbol, tree in r.claim.items():
        if tree.free & r.claim.keys():
            raise Refusal(f"for {shown(symbol)} uses a claimed symbol", "claim")
    for symbol, tree in r.first.items():
        if tree.free & {r.index, *r.first}:
            raise Refusal(f"for {shown(symbol)} uses the index or a state symbol in first", "state")
    for key, trees in (("state", r.next), ("claim", r.claim)):
        for symbol, tree in trees.items():
            if _moves_state(tree, r.first):
                raise Refusal(f"for {shown(symbol)} uses diff or at around a state symbol", key)
    if r.index in r.first:
        raise Refusal("is also a state symbol", "index")
    known = r.signs({}).get(r.index, frozenset((-1, 0, 1)))
    if not known <= r.assumed.get(r.index, known):
        raise Refusal(f"says more of the index {shown(r.index)} than its start gives", "assume")


def _admissible(context: Context, r: Recursion) -> None:
    """The values that a parameter may have at n are among those at n - 1: the recursion stays inside."""
    formulas = (*r.first.values(), *r.next.values(), *r.claim.values())
    for symbol, tree in r.parameters.items():
        with within("reparametrize", f"[{shown(symbol)}]"):
            if symbol in {r.index, *r.first, *r.assumed} or tree.free & {*r.first, *r.parameters}:
                raise Refusal("touches a state symbol, a replaced one, or one that is assumed of")
            others = (*formulas, *(t for s, t in r.parameters.items() if s != symbol))
            if r.index in tree.free and not _tail(context, r, tree, others):
                raise Refusal(f"is not c·{r.index} + r + constant with c >= 0 and its own r >= 0")


def _tail(context: Context, r: Recursion, tree: Node, others: tuple[Node, ...]) -> bool:
    fresh = tree.free - {r.index}
    if len(fresh) != 1 or any(fresh & t.free for t in others):
        return False
    (new,) = fresh
    field, form = context.forms.field, context.forms.scalar(tree)
    slope = field.derivative(form, r.index)
    rest = field.subtract(form, field.multiply(slope, field.symbol(r.index)))
    constant = field.subtract(rest, field.symbol(new))
    numbers = not field.places(slope) and not field.places(constant)
    known = r.assumed.get(new, frozenset((-1, 0, 1)))
    return numbers and known <= NONNEGATIVE and quotient_signs(context.forms, slope, {}) <= NONNEGATIVE


def _moves_state(tree: Node, state: Mapping[str, Node]) -> bool:
    """A state symbol stands for a function of the parameters, which neither diff nor at can see."""
    if tree.kind in ("diff", "at") and tree.args[0].free & state.keys():
        return True
    return any(_moves_state(a, state) for a in tree.args if isinstance(a, Node))


def _proved(context: Context, r: Recursion, relation: str) -> None:
    slack = {s: "slack of " + s.ljust(101) for s in r.claim} if relation == ">=" else {}
    known = r.signs(slack)
    first, following, claim = _forms(context, r, known)
    rest = {s: f for s, f in first.items() if s not in claim}
    field = context.forms.field
    start, index = field.constant(Fraction(r.start)), field.symbol(r.index)
    for symbol, form in claim.items():
        with within("base", f"[{shown(symbol)}]"):
            target = field.substitute(form, {**rest, r.index: start})
            _holds(context, r, field.subtract(first[symbol], target), (relation, start), known)
    values = {s: field.add(f, field.symbol(slack[s])) if slack else f for s, f in claim.items()}
    moved = {s: field.substitute(f, values) for s, f in following.items()}
    _state_assumptions(context, r, first, moved, known)
    unclaimed = {s: f for s, f in moved.items() if s not in claim}
    for symbol, form in claim.items():
        with within("step", f"[{shown(symbol)}]"):
            target = field.substitute(form, {**unclaimed, r.index: field.add(index, field.one)})
            _holds(
                context, r, field.subtract(moved[symbol], target), (relation, field.add(start, index)), known
            )


def _forms(context: Context, r: Recursion, known: Assumed) -> tuple[Forms, Forms, Forms]:
    """The canonical forms; every divisor is non-zero by the assumptions."""

    def form(tree: Node) -> Quotient:
        context.divides_safely(tree, known)
        return context.forms.scalar(tree)

    out = []
    for key, trees in (("state", r.first), ("state", r.next), ("claim", r.claim)):
        with within(key):
            out.append({s: form(tree) for s, tree in trees.items()})
    return out[0], out[1], out[2]


def _holds(
    context: Context, r: Recursion, difference: Quotient, last: tuple[str, Quotient], known: Assumed
) -> None:
    """The difference is 0, or >= 0, with the index as `start + index` and parameters in place."""
    relation, index = last
    field = context.forms.field
    final = {x: field.substitute(context.forms.scalar(t), {r.index: index}) for x, t in r.parameters.items()}
    difference = field.substitute(difference, {**final, r.index: index})
    if relation == "==":
        if not field.is_zero(difference):
            raise Refusal("does not hold: the two sides differ in canonical form")
    elif not quotient_signs(context.forms, difference, {**known, r.index: NONNEGATIVE}) <= NONNEGATIVE:
        raise Refusal("is not shown: the sign rules do not make the difference >= 0")


def _state_assumptions(context: Context, r: Recursion, first: Forms, moved: Forms, known: Assumed) -> None:
    """An assumption on an unclaimed state symbol holds at the start and is kept."""
    for symbol in sorted(set(first) - set(r.claim)):
        allowed = r.assumed.get(symbol)
        if allowed is None:
            continue
        for form in (first[symbol], moved[symbol]):
            if not quotient_signs(context.forms, form, known) <= allowed:
                raise Refusal(f"on the state symbol {shown(symbol)} is not kept by the recursion", "assume")


def _refuted(context: Context, step: Mapping[str, Any], r: Recursion, relation: str) -> None:
    """Run the recursion with numbers up to the index of the witness."""
    free = frozenset().union(*(t.free for t in (*r.first.values(), *r.next.values(), *r.claim.values())))
    free = (free - set(r.first) - set(r.parameters)) | {r.index}
    point = context.point(step, free.union(*(t.free for t in r.parameters.values())))
    outer = {s: v for s, v in r.assumed.items() if s not in r.first and s != r.index}
    context.admits(point, outer)
    last = point.symbols[r.index]
    if last.denominator != 1 or not 0 <= last - r.start <= _RUN:
        raise Refusal(f"needs an integer index from {r.start} to {r.start + _RUN}", "witness")
    symbol = step.get("symbol")
    if symbol not in r.claim:
        raise Refusal(f"is {shown(symbol)}; a claimed symbol is needed", "symbol")
    with within("gap"):
        gap = interval(step.get("gap"))
        if relation == ">=" and gap[1] >= 0:
            raise Refusal("is not below 0, so nothing contradicts >=")
        confirm_gap(context, point, lambda e: _run(e, r, int(last), symbol), gap)


def _run(evaluator: Evaluator, r: Recursion, last: int, symbol: str) -> Value:
    """s_last - claim(last) at the point of the evaluator."""

    def value(tree: Node, symbols: Mapping[str, Value]) -> Value:
        return Evaluator(evaluator.forest, evaluator.arithmetic, symbols, evaluator.functions).value(tree)

    base = {**evaluator.symbols, **{x: evaluator.value(tree) for x, tree in r.parameters.items()}}
    state = {s: value(tree, base) for s, tree in r.first.items()}
    for n in range(r.start, last):
        known = {**base, **state, r.index: Fraction(n)}
        state = {s: value(tree, known) for s, tree in r.next.items()}
    claimed = value(r.claim[symbol], {**base, **state, r.index: Fraction(last)})
    return evaluator.add(state[symbol], evaluator.negative(claimed))
