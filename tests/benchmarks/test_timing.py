"""Statistics of measurements: quartiles, ratios within a round, and the order of turns."""

import time
from statistics import median

import pytest
from exptx.benchmarks import timing
from exptx.benchmarks.timing import Quartiles, fastest, interleaved, order, ratio


def test_quartiles_interpolate_between_neighbours():
    assert Quartiles.of([4, 1, 3, 2, 5]) == Quartiles(2, 3, 4)
    assert Quartiles.of([1, 2]) == Quartiles(1.25, 1.5, 1.75)
    assert Quartiles.of([7]) == Quartiles(7, 7, 7)


def test_a_ratio_is_formed_round_by_round_so_that_a_slow_round_slows_both():
    slow_rounds = [1, 10, 100, 1000, 1]
    found = ratio([2 * s for s in slow_rounds], slow_rounds)
    assert found == Quartiles(2, 2, 2)
    with pytest.raises(ValueError, match="shorter"):
        ratio([1, 2], [1])


def test_every_order_holds_everyone_and_each_starts_and_ends_in_turn():
    orders = [order("abc", turn) for turn in range(6)]
    assert all(sorted(one) == list("abc") for one in orders)
    assert {one[0] for one in orders} == {one[-1] for one in orders} == set("abc")
    assert {one.index("a") for one in orders} == {0, 1, 2}


def test_everyone_is_measured_once_a_round_and_short_runs_share_a_measurement(monkeypatch):
    calls = {"short": 0, "long": 0}
    now = [0.0]

    def run(name, took):
        def one():
            calls[name] += 1
            now[0] += took

        return one

    monkeypatch.setattr(timing.time, "perf_counter", lambda: now[0])
    seconds = interleaved({"short": run("short", 0.001), "long": run("long", 1.0)}, 5)
    assert {name: [pytest.approx(s) for s in found] for name, found in seconds.items()} == {
        "short": [0.001] * 5,
        "long": [1.0] * 5,
    }
    assert calls == {"short": 1 + 3 + 3 + 5 * 4, "long": 1 + 5 * 2}, (
        "a long one is called once before it is measured"
    )


def test_the_fastest_is_found():
    runs = {"sleeps": lambda: time.sleep(0.02), "rests": lambda: time.sleep(0.005)}
    assert fastest(runs) == "rests"
    assert median([3, 1, 2]) == 2
