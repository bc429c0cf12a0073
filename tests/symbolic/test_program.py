"""A program by itself: what it refuses, counts, computes and how many roundings its results take."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp
from exptx.symbolic.block import Block
from exptx.symbolic.errors import BadInput
from exptx.symbolic.lowering import lower
from exptx.symbolic.program import Program, Step, Term

x0, x1, y0, y1, c, s = sp.symbols("x0 x1 y0 y1 c s", real=True)
t = sp.Symbol("t", real=True)
w = sp.Symbol("omega", positive=True)


def program(**changes):
    """y0 = x0 c, with c = cos t."""
    given = {
        "name": "scaled",
        "inputs": (x0,),
        "tables": ((c, sp.cos(t)),),
        "steps": (Step(y0, (Term(1, (x0, c)),)),),
        "outputs": (y0,),
        "closed_form": sp.ImmutableMatrix([[sp.cos(t)]]),
        "position": t,
    }
    return Program(**(given | changes))


def test_a_program_written_by_hand_is_decided_like_one_that_was_lowered():
    assert program().verify().holds
    assert program().value() == sp.ImmutableMatrix([x0 * sp.cos(t)])
    assert not program(closed_form=sp.ImmutableMatrix([[sp.sin(t)]])).verify().holds
    assert not program(steps=(Step(y0, (Term(1, (x0, c, c)),)),)).verify().holds


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "f(x):\n    import os"}, "a plain lower-case word such as x0 works"),
        ({"name": "lambda"}, "'lambda'"),
        ({"name": "y" * 65}, "a plain lower-case word"),
        ({"inputs": (sp.Symbol("x0;", real=True),)}, "'x0;'"),
        ({"steps": (Step(c, (Term(1, (x0,)),)),), "outputs": (c,)}, "one name stands for two things"),
        ({"steps": (Step(y0, (Term(1, (x1, c)),)),)}, "step y0 uses x1 before it is computed"),
        ({"steps": (Step(y0, (Term(1, (y0, c)),)),)}, "step y0 uses y0 before it is computed"),
        ({"outputs": (y1,)}, "an output is computed by no step"),
        ({"closed_form": sp.ImmutableMatrix([[1, 0]])}, r"shape \(1, 2\); \(1, 1\), outputs by inputs"),
    ],
)
def test_a_program_that_makes_no_sense_is_refused_at_birth(changes, words):
    with pytest.raises(BadInput, match=words):
        program(**changes)


@pytest.mark.parametrize(("sign", "factors"), [(2, (x0,)), (0, (x0,)), (1, ())])
def test_a_term_is_plus_or_minus_a_product(sign, factors):
    with pytest.raises(BadInput, match="±1 times symbols"):
        Term(sign, factors)


def test_a_sum_is_written_from_left_to_right_with_the_sign_in_front():
    step = Step(y0, (Term(-1, (x0, c)), Term(1, (x1,)), Term(-1, (x0, s, s))))
    assert step.written == "-x0 * c + x1 - x0 * s * s"
    assert step.expr == -x0 * c + x1 - x0 * s**2


def test_the_roundings_of_a_rotation_are_a_table_a_product_and_a_sum():
    assert lower(Block(0, w)).roundings() == 3
    assert lower(Block(1)).roundings() == 2
    assert lower(Block(0)).roundings() == 0
    assert lower(Block(0, size=2)).roundings() == 3
    assert lower(Block(0, w, 2)).roundings() == 3 + 3  # a turned plane, then the table t, a product, a sum


# ---- the rounding bound, on a model of float32 that rounds exact numbers ----


def to_float32(value: Fraction) -> Fraction:
    """The nearest number with 24 significant bits, ties to even, without limits on the exponent."""
    if not value:
        return value
    exponent = abs(value.numerator).bit_length() - value.denominator.bit_length() - 24
    ulp = Fraction(2) ** exponent
    while abs(value / ulp) >= 2**24:
        ulp *= 2
    while abs(value / ulp) < 2**23:
        ulp /= 2
    return round(value / ulp) * ulp


def run(lowered, values, fused):
    """The outputs in float32; `fused()` says whether a product goes into the next sum unrounded."""
    found = dict(values)
    for step in lowered.steps:
        total = Fraction(0)
        for i, term in enumerate(step.terms):
            first, *rest = (found[factor] for factor in term.factors)
            for place, factor in enumerate(rest):
                last = place == len(rest) - 1
                first = (
                    first * factor if last and len(step.terms) > 1 and fused() else to_float32(first * factor)
                )
            total = term.sign * first if i == 0 else to_float32(total + term.sign * first)
        found[step.symbol] = to_float32(total)
    return [found[output] for output in lowered.outputs]


@pytest.mark.parametrize(
    "block", [Block(0, w), Block(1), Block(1, w, 2), Block(0, w, 4), Block(0, size=5), Block(1, size=4)]
)
@pytest.mark.parametrize("contracted", [0.0, 0.5, 1.0])
def test_the_rounding_bound_holds_contracted_or_not(block, contracted):
    """|computed - M x| <= γ_n |M||x|, for tables that hold any numbers: here they are symbols."""
    rng = random.Random(f"{block}{contracted}")
    lowered = lower(block)
    n, u = lowered.roundings(), Fraction(1, 2**24)
    bound = n * u / (1 - n * u)
    symbols = {symbol: symbol for symbol, _ in lowered.tables}
    with_tables = replace(lowered, tables=tuple(symbols.items()))
    value = with_tables.value()
    for _ in range(20):
        exact = {symbol: Fraction(rng.randint(-(10**12), 10**12), 10**11) for symbol, _ in lowered.tables}
        inputs = {x: to_float32(Fraction(rng.randint(-(10**12), 10**12), 10**12)) for x in lowered.inputs}
        stored = {symbol: to_float32(entry) for symbol, entry in exact.items()}
        computed = run(lowered, inputs | stored, lambda: rng.random() < contracted)
        numbers = {symbol: sp.Rational(x.numerator, x.denominator) for symbol, x in (inputs | exact).items()}
        for found, output in zip(computed, value, strict=True):
            terms = [term.subs(numbers) for term in sp.Add.make_args(sp.expand(output))]
            known, above = sum(terms), sum(map(abs, terms))
            error = abs(sp.Rational(found.numerator, found.denominator) - known)
            assert error <= sp.Rational(bound.numerator, bound.denominator) * above


def test_one_rounding_fewer_would_be_too_few():
    """A rotation takes three roundings: some numbers come closer to γ_3 than γ_2 allows."""
    rng, lowered, u = random.Random(1), lower(Block(0, w)), Fraction(1, 2**24)
    worst = Fraction(0)
    for _ in range(4000):
        x, cos, sin, other = (Fraction(rng.randint(2**30, 2**31), 2**31) for _ in range(4))
        values = {"x0": to_float32(x), "x1": to_float32(other), "c": to_float32(cos), "s": -to_float32(sin)}
        symbols = {sp.Symbol(name, real=True): number for name, number in values.items()}
        found = run(lowered, symbols, lambda: False)[0]
        known = values["x0"] * cos + values["x1"] * sin
        worst = max(worst, abs(found - known) / known)
    assert 2 * u < worst <= 3 * u / (1 - 3 * u)
