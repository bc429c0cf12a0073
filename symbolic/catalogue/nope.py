"""No positions at all: X = 0."""

from __future__ import annotations

from ..block import Block
from ..encoding import Encoding
from ..exact import whole
from ..generator import Generator
from ..kinds.generated import Generated
from .registry import register


@register(
    published="`score = q·k`",
    source=(
        "A. Kazemnejad et al., The Impact of Positional Encoding on Length Generalization, arXiv 2305.19466"
    ),
    danger="none: no position enters",
    example={"head_dim": 4},
)
def nope(head_dim: int) -> Encoding:
    """score = q·k for every pair of positions (Kazemnejad et al., arXiv 2305.19466)."""
    size = whole(head_dim, "head_dim")
    held = Generator.direct_sum(*[Block(0)] * size)
    return Generated("nope", {"head_dim": size}, size, held)
