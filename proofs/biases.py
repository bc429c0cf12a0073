"""A bias as a document, in text: its realisation, its approximation, or why it has neither."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Context, Decimal
from difflib import get_close_matches
from typing import Any

import sympy as sp

from ..symbolic.catalogue import encodings
from ..symbolic.errors import BadInput
from ..symbolic.generator import Generator
from ..symbolic.parse import parse
from ..symbolic.realization import Approximation, NotRealizable, Realization, realize
from ..symbolic.typeset import to_text
from .generators import above, generator_document, verdict_document

ROUNDING = {"float32": sp.Rational(1, 2**24), "float64": sp.Rational(1, 2**53)}
NOTICED = sp.Rational(1, 10)  # of the tolerance: rounding below is not spoken of


def bias_document(what: str, formula: sp.Expr, texts: Mapping[str, Any]) -> dict[str, Any]:
    """What `realize` answers about a formula in the gap u; texts: its keywords, numbers as text."""
    asked = _asked(texts)
    u = next((symbol for symbol in formula.free_symbols if symbol.name == "u"), None)
    if u is None and formula.free_symbols:
        near = get_close_matches(what, encodings(), 1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise BadInput(
            f"{what[:60]!r} is no catalogue name, no matrix, no .npy or .json file, and no bias, which would "
            f"be a formula in the gap u{meant}"
        )
    found: Any = realize(formula, u or sp.Symbol("u", real=True), **asked)
    told = {NotRealizable: _refused, Realization: _realized, Approximation: _approximated}
    return {"domain": asked.get("domain", "real"), **told[type(found)](found)}


def _asked(texts: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of `realize`: tolerance a number, window two numbers '0, 8192'."""
    asked = {key: value for key, value in texts.items() if value is not None}
    if "tolerance" in asked:
        asked["tolerance"] = parse(asked["tolerance"], name="tolerance")
    if "window" in asked:
        asked["window"] = tuple(parse(f"[[{asked['window']}]]", name="window"))
    return asked


def _approximated(found: Approximation) -> dict[str, Any]:
    a, b = found.window
    return {
        "answer": f"a constant and {len(found.decays)} decays, near it on [{to_text(a)}, {to_text(b)}]",
        "decays": [[str(weight), str(rate)] for weight, rate in found.decays],
        "constant": str(found.constant),
        "formula": _formula(found),
        "bound": f"at most {above(found.bound)} for this formula and every real u of the window, proved",
        "intervals": found.intervals,
        "amplification": above(found.amplification),
        "floats": _floats(found),
        "where": list(map(to_text, found.defined)),
    }


def _formula(found: Approximation) -> str:
    """The formula in decimals, exactly the one that the bound holds for."""
    terms = (f"{_signed(weight)}·e^(-{_decimal(rate)}·{found.u})" for weight, rate in found.decays)
    return " ".join([_decimal(found.constant), *terms])


def _signed(value: sp.Rational) -> str:
    return f"{'-' if value < 0 else '+'} {_decimal(abs(value))}"


def _decimal(value: sp.Rational) -> str:
    """A fraction of a power of ten, exactly."""
    exact = Context(prec=100).divide(Decimal(int(value.p)), Decimal(int(value.q)))
    return str(exact.normalize()).replace("E", "e")


def _floats(found: Approximation) -> str | None:
    """What rounding to floats does to terms that cancel, where that is not small beside the tolerance."""
    moved = {name: 2 * unit * found.amplification for name, unit in ROUNDING.items()}
    if moved["float32"] <= NOTICED:
        return None
    sizes = ", ".join(f"{float(part * found.tolerance):.2g} in {name}" for name, part in moved.items())
    carry = [name for name, part in moved.items() if part <= NOTICED]
    who = f"only {carry[0]} carries it" if carry else "neither carries it"
    return (
        f"its terms cancel: rounding moves it by up to {sizes}, and the tolerance is "
        f"{above(found.tolerance)}; {who}"
    )


def _realized(found: Realization) -> dict[str, Any]:
    return _none_needed(found) if not found.c.rows else _of_some_order(found)


def _none_needed(found: Realization) -> dict[str, Any]:
    return {
        "answer": "realizable, order 0: the bias is 0, nothing needs to be realised",
        "order": 0,
        "matrix": "[]",
        "c": "[]",
        "v": "[]",
        "check": verdict_document(found.verdict),
        "hankel_determinant": to_text(found.determinant),
        "where": _where(found),
        "names": {},
    }


def _of_some_order(found: Realization) -> dict[str, Any]:
    law = "bias = cᵀ·exp(u·X)·v" if found.X is not None else "bias = cᵀ·Aⁿ·v"
    document = {
        "answer": f"realizable, order {found.order}{_counted(found)}",
        "order": found.order,
        "law": law,
        "matrix": to_text(found.step if found.X is None else found.X),
        "c": to_text(found.c.T),
        "v": to_text(found.v.T),
        "check": verdict_document(found.verdict),
        "hankel_determinant": to_text(found.determinant),
        "where": _where(found),
        "names": {to_text(name): to_text(value) for name, value in found.values.items()},
        "row_constant": None if found.dropped is None else _row_constant(found),
    }
    return document | ({} if found.generator is None else _behaviour(found.generator))


def _where(found: Realization | NotRealizable) -> list[str]:
    """What must hold for the bias to have a value, and for the answer."""
    needed = [*map(to_text, found.defined), *(f"{to_text(formula)} ≠ 0" for formula in found.conditions)]
    return list(dict.fromkeys(needed))


def _row_constant(found: Realization) -> str:
    return (
        f"coordinate {found.dropped} of X, c and v, counted from 0, holds the constant per query, which "
        f"softmax ignores; without it {found.c.rows - 1} coordinates are left"
    )


def _counted(found: Realization) -> str:
    return "" if found.dropped is None else ", a constant per query not counted"


def _behaviour(generator: Generator) -> dict[str, Any]:
    whole = generator_document(generator)
    return {key: whole[key] for key in ("type", "blocks", "bounded", "bounded_reason")}


def _refused(found: NotRealizable) -> dict[str, Any]:
    return {
        "answer": "not realizable",
        "reason": found.reason,
        "cited": found.cited,
        "witness": found.witness and found.witness.sentence,
        "where": _where(found),
    }
