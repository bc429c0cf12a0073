"""Laws of `decide`: true identities are proved, false ones refuted at a point, all else says why not."""

from __future__ import annotations

import random

import mpmath
import pytest
import sympy as sp
from exptx.symbolic import (
    At,
    D,
    Status,
    Undecidable,
    Verdict,
    decide,
    group_law,
    verify_flow,
)
from sympy import (
    Function,
    I,
    Integer,
    MatMul,
    Matrix,
    Rational,
    chebyshevt,
    cos,
    cosh,
    exp,
    expand,
    expand_trig,
    factorial,
    pi,
    sin,
    sinh,
    sqrt,
    symbols,
    tan,
)

t, s, u, g, w, x, y, z, m = symbols("t s u g w x y z m", real=True)
f, h = Function("f"), Function("h")


def turn(angle: sp.Expr) -> Matrix:
    return Matrix([[cos(angle), -sin(angle)], [sin(angle), cos(angle)]])


def score(planes: int, between) -> sp.Expr:
    """Σ over planes of q_kᵀ between(w_k) k_k with symbolic content and frequencies."""
    total = Integer(0)
    for k in range(planes):
        w_k, a, b, c, d = symbols(f"w{k} a{k} b{k} c{k} d{k}", real=True)
        total += (Matrix([[a, b]]) * between(w_k) * Matrix([c, d]))[0]
    return total


def relative_by_positions(planes: int) -> sp.Expr:
    return score(planes, lambda v: turn(v * t).T * turn(v * s))


def relative_by_gap(planes: int) -> sp.Expr:
    return score(planes, lambda v: turn(v * (s - t)))


def jordan_turn(size: int) -> tuple[Matrix, Matrix]:
    """(C_m(g, w), its exponential at t) for 2m = size."""
    half = size // 2
    core, nil = Matrix([[-g, -w], [w, -g]]), Matrix(half, half, lambda i, j: int(j == i + 1))
    steps = Matrix(half, half, lambda i, j: t ** (j - i) / factorial(j - i) if j >= i else 0)
    X = sp.kronecker_product(sp.eye(half), core) + sp.kronecker_product(nil, sp.eye(2))
    return X, sp.kronecker_product(steps, exp(-g * t) * turn(w * t))


def product_at(E_t: Matrix) -> MatMul:
    return MatMul(At(E_t, t, s), At(E_t, t, u))


SLIDE = Matrix([[1, t - s], [0, 1]])
COSINES = symbols("e0:8", real=True)

TRUE = {
    "turn group law": (cos(w * (s + u)), cos(w * s) * cos(w * u) - sin(w * s) * sin(w * u)),
    "relativity of 1 plane": (relative_by_positions(1), relative_by_gap(1)),
    "relativity of 4 planes": (relative_by_positions(4), relative_by_gap(4)),
    "relativity of 8 planes": (relative_by_positions(8), relative_by_gap(8)),
    "lengths are kept in 4 planes": (
        sum(sum(e**2 for e in turn(w * t) * Matrix(symbols(f"a{k} b{k}", real=True))) for k in range(4)),
        sum(v**2 for k in range(4) for v in symbols(f"a{k} b{k}", real=True)),
    ),
    "damped group law": (
        exp(-g * (s + u)) * sin(w * (s + u)),
        exp(-g * s) * exp(-g * u) * (sin(w * s) * cos(w * u) + cos(w * s) * sin(w * u)),
    ),
    "ALiBi from the slide": ((Matrix([[-m, 0]]) * SLIDE * Matrix([0, 1]))[0], -m * (t - s)),
    "xPos score of 2 planes": (
        score(2, lambda v: exp(-g * t) * turn(v * t).T * exp(g * s) * turn(v * s)),
        score(2, lambda v: exp(-g * (t - s)) * turn(v * (s - t))),
    ),
    "sinusoidal table, 8 frequencies": (
        sum(sin(v * t) * sin(v * s) + cos(v * t) * cos(v * s) for v in COSINES),
        sum(cos(v * (t - s)) for v in COSINES),
    ),
    "turning Jordan group law 4x4": (product_at(jordan_turn(4)[1]), At(jordan_turn(4)[1], t, s + u)),
    "turning Jordan group law 8x8": (product_at(jordan_turn(8)[1]), At(jordan_turn(8)[1], t, s + u)),
    "turning Jordan group law 16x16": (product_at(jordan_turn(16)[1]), At(jordan_turn(16)[1], t, s + u)),
    "Dirichlet kernel, n = 8": (
        (1 + 2 * sum(cos(k * x) for k in range(1, 9))) * sin(x / 2),
        sin(17 * x / 2),
    ),
    "Chebyshev: cos 12x": (cos(12 * x), chebyshevt(12, y).subs(y, cos(x))),
    "product of 8 cosines": (
        2**8 * sp.prod(cos(v) for v in COSINES),
        sum(cos(sum(v if bit >> k & 1 else -v for k, v in enumerate(COSINES))) for bit in range(256)),
    ),
    "sin² through tan": (sin(x) ** 2, sin(2 * x) * tan(x) / 2),
}


