"""One real Jordan block: its matrix, its name, and the closed form of its exponential.

    J_m(-γ)   = -γ I_m + N_m                          dimension m
    C_m(γ, ω) = I_m ⊗ [[-γ, -ω], [ω, -γ]] + N_m ⊗ I_2   dimension 2m, ω > 0

N_m has ones just above its diagonal. γ > 0 fades, γ < 0 grows; every familiar encoding is a region of
(γ, ω, m).
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from .errors import BadInput, WrongType
from .exact import MOST, exact_entry, exact_time
from .notebook import Shown
from .typeset import to_grid, to_text
from .walk import shown, text

_NAMES = {  # (turns, has a nilpotent part) -> name for decay zero, positive, negative
    (False, False): ("hold", "fade", "grow"),
    (False, True): ("slide", "faded-slide", "grown-slide"),
    (True, False): ("turn", "damped-turn", "growing-turn"),
    (True, True): ("turning-slide", "damped-turning-slide", "growing-turning-slide"),
}


@dataclass(frozen=True, repr=False)
class Block(Shown):
    """The real Jordan block of decay γ (1/position), frequency ω >= 0 (radians/position) and size m >= 1.

    Exact numbers or real sympy symbols; a symbolic frequency must be known to be positive. Floats raise
    WrongType, impossible values BadInput, each naming the argument.
    """

    decay: sp.Expr
    frequency: sp.Expr = sp.S.Zero
    size: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "decay", exact_entry(self.decay, "decay"))
        object.__setattr__(self, "frequency", _frequency(self.frequency))
        object.__setattr__(self, "size", _size(self.size))

    @property
    def turns(self) -> bool:
        """Whether ω > 0."""
        return self.frequency.is_zero is not True

    @property
    def dim(self) -> int:
        """Rows of the matrix: m, or 2m when the block turns."""
        return 2 * self.size if self.turns else self.size

    @property
    def fate(self) -> int:
        """The sign of γ: +1 fades, 0 holds, -1 grows; BadInput when a symbolic γ has no known sign."""
        sign = self._sign()
        if sign is not None:
            return sign
        free = ", ".join(sorted(map(str, self.decay.free_symbols))) or str(self.decay)
        raise BadInput(
            f"decay is {text(self.decay)}, whose sign is not known; declare {free} with a sign, "
            f"e.g. Symbol({free.split(', ')[0]!r}, positive=True)"
        )

    def _sign(self) -> int | None:
        known = (self.decay.is_zero, self.decay.is_positive, self.decay.is_negative)
        return (0, 1, -1)[known.index(True)] if True in known else None

    @property
    def kind(self) -> str:
        """The familiar name of this region of (γ, ω, m), e.g. "turn" or "faded-slide"."""
        return _NAMES[self.turns, self.size > 1][self.fate]

    @property
    def half_life(self) -> sp.Expr:
        """The gap ln 2/γ over which e^{-γu} halves; γ must be positive."""
        if self.fate != 1:
            raise BadInput(f"decay is {text(self.decay)}: only a block with decay > 0 has a half-life")
        return sp.log(2) / self.decay

    @property
    def period(self) -> sp.Expr:
        """The gap 2π/ω of one full turn; ω must be positive."""
        if not self.turns:
            raise BadInput("frequency is 0: only a block with frequency > 0 has a period")
        return 2 * sp.pi / self.frequency

    @property
    def matrix(self) -> sp.ImmutableMatrix:
        """J_m(-γ) or C_m(γ, ω)."""
        return _inflate(self.size, self._cell(), sp.eye(self.dim // self.size))

    def exp(self, t: object) -> sp.ImmutableMatrix:
        """e^{-γt} e^{tN_m} ⊗ R(ωt), without the factor R when ω = 0; nothing is ever divided by ω."""
        time = exact_time(t)
        fade = sp.exp(-self.decay * time)
        rotation = self._rotation(time)
        return _upper_toeplitz([fade * time**k / sp.factorial(k) * rotation for k in range(self.size)])

    @property
    def formula(self) -> sp.ImmutableMatrix:
        """The matrix, which is what notebooks and papers show."""
        return self.matrix

    def _cell(self) -> sp.Matrix:
        if not self.turns:
            return sp.Matrix([[-self.decay]])
        return sp.Matrix([[-self.decay, -self.frequency], [self.frequency, -self.decay]])

    def _rotation(self, time: sp.Expr) -> sp.Matrix:
        """R(ωt), or (1) when the block does not turn."""
        if not self.turns:
            return sp.eye(1)
        c, s = sp.cos(self.frequency * time), sp.sin(self.frequency * time)
        return sp.Matrix([[c, -s], [s, c]])

    def __str__(self) -> str:
        kind = "block" if self._sign() is None else self.kind
        facts = f"decay {to_text(self.decay)}, frequency {to_text(self.frequency)}, size {self.size}"
        return f"{kind}: {facts}\n{to_grid(self.matrix)}"

    def __repr__(self) -> str:
        return f"Block({self.decay}, frequency={self.frequency}, size={self.size})"


def _frequency(value: object) -> sp.Expr:
    frequency = exact_entry(value, "frequency")
    if frequency.is_zero or frequency.is_positive:
        return sp.S.Zero if frequency.is_zero else frequency
    if frequency.is_negative:
        raise BadInput(
            f"frequency is {text(frequency)}; it must be at least 0 (turn the other way by a basis "
            "diag(1, -1))"
        )
    raise BadInput(
        f"frequency is {text(frequency)}, not known to be positive; declare its symbols so, "
        "e.g. Symbol('omega', positive=True)"
    )


def _size(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, sp.Integer)):
        raise WrongType(f"size is {shown(value)}; a whole number from 1 to {MOST} works")
    if not 1 <= value <= MOST:
        raise BadInput(f"size is {shown(value)}; a whole number from 1 to {MOST} works")
    return int(value)


def _inflate(size: int, cell: sp.Matrix, above: sp.Matrix) -> sp.ImmutableMatrix:
    """I_m ⊗ cell + N_m ⊗ above."""
    return _upper_toeplitz([cell, above, *[sp.zeros(*cell.shape)] * (size - 2)][:size])


def _upper_toeplitz(diagonals: list[sp.Matrix]) -> sp.ImmutableMatrix:
    """The block matrix with `diagonals[k]` on the k-th diagonal above the main one and zeros below."""
    width, size = diagonals[0].rows, len(diagonals)
    return sp.ImmutableMatrix(
        width * size,
        width * size,
        lambda i, j: (
            diagonals[j // width - i // width][i % width, j % width] if j // width >= i // width else 0
        ),
    )
