"""Rotations whose frequencies depend on the length of the text at the time a position was written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import sympy as sp

from ..decide import Status, Verdict, decide
from ..encoding import Encoding
from ..entries import Place
from ..separate import separate

Spectrum = Callable[[sp.Expr], tuple[sp.Expr, ...]]


@dataclass(frozen=True, eq=False, repr=False)
class Lengthwise(Encoding):
    """Plane k of a vector at position p turns by p·w_k(p + 1); what is cached stays as it was turned.

        F(t) = m R(t w(t+1)),   G(s) = m R(s w(s+1))

    Position p is written when the text has p + 1 positions. spectrum: length -> one frequency a plane, in
    radians per position. planes: the two features of each plane. original_length: L0, up to which the
    spectrum stays the same. amplitude: m.
    """

    planes: tuple[tuple[int, int], ...]
    spectrum: Spectrum
    original_length: int
    amplitude: sp.Expr = sp.S.One

    def query_factor(self, t: sp.Expr) -> sp.ImmutableMatrix:
        """m R(t w(t+1)), shape (head_dim, head_dim)."""
        return self.amplitude * self._turned(self._angles(t))

    def key_factor(self, s: sp.Expr) -> sp.ImmutableMatrix:
        """m R(s w(s+1)), shape (head_dim, head_dim)."""
        return self.amplitude * self._turned(self._angles(s))

    def maps(self, t: sp.Expr, s: sp.Expr) -> dict[str, sp.MatrixBase]:
        """ "score" F(t)ᵀ G(s) = m² R(s w(s+1) - t w(t+1))."""
        angles = [b - a for a, b in zip(self._angles(t), self._angles(s), strict=True)]
        return {"score": self.amplitude**2 * self._turned(angles)}

    def _angles(self, position: sp.Expr) -> list[sp.Expr]:
        return [position * w for w in self.spectrum(position + 1)]

    def _turned(self, angles: list[sp.Expr]) -> sp.ImmutableMatrix:
        """R(a) = [[cos a, -sin a], [sin a, cos a]] on every plane."""
        entries = {}
        for (i, j), a in zip(self.planes, angles, strict=True):
            entries |= {(i, i): sp.cos(a), (i, j): -sp.sin(a), (j, i): sp.sin(a), (j, j): sp.cos(a)}
        return sp.ImmutableMatrix(sp.SparseMatrix(self.head_dim, self.head_dim, entries))

    def is_relative(self) -> Verdict:
        """REFUTED by a key written past the original length, compared with one at 0 with the same gap."""
        pairs = [(self.original_length + more, gap) for gap in (1, 2, 3) for more in (0, 1, 7)]
        for i, _ in self.planes:
            found = separate(self, Place("score", i, i), pairs)
            if found is not None:
                return replace(found, reason=f"cached keys stay as they were turned: {found.reason}")
        why = f"no two position pairs past {self.original_length} positions were told apart"
        return Verdict(status=Status.UNDECIDED, reason=why)

    def in_family(self) -> Verdict:
        """REFUTED when not relative: X depends on the length."""
        relative = self.is_relative()
        if relative.status is not Status.REFUTED:
            return relative
        why = "X depends on the length: it is not relative, and every member of the family is"
        return replace(relative, reason=why)

    def is_bidirectional(self) -> Verdict:
        """PROVED: the factors are rotations times m, whatever the frequencies are."""
        return self._rotations()

    def is_bounded(self, domain: str = "real") -> Verdict:
        """PROVED: at every length the map is a rotation."""
        return self._rotations()

    def _rotations(self) -> Verdict:
        """Decide R(a)ᵀR(a) = I for a free angle on every plane."""
        free = self._turned([sp.Symbol(f"a{k}", real=True) for k in range(len(self.planes))])
        verdict = decide(free.T * free, sp.eye(self.head_dim))
        if verdict.status is not Status.PROVED:
            return verdict
        reason = "R(a)ᵀR(a) = I for every angle a, so at every length the map is a rotation, of norm 1"
        return replace(verdict, reason=reason)
