"""M-RoPE: the planes of one rotary table are shared out among time, height and width."""

from __future__ import annotations

from collections.abc import Sequence

from ..encoding import Encoding
from ..errors import BadInput, WrongType
from ..exact import even, positive, whole
from ..frequencies import frequencies
from ..kinds.axes import AxesEncoding
from ..sections import sectioned
from ..walk import shown
from .axial import on_axes
from .registry import register


@register(
    published="`q̃_i = R(p_i w_i) q_i` with `w_i = θ^(-2i/d)` over all planes, where `p_i` is t, h or w by "
    "the section of plane i, the same for k",
    source="P. Wang et al., Qwen2-VL, arXiv 2409.12191, section 2.1 (chunked, 16, 24, 24); interleaved: "
    "Qwen3-VL, transformers/models/qwen3_vl/modeling_qwen3_vl.py, apply_interleaved_mrope",
    danger="The two layouts of sections turn different planes, and after an image the text clock advances by "
    "the largest coordinate, not by the number of tokens.",
    example={"head_dim": 6, "sections": (1, 1, 1)},
)
def mrope(
    head_dim: int = 128,
    sections: Sequence[int] = (16, 24, 24),
    rope_theta: object = 1000000,
    layout: str = "chunked",
) -> Encoding:
    """Positions (t, h, w): plane i of rope, half-split, turns with one of them; t = h = w gives rope.

    sections: how many planes time, height and width own, head_dim/2 in all. layout "chunked": time
    first, then height, then width; "interleaved": height if i % 3 = 1 and i < 3·sections[1], width if
    i % 3 = 2 and i < 3·sections[2], else time. BadInput for other sections or layouts.
    """
    size, base = even(head_dim, "head_dim"), positive(rope_theta, "rope_theta")
    given = _sections(sections, size // 2)
    rates = sectioned(frequencies(base, size), given, layout).exact
    parameters = {"head_dim": size, "sections": given, "rope_theta": base, "layout": layout}
    return AxesEncoding("mrope", parameters, size, on_axes(size, rates, False))


def _sections(given: object, planes: int) -> tuple[int, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise WrongType(f"sections is {shown(given)}; three numbers of planes work, e.g. (16, 24, 24)")
    sections = tuple(whole(x, f"sections[{i}]") for i, x in enumerate(given))
    if len(sections) != 3 or sum(sections) != planes:
        raise BadInput(f"sections is {sections}; three numbers that add up to head_dim/2 = {planes} work")
    return sections
