"""Reports on several coordinates: time, height and width, and the axes of images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from exptx.proofs import Claims, Subject, rope
from exptx.symbolic import encoding
from mutant import Inexpressible, Mutant
from parts import DIM, inv_freq, issue, pull, turn
from torch import Tensor

Owner = Callable[[int], int]
SHARED = replace(rope(10000.0, DIM, interleaved=False), sections=(6, 5, 5), section_layout="interleaved")
VIDEO = Claims(SHARED, DIM)
IMAGE = Claims(encoding("axial", head_dim=DIM, interleaved=False), DIM, longest=16)
W = inv_freq()


def interleaved(plane: int) -> int:
    axis = plane % 3
    return axis if plane < 3 * (6, 5, 5)[axis] else 0


def chunked(plane: int) -> int:
    return 0 if plane < 6 else 1 if plane < 11 else 2


def by_sections(
    owner: Owner, moved: Callable[[Tensor], Tensor] | None = None, width: int = DIM
) -> Callable[..., Any]:
    """Plane i takes the coordinate of its owner, of coordinates that are changed before, or not."""

    def rotate(x: Tensor, position_ids: Tensor) -> Tensor:
        ids = position_ids if moved is None else moved(position_ids)
        planes = range(width // 2)
        t = torch.stack([ids[owner(i)] for i in planes], -1).float()
        angle = (t * inv_freq(width=width))[:, None]
        return turn(x, angle.cos(), angle.sin())

    return rotate


def without_height(ids: Tensor) -> Tensor:
    return torch.stack((ids[0], torch.zeros_like(ids[1]), ids[2]))


def time_everywhere(ids: Tensor) -> Tensor:
    return ids[:1].expand(3, -1, -1)


def by_image(place: Callable[[Tensor], Tensor], halves: bool = True) -> Callable[..., Any]:
    """Two axes, half of the planes each, at base 100; the second table is its own, or the first again."""
    w = inv_freq(100.0, DIM // 2)

    def rotate(x: Tensor, position_ids: Tensor) -> Tensor:
        y, z = place(position_ids)
        first, second = y[..., None].float() * w, z[..., None].float() * w
        angle = torch.cat((first, second if halves else first), -1)[:, None]
        return turn(x, angle.cos(), angle.sin())

    return rotate


def as_given(ids: Tensor) -> Tensor:
    return ids


def swapped(ids: Tensor) -> Tensor:
    return ids.flip(0)


def from_one(ids: Tensor) -> Tensor:
    return ids + 1


def on_a_grid(swaps: bool) -> Callable[[Tensor], Tensor]:
    """Tokens of an image of 24 x 16 patches, row by row, looked up in a grid of these sizes, or swapped."""
    height, width = (16, 24) if not swaps else (24, 16)
    grid = torch.stack(torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")).flatten(1)

    def place(ids: Tensor) -> Tensor:
        return grid[:, ids[0] * 24 + ids[1]]

    return place


PARTIAL = Claims(
    replace(rope(10000.0, DIM, DIM // 2, interleaved=False), sections=(4, 2, 2), section_layout="chunked"),
    DIM,
)


def quarter(plane: int) -> int:
    return 0 if plane < 4 else 1 if plane < 6 else 2


def whole(plane: int) -> int:
    return 0 if plane < 8 else 1 if plane < 12 else 2


def uneven(plane: int) -> int:
    return 0 if plane < 6 else 1 if plane < 10 else 2


def video(apply: Callable[..., Any], claims: Claims = VIDEO) -> Subject:
    return Subject(apply, "multiaxis", claims)


def image(apply: Callable[..., Any]) -> Subject:
    return Subject(apply, "multiaxis", IMAGE)


RIGHT = by_sections(interleaved)
MUTANTS = [
    Mutant(
        "M01",
        (
            pull("alibaba/MNN", 4133),
            pull("vllm-project/vllm-gaudi", 1437),
            pull("HabanaAI/vllm-fork", 2117),
        ),
        "sections one after the other, where planes take turns",
        video(by_sections(chunked)), video(RIGHT),
        ("axis",), "chunked",
    ),
    Mutant(
        "M03", (pull("vllm-project/vllm", 29425),),
        "the height is put to zero in place of the time",
        video(by_sections(interleaved, without_height)), video(RIGHT),
        ("axis",), "axis 1 turns nothing",
    ),
    Mutant(
        "M04", (pull("huggingface/pytorch-image-models", 2541),),
        "height and width are swapped where the grid is made",
        image(by_image(on_a_grid(True))), image(by_image(on_a_grid(False))),
        ("axis", "grid"),
    ),
    Mutant(
        "M05", (issue("Meituan-AutoML/VisionLLaMA", 4),),
        "the first half of the planes takes the column, and patches come row by row",
        image(by_image(swapped)), image(by_image(as_given)),
        ("axis",), "order (1, 0)",
    ),
    Mutant(
        "M06", (pull("osaurus-ai/vmlx-swift", 225),),
        "coordinates start at 1",
        image(by_image(from_one)), image(by_image(as_given)),
        ("axis",), "do not start at 0",
    ),
    Mutant(
        "M07", (pull("Tencent/ncnn", 6834),),
        "the second half of a head reads the table of the first",
        image(by_image(as_given, halves=False)), image(by_image(as_given)),
        ("axis",), "table of the first",
    ),
    Mutant(
        "M09", (issue("huggingface/diffusers", 12538),),
        "the split of the head is worked out twice, by two formulas",
        video(by_sections(uneven), Claims(replace(SHARED, section_layout="chunked"), DIM)),
        video(by_sections(chunked), Claims(replace(SHARED, section_layout="chunked"), DIM)),
        ("axis",),
    ),
    Mutant(
        "N04", (pull("sgl-project/sglang", 36959),),
        "a vendor's operator reads one coordinate for all",
        video(by_sections(interleaved, time_everywhere)), video(RIGHT),
        ("axis",), "every plane turns with axis 0",
    ),
    Mutant(
        "F06", (issue("AI-Hypercomputer/maxtext", 4616),),
        "the share that turns is not read where there are sections",
        video(by_sections(whole), PARTIAL), video(by_sections(quarter, width=DIM // 2), PARTIAL),
        ("axis",), "planes turn, claimed",
    ),
]  # fmt: skip

INEXPRESSIBLE = [
    Inexpressible(
        "N03",
        (pull("vllm-project/vllm-omni", 6571),),
        "an accelerator lacks complex tables; on a CPU both forms exist, and the report has no wrong numbers",
    ),
]
