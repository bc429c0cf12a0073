"""Kernels for GPUs from other libraries, each called as its documentation does, on memory that it likes."""

from __future__ import annotations

from importlib.util import find_spec

import torch
from torch import Tensor

from .budgets import Policy
from .case import Absent, Contestant, Pair, Stage
from .peers import imported


def gpu_peers(stage: Stage) -> list[Contestant | Absent]:
    """flash-attn and Liger, forward; neither is part of an extra, for both need a GPU to be installed."""
    return [_flash_attn(stage), _liger(stage)]


def _flash_attn(stage: Stage) -> Contestant | Absent:
    """Takes (batch, time, heads, head_dim) of any strides, and tables in the dtype of the queries."""
    name, case = "flash-attn", stage.case
    if case.learns:
        return Absent(name, "peer", "raced forward only")
    if find_spec("flash_attn") is None:
        return Absent(name, "peer", "not installed")
    apply = imported("flash_attn.ops.triton.rotary").apply_rotary
    # A row a token; of one token a sequence, a row a sequence, which is told where its rows begin.
    angle, offsets = stage.angle, 0
    if angle.ndim == 3:
        angle, offsets = angle[:, 0], torch.arange(case.batch, device=angle.device)
    cos, sin = angle.cos().to(case.dtype), angle.sin().to(case.dtype)

    def turned(x: Tensor) -> Tensor:
        y = apply(x.transpose(1, 2), cos, sin, seqlen_offsets=offsets, interleaved=case.interleaved)
        return y.transpose(1, 2)

    policy = Policy(case.dtype, torch.float32)
    return Contestant(name, "peer", "fresh", lambda: (turned(stage.q), turned(stage.k)), policy)


def _liger(stage: Stage) -> Contestant | Absent:
    """Turns in place what lies in memory as (batch, time, heads, head_dim), with tables of full width."""
    name, case = "Liger", stage.case
    if case.learns:
        return Absent(name, "peer", "raced forward only")
    if case.interleaved:
        return Absent(name, "peer", "turns half-split planes only")
    if find_spec("liger_kernel") is None:
        return Absent(name, "peer", "not installed")
    apply = imported("liger_kernel.transformers.rope").liger_rotary_pos_emb
    cos, sin = stage.wide.cos().float(), stage.wide.sin().float()
    # Copies, and so with the strides of that memory also where a dimension of one leaves them open.
    q, k = (
        x.transpose(1, 2).clone(memory_format=torch.contiguous_format).transpose(1, 2)
        for x in (stage.q, stage.k)
    )

    def run() -> Pair:
        return tuple(apply(q, k, cos, sin)[:2])

    return Contestant(name, "peer", "in place", run, Policy(torch.float32, torch.float32))


__all__ = ["gpu_peers"]
