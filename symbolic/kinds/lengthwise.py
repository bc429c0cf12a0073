"""Rotations whose frequencies depend on the length of the text at the time a position was written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import sympy as sp

from ..decide import Status, Verdict, decide
from ..entries import Place
from ..separate import separate
from .summed import Addable

Spectrum = Callable[[sp.Expr], tuple[sp.Expr, ...]]


@dataclass(frozen=True, eq=False, repr=False)
class Lengthwise(Addable):
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
        """R(a) on every plane."""
        entries = {}
        for plane, a in zip(self.planes, angles, strict=True):
            turn = _turn(a)
            entries |= {(i, j): turn[r, c] for r, i in enumerate(plane) for c, j in enumerate(plane)}
        return sp.ImmutableMatrix(sp.SparseMatrix(self.head_dim, self.head_dim, entries))

    def is_relative(self) -> Verdict:
        """REFUTED by a key written past the original length, compared with one at 0 with the same gap."""
        pairs = [(self.original_length + more, gap) for gap in (1, 2, 3) for more in (0, 1, 7)]
        first = sp.Integer(self.original_length)
        before, after = self.spectrum(first), self.spectrum(first + 1)
        changed = (plane for plane, a, b in zip(self.planes, before, after, strict=True) if a != b)
        for i, _ in changed:
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

    def has_group_law(self) -> Verdict:
        """REFUTED when X depends on the length: there is one A for every length."""
        family = self.in_family()
        if family.status is not Status.REFUTED:
            return family
        return replace(family, reason="only at one fixed length, where A(u) = exp(uX) for the X of it")

    def is_bidirectional(self) -> Verdict:
        """PROVED: the factors are rotations times m, whatever the frequencies are."""
        return self._rotations()

    def is_bounded(self, domain: str = "real") -> Verdict:
        """PROVED: at every length the map is a rotation."""
        return self._rotations()

    def _rotations(self) -> Verdict:
        """Decide R(a)ᵀR(a) = I on a plane with a free angle."""
        turn = _turn(sp.Symbol("a", real=True))
        verdict = decide(turn.T * turn, sp.eye(2))
        if verdict.status is not Status.PROVED:
            return verdict
        reason = "R(a)ᵀR(a) = I for every angle a, so at every length the map is a rotation, of norm 1"
        return replace(verdict, reason=reason)


def _turn(angle: sp.Expr) -> sp.ImmutableMatrix:
    """R(a) = [[cos a, -sin a], [sin a, cos a]]."""
    c, s = sp.cos(angle), sp.sin(angle)
    return sp.ImmutableMatrix([[c, -s], [s, c]])
