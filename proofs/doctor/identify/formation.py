"""How a table was formed: every way of rounding position, frequency, product or entry, simulated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from ....numeric.rounding import unit_roundoff
from ...budget import single_angle_entry, table_entry

NARROW = ("bfloat16", "float16")
Angles = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Formation:
    """words: where it rounds. angles: of (t, w), float64. format: the coarsest that an angle passes through.

    table: the format that cos and sin are rounded to.
    """

    words: str
    angles: Angles
    format: str
    table: str

    @property
    def sentence(self) -> str:
        """ "angles formed in float32, cos and sin rounded to bfloat16", as part of a sentence."""
        begins = "" if self.words.startswith("float") else "float32, "
        return f"angles formed in {begins}{self.words}"

    @property
    def single(self) -> bool:
        """Whether float32 may round as well."""
        return self.format != "float64"

    @property
    def narrow(self) -> bool:
        """Whether anything is rounded to half precision."""
        return self.words not in ("float64", "float32")

    def within(self, angles: str, table: str) -> bool:
        """Whether it rounds no more than these formats do; tables are read in float32, where they can be."""
        coarsest = max(unit_roundoff(table), unit_roundoff("float32"))
        return unit_roundoff(self.format) <= unit_roundoff(angles) and unit_roundoff(self.table) <= coarsest


@dataclass(frozen=True)
class Fit:
    """Residual and budget of the first entry outside, else of the worst; expected: its cos and sin."""

    residual: float
    budget: float
    outside: tuple[int, int] | None
    expected: tuple[float, float]


def formations() -> list[Formation]:
    """From the most accurate to the least."""
    plain = _product
    found = [Formation(f, plain, f, "float32") for f in ("float64", "float32")]
    found += [Formation(f"float32, cos and sin rounded to {h}", plain, "float32", h) for h in NARROW]
    for h in NARROW:
        for words, angles in _rounded(getattr(torch, h)):
            found += [
                Formation(f"{words} rounded to {h}", angles, h, "float32"),
                Formation(f"{words} and cos and sin rounded to {h}", angles, h, h),
            ]
    return found


def fit(
    formation: Formation,
    positions: Tensor,
    waves: Tensor,
    errors: Tensor,
    cos: Tensor,
    sin: Tensor,
) -> Fit:
    """How (cos, sin), at amplitude 1, compares with what a formation makes of float64 frequencies.

    positions: (T,); waves, errors: (P,), errors relative, of a float32 recipe; cos, sin: (T, P). Rounding to
    half precision may fall to either side where float32 is near a tie: both sides count, since each is a
    monotone function of the frequency.
    """
    spread = (-1.0, 0.0, 1.0) if formation.narrow else (0.0,)
    u = unit_roundoff("float32")
    turns = [formation.angles(positions[:, None], waves * (1 + side * (errors + 2 * u))) for side in spread]
    exact = positions[:, None] * waves
    if formation.single:
        budget = single_angle_entry(exact, frequency_roundings=errors / u)
    else:
        budget = table_entry(exact, "float32")
    if formation.table != "float32":
        budget = budget + unit_roundoff(formation.table)
    off = torch.stack([torch.maximum((cos - a.cos()).abs(), (sin - a.sin()).abs()) for a in turns]).amin(0)
    excess = off / budget
    worst = int(excess.argmax())
    outside = (excess > 1).nonzero()
    first = tuple(outside[0].tolist()) if len(outside) else None
    at = first or divmod(worst, cos.shape[1])
    expected = (float(exact[at].cos()), float(exact[at].sin()))
    return Fit(float(off[at]), float(budget[at]), first, expected)


def _product(t: Tensor, w: Tensor) -> Tensor:
    return t * w


def _rounded(h: torch.dtype) -> list[tuple[str, Angles]]:
    """Each stage rounded alone, then positions, frequencies and product together."""

    def to(x: Tensor) -> Tensor:
        return x.to(torch.float32).to(h).to(torch.float64)

    return [
        ("frequencies", lambda t, w: t * to(w)),
        ("positions", lambda t, w: to(t) * w),
        ("angles", lambda t, w: to(t * w)),
        ("positions, frequencies and angles", lambda t, w: to(to(t) * to(w))),
        ("positions and frequencies", lambda t, w: to(t) * to(w)),
    ]
