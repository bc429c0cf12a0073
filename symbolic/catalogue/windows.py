"""Rotations by a gap that is not allowed to grow: clipped (ReRoPE) or grouped (Self-Extend)."""

from __future__ import annotations

import sympy as sp

from ..encoding import Encoding
from ..exact import whole
from ..kinds.paired import Paired
from .registry import register
from .turning import rotation


@register(
    published="`score = q·R((s-t)ω)k` for `t - s < w`, else `q·R(-wω)k`",
    source="J. Su, ReRoPE, kexue.fm/archives/9708",
    danger="two attention passes, one for each side of the window",
    example={"head_dim": 2, "window": 4},
)
def rerope(
    head_dim: int,
    window: int,
    rope_theta: object = 10000,
    interleaved: bool = False,
    frequencies: object = None,
) -> Encoding:
    """score = q·A(min(t-s, w))k, A(u) = exp(uX) the rotation of rope: far keys all turn alike.

    window w (positions); the rest as for rope.
    """
    size, generator, given = rotation(head_dim, rope_theta, None, interleaved, frequencies)
    reach = whole(window, "window", 1, 10**9)

    def matrix(ingredients, t, s):
        return ingredients[0].exp(sp.Min(t - s, reach))

    return Paired("rerope", {**given, "window": reach}, size, ingredients=(generator,), matrix=matrix)


@register(
    published="`score = q·R((s-t)ω)k` for `t - s < w`, else by `⌊s/G⌋ - ⌊t/G⌋ - w + ⌊w/G⌋`",
    source="H. Jin et al., LLM Maybe LongLM, arXiv 2401.01325; llama_self_extend_patch.py of its code",
    danger="positions are rounded down to groups: two far keys at one gap of each other may coincide or not",
    example={"head_dim": 2, "window": 4, "group": 2},
)
def self_extend(
    head_dim: int,
    window: int,
    group: int,
    rope_theta: object = 10000,
    interleaved: bool = False,
    frequencies: object = None,
) -> Encoding:
    """score = q·A(u)k with u = t-s for t-s < w, else u = ⌊t/G⌋ - ⌊s/G⌋ + w - ⌊w/G⌋: far gaps in groups.

    window w and group G (positions); the rest as for rope. A far gap depends on where the groups begin: gap 4
    with G = 3 is one group boundary or two.
    """
    size, generator, given = rotation(head_dim, rope_theta, None, interleaved, frequencies)
    reach, width = whole(window, "window", 1, 10**9), whole(group, "group", 2, 10**9)

    def matrix(ingredients, t, s):
        far = sp.floor(t / width) - sp.floor(s / width) + reach - reach // width
        return ingredients[0].exp(sp.Piecewise((t - s, t - s < reach), (far, True)))

    parameters = {**given, "window": reach, "group": width}
    far_gap = width * (reach // width + 1) - 1  # a step more crosses the border of a group
    return Paired(
        "self_extend", parameters, size, ingredients=(generator,), matrix=matrix, trials=((1, far_gap),)
    )
