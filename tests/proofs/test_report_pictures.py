"""Pictures and further chapters of the report: numbers from an independent route, links that exist."""

import math
import re

import pytest
from exptx.proofs.report.curves import curves, plane_frequencies
from exptx.proofs.report.pictures import drawn, gallery
from exptx.proofs.report.precision import bfloat16, worst_errors
from exptx.proofs.report.template import chapter_data


def test_pictures_come_out_the_same_twice_and_speak_their_theme_colours():
    once = gallery(set())
    drawn.cache_clear()
    assert gallery(set()) == once
    for picture in (*once.triptych, *once.unplaced):
        assert "var(--" in picture.svg
        assert 'aria-label="' in picture.svg
        assert not re.search(r"#[0-9a-f]{6}|font-family|<style", picture.svg)


def test_a_picture_stands_beside_its_law_or_in_the_opening():
    beside = gallery({"lookup-table"})
    assert [picture.id for picture in beside.by_law["lookup-table"]] == ["picture-lookup"]
    assert "picture-lookup" not in [picture.id for picture in beside.unplaced]


def test_drawn_scores_are_those_of_the_formulas():
    by_title = {curve.title: dict(zip(curve.gaps, curve.scores, strict=True)) for curve in curves()}
    turning = [sum(math.cos(10 ** (-k / 2) * u) for k in range(8)) for u in (3, 7, 20)]
    assert [by_title["RoPE"][u] for u in (3, 7, 20)] == pytest.approx(turning)
    assert by_title["NoPE"][64] == 8
    assert by_title["decay"][10] == pytest.approx(8 / math.e)
    assert by_title["damped RoPE"][7] == pytest.approx(turning[1] * math.exp(-0.7))
    assert by_title["ALiBi"][64] == pytest.approx(8 - 64 * 4 / 16)
    assert by_title["RoPE + ALiBi"][20] == pytest.approx(turning[2] - 20 * 4 / 16)
    assert plane_frequencies(16) == pytest.approx([10 ** (-k / 2) for k in range(8)])


def test_float32_angles_go_wrong_far_out_and_float64_angles_do_not():
    far, farther = worst_errors("float32 angles", [131_071, 1_048_575])
    assert 2e-3 < far < 5e-3
    assert farther == pytest.approx(2.5e-2, rel=0.05)
    assert all(error > 1.5 for error in worst_errors("bfloat16 angles", [4095, 131_071]))
    assert max(worst_errors("float64 angles")) < 2**-25 + 2**-40


def test_bfloat16_rounding_is_to_nearest_even():
    import numpy as np

    kept = {1.0: 1.0, 1 + 2**-8: 1.0, 1 + 3 * 2**-8: 1 + 2**-6, 1 + 2**-8 + 2**-20: 1 + 2**-7, -3.0: -3.0}
    assert bfloat16(np.array(list(kept), np.float32)).tolist() == list(kept.values())


# ---- further chapters ----


def test_every_law_that_the_further_chapters_and_pictures_name_exists():
    from exptx.proofs.laws import CHAPTERS

    entries = [entry for chapter in CHAPTERS for entry in chapter.entries]
    known = {name for entry in entries for name in (entry.id, *entry.proof_ids())}
    named = {
        law
        for name in ("errata", "questions", "glossary")
        for entry in chapter_data(name)["entry"]
        for law in entry.get("laws", ())
    }
    placed = {words["place"] for words in chapter_data("pictures").values() if "place" in words}
    assert (named | placed) - known == set()


def test_files_that_are_to_be_trusted_exist():
    from importlib.resources import files

    root = files("exptx")
    for entry in chapter_data("trust")["entry"]:
        for name in entry.get("files", ()):
            assert root.joinpath(name).is_file() or root.joinpath(name).is_dir(), name


def unseen_planes(base, dim, length):
    return [k for k in range(dim // 2) if base ** (-2 * k / dim) * (length - 1) < 2 * math.pi]


def softmax(scores):
    return [math.exp(x) / sum(map(math.exp, scores)) for x in scores]


def rotated_dot(t, s):
    q, k = (math.cos(t), math.sin(t)), (-math.sin(s), math.cos(s))
    return q[0] * k[0] + q[1] * k[1]


def bank(gap):
    return sum(math.cos(10_000 ** (-k / 8) * gap) for k in range(8))


NUMBERS = {
    "0.14112": rotated_dot(5, 2),
    "−0.14112": rotated_dot(2, 5),
    "planes 46 to 63": unseen_planes(10_000, 128, 4096)[0],
    "planes 35 to 63": unseen_planes(500_000, 128, 8192)[0],
    "0.0625": 1 / 16,
    "0.798": math.cos(-169),
    "−0.0021": 239 - 169 * math.sqrt(2),
    "1.631": (0.1 * math.log(16) + 1) ** 2,
    "3.679": 10 * math.exp(-1),
    "148.4": math.exp(5),
    "62,832": 2 * math.pi * 10_000,
    "54,410": 2 * math.pi * 10_000 ** (126 / 128),
    "47,117": 2 * math.pi * 10_000 ** (62 / 64),
    "19,869": 2 * math.pi * 10_000 ** (14 / 16),
    "5.543": bank(3),
    "5.892": bank(7),
    "5.776": bank(20),
    "16384": 128**2,
    "off by 0.003": worst_errors("float32 angles", [131_071])[0],
    "0.05 at a million": worst_errors("float32 angles", [1_000_000])[0],
    **dict(zip((".058", ".096", ".158", ".260", ".429"), softmax([u / 2 for u in range(5)]), strict=True)),
}


@pytest.mark.parametrize("printed", NUMBERS)
def test_a_number_in_the_errata_is_what_it_is_said_to_be(printed):
    errata = " ".join(entry["right"] for entry in chapter_data("errata")["entry"])
    assert printed in errata
    digits = re.search(r"[−\d.,]+", printed)[0].replace("−", "-").replace(",", "")
    decimals = len(digits.partition(".")[2])
    assert NUMBERS[printed] == pytest.approx(float(digits), abs=0.5000001 * 10**-decimals)
