"""Encodings on several axes: what is proved for every frequency, what two pairs of positions refute."""

import mpmath
import pytest
import sympy as sp
from exptx.symbolic import BadInput, Status, Unsupported, WrongType, enclose, encoding
from exptx.symbolic.axes import Axes
from exptx.symbolic.kinds.axes import AxesEncoding
from exptx.symbolic.verdict import Verdict
from exptx.symbolic.verdicts import verdicts

f, g = sp.symbols("f g", real=True)
x, y, c, d = sp.symbols("x y c d", real=True)
L1 = sp.Matrix([[0, 0, 0], [0, 0, -1], [0, 1, 0]])
L2 = sp.Matrix([[0, 0, 1], [0, 0, 0], [-1, 0, 0]])
FADE, SLIDE = sp.Matrix([[-1, 0], [0, -1]]), sp.Matrix([[0, 1], [0, 0]])


def of(*generators):
    return AxesEncoding("given", {}, generators[0].rows, Axes.of(generators))


def words(given):
    return [answer.word for answer in verdicts(given).answers().values()]


def test_the_score_of_a_plane_depends_on_the_summed_angle():
    q, k = [1, 0], [0, 1]
    one = encoding("rope_mixed", head_dim=2, fx=[f], fy=[g])
    found = one.score((x + c, y + d), (c, d), q=q, k=k)
    assert sp.expand((found - sp.sin(f * x + g * y)).rewrite(sp.exp)) == 0


@pytest.mark.parametrize(
    ("fx", "fy"), [([0], [0]), ([-3], [sp.sqrt(2)]), ([f], [g]), ([sp.Rational(1, 3)], [-f])]
)
def test_mixed_frequencies_of_every_sign_are_relative(fx, fy):
    mixed = encoding("rope_mixed", head_dim=2, fx=fx, fy=fy)
    assert words(mixed) == ["yes"] * 5


def test_a_proof_is_for_free_frequencies_of_every_sign():
    free, values = encoding("axial", head_dim=8).symbolic()
    names = sp.symbols("w0 w1", real=True)
    assert values == {names[0]: -1, names[1]: -sp.Rational(1, 10)}  # X = -wJ
    assert all(symbol.is_positive is None for symbol in values)
    assert free.axes.planes[4, 5] == (0, names[0])


UP, ON = sp.Matrix([[0, 1, 0], [0, 0, 0], [0, 0, 0]]), sp.Matrix([[0, 0, 0], [0, 0, 1], [0, 0, 0]])


@pytest.mark.parametrize("generators", [(-L1, -L2), (UP, ON)])  # the second pair differs in one corner only
def test_axes_that_do_not_commute_are_refuted_by_two_pairs_of_equal_gap(generators):
    given = of(*generators)
    verdict = given.is_relative()
    assert verdict.status is Status.REFUTED
    at = {str(symbol): value for symbol, value in verdict.witness.items()}
    s, u = ((at[f"{letter}0"], at[f"{letter}1"]) for letter in "su")
    q, k = ([at[f"{letter}{i}"] for i in range(3)] for letter in "qk")
    t = (s[0] + u[0], s[1] + u[1])
    moved, fixed = enclose(given.score(t, s, q=q, k=k), 20), enclose(given.score(u, (0, 0), q=q, k=k), 20)
    gap = sp.Rational(verdict.gap)
    assert abs(gap) - sp.Rational(1, 10**8) > 0
    assert abs(moved.lower - fixed.lower - gap) < sp.Rational(1, 10**9)


def test_the_score_is_that_of_two_rotations_applied_one_on_each_side():
    so3, t, s = of(-L1, -L2), (2, 1), (-1, 3)
    with mpmath.workdps(30):
        turn = lambda p: mpmath.expm(mpmath.matrix((p[0] * L1 + p[1] * L2).tolist()), method="taylor")  # noqa: E731
        expected = (turn(t) * mpmath.matrix([1, 2, 3])).T * (turn(s) * mpmath.matrix([3, -1, 2]))
        found = enclose(so3.score(t, s, q=[1, 2, 3], k=[3, -1, 2]), 20)
        assert abs(mpmath.mpf(found.lower.p) / found.lower.q - expected[0]) < 1e-15


