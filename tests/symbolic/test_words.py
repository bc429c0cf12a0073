"""Relations between matrix symbols: what they force is proved, what they do not is shown by a model."""

from fractions import Fraction
from random import Random

import pytest
import sympy as sp
from exptx.symbolic.decide import Status
from exptx.symbolic.errors import BadInput, WrongType
from exptx.symbolic.words import Derived, Words, commuting, inverses, letters

A, B, X, Y, N, S, SI, J = letters("A B X Y N S SI J")
F0, FI, FU, G0, GI, GS = letters("f0 f0' fu g0 g0' gs")
MUS, MU, M0I, MS = letters("Mus Mu M0' Ms")
E, EI, t, dt = letters("E E' t dt")

DEFINITIONS = [(MUS, FU * GS), (MU, FU * G0), (MS, F0 * GS), (M0I, GI * FI)]


def status(claim: Words) -> Status:
    return claim.check().status


def satisfies(claim: Words, model: dict) -> bool:
    """The model in sympy's own matrices: every rule and every central letter holds."""
    matrices = {name: sp.Matrix(rows).applyfunc(sp.Rational) for name, rows in model.items()}
    rules = all(evaluate(left, matrices) == evaluate(right, matrices) for left, right in claim.rules)
    scalars = [matrices[poly.word()[0]] for poly in claim.central]
    return rules and all(s * m == m * s for s in scalars for m in matrices.values())


def evaluate(poly, matrices: dict) -> sp.Matrix:
    size = next(iter(matrices.values())).shape[0]
    total = sp.zeros(size)
    for word, c in poly.terms:
        product = sp.eye(size)
        for name in word:
            product = product * matrices[name]
        total = total + sp.Rational(c.numerator, c.denominator) * product
    return total


def test_relative_scores_of_invertible_factors_form_a_group() -> None:
    """M(u-s) = M(u) M(0)^-1 M(-s) from M(t-s) = F(t)'G(s), M(0) = F(0)'G(0) invertible."""
    rules = [*DEFINITIONS, *inverses(F0, FI), *inverses(G0, GI)]
    assert status(Words(MUS, MU * M0I * MS, rules)) is Status.PROVED


def test_without_invertibility_the_group_law_has_a_counterexample() -> None:
    verdict = Words(MUS, MU * M0I * MS, DEFINITIONS).check()
    assert verdict.status is Status.REFUTED
    assert satisfies(Words(MUS, MU * M0I * MS, DEFINITIONS), verdict.certificate["model"])


def test_a_solution_of_the_flow_equation_is_the_exponential() -> None:
    """A' = XA, E' = -XE, XE = EX: the derivative of E A vanishes."""
    claim = Words(Derived(E * A), 0, commuting(X, E), derivation={A: X * A, E: -X * E})
    assert status(claim) is Status.PROVED


@pytest.mark.parametrize("rate", [2 * X * A, A * X * X, X], ids=str)
def test_another_rate_does_not_cancel(rate) -> None:
    claim = Words(Derived(E * A), 0, commuting(X, E), derivation={A: rate, E: -X * E})
    assert status(claim) is Status.REFUTED


def test_the_flow_of_a_noncommuting_exponential_is_refuted() -> None:
    claim = Words(Derived(E * A), 0, derivation={A: X * A, E: -X * E})
    verdict = claim.check()
    assert verdict.status is Status.REFUTED
    assert satisfies(claim, verdict.certificate["model"])


def test_powers_of_a_conjugate_are_conjugates_of_powers() -> None:
    rules = inverses(S, SI)
    assert status(Words((S * X * SI) ** 3, S * X**3 * SI, rules)) is Status.PROVED
    assert status(Words((SI * X * S) ** 3, S * X**3 * SI, rules)) is Status.REFUTED


def test_conjugation_carries_the_flow() -> None:
    """(S E S^-1)' = (S X S^-1)(S E S^-1)"""
    claim = Words(Derived(S * E * SI), (S * X * SI) * (S * E * SI), inverses(S, SI), derivation={E: X * E})
    assert status(claim) is Status.PROVED
    assert status(Words(claim.lhs, S * E * X * SI, inverses(S, SI), derivation={E: X * E})) is Status.REFUTED


def test_a_square_zero_generator_gives_a_linear_flow() -> None:
    """(1 + uN)(1 + vN) = 1 + (u+v)N when N^2 = 0."""
    u, v = letters("u v")
    product = (1 + u * N) * (1 + v * N)
    assert status(Words(product, 1 + (u + v) * N, [(N * N, 0 * N)], central=[u, v])) is Status.PROVED
    assert status(Words(product, 1 + (u + v) * N, central=[u, v])) is Status.REFUTED


