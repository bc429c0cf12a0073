"""Given skew matrices: relative exactly if they commute; the published defect of two rotations of space."""

import pytest
import sympy as sp
from exptx.symbolic import BadInput, Status, WrongType, enclose, encoding
from exptx.symbolic.catalogue import entries

L1 = [[0, 0, 0], [0, 0, -1], [0, 1, 0]]
L2 = [[0, 0, 1], [0, 0, 0], [-1, 0, 0]]
L3 = [[0, -1, 0], [1, 0, 0], [0, 0, 0]]
J = sp.Matrix([[0, -1], [1, 0]])
IJ, JI = sp.kronecker_product(sp.eye(2), J), sp.kronecker_product(J, sp.eye(2))


@pytest.mark.parametrize(("step", "printed"), [(1, "0.66411561272383"), (sp.Rational(1, 10), "0.0070671349")])
def test_the_published_defect_of_the_relative_law(step, printed):
    given = encoding("liere", matrices=[L1, L2])
    p, q = (step, 0), (0, step)
    square = 0
    for i in range(3):
        for j in range(3):
            units = {"q": [int(r == i) for r in range(3)], "k": [int(r == j) for r in range(3)]}
            moved, fixed = given.score(p, q, **units), given.score((0, 0), (-step, step), **units)
            square += (moved - fixed) ** 2
    found, places = enclose(sp.sqrt(square), 20), len(printed) - 2
    assert {sp.floor(end * 10**places + sp.S.Half) for end in (found.lower, found.upper)} == {
        sp.Rational(printed) * 10**places
    }


def test_the_second_order_term_is_half_of_the_commutator():
    defect = encoding("liere", matrices=[L1, L2]).axes.commutation.defect
    assert defect == sp.Matrix(L3) / 2
    hundredth = enclose(defect.norm() / 100, 20)
    assert sp.Rational("0.0070710677") < hundredth.lower < sp.Rational("0.0070710679")


def test_the_example_is_refuted_and_commuting_matrices_are_accepted():
    assert entries()["liere"].shown().is_relative().status is Status.REFUTED
    assert encoding("liere", matrices=[L1, [[0, 0, 0], [0, 0, 2], [0, -2, 0]]]).is_relative().holds
    assert encoding("liere", matrices=[L1]).is_relative().holds


def test_commuting_matrices_that_share_no_coordinate_planes_are_relative():
    given = encoding("comrope", matrices=[IJ, JI])
    assert given.axes.planes is None
    assert given.is_relative().holds
    assert given.in_family().holds
    q, k = [1, 2, 3, 4], [2, 0, -1, 5]
    moved, fixed = given.score((7, 5), (4, -2), q=q, k=k), given.score((3, 7), (0, 0), q=q, k=k)
    assert 0 in enclose(moved - fixed, 30)


def test_the_key_turns_by_the_given_matrix():
    given = encoding("comrope", matrices=[J])
    assert given.score((0,), (1,), q=[0, 1], k=[1, 0]) == sp.sin(1)  # exp(J) e0 = (cos 1, sin 1)


@pytest.mark.parametrize(
    ("name", "matrices", "error", "words"),
    [
        ("comrope", [L1, L2], BadInput, r"A_0 A_1 - A_1 A_0 is \[\[0, -1, 0\], \[1, 0, 0\]"),
        ("comrope", [L1, L1, L3], BadInput, r"\[0\] and matrices\[2\] do not commute: .* liere takes any"),
        ("liere", [[[0, 1], [1, 0]]], BadInput, r"is not skew: entries \[0, 1\] = 1 and \[1, 0\] = 1"),
        ("liere", [[[0, 1], [-1, 2]]], BadInput, r"matrices\[0\] is not skew: entries \[1, 1\] = 2"),
        ("liere", [[[0, 0.5], [-0.5, 0]]], WrongType, r"matrices\[0\]\[0, 1\] is 0.5"),
        ("liere", [L1, [[0]]], BadInput, r"matrices\[1\] is 1 x 1 and matrices\[0\] is 3 x 3"),
        ("liere", [], BadInput, "matrices is empty"),
    ],
)  # fmt: skip
def test_what_is_not_skew_or_does_not_commute_is_refused(name, matrices, error, words):
    with pytest.raises(error, match=words):
        encoding(name, matrices=matrices)
