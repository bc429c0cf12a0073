"""Owns the numbers of the score pictures: exact scores of the symbolic room, evaluated for drawing."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from ...symbolic.catalogue import encoding
from ...symbolic.encoding import Encoding
from ...symbolic.frequencies import frequencies

HEAD_DIM, GAMMA, SLOPE, LONGEST = 16, sp.Rational(1, 10), sp.Rational(1, 16), 64


@dataclass(frozen=True)
class Curve:
    """Score against gap for one encoding."""

    title: str
    gaps: tuple[float, ...]
    scores: tuple[float, ...]


def curves() -> tuple[Curve, ...]:
    """NoPE, RoPE, decay, damped RoPE, ALiBi and RoPE with ALiBi; q = k = (1, 0) in every plane."""
    rope = encoding("rope", head_dim=HEAD_DIM, interleaved=True)
    alibi = encoding("alibi", slope=SLOPE, head_dim=HEAD_DIM)
    shown = {
        "NoPE": encoding("nope", head_dim=HEAD_DIM),
        "RoPE": rope,
        "decay": encoding("decay", head_dim=HEAD_DIM, gamma=GAMMA),
        "damped RoPE": encoding("damped_rope", head_dim=HEAD_DIM, gamma=GAMMA, interleaved=True),
        "ALiBi": alibi,
        "RoPE + ALiBi": rope + alibi,
    }
    return tuple(_curve(title, chosen) for title, chosen in shown.items())


def _curve(title: str, chosen: Encoding) -> Curve:
    t = sp.Symbol("t", real=True)
    ones = sp.Matrix([1, 0] * (HEAD_DIM // 2))
    score = sp.lambdify(t, chosen.score(t, 0, q=ones, k=ones), "math")
    gaps = tuple(step / 4 for step in range(4 * LONGEST + 1))
    return Curve(title, gaps, tuple(float(score(gap)) for gap in gaps))


def plane_frequencies(head_dim: int) -> tuple[float, ...]:
    """RoPE's frequencies at base 10000, in radians per position."""
    return tuple(float(w) for w in frequencies(10_000, head_dim))
