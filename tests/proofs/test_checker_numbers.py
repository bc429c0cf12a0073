"""The checker's own arithmetic against independent routes: intervals, roots of unity, canonical forms."""

from fractions import Fraction

import flint
import pytest
import sympy as sp
from exptx.proofs.checking.intervals import Evaluator, exp, log, pi, point
from exptx.proofs.checking.reading import Refusal, spend
from exptx.proofs.checking.sums import form, on_basis
from exptx.proofs.checking.trees import read
from hypothesis import given, settings
from hypothesis import strategies as st

ZERO = Fraction(0)
FUNCTIONS = {
    "exp": (lambda x: exp(x, ZERO)[0], lambda x: x.exp()),
    "cos": (lambda x: exp(ZERO, x)[0], lambda x: x.cos()),
    "sin": (lambda x: exp(ZERO, x)[1], lambda x: x.sin()),
    "log": (lambda x: log(abs(x) or Fraction(1)), lambda x: (abs(x) if x != 0 else flint.arb(1)).log()),
}


def ball(x):
    return flint.arb(flint.fmpq(x.numerator, x.denominator))


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(deadline=None, max_examples=100)
@given(x=st.one_of(st.fractions(-20, 20), st.fractions(-(10**6), 10**6, max_denominator=10**9)))
def test_an_elementary_interval_holds_the_value_and_is_narrow(name, x):
    """Against Arb balls of far higher precision."""
    spend(0, afresh=True)
    ours, arb = FUNCTIONS[name]
    x = x / 200 if name == "exp" else x
    found = ours(x)
    with flint.ctx.workprec(20000):
        value = arb(ball(x))
        assert ball(found.lo) <= value <= ball(found.hi)
    assert found.hi - found.lo <= max(abs(found.hi), Fraction(1)) / 2**240


def test_pi_is_enclosed_and_arguments_beyond_reach_are_refused():
    with flint.ctx.workprec(2000):
        assert ball(pi().lo) < flint.arb.pi() < ball(pi().hi)
    assert pi().hi - pi().lo < Fraction(1, 2**250)
    for x, y in ((Fraction(10**6), ZERO), (ZERO, Fraction(10) ** 100)):
        with pytest.raises(Refusal):
            exp(x, y)
    with pytest.raises(Refusal):
        log(ZERO)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 8, 9, 12, 15, 30, 36, 105, 128])
def test_roots_of_unity_are_written_on_a_basis(n):
    """As many members as the field has dimensions, and the same number as before."""
    spend(0, afresh=True)
    members = set()
    for k in range(n):
        written = {x: c for x, c in on_basis({Fraction(k, n): Fraction(1)}).items() if c}
        members |= {(x % 1) for x in written}
        with flint.ctx.workprec(100):
            value = sum(
                (ball(c) * flint.acb(0, 2 * flint.arb.pi() * ball(x)).exp() for x, c in written.items()),
                flint.acb(0),
            )
            assert abs(value - flint.acb(0, 2 * flint.arb.pi() * ball(Fraction(k, n))).exp()) < 1e-20
    assert len(members) <= sp.totient(n)


def trees(symbols):
    """Random expressions of the decidable class."""
    angle = st.builds(
        lambda c, s, d: ["add", ["mul", ["num", str(c)], ["sym", s]], ["mul", ["num", str(d)], ["pi"]]],
        st.integers(-2, 2),
        st.sampled_from(symbols),
        st.sampled_from([Fraction(k, 4) for k in range(8)]),
    )
    leaf = st.one_of(
        st.builds(lambda s: ["sym", s], st.sampled_from(symbols)),
        st.builds(lambda c: ["num", str(c)], st.fractions(-3, 3, max_denominator=3)),
        st.builds(lambda k, a: [k, a], st.sampled_from(["exp", "sin", "cos"]), angle),
        st.just(["sqrt", "3"]),
    )
    return st.recursive(
        leaf,
        lambda e: st.one_of(
            st.builds(lambda k, a, b: [k, a, b], st.sampled_from(["add", "mul"]), e, e),
            st.builds(lambda a, k: ["pow", a, k], e, st.sampled_from([2, 3, -1])),
        ),
        max_leaves=6,
    )


VALUES = {"x": Fraction(2, 3), "y": Fraction(-1, 2)}


def value(tree, **more):
    """(node, enclosed value) at the point."""
    node = read(tree)
    return node, Evaluator({s: point(v) for s, v in {**VALUES, **more}.items()}, {}).real(node)


@settings(deadline=None, max_examples=150)
@given(trees(["x", "y"]))
def test_canonical_form_and_the_evaluated_tree_have_one_value(tree):
    """Two readings of a tree that share nothing but its operations."""
    spend(0, afresh=True)
    try:
        node, inside = value(tree)
        canonical = form(node)
    except Refusal:
        return
    with flint.ctx.workprec(300):
        total = numeric(canonical, VALUES)
        assert abs(total.real - ball(inside.lo)) < flint.arb(2) ** -60
        assert abs(total.imag) < flint.arb(2) ** -60


@settings(deadline=None, max_examples=100)
@given(trees(["x", "y"]), trees(["y"]))
def test_derivatives_and_values_are_those_of_the_function(tree, shift):
    """A derivative is near a difference quotient; a tree at a value is the tree at that value."""
    spend(0, afresh=True)
    h = Fraction(1, 2**60)
    try:
        slope = value(["diff", tree, "x", 1])[1]
        up, down = (value(tree, x=VALUES["x"] + d)[1] for d in (h, -h))
        moved, (_, at) = value(["at", tree, "x", shift])[1], value(shift)
        there = Evaluator({"x": at, "y": point(VALUES["y"])}, {}).real(read(tree))
    except Refusal:
        return
    size = max(abs(slope.lo), 1) ** 4
    assert abs((up.lo - down.lo) / (2 * h) - slope.lo) < size / 2**40
    assert abs(there.lo - moved.lo) <= abs(moved.hi - moved.lo) + abs(there.hi - there.lo)


def numeric(a, values):
    """A canonical sum at a point, as a ball."""
    total = flint.acb(0)
    for (m, e), c in a.items():
        inner = sum((monomial(n, values) * ball(v) * flint.acb(not i, i) for (n, i), v in e), flint.acb(0))
        total += monomial(m, values) * inner.exp() * ball(c)
    return total


def monomial(m, values):
    out = flint.acb(1)
    for x, k in m:
        plain = isinstance(x, str)
        base = ball(values[x]) if plain else flint.arb.pi() if x == ("pi",) else 1 / numeric(dict(x), values)
        out *= flint.acb(base) ** k
    return out