@pytest.mark.parametrize(
    ("generators", "expected"),
    [
        ((-L1, -L2), ["no", "no", "no", "yes", "yes"]),
        ((UP, ON), ["no", "no", "no", "no", "no"]),
        ((FADE, 2 * FADE), ["yes", "yes", "yes", "no", "forward only"]),
        ((SLIDE, FADE), ["yes", "yes", "yes", "no", "no"]),
        ((L1,), ["yes"] * 5),
    ],
)
def test_the_five_answers(generators, expected):
    assert words(of(*generators)) == expected


def test_what_is_not_relative_is_not_in_the_family_for_that_reason():
    verdict = of(-L1, -L2).in_family()
    assert verdict.status is Status.REFUTED
    assert verdict.reason == "it is not relative, and every member of the family is"
    assert verdict.witness == of(-L1, -L2).is_relative().witness


def test_symbols_of_a_refuted_pair_get_values_in_the_witness():
    verdict = of(f * L1, g * L2).is_relative()
    assert verdict.status is Status.REFUTED
    assert verdict.witness[f] != 0
    assert verdict.witness[g] != 0


@pytest.mark.parametrize(
    ("position", "error", "expected"),
    [
        ((1, 2, 3), BadInput, "t has 3 coordinates; a position on 2 axes is a tuple of 2 exact numbers"),
        (5, WrongType, "t is 5; a position on 2 axes is a tuple of 2 exact numbers"),
        ((0.5, 1), WrongType, r"t\[0\] is 0.5"),
    ],
)
def test_what_is_no_position_is_refused_in_a_sentence(position, error, expected):
    with pytest.raises(error, match=expected):
        encoding("axial", head_dim=4).score(position, (0, 0))


def test_symbolic_positions_need_commuting_axes():
    with pytest.raises(Unsupported, match="the axes are not known to commute"):
        of(-L1, -L2).score((x, y), (0, 0))


@pytest.mark.parametrize("other", ["axial", "alibi"])
def test_sums_are_refused_in_a_sentence(other):
    axial = encoding("axial", head_dim=4)
    more = axial if other == "axial" else encoding("alibi", slope=1, head_dim=4)
    for left, right in ((axial, more), (more, axial)):
        with pytest.raises(BadInput, match="cannot be added: positions of axial have 2 coordinates"):
            left + right
    with pytest.raises(WrongType, match="axial was added to a int"):
        axial + 1


def test_generators_of_another_size_are_refused():
    with pytest.raises(BadInput, match="the generators have size 3, not head_dim 4"):
        AxesEncoding("given", {}, 4, Axes.of([L1, L2]))


def test_the_written_score_has_tuples_of_positions_or_a_product():
    assert r"\left( t_{0}, \  t_{1}\right)" in encoding("axial", head_dim=4).latex()
    assert r"\exp\Bigl(\sum_i t_i X_i\Bigr)" in of(-L1, -L2).latex()


def test_the_family_is_claimed_only_where_flow_and_commutators_are_both_decided(monkeypatch):
    """Each of the two alone settles nothing; what refutes the gap law refutes the family."""
    good = of(FADE, SLIDE)
    assert good.in_family().status is Status.PROVED
    for method, status in (("_flow_verdict", Status.UNDECIDED), ("is_relative", Status.UNDECIDED)):
        with monkeypatch.context() as changed:
            changed.setattr(AxesEncoding, method, lambda self, status=status: Verdict(status, "left open"))
            assert of(FADE, SLIDE).in_family().status is status
            assert of(FADE, SLIDE).in_family().reason == "left open"
    assert of(L1, L2).in_family().status is Status.REFUTED
    assert of(L1, L2).in_family().reason.startswith("it is not relative")
