"""Owns the sentences about what deciding a step found: witnesses in words and numbers a reader can follow.

They are made from the outcome of the step, the same that its certificate holds in full.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp
from sympy.printing.conventions import split_super_sub

from .data import StepLike

DIGITS = 5
"""How many digits of a distance are told; the certificate has them all."""
SHOWN, ALL = 6, 8
"""How many values of a long witness are told, and up to how many are told in full."""

_GREEK = {unicodedata.name(letter).split()[-1].lower(): letter for letter in "αβγδεζηθικλμνξπρστυφχψω"}
_GREEK["lambda"] = "λ"
_POSITIONS = ("t", "s", "u", "v", "c", "n", "k", "m")


def finding(executed: StepLike) -> str:
    """What deciding a step found, as running text with its mathematics in backticks."""
    outcome = executed.step.outcome(executed.verdict)
    telling = "apart" if executed.kind == "apart" else executed.kind if _is_refuted(executed) else ""
    if telling in _TELLERS and outcome:
        return _TELLERS[telling](executed, outcome)
    return told(executed.reason)


def _is_refuted(executed: StepLike) -> bool:
    return executed.status.name == "REFUTED"


# ---- names and numbers ----


def name(symbol: str) -> str:
    """A symbol as the formulas print it: `omega0` is ω_{0}, `W0_1` is W_{0,1}, `G0inv` is G_{0}⁻¹."""
    stem, inverse = symbol.removesuffix("inv") or symbol, symbol.endswith("inv") and symbol != "inv"
    base, above, below = split_super_sub(stem)
    if not below and len(base) == 2 and base[0].isupper():
        base, below = base[0], [base[1]]
    text = _GREEK.get(base, base) + (f"_{{{','.join(_GREEK.get(x, x) for x in below)}}}" if below else "")
    return text + "".join(f"^{{{x}}}" for x in above) + ("⁻¹" if inverse else "")


def number(value: Fraction) -> str:
    """An integer or a short fraction as it is, anything else as a decimal of a few digits."""
    if value.denominator == 1 and abs(value) < 10**9:
        return str(value)
    if value.denominator < 100 and abs(value.numerator) < 1000:
        return str(value)
    text = f"{float(value):.{DIGITS}g}"
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa}·10^{{{int(exponent)}}}" if exponent else text


def distance(gap: Sequence[str]) -> str:
    """How far two sides are apart, from the ends of their difference; complex where there are four ends."""
    ends = [Fraction(end) for end in gap]
    real, *imaginary = [_middle(ends[k], ends[k + 1]) for k in range(0, len(ends), 2)]
    if not imaginary or not imaginary[0]:
        return number(abs(real))
    sign, size = "-" if imaginary[0] < 0 else "+", number(abs(imaginary[0]))
    return f"{number(real)} {sign} {size}i" if real else f"{size}i"


def _middle(low: Fraction, high: Fraction) -> Fraction:
    """A number between the ends: the simplest one if the ends are very close, else the middle."""
    middle = (low + high) / 2
    near = middle.limit_denominator(1000)
    return near if low <= near <= high else middle


def values(witness: Mapping[str, str]) -> str:
    """`t = 1/2`, `s = 2`, and how many more there are; positions and parameters come first."""
    if not witness:
        return ""
    ordered = sorted(witness, key=lambda symbol: (_weight(symbol), symbol))
    shown = ordered if len(ordered) <= ALL else ordered[:SHOWN]
    left = len(ordered) - len(shown)
    told = ", ".join(f"`{name(symbol)} = {witness[symbol]}`" for symbol in shown)
    return told + (f" … and {left} more in the certificate," if left else "")


def _weight(symbol: str) -> int:
    if symbol in _POSITIONS:
        return _POSITIONS.index(symbol)
    base = split_super_sub(symbol)[0]
    return 20 if base in _GREEK or base == symbol else 30


def ordinal_place(entry: Sequence[int] | None, shape: tuple[int, int] | None) -> str:
    """`in row 2, column 1`, counted from 1; said to be among the dots where the formula leaves it out."""
    from ...symbolic.writing.arrange import kept

    if entry is None:
        return ""
    row, column = entry
    place = f" in row {row + 1}, column {column + 1}"
    if shape is None or (row in kept(shape[0]) and column in kept(shape[1])):
        return place
    return f"{place} of the {shape[0]} × {shape[1]} matrices, among the dots of the formula"


# ---- kinds ----


def _points(executed: StepLike, outcome: Mapping[str, Any]) -> str:
    """Identities that fail: where, in which entry, and by how much."""
    shape = getattr(executed.step.lhs, "shape", None)
    place = ordinal_place(outcome.get("entry"), None if shape is None else (int(shape[0]), int(shape[1])))
    apart = f"differ by `{distance(outcome['gap'])}`{place}"
    chosen = [_call(f, *one) for f, table in outcome.get("functions", {}).items() for one in table]
    where = values(outcome["witness"])
    if chosen:
        where = (f"{where.rstrip(',')}, with " if where else "") + ", ".join(dict.fromkeys(chosen))
    if where:
        return f"At {where} the two sides {apart}."
    return f"The two {'numbers' if shape is None else 'matrices'} {apart}."


def _call(function: str, arguments: Sequence[str], value: str) -> str:
    inside = ", ".join(str(sp.Rational(*map(int, _exact(a).as_integer_ratio()))) for a in arguments)
    return f"`{name(function)}({inside}) = {value}`"


def _exact(argument: str) -> Fraction:
    """The value of an argument such as `-3/2 + (1 + 2)` that was written down unevaluated."""
    total, sign, depth = Fraction(0), 1, [1]
    for token in re.findall(r"\d+(?:/\d+)?|[-+()]", argument):
        if token == "(":
            depth.append(depth[-1] * sign)
            sign = 1
        elif token == ")":
            depth.pop()
        elif token in "+-":
            sign = -1 if token == "-" else 1
        else:
            total += depth[-1] * sign * Fraction(token)
            sign = 1
    return total


def _induction(executed: StepLike, outcome: Mapping[str, Any]) -> str:
    claim, witness = executed.step.of, dict(outcome["witness"])
    index = str(claim.index)
    step = f"`{name(index)} = {witness.pop(index)}`"
    rest = values(witness)
    where = f"At {step}" + (f" with {rest}," if rest else "")
    short = getattr(claim, "relation", "==") == ">="
    verb = "falls short of the bound" if short else "and the claimed formula differ"
    return f"{where} the recursion {verb} by `{distance(outcome['gap'])}`."


def _words(executed: StepLike, outcome: Mapping[str, Any]) -> str:
    sizes = {len(value) for value in outcome["model"].values() if not isinstance(value, str)}
    kind = f"{max(sizes)} × {max(sizes)} matrices" if sizes else "numbers"
    found = re.search(r"differ by (\S+)(?: at entry \((\d+), (\d+)\))?", executed.reason)
    if found is None:
        return f"There are {kind} that obey every rule, with different sides."
    place = ordinal_place((int(found[2]), int(found[3])), None) if found[2] and sizes else ""
    gap = number(abs(Fraction(found[1].rstrip(".,"))))
    return f"There are {kind} that obey every rule, and the two sides differ by `{gap}`{place}."


def _reindex(_executed: StepLike, outcome: Mapping[str, Any]) -> str:
    order = ", ".join(str(place + 1) for place in outcome["permutation"])
    return f"With three rows in the order {order} the two sides differ by `{distance(outcome['gap'])}`."


def _finite(executed: StepLike, outcome: Mapping[str, Any]) -> str:
    table, axiom = executed.step.of, outcome["axiom"]
    names = outcome["elements_witness"]
    if dict(table.axioms)[axiom] is False:
        return f"There is no exception: {_AXIOMS[axiom]}."
    if axiom == "closure":
        return f"`{_product(*names)} = {element(table.times(*names))}`, which is not among the elements."
    if axiom == "identity":
        return "No element leaves all the others alone."
    if axiom == "inverses":
        return f"The element *{element(names[0])}* has no inverse."
    if axiom == "commutativity":
        x, y = names
        one, other = element(table.times(x, y)), element(table.times(y, x))
        return f"The order matters: `{_product(x, y)} = {one}`, but `{_product(y, x)} = {other}`."
    x, y, z = map(element, names)
    return f"`({x} ∘ {y}) ∘ {z}` differs from `{x} ∘ ({y} ∘ {z})`."


_AXIOMS = {
    "closure": "every product is an element",
    "identity": "one element leaves all others alone",
    "inverses": "every element has an inverse",
    "commutativity": "the order never matters",
    "associativity": "brackets never matter",
}


def _homomorphism(executed: StepLike, outcome: Mapping[str, Any]) -> str:
    found = re.search(r"the image of (\S+)\*(\S+) differs", executed.reason)
    if found is None:
        return told(executed.reason)
    x, y = found[1], found[2]
    claim = executed.step.of
    image = dict(zip(claim.source.elements, claim.images, strict=True))
    together = element(image[claim.source.times(x, y)])
    apart = element(claim.target.times(image[x], image[y]))
    return (
        f"`{_product(x, y)}` goes to `{together}`, but the images of `{element(x)}` and `{element(y)}` "
        f"combine to `{apart}`."
    )


def _product(x: str, y: str) -> str:
    return f"{element(x)} ∘ {element(y)}"


def element(label: str) -> str:
    """An element of a table as it is read: `h11` is 11, `((3, 1, 2))` is 312."""
    bare = label.strip("() ")
    if re.fullmatch(r"\d+(, ?\d+)+,?", bare):
        return "".join(re.findall(r"\d+", bare))
    return re.sub(r"^h(?=\d)", "", bare)


def _sign(executed: StepLike, outcome: Mapping[str, Any]) -> str:
    found = re.match(r"it is (\w+)", executed.reason)
    return f"It is {found[1]} at {values(outcome['witness'])}." if found else told(executed.reason)


_TELLERS: dict[str, Callable[[StepLike, Mapping[str, Any]], str]] = {
    "identity": _points,
    "apart": _points,
    "induction": _induction,
    "words": _words,
    "reindex": _reindex,
    "finite": _finite,
    "homomorphism": _homomorphism,
    "sign": _sign,
}


# ---- other reasons ----

_NORMAL = re.compile(r"(both sides have the normal form )(.+)$")
_SIGNS = {"oo": "∞", "+/-": "±"}
_POWER = re.compile(r"(-?\d[\d.]*)e([+-]?\d+)")
_TOLD = re.compile(rf"\b(?:{'|'.join(_GREEK)})(?=\b|\d)|\+/-|\boo\b")


def told(reason: str) -> str:
    """A reason as a sentence, its symbols as the formulas print them."""
    text = _NORMAL.sub(lambda found: f"{found[1]}`{_word(found[2].split())}`", reason)
    text = _TOLD.sub(lambda found: _SIGNS.get(found[0]) or _GREEK[found[0]], text)
    text = _POWER.sub(lambda found: f"`{found[1]}·10^{{{int(found[2])}}}`", text)
    text = text[:1].upper() + text[1:] if text[:1].islower() else text
    return text if text.endswith((".", "?", "…")) else text + "."


def _word(letters: Iterable[str]) -> str:
    return " ".join(letter if letter in "+-" else name(letter) for letter in letters)


__all__ = ["distance", "element", "finding", "name", "number", "values"]
