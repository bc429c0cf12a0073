"""Slopes and biases examined: right ones in every form, broken ones with the reason, installed models."""

from __future__ import annotations

import math

import pytest
import torch
from exptx.benchmarks.peers import imported
from exptx.proofs.doctor.claims import Claims
from exptx.proofs.doctor.suite import check
from exptx.symbolic.catalogue.alibi import slopes
from exptx.symbolic.configs.description import Alibi
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.falcon.modeling_falcon import build_alibi_tensor as falcon_alibi
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

x_transformers = imported("x_transformers.x_transformers")


def said(heads, causal=True, **more):
    return Claims(Alibi(slopes(heads), False), heads=heads, causal=causal, **more)


def geometric(n):
    return torch.tensor([2 ** (-8 * (h + 1) / n) for h in range(n)], dtype=torch.float64)


def line(heads, value):
    """A bias with slopes of a power of two: value(m, t, s)."""
    m = geometric(heads).float()[:, None, None]

    def of_lengths(query_length, key_length):
        t = torch.arange(key_length - query_length, key_length)[:, None]
        return value(m, t, torch.arange(key_length)[None])

    return of_lengths


def found(apply, kind, claims):
    return check(apply, claims, kind=kind)


@pytest.mark.parametrize("heads", [8, 12])
def test_slopes_as_installed_models_form_them_are_right(heads):
    def bloom(n):
        return build_alibi_tensor(torch.ones(1, 2), n, torch.float32)[:, 0, 1]

    diagnosis = found(bloom, "slopes", said(heads))
    assert diagnosis.ok, diagnosis.findings
    assert diagnosis.identity == "gives slopes: the slopes of the authors' code"
    assert all(law.residual <= law.budget for law in diagnosis.measured)


def test_slopes_of_falcon_are_rounded_unless_that_is_claimed():
    def falcon(n):
        return falcon_alibi(torch.ones(1, 2), n, torch.float32)[:, 0, 1]

    (finding,) = found(falcon, "slopes", said(12)).findings
    assert finding.code == "slope-precision"
    assert finding.cause == "slopes rounded to bfloat16"
    assert found(falcon, "slopes", said(12, table="bfloat16")).ok


@pytest.mark.parametrize(
    ("broken", "code", "cause"),
    [
        (lambda n: 2 ** (8 / n) * geometric(n), "slope-value", "head index from 0"),
        (geometric, "slope-value", "one geometric sequence"),
        (lambda n: -geometric(n), "slope-sign", "unknown"),
        (lambda n: geometric(n).float() * 1.00001, "slope-value", "unknown"),
    ],
)
def test_broken_slopes_are_found_with_their_cause(broken, code, cause):
    (finding,) = found(broken, "slopes", said(12)).findings
    assert finding.code == code
    assert cause in finding.cause


def test_the_formula_of_the_paper_is_a_convention_that_a_claim_decides():
    unclaimed = found(geometric, "slopes", Claims(heads=6))
    assert unclaimed.ok
    assert "claim the encoding" in unclaimed.unjudged[0]
    assert not found(geometric, "slopes", said(6)).ok


INSTALLED = {
    "bloom": lambda q, k: build_alibi_tensor(torch.ones(1, k), 8, torch.float32),
    "mpt": lambda q, k: build_mpt_alibi_tensor(8, k),
    "x-transformers": lambda q, k: x_transformers.AlibiPositionalBias(8, 8)(q, k),
}


@pytest.mark.parametrize("name", INSTALLED)
def test_biases_of_installed_models_are_right(name):
    diagnosis = found(INSTALLED[name], "bias", said(8, longest=1024))
    assert diagnosis.ok, diagnosis.findings
    assert diagnosis.identity.startswith("adds -m(t-s) with the slopes of the authors' code for 8 heads")


def test_the_bias_of_x_transformers_is_symmetric():
    diagnosis = found(INSTALLED["x-transformers"], "bias", said(8, causal=False, longest=256))
    assert diagnosis.ok, diagnosis.findings


RIGHT = {
    "gap": lambda m, t, s: -m * (t - s),
    "key": lambda m, t, s: m * s + 0 * t,
    "shifted": lambda m, t, s: m * s - m * (t + 7),
    "masked": lambda m, t, s: torch.where(s > t, -math.inf, -m * (t - s)),
    "lowest": lambda m, t, s: torch.where(s > t, torch.finfo(torch.float32).min, -m * (t - s)),
}


@pytest.mark.parametrize("form", RIGHT)
@pytest.mark.parametrize("claims", [said(8), Claims(heads=8)], ids=["claimed", "unclaimed"])
def test_a_constant_a_row_and_the_mask_are_no_finding(form, claims):
    assert found(line(8, RIGHT[form]), "bias", claims).ok


@pytest.mark.parametrize(
    ("value", "causal", "code", "cause"),
    [
        (lambda m, t, s: m * (t - s), True, "bias-sign", "the minus is missing"),
        (lambda m, t, s: m * s + 0 * t, False, "bias-symmetry", "the key's index"),
        (lambda m, t, s: -m * (t - t[0] - s).abs(), True, "bias-offset", "at their index in the call"),
        (lambda m, t, s: (-m * (t - s)).bfloat16(), True, "bias-linear", "rounded to bfloat16"),
        (lambda m, t, s: 0.0 * m * (t - s), True, "bias-linear", "no bias at all"),
        (lambda m, t, s: -m * (t - s) ** 2, True, "bias-linear", "unknown"),
        (lambda m, t, s: torch.where(t - s > 8, -math.inf, -m * (t - s)), True, "bias-mask", "unknown"),
    ],
)
def test_a_broken_bias_is_found_with_its_cause(value, causal, code, cause):
    findings = found(line(8, value), "bias", said(8, causal)).findings
    assert code in {finding.code for finding in findings}
    assert any(cause in finding.cause for finding in findings)


def test_a_bias_of_the_gap_that_is_no_line_is_judged_as_relative_only():
    curved = found(line(8, lambda m, t, s: -m * torch.log1p((t - s).abs())), "bias", Claims(heads=8))
    assert curved.ok, curved.findings
    assert "not linear in the gap" in curved.identity
    moving = found(line(8, lambda m, t, s: -m * torch.log1p((t - s).abs()) * t), "bias", Claims(heads=8))
    assert {finding.code for finding in moving.findings} == {"bias-relative"}