def one_wrong_factorial() -> tuple[Matrix, Matrix]:
    _, E_t = jordan_turn(8)
    wrong = E_t.as_mutable()
    wrong[0, 4] = wrong[0, 4] * 3
    return At(E_t, t, s), At(wrong, t, s)


FALSE = {
    "sign of the offset": (relative_by_positions(2), score(2, lambda v: turn(v * (t - s)))),
    "1/k! wrong in one entry": one_wrong_factorial(),
    "false by 1e-40": (sin(x + Rational(1, 10**40)), sin(x)),
    "equal at all integers": (sin(pi * (s + u)), Integer(0)),
}


@pytest.mark.parametrize("law", TRUE)
def test_a_true_identity_is_proved_and_cross_examined(law):
    verdict = decide(*TRUE[law])
    assert verdict.status is Status.PROVED, verdict.reason
    assert verdict.certificate["examined"] == {"points": 3, "bits": 400}
    assert verdict.holds
    assert verdict.witness is None


@pytest.mark.parametrize("law", FALSE)
def test_a_false_identity_is_refuted_with_a_rational_witness(law):
    verdict = decide(*FALSE[law])
    assert verdict.status is Status.REFUTED, verdict.reason
    assert not verdict.holds
    assert all(isinstance(value, Rational) for value in verdict.witness.values())


def at_witness(formula: sp.Expr, verdict: Verdict) -> mpmath.mpc:
    """The value at the witness by mpmath, which neither canonical form nor balls know."""
    with mpmath.workdps(60):
        return mpmath.mpmathify(sp.N(formula.doit().xreplace(verdict.witness), 60))


@pytest.mark.parametrize("law", FALSE)
def test_an_independent_evaluation_at_the_witness_finds_the_same_gap(law):
    lhs, rhs = FALSE[law]
    verdict = decide(lhs, rhs)
    if verdict.entry:
        lhs, rhs = lhs[verdict.entry], rhs[verdict.entry]
    low, high = (Rational(end) for end in verdict.certificate["gap"])
    assert low * high > 0
    with mpmath.workdps(60):
        gap = at_witness(lhs, verdict) - at_witness(rhs, verdict)
        assert mpmath.mpf(low.p) / low.q <= mpmath.re(gap) <= mpmath.mpf(high.p) / high.q


def test_the_first_differing_entry_in_reading_order_is_named():
    assert decide(*FALSE["1/k! wrong in one entry"]).entry == (0, 4)
    a = Matrix([[x, y], [x, y]])
    assert decide(a, Matrix([[x, y], [y, x]])).entry == (1, 0)


def test_what_integer_positions_cannot_see_is_refuted_at_one_half():
    assert decide(sin(pi * t)).witness == {t: Rational(1, 2)}
    assert decide(cos(2 * pi * t), 1).status is Status.REFUTED


