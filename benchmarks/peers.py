"""Contestants from other libraries, each called as its own documentation does; what is not installed is said.

They come with the extra `bench`. Tables are formed before: cos and sin in the dtype of the queries where a
library multiplies in it, angles where a library takes angles.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor

from .budgets import Policy
from .case import Absent, Contestant, Pair, Stage, with_gradients

Turn = Callable[[Tensor, Tensor], Pair]


def peers(stage: Stage, compiled: bool = True) -> list[Contestant | Absent]:
    """Those whose pairing is that of the stage. compiled: also those that torch.compile compiles."""
    found: list[Contestant | Absent] = []
    if stage.case.interleaved:
        found += [_rotary_embedding_torch(stage), _x_transformers(stage)]
    else:
        found += [_hugging_face(stage, compile_it) for compile_it in (False, True)[: 1 + compiled]]
    return [*found, _onnx(stage)]


def _contestant(name: str, stage: Stage, turn: Turn, policy: Policy) -> Contestant:
    """Autograd rounds both terms of a gradient, and their sum, to the dtype of the queries."""
    if stage.case.learns:
        back = replace(policy, arithmetic=stage.case.dtype)
        return Contestant(name, "peer", "forward + backward", with_gradients(stage, turn), policy, back)
    return Contestant(name, "peer", "fresh", lambda: turn(stage.q, stage.k), policy)


def imported(module: str) -> Any:
    with warnings.catch_warnings():  # about their own use of torch
        warnings.simplefilter("ignore")
        return import_module(module)


def _hugging_face(stage: Stage, compiled: bool) -> Contestant | Absent:
    name = f"transformers {'compiled' if compiled else 'eager'}"
    if find_spec("transformers") is None:
        return Absent(name, "peer", "not installed")
    apply = imported("transformers.models.llama.modeling_llama").apply_rotary_pos_emb
    if compiled:
        torch._dynamo.reset()
        apply = torch.compile(apply)
    dtype = stage.case.dtype
    cos, sin = stage.wide.cos().to(dtype), stage.wide.sin().to(dtype)
    return _contestant(name, stage, lambda q, k: apply(q, k, cos, sin), Policy(dtype, dtype))


def _rotary_embedding_torch(stage: Stage) -> Contestant | Absent:
    if find_spec("rotary_embedding_torch") is None:
        return Absent("rotary-embedding-torch", "peer", "not installed")
    apply = imported("rotary_embedding_torch").apply_rotary_emb
    angles = stage.wide.float()
    angles = angles[:, None] if stage.case.group == "decode" else angles[0]
    policy = Policy(torch.float32, torch.float32, angle=torch.float32)
    return _contestant(
        "rotary-embedding-torch", stage, lambda q, k: (apply(angles, q), apply(angles, k)), policy
    )


def _x_transformers(stage: Stage) -> Contestant | Absent:
    if find_spec("x_transformers") is None:
        return Absent("x-transformers", "peer", "not installed")
    apply = imported("x_transformers.x_transformers").apply_rotary_pos_emb
    angles = stage.wide.float()
    policy = Policy(torch.float32, torch.float32, angle=torch.float32)
    return _contestant("x-transformers", stage, lambda q, k: (apply(q, angles), apply(k, angles)), policy)


def _onnx(stage: Stage) -> Contestant | Absent:
    name, case = "torch.onnx.ops", stage.case
    if case.learns:
        return Absent(name, "peer", "has no gradient")
    if find_spec("torch.onnx.ops") is None:
        return Absent(name, "peer", f"not in torch {torch.__version__}")
    apply = imported("torch.onnx.ops").rotary_embedding
    rows = (case.batch, case.tokens, stage.angle.shape[-1])
    cos, sin = (part(stage.angle).to(case.dtype).expand(rows) for part in (torch.cos, torch.sin))

    def turn(q: Tensor, k: Tensor) -> Pair:
        return tuple(apply(x, cos, sin, interleaved=case.interleaved) for x in (q, k))

    return _contestant(name, stage, turn, Policy(case.dtype, case.dtype))


__all__ = ["imported", "peers"]
