"""The encoding that does nothing, which stands in a sum where no part moves anything."""

from __future__ import annotations

import sympy as sp

from ..decide import Status, Verdict
from ..encoding import Encoding


class Still(Encoding):
    """score = q·k: nothing is moved and nothing added."""

    @property
    def moves(self) -> bool:
        """False."""
        return False

    def query_factor(self, t: sp.Expr) -> sp.ImmutableMatrix:
        """The identity."""
        return sp.ImmutableMatrix(sp.eye(self.head_dim))

    def key_factor(self, s: sp.Expr) -> sp.ImmutableMatrix:
        """The identity."""
        return sp.ImmutableMatrix(sp.eye(self.head_dim))

    def is_relative(self) -> Verdict:
        """PROVED."""
        return Verdict(Status.PROVED, "the content is not moved")

    def in_family(self) -> Verdict:
        """PROVED: X = 0."""
        return self.is_relative()

    def is_bidirectional(self) -> Verdict:
        """PROVED."""
        return self.is_relative()

    def is_bounded(self, domain: str = "real") -> Verdict:
        """PROVED."""
        return self.is_relative()
