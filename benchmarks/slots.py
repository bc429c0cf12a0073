"""How fast a slide is in slots of q and k: `alibi_attention` beside scaled_dot_product_attention with a mask.

Causal, 8 heads of 64 features; contestants take turns on the same tensors, outputs are compared before.

    slots      alibi_attention: no bias for all pairs
    built      the mask is formed, rounded to the dtype, and given to scaled_dot_product_attention
    prebuilt   the same without the time of forming it
    causal     no bias at all: what the kernel costs by itself
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import torch
from exptx.numeric import alibi_attention, alibi_slopes
from exptx.numeric.rounding import unit_roundoff
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

HEADS, HEAD_DIM, TOKENS = 8, 64, 4096
WANTED = {"built": 4.0, "prebuilt": 1.4}


def mask(slopes: Tensor, tokens: int, dtype: torch.dtype) -> Tensor:
    """-m (t - s), -∞ for hidden pairs, (1, heads, tokens, tokens), formed as a careful user would."""
    t = torch.arange(tokens)
    gap = t[:, None] - t
    return (-slopes[:, None, None] * gap).masked_fill(gap < 0, -math.inf)[None].to(dtype)


def contestants(tokens: int, dtype: torch.dtype) -> dict[str, Callable[[], Tensor]]:
    """Every contestant on the same q, k and v."""
    generator = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 1, HEADS, tokens, HEAD_DIM, generator=generator).to(dtype).unbind(0)
    slopes = alibi_slopes(HEADS)
    prebuilt = mask(slopes, tokens, dtype)
    return {
        "slots": lambda: alibi_attention(q, k, v, slopes),
        "built": lambda: scaled_dot_product_attention(q, k, v, attn_mask=mask(slopes, tokens, dtype)),
        "prebuilt": lambda: scaled_dot_product_attention(q, k, v, attn_mask=prebuilt),
        "causal": lambda: scaled_dot_product_attention(q, k, v, is_causal=True),
    }


def check(runs: dict[str, Callable[[], Tensor]], dtype: torch.dtype) -> None:
    """Stop unless slots and mask agree: a bias up to 2^5 weighs, rounded to the dtype, on values up to 5."""
    apart = (runs["slots"]().double() - runs["prebuilt"]().double()).abs().max().item()
    allowed = 2**5 * 5 * unit_roundoff(dtype)
    if not apart <= allowed:
        raise SystemExit(
            f"{dtype}: slots and mask differ by {apart:.2g}, more than {allowed:.2g}; nothing is timed"
        )


def measure(runs: dict[str, Callable[[], Tensor]], rounds: int) -> dict[str, list[float]]:
    """Seconds of every run, taken in turn."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return seconds


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


def show(dtype: torch.dtype, tokens: int, rounds: int) -> None:
    """Medians, spreads, and ratios to the slots beside those that are wanted."""
    runs = contestants(tokens, dtype)
    check(runs, dtype)
    seconds = measure(runs, rounds)
    ours = median(seconds["slots"])
    print(f"{dtype}, {HEADS} heads, {tokens} tokens, {torch.get_num_threads()} threads")
    for name, found in seconds.items():
        wanted = f"  (wanted: at least {WANTED[name]})" if name in WANTED else ""
        spread = f"[{1000 * min(found):.0f} … {1000 * max(found):.0f}]"
        print(f"  {name:9} {1000 * median(found):6.0f} ms  {spread:15} x {median(found) / ours:.2f}{wanted}")


def main() -> None:
    """Every dtype in turn, then the memory of one call at T, 2T and 4T."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--tokens", type=int, default=TOKENS)
    given = parser.parse_args()
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        show(dtype, given.tokens, given.rounds)
    if Path("/proc/self/status").exists():
        peaks = {n: peak_memory(n) for n in (given.tokens, 2 * given.tokens, 4 * given.tokens)}
        print(
            "memory of one call: " + ", ".join(f"{n} tokens {kib / 1024:.0f} MiB" for n, kib in peaks.items())
        )


if __name__ == "__main__":
    main()
