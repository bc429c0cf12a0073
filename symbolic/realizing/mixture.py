"""A constant plus a sum of decays fitted to a bias on a window: a search in numbers, which proves nothing.

Slowly growing biases such as -log(1+u) are on a window a constant and a mixture ∫ e^{-γu} dμ(γ); few decays
with geometrically spread rates come exponentially close. Damped Gauss-Newton steps improve the rates, the
weights being eliminated (G. H. Golub, V. Pereyra, SIAM J. Numer. Anal. 10 (1973) 413-432).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp
from flint import arb, arb_mat, ctx

BITS = 192
POINTS_PER_DECAY = 14
STEPS = 60


@dataclass(frozen=True)
class Mixture:
    """constant + Σ weight·e^{-rate·(u - start)}; `terms`: (weight, rate), `error`: the largest one seen."""

    constant: arb
    terms: tuple[tuple[arb, arb], ...]
    error: arb


def fit(value: Callable[[arb], arb], start: arb, width: arb, scale: arb, count: int, wanted: arb) -> Mixture:
    """`count` decays for value(start + x), 0 <= x <= width; scale: the least length on which it changes."""
    with ctx.workprec(BITS):
        points = _points(width, scale, POINTS_PER_DECAY * (count + 1))
        search = _Search(points, [value(start + x).mid() for x in points])
        low, high = (arb("0.7") / width).log(), (3 / scale).log()
        logs = [(low + (high - low) * k / max(count - 1, 1)).mid() for k in range(count)]
        return search.improved(logs, wanted)


def _points(width: arb, scale: arb, count: int) -> list[arb]:
    """Chebyshev's points in log(1 + x/scale), mapped back: dense at both ends."""
    top = (1 + width / scale).log()
    angles = [arb.pi() * k / (count - 1) for k in range(count)]
    return [(scale * ((top * (1 - a.cos()) / 2).exp() - 1)).mid() for a in angles]


@dataclass
class _Search:
    points: list[arb]
    values: list[arb]

    def improved(self, logs: list[arb], wanted: arb) -> Mixture:
        """Damped Gauss-Newton steps on the logarithms of the rates, until good enough or stuck."""
        here, damping = self._weights(logs), arb("0.01")
        for _ in range(STEPS):
            if here.error < wanted:
                break
            moved = [(p + step).mid() for p, step in zip(logs, self._step(here, damping), strict=True)]
            there = self._weights(moved)
            if there.square < here.square:
                stuck = bool(there.square > here.square * arb("0.999"))
                here, logs, damping = there, moved, damping / 3
                if stuck:
                    break
            else:
                damping = damping * 4
        terms = tuple((w, p.exp().mid()) for w, p in zip(here.weights[1:], logs, strict=True))
        return Mixture(here.weights[0], terms, here.error)

    def _weights(self, logs: list[arb]) -> _Fit:
        """The best weights for these rates, by normal equations."""
        rates = [p.exp() for p in logs]
        rows = [[arb(1), *((-rate * x).exp().mid() for rate in rates)] for x in self.points]
        basis = arb_mat(rows)
        right = arb_mat([[y] for y in self.values])
        turned = basis.transpose()
        weights = [x.mid() for x in (turned * basis).solve(turned * right).entries()]
        rest = (right - basis * arb_mat([[w] for w in weights])).entries()
        residual = [x.mid() for x in rest]
        error = max(map(abs, residual), key=lambda x: x)
        return _Fit(rates, rows, weights, residual, error, sum((x * x for x in residual), arb(0)).mid())

    def _step(self, here: _Fit, damping: arb) -> list[arb]:
        """The change of log-rates that the linearised problem asks for, at most 1/2 each."""
        count = len(here.rates)
        speeds = [-w * rate for w, rate in zip(here.weights[1:], here.rates, strict=True)]
        rows = [
            [*row, *(speed * x * e for speed, e in zip(speeds, row[1:], strict=True))]
            for x, row in zip(self.points, here.rows, strict=True)
        ]
        slopes = arb_mat(rows)
        turned = slopes.transpose()
        normal = turned * slopes
        for k in range(normal.nrows()):
            normal[k, k] = normal[k, k] * (1 + damping)
        found = normal.solve(turned * arb_mat([[x] for x in here.residual])).entries()[-count:]
        half = arb("0.5")
        return [max(-half, min(half, x.mid())) for x in found]


@dataclass(frozen=True)
class _Fit:
    rates: list[arb]
    rows: list[list[arb]]
    weights: list[arb]
    residual: list[arb]
    error: arb
    square: arb


def decimal(value: arb, digits: int) -> sp.Rational:
    """A midpoint as a rational with a short decimal form."""
    return sp.Rational(value.mid().str(digits, radius=False))


__all__ = ["Mixture", "decimal", "fit"]
