"""Fourier position embedding: every plane turns at several frequencies at once."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from ..encoding import Encoding
from ..errors import BadInput, WrongType
from ..exact import even
from ..kinds.formula import Formula
from ..walk import shown
from .columns import column, reals
from .registry import register
from .turning import pairs


@register(
    published="`q̃ = F(t)q, k̃ = F(s)k`, on a plane the complex `F(t) = Σ_w a_w e^{iwt}`",
    source=(
        "E. Hua et al., Fourier Position Embedding, arXiv 2412.17739; "
        "TsinghuaC3I/Fourier-Position-Embedding, `olmo/model.py`"
    ),
    danger="its code pads clipped planes with sin = cos = 1, which doubles their part of the score",
    example={"head_dim": 2, "frequencies": (1, 2), "amplitudes": ((1, sp.Rational(1, 2)),)},
)
def fope(head_dim: int, frequencies: Sequence, amplitudes: Sequence | None = None) -> Encoding:
    """score = Σ_j Re(F_j(t) q_j · conj(F_j(s) k_j)), F_j(t) = Σ_w a_jw e^{iwt} on plane j = (j, j + d/2).

    frequencies: exact numbers w, radians a position. amplitudes: a row of real a_jw a plane, free symbols
    a0_0, a0_1, … if None; planes beyond the rows given are clipped: sin = cos = 1. Relative if and only if
    every plane has one frequency. The code learns the sine and the cosine sums apart from each other.
    """
    size = even(head_dim, "head_dim")
    rates = column(frequencies, "frequencies")
    rows = _rows(amplitudes, size // 2, len(rates))

    def factor(_, position):
        moved = sp.zeros(size, size)
        for (i, j), row in zip(pairs(size, interleaved=False), rows, strict=True):
            cosine, sine = sp.S.One, sp.S.One
            if row:
                cosine, sine = (
                    sp.Add(*(a * f(w * position) for a, w in zip(row, rates, strict=True)))
                    for f in (sp.cos, sp.sin)
                )
            moved[i, i], moved[i, j], moved[j, i], moved[j, j] = cosine, -sine, sine, cosine
        return moved

    parameters = {"head_dim": size, "frequencies": rates, "amplitudes": rows}
    return Formula("fope", parameters, size, query=factor, key=factor)


def _rows(given: Sequence | None, planes: int, count: int) -> tuple[tuple[sp.Expr, ...], ...]:
    """The amplitudes of every plane; none of a clipped one."""
    if given is None:
        return tuple(reals(f"a{j}_", count) for j in range(planes))
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise WrongType(f"amplitudes is {shown(given)}; a list with a row of exact numbers a plane works")
    if len(given) > planes:
        raise BadInput(f"amplitudes has {len(given)} rows; {planes} planes work, or fewer to clip the others")
    rows = tuple(column(row, f"amplitudes[{j}]", count) for j, row in enumerate(given))
    return rows + ((),) * (planes - len(rows))
