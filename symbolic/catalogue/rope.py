"""Rotary encoding: every plane of features turns at its own frequency."""

from __future__ import annotations

from ..encoding import Encoding
from ..errors import WrongType
from ..exact import exact_entry
from ..frequencies import even
from ..generated import Generated
from .registry import register
from .turning import pairs, plane_frequencies, rotary_size, turning


@register
def rope(
    head_dim: int,
    rope_theta: object = 10000,
    rotary_dim: int | None = None,
    interleaved: bool = False,
    frequencies: object = None,
) -> Encoding:
    """q and k at position p turn by R(p w_k), so X = -w_k J on plane k (Su et al., arXiv 2104.09864).

    rope_theta: the base; rotary_dim: how many leading features turn; interleaved: planes (2k, 2k+1) instead of
    (k, k + rotary_dim/2); frequencies: explicit radians per position, one a plane, in place of the base.
    """
    size = even(head_dim, "head_dim")
    rotary = rotary_size(rotary_dim, size)
    turns = plane_frequencies(frequencies, rope_theta, rotary)
    generator = turning(size, pairs(rotary, flag(interleaved, "interleaved")), turns)
    given = (
        {"rope_theta": exact_entry(rope_theta, "rope_theta")}
        if frequencies is None
        else {"frequencies": turns}
    )
    parameters = {"head_dim": size, **given, "rotary_dim": rotary, "interleaved": interleaved}
    return Generated("rope", parameters, size, generator)


def flag(value: object, name: str) -> bool:
    """`value`, which must be True or False."""
    if not isinstance(value, bool):
        raise WrongType(f"{name} is {value!r}; True or False works")
    return value
