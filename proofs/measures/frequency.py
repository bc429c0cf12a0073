"""Rotary tables against the laws of the bank of clocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sympy as sp
import torch
from torch import Tensor

from ... import numeric
from ...numeric.constants import nearest_float
from ...symbolic.frequencies import Frequencies, frequencies
from .. import budget
from .residual import LIBRARY, Case, measures
from .rotated import FAR, Measured, angles, exact_table, name_of, turned

TABLES = (torch.float64, torch.float32)
NEAREST = (
    "with frequency 1 the angle is the position itself, and every cosine and sine came out as the nearest "
    "float64, where the budget must grant a unit in the last place"
)


def entries(waves: Frequencies, ids: Tensor, dtype: torch.dtype, known: Sequence[Tensor]) -> Measured:
    """cos and sin of a table beside exact entries, joined: (2, time, pairs)."""
    found = torch.stack(numeric.rotary_table(waves, ids, dtype=dtype)).double()
    exactly = torch.stack(tuple(known))
    return Measured(found, exactly, budget.table_entry(angles(waves, ids), dtype, value=exactly.abs()))


def same_table(
    waves: Frequencies,
    ids: Tensor,
    old: Frequencies,
    positions: Sequence[int],
    where: str,
    drift: float = 0.0,
) -> Iterator[Case]:
    """A table of `waves` at `ids` against the exact one of `old` at `positions`; drift: relative, of ids."""
    for dtype in TABLES:
        table = entries(waves, ids, dtype, exact_table(old, tuple(positions)))
        bound = table.error + drift * angles(waves, ids)
        yield Case((table.found - table.known).abs(), bound, name_of(dtype), where)


@measures(
    "first-frequency",
    small=LIBRARY,
    zero=NEAREST,
)
def first_frequency() -> Iterator[Case]:
    """The first column of the table of any base against cos t and sin t."""
    positions = [1, 3, 1000, FAR]
    one = Frequencies((sp.S.One,))
    for base in (100, 10000, 500000):
        first = Frequencies(frequencies(base, 64).exact[:1])
        yield from same_table(
            first, torch.tensor(positions), one, positions, f"base {base}, positions {positions}"
        )


def full_turn(wave: sp.Expr, start: int, name: str) -> Iterator[Case]:
    """After the clock reading start + 2π/ω, rounded once, a plane is back where it was."""
    one = Frequencies((wave,))
    later = torch.tensor([nearest_float(start + 2 * sp.pi / wave)], dtype=torch.float64)
    where = f"{name}, positions {start} and {start} + 2π/ω"
    yield from same_table(one, later, one, [start], where, budget.ORACLE)


@measures("full-turn-table")
def full_turn_table() -> Iterator[Case]:
    for k, wave in enumerate(frequencies(10000, 16)):
        yield from full_turn(wave, 0, f"plane {k} of head_dim 16")


@measures("plane-wraps")
def plane_wraps() -> Iterator[Case]:
    for k, wave in enumerate(frequencies(10000, 128)):
        yield from full_turn(wave, 3, f"plane {k} of head_dim 128")


@measures("bank-wraps", small=LIBRARY)
def bank_wraps() -> Iterator[Case]:
    """Frequencies in the ratios 1 : 3/2 : 5/4 return together after 8π."""
    bank = Frequencies((sp.S.One, sp.Rational(3, 2), sp.Rational(5, 4)))
    for start in (0, 1, 20):
        later = torch.tensor([nearest_float(start + 8 * sp.pi)], dtype=torch.float64)
        where = f"frequencies 1, 3/2, 5/4, positions {start} and {start} + 8π"
        yield from same_table(bank, later, bank, [start], where, budget.ORACLE)


@measures("ntk-aware")
def ntk_aware() -> Iterator[Case]:
    """With b' = b s^{d/(d-2)} the slowest plane at s·t is the old one at t, and the first is unmoved."""
    positions = [1, 50, 4095]
    for head_dim, s in ((4, 4), (128, 4), (128, 8)):
        old = frequencies(10000, head_dim).exact
        new = frequencies(10000 * sp.Integer(s) ** sp.Rational(head_dim, head_dim - 2), head_dim).exact
        where = f"head_dim {head_dim}, s = {s}, positions {positions}"
        ids = torch.tensor(positions)
        yield from same_table(Frequencies(new[-1:]), s * ids, Frequencies(old[-1:]), positions, where)
        yield from same_table(Frequencies(new[:1]), ids, Frequencies(old[:1]), positions, where)


@measures("position-interpolation")
def position_interpolation() -> Iterator[Case]:
    """Frequencies divided by 16, at sixteen times the positions, make the old table."""
    positions = [1, 7, 4095]
    old = frequencies(10000, 64)
    slower = Frequencies(tuple(wave / 16 for wave in old))
    yield from same_table(
        slower, 16 * torch.tensor(positions), old, positions, f"a = 16, positions 16 · {positions}"
    )


@measures(
    "never-wraps-at-integers",
    small=LIBRARY,
    zero=NEAREST,
)
def never_wraps() -> Iterator[Case]:
    """Gap 710 is the nearest miss below 2^15; sin 710 = 0.00006…, and the table still tells it from 0."""
    positions = [44, 333, 355, 710, 103993]
    one = Frequencies((sp.S.One,))
    yield from same_table(one, torch.tensor(positions), one, positions, f"first plane, positions {positions}")


@measures("sinusoidal-shift", small=LIBRARY)
def sinusoidal_shift() -> Iterator[Case]:
    """(sin ωt, cos ωt) turned by R(-ωu) with the rotary kernel, against the table at t + u."""
    waves = frequencies(10000, 16)
    t, u = torch.tensor([0, 5, 100]), torch.tensor([7, 3, 1000])
    for dtype in TABLES:
        cos, sin = numeric.rotary_table(waves, t, dtype=dtype)
        pairs = torch.cat((sin, cos), dim=-1)[None, None]
        moved = turned(pairs, waves, u, inverse=True)
        before = entries(waves, t, dtype, exact_table(waves, tuple(t.tolist()))).error
        after = exact_table(waves, tuple((t + u).tolist()))
        c, s = (entry.abs() for entry in exact_table(waves, tuple(u.tolist())))
        drift = torch.cat((before[1] * c + before[0] * s, before[1] * s + before[0] * c), dim=-1)
        error = (moved.found - torch.cat((after[1], after[0]), dim=-1)).abs()
        yield Case(
            error, moved.error + drift, name_of(dtype), f"head_dim 16, t = {t.tolist()}, u = {u.tolist()}"
        )


@measures("alibi-slopes", small=LIBRARY, zero="every power of two came out as the nearest float64")
def alibi_slopes() -> Iterator[Case]:
    """The slopes of the kernel against exact powers of two, also for 12 and 40 heads."""
    from ...symbolic.catalogue.alibi import slopes

    for heads in (1, 8, 12, 40, 71):
        known = torch.tensor([nearest_float(m) for m in slopes(heads)], dtype=torch.float64)
        for dtype in TABLES:
            found = numeric.alibi_slopes(heads, dtype=dtype).double()
            # the power is within one ulp, and so is the oracle within half of one
            relative = 3 * budget.ORACLE + (dtype == torch.float32) * budget.unit_roundoff(dtype)
            yield Case((found - known).abs(), relative * known, name_of(dtype), f"{heads} heads")
