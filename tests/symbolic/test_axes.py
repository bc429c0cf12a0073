"""Laws of commuting axes; flows are compared with mpmath's matrix exponential, which knows no Jordan type."""

import mpmath
import pytest
import sympy as sp
from exptx.symbolic import (
    Axes,
    BadInput,
    Block,
    Generator,
    Status,
    Unsupported,
    WrongType,
    commutation,
    enclose,
)

a, b, x, y = sp.symbols("a b x y", real=True)
J = sp.Matrix([[0, -1], [1, 0]])
I2 = sp.eye(2)
L1 = sp.Matrix([[0, 0, 0], [0, 0, -1], [0, 1, 0]])
L2 = sp.Matrix([[0, 0, 1], [0, 0, 0], [-1, 0, 0]])
L3 = sp.Matrix([[0, -1, 0], [1, 0, 0], [0, 0, 0]])
SLIDE = sp.Matrix([[0, 1], [0, 0]])
COMMUTING = {
    "one axis": [L1],
    "turns of one plane": [a * J, b * J],
    "two planes": [sp.diag(J, sp.zeros(2)), sp.diag(sp.zeros(2), J)],
    "the two factors of a tensor product": [sp.kronecker_product(I2, J), sp.kronecker_product(J, I2)],
    "a slide and a fade": [SLIDE, sp.Matrix([[-1, 0], [0, -1]])],
    "two slides": [sp.kronecker_product(I2, SLIDE), sp.kronecker_product(SLIDE, I2)],
    "powers of one matrix": [sp.Matrix([[1, 2], [3, 4]]), sp.Matrix([[7, 10], [15, 22]])],
    "roots that cancel": [
        sp.Matrix([[1, sp.sqrt(2)], [sp.sqrt(2), 3]]),
        sp.Matrix([[1, sp.sqrt(2)], [sp.sqrt(2), 3]]) ** 2,
    ],
}
APART = {  # the commutator by hand
    "so(3)": ([L1, L2], L3),
    "turn and slide": ([J, SLIDE], sp.Matrix([[-1, 0], [0, 1]])),
    "the last of three axes": ([sp.eye(3), L2, L3], L1),
    "symbols": ([a * L1, b * L2], a * b * L3),
    "slides up and down": ([SLIDE, SLIDE.T], sp.diag(1, -1)),
    "apart in the last corner": ([sp.diag(0, J), sp.diag(0, SLIDE)], sp.diag(0, -1, 1)),
    "a symbol that must not be 2": ([(a - 2) * L1, L2], (a - 2) * L3),
    "nearly commuting": ([L1, L1 + L2 / 10**6], L3 / 10**6),
}


def numbers(matrix, at=()):
    """exp(matrix) by mpmath, 40 digits."""
    with mpmath.workdps(40):
        values = [[mpmath.mpf(z.p) / z.q for z in row] for row in sp.Matrix(matrix).subs(dict(at)).tolist()]
        return mpmath.expm(mpmath.matrix(values), method="taylor")


def near(expression, value):
    found = enclose(sp.sympify(expression), 25)
    return abs(mpmath.mpf(found.lower.p) / found.lower.q - value) < 1e-14


@pytest.mark.parametrize("name", COMMUTING)
def test_commuting_axes_are_proved_so_and_multiply(name):
    found = commutation(COMMUTING[name])
    assert found.verdict.status is Status.PROVED
    assert found
    assert found.pair is found.defect is found.positions is None


@pytest.mark.parametrize("name", APART)
def test_the_defect_is_half_of_the_commutator(name):
    matrices, bracket = APART[name]
    found = commutation(matrices)
    assert found.verdict.status is Status.REFUTED
    assert not found
    assert (found.defect - bracket / 2).applyfunc(sp.expand) == sp.zeros(bracket.rows)
    assert found.pair == ((1, 2) if len(matrices) == 3 else (0, 1))


@pytest.mark.parametrize("name", APART)
def test_the_positions_break_the_group_law(name):
    matrices, _ = APART[name]
    found = commutation(matrices)
    p, q = found.positions
    names = [str(s) for s in found.verdict.witness]
    assert names[: 2 * len(p)] == [f"{letter}{i}" for letter in "pq" for i in range(len(p))]
    at = [(s, v) for s, v in found.verdict.witness.items() if s in (a, b)]
    sums = [
        sum((c * m for c, m in zip(r, matrices, strict=True)), sp.zeros(matrices[0].rows)) for r in (p, q)
    ]
    with mpmath.workdps(40):
        left = numbers(sums[0], at) * numbers(sums[1], at) - numbers(sums[0] + sums[1], at)
    value = left[found.verdict.entry]
    assert abs(value) > 1e-15
    assert abs(mpmath.mpf(found.verdict.gap) - value) < 1e-8 * abs(value)


def test_the_defect_is_what_is_left_at_second_order():
    found = commutation([L1, L2])
    for step in (sp.Rational(1, 100), sp.Rational(1, 1000)):
        left = numbers(step * L1) * numbers(step * L2) - numbers(step * (L1 + L2))
        h = mpmath.mpf(step.p) / step.q
        for i in range(3):
            for j in range(3):
                assert abs(left[i, j] / h**2 - mpmath.mpf(float(found.defect[i, j]))) < h


def test_the_published_distance_of_two_rotations_that_do_not_commute():
    axes = Axes.of([-L1, -L2])
    for step, digits in ((sp.S.One, "0.66411561272383"), (sp.Rational(1, 10), "0.0070671349")):
        g = {p: axes.flow(p) for p in ((step, 0), (0, step), (-step, step))}
        square = sum(e**2 for e in g[step, 0].T * g[0, step] - g[-step, step])
        found = enclose(sp.sqrt(square), 20)
        places = len(digits) - 2
        assert {sp.floor(end * 10**places + sp.S.Half) for end in (found.lower, found.upper)} == {
            sp.Integer(digits.replace("0.", ""))
        }


