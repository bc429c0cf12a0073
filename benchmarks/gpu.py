"""Races of rotary kernels on a GPU: `python -m exptx.benchmarks.gpu [prefill training decode] [--json]`.

Copying is the limit. Everyone is checked against float64 before anything is timed, contestants take turns in
rounds, and what is printed are medians, quartiles and ratios to the copy.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from ..numeric import triton
from .case import Absent, Case, Contestant, Pair, Stage
from .eager import eager
from .gpu_peers import gpu_peers
from .machine import machine, version
from .ours import POLICY, copies, kernels
from .peers import peers
from .race import FAILED, WRONG, Race, race
from .run import ROUNDS, TOKENS, cases, race_document
from .tables import race_text

SCHEMA = "exptx-bench-gpu/1"
GROUPS = ("prefill", "training", "decode")


def races(
    groups: Sequence[str], tokens: int, rounds: int | None, compiled: bool, device: str = "cuda"
) -> list[Race]:
    """The races of these groups. tokens: of prefill and training; rounds: instead of those of ROUNDS."""
    found = []
    for case in [case for group in groups for case in cases(group, tokens)]:
        print(case.name, file=sys.stderr)
        stage = on(device, Stage.of(case))
        one = race(stage, contestants(stage, compiled), ROUNDS[case.group] if rounds is None else rounds)
        found.append(replace(one, note=bandwidth(one, case)))
    return found


def on(device: str, stage: Stage) -> Stage:
    """The same numbers on a device."""
    return replace(stage, q=stage.q.to(device), k=stage.k.to(device), angle=stage.angle.to(device))


def contestants(stage: Stage, compiled: bool) -> list[Contestant | Absent]:
    """The limit, ours, hand-written PyTorch, and other libraries."""
    ours = [one for one in kernels(stage) if "huge pages" not in one.name]  # those are of the CPU
    if not stage.case.learns:
        ours = [*copies(stage), *ours, one_launch(stage)]
    return [*ours, *eager(stage), *peers(stage, compiled), *gpu_peers(stage)]


def one_launch(stage: Stage) -> Contestant:
    """Queries and keys in one launch, into memory that is there."""
    (cos, sin), (q, k), pairing = stage.table, stage.out, stage.case.interleaved

    def run() -> Pair:
        triton.rotary_qk(stage.q, stage.k, q, k, cos, sin, interleaved=pairing)
        return q, k

    return Contestant("exptx, out= in one launch", "ours", "out=", run, POLICY)


def bandwidth(found: Race, case: Case) -> str:
    """What the copy moves in a second, reading and writing; empty where nothing is copied."""
    row = found.find("copy")
    if row is None:
        return ""
    moved = 4 * torch.Size(case.shape).numel() * case.dtype.itemsize  # q and k, in and out
    return f"copy: {moved / row.quartiles.median / 1e9:.0f} GB/s"


def where() -> dict[str, Any]:
    """The machine, its GPU, and what compiles for it."""
    gpu, found = torch.cuda.get_device_properties(0), machine()
    found["versions"] |= {package: version(package) for package in ("triton", "flash-attn", "liger-kernel")}
    return found | {
        "gpu": gpu.name,
        "gpu_memory": gpu.total_memory,
        "gpu_processors": gpu.multi_processor_count,
        "cuda": torch.version.cuda,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """0: done; 1: a kernel of exptx is wrong; 2: there is no GPU."""
    parser = argparse.ArgumentParser(prog="python -m exptx.benchmarks.gpu", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="group", help=f"of {', '.join(GROUPS)}; all by default")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="of prefill and training")
    parser.add_argument("--rounds", type=int, help="measurements of everyone in a race")
    parser.add_argument("--no-compiled", action="store_true", help="leave out what torch.compile makes")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of text")
    given = parser.parse_args(arguments)
    if unknown := [group for group in given.groups if group not in GROUPS]:
        parser.error(f"there is no race {unknown[0]!r}; {', '.join(GROUPS)} work")
    if given.tokens < 1 or (given.rounds is not None and given.rounds < 1):
        parser.error("--tokens and --rounds are whole numbers from 1 on")
    if not torch.cuda.is_available():
        found = f"torch {torch.__version__} finds none"
        print(f"this measures a GPU, and {found}; exptx bench measures the processor", file=sys.stderr)
        return 2
    found = races(given.groups or GROUPS, given.tokens, given.rounds, not given.no_compiled)
    print(json.dumps(document(found, where())) if given.json else text(found, where()))
    return int(any(row.kind == "ours" and row.status in (WRONG, FAILED) for one in found for row in one.rows))


def document(found: Sequence[Race], machine: dict[str, Any]) -> dict[str, Any]:
    """As one JSON document; seconds of a call in every round, quartiles as lower, median, upper."""
    return {"schema": SCHEMA, "machine": machine, "races": [race_document(one) for one in found]}


def text(found: Sequence[Race], machine: dict[str, Any]) -> str:
    """Where and when, then every race with all its rows."""
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    head = f"{machine['date']}, {machine['gpu']}, CUDA {machine['cuda']}, {machine['system']}\n{versions}"
    return "\n\n".join([head, *map(race_text, found)])


if __name__ == "__main__":
    sys.exit(main())


__all__ = ["main", "races"]
