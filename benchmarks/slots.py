"""Biases without a mask: `alibi_attention` beside scaled_dot_product_attention, causal, heads of 64 features.

slots            alibi_attention: no bias for all pairs
mask built       the mask is formed, rounded to the dtype, and given to scaled_dot_product_attention
mask prebuilt    the same without the time of forming it
no bias          what the kernel costs by itself
"""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from ..numeric.biases.attention import alibi_attention
from ..numeric.biases.slopes import alibi_slopes
from ..numeric.rounding import unit_roundoff
from .race import TIMED, Race, Row, judged, timed

HEADS, HEAD_DIM, TOKENS = 8, 64, 4096
SLOTS_ALLOWANCE = 4  # that their error keeps to, times that of a mask, is tested elsewhere
SLOTS, BUILT, PREBUILT, NO_BIAS = "slots", "mask built", "mask prebuilt", "no bias"
Runs = dict[str, Callable[[], Tensor]]


def mask(slopes: Tensor, tokens: int, dtype: torch.dtype) -> Tensor:
    """-m (t - s), -∞ for hidden pairs, (1, heads, tokens, tokens), formed as a careful user would."""
    t = torch.arange(tokens)
    gap = t[:, None] - t
    return (-slopes[:, None, None] * gap).masked_fill(gap < 0, -math.inf)[None].to(dtype)


def inputs(tokens: int, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """q, k and v, each (1, heads, tokens, features)."""
    generator = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 1, HEADS, tokens, HEAD_DIM, generator=generator).to(dtype).unbind(0)
    return q, k, v


def contestants(q: Tensor, k: Tensor, v: Tensor) -> Runs:
    """Everyone on the same q, k and v."""
    slopes, tokens = alibi_slopes(HEADS), q.shape[2]
    prebuilt = mask(slopes, tokens, q.dtype)
    return {
        SLOTS: lambda: alibi_attention(q, k, v, slopes),
        BUILT: lambda: scaled_dot_product_attention(q, k, v, attn_mask=mask(slopes, tokens, q.dtype)),
        PREBUILT: lambda: scaled_dot_product_attention(q, k, v, attn_mask=prebuilt),
        NO_BIAS: lambda: scaled_dot_product_attention(q, k, v, is_causal=True),
    }


def oracle(q: Tensor, k: Tensor, v: Tensor, rows: Tensor, biased: bool) -> tuple[Tensor, Tensor]:
    """(exact, budget) of the queries `rows` in float64, with an exact bias.

    A logit is off by r: the bias is rounded to the dtype, the sum over features and the bias are formed in
    float32. A weight then moves by e^r - 1 relatively, is rounded to the dtype, and γ of its sum, and
    the output by Σ p δ (|v| + |o|) with these δ, and by its own rounding.
    """
    u, single = unit_roundoff(q.dtype), unit_roundoff("float32")
    products = q[:, :, rows].double(), k.double()
    gap = rows[:, None] - torch.arange(k.shape[2])
    bias = alibi_slopes(HEADS).double()[:, None, None] * gap * biased
    logits = products[0] @ products[1].mT / HEAD_DIM**0.5 - bias
    weights = logits.masked_fill(gap < 0, -math.inf).softmax(-1)
    exact = weights @ v.double()
    size = products[0].abs() @ products[1].abs().mT / HEAD_DIM**0.5 + bias.abs()
    moved = (u * bias.abs() + (HEAD_DIM + 4) * single * size).expm1() + u + k.shape[2] * single
    spread = weights * moved
    return exact, spread @ v.double().abs() + (spread.sum(-1, keepdim=True) + u) * exact.abs()


def used(run: Callable[[], Tensor], name: str, given: tuple[Tensor, Tensor, Tensor]) -> float:
    """The largest share of its error budget, at every 64th part of the queries."""
    tokens = given[0].shape[2]
    rows = torch.arange(tokens - 1, -1, -max(tokens // 64, 1))
    exact, budget = oracle(*given, rows, name != NO_BIAS)
    off = (run()[:, :, rows].double() - exact).abs()
    return (off / (budget * (SLOTS_ALLOWANCE if name == SLOTS else 1))).max().item()


def title(dtype: torch.dtype) -> str:
    """Such as "slots, float16"."""
    return f"slots, {str(dtype).removeprefix('torch.')}"


def race(dtype: torch.dtype, rounds: int, tokens: int = TOKENS) -> Race:
    """Those who are right are timed."""
    given = inputs(tokens, dtype)
    runs = contestants(*given)
    kinds = {SLOTS: "ours", NO_BIAS: "limit"}
    rows = [
        judged(Row(name, kinds.get(name, "eager"), "fresh", TIMED), used(run, name, given))
        for name, run in runs.items()
    ]
    return Race("slots", title(dtype), tuple(given[0].shape), timed(rows, runs, rounds))


PEAK = """
import re, sys, torch
from pathlib import Path
from exptx.numeric import alibi_attention, alibi_slopes
peak = lambda: int(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1])
run = lambda n: alibi_attention(*torch.randn(3, 1, 8, n, 64), alibi_slopes(8))
run(600)
before = peak()
run(int(sys.argv[1]))
print(peak() - before)
"""


def peak_memory(tokens: int) -> int:
    """KiB that one call at this length adds to the peak of a fresh process (Linux)."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(tokens)], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def memory(rounds: int, tokens: int = TOKENS) -> Race:
    """What one call needs at T, 2T and 4T, said in the note; it is not timed, whatever the rounds."""
    lengths = (tokens, 2 * tokens, 4 * tokens)
    if not Path("/proc/self/status").exists():
        return Race("slots", "memory of slots", lengths, (), "this system tells no peaks")
    said = [f"{n} tokens {peak_memory(n) / 1024:.0f} MiB" for n in lengths]
    return Race("slots", "memory of slots", lengths, (), "one call adds " + ", ".join(said))


__all__ = ["contestants", "inputs", "mask", "memory", "oracle", "peak_memory", "race", "title", "used"]
