"""How far behind a query a key can be under a slide and still have a weight other than 0.

With |σ q·k| <= B for all pairs and a key in sight at the gap u_0, a key at the gap u has the logit

    l(u) - max <= (B - m u) - (-B - m u_0) = 2B - m (u - u_0),

and a weight below the smallest normal number of the arithmetic, 2^-126 in float32, beyond

    u = u_0 + (2B - ln tiny)/m:

softmax itself makes 0 of it. B = σ max‖q‖ max‖k‖ is measured, so no assumption is made on q and k.
"""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor

from ..validation import compute_dtype
from .pieces import LEAF

_ROUNDING = 1.001  # norms in float32, and logits that the kernel rounds: γ_D < 2^-10 up to D = 2^14


def reaches(q: Tensor, k: Tensor, slopes: Tensor, scale: float, nearest: float) -> list[float]:
    """The gap in positions beyond which nothing weighs, for every key head; infinite where a slope is 0.

    q: (B, H, Tq, d); k: (B, key heads, Tk, d); slopes: (1 or B, H); nearest: the largest u_0 of a query.
    """
    longest_q, longest_k = (
        torch.linalg.vector_norm(x, dim=-1, dtype=compute_dtype(x.dtype)).amax(-1).double() for x in (q, k)
    )
    bound = scale * longest_q * longest_k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)
    needed = 2 * _ROUNDING * bound - math.log(torch.finfo(compute_dtype(q.dtype)).tiny)
    gaps = (needed / slopes + nearest).unflatten(1, (k.shape[1], -1)).amax((0, 2))
    return [gap if gap == gap else math.inf for gap in gaps.tolist()]  # NaN in, no bound


def nearest_gap(query_ids: Tensor, key_ids: Tensor, causal: bool) -> float:
    """The largest u_0: how far the nearest key in sight is, for the query that has it farthest; ids ascend.

    Queries that see nothing do not count.
    """
    place = torch.searchsorted(key_ids, query_ids, right=True)
    behind = query_ids - key_ids[(place - 1).clamp(min=0)]
    ahead = key_ids[place.clamp(max=len(key_ids) - 1)] - query_ids
    first, last = place == 0, place == len(key_ids)
    if causal:
        gaps = torch.where(first, torch.zeros_like(behind), behind)
    else:
        gaps = torch.where(first, ahead, torch.where(last, behind, torch.minimum(ahead, behind)))
    return float(gaps.max())


def classes(found: list[float], span: float, queries: int) -> list[tuple[slice, float]]:
    """Runs of heads of like reach: infinite, or span/4, span/16, …, down to that of LEAF queries or fewer."""
    least = max(1, math.ceil(math.log(max(queries / LEAF, 1), 4)))
    wide = [_class(gap, span, least) for gap in found]
    cuts = [0, *(i for i in range(1, len(wide)) if wide[i] != wide[i - 1]), len(wide)]
    return [(slice(a, b), wide[a]) for a, b in itertools.pairwise(cuts)]


def _class(gap: float, span: float, least: int) -> float:
    """The smallest span/4^n, n >= 1, that is not below the gap: no rectangle is longer than span/2 anyway."""
    if gap > span / 4:
        return math.inf
    halvings = math.frexp(span / gap)[1] - 1
    return span / 4 ** min(least, halvings // 2)


__all__ = ["classes", "nearest_gap", "reaches"]
