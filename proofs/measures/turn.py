"""The rotary kernel against the laws of the turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from ... import numeric
from ...numeric import exact
from ...numeric.layout import join_pairs, split_pairs
from ...symbolic.frequencies import Frequencies, frequencies
from .. import budget
from .residual import LIBRARY, Case, measures
from .rotated import (
    DTYPES,
    FAR,
    Measured,
    angles,
    arithmetic,
    drawn,
    exact_product,
    exact_table,
    name_of,
    score,
    squared_length,
    turned,
    turned_by,
)

QUERIES, KEYS = torch.tensor([5, 2, 40, 0, 9, 700]), torch.tensor([2, 5, 1, 0, 1000, 13])
SHIFTS = (1, FAR)


def scores(head_dim: int, dtype: torch.dtype, shift: int, interleaved: bool = False) -> Measured:
    """Scores of turned queries and keys, all at once, with both positions moved by `shift`."""
    waves = frequencies(10000, head_dim)
    q, k = (drawn((1, 16, len(QUERIES), head_dim), dtype, seed) for seed in (1, 2))
    return score(
        turned(q, waves, QUERIES + shift, interleaved=interleaved),
        turned(k, waves, KEYS + shift, interleaved=interleaved),
    )


def shift_both(head_dim: int) -> Iterator[Case]:
    """The score at (t + c, s + c) minus the score at (t, s); each may be off by its own budget."""
    for dtype in DTYPES:
        here = scores(head_dim, dtype, 0)
        for shift in SHIFTS:
            there = scores(head_dim, dtype, shift)
            where = f"head_dim {head_dim}, gaps -991 to 687, both positions moved by {shift}"
            yield Case((there.found - here.found).abs(), there.error + here.error, name_of(dtype), where)


@measures("rope-plane", small=LIBRARY)
def rope_plane() -> Iterator[Case]:
    yield from shift_both(2)


@measures("rope-relative", small=LIBRARY)
def rope_relative() -> Iterator[Case]:
    for head_dim in (4, 64):
        yield from shift_both(head_dim)


@measures("rope-length", small=LIBRARY)
def rope_length() -> Iterator[Case]:
    ids = torch.tensor([0, 1, 77, -5, FAR])
    for head_dim in (2, 16, 128):
        for dtype in DTYPES:
            x = drawn((1, 32, len(ids), head_dim), dtype, 3)
            after = squared_length(turned(x, frequencies(10000, head_dim), ids))
            before = x.double().square().sum(-1)
            where = f"head_dim {head_dim}, positions {ids.tolist()}"
            yield Case((after.found - before).abs(), after.error, name_of(dtype), where)


@measures("plane-score", small=LIBRARY)
def plane_score() -> Iterator[Case]:
    """Against (q·k) cos ω(t-s) + (q×k) sin ω(t-s), for t > s and for t < s: this pins the sign."""
    waves = frequencies(10000, 2)
    for dtype in DTYPES:
        pairs = torch.cat((torch.eye(2, dtype=dtype)[None], drawn((15, 2, 2), dtype, 4)))
        q, k = (x[None, :, None] for x in pairs.unbind(1))
        for t, s in ((5, 2), (2, 5), (1, 0), (0, 1), (FAR, FAR + 3)):
            found = score(*(turned(x, waves, torch.tensor([p])) for x, p in ((q, t), (k, s))))
            known = [exact.rotary_score(x.double(), y.double(), waves, t, s) for x, y in pairs]
            error = found.found.flatten() - torch.tensor(known, dtype=torch.float64)
            where = f"head_dim 2, query at {t}, key at {s}"
            yield Case(error.abs(), found.error.flatten(), name_of(dtype), where)


@measures("cosine-only")
def cosine_only() -> Iterator[Case]:
    """The kernel's score minus (q·k) cos ω(t-s), for q = (1, 0), k = (0, 1)."""
    waves = frequencies(10000, 2)
    for dtype in DTYPES:
        q, k = (x.reshape(1, 1, 1, 2) for x in torch.eye(2, dtype=dtype))
        found = score(turned(q, waves, torch.tensor([5])), turned(k, waves, torch.tensor([2])))
        yield Case(found.found.abs(), found.error, name_of(dtype), "q = (1, 0) at 5, k = (0, 1) at 2")


@measures("turn-flow")
def turn_flow() -> Iterator[Case]:
    """cos ωt and sin ωt of the tables against balls."""
    ids, waves = torch.tensor([0, 1, 2, 3, 10, 1000, 131071, FAR, -FAR]), frequencies(10000, 64)
    known = exact_table(waves, tuple(ids.tolist()))
    for dtype in (torch.float64, torch.float32):
        for found, entry in zip(numeric.rotary_table(waves, ids, dtype=dtype), known, strict=True):
            bound = budget.table_entry(angles(waves, ids), dtype, value=entry.abs())
            where = f"table for head_dim 64, positions {ids.tolist()}"
            yield Case((found.double() - entry).abs(), bound, name_of(dtype), where)


