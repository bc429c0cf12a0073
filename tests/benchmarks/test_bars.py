"""A bar is held or not by the median of the ratio in every round, and only of what was measured."""

import pytest
from exptx.benchmarks.bars import bars
from exptx.benchmarks.race import Race, Row


def row(name, seconds, kind="ours", status="timed"):
    return Row(name, kind, "fresh", status, seconds=tuple(seconds))


def race(group, name, *rows):
    return Race(group, name, (1, 32, 4096, 128), rows)


def statuses(*races):
    return {f"{bar.wanted.above} / {bar.wanted.below}": bar.status for bar in bars(races)}


PREFILL = [
    row("copy", [10, 10, 10], "limit"),
    row("clone", [20, 20, 20], "limit"),
    row("exptx, out=", [13, 13, 13]),
    row("exptx, in place", [12, 11, 12]),
    row("exptx, fresh", [23.5, 23.5, 23.5]),
    row("transformers eager", [156, 156, 100], "peer"),
]


def test_prefill_is_held_to_copy_clone_and_transformers():
    assert statuses(race("prefill", "prefill, float32, half-split", *PREFILL)) == {
        "exptx, out= / copy": "held",
        "exptx, in place / copy": "not held",
        "exptx, fresh / clone": "not held",
        "transformers eager / exptx, out=": "held",
        "transformers eager / exptx, fresh": "held",
    }


def test_fresh_results_in_bfloat16_have_a_limit_of_their_own_and_interleaved_pairs_no_peer():
    found = statuses(race("prefill", "prefill, bfloat16, interleaved", *PREFILL))
    assert found == {
        "exptx, out= / copy": "held",
        "exptx, in place / copy": "not held",
        "exptx, fresh / clone": "held",
    }


@pytest.mark.parametrize(("ours", "status"), [(9, "held"), (11, "not held")])
def test_decoding_is_compared_with_the_fastest_hand_written_form(ours, status):
    rows = [
        row("exptx, out=", [30, 30]),
        row("exptx, fresh", [ours, ours]),
        row("eager, out=: mul", [10, 10], "eager"),
        row("eager, fresh: cat", [20, 20], "eager"),
        row("transformers compiled", [1, 1], "peer"),
    ]
    found = statuses(race("decode", "decode, batch 1, float32, half-split", *rows))
    assert found == {"fastest exptx / fastest eager": status}


def test_slots_and_decisions_have_their_own():
    slots = [row("slots", [10]), row("mask built", [41], "eager"), row("mask prebuilt", [13], "eager")]
    decide = [row("decide", [1]), row("sympy.simplify", [49], "peer")]
    assert statuses(race("slots", "slots, float32", *slots), race("decide", "decide", *decide)) == {
        "mask built / slots": "held",
        "mask prebuilt / slots": "not held",
        "sympy.simplify / decide": "not held",
    }


def test_what_is_missing_or_wrong_is_not_measured():
    wrong = row("exptx", [], status="wrong")
    half = "training, float32, half-split"
    assert statuses(race("training", half, wrong, row("transformers eager", [9], "peer"))) == {
        "transformers eager / exptx": "not measured"
    }
    absent = row("transformers eager", [], "peer", "absent")
    assert statuses(race("training", half, row("exptx", [1]), absent)) == {
        "transformers eager / exptx": "not measured"
    }


def test_growth_and_notes_are_no_bars():
    assert statuses(race("growth", "growth, 512 tokens, float32, half-split", *PREFILL)) == {}
    assert statuses(Race("slots", "memory of slots", (1,), (), "one call adds 3 MiB")) == {}
