"""For FlexAttention: biases and decays of the gap as `score_mod`, visibility by position as `mask_mod`.

    flex_attention(q, k, v, score_mod=alibi_score_mod(slopes),
                   block_mask=create_block_mask(causal_mask_mod(), B=None, H=None, Q_LEN=T, KV_LEN=T))

The score that a `score_mod` gets is already scaled: score = scale · q·k. The gap u = t - s of whole positions
is exact, and multiplied once in the dtype of the rates: the bias is off by 2^-24 of itself in float32.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ...symbolic.catalogue.steps import bucket_starts
from ..errors import BadTensor
from ..validation import check_position_ids, check_tensor

ScoreMod = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]
MaskMod = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def alibi_score_mod(
    slopes: Tensor,
    *,
    symmetric: bool = False,
    position_ids: Tensor | None = None,
    key_position_ids: Tensor | None = None,
) -> ScoreMod:
    """score - m (t - s), or score - m |t - s| with symmetric.

    slopes: m (1/position), (heads,) or (batch, heads), on the device of q. position_ids: (Tq,) or
    (batch, Tq); key_position_ids: (Tk,) or (batch, Tk), those of the queries if None; without either, tokens
    count from 0. Without symmetric the bias grows for keys ahead: use a causal mask.
    BadTensor or BadDtype name the argument.
    """
    slope, gap = _per_head(slopes, "slopes"), _gap(position_ids, key_position_ids, symmetric)
    return lambda score, b, h, i, j: score - slope(b, h) * gap(b, i, j)


def decay_score_mod(
    rates: Tensor,
    *,
    symmetric: bool = False,
    position_ids: Tensor | None = None,
    key_position_ids: Tensor | None = None,
) -> ScoreMod:
    """score · e^{-γ(t - s)}, or score · e^{-γ|t - s|} with symmetric: the decay of the scores before softmax.

    rates: γ >= 0 (1/position), (heads,) or (batch, heads); position_ids, key_position_ids as for
    `alibi_score_mod`. Without symmetric keys ahead, which a causal mask hides, are taken at the gap 0: no
    factor ever grows. Raises BadTensor, BadDtype.
    """
    rate, gap = _per_head(rates, "rates"), _gap(position_ids, key_position_ids, symmetric)
    return lambda score, b, h, i, j: score * torch.exp(-rate(b, h) * gap(b, i, j).clamp(min=0))


def table_score_mod(
    values: Tensor, *, position_ids: Tensor | None = None, key_position_ids: Tensor | None = None
) -> ScoreMod:
    """score + values[h, u + r] with the gap u = t - s clipped to -r … r.

    values: (heads, 2r + 1), the bias at u = -r, …, r. position_ids, key_position_ids: whole, as for
    `alibi_score_mod`. Raises BadTensor, BadDtype.
    """
    values = check_tensor(values, "values")
    if values.ndim != 2 or values.shape[1] % 2 == 0:
        raise BadTensor(f"values has shape {tuple(values.shape)}; (heads, 2r + 1), at gaps -r … r, works")
    reach, gap = values.shape[1] // 2, _gap(position_ids, key_position_ids, False, whole=True)
    return lambda score, b, h, i, j: score + values[h, gap(b, i, j).clamp(-reach, reach) + reach]


def t5_score_mod(
    table: Tensor,
    *,
    max_distance: int = 128,
    bidirectional: bool = True,
    position_ids: Tensor | None = None,
    key_position_ids: Tensor | None = None,
) -> ScoreMod:
    """score + table[bucket(s - t), h]: the relative bias of T5.

    table: (num_buckets, heads), as `relative_attention_bias.weight` of transformers. bidirectional: the
    second half of the buckets is for keys ahead (encoders), else those share bucket 0 (decoders). Bucket
    edges, up to max_distance, are decided in whole numbers; position_ids, key_position_ids as for
    `alibi_score_mod`. T5 does not scale scores: call flex_attention with scale=1.0. Raises BadTensor.
    Source: Raffel et al., arXiv 1910.10683.
    """
    table = check_tensor(table, "table")
    sides = 2 if bidirectional else 1
    if table.ndim != 2 or table.shape[0] % sides or table.shape[0] < 2 * sides:
        raise BadTensor(
            f"table has shape {tuple(table.shape)}; (num_buckets, heads), num_buckets even, works"
        )
    count = table.shape[0] // sides
    if isinstance(max_distance, bool) or not isinstance(max_distance, int) or max_distance <= count // 2:
        raise BadTensor(f"max_distance is {max_distance!r}; a whole number above {count // 2} works")
    starts = torch.tensor(bucket_starts(count, max_distance))
    distances = torch.arange(int(starts[-1]) + 1)
    behind = torch.searchsorted(starts, distances, right=True) - 1
    ahead = behind + count if bidirectional else torch.zeros_like(behind)
    buckets = torch.cat((ahead.flip(0)[:-1], behind)).to(table.device)
    return table_score_mod(table[buckets].T, position_ids=position_ids, key_position_ids=key_position_ids)


def causal_mask_mod(position_ids: Tensor | None = None, key_position_ids: Tensor | None = None) -> MaskMod:
    """Whether s <= t, by position: for create_block_mask.

    position_ids, key_position_ids as for `alibi_score_mod`. Raises BadTensor, BadDtype.
    """
    gap = _gap(position_ids, key_position_ids, False)
    return lambda b, h, i, j: gap(b, i, j) >= 0


def _per_head(x: Tensor, name: str) -> Callable[[Tensor, Tensor], Tensor]:
    x = check_tensor(x, name)
    if x.ndim not in (1, 2):
        raise BadTensor(f"{name} has shape {tuple(x.shape)}; (heads,) or (batch, heads) works")
    return (lambda b, h: x[h]) if x.ndim == 1 else (lambda b, h: x[b, h])


def _gap(
    position_ids: Tensor | None, key_position_ids: Tensor | None, symmetric: bool, whole: bool = False
) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """(b, i, j) -> t - s, or |t - s|."""
    keys, name = (
        (position_ids, "position_ids") if key_position_ids is None else (key_position_ids, "key_position_ids")
    )
    query, key = _place(position_ids, "position_ids", whole), _place(keys, name, whole)
    if symmetric:
        return lambda b, i, j: (query(b, i) - key(b, j)).abs()
    return lambda b, i, j: query(b, i) - key(b, j)


def _place(ids: Tensor | None, name: str, whole: bool) -> Callable[[Tensor, Tensor], Tensor]:
    """(b, i) -> the position of token i."""
    if ids is None:
        return lambda b, i: i
    ids = check_position_ids(ids, name)
    if ids.is_floating_point():
        if whole:
            raise BadTensor(f"{name} has dtype {ids.dtype}, but a table is read at whole gaps; integers work")
    else:
        ids = ids.long()
    if ids.ndim == 1 or len(ids) == 1:
        row = ids.reshape(-1)
        return lambda b, i: row[i]
    return lambda b, i: ids[b, i]


__all__ = ["alibi_score_mod", "causal_mask_mod", "decay_score_mod", "t5_score_mod", "table_score_mod"]
