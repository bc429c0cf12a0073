"""In which form a table comes: cos and sin, angles, complex numbers, one packed tensor, or sinusoids."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ..call import finite, shown
from ..failed import Failed

Pair = tuple[Tensor, Tensor]


def pair(found: object) -> Pair:
    """(cos, sin)."""
    if not (isinstance(found, (tuple, list)) and len(found) == 2):
        raise Failed(f"returned {shown(found)}; (cos, sin) was expected")
    return finite(found[0]), finite(found[1])


def complexes(found: object) -> Pair:
    """cos + i sin."""
    if not (isinstance(found, Tensor) and found.is_complex()):
        raise Failed(f"returned {shown(found)}; complex numbers were expected")
    return finite(found.real), finite(found.imag)


def angles(found: object) -> Pair:
    """Angles in radians; their cos and sin in float64."""
    wide = finite(found).to(torch.float64)
    return wide.cos(), wide.sin()


def packed(found: object) -> Pair:
    """[cos | sin]."""
    cos, sin = finite(found).chunk(2, -1)
    return cos, sin


def sines_first(found: object) -> Pair:
    """[sin | cos]."""
    sin, cos = finite(found).chunk(2, -1)
    return cos, sin


def sines_between(found: object) -> Pair:
    """sin at even features, cos at odd ones; an odd width ends in a sine without its cosine, left out."""
    whole = finite(found)
    even = whole[..., : whole.shape[-1] // 2 * 2]
    return even[..., 1::2], even[..., ::2]


FORMS: dict[str, Callable[[object], Pair]] = {
    "cos and sin": pair,
    "complex numbers": complexes,
    "angles": angles,
    "cos and sin in one tensor": packed,
    "sinusoids, sines first": sines_first,
    "sinusoids, sines between": sines_between,
}


def form_of(found: object) -> str:
    """The form, by what stands at position 0, which must be the first row: angle 0, so cos is a, sin is 0."""
    if isinstance(found, (tuple, list)):
        return "cos and sin"
    if isinstance(found, Tensor) and found.is_complex():
        return "complex numbers"
    first = finite(found).flatten(0, -2)[0]
    width = first.shape[0] // 2
    zero = first == 0
    if bool(zero.all()):
        return "angles"
    if width and bool(zero[width:].all()) and not bool(zero[:width].any()):
        return "cos and sin in one tensor"
    if width and bool(zero[:width].all()) and not bool(zero[width:].any()):
        return "sinusoids, sines first"
    if width and bool(zero[::2].all()) and not bool(zero[1::2].any()):
        return "sinusoids, sines between"
    raise Failed(f"returned {shown(found)}; {', '.join(FORMS)} work")