def test_small_nice_rationals_come_first():
    verdict = decide(x**2 * y, x * y)
    assert all(abs(v.p) <= 5 and v.q <= 3 for v in verdict.witness.values())


def angle(source: random.Random) -> sp.Expr:
    linear = source.choice([x, y, w * x, x - y, 2 * x + y, x + w, Integer(1)])
    turns = pi * Rational(source.randint(-6, 6), source.choice([2, 3, 4, 6]))
    return source.choice([1, -1, 2, Rational(1, 2)]) * linear + source.choice([0, turns])


def atom(source: random.Random) -> sp.Expr:
    argument = angle(source)
    kind = source.choice([sin, cos, exp, sinh, cosh, "i", "surd", "symbol"])
    if kind == "i":
        return exp(I * argument)
    if kind == "surd":
        return sqrt(source.choice([2, 3, 5, Rational(2, 3)])) * source.choice([x, 1])
    return kind(argument) if kind != "symbol" else source.choice([x, y, w]) + source.randint(-2, 2)


def expression(source: random.Random, size: int = 4) -> sp.Expr:
    if size <= 1:
        return atom(source)
    cut = source.randint(1, size - 1)
    left, right = expression(source, cut), expression(source, size - cut)
    return source.choice([left + right, left * right, left - right])


def rewritten(source: random.Random, formula: sp.Expr) -> sp.Expr:
    return source.choice([expand, lambda e: expand_trig(expand(e)), lambda e: expand(e.rewrite(exp))])(
        formula
    )


@pytest.mark.parametrize("seed", range(60))
def test_rewriting_is_proved_and_a_perturbed_rewriting_refuted(seed):
    source = random.Random(seed)
    formula = expression(source)
    copy = rewritten(source, formula)
    assert decide(formula, copy).status is Status.PROVED
    nudge = Rational(1, 10 ** source.randint(1, 12)) * source.choice([1, x, cos(x), exp(-y)])
    assert decide(formula, copy + nudge).status is Status.REFUTED


@pytest.mark.parametrize("seed", range(20))
def test_a_verdict_is_deterministic(seed):
    formula = expression(random.Random(seed))
    assert decide(formula, x) == decide(formula, x)


def test_shift_derivative_kills_exactly_what_depends_on_the_gap():
    relative = relative_by_positions(2)
    assert decide(D(relative, t) + D(relative, s)).holds
    assert not decide(D(relative * t, t) + D(relative * t, s)).holds


@pytest.mark.parametrize("size", [2, 4, 16])
def test_a_flow_starts_at_one_and_follows_its_generator(size):
    X, E_t = jordan_turn(size)
    assert verify_flow(X, E_t, t).holds
    assert group_law(E_t, t).holds


def test_a_broken_flow_is_refuted_at_its_entry():
    X, E_t = jordan_turn(8)
    shifted = verify_flow(X, 2 * E_t, t)
    assert shifted.status is Status.REFUTED
    assert shifted.reason.startswith("E(0) = I")
    wrong = E_t.as_mutable()
    wrong[0, 4] *= 2
    verdict = verify_flow(X, wrong, t)
    assert verdict.status is Status.REFUTED
    assert verdict.entry == (0, 4)
    assert group_law(wrong, t).entry == (0, 4)


def test_sixty_four_dimensions_are_no_obstacle():
    planes = [(symbols(f"g{k} v{k}", real=True)) for k in range(32)]
    E_t = sp.diag(*[exp(-rate * t) * turn(v * t) for rate, v in planes])
    X = sp.diag(*[Matrix([[-rate, -v], [v, -rate]]) for rate, v in planes])
    assert verify_flow(X, E_t, t).holds
    assert group_law(E_t, t).holds


def test_not_checked_does_not_hold():
    with pytest.raises(Undecidable, match="not checked: a hypothesis was dropped"):
        Verdict(Status.NOT_CHECKED, "a hypothesis was dropped").holds  # noqa: B018
