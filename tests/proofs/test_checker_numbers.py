"""The checker's own arithmetic against independent routes: intervals, cyclotomy, Sturm, the ring."""

from fractions import Fraction
from itertools import pairwise

import flint
import pytest
import sympy as sp
from exptx.proofs.checking.forms import Forms
from exptx.proofs.checking.intervals import Arithmetic, exp_point, log_point, log_two, pi, sin_cos_point
from exptx.proofs.checking.refusal import Refusal
from exptx.proofs.checking.roots import cyclotomic
from exptx.proofs.checking.sturm import open_signs
from exptx.proofs.checking.trees import Forest
from exptx.proofs.checking.values import Evaluator
from hypothesis import given, settings
from hypothesis import strategies as st

FUNCTIONS = {
    "exp": (exp_point, lambda x: x.exp()),
    "sin": (lambda n, bits: sin_cos_point(n, bits)[0], lambda x: x.sin()),
    "cos": (lambda n, bits: sin_cos_point(n, bits)[1], lambda x: x.cos()),
    "log": (log_point, lambda x: x.log()),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_an_elementary_interval_holds_the_value_and_is_narrow(name, data):
    """Against Arb balls of far higher precision; at most 8 units in the last place wide."""
    ours, arb = FUNCTIONS[name]
    bits = data.draw(st.sampled_from((64, 96, 300)))
    widest = 9 if name == "exp" else 80
    size = data.draw(st.integers(0, bits + widest))
    n = data.draw(st.integers(1 if name == "log" else -(1 << size), 1 << size))
    low, high = ours(n, bits)
    with flint.ctx.workprec(3000):
        value = arb(flint.arb(flint.fmpq(n, 1 << bits))) * flint.arb(2) ** bits
        assert flint.arb(low) <= value <= flint.arb(high)
    assert high - low <= 8


@pytest.mark.parametrize("bits", [10, 64, 200, 3000])
def test_pi_and_log_two_are_enclosed(bits):
    with flint.ctx.workprec(4000):
        scale = flint.arb(2) ** bits
        for (low, high), value in ((pi(bits), flint.arb.pi()), (log_two(bits), flint.arb.const_log2())):
            assert flint.arb(low) <= value * scale <= flint.arb(high)
            assert high - low <= 4


def test_arguments_beyond_reach_are_refused():
    for point in (exp_point, sin_cos_point):
        with pytest.raises(Refusal):
            point(1 << 6000, 64)
    assert Arithmetic(64).inverse((-1, 1)) is None
    assert Arithmetic(64).log((-1, 1)) is None


@pytest.mark.parametrize("n", [1, 2, 3, 8, 12, 15, 30, 105, 128, 210])
def test_cyclotomic_polynomials(n):
    z = sp.Symbol("z")
    assert list(cyclotomic(n)) == sp.Poly(sp.cyclotomic_poly(n, z), z).all_coeffs()[::-1]


ends = st.one_of(st.none(), st.fractions(-3, 3, max_denominator=3))


@settings(deadline=None, max_examples=150)
@given(st.lists(st.integers(-2, 2), min_size=1, max_size=5), st.integers(-3, 3), ends, ends)
def test_sturm_finds_the_signs_of_products_of_linear_factors(roots, lead, low, high):
    """The signs at the roots and between them, computed from the factors."""
    if lead == 0 or (low is not None and high is not None and low >= high):
        return
    x = sp.Symbol("x")
    expanded = sp.Poly(lead * sp.prod((x - r) for r in roots) * (x**2 + 1), x).all_coeffs()[::-1]
    found = open_signs([Fraction(int(c)) for c in expanded], low, high)
    inside = [r for r in sorted(set(roots)) if (low is None or low < r) and (high is None or r < high)]
    marks = [
        Fraction(-9) if low is None else low,
        *map(Fraction, inside),
        Fraction(9) if high is None else high,
    ]
    between = [(a + b) / 2 for a, b in pairwise(marks)]
    wanted = set()
    for at in (*inside, *between):
        value = Fraction(lead)
        for r in roots:
            value *= at - r
        wanted.add((value > 0) - (value < 0))
    assert found == wanted


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
        st.builds(lambda k, a: [k, a], st.sampled_from(["exp", "sin", "cos", "sinh", "cosh"]), angle),
        st.just(["sqrt", "2"]),
    )
    return st.recursive(
        leaf,
        lambda e: st.one_of(
            st.builds(lambda a, b: ["add", a, b], e, e),
            st.builds(lambda a, b: ["mul", a, b], e, e),
            st.builds(lambda a: ["pow", a, 2], e),
            st.builds(lambda a, s: ["diff", a, s, 1], e, st.sampled_from(symbols)),
            st.builds(
                lambda a, s, b: ["at", a, s, ["add", ["sym", b], ["num", "1/2"]]],
                e, st.sampled_from(symbols), st.sampled_from(symbols),
            ),
        ),
        max_leaves=6,
    )  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(trees(["x", "y"]))
def test_canonical_form_and_the_evaluated_tree_have_one_value(tree):
    """Two parts of the checker that share no mathematics: the ring, and intervals on the tree as written."""
    forest, forms = Forest(), Forms()
    node = forest.scalar(tree)
    point = {"x": Fraction(2, 3), "y": Fraction(-1, 2)}
    arithmetic = Arithmetic(200)
    written = Evaluator(forest, arithmetic, point, {})
    low, high = written.box(written.value(node))[0]
    ring, total = forms.field.ring, flint.acb(0)
    form = forms.scalar(node)
    assert form.den is ring.one
    with flint.ctx.workprec(300):
        names = {
            place: flint.arb.pi() if key == ("pi",) else q(point[key])
            for key, place in ring.variables.items()
        }

        def monomial(m):
            value = flint.acb(1)
            for place, power in ring.powers(m):
                value *= flint.acb(names[place]) ** power
            return value

        for (e, m), c in form.num.terms.items():
            exponent, turn = ring.exponentials[e]
            inner = flint.acb(0, flint.arb.pi() * q(turn))
            for n, (real, imaginary) in exponent.items():
                inner += monomial(n) * flint.acb(q(real), q(imaginary))
            total += monomial(m) * inner.exp() * flint.arb(c) / form.num.den
        scaled = total.real * flint.arb(2) ** 200
        assert flint.arb(low) <= scaled + flint.arb(2) ** 100
        assert scaled - flint.arb(2) ** 100 <= flint.arb(high)
        assert abs(total.imag) < flint.arb(2) ** -90


def q(value):
    return flint.arb(flint.fmpq(value.numerator, value.denominator))
