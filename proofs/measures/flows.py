"""`transport` against the laws of one-parameter groups: closed forms, composition, gates, bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import sympy as sp
import torch
from torch import Tensor

from ...numeric.constants import nearest_float
from ...symbolic.block import Block
from .. import budget
from ..laws import bounded as bounded_law
from ..laws import clocks, complete_list, one_parameter
from .flowed import State, against, carry, flow
from .residual import LIBRARY, SIGNS, Case, measures
from .rotated import DTYPES, drawn, name_of, score, squared_length

VALUES = {"gamma": sp.Rational(1, 10), "omega": sp.Rational(3, 7)}
"""The rates at which laws with free symbols are measured: 1/10 a position, 3/7 radians a position."""
RATES = "γ = 1/10, ω = 3/7"


def at_rates(expr: sp.Expr) -> sp.Expr:
    """The expression with numbers for γ and ω."""
    return sp.S.Zero + expr.xreplace({x: VALUES[x.name] for x in expr.free_symbols if x.name in VALUES})


def concrete(block: Block) -> Block:
    """The block with numbers for γ and ω."""
    return Block(at_rates(block.decay), at_rates(block.frequency), block.size)


def vectors(block: Block, dtype: torch.dtype, count: int = 32) -> Tensor:
    """Random vectors, one a head, and the unit vectors, (1, count + dim, 1, dim)."""
    drawn_ones = drawn((1, count, 1, block.dim), dtype, 11)
    return torch.cat((drawn_ones, torch.eye(block.dim, dtype=dtype)[None, :, None]), dim=1)


def path(block: Block, times: Sequence[float], total: float, what: str) -> Iterator[Case]:
    """Transport by every time of `times` in turn, against exp(total X)."""
    for dtype in DTYPES:
        x = vectors(block, dtype)
        state = State.of(x)
        for t in times:
            state = carry(state, block, t)
        found = against(state, x, flow(block, total))
        yield Case((found.found - found.known).abs(), found.error, name_of(dtype), f"{what}, {RATES}")


@measures("flow", small=LIBRARY, zero="what holds is copied, bit for bit")
def flows(name: str) -> Iterator[Case]:
    """exp(tX) x at positions of both signs, and at a clock reading."""
    block = concrete(one_parameter.BLOCKS[name])
    for t in (0, 1, 7, -7, 0.625):
        yield from path(block, (t,), t, f"position {t}")


@measures("group-law", small=LIBRARY, zero="what holds is copied, bit for bit")
def group_law(name: str) -> Iterator[Case]:
    """A(u)A(v) = A(u+v) and A(u)A(-u) = I."""
    block = concrete(one_parameter.BLOCKS[name])
    for u, v in ((3, 2), (7, -3), (5, -5), (-0.375, 2.5)):
        yield from path(block, (v, u), u + v, f"positions {v}, then {u}")


@measures("gates-telescope", small=SIGNS)
def gates_telescope(name: str) -> Iterator[Case]:
    """Six gates, one after the other, against the clock reading they add up to."""
    gates = (0.5, 1.25, 0.0, 2.0, 0.125, 3.0)
    yield from path(concrete(clocks.BLOCKS[name]), gates, sum(gates), f"gates {list(gates)}")


@measures("all-sizes", small=LIBRARY)
def all_sizes() -> Iterator[Case]:
    for block in (Block(0, size=6), Block(VALUES["gamma"], VALUES["omega"], 4)):
        for t in (2, 6, -3):
            yield from path(block, (t,), t, f"{block.kind} of size {block.size}, position {t}")


@measures(
    "kernel-functions",
    small=LIBRARY,
    zero="the entries `1`, `u` and `u²/2` came out as the nearest float64, or are copied",
)
def kernel_functions(name: str) -> Iterator[Case]:
    """The first row of exp(uX) from transposed transport, against the formulas of the list."""
    symbolic, row, _ = complete_list.ROWS[name]
    block = concrete(symbolic)
    for u in (0, 1, 4, 12.7):
        formulas = [
            at_rates(sp.sympify(f, strict=True)).subs(complete_list.u, sp.Rational(Fraction(u))) for f in row
        ]
        known = torch.tensor([nearest_float(f) for f in formulas], dtype=torch.float64)
        for dtype in DTYPES:
            first = torch.eye(block.dim, dtype=dtype)[:1].reshape(1, 1, 1, -1)
            state = carry(State.of(first), block, u, transpose=True)
            error, bound = (state.found.double() - known).abs(), state.error + 2 * budget.ORACLE * known.abs()
            yield Case(error, bound, name_of(dtype), f"gap {u}, {RATES}")


@measures("bounded", small=LIBRARY, zero="the squared length came out as the float64 nearest to its formula")
def bounded(name: str) -> Iterator[Case]:
    """The squared length of the last column, far forwards and backwards, against its formula."""
    symbolic = bounded_law.BLOCKS[name][0]
    block = concrete(symbolic)
    for t in (1, 10.3, 40.7, -10.3, -40.7):
        known = nearest_float(
            at_rates(bounded_law.longest(symbolic)).subs(bounded_law.t, sp.Rational(Fraction(t)))
        )
        for dtype in DTYPES:
            last = torch.eye(block.dim, dtype=dtype)[-1].reshape(1, 1, 1, -1)
            state = carry(State.of(last), block, t)
            column = squared_length(against(state, last, flow(block, t)))
            bound = column.error + 2 * budget.ORACLE * known
            yield Case((column.found - known).abs(), bound, name_of(dtype), f"position {t}, {RATES}")


def relative_by_transport(block: Block, queries: Tensor | None = None) -> Iterator[Case]:
    """exp(tX)ᵀ q · exp(-sX) k against qᵀ exp((t-s)X) k: the query by the transpose."""
    for dtype in DTYPES:
        q, k = vectors(block, dtype), vectors(block, dtype).flip(1)
        for t, s in ((5, 2), (2, 5), (9, 9)):
            left = against(carry(State.of(q), block, t, transpose=True), q, flow(block, t, True))
            right = against(carry(State.of(k), block, -s), k, flow(block, -s))
            found = score(left, right)
            known = ((q.double() @ flow(block, t - s)) * k.double()).sum(-1)
            above = ((q.double().abs() @ flow(block, t - s).abs()) * k.double().abs()).sum(-1)
            bound = found.error + budget.gamma(2 * block.dim + 1, "float64") * above
            where = f"query at {t}, key at {s}"
            yield Case((found.found - known).abs(), bound, name_of(dtype), where)


@measures("contragredient", small=SIGNS)
def contragredient() -> Iterator[Case]:
    yield from relative_by_transport(Block(0, size=2))


@measures("gates-split", small=LIBRARY)
def gates_split() -> Iterator[Case]:
    yield from relative_by_transport(concrete(clocks.BLOCKS["damped-turn"]))


@measures("general-form", small=LIBRARY)
def general_form() -> Iterator[Case]:
    yield from relative_by_transport(concrete(one_parameter.BLOCKS["damped-turning-slide"]))


@measures("commuting-sum", small=LIBRARY)
def commuting_sum() -> Iterator[Case]:
    """A fade after a turn against the damped turn."""
    turn, whole = Block(0, VALUES["omega"]), Block(VALUES["gamma"], VALUES["omega"])
    for dtype in DTYPES:
        x = vectors(turn, dtype)
        state = carry(State.of(x), turn, 7)
        parts = [
            carry(State(state.found[..., i : i + 1], state.error[..., i : i + 1]), Block(VALUES["gamma"]), 7)
            for i in range(2)
        ]
        state = State(torch.cat([p.found for p in parts], -1), torch.cat([p.error for p in parts], -1))
        found = against(state, x, flow(whole, 7))
        yield Case((found.found - found.known).abs(), found.error, name_of(dtype), f"position 7, {RATES}")


@measures("gates-order")
def gates_order() -> Iterator[Case]:
    """Turn then slide against slide then turn."""
    turn, slide = Block(0, 1), Block(0, size=2)
    for dtype in DTYPES:
        start = State.of(vectors(slide, dtype))
        one, other = carry(carry(start, turn, 2), slide, 3), carry(carry(start, slide, 3), turn, 2)
        error = (one.found.double() - other.found.double()).abs()
        yield Case(error, one.error + other.error, name_of(dtype), "turn by 2, slide by 3")


@measures("slide-nilpotent", small=LIBRARY)
def slide_nilpotent() -> Iterator[Case]:
    """(x, y) becomes (x + ty, y)."""
    for t in (1, 3, -5, 1000):
        yield from path(Block(0, size=2), (t,), t, f"position {t}")


@measures("alibi-lift", small=SIGNS)
def alibi_lift() -> Iterator[Case]:
    """The slots (m, 0) and (0, 1), each moved by its own position, against m(t-s)."""
    slide, m = Block(0, size=2), 0.3
    for dtype in DTYPES:
        q, k = (torch.tensor(x, dtype=dtype).reshape(1, 1, 1, 2) for x in ([m, 0.0], [0.0, 1.0]))
        for t, s in ((5, 2), (2, 5), (77, 13), (1000, 1)):
            left = against(carry(State.of(q), slide, t, transpose=True), q, flow(slide, t, True))
            right = against(carry(State.of(k), slide, -s), k, flow(slide, -s))
            found = score(left, right)
            error = (found.found - q[0, 0, 0, 0].double() * (t - s)).abs()
            yield Case(error, found.error, name_of(dtype), f"m = 0.3, query at {t}, key at {s}")


@measures("integer-ambiguity", small=LIBRARY)
def integer_ambiguity() -> Iterator[Case]:
    """A turn with one more full turn a position, at integers, against the turn without it."""
    slow, fast = Block(0, VALUES["omega"]), Block(0, VALUES["omega"] + 2 * sp.pi)
    for dtype in DTYPES:
        x = vectors(slow, dtype)
        for t in (1, 6, -40):
            found = against(carry(State.of(x), fast, t), x, flow(slow, t))
            yield Case(
                (found.found - found.known).abs(), found.error, name_of(dtype), f"position {t}, ω = 3/7 + 2π"
            )


@measures("fate-and-rhythm", small=LIBRARY)
def fate_and_rhythm() -> Iterator[Case]:
    """e^{(-γ+iω)t} z as torch multiplies complex numbers, against the exact real plane."""
    yield from flows("damped-turn")


@measures("decay-table", small=LIBRARY, zero="`e^{-γu}` came out as the nearest float64 at every gap")
def decay_table() -> Iterator[Case]:
    block = Block(VALUES["gamma"])
    for gap in (0, 5, 10, 25, 50, 100):
        yield from path(block, (gap,), gap, f"gap {gap}")


@measures("half-life", small=LIBRARY)
def half_life() -> Iterator[Case]:
    """At u + ln 2/γ a factor is half of what it is at u; the clock reading itself is rounded once."""
    block = Block(VALUES["gamma"])
    for u in (0, 3, 20):
        later = nearest_float(u + sp.log(2) / VALUES["gamma"])
        for dtype in DTYPES:
            x = vectors(block, dtype)
            state = carry(State.of(x), block, later)
            known = x.double() * flow(block, u)[0, 0] / 2
            late = (budget.ORACLE * later / 10 + budget.gamma(2, "float64")) * known.abs()
            yield Case(
                (state.found.double() - known).abs(),
                state.error + late,
                name_of(dtype),
                f"gaps {u} and {u} + ln 2/γ",
            )
