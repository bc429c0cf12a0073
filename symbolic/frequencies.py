"""The rotary frequencies of a head, in radians per position, as exact numbers.

    w_k = rope_theta^(-2k/dim),   k = 0 … dim/2 - 1

Source: Su et al., RoFormer, arXiv 2104.09864, section 3.2.2; keys as in Hugging Face's `rope_parameters`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import sympy as sp

from .errors import BadInput, WrongType
from .exact import MOST, exact_entry
from .walk import shown

SUPPORTED_TYPES = ("default",)
_NOT_BUILT = ("linear", "dynamic", "yarn", "longrope", "llama3", "proportional")
_KEYS = ("rope_type", "rope_theta")


@dataclass(frozen=True)
class Frequencies:
    """`exact`: a positive sympy number or expression a plane; `attention_factor` multiplies cos and sin."""

    exact: tuple[sp.Expr, ...]
    attention_factor: sp.Expr = sp.S.One

    def __len__(self) -> int:
        return len(self.exact)

    def __iter__(self):
        return iter(self.exact)


def frequencies(rope_parameters: object, head_dim: int) -> Frequencies:
    """The frequencies of `head_dim` rotated features.

    rope_parameters: the base itself (exact, positive; a positive symbol works), or a mapping as configs hold
    it, {"rope_type": "default", "rope_theta": 10000}. There, and only there, a float that is a whole number
    counts as written: 500000.0 is 500000, exactly. BadInput names an unknown type or key, WrongType any
    other float.
    """
    theta = rope_parameters
    if isinstance(rope_parameters, Mapping):
        theta = _theta(rope_parameters)
    size = even(head_dim, "head_dim")
    base = positive(theta, "rope_theta")
    return Frequencies(tuple(base ** sp.Rational(-2 * k, size) for k in range(size // 2)))


def _theta(given: Mapping) -> object:
    """The base named by a mapping of which every key is known."""
    kind = given.get("rope_type", given.get("type", "default"))
    if kind not in SUPPORTED_TYPES:
        what = "not built yet" if kind in _NOT_BUILT else "unknown"
        raise BadInput(
            f"rope_type is {kind!r}, which is {what}; this version computes only the default rule, "
            "rope_theta^(-2k/head_dim): rope_type 'default' works"
        )
    unknown = sorted(str(key) for key in given if key not in _KEYS)
    if unknown:
        raise BadInput(
            f"rope_parameters has unknown keys: {', '.join(unknown)}; "
            f"rope_type 'default' knows {', '.join(_KEYS)}"
        )
    if "rope_theta" not in given:
        raise BadInput("rope_parameters has no rope_theta; give the base, e.g. {'rope_theta': 10000}")
    return _as_written(given["rope_theta"])


def _as_written(value: object) -> object:
    """A whole float of a config as the integer that its shortest decimal shows (1e23 is 10^23)."""
    if isinstance(value, float) and value.is_integer():
        return int(Decimal(repr(float(value))))
    return value


def positive(value: object, name: str) -> sp.Expr:
    """`value` as an exact expression known to be positive."""
    number = exact_entry(value, name)
    if number.is_positive:
        return number
    if number.free_symbols and number.is_positive is None:
        raise BadInput(
            f"{name} is {number}, not known to be positive; declare its symbols so, "
            "e.g. Symbol('b', positive=True)"
        )
    raise BadInput(f"{name} is {number}; it must be positive, e.g. 10000")


def whole(value: object, name: str, least: int = 1, most: int = MOST) -> int:
    """`value` as an int from `least` to `most`; what is larger would only exhaust the machine."""
    if isinstance(value, bool) or not isinstance(value, (int, sp.Integer)):
        written = isinstance(value, float) and value.is_integer() and value >= least
        example = int(value) if written else max(least, 64)
        raise WrongType(f"{name} is {shown(value)}; a whole number works, e.g. {example}")
    if not least <= value <= most:
        raise BadInput(f"{name} is {shown(value)}; a whole number from {least} to {most} works")
    return int(value)


def even(value: object, name: str) -> int:
    """`value` as an even int of at least 2: features are rotated in pairs."""
    number = whole(value, name, 2)
    if number % 2:
        raise BadInput(
            f"{name} is {number}, which is odd; features turn in pairs, so {number - 1} or {number + 1} works"
        )
    return number
