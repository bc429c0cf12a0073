"""What `realize` answers: a realisation with its certificate, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from ..errors import BadInput
from ..exact import exact_entry
from ..generator import Generator
from ..verdict import Status, Verdict
from ..walk import text
from .hankel import Node, annihilator
from .samples import exact_samples, recurrence


@dataclass(frozen=True, eq=False)
class Slots:
    """Extra coordinates for queries and keys: scale·query(t)ᵀkey(s) + row_constant(t) = bias(t - s).

    width    number of extra coordinates
    query, key, row_constant take an exact position and return columns of shape (width, 1) and an expression.
    Softmax ignores the row constant. A key holds e^{γs} for each decay: in floats γ·position must stay below
    88 (float32) or 709 (float64); positions may be counted from any reference common to queries and keys.
    """

    flow: Generator
    c: sp.ImmutableMatrix
    v: sp.ImmutableMatrix
    scale: sp.Expr
    dropped: int | None = None

    @property
    def width(self) -> int:
        """Extra coordinates of a query and of a key."""
        return self.flow.dim - (self.dropped is not None)

    def query(self, t: object) -> sp.ImmutableMatrix:
        """exp(tX)ᵀ c / scale."""
        return self._kept(self.flow.exp(t).T * self.c / self.scale)

    def key(self, s: object) -> sp.ImmutableMatrix:
        """exp(-sX) v."""
        return self._kept(self.flow.exp(-exact_entry(s, "s")) * self.v)

    def row_constant(self, t: object) -> sp.Expr:
        """What the kept coordinates leave out of the bias: a function of the query alone."""
        if self.dropped is None:
            return sp.S.Zero
        return (self.flow.exp(t).T * self.c)[self.dropped]

    def _kept(self, column: sp.MatrixBase) -> sp.ImmutableMatrix:
        rows = [x for i, x in enumerate(column) if i != self.dropped]
        return sp.ImmutableMatrix(len(rows), 1, rows)


@dataclass(frozen=True, eq=False)
class Realization:
    """bias(u) = cᵀ exp(uX) v for all u of the domain; on the integers bias(n) = cᵀ Aⁿ v with A = `step`.

    X, step       (d, d); X is None where A is singular or turns a sign; step is None off the integers
    c, v          columns (d, 1), d = 0 for the bias 0; `generator` is X as real Jordan blocks, whose exp(t)
                  is closed; None where X is None or has no rows
    order         the least one: d, or d - 1 modulo a row constant if 0 is an eigenvalue of X (1 of A)
    determinant   of the Hankel matrix of that order, not 0 under `conditions` (formulas that must not vanish)
    verdict       PROVED: the identity, decided exactly
    values        what symbols of the certificate or of X stand for, such as log 2 or |a - b|
    defined       relations without which the bias, as it was given, has no value; nothing is claimed there
    bias, u       None if only samples were given: then the claim is about the samples
    """

    bias: sp.Expr | None
    u: sp.Symbol | None
    domain: str
    X: sp.ImmutableMatrix | None
    step: sp.ImmutableMatrix | None
    c: sp.ImmutableMatrix
    v: sp.ImmutableMatrix
    order: int
    determinant: sp.Expr
    conditions: tuple[sp.Expr, ...]
    verdict: Verdict
    values: dict[sp.Symbol, sp.Expr]
    nodes: tuple[Node, ...]
    generator: Generator | None
    dropped: int | None = None
    defined: tuple[sp.Rel, ...] = ()

    @classmethod
    def from_samples(cls, samples: object) -> Realization:
        """The least A, c, v with samples[n] = cᵀ Aⁿ v (Ho-Kalman), for n = 0, …, len(samples) - 1 only.

        samples: at least 2·order + 1 exact rationals. Errors: WrongType, BadInput.
        """
        b = exact_samples(samples)
        found = recurrence(b)
        d = len(found.start)
        return cls(
            bias=None,
            u=None,
            domain=f"n = 0, …, {len(b) - 1}",
            X=None,
            step=found.step,
            c=sp.ImmutableMatrix(d, 1, lambda i, _: int(i == 0)),
            v=sp.ImmutableMatrix(d, 1, list(found.start)),
            order=d,
            determinant=found.determinant,
            conditions=(),
            verdict=Verdict(
                Status.PROVED, f"all {len(b)} samples follow over Q; nothing is said about further ones"
            ),
            values={},
            nodes=(),
            generator=None,
        )

    @cached_property
    def annihilator(self) -> sp.Poly:
        """The monic p of least degree with p(D) bias = 0; on the integers p(shift) bias = 0."""
        x = sp.Symbol("x")
        if self.bias is None and self.step is not None:
            return self.step.charpoly(x)
        return sp.Poly(annihilator(self.nodes, x), x)

    @property
    def companion(self) -> sp.ImmutableMatrix:
        """The companion matrix of the annihilator: it moves (b, b', …) or (b(n), b(n+1), …) one order on."""
        low = self.annihilator.all_coeffs()[:0:-1]
        size = len(low)
        if not size:
            return sp.ImmutableMatrix(0, 0, [])
        rows = [[sp.Integer(j == i + 1) for j in range(size)] for i in range(size - 1)]
        return sp.ImmutableMatrix([*rows, [-a for a in low]])

    def slots(self, scale: object) -> Slots:
        """Extra query and key coordinates for a kernel that computes scale·qᵀk, with no bias argument.

        scale: what the kernel multiplies by, say 1/sqrt(head_dim) of the *original* head; pass it to the
        kernel, whose default would count the extra coordinates. Exact and not 0.
        """
        sigma = exact_entry(scale, "scale")
        if sigma.is_zero is not False:
            raise BadInput(
                f"scale is {text(sigma)}, which may be 0; a number such as 1/sqrt(64), or a positive symbol"
            )
        if not self.c.rows:
            raise BadInput("slots are not needed: the bias is 0, and there is nothing to add")
        if self.generator is None:
            raise BadInput(
                "slots need a generator, but the step of this realisation is singular or turns a sign, so it "
                "has no key coordinates exp(-sX) v"
            )
        return Slots(self.generator, self.c, self.v, sigma, self.dropped)

    def __str__(self) -> str:
        law = "exp(uX)" if self.step is None else "A^n"
        return f"order {self.order}: bias = c' {law} v; Hankel determinant {text(self.determinant)}"


@dataclass(frozen=True)
class Witness:
    """Finite evidence: exact data and the sentence that they carry, no more."""

    sentence: str
    data: dict[str, Any]


@dataclass(frozen=True, eq=False)
class NotRealizable:
    """No finite X, c, v give the bias on this domain.

    reason     one sentence; cited: the lemma it rests on, or None if everything was computed
    witness    finite evidence, which alone proves only what its sentence says
    conditions formulas that must not vanish for the reason to hold
    defined    relations without which the bias, as it was given, has no value
    """

    bias: sp.Expr
    u: sp.Symbol
    domain: str
    reason: str
    cited: str | None
    witness: Witness | None
    conditions: tuple[sp.Expr, ...] = ()
    defined: tuple[sp.Rel, ...] = ()

    def __str__(self) -> str:
        return f"not realizable on {self.domain}: {self.reason}"


__all__ = ["NotRealizable", "Realization", "Slots", "Witness"]
