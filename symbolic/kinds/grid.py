"""A bias of the gap on several axes: a position is a tuple of numbers, the bias any formula of the gaps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import sympy as sp

from ..axes import named
from ..entries import GAP
from ..errors import BadInput, WrongType
from ..exact import exact_entry
from ..verdict import Status, Verdict
from ..walk import shown
from .entrywise import realizable
from .summed import Addable

Vector = tuple[sp.Expr, ...]


@dataclass(frozen=True, eq=False, repr=False)
class GridBias(Addable):
    """score = q·k + table(t - s) for positions t and s, tuples of `axes` exact numbers.

    table: the bias as a function of the tuple of gaps, added to the unscaled score.
    """

    axes: int
    table: Callable[[Vector], sp.Expr]

    @property
    def moves(self) -> bool:
        """False: it is a bias."""
        return False

    def position(self, value: object, name: str) -> Vector:
        """`value` as a tuple of exact numbers, one an axis."""
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise WrongType(f"{name} is {shown(value)}; a tuple of {self.axes} exact numbers works")
        if len(value) != self.axes:
            raise BadInput(f"{name} has {len(value)} coordinates; {self.axes} work")
        return tuple(exact_entry(x, f"{name}[{i}]") for i, x in enumerate(value))

    def shown_positions(self) -> tuple[Vector, Vector]:
        """((t0, t1, …), (s0, s1, …))."""
        return named("t", self.axes), named("s", self.axes)

    def query_factor(self, t: object) -> sp.ImmutableMatrix:
        """The identity."""
        return sp.ImmutableMatrix(sp.eye(self.head_dim))

    def key_factor(self, s: object) -> sp.ImmutableMatrix:
        """The identity."""
        return sp.ImmutableMatrix(sp.eye(self.head_dim))

    def bias(self, t: Vector, s: Vector) -> sp.Expr:
        """table(t - s)."""
        return self.table(tuple(x - y for x, y in zip(t, s, strict=True)))

    def maps(self, t: Vector, s: Vector) -> dict[str, sp.MatrixBase]:
        """ "score" I and "bias" table(t - s)."""
        return super().maps(t, s) | {"bias": sp.ImmutableMatrix([[self.bias(t, s)]])}

    def is_relative(self) -> Verdict:
        """PROVED where with t = s + u the coordinates of s are gone from the bias, as its form promises."""
        s, u = named("s", self.axes), named("u", self.axes)
        moved = self.bias(tuple(x + y for x, y in zip(s, u, strict=True)), s)
        if moved.has(*s):
            return Verdict(Status.UNDECIDED, f"{moved} still has coordinates of s")
        return Verdict(
            Status.PROVED, f"with t = s + u on {self.axes} axes the position s is gone from the bias"
        )

    def in_family(self) -> Verdict:
        """REFUTED by one axis along which the bias, the other gaps 0, is no exponential polynomial."""
        relative = self.is_relative()
        if relative.status is not Status.PROVED:
            return relative
        for axis in range(self.axes):
            line = tuple(GAP if i == axis else sp.S.Zero for i in range(self.axes))
            found = realizable({f"bias along axis {axis}": (self.table(line),)})
            if found.status is not Status.PROVED:
                return found
        return Verdict(
            Status.UNDECIDED, "it is an exponential polynomial along each axis; nothing more is decided"
        )

    def is_bidirectional(self) -> Verdict:
        """PROVED for a table: a bias that takes finitely many values is bounded."""
        values = list(_leaves(self.table(named("u", self.axes))))
        if any(value.has(*named("u", self.axes)) for value in values):
            return Verdict(Status.UNDECIDED, "the bias is no table of finitely many values")
        return Verdict(Status.PROVED, f"the bias takes {len(set(values))} values")

    def is_bounded(self, domain: str = "real") -> Verdict:
        """PROVED for a table, as `is_bidirectional`."""
        return self.is_bidirectional()


def _leaves(formula: sp.Expr):
    """The values of nested branches."""
    if isinstance(formula, sp.Piecewise):
        for value, _ in formula.args:
            yield from _leaves(value)
    else:
        yield formula