def test_a_full_turn_added_to_the_generator_changes_nothing_on_integers() -> None:
    """E1 W = E1 when W, the flow of 2 pi J over one step, is 1; (E1 W)^n = E1^n W^n needs commutation."""
    W, E1 = letters("W E1")
    assert status(Words((E1 * W) ** 5, E1**5 * W**5, commuting(E1, W))) is Status.PROVED
    assert status(Words((E1 * W) ** 5, E1**5, [*commuting(E1, W), (W, E1**0)])) is Status.PROVED
    assert status(Words((E1 * W) ** 2, E1**2 * W**2)) is Status.REFUTED


def test_gates_scale_time_and_not_the_generator() -> None:
    """E' = g X E with a scalar gate: the flow still commutes with X."""
    g, x = letters("g x")
    claim = Words(Derived(X * E), g * X * X * E, [], central=[g], derivation={E: g * X * E})
    assert status(claim) is Status.PROVED
    assert status(Words(Derived(X * E), x * X * X * E, [], [g, x], {E: g * X * E})) is Status.REFUTED


def test_scalars_cancel_as_often_as_they_occur() -> None:
    """d d = 1 for a scalar d: d A d = A, but d A is not A (d = -1)."""
    (d,) = letters("d")
    rules = [(d * d, d**0)]
    assert status(Words(d * A * d, A, rules, [d])) is Status.PROVED
    assert status(Words(d * A, A, rules, [d])) is Status.REFUTED


def test_the_derivative_is_linear() -> None:
    assert (
        status(Words(Derived(3 * A * A), 3 * X * A * A + 3 * A * X * A, derivation={A: X * A}))
        is Status.PROVED
    )
    assert status(Words(Derived(3 * A), X * A, derivation={A: X * A})) is Status.REFUTED


def test_a_contragredient_pair_is_relative_and_the_same_map_twice_is_not() -> None:
    """F = A(t)', G = A(-s): (D_t + D_s) F G = 0 with F' = FX, G' = -XG, and without the sign it is 2 FXG."""
    F, G = letters("F G")
    assert status(Words(Derived(F * G), 0, derivation={F: F * X, G: -X * G})) is Status.PROVED
    same = Words(Derived(F * G), 0, derivation={F: F * X, G: X * G})
    assert status(same) is Status.REFUTED
    assert status(Words(Derived(F * G), 2 * F * X * G, derivation={F: F * X, G: X * G})) is Status.PROVED


def test_a_derivative_the_rules_do_not_imply_is_never_refuted_by_a_model() -> None:
    """A A1 = 1 holds for all time, so A1' is forced; a frozen A1 contradicts that and decides nothing."""
    (A1,) = letters("A1")
    claim = Words(Derived(A), 0, inverses(A, A1), derivation={A: X * A})
    verdict = claim.check()
    assert verdict.status is Status.UNDECIDED
    assert "lack the derivative" in verdict.reason


