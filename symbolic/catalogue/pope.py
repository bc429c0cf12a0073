"""Polar coordinates: every feature is a magnitude, every position an angle."""

from __future__ import annotations

import sympy as sp

from ..encoding import Encoding
from ..exact import whole
from ..frequencies import frequencies as base_frequencies
from ..kinds.lifted import Lifted
from .columns import column, reals
from .registry import register
from .turning import AS_ROPE, pairs, plane_frequencies, rates_shown, turning

MAGNITUDE = sp.Function("softplus", positive=True)


@register(
    published="`score = Σ_c μ(q_c) μ(k_c) cos((s-t)θ_c + δ_c)`, `μ = softplus`, `θ_c = 10000^(-c/d)`",
    source=(
        "A. Gopalakrishnan et al., Decoupling the What and Where With Polar Coordinate Positional "
        "Embeddings, arXiv 2509.10534"
    ),
    danger=f"{AS_ROPE}; queries and keys double in width",
    example={"head_dim": 2},
)
def pope(
    head_dim: int, rope_theta: object = 10000, phases: object = None, frequencies: object = None
) -> Encoding:
    """score = Σ_c μ(q_c)μ(k_c) cos((s-t)θ_c + δ_c): magnitudes by softplus, one angle a feature.

    phases δ: exact, one a feature; free symbols d0, d1, … if None. softplus is kept opaque, any positive
    function. Lift: φ(q) = (μ(q_c), 0), ψ(k) = μ(k_c)(cos δ_c, sin δ_c) on plane c, X = -θ_c J. Source:
    Gopalakrishnan et al., arXiv 2509.10534.
    """
    size = whole(head_dim, "head_dim")
    if frequencies is None:
        turns = base_frequencies(rope_theta, 2 * size).exact
    else:
        turns = plane_frequencies(frequencies, rope_theta, 2 * size)
    deltas = reals("d", size) if phases is None else column(phases, "phases", size)

    def published(generator, t, s, q, k):
        rates = [generator.matrix[i, j] for i, j in pairs(2 * size, interleaved=True)]
        planes = zip(rates, deltas, q, k, strict=True)
        return sp.Add(*(MAGNITUDE(x) * MAGNITUDE(y) * sp.cos((s - t) * w + d) for w, d, x, y in planes))

    def query_map(q):
        return sp.Matrix([part for x in q for part in (MAGNITUDE(x), sp.S.Zero)])

    def key_map(k):
        planes = zip(deltas, k, strict=True)
        return sp.Matrix([MAGNITUDE(y) * f(d) for d, y in planes for f in (sp.cos, sp.sin)])

    return Lifted(
        "pope",
        {"head_dim": size, **rates_shown(frequencies, rope_theta, turns), "phases": deltas},
        size,
        generator=turning(2 * size, pairs(2 * size, interleaved=True), turns),
        query_map=query_map,
        key_map=key_map,
        published=published,
    )
