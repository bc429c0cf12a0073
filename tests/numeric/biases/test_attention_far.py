"""A slide over 65536 positions: as accurate as an exact mask in the same dtype; memory linear in time."""

import math
import subprocess
import sys

import pytest
import torch
from exptx.numeric import alibi_attention
from exptx.numeric.biases.ops import SLIDE
from torch.nn.functional import scaled_dot_product_attention

FAR, QUERIES, D = 65536, 600, 64
SLOPES = torch.tensor([2**-0.5, 0.8409, 2.0**-8], dtype=torch.float64)
ROWS = slice(0, QUERIES, 12)
IDS = torch.arange(FAR - QUERIES, FAR)


@pytest.fixture(scope="module")
def drawn():
    """The last 600 queries of 65536 tokens, float64."""
    generator = torch.Generator().manual_seed(1)
    shapes = (QUERIES, FAR, FAR)
    return tuple(torch.randn(1, len(SLOPES), n, D, generator=generator, dtype=torch.float64) for n in shapes)


def bias(rows=ROWS):
    gap = (IDS[rows, None] - torch.arange(FAR)).double()
    return (-SLOPES[:, None, None] * gap).masked_fill(gap < 0, -math.inf)[None]


def largest_error(out, given):
    """The largest error of every head against all pairs in float64, for inputs in the dtype that was used."""
    q, k, v = (x.double() for x in given)
    known = (D**-0.5 * q[:, :, ROWS] @ k.mT + bias()).softmax(-1) @ v
    return (out.double() - known).abs().amax((0, 2, 3))


def masked(given):
    """Attention with an exact mask in the same dtype, and with one that is not even rounded to it."""
    q, k, v = given
    wide = torch.float32 if q.dtype != torch.float64 else torch.float64
    return [
        scaled_dot_product_attention(q[:, :, ROWS], k, v, attn_mask=bias().to(dtype))
        for dtype in (q.dtype, wide)
    ]


def through_kernel(q, k, v):
    """The slots in the dtype of q itself, as on a CPU that multiplies half precision in tiles."""
    ids, keys = IDS[None], torch.arange(FAR)[None]
    return SLIDE(q, k, v, SLOPES, ids, keys, None, True, False, D**-0.5)[0]


def public(q, k, v):
    return alibi_attention(q, k, v, SLOPES, position_ids=IDS)


@pytest.mark.parametrize("run", [public, through_kernel])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_the_error_is_at_most_four_times_that_of_an_exact_mask(dtype, run, drawn):
    given = [x.to(dtype) for x in drawn]
    out = run(*given)[:, :, ROWS]
    assert out.isfinite().all()
    ours = largest_error(out, given)
    for mask in masked(given):
        assert (ours <= 4 * largest_error(mask, given)).all()


def test_one_centre_for_all_loses(drawn):
    """-m t + m s counted from 0, in two slots: 65536 m in a sum of float32; in float16 no number at all."""
    errors = {}
    for dtype in (torch.float32, torch.float16):
        q, k, v = (x.to(dtype) for x in drawn)
        rows, keys = q[:, :, ROWS], torch.arange(FAR).to(dtype)
        moved = (SLOPES * D**0.5)[None, :, None, None].to(dtype)
        ones = torch.ones_like(rows[..., :1])
        longer_q = torch.cat((rows, -moved * IDS[ROWS, None].to(dtype), moved * ones), dim=-1)
        longer_k = torch.cat((k, torch.ones_like(k[..., :1]), keys[:, None].expand(1, 3, -1, 1)), dim=-1)
        seen = torch.arange(FAR) <= IDS[ROWS, None]
        out = scaled_dot_product_attention(longer_q, longer_k, v, attn_mask=seen, scale=D**-0.5)
        errors[dtype] = largest_error(out, (q, k, v)), largest_error(masked((q, k, v))[0], (q, k, v))
    ours, mask = errors[torch.float32]
    assert (ours > 4 * mask).any()
    assert errors[torch.float16][0].isnan().any()


PEAK = """
import re, sys, torch
from pathlib import Path
from exptx.numeric import alibi_attention, alibi_slopes
def run(tokens):
    q, k, v = (x.requires_grad_() for x in torch.randn(3, 1, 4, tokens, 32).unbind(0))
    alibi_attention(q, k, v, alibi_slopes(4)).sum().backward()
def peak():
    return int(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1])
run(600)
before = peak()
run(int(sys.argv[1]))
print(peak() - before)
"""


def test_memory_grows_like_time_forwards_and_backwards():
    lengths = (2048, 4096, 8192)
    runs = [
        subprocess.run([sys.executable, "-c", PEAK, str(n)], capture_output=True, text=True) for n in lengths
    ]
    assert all(run.returncode == 0 for run in runs), runs[0].stderr
    peaks = [int(run.stdout) for run in runs]  # KiB
    # four times the length: four times the memory, where a bias for all pairs asks for sixteen times
    assert peaks[2] < 8 * peaks[0]
    assert 1024 * peaks[2] < 4 * lengths[2] ** 2 / 2  # half of one head of such a bias
