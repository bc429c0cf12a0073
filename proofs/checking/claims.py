"""Claims about formulas, a function for each step kind: identity apart enclosed sign limit induction reindex.

A step comes with its fields read; what is absent is None. What is proved is repeated in canonical form, what
is refuted at its witness by intervals. A function returns if the step is right, and refuses it otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import reduce
from types import SimpleNamespace as Step
from typing import Any

from .intervals import ZERO, Evaluator, Interval, Value, point
from .reading import canonical, each, fields, need, number, one_of, part, typed, within
from .sums import ANY, NONE, POSITIVE, Pairs, Signs, Sum, constant, form, merged
from .trees import Node, add, minus, mul, node, num, read, substitution

NEGATIVE, NONNEGATIVE, NONZERO = Signs((-1,)), Signs((0, 1)), Signs((-1, 1))
MEANING = {"pos": POSITIVE, "neg": NEGATIVE, "nonneg": NONNEGATIVE, "ne": NONZERO}
CLAIMED = {"+": POSITIVE, "-": NEGATIVE, "0": Signs((0,)), "+0": NONNEGATIVE, "-0": Signs((-1, 0))}
INFINITE = {"+oo": 1, "-oo": -1}
RUN = 200
Assumed = Mapping[Any, Signs]


def sign_of(x: Fraction | int) -> int:
    return (x > 0) - (x < 0)


def assumptions(value: Any) -> Assumed:
    """[["pos","x"],…] as {symbol: possible signs}; a contradiction would prove anything."""
    out: dict[Any, Signs] = {}
    for meaning, x in each(value, each, typed):
        out[x] = out.get(x, ANY) & MEANING[one_of(meaning, MEANING)]
        need(out[x], f"contradict each other about {x!r:.60}")
    return out


def table(rows: Any) -> dict[Any, Fraction]:
    """Values of an opaque function: [[["2/3"], "1"], …]"""
    return {tuple(each(at, number)): number(value) for at, value in each(rows, typed, list)}


def end(value: Any) -> Node | int:
    """What a limit is: a tree, or +oo or -oo."""
    return INFINITE[one_of(value, INFINITE)] if isinstance(value, str) else read(value, Node)


def still(value: Any) -> Node:
    """A tree of an induction: diff and at would not see that a state symbol depends on the parameters."""
    need(not any(word in canonical(value) for word in (b'"diff"', b'"at"')), "uses diff or at")
    return read(value, Node)


def rule(value: Any) -> list[Node]:
    """[first, next]"""
    return [part(fields(value, ("first", "next")), key, still) for key in ("first", "next")]


def safe(a: Node, assumed: Assumed, listed: Iterable[Node] = ()) -> Sum:
    """The form of a tree that divides only by what is assumed not to be 0, or by multiples of the listed."""
    for divisor in a.divisors:
        above = form(divisor).cleared()[0]
        need(above, "divides by something that is identically zero")
        ratios = ((b, above.get(key, Fraction(0)) / b[key]) for b in map(form, listed) for key in list(b)[:1])
        known = any(above == {key: c * ratio for key, c in b.items()} for b, ratio in ratios)
        need(known or 0 not in form(divisor).signs(assumed), "divides by what may be zero and is not listed")
    return form(a)


def witness(s: Step, assumed: Assumed, functions: Mapping[str, Any] | None = None) -> Evaluator:
    """The values of symbols, which obey the assumptions, and of opaque functions."""
    need(s.witness is not None, "is missing", "witness")
    obeys = (sign_of(s.witness[x]) in allowed for x, allowed in assumed.items() if x in s.witness)
    need(all(obeys), "is against the assumptions", "witness")
    tables = {**(s.functions or {}), **(functions or {})}
    return Evaluator({x: point(v) for x, v in s.witness.items()}, tables)


def confirm_gap(s: Step, difference: Value, *, below: bool = False) -> None:
    """The difference lies in the gap, a real interval or a real and an imaginary one, and 0 does not."""
    with within("gap"):
        need(s.gap and len(s.gap) in (2, 4), "has not 2 or 4 ends")
        gaps = [*zip(s.gap[::2], s.gap[1::2], strict=True)]
        need(all(a <= b for a, b in gaps), "has its ends in the wrong order")
        need(any(a > 0 or b < 0 for a, b in gaps), "contains 0, so nothing keeps the sides apart")
        need(not below or s.gap[1] < 0, "is not below 0, so nothing contradicts >=")
        inside = all(a <= x.lo and x.hi <= b for (a, b), x in zip(gaps, difference, strict=False))
        need(inside, "does not contain the value of lhs - rhs at the witness")


def identity(s: Step) -> None:
    """lhs rhs assume; proved: [nonzero]; refuted: witness gap [entry functions]"""
    (equal if s.proved else different)(s)


def apart(s: Step) -> None:
    """The same fields; proved where an identity is refuted."""
    (different if s.proved else equal)(s)


def sides(s: Step) -> dict[str, Node]:
    """{place: left - right}; the number 0 stands for a zero matrix."""
    lhs, rhs = ([[side]] if isinstance(side, Node) else side for side in (s.lhs, s.rhs))
    if isinstance(s.rhs, Node) and s.rhs.args == (0,):
        rhs = [rhs[0] * len(row) for row in lhs]
    need([*map(len, lhs)] == [*map(len, rhs)], "has another shape than lhs", "rhs")
    entry = (lambda i, j: "") if isinstance(s.lhs, Node) else "[{}][{}]".format
    return {entry(i, j): minus(a, rhs[i][j]) for i, row in enumerate(lhs) for j, a in enumerate(row)}


def equal(s: Step) -> None:
    need(not any(form(a).zero for a in s.nonzero or []), "is identically zero", "nonzero")
    for place, difference in sides(s).items():
        with within("lhs - rhs" + place):
            need(safe(difference, s.assume, s.nonzero or []).zero, "is not zero in canonical form")


def different(s: Step) -> None:
    need(not s.nonzero, "belongs to what is equal", "nonzero")
    place = "" if s.entry is None else "".join(f"[{k}]" for k in s.entry)
    need(place in sides(s), "is no entry of the sides", "entry")
    confirm_gap(s, witness(s, s.assume).value(sides(s)[place]))


def enclosed(s: Step) -> None:
    """expr lower upper: lower < expr < upper for a number; refuted: it lies outside"""
    need(s.lower < s.upper, "is not above lower", "upper")
    with within("expr"):
        x = Evaluator({}, {}).real(s.expr)
        good = s.lower < x.lo and x.hi < s.upper if s.proved else x.hi <= s.lower or s.upper <= x.lo
        need(good, "is not where it is claimed to be")


def sign(s: Step) -> None:
    """expr sign assume; refuted: witness [functions]"""
    if s.proved:
        with within("expr"):
            found = safe(s.expr, s.assume).signs(s.assume)
        return need(found <= CLAIMED[s.sign], f"may be any of {sorted(found)} for all we know", "sign")
    x = witness(s, s.assume).real(s.expr)
    need(x.lo == x.hi or x.lo > 0 or x.hi < 0, "gives a value too near to 0", "witness")
    return need(sign_of(x.lo) not in CLAIMED[s.sign], "gives the claimed sign; it refutes nothing", "witness")


def limit(s: Step) -> None:
    """expr variable to ("+oo" | "-oo") value (tree | "+oo" | "-oo") assume; refuted: actual, the right one"""
    x, true = s.variable, s.value if s.proved else s.actual
    need(x not in s.assume, "restricts the variable", "assume")
    need(true is not None, "is missing", "actual")
    with within("expr"):
        need(x not in s.expr.opaque, "has an opaque function of the variable")
        turned = substitution({x: mul(num(INFINITE[s.to]), node("sym", x))})(s.expr)
        found = limit_at_infinity(safe(turned, s.assume), x, s.assume)

    def error(end: Node | int) -> Sum:
        """What the limit differs by from a tree or an infinity."""
        if isinstance(end, int) or isinstance(found, int):
            return constant(found != end)
        need(x not in end.free, "depends on the variable", "value")
        return Sum.total((found, constant(-1) * safe(end, s.assume)))

    need(error(true).zero, "is not the limit that the dominant terms give", "value")
    need(s.proved or 0 not in error(s.value).signs(s.assume), "may be the claimed limit as well", "actual")


def limit_at_infinity(a: Sum, x: str, assumed: Assumed) -> Sum | int:
    """The limit for x -> +oo, where 1 and -1 are infinite. A term grows like exp(rate) x^power."""
    need(not a.inverses, "is no exponential polynomial")
    groups: dict[tuple[Pairs, int], Sum] = {}
    turning = set()
    for (m, e), c in a.reduced().items():
        moving = frozenset(pair for pair in e if x in dict(pair[0][0]))
        rate, rest = frozenset(pair for pair in moving if not pair[0][1]), dict(m)
        growth = rate, rest.pop(x, 0)
        groups.setdefault(growth, Sum())[frozenset(rest.items()), e - moving] = c
        turning |= {growth} if moving != rate else set()

    def decided(a: Sum, why: str) -> int:
        need(len(a.signs(assumed)) == 1, why)
        return min(a.signs(assumed))

    def order(a: tuple[Pairs, int], b: tuple[Pairs, int]) -> int:
        """The sign of the first difference between two growths."""
        difference = merged(a[0], frozenset((key, -v) for key, v in b[0]))
        if not difference:
            return sign_of(a[1] - b[1])
        top = max(dict(n)[x] for (n, _), _ in difference)
        first = Sum({(n - {(x, top)}, NONE): v for (n, _), v in difference if (x, top) in n})
        return decided(first, "has two exponents whose order the assumptions leave open")

    still = (NONE, 0)
    best = reduce(lambda a, b: b if order(b, a) > 0 else a, groups) if groups else still
    if best not in groups or order(best, still) < 0:
        return Sum()
    need(best not in turning, "oscillates in its dominant term, so that the rule gives no limit")
    top = groups[best]
    return top if best == still else decided(top, "grows with a coefficient of unknown sign")


def induction(s: Step) -> None:
    """index start relation ("==" | ">=") state {s: {first, next}} claim {s: tree} assume

    The state moves by s_start = first, s_(n+1) = next; the claim is s_n == tree or s_n >= tree.
    Refuted: witness {index: integer, parameters} symbol gap
    """
    start = POSITIVE if s.start > 0 else NONNEGATIVE if s.start == 0 else ANY
    need(s.start.denominator == 1, "is no integer", "start")
    need(s.index not in s.state, "is also a state symbol", "index")
    need(start <= s.assume.get(s.index, ANY), "says more of the index than its start gives", "assume")
    need(s.claim and s.claim.keys() <= s.state.keys(), "is about no state symbol", "claim")
    need(not any(a.free & s.claim.keys() for a in s.claim.values()), "uses a claimed symbol", "claim")
    firsts = [first for first, _ in s.state.values()]
    need(not any(a.free & {s.index, *s.state} for a in firsts), "uses index or state in first", "state")
    (by_steps if s.proved else by_running)(s)


def by_steps(s: Step) -> None:
    """Base and step, the index counted from start; in the step of >= every s is its tree plus a slack >= 0.

    What is assumed of an unclaimed state symbol is shown to stay true.
    """
    above, n = s.relation == ">=", node("sym", s.index)
    slack = {x: node("sym", ("slack", x)) if above else num(0) for x in s.claim}
    known = {x: signs for x, signs in s.assume.items() if x not in s.claim}
    known |= {s.index: NONNEGATIVE, **{("slack", x): NONNEGATIVE for x in slack}}
    believed = substitution({x: add(a, slack[x]) for x, a in s.claim.items()})
    shift = substitution({s.index: add(num(s.start), n)})
    for place, k, index in ("base", 0, num(s.start)), ("step", 1, add(n, num(1))):
        now = {x: believed(trees[k]) for x, trees in s.state.items()}
        target = substitution({**{x: a for x, a in now.items() if x not in s.claim}, s.index: index})
        for x, a in now.items():
            with within(f"{place}[{x!r:.60}]"):
                found = safe(shift(minus(a, target(s.claim[x])) if x in s.claim else a), known)
                if x not in s.claim:
                    need(found.signs(known) <= known.get(x, ANY), "may lose the sign that is assumed of it")
                elif above:
                    need(found.signs(known) <= NONNEGATIVE, "is not shown: the difference may be negative")
                else:
                    need(found.zero, "does not hold: the sides differ in canonical form")


def by_running(s: Step) -> None:
    given = witness(s, {x: signs for x, signs in s.assume.items() if x not in (s.index, *s.state)})
    last = given.symbols.get(s.index, point(s.start - 1)).lo
    need(last.denominator == 1 and 0 <= last - s.start <= RUN, "has no index, or none near start", "witness")
    need(s.symbol in s.claim, "is no claimed symbol", "symbol")

    def at(n: Fraction | int, state: Mapping[str, Interval]) -> Evaluator:
        return Evaluator({**given.symbols, **state, s.index: point(n)}, given.functions)

    state = {x: at(s.start, {}).real(first) for x, (first, _) in s.state.items()}
    for n in range(int(s.start), int(last)):
        now = at(n, state)
        state = {x: now.real(following) for x, (_, following) in s.state.items()}
    claimed = at(last, state).real(s.claim[s.symbol])
    confirm_gap(s, (state[s.symbol] + -claimed, ZERO), below=s.relation == ">=")


def reindex(s: Step) -> None:
    """index bijection body rhs [operation "sum" | "product"]: Σ body = Σ rhs, as rhs is body with j := p(j)

    Refuted: permutation functions witness gap, by adding up.
    """
    if s.proved:
        moved = substitution({s.index: node("fn", s.bijection, node("sym", s.index))})(s.body)
        return need(safe(minus(moved, s.rhs), {}).zero, "is not body with the index relabelled", "rhs")
    images = s.permutation or []
    need(images and sorted(images) == [*range(len(images))], "is no permutation", "permutation")
    given = witness(s, {}, {s.bijection: {(k,): Fraction(image) for k, image in enumerate(images)}})
    at = [Evaluator({**given.symbols, s.index: point(k)}, given.functions) for k in range(len(images))]
    combine = Interval.__mul__ if s.operation == "product" else Interval.__add__
    left, right = (reduce(combine, (here.real(a) for here in at)) for a in (s.body, s.rhs))
    return confirm_gap(s, (left + -right, ZERO))