@measures("levels")
def levels() -> Iterator[Case]:
    """The block-diagonal matrix, multiplied out in fractions, against the kernel on the same cos and sin."""
    for head_dim in (2, 8, 32):
        waves, ids = frequencies(10000, head_dim), torch.tensor([1, 50])
        for dtype in DTYPES:
            single = 1.5 * torch.eye(head_dim, dtype=dtype)[None, :, None].expand(-1, -1, 2, -1)
            x = torch.cat((drawn((1, 16, 2, head_dim), dtype, 5), single), dim=1)
            table = numeric.rotary_table(waves, ids, dtype=arithmetic(dtype))
            found = numeric.rotary_embedding(x, *table)
            bound = turned_by(x, found, table, [torch.zeros(table[0].shape)] * 2, False).error
            error = (found.double() - dense_product(table, x)).abs()
            yield Case(error, bound, name_of(dtype), f"head_dim {head_dim}, positions {ids.tolist()}")


def dense_product(table: tuple[Tensor, Tensor], x: Tensor) -> Tensor:
    """The matrix with cos on its diagonal and ∓sin at distance d/2, one a token, times x."""
    c, s = (entry.double().diag_embed() for entry in table)
    dense = torch.cat((torch.cat((c, -s), -1), torch.cat((s, c), -1)), -2)
    return torch.stack([exact_product(matrix, x[:, :, time]) for time, matrix in enumerate(dense)], dim=2)


@measures("half-split", small=LIBRARY)
def half_split() -> Iterator[Case]:
    """Rows scored interleaved, and permuted rows scored half-split, against the exact interleaved score."""
    positions = (torch.tensor([7]), torch.tensor([3]))
    for head_dim in (2, 6, 64):
        for dtype in DTYPES:
            rows = [drawn((16 * head_dim,), dtype, seed) for seed in (6, 7)]
            permuted = [numeric.permute_qk(x, 16, to="half") for x in rows]
            old, new = (
                scores_of([x.reshape(1, 16, 1, head_dim) for x in pair], positions, kind)
                for pair, kind in ((rows, True), (permuted, False))
            )
            for found, name in ((old, "rows as they were"), (new, "rows permuted")):
                where = f"head_dim {head_dim}, 16 heads, positions 7 and 3, {name}"
                yield Case((found.found - old.known).abs(), found.error, name_of(dtype), where)


def scores_of(vectors: Sequence[Tensor], positions: Sequence[Tensor], interleaved: bool) -> Measured:
    """The score of a query and a key, each turned at its own position."""
    waves = frequencies(10000, vectors[0].shape[-1])
    pairs = zip(vectors, positions, strict=True)
    return score(*(turned(x, waves, place, interleaved=interleaved) for x, place in pairs))


@measures("rotated-values", small=LIBRARY)
def rotated_values() -> Iterator[Case]:
    """A value turned at s and turned back at t, against the exact turn by s - t."""
    t, s, waves = torch.tensor([9, 3, FAR]), torch.tensor([4, 8, FAR - 5]), frequencies(10000, 8)
    for dtype in DTYPES:
        v = drawn((1, 32, 3, 8), dtype, 8)
        there = turned(v, waves, s)
        back = turned(there.found.to(dtype), waves, t, inverse=True)
        known = turned(v, waves, s - t).known
        where = f"head_dim 8, values at {s.tolist()}, outputs at {t.tolist()}"
        yield Case(
            (back.found - known).abs(), back.error + carried(there.error, waves, t), name_of(dtype), where
        )


def carried(error: Tensor, waves: Frequencies, ids: Tensor) -> Tensor:
    """|R(ωt)| times an error of the input."""
    c, s = (entry.abs() for entry in exact_table(waves, tuple(ids.tolist())))
    x0, x1 = split_pairs(error, False)
    return join_pairs(x0 * c + x1 * s, x0 * s + x1 * c, False)


@measures("worked-example", small=LIBRARY)
def worked_example() -> Iterator[Case]:
    """All planes (1, 0) at d = 16: the kernel's score against Σ cos ω_k(t-s)."""
    waves = frequencies(10000, 16)
    for dtype in DTYPES:
        x = torch.tensor([1.0, 0.0] * 8, dtype=dtype).reshape(1, 1, 1, 16)
        for t, s in ((5, 2), (13, 10), (103, 100), (7, 0)):
            found = score(*(turned(x, waves, torch.tensor([p]), interleaved=True) for p in (t, s)))
            ones = x.flatten().double()
            known = exact.rotary_score(ones, ones, waves, t, s, interleaved=True)
            yield Case(
                (found.found - known).abs(),
                found.error,
                name_of(dtype),
                f"query at {t}, key at {s}, against {known:.15f}",
            )
