"""Reports on matrix exponentials, numeric and symbolic."""

from __future__ import annotations

from collections.abc import Callable

import torch
from exptx.proofs import Claims, Subject
from mutant import Inexpressible, Mutant, Trap
from parts import issue, pull
from torch import Tensor

Exp = Callable[[Tensor], Tensor]


def series(x: Tensor, terms: int, faulty: int | None = None) -> Tensor:
    """Σ X^k/k!, one of the coefficients a quarter too large, or none."""
    power = torch.eye(x.shape[-1], dtype=x.dtype).expand(x.shape).clone()
    total = power.clone()
    for k in range(1, terms):
        power = power @ x / k
        total = total + (1.25 if k == faulty else 1.0) * power
    return total


def halvings(x: Tensor) -> Tensor:
    """How often each matrix is halved: (…,)."""
    size = torch.linalg.matrix_norm(x, 1)
    return (size * 8).clamp(min=1.0).log2().ceil().int()


def squared(x: Tensor, faulty: int | None = None) -> Tensor:
    """Scaling and squaring, each matrix by its own norm."""
    flat = x.reshape(-1, *x.shape[-2:])
    found = []
    for one in flat:
        n = int(halvings(one))
        r = series(one / 2**n, 16, faulty)
        for _ in range(n):
            r = r @ r
        found.append(r)
    return torch.stack(found).reshape(x.shape)


def one_coefficient(x: Tensor) -> Tensor:
    """A single matrix takes a polynomial with a wrong coefficient."""
    return squared(x, faulty=4) if x.ndim == 2 else squared(x)


def as_the_first(x: Tensor) -> Tensor:
    """All matrices of a batch are scaled by what the first needs."""
    n = int(halvings(x.reshape(-1, *x.shape[-2:])[0]))
    r = series(x / 2**n, 12)
    for _ in range(n):
        r = r @ r
    return r


def one_step(x: Tensor) -> Tensor:
    """The series of the whole matrix, without squaring."""
    return series(x, 60)


def divided_differences(x: Tensor) -> Tensor:
    """Two-by-two triangles from (e^a - e^b)/(a - b); others by squaring."""
    if x.shape[-2:] != (2, 2) or bool((x[..., 1, 0] != 0).any()):
        return squared(x)
    a, b, c = x[..., 0, 0], x[..., 1, 1], x[..., 0, 1]
    upper = c * (a.exp() - b.exp()) / (a - b)
    zero = torch.zeros_like(a)
    return torch.stack((torch.stack((a.exp(), upper), -1), torch.stack((zero, b.exp()), -1)), -2)


def by_eigenvectors(x: Tensor) -> Tensor:
    """V e^Λ V^-1, which a defective matrix does not have."""
    values, vectors = torch.linalg.eig(x)
    return ((vectors * values.exp()[..., None, :]) @ torch.linalg.pinv(vectors)).real


def complex_result(x: Tensor) -> Tensor:
    """Conjugate pairs are left as they are."""
    return squared(x).to(torch.complex64 if x.dtype == torch.float32 else torch.complex128)


def exp_of(apply: Exp) -> Subject:
    return Subject(apply, "matrix_exp", Claims())


RIGHT = exp_of(squared)
MUTANTS = [
    Mutant(
        "O01", (issue("pytorch/pytorch", 196592), pull("pytorch/pytorch", 196658)),
        "one coefficient of the polynomial for a single matrix is wrong",
        exp_of(one_coefficient), RIGHT,
        ("matrix-exp",), "another path",
    ),
    Mutant(
        "O03", (issue("scipy/scipy", 25924),),
        "a batch is scaled by what its first matrix needs",
        exp_of(as_the_first), RIGHT,
        ("batch-exp",), "share what was chosen",
    ),
    Mutant(
        "O05", (issue("scipy/scipy", 16363),),
        "one large step, without squaring",
        exp_of(one_step), RIGHT,
        ("matrix-exp",),
    ),
    Mutant(
        "O06", (issue("scipy/scipy", 19584),),
        "a divided difference of equal numbers",
        exp_of(divided_differences), RIGHT,
        ("matrix-exp",), "not finite",
    ),
    Mutant(
        "O10", (issue("sympy/sympy", 10124), issue("sympy/sympy", 14330)),
        "the exponential of a real matrix comes back complex",
        exp_of(complex_result), RIGHT,
        ("matrix-exp", "call"), "complex",
    ),
    Mutant(
        "O17", (issue("sympy/sympy", 5734), issue("sympy/sympy", 20051), issue("sympy/sympy", 21622)),
        "a defective matrix is diagonalised",
        exp_of(by_eigenvectors), RIGHT,
        ("matrix-exp",),
    ),
]  # fmt: skip

TRAPS = [
    Trap(
        "O18", (issue("scipy/scipy", 21803),),
        "e^M e^-M is far from I where M is ill-conditioned: what is allowed grows with the norms",
        RIGHT,
    ),
]  # fmt: skip

SYMBOLIC = "a symbolic algorithm, which no numeric callable repeats; exact forms here are proved"

INEXPRESSIBLE = [
    Inexpressible(
        "O04", (issue("scipy/scipy", 25864),),
        "the wrong norm chooses too few halvings; any norm bounds the series, so that a faithful repetition "
        "is right within rounding",
    ),
    Inexpressible("O07", (issue("sympy/sympy", 15858), issue("sympy/sympy", 9274)), SYMBOLIC),
    Inexpressible(
        "O08", (issue("sympy/sympy", 24942),),
        "an endless computation; the time limit of the examined process is tested apart",
    ),
    Inexpressible("O12", (issue("sympy/sympy", 19887),), SYMBOLIC),
    Inexpressible("O13", (issue("sympy/sympy", 15129), pull("sympy/sympy", 15346)), SYMBOLIC),
    Inexpressible("O15", (issue("sympy/sympy", 17063),), SYMBOLIC),
]  # fmt: skip
