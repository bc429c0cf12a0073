"""Reports on half precision: where the angle, the table, or the sum was rounded."""

from __future__ import annotations

import torch
from mutant import Mutant
from parts import Turn, angles, half, inv_freq, issue, kernel, pull, rotary, turn
from torch import Tensor, nn

HALVES = half(dtype="bfloat16")


def formed(form: Turn) -> Turn:
    """A kernel whose float32 angles come from form(position_ids (B, 1, T, 1), frequencies)."""

    def rotate(x: Tensor, position_ids: Tensor) -> Tensor:
        angle = form(position_ids[:, None, :, None], inv_freq()).float()
        return turn(x, angle.cos(), angle.sin())

    return rotate


def product_in_half(t: Tensor, w: Tensor) -> Tensor:
    return (t.float() * w).half()


def frequencies_in_half(t: Tensor, w: Tensor) -> Tensor:
    return t.float() * w.bfloat16().float()


def positions_in_half(t: Tensor, w: Tensor) -> Tensor:
    return t.half().float() * w


def both_in_half(t: Tensor, w: Tensor) -> Tensor:
    return t.bfloat16() * w.bfloat16()


def by_matmul(x: Tensor, position_ids: Tensor) -> Tensor:
    angle = position_ids[:, :, None].float() @ inv_freq()[None, None]
    return turn(x, angle.cos()[:, None], angle.sin()[:, None])


def by_matmul_guarded(x: Tensor, position_ids: Tensor) -> Tensor:
    with torch.autocast("cpu", enabled=False):
        return by_matmul(x, position_ids)


def table_in_half(x: Tensor, position_ids: Tensor) -> Tensor:
    angle = angles(position_ids, inv_freq())
    return turn(x, angle.cos().bfloat16().float(), angle.sin().bfloat16().float())


def narrow(x: Tensor, position_ids: Tensor) -> Tensor:
    angle = angles(position_ids, inv_freq())
    return turn(x, angle.cos().to(x.dtype), angle.sin().to(x.dtype))


def promoted(x: Tensor, position_ids: Tensor) -> Tensor:
    angle = angles(position_ids, inv_freq())
    x0, x1 = x.chunk(2, -1)
    return torch.cat((x0 * angle.cos() - x1 * angle.sin(), x0 * angle.sin() + x1 * angle.cos()), -1)


def cosine_of_half(x: Tensor, position_ids: Tensor) -> Tensor:
    angle = angles(position_ids, inv_freq()).half()
    return turn(x, angle.cos().float(), angle.sin().float())


def rounded_after(x: Tensor, position_ids: Tensor) -> Tensor:
    """In float32 throughout; the result in the format of x."""
    return rotary()(x.float(), position_ids).to(x.dtype)


class Buffered(nn.Module):
    """Frequencies in a buffer that casts with the module, or formed in each call."""

    def __init__(self, kept: bool):
        super().__init__()
        self.kept = kept
        self.register_buffer("inv_freq", inv_freq(), persistent=False)

    def forward(self, x: Tensor, position_ids: Tensor) -> Tensor:
        frequencies = self.inv_freq.float() if self.kept else inv_freq()
        return rotary(frequencies)(x.float(), position_ids).to(x.dtype)


MUTANTS = [
    Mutant(
        "P01",
        (issue("EleutherAI/gpt-neox", 1003),),
        "the product of position and frequency is rounded to half precision before the cosine",
        kernel(formed(product_in_half)),
        kernel(rotary()),
        ("angle-precision",),
        "float16",
    ),
    Mutant(
        "P02",
        (issue("huggingface/transformers", 25681), pull("huggingface/transformers", 29285)),
        "frequencies are a buffer that the module's cast rounds, and no later cast mends",
        kernel(Buffered(True), HALVES),
        kernel(Buffered(False), HALVES),
        ("module-cast",),
        "buffer",
    ),
    Mutant(
        "P03",
        (issue("NVIDIA/Megatron-LM", 535),),
        "positions are cast to float16: many become one above 2048",
        kernel(formed(positions_in_half)),
        kernel(rotary()),
        ("angle-precision",),
        "positions rounded to float16",
    ),
    Mutant(
        "P05",
        (pull("huggingface/candle", 3520),),
        "positions and frequencies are cast to bfloat16 before the product",
        kernel(formed(both_in_half)),
        kernel(rotary()),
        ("angle-precision",),
        "bfloat16",
    ),
    Mutant(
        "P07",
        (issue("huggingface/diffusers", 13920), pull("huggingface/diffusers", 13922)),
        "angles come from a matrix product, which autocast runs in bfloat16",
        kernel(by_matmul),
        kernel(by_matmul_guarded),
        ("autocast",),
        "matrix product",
    ),
    Mutant(
        "P09",
        (pull("deepspeedai/Megatron-DeepSpeed", 206),),
        "the cosine is taken of an angle in float16",
        kernel(cosine_of_half),
        kernel(rotary()),
        ("angle-precision",),
        "float16",
    ),
    Mutant(
        "P10",
        (issue("KellerJordan/modded-nanogpt", 39),),
        "exact angles, but cos and sin kept in bfloat16",
        kernel(table_in_half),
        kernel(table_in_half, half(table="bfloat16")),
        ("angle-precision", "norm"),
        "cos and sin rounded to bfloat16",
    ),
    Mutant(
        "P12",
        (issue("vllm-project/vllm", 863),),
        "products and sums are rounded to the half precision of the inputs",
        kernel(narrow, HALVES),
        kernel(rounded_after, HALVES),
        ("arithmetic",),
        "every product and sum",
    ),
    Mutant(
        "P13",
        (
            issue("facebookresearch/xformers", 325),
            issue("NVIDIA/Megatron-LM", 643),
            pull("huggingface/transformers", 24262),
        ),
        "half-precision inputs come back in float32",
        kernel(promoted, half(dtype="float16")),
        kernel(rounded_after, half(dtype="float16")),
        ("dtype",),
        "float32 comes out",
    ),
]
