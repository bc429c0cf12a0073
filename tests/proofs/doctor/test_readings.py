"""A function that says nothing about layout and positions is called in the way that works; that is said."""

from __future__ import annotations

import pytest
import torch
from exptx.proofs import Claims, rope
from exptx.proofs.doctor.readings import examined

TOLD = Claims(rope(10000.0, 32), 32, longest=256)
W = 10000.0 ** (-torch.arange(0, 32, 2) / 32)


def turned(x, angle):
    x0, x1 = x.chunk(2, -1)
    return torch.cat((x0 * angle.cos() - x1 * angle.sin(), x0 * angle.sin() + x1 * angle.cos()), -1)


def time_first(x, position_ids):
    return turned(x, position_ids[:, :, None, None] * W)


def from_zero(x):
    return turned(x, torch.arange(x.shape[1])[None, :, None, None] * W)


def at_offset(x, start: int):
    ids = torch.arange(start, start + x.shape[2])
    return turned(x, ids[None, None, :, None] * W)


def queries_and_keys(q, k):
    return from_zero(q), from_zero(k)


@pytest.mark.parametrize(
    ("apply", "words"),
    [
        (time_first, "(batch, time, heads, head_dim)"),
        (from_zero, "positions 0, 1"),
        (at_offset, "the position of the first token"),
        (queries_and_keys, "positions 0, 1"),
    ],
)
def test_the_way_that_works_is_taken_and_said(apply, words):
    found = examined(apply, TOLD, {}, {})
    assert found.ok, found.findings
    assert any(words in said for said in found.unjudged)


def test_what_is_claimed_is_not_guessed_otherwise():
    found = examined(time_first, TOLD, {"layout": "bhtd"}, {})
    assert [finding.code for finding in found.findings] == ["call"]


def test_a_short_table_is_right_up_to_its_end_and_that_is_said():
    angle = torch.arange(1024)[:, None] * W

    def short(x, position_ids):
        return turned(x, angle[position_ids][:, None])

    found = examined(short, Claims(rope(10000.0, 32), 32), {}, {})
    assert found.ok, found.findings
    assert any("positions from 1024 on" in said for said in found.unjudged)
    claimed = examined(short, Claims(rope(10000.0, 32), 32), {"longest": 4096}, {})
    assert not claimed.ok


def test_an_option_of_rotary_kernels_makes_it_one():
    found = examined(from_zero, TOLD, {"layout": "bthd"}, {})
    assert found.kind == "rotary"
    assert found.ok, found.findings
