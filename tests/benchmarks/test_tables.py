"""What is printed: everyone with a time or a reason, everything wanted with what was found."""

import pytest
from exptx.benchmarks.race import Race, Row
from exptx.benchmarks.run import Outcome, document
from exptx.benchmarks.tables import markdown, seconds, text

MACHINE = {
    "date": "2030-01-02T03:04:05+00:00",
    "processor": "made up",
    "cores": 2,
    "threads": 2,
    "load": 0.1,
    "huge_pages": "madvise",
    "system": "none",
    "compiler": "12",
    "versions": {"exptx": "0"},
}
ROWS = (
    Row("copy", "limit", "out=", "timed", seconds=(0.010, 0.020)),
    Row("exptx, out=", "ours", "out=", "timed", used=0.5, seconds=(0.012, 0.024)),
    Row("eager, out=: mul", "eager", "out=", "timed", used=0.5, seconds=(0.1, 0.1)),
    Row("transformers eager", "peer", "", "absent", "not installed"),
)
FOUND = Outcome(MACHINE, (Race("prefill", "prefill, float32, interleaved", (1, 32, 4096, 128), ROWS),))


def test_text_says_who_what_and_how_much_of_a_copy():
    lines = text(FOUND).splitlines()
    assert any("exptx, out=" in line and "18 ms" in line and "1.20 x copy" in line for line in lines)
    assert any("transformers eager" in line and "absent: not installed" in line for line in lines)
    assert (
        "held          prefill, float32, interleaved: exptx, out= / copy = 1.2 [1.2 … 1.2] (at most 1.3)"
        in lines
    )
    assert lines[-1] == "1 of 3 held"


def test_markdown_has_a_column_a_race_and_lists_what_is_not_held():
    lines = markdown(FOUND).splitlines()
    assert lines[0] == "| q and k, (1, 32, 4096, 128) | float32, interleaved |"
    assert "| eager, out= | 100 ms |" in lines, "without the formulation, which differs from race to race"
    assert sum(line.startswith("- not measured") for line in lines) == 2


def test_what_all_columns_share_stands_in_the_corner():
    races = [
        Race("growth", f"growth, {n} tokens, float32, half-split", (1, 4, n, 128), ROWS) for n in (512, 1024)
    ]
    head = markdown(Outcome(MACHINE, tuple(races))).splitlines()[0]
    corner = "longer and longer, float32, half-split, (1, 4, tokens, 128)"
    assert head == f"| {corner} | 512 tokens | 1024 tokens |"


def test_a_wrong_kernel_of_ours_is_said_aloud():
    wrong = Row("exptx, out=", "ours", "out=", "wrong", "off by 7 times its error budget", 7.0)
    found = Outcome(MACHINE, (Race("prefill", "prefill, float32, interleaved", (1,), (ROWS[0], wrong)),))
    assert not found.ours_is_right
    assert "WRONG" in text(found)
    assert document(found)["right"] is False
    peer = Row("transformers eager", "peer", "fresh", "wrong", "off by 7 times its error budget", 7.0)
    assert Outcome(MACHINE, (Race("prefill", "prefill, float32, interleaved", (1,), (peer,)),)).ours_is_right


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1.234, "1.23 s"), (0.0456, "45.6 ms"), (0.9999, "1000 ms"), (7.8e-6, "7.8 µs"), (1e-8, "10 ns")],
)
def test_seconds_have_three_figures(value, shown):
    assert seconds(value) == shown
