"""Whether what multiplies the content, and the bias, stay within bounds over all positions.

`what` names the part in the reasons: "the content", "the values", "the bias", …
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import sympy as sp
from sympy.core.function import AppliedUndef

from ..entries import KEY, QUERY
from ..realizing.above import bounded_above, bounded_below
from ..verdict import Status, Verdict, conjunction

Sides = tuple[Callable[[sp.Expr, sp.Symbol, str], Verdict], ...]
IN_SIZE: Sides = (bounded_above, bounded_below)
FROM_ABOVE: Sides = (bounded_above,)


def named(what: str, verdict: Verdict) -> Verdict:
    """The verdict, its reason about `what`."""
    return replace(verdict, reason=f"{what}: {verdict.reason}")


def in_one(
    what: str, entries: Iterable[sp.Expr], x: sp.Symbol, domain: str = "real", sides: Sides = IN_SIZE
) -> Verdict:
    """Decide whether every entry, a formula in x, is bounded over all real x, or x >= 0 with "causal".

    sides: whether in size, or from above only. NOT_CHECKED where an entry has an opaque function.
    """
    return _each(what, entries, {x}, lambda entry: conjunction(side(entry, x, domain) for side in sides))


def in_both(what: str, entries: Iterable[sp.Expr], domain: str = "real", sides: Sides = IN_SIZE) -> Verdict:
    """The same for formulas in the positions t and s of `entries.QUERY` and `KEY`.

    Refuted along a line of positions; proved where they are made of bounded functions; "causal": t >= s >= 0.
    """
    return _each(what, entries, {QUERY, KEY}, lambda entry: _along_lines(entry, domain, sides))


def _each(what: str, entries: Iterable[sp.Expr], positions: set, decide: Callable) -> Verdict:
    found = dict.fromkeys(entries)
    if not any(entry.free_symbols & positions for entry in found):
        opaque = [call for entry in found for call in entry.atoms(AppliedUndef)]
        return _opaque(what, opaque[0]) if opaque else Verdict(Status.PROVED, _constant(what))
    verdicts = []
    for entry in found:
        if within(entry, positions):
            verdicts.append(Verdict(Status.PROVED, f"{what} is made of constants, steps, cosines and sines"))
        elif calls := sorted(entry.atoms(AppliedUndef), key=str):
            verdicts.append(_opaque(what, calls[0]))
        else:
            rest = [term for term in sp.Add.make_args(entry) if not within(term, positions)]
            verdicts.append(named(what, decide(sp.Add(*rest))))
    moved = [v for v, entry in zip(verdicts, found, strict=True) if entry.free_symbols & positions]
    return conjunction(moved)


def _constant(what: str) -> str:
    moved = {"the bias": "the bias is constant", "the content": "the content is not moved"}
    return moved.get(what, f"{what} is the same at all positions")


def _opaque(what: str, call: sp.Expr) -> Verdict:
    name = call.func.__name__
    return Verdict(Status.NOT_CHECKED, f"{what}: {name} is any function, with whatever bound its values have")


def _along_lines(entry: sp.Expr, domain: str, sides: Sides) -> Verdict:
    """REFUTED if unbounded with s = 0, on t = s, or (in the real domain) with t = 0; else open."""
    lines = {"s = 0": {KEY: sp.S.Zero}, "t = s": {KEY: QUERY}}
    if domain == "real":
        lines["t = 0"] = {QUERY: sp.S.Zero}
    for where, given in lines.items():
        x = KEY if QUERY in given else QUERY
        found = conjunction(side(entry.xreplace(given), x, domain) for side in sides)
        if found.status is Status.REFUTED:
            return replace(found, reason=f"with {where} {found.reason}")
    return Verdict(Status.UNDECIDED, "no bound is known for a formula in both positions")


def within(entry: sp.Expr, positions: set[sp.Symbol]) -> bool:
    """Whether the entry is made, by sums, products and branches, of constants, cosines and sines."""
    if not entry.free_symbols & positions:
        return not entry.atoms(AppliedUndef)
    if isinstance(entry, (sp.sin, sp.cos, sp.tanh)):
        return True
    if isinstance(entry, sp.Piecewise):
        return all(within(value, positions) for value, _ in entry.args)
    if isinstance(entry, sp.Pow):
        return bool(entry.exp.is_Integer and entry.exp >= 0) and within(entry.base, positions)
    whole = (sp.Add, sp.Mul, sp.Abs, sp.Max, sp.Min)
    return isinstance(entry, whole) and all(within(part, positions) for part in entry.args)