@pytest.mark.parametrize("name", COMMUTING)
def test_the_flow_of_commuting_axes_is_the_exponential_of_the_sum(name):
    matrices = COMMUTING[name]
    if any(m.has(sp.Pow) for m in matrices):
        matrices = [sp.Matrix([[1, 2], [2, 3]]), sp.Matrix([[1, 2], [2, 3]]) ** 2]
    point = tuple(sp.Rational(n, 7) for n in (3, -5))[: len(matrices)]
    whole = sum((c * m for c, m in zip(point, matrices, strict=True)), sp.zeros(matrices[0].rows))
    at = {a: sp.Rational(2, 3), b: sp.Rational(-1, 2)}
    expected = numbers(whole, at.items())
    found = Axes.of(matrices).flow(point)
    for place in [(i, j) for i in range(found.rows) for j in range(found.cols)]:
        assert near(found[place].subs(at), expected[place])


def test_the_flow_of_axes_that_do_not_commute_is_the_exponential_at_a_point():
    point = (sp.Rational(1, 3), -2)
    found, expected = Axes.of([L1, L2]).flow(point), numbers(point[0] * L1 + point[1] * L2)
    assert all(near(found[i, j], expected[i, j]) for i in range(3) for j in range(3))


def test_turns_of_one_plane_turn_by_the_summed_angle_whatever_the_signs():
    flow = Axes.of([a * J, b * J]).flow((x, y))
    angle = a * x + b * y
    assert flow == sp.ImmutableMatrix([[sp.cos(angle), -sp.sin(angle)], [sp.sin(angle), sp.cos(angle)]])


def test_two_slides_make_a_polynomial_in_both_coordinates():
    expected = [[1, x, y, x * y], [0, 1, 0, y], [0, 0, 1, x], [0, 0, 0, 1]]
    assert Axes.of(COMMUTING["two slides"]).flow((x, y)) == sp.ImmutableMatrix(expected)


def test_planes_are_found_only_where_all_axes_turn_the_same_coordinates():
    assert Axes.of([sp.diag(J, 3 * J), sp.diag(sp.zeros(2), -J)]).planes == {(0, 1): (1, 0), (2, 3): (3, -1)}
    assert Axes.of([J, I2]).planes is None
    assert Axes.of([sp.Matrix([[0, 1], [1, 0]])]).planes is None
    assert Axes.of([L1, L2]).planes is None
    assert Axes.of(COMMUTING["the two factors of a tensor product"]).planes is None


@pytest.mark.parametrize(
    ("matrices", "everywhere", "ahead"),
    [
        ([L1, L2], Status.PROVED, Status.PROVED),
        ([a * J, b * J], Status.PROVED, Status.PROVED),
        ([sp.Matrix([[6, -15], [3, -6]]), 2 * sp.Matrix([[6, -15], [3, -6]])], Status.PROVED, Status.PROVED),
        ([J, -I2], Status.REFUTED, Status.PROVED),
        ([J, I2], Status.REFUTED, Status.REFUTED),
        (COMMUTING["two slides"], Status.REFUTED, Status.REFUTED),
        ([J, sp.Matrix([[6, -15], [3, -6]])], Status.UNDECIDED, Status.UNDECIDED),
    ],
)
def test_axes_are_bounded_together_where_each_is(matrices, everywhere, ahead):
    axes = Axes.of(matrices)
    assert axes.bounded().status is everywhere
    assert axes.bounded("causal").status is ahead


def test_a_commutator_outside_the_decidable_numbers_stays_open():
    nested = sp.sqrt(3 + 2 * sp.sqrt(2))  # equals 1 + √2, which no rule here knows
    found = commutation([sp.diag(nested, 1 + sp.sqrt(2)), SLIDE])
    assert found.verdict.status is Status.UNDECIDED
    assert found.pair == (0, 1)


def test_generators_and_matrices_mix():
    assert commutation([Generator.direct_sum(Block(0, 1)), 2 * J]).holds
    assert Axes.of([J, 2 * J]).generators == (Generator(J), Generator(2 * J))


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ("J", WrongType, "generators is 'J'; a list"),
        ([], BadInput, "generators is empty"),
        ([J, L1], BadInput, r"generators\[1\] is 3 x 3 and generators\[0\] is 2 x 2"),
        ([[[0, 0.5], [1, 0]]], WrongType, r"generators\[0\]\[0, 1\] is 0.5"),
        ([sp.zeros(2, 3)], BadInput, r"generators\[0\] is not square"),
    ],
)
def test_what_is_no_list_of_matrices_is_refused(given, error, words):
    with pytest.raises(error, match=words):
        commutation(given)


@pytest.mark.parametrize(
    ("position", "error", "words"),
    [
        (3, WrongType, "p is 3; a position on 2 axes is a tuple of 2 exact numbers"),
        ("12", WrongType, "a tuple of 2 exact numbers"),
        ((1, 2, 3), BadInput, "p has 3 coordinates; a position on 2 axes"),
        ((1, 0.5), WrongType, r"p\[1\] is 0.5"),
    ],
)
def test_what_is_no_position_is_refused(position, error, words):
    with pytest.raises(error, match=words):
        Axes.of([J, 2 * J]).flow(position)


def test_a_symbolic_position_on_axes_that_do_not_commute_is_refused():
    with pytest.raises(Unsupported, match="the axes are not known to commute, and"):
        Axes.of([L1, L2]).flow((x, y))


def test_an_unknown_domain_is_refused():
    with pytest.raises(BadInput, match="domain is 'half'; 'real' or 'causal' works"):
        Axes.of([J]).bounded("half")
