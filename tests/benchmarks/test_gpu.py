"""The races for GPUs, as far as a machine without one can tell: who is right, what is printed or refused."""

import json

import pytest
import torch
from exptx.benchmarks import gpu
from exptx.benchmarks.case import Case, Stage
from exptx.benchmarks.race import Race, Row


@pytest.fixture(autouse=True)
def _interpreter(monkeypatch):
    """Triton's interpreter stands in for a GPU."""
    monkeypatch.setenv("TRITON_INTERPRET", "1")


@pytest.mark.parametrize("group", gpu.GROUPS)
def test_every_contestant_is_right_on_a_small_race(group, monkeypatch, capsys):
    monkeypatch.setattr(gpu, "cases", lambda group, tokens: [small(group, torch.bfloat16, True)])
    (found,) = gpu.races([group], 5, 1, compiled=False, device="cpu")
    for row in found.rows:
        assert row.status in ("timed", "absent"), f"{row.name}: {row.reason}"
    names = {row.name for row in found.timed("ours")}
    assert "exptx" in names if group == "training" else {"exptx, fresh", "exptx, out= in one launch"} <= names
    assert not any("huge pages" in name for name in names)
    assert found.note.startswith("copy: ") is (group != "training")
    assert capsys.readouterr().err == found.name + "\n"


def small(group, dtype, interleaved):
    batch, tokens = (3, 1) if group == "decode" else (1, 5)
    return Case(group, dtype, interleaved, batch, 2, tokens)


@pytest.mark.parametrize("group", gpu.GROUPS)
def test_all_that_a_race_reads_follows_it_to_a_device(group):
    stage = gpu.on("meta", Stage.of(small(group, torch.float32, False)))
    held = (
        stage.q,
        stage.angle,
        *stage.table,
        *stage.out,
        *stage.own,
        *stage.leaves,
        *stage.incoming,
        stage.wide,
    )
    assert {x.device.type for x in held} == {"meta"}


def test_one_launch_that_is_wrong_is_not_timed(monkeypatch):
    monkeypatch.setattr(gpu, "cases", lambda group, tokens: [small(group, torch.float32, False)])
    monkeypatch.setattr(gpu.triton, "rotary_qk", lambda *_, **__: None)
    (found,) = gpu.races(["prefill"], 5, 1, compiled=False, device="cpu")
    wrong = [row.name for row in found.rows if row.status == "wrong"]
    assert wrong == ["exptx, out= in one launch"]


def test_bandwidth_counts_queries_and_keys_read_and_written():
    case = Case("prefill", torch.bfloat16, False, 1, 8, 1000)  # 2 · 8 · 1000 · 128 · 2 bytes, twice
    found = Race("prefill", case.name, case.shape, (Row("copy", "limit", "out=", "timed", seconds=(0.001,)),))
    assert gpu.bandwidth(found, case) == "copy: 8 GB/s"


def test_without_a_gpu_it_says_so_in_one_sentence(capsys):
    assert not torch.cuda.is_available()
    assert gpu.main([]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        f"this measures a GPU, and torch {torch.__version__} finds none; exptx bench measures the processor\n"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["growth"], "there is no race 'growth'; prefill, training, decode work"),
        (["--tokens", "0"], "--tokens and --rounds are whole numbers from 1 on"),
        (["--rounds", "-1"], "--tokens and --rounds are whole numbers from 1 on"),
        (["--tokens", "many"], "invalid int value: 'many'"),
    ],
)
def test_a_wrong_call_is_refused(arguments, words, capsys):
    with pytest.raises(SystemExit) as caught:
        gpu.main(arguments)
    assert caught.value.code == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("status", ["timed", "wrong"])
@pytest.mark.parametrize("as_json", [False, True])
def test_what_was_found_is_printed_and_a_wrong_kernel_is_an_exit_status(status, as_json, monkeypatch, capsys):
    copy = Row("copy", "limit", "out=", "timed", seconds=(0.002, 0.002))
    ours = Row("exptx", "ours", "out=", status, "off", seconds=(0.003, 0.003) if status == "timed" else ())
    one = Race("prefill", "prefill, float32, half-split", (1, 32, 4096, 128), (copy, ours), "copy: 100 GB/s")
    asked = []
    machine = {"date": "today", "gpu": "a GPU", "cuda": "13.0", "system": "Linux", "versions": {"torch": "2"}}
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(gpu, "where", lambda: machine)
    monkeypatch.setattr(gpu, "races", lambda *given: asked.append(given) or [one])
    arguments = ["prefill", "--tokens", "64", "--no-compiled", *["--json"] * as_json]
    assert gpu.main(arguments) == (status == "wrong")
    assert asked == [(["prefill"], 64, None, False)]
    said = capsys.readouterr().out
    if as_json:
        found = json.loads(said)
        assert (found["schema"], found["machine"]["gpu"]) == ("exptx-bench-gpu/1", "a GPU")
        assert [row["status"] for row in found["races"][0]["rows"]] == ["timed", status]
    else:
        assert said.startswith(
            "today, a GPU, CUDA 13.0, Linux\ntorch 2\n\nprefill, float32, half-split: 1 x 32"
        )
        assert "copy: 100 GB/s" in said
        assert ("1.50 x copy" in said) is (status == "timed")
