"""`sign` steps: the sign of an expression for all symbols that obey the assumptions.

sign  expr sign assume [domain]; refuted: witness [functions]
      sign "+" >0, "-" <0, "0" identically 0, "+0" >=0, "-0" <=0; domain {"x": ["lo"|null, "hi"|null]}: a
      polynomial in x alone, on that closed interval
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from .context import Context, brief
from .reading import fields, items, one_of, rational
from .refusal import Refusal, shown, within
from .signs import CLAIMED, Signs, assumptions, signs
from .sturm import at, open_signs, polynomial
from .sturm import sign as sign_of
from .trees import Node
from .values import Point, sign_at

_WORDS = {-1: "negative", 0: "zero", 1: "positive"}
Domain = tuple[str, Fraction | None, Fraction | None]


def sign(context: Context, step: Mapping[str, Any]) -> None:
    expr = context.scalar(step, "expr")
    with within("sign"):
        claimed = CLAIMED[one_of(step["sign"], CLAIMED)]
    with within("assume"):
        assumed = assumptions(step["assume"])
    with within("domain"):
        domain = _domain(step["domain"]) if "domain" in step else None
    if step["status"] == "refuted":
        _refuted(context, step, expr, claimed, assumed, domain)
        return
    with within("expr"):
        context.divides_safely(expr, assumed)
        found = signs(context.forms, expr, assumed) if domain is None else _by_sturm(context, expr, domain)
    if not found <= claimed:
        possible = " or ".join(_WORDS[s] for s in sorted(found))
        raise Refusal(
            f"is {step['sign']!r}, but as far as the rules tell {brief(expr)} is {possible}", "sign"
        )


def _domain(value: Any) -> Domain:
    if not isinstance(value, dict) or len(value) != 1:
        raise Refusal(f"is {shown(value)}; one symbol with its interval is needed")
    ((symbol, ends),) = fields(value, value).items()
    if len(items(ends)) != 2:
        raise Refusal("has no two ends")
    low, high = (None if end is None else rational(end) for end in ends)
    if low is not None and high is not None and low >= high:
        raise Refusal("has its ends in the wrong order")
    return symbol, low, high


def _by_sturm(context: Context, expr: Node, domain: Domain) -> Signs:
    """The open interval by Sturm, the ends by their values."""
    symbol, low, high = domain
    form, ring = context.forms.scalar(expr), context.forms.field.ring
    places = [ring.names[p] for p in context.forms.field.places(form)]
    if (
        form.den is not ring.one
        or places not in ([], [symbol])
        or any(e != ring.unit for e, _ in form.num.terms)
    ):
        raise Refusal(f"is no polynomial in {shown(symbol)} alone, as a domain requires")
    coefficients = {sum(k for _, k in ring.powers(m)): Fraction(c) for (_, m), c in form.num.terms.items()}
    p = polynomial(coefficients)
    ends = {sign_of(at(p, end)) for end in (low, high) if end is not None}
    return open_signs(p, low, high) | ends


def _refuted(
    context: Context, step: Mapping[str, Any], expr: Node, claimed: Signs, assumed: Any, domain: Any
) -> None:
    point = context.point(step, expr.free)
    context.admits(point, assumed)
    if domain is not None and not _admitted(point, domain):
        raise Refusal("lies outside the domain", "witness")
    with within("expr"):
        found = sign_at(context.forest, point, expr)
    if found is None:
        raise Refusal("gives a value too near to 0 to tell its sign", "witness")
    if found in claimed:
        raise Refusal(f"makes the expression {_WORDS[found]}, as claimed; it refutes nothing", "witness")


def _admitted(point: Point, domain: Domain) -> bool:
    symbol, low, high = domain
    x = point.symbols.get(symbol, Fraction(0))
    return (low is None or low <= x) and (high is None or x <= high)
