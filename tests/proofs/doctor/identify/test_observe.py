"""Planes whose length depends on the position: identified; a finding where a plain turn is claimed."""

from __future__ import annotations

import math

import pytest
import torch
from exptx.proofs import Claims, check, rope

DIM = 16
W = 10000.0 ** (-torch.arange(0, DIM, 2).double() / DIM)
ZETA = (torch.arange(0, DIM, 2).double() + 0.4 * DIM) / (1.4 * DIM)


def scaled(x, position_ids, sign, bend=0.0):
    """Half-split turns, plane i as long as ζ_i^(±t/512), in float64; bend: of the exponent."""
    t = position_ids[:, None, :, None].double()
    length = ZETA ** (sign * (t / 512 + bend * (t / 512) ** 2))
    c, s = length * (t * W).cos(), length * (t * W).sin()
    x0, x1 = x.double().chunk(2, -1)
    return torch.cat((x0 * c - x1 * s, x0 * s + x1 * c), -1).to(x.dtype)


def xpos(q, k, position_ids):
    return scaled(q, position_ids, 1), scaled(k, position_ids, -1)


def queries(x, position_ids):
    return scaled(x, position_ids, 1)


def test_xpos_is_described_and_no_finding_without_a_claim():
    found = check(xpos, Claims(head_dim=DIM))
    assert found.ok, found.findings
    rate = math.log(0.4 / 1.4) / 512  # of plane 0, whose ζ is least
    assert f"g from {rate:.4g} to" in found.identity
    assert "base 10000" in found.identity


def test_a_single_side_is_described_too():
    assert check(queries, Claims(head_dim=DIM)).ok


def test_keys_that_are_not_scaled_inversely_break_the_relative_law():
    def both_shrink(q, k, position_ids):
        return scaled(q, position_ids, 1), scaled(k, position_ids, 1)

    codes = {finding.code for finding in check(both_shrink, Claims(head_dim=DIM)).findings}
    assert "relative" in codes


def test_a_claimed_plain_turn_has_one_length():
    found = check(queries, Claims(rope(10000.0, DIM), DIM))
    causes = {finding.code: finding.cause for finding in found.findings}
    assert "xPos" in causes["amplitude"]


@pytest.mark.parametrize("bend", [0.1, -0.1])
def test_lengths_that_are_no_exponential_are_a_finding(bend):
    def bent(x, position_ids):
        return scaled(x, position_ids, 1, bend)

    assert "norm" in {finding.code for finding in check(bent, Claims(head_dim=DIM)).findings}


def test_a_strong_damping_is_described_from_the_positions_that_it_leaves():
    def damped(x, position_ids):
        t = position_ids[:, None, :, None].double()
        length = torch.exp(-0.05 * t)
        c, s = length * (t * W).cos(), length * (t * W).sin()
        x0, x1 = x.double().chunk(2, -1)
        return torch.cat((x0 * c - x1 * s, x0 * s + x1 * c), -1).to(x.dtype)

    assert "g from -0.05 to -0.05" in check(damped, Claims(head_dim=DIM)).identity
