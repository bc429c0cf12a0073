"""Exact definiteness, on matrices whose eigenvalues are known, one part in 10^12 from the border."""

import pytest
import sympy as sp
from exptx.symbolic.spectral.definite import is_positive_definite, is_positive_semidefinite, root_of_condition

tiny = sp.Rational(1, 10**12)
a = sp.Symbol("a", positive=True)
r = sp.sqrt(2)


@pytest.mark.parametrize(
    ("matrix", "definite", "semidefinite"),
    [
        ([[1, 2], [2, 4]], False, True),
        ([[1, 2], [2, 4 + tiny]], True, True),
        ([[1, 2], [2, 4 - tiny]], False, False),
        ([[0, 0], [0, -1]], False, False),  # its leading minors are 0 and 0
        ([[0, 1], [1, 0]], False, False),
        ([[r, 2], [2, 2 * r]], False, True),
        ([[r, 2], [2, 2 * r + tiny]], True, True),
        ([[a, 0], [0, a**2 + 1]], True, True),
        ([[a, a], [a, a]], False, True),
        ([[2, -1, 0], [-1, 2, -1], [0, -1, 2]], True, True),
    ],
)
def test_definiteness_is_exact(matrix, definite, semidefinite):
    matrix = sp.ImmutableMatrix(matrix)
    assert is_positive_definite(matrix) is definite
    assert is_positive_semidefinite(matrix) is semidefinite


@pytest.mark.parametrize(
    ("matrix", "condition"),
    [([[4, 0], [0, 1]], 4), ([[1, -2], [-2, 5]], (3 + 2 * r) / (3 - 2 * r)), ([[7, 0], [0, 7]], 1)],
)
def test_the_root_of_the_condition_number_is_enclosed(matrix, condition):
    found = root_of_condition(sp.ImmutableMatrix(matrix))
    assert found.lower <= sp.sqrt(condition) <= found.upper
    assert found.width < sp.Rational(1, 10**15)


def test_symbols_have_no_number_for_a_condition():
    assert root_of_condition(sp.ImmutableMatrix([[a]])) is None
