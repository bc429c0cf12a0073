"""Kernels over several coordinates: shares of planes are read off, claimed or not, and faults are named."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from exptx.proofs import Claims, check, rope
from exptx.proofs.doctor.axes.causes import cause_of
from exptx.symbolic import encoding

DIM = 24
W = 10000.0 ** (-torch.arange(0, DIM, 2) / DIM)
SECTIONS = (4, 4, 4)
CHUNKED = Claims(replace(rope(10000.0, DIM), sections=SECTIONS, section_layout="chunked"), DIM)
OWNERS = torch.arange(12) // 4


def by_owner(owners, scale=1.0):
    def rotate(x, position_ids):
        angle = (position_ids[owners].movedim(0, -1) * (scale * W))[:, None]
        x0, x1 = x.chunk(2, -1)
        return torch.cat((x0 * angle.cos() - x1 * angle.sin(), x0 * angle.sin() + x1 * angle.cos()), -1)

    return rotate


def test_the_share_of_each_axis_is_read_off_without_a_claim():
    found = check(by_owner(OWNERS), Claims(head_dim=DIM), kind="multiaxis")
    assert found.ok
    assert found.identity == "turns 12 planes by 3 axes, 4, 4, 4 planes each"
    assert any("which axis" in said for said in found.unjudged)


def test_a_right_kernel_is_held_to_its_claim_and_to_the_laws_of_text():
    found = check(by_owner(OWNERS), CHUNKED, kind="multiaxis")
    assert found.ok, found.findings
    assert len(found.measured) > 10
    assert all(law.residual <= law.budget for law in found.measured)


@pytest.mark.parametrize(
    ("owners", "cause"),
    [
        (torch.tensor([2, 1, 0])[OWNERS], "the order (2, 1, 0)"),
        (torch.arange(12) % 3, "shared out interleaved"),
        (0 * OWNERS, "every plane turns with axis 0"),
    ],
)
def test_planes_of_other_axes_are_named(owners, cause):
    (finding,) = check(by_owner(owners), CHUNKED, kind="multiaxis").findings
    assert finding.code == "axis"
    assert cause in finding.cause


def test_frequencies_that_are_off_are_found_with_residual_and_budget():
    (finding,) = check(by_owner(OWNERS, 1.001), CHUNKED, kind="multiaxis").findings
    assert finding.residual > finding.budget > 0
    assert "axis 0, coordinate" in finding.where


def test_two_axes_of_an_image_are_claimed_by_a_catalogue_name():
    w = 100.0 ** (-torch.arange(0, 8, 2) / 8)

    def rotate(x, position_ids):
        angle = torch.cat([ids[..., None] * w for ids in position_ids], -1)[:, None]
        x0, x1 = x[..., ::2], x[..., 1::2]
        y = (x0 * angle.cos() - x1 * angle.sin(), x0 * angle.sin() + x1 * angle.cos())
        return torch.stack(y, -1).flatten(-2)

    assert check(rotate, Claims(encoding("axial", head_dim=16), 16), kind="multiaxis").ok


def test_a_cause_is_only_named_where_it_gives_these_rates():
    told = torch.eye(3, dtype=torch.float64)
    assert cause_of(told[[1, 0, 2]], told) == "the axes are taken in the order (1, 0, 2)"
    assert cause_of(told + 0.1, told) == "unknown"
