"""Matrix exponentials against balls: correct algorithms pass at any condition, and faults are named."""

from __future__ import annotations

import math

import torch
from exptx.proofs import check
from exptx.proofs.doctor.matrices.examine import exact


def batched(x):
    """torch's, which is right for batches of two and more."""
    pair = torch.stack((x, x))
    return torch.linalg.matrix_exp(pair)[0]


def found_in(apply):
    return check(apply, kind="matrix_exp")


def test_the_batched_exponential_of_torch_passes():
    found = found_in(batched)
    assert found.ok, found.findings
    assert found.identity == "a matrix exponential in float32 and float64"


def test_the_single_exponential_of_torch_is_off_for_a_turn_in_float32():
    findings = found_in(lambda x: torch.linalg.matrix_exp(x)).findings
    (one,) = [finding for finding in findings if "turn by 0.5" in finding.where]
    assert "float32" in one.where
    assert "another path than a batch" in one.cause


def test_the_transpose_and_the_inverse_are_named():
    causes = {finding.cause for finding in found_in(lambda x: batched(x.mT.contiguous())).findings}
    assert "it is the exponential of the transpose" in causes
    causes = {finding.cause for finding in found_in(lambda x: batched(-x)).findings}
    assert "it is the exponential of -X" in causes


def test_the_oracle_knows_closed_forms():
    turn = exact(torch.tensor([[0.0, -0.5], [0.5, 0.0]], dtype=torch.float64), "float64")
    told = torch.tensor([[math.cos(0.5), -math.sin(0.5)], [math.sin(0.5), math.cos(0.5)]])
    assert float((turn.value - told.double()).abs().max()) < 1e-7
    assert abs(float(turn.value[0, 0]) - math.cos(0.5)) < 1e-16
    shear = exact(torch.tensor([[0.0, 7.0], [0.0, 0.0]], dtype=torch.float64), "float64")
    assert torch.equal(shear.value, torch.tensor([[1.0, 7.0], [0.0, 1.0]], dtype=torch.float64))


def test_what_is_allowed_grows_with_the_norm_and_shrinks_with_the_format():
    small, large = (torch.tensor([[0.0, -a], [a, 0.0]], dtype=torch.float64) for a in (0.5, 40.0))
    assert exact(small, "float64").allowed < exact(large, "float64").allowed
    assert exact(small, "float64").allowed < 1e-8 * exact(small, "float32").allowed


def test_one_format_alone_is_enough_and_is_said():
    def single(x):
        if x.dtype != torch.float32:
            raise TypeError("float32 alone")
        return batched(x)

    found = found_in(single)
    assert found.ok, found.findings
    assert found.identity == "a matrix exponential in float32"
    assert found.unjudged
