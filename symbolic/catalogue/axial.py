"""Axes side by side: every plane of features turns with one coordinate of the position."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from ..axes import Axes
from ..encoding import Encoding
from ..errors import BadInput, WrongType
from ..exact import even, positive
from ..frequencies import frequencies
from ..kinds.axes import AxesEncoding
from ..walk import shown
from .registry import register
from .turning import flag, pairs, turning


def on_axes(head_dim: int, rates: Sequence[Sequence[sp.Expr]], interleaved: bool) -> Axes:
    """The generators X_a = -rates[a][j] J on plane j; a rate is exact, of any sign.

    A symbol whose sign is not known makes a plain matrix, which has no Jordan type but turns all the same.
    """
    planes, known = pairs(head_dim, interleaved), ("is_positive", "is_negative", "is_zero")
    held = []
    for turns in rates:
        if all(any(getattr(x, sign) for sign in known) for x in turns):
            held.append(turning(head_dim, planes, turns))
        else:
            places = {(j, i): -x for (i, j), x in zip(planes, turns, strict=True)}
            places |= {(i, j): -x for (j, i), x in places.items()}
            held.append(sp.ImmutableMatrix(sp.SparseMatrix(head_dim, head_dim, places)))
    return Axes(tuple(held))


def spread(rates: Sequence[sp.Expr], owner: Sequence[int], axes: int) -> list[list[sp.Expr]]:
    """rates[a][j]: the rate of plane j if axis a owns the plane, else 0."""
    return [
        [x if a == mine else sp.S.Zero for x, mine in zip(rates, owner, strict=True)] for a in range(axes)
    ]


@register(
    published="`q̃_j = R(x w_j) q_j` for the first `d/4` planes and `R(y w_j) q_j` for the rest, "
    "`w_j = θ^(-4j/d)`, the same for k",
    source="B. Heo et al., Rotary Position Embedding for Vision Transformer, arXiv 2403.13298, axial "
    "frequencies; code: naver-ai/rope-vit, models/vit_rope.py, compute_axial_cis (θ = 100)",
    danger="A plane sees one axis only, so no score depends on a diagonal offset as one angle; angles of "
    "large coordinates lose precision as in rope.",
    example={"head_dim": 4},
)
def axial(head_dim: int, rope_theta: object = 100, interleaved: bool = True) -> Encoding:
    """Positions (x, y): half of the planes turn with x, half with y, at w_j = rope_theta^(-4j/head_dim).

    head_dim: a multiple of 4, else BadInput; interleaved: planes (2k, 2k+1), else (k, k + head_dim/2).
    """
    size, base = even(head_dim, "head_dim"), positive(rope_theta, "rope_theta")
    if size % 4:
        raise BadInput(f"head_dim is {size}; two axes with as many planes each need a multiple of 4")
    each = frequencies(base, size // 2).exact
    rates = spread([*each, *each], [0] * (size // 4) + [1] * (size // 4), 2)
    parameters = {
        "head_dim": size,
        "rope_theta": base,
        "interleaved": interleaved,
    }
    axes = on_axes(size, rates, flag(interleaved, "interleaved"))
    return AxesEncoding("axial", parameters, size, axes)


@register(
    published="`q̃ = (R(t w) q_t, R(h w) q_h, R(w w) q_w)`: a section of the features for every axis, each "
    "with `w_j = θ^(-2j/section)`, the same for k",
    source="Wan Team, Wan: Open and Advanced Large-Scale Video Generative Models, arXiv 2503.20314 (sections "
    "d-4⌊d/6⌋, 2⌊d/6⌋, 2⌊d/6⌋, θ = 10000); W. Kong et al., HunyuanVideo, arXiv 2412.03603 (16, 56, 56, "
    "θ = 256)",
    danger="Sections differ between models, and a checkpoint read with other sections turns other features.",
    example={"head_dim": 6},
)
def rope_3d(
    head_dim: int, sections: Sequence[int] | None = None, rope_theta: object = 10000, interleaved: bool = True
) -> Encoding:
    """Positions (t, h, w): three sections of features, each rope with one coordinate and its own exponents.

    sections: even numbers of features that add up to head_dim; None: d-4⌊d/6⌋, 2⌊d/6⌋, 2⌊d/6⌋, which need
    head_dim >= 6. interleaved: planes (2k, 2k+1), else (k, k + head_dim/2). BadInput for other sections.
    """
    size, base = even(head_dim, "head_dim"), positive(rope_theta, "rope_theta")
    sixth = size // 6
    given = _sections(sections, size) if sections is not None else (size - 4 * sixth, 2 * sixth, 2 * sixth)
    if not all(given):
        raise BadInput(f"head_dim is {size}; three axes need a plane each, so at least 6 works")
    rates = [x for section in given for x in frequencies(base, section).exact]
    owner = [axis for axis, section in enumerate(given) for _ in range(section // 2)]
    parameters = {"head_dim": size, "sections": given, "rope_theta": base, "interleaved": interleaved}
    axes = on_axes(size, spread(rates, owner, 3), flag(interleaved, "interleaved"))
    return AxesEncoding("rope_3d", parameters, size, axes)


def _sections(given: object, size: int) -> tuple[int, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise WrongType(f"sections is {shown(given)}; three even numbers of features work")
    sections = tuple(even(x, f"sections[{i}]") for i, x in enumerate(given))
    if len(sections) != 3 or sum(sections) != size:
        raise BadInput(f"sections is {sections}; three even numbers that add up to head_dim {size} work")
    return sections
