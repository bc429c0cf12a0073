"""The pictures of longer contexts: numbers from rules written out again in floats, and what captions say."""

import numpy as np
import pytest
from exptx.proofs.report.stretches import (
    STRETCHES,
    band,
    cached_scores,
    plane_scores,
    ratios,
    stretch,
)
from exptx.proofs.report.template import chapter_data

K = np.arange(64)
WAVES = 10_000.0 ** (-K / 64)
LLAMA_WAVES = 500_000.0 ** (-K / 64)


def ramped(kept, factor=8):
    return kept + (1 - kept) / factor


def by_turns(waves, length, slow, fast):
    return np.clip((length * waves / (2 * np.pi) - slow) / (fast - slow), 0, 1)


def partial():
    turning = 10_000.0 ** (-K / 16) / WAVES
    return np.where(K < 16, turning, 0)


RATIOS = {  # picture and table: the ratio by plane, written out again
    ("interpolation", ""): np.full(64, 1 / 8),
    ("ntk", ""): (10_000 * 8 ** (128 / 126)) ** (-K / 64) / WAVES,
    ("dynamic", "L₀"): np.ones(64),
    ("dynamic", "8L₀"): (10_000 * 15 ** (128 / 126)) ** (-K / 64) / WAVES,
    ("longrope", ""): 1 / (1 + 7 * (K / 63) ** 2),
    ("p-rope", ""): np.where(K < 48, 1.0, 0.0),
    ("partial", "p-RoPE"): np.where(K < 16, 1.0, 0.0),
    ("partial", "partial rotary"): partial(),
    ("yarn", "ramp of the code"): ramped(1 - np.clip((K - 20) / 26, 0, 1)),
    ("yarn", "ramp of the paper"): ramped(by_turns(WAVES, 4096, 1, 32)),
    ("llama3", ""): ramped(by_turns(LLAMA_WAVES, 8192, 1, 4)),
}
CLOSE = 64 * 2.0**-52  # some tens of roundings in float64


@pytest.mark.parametrize(("picture", "table"), RATIOS, ids="-".join)
def test_the_ratios_drawn_are_those_of_the_rule(picture, table):
    rule = stretch(picture)
    found = ratios(rule.plain, rule.tables[table])
    assert found == pytest.approx(RATIOS[picture, table], rel=CLOSE, abs=CLOSE)


def test_every_rule_has_its_picture_and_the_text_to_it():
    assert {picture for picture, _ in RATIOS} == set(STRETCHES)
    assert set(STRETCHES) | {"cached"} <= set(chapter_data("pictures"))


def test_scores_are_sums_of_cosines_times_the_squared_amplitude():
    gaps = np.array([1, 7, 4096, 32_768])
    for name, square in (("interpolation", 1), ("yarn", (1 + np.log(8) / 10) ** 2), ("longrope", 5 / 4)):
        table = list(stretch(name).tables.values())[-1]
        waves = np.array([float(w) for w in table])
        known = square * np.cos(np.outer(gaps, waves)).mean(1)
        # angles up to 32768 radians round by 2^-53 of themselves, twice
        assert plane_scores(table, 32_768)[gaps - 1] == pytest.approx(known, abs=32_768 * 2.0**-52)


def test_a_band_holds_every_score_of_its_gaps():
    scores = plane_scores(stretch("ntk").plain, 4096)
    shown = band(scores)
    assert shown.low.min() == scores.min()
    assert shown.high.max() == scores.max()
    assert (shown.low <= shown.high).all()
    assert shown.low[0] == shown.high[0] == scores[0]
    assert (np.diff(shown.gaps) > 0).all()
    assert 1 <= shown.gaps[0] <= shown.gaps[-1] <= 4096


def test_cached_scores_are_the_dot_products_of_vectors_turned_at_their_own_length():
    shown, last = cached_scores(), 32_767

    def turned(position, length):
        stretched = max(1, 2 * length / 4096 - 1)
        angle = position * (10_000 * stretched ** (128 / 126)) ** (-K / 64)
        return np.concatenate([np.cos(angle), np.sin(angle)]) / 8

    for gap in (1, 2, 100, 20_000, last):
        query, key = turned(last, last + 1), last - gap
        assert shown.cached[gap - 1] == pytest.approx(query @ turned(key, key + 1), abs=last * 2.0**-49)
        assert shown.fresh[gap - 1] == pytest.approx(query @ turned(key, last + 1), abs=last * 2.0**-49)
    assert np.abs(shown.cached - shown.fresh)[99:].mean() > 0.05


def test_what_the_captions_say_of_numbers():
    words = {name: entry["caption"] for name, entry in chapter_data("pictures").items()}
    dynamic, yarn, llama = (stretch(name) for name in ("dynamic", "yarn", "llama3"))
    assert "divided by 15" in words["dynamic"]
    assert 1 / ratios(dynamic.plain, dynamic.tables["8L₀"])[-1] == pytest.approx(15, rel=CLOSE)
    assert "1.459" in words["yarn"]
    assert float(yarn.tables["ramp of the code"].attention_factor) ** 2 == pytest.approx(1.459, abs=5e-4)
    assert "5/4" in words["longrope"]
    coded = ratios(yarn.plain, yarn.tables["ramp of the code"])
    assert [int(np.flatnonzero(coded == 1)[-1]), int(np.flatnonzero(coded <= 1 / 8)[0])] == [20, 46]
    kept = ratios(llama.plain, llama.tables[""])
    assert int(((kept < 1) & (kept > 1 / 8 + CLOSE)).sum()) == 6
    near = plane_scores(llama.plain, 100), plane_scores(llama.tables[""], 100)
    assert np.abs(near[0] - near[1]).max() < 0.02
    ten = plane_scores(stretch("interpolation").tables[""], 9)
    assert ten.min() > 0.95
