"""Signs under assumptions: by structure, on the canonical form term by term, and by Sturm in one symbol.

A set of signs is what a real number may have: {-1, 0, 1} says nothing, {0, 1} says >= 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from .forms import Forms
from .quotients import Quotient
from .reading import items, one_of
from .refusal import Refusal, shown, within
from .sturm import at, open_signs, polynomial, sign
from .sums import PI, WIDTH, Sum
from .trees import Node, name

Signs = frozenset[int]
ANY: Signs = frozenset((-1, 0, 1))
POSITIVE: Signs = frozenset((1,))
NONNEGATIVE: Signs = frozenset((0, 1))
MEANING = {"pos": POSITIVE, "neg": frozenset((-1,)), "nonneg": NONNEGATIVE, "ne": frozenset((-1, 1))}
CLAIMED = {
    "+": POSITIVE,
    "-": frozenset((-1,)),
    "0": frozenset((0,)),
    "+0": NONNEGATIVE,
    "-0": frozenset((-1, 0)),
}
_SYMBOLS = 24
Assumed = dict[str, Signs]


def assumptions(value: Any) -> Assumed:
    """[["pos","x"],…] as {symbol: possible signs}; a contradiction is refused, it would prove anything."""
    out: Assumed = {}
    for i, entry in enumerate(items(value)):
        with within(f"[{i}]"):
            if len(items(entry)) != 2:
                raise Refusal('is no assumption such as ["pos", "x"]')
            symbol = name(entry[1])
            out[symbol] = out.get(symbol, ANY) & MEANING[one_of(entry[0], MEANING)]
            if not out[symbol]:
                raise Refusal(f"contradicts an assumption on {shown(symbol)} before it")
    return out


def added(a: Signs, b: Signs) -> Signs:
    """The signs of x + y."""
    out: set[int] = set()
    for x in a:
        for y in b:
            out |= ANY if x * y < 0 else {x or y}
    return frozenset(out)


def multiplied(a: Signs, b: Signs) -> Signs:
    """The signs of x y."""
    return frozenset(x * y for x in a for y in b)


def signs(forms: Forms, node: Node, assumed: Mapping[str, Signs]) -> Signs:
    """The signs that a real tree can take; the smallest set that the rules give."""
    found = _structural(forms, node, assumed) if node.real and not node.numeric else ANY
    if len(found) == 1:
        return found
    return found & quotient_signs(forms, forms.scalar(node), assumed)


def _structural(forms: Forms, node: Node, assumed: Mapping[str, Signs]) -> Signs:
    kind, args = node.kind, node.args
    if kind == "num":
        return frozenset((sign(args[0]),))
    if kind == "sym":
        return assumed.get(args[0], ANY)
    if kind in ("add", "mul"):
        return _fold(added if kind == "add" else multiplied, [_structural(forms, a, assumed) for a in args])
    if kind == "pow":
        base = _structural(forms, args[0], assumed)
        return ANY if args[1] < 0 and 0 in base else frozenset(s ** abs(args[1]) for s in base)
    if kind in ("pi", "exp", "cosh"):
        return POSITIVE
    if kind == "sqrt":
        return POSITIVE if args[0] else frozenset((0,))
    return _structural(forms, args[0], assumed) if kind in ("sinh", "tanh") else ANY


def _fold(combine: Any, parts: Iterable[Signs]) -> Signs:
    first, *rest = parts
    for part in rest:
        first = combine(first, part)
    return first


def quotient_signs(forms: Forms, a: Quotient, assumed: Mapping[str, Signs]) -> Signs:
    """The signs of num/den where den is not zero."""
    num = sum_signs(forms, a.num, assumed)
    if a.den is forms.field.ring.one:
        return num
    return multiplied(num, sum_signs(forms, a.den, assumed) - {0})


def sum_signs(forms: Forms, a: Sum, assumed: Mapping[str, Signs]) -> Signs:
    """Term by term, and around every single symbol with Sturm on the groups; all are true, so they meet."""
    ring = forms.field.ring
    a = ring.reduced(a)
    if not a.terms:
        return frozenset((0,))
    if not all(_is_real(forms, e) for e, _ in a.terms):
        return ANY
    terms = {(e, m): c for (e, m), c in a.terms.items()}
    found = _fold(
        added,
        (multiplied(frozenset((sign(c),)), monomial_signs(forms, m, assumed)) for (_, m), c in terms.items()),
    )
    for place in sorted(ring.places(a))[:_SYMBOLS]:
        if len(found) == 1:
            break
        found &= _around(forms, terms, place, assumed)
    return found


def _is_real(forms: Forms, e: int) -> bool:
    exponent, q = forms.field.ring.exponentials[e]
    return q == 0 and not any(imaginary for _, imaginary in exponent.values())


def _place_signs(forms: Forms, place: int, assumed: Mapping[str, Signs]) -> Signs:
    key = forms.field.ring.names[place]
    return POSITIVE if key == PI else assumed.get(key, ANY) if isinstance(key, str) else ANY


def monomial_signs(forms: Forms, monomial: int, assumed: Mapping[str, Signs]) -> Signs:
    result = POSITIVE
    for place, power in forms.field.ring.powers(monomial):
        result = multiplied(result, frozenset(s**power for s in _place_signs(forms, place, assumed)))
    return result


def _around(
    forms: Forms, terms: Mapping[tuple[int, int], int], place: int, assumed: Mapping[str, Signs]
) -> Signs:
    """Σ (monomial without x) · exp · (polynomial in x): exponentials are positive."""
    groups: dict[tuple[int, int], dict[int, Fraction]] = {}
    mask = (1 << WIDTH) - 1
    for (e, m), c in terms.items():
        power = m >> WIDTH * place & mask
        groups.setdefault((e, m - (power << WIDTH * place)), {})[power] = Fraction(c)
    domain = _place_signs(forms, place, assumed)
    parts = (
        multiplied(monomial_signs(forms, m, assumed), _on(domain, group)) for (_, m), group in groups.items()
    )
    return _fold(added, parts)


def _on(domain: Signs, coefficients: dict[int, Fraction]) -> Signs:
    """The signs of a polynomial for x < 0, x = 0, x > 0, as far as the domain admits them."""
    p, zero = polynomial(coefficients), Fraction(0)
    found: set[int] = set()
    if 0 in domain:
        found.add(sign(at(p, zero)))
    if 1 in domain:
        found |= open_signs(p, zero, None)
    if -1 in domain:
        found |= open_signs(p, None, zero)
    return frozenset(found)
