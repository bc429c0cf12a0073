"""Contestants are right on small shapes; who is not is told so, and never timed."""

import pytest
import torch
from exptx.benchmarks import eager, peers
from exptx.benchmarks.budgets import Policy
from exptx.benchmarks.case import Absent, Case, Contestant, Stage
from exptx.benchmarks.eager import formulations
from exptx.benchmarks.ours import copies, kernels
from exptx.benchmarks.race import race

CASES = [
    Case(group, dtype, interleaved, batch, 3, tokens)
    for group, batch, tokens in (("prefill", 1, 40), ("decode", 4, 1), ("training", 1, 40))
    for dtype in (torch.float32, torch.bfloat16)
    for interleaved in (False, True)
]
SINGLE = Policy(torch.float32, torch.float32)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_contestant_is_right_or_says_why_it_is_missing(case):
    stage = Stage.of(case)
    low = Policy(case.dtype, case.dtype)
    written = [
        Contestant(f"eager, {form}: {name}", "eager", form, run, low)
        for form, runs in formulations(stage).items()
        for name, run in runs.items()
    ]
    limit = [] if case.learns else copies(stage)
    found = race(stage, [*limit, *kernels(stage), *written, *peers.peers(stage, compiled=False)], 1)
    for row in found.rows:
        assert row.status in ("timed", "absent"), f"{row.name}: {row.reason}"
        assert len(row.seconds) == (row.status == "timed")
    assert {row.name for row in found.rows if row.status == "absent"} <= {
        "torch.onnx.ops",
        "rotary-embedding-torch",
        "x-transformers",
    }


STAGE = Stage.of(CASES[0])


def contestant(name, run, policy=SINGLE, form="fresh"):
    return Contestant(name, "peer", form, run, policy)


def backwards(stage):
    cos, sin = stage.table
    t = eager.Tables(cos, -sin, torch.complex(cos, -sin), False)
    return eager.concatenated(stage.q, t), eager.concatenated(stage.k, t)


def with_bfloat16_angles(stage):
    angle = stage.angle.bfloat16().float()
    t = eager.Tables(angle.cos(), angle.sin(), torch.complex(angle.cos(), angle.sin()), False)
    return eager.concatenated(stage.q, t), eager.concatenated(stage.k, t)


def keys_left_alone(stage):
    return kernels(stage)[2].run()[0], stage.k


def raising(stage):
    raise RuntimeError("no such kernel\nfor this device")


@pytest.mark.parametrize(
    ("broken", "status", "reason"),
    [
        (backwards, "wrong", "times its error budget"),
        (with_bfloat16_angles, "wrong", "times its error budget"),
        (keys_left_alone, "wrong", "times its error budget"),
        (lambda stage: (stage.q.double(), stage.k.double()), "wrong", "float64"),
        (lambda stage: (stage.q,), "wrong", "gives"),
        (raising, "failed", "RuntimeError: no such kernel"),
    ],
)
def test_who_is_wrong_is_not_timed(broken, status, reason):
    calls = []

    def run():
        calls.append(1)
        return broken(STAGE)

    good = kernels(STAGE)[0]
    found = race(STAGE, [contestant("broken", run), good, Absent("gone", "peer", "not installed")], 3)
    row, timed, gone = found.rows
    assert (row.status, row.seconds, len(calls)) == (status, (), 1)
    assert reason in row.reason
    assert (timed.status, len(timed.seconds)) == ("timed", 3)
    assert (gone.status, gone.reason) == ("absent", "not installed")


def test_who_writes_nothing_is_wrong_although_others_wrote_before():
    lazy = contestant("lazy", lambda: STAGE.out, form="out=")
    rows = race(STAGE, [copies(STAGE)[0], kernels(STAGE)[0], lazy], 1).rows
    assert [row.status for row in rows] == ["timed", "timed", "wrong"]


def test_a_copy_that_copies_something_else_is_wrong():
    row = race(STAGE, [contestant("copy", lambda: (STAGE.q, STAGE.q), None)], 1).rows[0]
    assert (row.status, row.reason) == ("wrong", "is no copy")


def test_wrong_gradients_are_wrong():
    stage = Stage.of(CASES[-4])
    right = kernels(stage)[0].run
    assert stage.case.learns
    rows = race(
        stage,
        [
            contestant("turned again", lambda: (*right()[:2], *right()[:2])),
            contestant("right", right),
        ],
        1,
    ).rows
    assert [row.status for row in rows] == ["wrong", "timed"]


def test_libraries_that_are_not_installed_are_said_to_be_so(monkeypatch):
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    for case in CASES[:2]:
        found = peers.peers(Stage.of(case))
        assert all(isinstance(one, Absent) for one in found)
        assert found[0].reason == "not installed"
