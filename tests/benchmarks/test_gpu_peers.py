"""Other libraries' kernels for GPUs: what they are given is what their signatures ask for."""

from types import SimpleNamespace

import pytest
import torch
from exptx.benchmarks import gpu_peers
from exptx.benchmarks.case import Absent, Case, Stage
from exptx.benchmarks.race import race
from exptx.numeric.layout import join_pairs, split_pairs

CASES = [
    Case(group, dtype, interleaved, batch, 2, tokens)
    for group, batch, tokens in (("prefill", 1, 5), ("decode", 3, 1), ("training", 1, 5))
    for dtype in (torch.float32, torch.bfloat16)
    for interleaved in (False, True)
]


def apply_rotary(x, cos, sin, seqlen_offsets=0, interleaved=False):
    """As flash-attn's: x (batch, time, heads, head_dim); tables (rows, pairs), row offset + time."""
    assert x.dtype == cos.dtype == sin.dtype
    assert cos.ndim == 2
    offsets = (
        seqlen_offsets
        if isinstance(seqlen_offsets, torch.Tensor)
        else torch.full(x.shape[:1], seqlen_offsets)
    )
    assert offsets.shape == x.shape[:1]
    rows = offsets[:, None] + torch.arange(x.shape[1])
    c, s = (table[rows][:, :, None].float() for table in (cos, sin))
    x0, x1 = split_pairs(x.float(), interleaved)
    return join_pairs(x0 * c - x1 * s, x0 * s + x1 * c, interleaved).to(x.dtype)


def liger_rotary_pos_emb(q, k, cos, sin, position_ids=None, unsqueeze_dim=1):
    """As Liger's: q (batch, heads, time, head_dim) over memory (batch, time, heads, head_dim), in place."""
    assert cos.shape == (cos.shape[0], q.shape[2], q.shape[3])
    for x in (q, k):
        assert x.transpose(1, 2).is_contiguous()
        assert x.stride(2) == x.shape[1] * x.shape[3]  # which it steps by from token to token, one token too
        x0, x1 = split_pairs(x.float(), False)
        c, s = (split_pairs(table, False)[0][:, None] for table in (cos, sin))
        x.copy_(join_pairs(x0 * c - x1 * s, x0 * s + x1 * c, False))
    return q, k


@pytest.fixture
def installed(monkeypatch):
    """Both libraries, as far as they are called."""
    modules = {
        "flash_attn.ops.triton.rotary": SimpleNamespace(apply_rotary=apply_rotary),
        "liger_kernel.transformers.rope": SimpleNamespace(liger_rotary_pos_emb=liger_rotary_pos_emb),
    }
    monkeypatch.setattr(gpu_peers, "find_spec", lambda name: name)
    monkeypatch.setattr(gpu_peers, "imported", modules.__getitem__)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_both_are_right_where_they_can_take_part(case):
    stage = Stage.of(case)
    found = race(stage, gpu_peers.gpu_peers(stage), 1)
    takes_part = {"flash-attn": not case.learns, "Liger": not case.learns and not case.interleaved}
    assert {row.name: row.status for row in found.rows} == {
        name: "timed" if there else "absent" for name, there in takes_part.items()
    }


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("case", CASES[:8:2], ids=lambda case: case.name)
def test_a_race_is_not_disturbed_by_who_turns_in_place(case):
    stage = Stage.of(case)
    before = stage.q.clone(), stage.k.clone()
    race(stage, gpu_peers.gpu_peers(stage), 3)
    assert all(map(torch.equal, before, (stage.q, stage.k)))


def test_what_is_not_installed_is_said_to_be_so(monkeypatch):
    monkeypatch.setattr(gpu_peers, "find_spec", lambda name: None)
    found = gpu_peers.gpu_peers(Stage.of(CASES[0]))
    assert [(type(one), one.reason) for one in found] == [(Absent, "not installed")] * 2
