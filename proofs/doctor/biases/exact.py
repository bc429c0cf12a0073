"""Logits of a claimed `exptx.symbolic.Encoding`, exact: σ score(t, s), a few pairs a head."""

from __future__ import annotations

import sympy as sp
import torch
from torch import Tensor

from ....symbolic.encoding import Encoding
from ... import budget

PLACES = (0, 1, 6, 11)
DIGITS = 30


def content(dim: int, turn: int) -> list[int]:
    """Whole numbers from -2 to 2, which every format keeps."""
    return [(3 * i * i + turn * i + turn) % 5 - 2 for i in range(dim)]


def logits(encoding: Encoding, heads: int) -> tuple[Tensor, Tensor]:
    """σ score at t >= s, and the norms of both factors times σ, (heads, places, places), float64.

    One head for all, or one for each.
    """
    count = len(PLACES)
    found, norms = torch.zeros(2, heads, count, count, dtype=torch.float64)
    for h in range(heads):
        one = encoding.heads[h if len(encoding.heads) == heads else 0]
        q, k = (sp.Matrix(content(one.head_dim, turn)) for turn in (1, 2))
        scale = float(sp.N(one.scale, DIGITS))
        left = [_norm(one.query_factor(sp.Integer(t)) * one.query_lift(q)) for t in PLACES]
        right = [_norm(one.key_factor(sp.Integer(s)) * one.key_lift(k)) for s in PLACES]
        for i, t in enumerate(PLACES):
            for j, s in enumerate(PLACES[: i + 1]):
                found[h, i, j] = float(sp.N(one.scale * one.score(t, s, q=list(q), k=list(k)), DIGITS))
                norms[h, i, j] = scale * left[i] * right[j]
    return found, norms


def allowed(found: Tensor, norms: Tensor, dim: int, table: str, dtype: str) -> Tensor:
    """Turns and weights e^{-γt} of both sides in their formats, a bias, and the difference of two logits."""
    places = torch.tensor(PLACES, dtype=torch.float64)
    vector = budget.rotated_vector(budget.single_angle_entry(places), dtype)
    vector = vector + budget.fade(places, dtype) + 2 * budget.gamma(1, table)
    error = budget.score_of_vectors(norms, vector[:, None], vector[None], dim, dtype)
    one = budget.logit(1.0, norms, error, (found.abs() + norms), dtype)
    return one + one.diagonal(dim1=-2, dim2=-1)[..., None]


def _norm(column: sp.MatrixBase) -> float:
    return float(sp.N(sp.sqrt(sum((entry**2 for entry in column), sp.S.Zero)), DIGITS))
