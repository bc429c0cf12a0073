"""Claims that look true to a rule but are not, and inputs that read as something else than they are."""

import mpmath
import pytest
import sympy as sp
from exptx.symbolic.decide import Status, decide
from exptx.symbolic.errors import BadInput, Disagreement
from exptx.symbolic.induction import Induction
from exptx.symbolic.limits import Limit
from exptx.symbolic.reader import Reader
from exptx.symbolic.reindex import Reindex
from exptx.symbolic.signs import Sign
from exptx.symbolic.words import Words, inverses, letters

x, t, z, n, a = sp.symbols("x t z n a", real=True)
p = sp.Symbol("p", positive=True)
f = sp.Function("f")
CUBE_ROOT = sp.Pow(-1, sp.Rational(1, 3))  # e^(iπ/3), without an I in its tree


@pytest.mark.parametrize(
    "expr",
    [
        sp.exp(CUBE_ROOT * x),
        sp.cosh(CUBE_ROOT),
        sp.exp(sp.sqrt(1 - sp.pi)),
        sp.exp(sp.Subs(x * t, x, CUBE_ROOT)),
        (sp.log(1 - sp.pi) + x) ** 2,
    ],
)
def test_an_exponential_of_a_complex_number_is_not_positive(expr):
    """exp(e^(iπ/3)) = 1.07 + 1.26i has no sign, though no I stands in it."""
    assert Sign(expr, "+0").check().status is Status.UNDECIDED


def test_roots_of_positive_numbers_keep_their_signs():
    assert Sign(sp.exp(sp.sqrt(p) * x) + sp.sqrt(2), "+").check().status is Status.PROVED


@pytest.mark.parametrize("expr", [sp.tan(x) ** 2, sp.cot(x) ** 2, sp.coth(x) ** 2])
def test_a_sign_needs_a_value(expr):
    """cot² >= 0 says nothing at 0, where it has no value."""
    verdict = Sign(expr, "+0").check()
    assert verdict.status is Status.UNDECIDED
    assert "may vanish" in verdict.reason


def test_a_value_with_a_pole_has_no_sign_there():
    assert Sign(sp.coth(p) ** 2, "+0").check().status is Status.PROVED


def test_a_limit_is_a_value():
    """exp(-t) + 1 tends to 1, not to z/z, which is nothing at z = 0."""
    one = sp.Mul(z, 1 / z, evaluate=False)
    assert Limit(sp.exp(-t) + 1, t, sp.oo, one).check().status is Status.UNDECIDED
    assert Limit(sp.exp(-t) + 1, t, sp.oo, one, assume=[sp.Ne(z, 0)]).check().status is Status.PROVED


def test_an_induction_whose_base_divides_by_zero_is_undecided():
    claim = Induction(n, -1, {a: (0, a + 1 / ((n + 1) * (n + 2)))}, {a: 1 - 1 / (n + 1)})
    verdict = claim.check()
    assert verdict.status is Status.UNDECIDED
    assert "base" in verdict.reason


@pytest.mark.parametrize("bound", [sp.Integral(x, (x, 0, 1)), sp.Sum(f(x), (x, 0, 1))])
def test_a_bound_index_is_not_relabelled(bound):
    with pytest.raises(BadInput, match="integrals"):
        Reindex(x, sp.Function("p"), bound, bound)


def test_rules_that_contradict_each_other_prove_nothing():
    """A = 0 and AB = 1 make 0 = 1; consistent rules that meet do not."""
    A, B = letters("A B")
    for rules in (((A, 0), (A * B, 1)), ((A, 1), (B, A), (A * B, 0)), ((A * B, 1), (A * B, 2))):
        verdict = Words(A * B, A * B, rules=rules).check()
        assert verdict.status is Status.UNDECIDED
        assert "contradict" in verdict.reason
    assert Words(A * B * A, A, rules=inverses(A, B)).check().status is Status.PROVED


def test_functions_of_one_name_are_one_function():
    with pytest.raises(BadInput, match="two different functions named f"):
        decide(f(x), sp.Function("f", real=True)(x))


def test_a_symbol_that_is_never_whole_is_refused():
    """The witness k = 1 would be no value of it."""
    with pytest.raises(BadInput, match="declared no integer"):
        decide(sp.Symbol("k", noninteger=True), 0)


@pytest.mark.parametrize("place", [sp.pi, 2 * x, x + 1])
def test_only_symbols_are_substituted(place):
    with pytest.raises(BadInput, match="only symbols can be substituted"):
        decide(sp.Subs(place + 1, place, 3), 4)


def test_a_substitution_into_a_pole_is_malformed():
    """1/(1 + 1/t) has no value at t = 0, although t/(t + 1) has one."""
    with pytest.raises(BadInput, match="malformed"):
        decide(sp.Subs(1 / (1 + 1 / t), t, 0), 0)


def test_sparse_matrices_are_refuted_like_dense_ones():
    verdict = decide(sp.SparseMatrix([[x, 0], [0, 1]]), sp.SparseMatrix([[x, 0], [0, 2]]))
    assert verdict.status is Status.REFUTED
    assert verdict.entry == (1, 1)


def test_balls_catch_a_canonical_form_that_proves_too_much(monkeypatch):
    """Were the zero test wrong, the values at random points would say so."""
    monkeypatch.setattr(Reader, "is_zero", lambda *_: True)
    with pytest.raises(Disagreement, match="the normal forms agree but balls give"):
        decide(sp.sin(2 * x), sp.sin(x))
    with pytest.raises(Disagreement, match=r"entry \(0, 1\)"):
        decide(sp.Matrix([[x, x]]), sp.Matrix([[x, 1 - x]]))


def test_a_refutation_tells_its_difference_with_digits():
    """At 128 bits cos(10**900) is anywhere in [-1, 1], and cos - 2 is not 0 all the same."""
    verdict = decide(sp.cos(10**900), 2)
    with mpmath.workprec(4000):
        gap = mpmath.nstr(mpmath.cos(mpmath.mpf(10) ** 900) - 2, 9)
    assert verdict.status is Status.REFUTED
    assert verdict.gap.startswith(f"[{gap[:10]}")
