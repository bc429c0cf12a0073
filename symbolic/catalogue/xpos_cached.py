"""The fades of xPos with a centre of their own on each side: what a cache that recentres keys gives."""

from __future__ import annotations

import sympy as sp

from ..encoding import Encoding
from ..exact import exact_entry, positive
from ..kinds.formula import Formula
from .registry import register
from .turning import rotation
from .xpos import zetas


@register(
    published=(
        "`q̃ = ζ^((t-⌊n_q/2⌋)/512) R(tω)q, k̃ = ζ^(-(s-⌊n_k/2⌋)/512) R(sω)k` with `n_q` queries and `n_k` keys"
    ),
    source="lucidrains/rotary-embedding-torch, `rotate_queries_with_cached_keys`",
    danger="the score at gap 0 falls with the number of cached keys: 8 becomes 2.83 at 2000 keys for d = 8",
    example={"head_dim": 2},
)
def xpos_own_centres(head_dim: int, scale_base: object = 512, rope_theta: object = 10000) -> Encoding:
    """score = Σ_i ζ_i^{(t-s+⌊(t+1)/2⌋)/512} q_i·R((s-t)ω_i)k_i: decoding one query against t+1 cached keys.

    Then n_q = 1 and n_k = t+1, so the query is centred at 0 and the keys at ⌊(t+1)/2⌋, a factor that only t
    fixes. ζ_i as for xpos; planes (2i, 2i+1). scale_base: the 512, in positions, > 0.
    """
    size, generator, _ = rotation(head_dim, rope_theta, None, interleaved=True)
    base = positive(scale_base, "scale_base")
    fades = [zeta for zeta in zetas(size) for _ in range(2)]

    def query(ingredients, t):
        own = t + sp.floor((t + 1) / 2)
        return sp.diag(*(zeta ** (own / base) for zeta in fades)) * ingredients[0].exp(t).T

    def key(ingredients, s):
        return sp.diag(*(zeta ** (-s / base) for zeta in fades)) * ingredients[0].exp(-s)

    parameters = {"head_dim": size, "scale_base": base, "rope_theta": exact_entry(rope_theta, "rope_theta")}
    return Formula("xpos_own_centres", parameters, size, ingredients=(generator,), query=query, key=key)
