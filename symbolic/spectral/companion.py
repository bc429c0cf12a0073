"""A block whose eigenvalues have no closed form: I_m ⊗ C(p) + N_m ⊗ I_r for an irreducible p of degree r.

C(p) is the companion matrix of p (C e_i = e_{i+1}, last column -p). With the roots λ of p kept together,

    exp(tC) = Σ_{p(λ)=0} e^{λt} q_λ(C)/p'(λ),   q_λ(x) = (p(x) - p(λ))/(x - λ),

so every entry is one sum over the roots of p with coefficients in K[λ]/p: a sympy `RootSum`, which can be
differentiated, evaluated, and enclosed by balls.
Source: Lagrange interpolation of a function of a matrix, Higham, Functions of Matrices (2008), §1.2.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from ..errors import BadInput, Unsupported, WrongType
from ..exact import exact_time
from ..notebook import Shown
from ..typeset import to_grid, to_text
from ..walk import text
from .isolate import Root, isolate
from .rootcount import HalfPlanes, half_planes
from .rootflow import LAMBDA, companion_matrix, root_flow


@dataclass(frozen=True, repr=False)
class CompanionBlock(Shown):
    """The generalised companion block of an irreducible factor.

    factor: p, monic and irreducible, of degree r >= 2, over Q or over Q with square roots of rationals, as a
    sympy Poly; size: m >= 1; multiplicity: of p in the characteristic polynomial of the whole matrix (at
    least m). Errors: WrongType for another type, BadInput for a p that is not monic and irreducible.
    """

    factor: sp.Poly
    size: int = 1
    multiplicity: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.factor, sp.Poly):
            raise WrongType(f"factor is a {type(self.factor).__name__}; a sympy Poly works")
        if self.factor.degree() < 2 or self.factor.LC() != 1 or not self.factor.is_irreducible:
            raise BadInput(
                f"factor is {self.factor.as_expr()}; a monic irreducible Poly of degree >= 2 works"
            )
        if isinstance(self.size, bool) or not isinstance(self.size, int) or self.size < 1:
            raise BadInput(f"size is {self.size!r}; a whole number >= 1 works")
        object.__setattr__(self, "factor", self.factor.replace(self.factor.gen, LAMBDA))
        object.__setattr__(self, "multiplicity", max(self.size, self.multiplicity))

    @property
    def kind(self) -> str:
        """ "companion": its eigenvalues fade, turn or grow as `half_planes` counts."""
        return "companion"

    @property
    def degree(self) -> int:
        """r, the number of eigenvalues."""
        return self.factor.degree()

    @property
    def dim(self) -> int:
        """Rows of the matrix: m·r."""
        return self.size * self.degree

    @property
    def half_planes(self) -> HalfPlanes:
        """How many eigenvalues lie left of, on and right of the imaginary axis: exact."""
        return half_planes(self.factor)

    @property
    def decay(self) -> sp.Expr:
        """Unsupported: there is no single decay."""
        raise self._several("decay")

    @property
    def frequency(self) -> sp.Expr:
        """Unsupported: there is no single frequency."""
        raise self._several("frequency")

    @property
    def turns(self) -> bool:
        """Unsupported: some eigenvalues may turn and others not."""
        raise self._several("frequency")

    def _several(self, name: str) -> Unsupported:
        return Unsupported(
            f"the companion block of {text(self.factor.as_expr())} has {self.degree} eigenvalues and not one "
            f"{name}; roots() encloses them, and only eigenvalues of degree at most 2 give canonical blocks"
        )

    def roots(self, digits: int = 20) -> tuple[Root, ...]:
        """The r eigenvalues in disjoint rectangles, to `digits` significant digits."""
        return isolate(self.factor, digits)

    @property
    def matrix(self) -> sp.ImmutableMatrix:
        """I_m ⊗ C(p) + N_m ⊗ I_r."""
        r, companion = self.degree, companion_matrix(self.factor)

        def entry(i: int, j: int) -> sp.Expr:
            if i // r == j // r:
                return companion[i % r, j % r]
            return sp.Integer(j - i == r)

        return sp.ImmutableMatrix(self.dim, self.dim, entry)

    def exp(self, t: object) -> sp.ImmutableMatrix:
        """exp(t · matrix), each entry a `RootSum` over the roots of p."""
        unit = sp.ImmutableMatrix(sp.eye(self.dim))
        return root_flow(self.factor, [(self.size, unit, unit)]).exp(exact_time(t))

    @property
    def formula(self) -> sp.ImmutableMatrix:
        """The matrix, which is what notebooks and papers show."""
        return self.matrix

    def __str__(self) -> str:
        facts = f"factor {to_text(self.factor.as_expr())}, size {self.size}"
        return f"{self.kind}: {facts}\n{to_grid(self.matrix)}"

    def __repr__(self) -> str:
        return f"CompanionBlock({self.factor!r}, size={self.size}, multiplicity={self.multiplicity})"
