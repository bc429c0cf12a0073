"""What floats can say about a generator: eigenvalues, and how far the nearest defective matrix is.

The real Jordan type is discontinuous, so floats never decide it. Instead: w(A), the least ‖E‖₂ over complex E
with A + E defective, between two bounds.

Lower: let |z - λ_i| = r_i be circles with disjoint interiors and σ_min(A - z) >= ε on each. No perturbation
below ε moves an eigenvalue across a circle, so each keeps exactly one and none is multiple: w(A) >= ε. There
1/σ_min(A - z) = ‖(A - z)⁻¹‖ <= Σ_k κ_k/|z - λ_k| with κ_k = ‖x_k‖‖y_k‖/|y_kᴴx_k|, and also <= κ(V)/r on
circles of one radius r, V the matrix of unit eigenvectors (Bauer-Fike).
Upper: with singular vectors of [[A - z, γI], [0, A - z]] for σ, U = [u₁ u₂], V = [v₁ v₂], the matrix
E = -σ U V⁺ gives (A + E - z) v₂ = 0, (A + E - z) v₁ = -γ v₂, so A + E is defective: w(A) <= ‖E‖. Also
w(A) <= σ_{n-1}(A - z): without its two least singular values A - z has a double eigenvalue 0, arbitrarily
near a defective one.
Sources: Trefethen and Embree, Spectra and Pseudospectra (2005), §52 (κ_k, partial fractions), Thm 2.2;
Malyshev, A formula for the 2-norm distance from a matrix to the set of matrices with multiple eigenvalues,
Numer. Math. 83 (1999); that both meet at w(A): Alam, Bora, Byers and Overton, LAA 435 (2011) 494-513.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from .errors import BadDtype, BadTensor

MAX_SIZE = 32
_UNIT = 2.0**-52
_RADII, _COUPLINGS, _STEPS, _PLACES = 64, 24, 6, 8


@dataclass(frozen=True)
class FloatSpectrum:
    """eigenvalues (n), complex128, and lower <= w(A) <= upper, the 2-norm distance to a defective matrix.

    Both bounds allow for the rounding of float64 LAPACK (a backward error of 32 n u ‖A‖); where A is nearer
    than that, lower is 0. A 1 x 1 matrix is infinitely far: both are inf.
    """

    eigenvalues: Tensor
    lower: float
    upper: float

    def __str__(self) -> str:
        values = ", ".join(f"{z.real:.6g}{z.imag:+.6g}i" for z in self.eigenvalues.tolist())
        return (
            f"eigenvalues {values}; the nearest defective matrix is between {self.lower:.3g} and "
            f"{self.upper:.3g} away (2-norm)"
        )


def float_spectrum(matrix: object) -> FloatSpectrum:
    """Eigenvalues and the distance to the nearest defective matrix.

    matrix: square, at most 32 x 32, finite real or complex floats: a tensor, an array or rows of numbers.
    Errors: BadDtype for what is no matrix of numbers, BadTensor for another shape, size or a value that is
    not finite. For the type itself write exact numbers and use `exptx.symbolic.Generator`.
    """
    a = _admitted(matrix)
    values, right = torch.linalg.eig(a)
    if a.shape[0] == 1:
        return FloatSpectrum(values, math.inf, math.inf)
    margin = 32 * a.shape[0] * _UNIT * float(torch.linalg.matrix_norm(a))
    upper = _upper(a, values, margin)
    return FloatSpectrum(values, min(_lower(values, right, margin), upper), upper)


def _admitted(matrix: object) -> Tensor:
    try:
        a = torch.as_tensor(matrix)
    except (TypeError, ValueError, RuntimeError) as error:
        raise BadDtype(f"matrix is a {type(matrix).__name__}, not a matrix of numbers: {error}") from None
    if a.dtype == torch.bool:
        raise BadDtype("matrix holds truth values; floats work")
    if a.ndim != 2 or a.shape[0] != a.shape[1] or not 1 <= a.shape[0] <= MAX_SIZE:
        raise BadTensor(
            f"matrix has shape {tuple(a.shape)}; a square one up to {MAX_SIZE} x {MAX_SIZE} works"
        )
    a = a.detach().cpu().to(torch.complex128)
    if not bool(torch.isfinite(torch.view_as_real(a)).all()):
        raise BadTensor("matrix has an entry that is not finite; finite floats work")
    return a


# ---- below ----


def _lower(values: Tensor, right: Tensor, margin: float) -> float:
    """The largest ε for which disjoint circles around the eigenvalues keep ‖(A - z)⁻¹‖ <= 1/ε."""
    gaps = (values[:, None] - values[None, :]).abs()
    others = ~torch.eye(len(values), dtype=torch.bool)
    nearest = gaps.masked_fill(~others, math.inf).amin(1)
    conditions = _conditions(right)
    if conditions is None or float(conditions.max()) * margin > 0.01 * float(nearest.min()):
        return 0.0  # as near as rounding can tell
    shares = torch.arange(1, _RADII, dtype=torch.float64) / _RADII
    radii = nearest[:, None] * shares  # (n, radii), below the distance to any other eigenvalue
    reach = (gaps[:, None, :] - radii[:, :, None]).abs()  # least |z - λ_k| on the circle
    levels = 1 / (conditions / reach).sum(-1)
    ends = torch.cat([torch.zeros(1, dtype=torch.float64), levels.flatten().sort().values])
    low, high = 0, len(ends) - 1
    while low < high:  # the circles can be told apart at ends[low]
        middle = (low + high + 1) // 2
        low, high = (
            (middle, high) if _disjoint(float(ends[middle]), levels, radii, gaps) else (low, middle - 1)
        )
    bauer_fike = float(nearest.min()) / (2 * float(torch.linalg.cond(right)))
    return max(0.0, max(float(ends[low]), bauer_fike) * (1 - 0.03) - margin)  # 0.03: κ and gaps as computed


def _conditions(right: Tensor) -> Tensor | None:
    """κ_k of every eigenvalue from unit right eigenvectors: the norms of the rows of the inverse."""
    inverse, info = torch.linalg.inv_ex(right)
    return None if int(info) or not bool(inverse.abs().isfinite().all()) else inverse.norm(dim=1)


def _disjoint(level: float, levels: Tensor, radii: Tensor, gaps: Tensor) -> bool:
    """Whether the smallest circles that reach `level` have disjoint interiors."""
    fits = levels >= level
    if not bool(fits.any(1).all()):
        return False
    least = radii[torch.arange(len(radii)), fits.to(torch.int8).argmax(1)]
    apart = least[:, None] + least[None, :] <= gaps
    return bool((apart | torch.eye(len(least), dtype=torch.bool)).all())


# ---- above ----


def _upper(a: Tensor, values: Tensor, margin: float) -> float:
    """The least ‖E‖ found over places z and couplings γ, improved around the best one."""
    places = _places(a, values)
    size = max(float(torch.linalg.matrix_norm(a, 2)), 1e-300)
    couplings = size * torch.logspace(-10, 1, 3 * _COUPLINGS, dtype=torch.float64)
    found = [_defects(a, place, couplings, margin) for place in places]
    best = min(range(len(found)), key=lambda i: float(found[i].min()))
    place, value = places[best], float(found[best].min())
    coupling = float(couplings[int(found[best].argmin())])
    step = float((values[:, None] - values[None, :]).abs().max()) / 8
    for _ in range(_STEPS):
        couplings = coupling * torch.logspace(-0.3, 0.3, _COUPLINGS // 2, dtype=torch.float64)
        nearby = [place + step * complex(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)]
        for z in nearby:
            bounds = _defects(a, z, couplings, margin)
            if float(bounds.min()) < value:
                place, value, coupling = z, float(bounds.min()), float(couplings[int(bounds.argmin())])
        step /= 3
    return value


def _places(a: Tensor, values: Tensor) -> list[complex]:
    """Where two eigenvalues might meet: midpoints of near pairs and centres of near groups, the best few."""
    z = values.tolist()
    places = [sum(z) / len(z)]
    for centre in z:
        near = sorted(z, key=lambda other, c=centre: abs(other - c))
        places += [sum(near[:k]) / k for k in (2, 3, 4) if k <= len(near)]
        places += [(centre + other) / 2 for other in near[2:4]]
    places = list(dict.fromkeys(places))
    unit = torch.eye(len(z), dtype=a.dtype)
    sigma = torch.linalg.svdvals(a - torch.tensor(places, dtype=a.dtype)[:, None, None] * unit)
    best = {*sigma[:, -1].argsort().tolist()[:_PLACES], *sigma[:, -2].argsort().tolist()[:_PLACES]}
    return [places[i] for i in sorted(best)]


def _defects(a: Tensor, place: complex, couplings: Tensor, margin: float) -> Tensor:
    """‖-σ U V⁺‖, or σ_{n-1}(A - z) if less, for every γ, with what rounding may add."""
    n = a.shape[0]
    shifted = a - place * torch.eye(n, dtype=a.dtype)
    whole = torch.zeros(len(couplings), 2 * n, 2 * n, dtype=a.dtype)
    whole[:, :n, :n] = whole[:, n:, n:] = shifted
    whole[:, :n, n:] = couplings[:, None, None] * torch.eye(n, dtype=a.dtype)
    left, sigma, right = torch.linalg.svd(whole)
    u = left[:, :, 2 * n - 2].reshape(-1, 2, n).mT
    v = right[:, 2 * n - 2, :].conj().reshape(-1, 2, n).mT
    least = torch.linalg.svdvals(v)[:, -1]
    usable = least > 1e-12
    inverse = torch.linalg.pinv(torch.where(usable[:, None, None], v, torch.eye(n, 2, dtype=a.dtype)))
    size = torch.linalg.matrix_norm(sigma[:, 2 * n - 2, None, None] * u @ inverse, 2)
    double = torch.linalg.svdvals(shifted)[-2] + margin
    return torch.where(usable, size + margin / least, double).clamp(max=double)