def test_a_given_model_of_any_size_separates() -> None:
    """N^3 = 0 does not force N^2 = 0; 2 x 2 matrices cannot show it, 3 x 3 ones do."""
    claim = Words(N**2, 0, [(N**3, 0 * N)])
    assert status(claim) is Status.UNDECIDED
    shift = sp.Matrix([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    verdict = Words(N**2, 0, [(N**3, 0 * N)], model={N: shift}).check()
    assert (verdict.status, verdict.entry) == (Status.REFUTED, (0, 2))


def test_a_model_that_breaks_a_rule_refutes_nothing() -> None:
    verdict = Words(A * B, 0, [(A * A, 0 * A)], model={A: [[1, 0], [0, 1]], B: [[1, 0], [0, 1]]}).check()
    assert verdict.status is Status.UNDECIDED
    assert "does not satisfy" in verdict.reason


def test_a_model_with_a_scalar_that_does_not_commute_refutes_nothing() -> None:
    matrices = {t: [[1, 1], [0, 1]], A: [[1, 0], [1, 1]]}
    verdict = Words(t * A, A * A, central=[t], model=matrices).check()
    assert verdict.status is Status.UNDECIDED
    assert "t commutes with A" in verdict.reason


def test_circular_and_growing_rules_stop_with_a_sentence() -> None:
    assert "circle" in Words(A * B, B, [*commuting(A, B), *commuting(B, A)]).check().reason
    assert "grew" in Words(A, B, [(A, A * X)]).check().reason


def test_incomplete_rules_prove_nothing_false() -> None:
    """Left inverse = right inverse follows by associativity, not by these rules: undecided, never refuted."""
    L, R = letters("L R")
    assert status(Words(L, R, [(L * A, A**0), (A * R, A**0)])) is Status.UNDECIDED


@pytest.mark.parametrize("seed", range(60))
def test_a_random_claim_is_proved_only_if_it_holds_in_random_models(seed: int) -> None:
    """Rules commuting(A, B) and S S' = 1: whatever is proved holds for rational matrices drawn afterwards."""
    rng = Random(seed)
    rules = [*commuting(A, B), *inverses(S, SI)]
    sides = [sum((rng.randint(-2, 2) * random_word(rng) for _ in range(3)), 0 * A) for _ in range(2)]
    if rng.random() < 0.5:
        sides[1] = shuffled(sides[0], rng)
    claim = Words(sides[0], sides[1], rules)
    agree = all(evaluate(claim.lhs, m) == evaluate(claim.rhs, m) for m in models(rng))
    assert (status(claim) is Status.PROVED) <= agree
    if not agree:
        assert status(claim) is Status.REFUTED


def random_word(rng: Random):
    word = A**0
    for _ in range(rng.randint(1, 5)):
        word = word * rng.choice([A, B, X, S, SI])
    return word


def shuffled(poly, rng: Random):
    """An equal polynomial in disguise: S S' and reordered A B inserted; wrong with probability one half."""
    swap = commuting(A, B)[0] if rng.random() < 0.5 else commuting(A, X)[0]
    left, right = swap
    return poly * S * SI + left - right


def drawn(rng: Random) -> sp.Matrix:
    return sp.Matrix(2, 2, lambda *_: sp.Rational(rng.randint(-3, 3), rng.randint(1, 2)))


def models(rng: Random):
    for _ in range(3):
        a, s, x = (
            sp.Matrix(2, 2, lambda *_: sp.Rational(rng.randint(-3, 3), rng.randint(1, 2))) for _ in range(3)
        )
        s = s if s.det() else sp.Matrix([[2, 1], [1, 1]])
        yield {"A": a, "B": 2 * a**2 - a + 3 * sp.eye(2), "S": s, "SI": s.inv(), "X": x}


def test_polynomials_print_and_add_like_polynomials() -> None:
    assert str((A + B) ** 2 - A * A) == "A B + B A + B B"
    assert str(Fraction(1, 2) * A - 3) == "-3 + 1/2 A"
    assert (A - A).terms == ()


@pytest.mark.parametrize(
    ("make", "error", "names"),
    [
        (lambda: 0.5 * A, WrongType, "0.5"),
        (lambda: A**-1, BadInput, "power"),
        (lambda: A * True, WrongType, "coefficient"),
        (lambda: letters("A A"), BadInput, "different letters"),
        (lambda: letters("2A"), BadInput, "2A"),
        (lambda: letters(3), WrongType, "names"),
        (lambda: Words(A, B, [(A + B, A)]), BadInput, "one word"),
        (lambda: Words(A, B, [(2 * A, A)]), BadInput, "one word"),
        (lambda: Words(A, B, [A]), WrongType, "pair"),
        (lambda: Words(A, B, central=[A * B]), BadInput, "single letter"),
        (lambda: Words(A, B, central=[t], derivation={t: X}), BadInput, "central letter t"),
        (lambda: Words(A, B, model={A: [[1]]}), BadInput, "no matrix for B"),
        (lambda: Words(A, B, model={A: [[1]], B: [[1, 2]]}), BadInput, "square"),
        (lambda: Words(A, B, model={A: [[1]], B: [[0.5]]}), WrongType, "0.5"),
        (lambda: Words("A", B), WrongType, "'A'"),
    ],
)
def test_bad_input_gets_one_sentence_that_names_it(make, error, names) -> None:
    with pytest.raises(error, match=names.replace("*", r"\*")):
        make()


def test_the_tree_is_the_claim() -> None:
    claim = Words(Derived(E * A), 0, commuting(X, E), [t], {A: t * X * A})
    assert claim.tree() == {
        "kind": "words",
        "letters": ["A", "E", "X", "t"],
        "central": ["t"],
        "rules": [[["E", "X"], [["1", ["X", "E"]]]]],
        "derivation": {"A": [["1", ["t", "X", "A"]]]},
        "lhs": ["D", [["1", ["E", "A"]]]],
        "rhs": [],
    }


def test_rules_that_only_nonsense_satisfies_prove_nothing():
    """AB = 1 and BA = 0 give A = A(BA) = 0, so 1 = 0; E = 1 with E' = AE gives A = 0."""
    both = Words(A * B * A, A, [(A * B, A**0), (B * A, 0 * A)])
    assert status(both) is Status.UNDECIDED
    frozen = Words(Derived(E), A, [(E, E**0)], derivation={E: A * E})
    assert status(frozen) is Status.UNDECIDED
