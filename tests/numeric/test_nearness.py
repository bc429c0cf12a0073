"""Distance to the nearest defective matrix: closed forms lie between the bounds, and the bounds are near."""

import math

import numpy as np
import pytest
import torch
from exptx.numeric import float_spectrum
from exptx.numeric.errors import BadDtype, BadTensor
from exptx.numeric.nearness import _disjoint

KAHAN = [[0.9**i * (1 if i == j else -math.sqrt(0.19) if j > i else 0) for j in range(6)] for i in range(6)]
GRCAR = [[-1.0 if i == j + 1 else float(0 <= j - i <= 3) for j in range(8)] for i in range(8)]
FRANK = [[float(8 - max(i, j)) if j >= i - 1 else 0.0 for j in range(8)] for i in range(8)]
LISTED = {
    "a turn in a skewed basis": [[6.0, -15.0], [3.0, -6.0]],
    "nearly a slide of size 3": [[0, 1.0, 0], [0, 0, 1.0], [1e-6, 0, 0]],
    "Kahan": KAHAN,
    "Grcar": GRCAR,
    "Frank": FRANK,
}


@pytest.mark.parametrize("name", LISTED)
def test_the_bounds_are_within_a_factor_of_ten(name):
    found = float_spectrum(LISTED[name])
    assert 0 < found.lower <= found.upper <= 10 * found.lower


@pytest.mark.parametrize("name", LISTED)
def test_the_eigenvalues_are_those_of_numpy(name):
    found = np.sort_complex(float_spectrum(LISTED[name]).eigenvalues.numpy())
    assert np.abs(found - np.sort_complex(np.linalg.eigvals(np.array(LISTED[name], complex)))).max() < 1e-3


@pytest.mark.parametrize(("gap", "shear"), [(6.0, 0.0), (1.0, 1e3), (1e-3, 1.0), (2.0, 3.0)])
def test_for_two_by_two_matrices_the_closed_form_lies_between(gap, shear):
    """w = (√(a² + δ²) - a)/2 for [[λ, a], [0, λ + δ]]: the least singular value at the mean eigenvalue."""
    exact = gap**2 / (2 * (math.hypot(shear, gap) + shear))
    angle = 0.7
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    found = float_spectrum(turn @ np.array([[1.0, shear], [0.0, 1.0 + gap]]) @ turn.T)
    assert found.lower <= exact <= found.upper
    assert found.upper <= 1.1 * found.lower


def test_for_normal_matrices_it_is_half_the_least_gap():
    basis, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))
    found = float_spectrum(basis @ np.diag([1.0, 2.5, 4.0, 8.0, 8.75]) @ basis.T)
    assert found.lower <= 0.375 <= found.upper < 1.05 * found.lower


def test_a_known_perturbation_is_never_below_the_lower_bound():
    """Setting the corner of [[0, 1, 0], [0, 0, 1], [η, 0, 0]] to 0 leaves J_3(0)."""
    for corner in (1e-2, 1e-4, 1e-8):
        assert float_spectrum([[0, 1.0, 0], [0, 0, 1.0], [corner, 0, 0]]).lower <= corner


def test_smaller_perturbations_keep_all_eigenvalues_apart():
    matrix, rng = np.array(GRCAR), np.random.default_rng(1)
    lower = float_spectrum(GRCAR).lower
    start = np.linalg.eigvals(matrix)
    for _ in range(30):
        change = rng.normal(size=(8, 8)) + 1j * rng.normal(size=(8, 8))
        change *= 0.99 * lower / np.linalg.norm(change, 2)
        values = np.linalg.eigvals(matrix + change)
        assert min(abs(values[i] - values[j]) for i in range(8) for j in range(i)) > 1e-3
    assert min(abs(start[i] - start[j]) for i in range(8) for j in range(i)) > 1e-3


def test_circles_count_only_while_they_do_not_overlap():
    gaps = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    radii, levels = torch.tensor([[0.3, 0.8]] * 2), torch.tensor([[1.0, 2.0]] * 2)
    assert _disjoint(1.0, levels, radii, gaps)
    assert not _disjoint(1.5, levels, radii, gaps)
    assert not _disjoint(2.5, levels, radii, gaps)


def test_a_defective_matrix_is_at_rounding_distance():
    found = float_spectrum([[0.0, 1.0], [0.0, 0.0]])
    assert found.lower == 0
    assert found.upper < 1e-12


def test_one_number_is_never_defective():
    found = float_spectrum([[3.0]])
    assert found.lower == found.upper == math.inf
    assert found.eigenvalues.tolist() == [3]


def test_what_is_found_is_said_in_one_sentence():
    assert "the nearest defective matrix is between 0.499 and 0.515 away" in str(
        float_spectrum(LISTED["a turn in a skewed basis"])
    )


@pytest.mark.parametrize(
    ("matrix", "error", "sentence"),
    [
        ([[1.0, 2.0]], BadTensor, r"shape \(1, 2\)"),
        (torch.zeros(0, 0), BadTensor, r"shape \(0, 0\)"),
        (torch.eye(33), BadTensor, "32 x 32"),
        ([[math.nan]], BadTensor, "not finite"),
        ("[[1.0]]", BadDtype, "matrix is a str"),
        ([[True]], BadDtype, "truth values"),
        (None, BadDtype, "matrix is a NoneType"),
    ],
)
def test_bad_matrices_are_refused_by_name(matrix, error, sentence):
    with pytest.raises(error, match=sentence):
        float_spectrum(matrix)
