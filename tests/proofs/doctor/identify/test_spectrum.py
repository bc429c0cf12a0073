"""Tables that claim nothing: frequencies within their errors, and the rule with its numbers."""

from __future__ import annotations

import math

import pytest
import torch
from exptx.proofs.doctor.claims import Claims
from exptx.proofs.doctor.identify.observe import Planes, places
from exptx.proofs.doctor.identify.spectrum import spectrum
from exptx.proofs.doctor.suite import check

PLANES = 64


def plain(base):
    """base^(-k/64) by Python's own powers."""
    return [base ** (-k / PLANES) for k in range(PLANES)]


def yarn(base, factor, length):
    """As in arXiv 2309.00071 with whole corners and betas 32 and 1."""
    low, high = (PLANES * math.log(length / (2 * math.pi * b)) / math.log(base) for b in (32, 1))
    low, high = math.floor(low), math.ceil(high)
    ramp = [min(max((k - low) / (high - low), 0), 1) for k in range(PLANES)]
    return [w * (1 - r + r / factor) for w, r in zip(plain(base), ramp, strict=True)]


def llama(base, factor, length):
    """As in Meta's code, low 1 and high 4."""
    shares = [min(max((length * w / (2 * math.pi) - 1) / 3, 0), 1) for w in plain(base)]
    return [w * (s + (1 - s) / factor) for w, s in zip(plain(base), shares, strict=True)]


def table(waves, sign=1):
    """A callable of position ids, with everything in float32."""
    waves = torch.tensor(waves, dtype=torch.float32)

    def tables(ids):
        angles = ids[..., None].to(torch.float32) * waves
        return angles.cos(), sign * angles.sin()

    return tables


RULES = {
    "base 31415.9, exponent 2i/128": plain(31415.9),
    "base 500000 with llama3 scaling factor 8 original length 8192 low 1 high 4": llama(5e5, 8, 8192),
    "base 1000000 with yarn scaling factor 4 original length 32768": yarn(1e6, 4, 32768),
    "NTK-aware scaling factor 4 on base 10000": plain(10000 * 4 ** (128 / 126)),
    "base 10000 with linear scaling factor 4": [w / 4 for w in plain(10000)],
    "base 10000, exponent i/63 (as in retention)": [10000 ** (-k / 63) for k in range(PLANES)],
}


@pytest.mark.parametrize("words", RULES)
@pytest.mark.parametrize("longest", [4096, 131072])
def test_rules_without_a_claim(words, longest):
    found = check(table(RULES[words]), Claims(head_dim=128, longest=longest), kind="tables")
    assert words in found.identity
    assert "angles formed in float32" in found.identity
    assert found.ok
    for (value, error), wave in zip(found.frequencies, RULES[words], strict=True):
        assert abs(value - wave) <= error + 2**-24 * wave  # the table holds the float32 nearest to it
        assert error < 1e-9 + 3e-7 * wave


def test_no_rule_is_said_with_the_frequencies():
    waves = [0.9, 0.5, 0.11, 0.017]
    found = check(table(waves), Claims(head_dim=8), kind="tables")
    assert "by no known rule" in found.identity
    assert [round(w, 6) for w, _ in found.frequencies] == waves


def test_a_clockwise_table_has_negative_frequencies():
    found = check(table(plain(10000), sign=-1), Claims(head_dim=128), kind="tables")
    assert found.frequencies[1][0] == pytest.approx(-(10000 ** (-1 / 64)), rel=1e-6)


def test_an_angle_that_stops_growing_leaves_what_came_before():
    at = places(4096)
    angles = 0.25 * torch.tensor(at, dtype=torch.float64).clamp(max=64)[:, None]
    planes = Planes(at, (), angles.cos(), angles.sin(), 0.0, (0, 0), (), 2)
    ((value, error),) = spectrum(planes)
    assert abs(value - 0.25) <= error < 1e-6


@pytest.mark.parametrize("words", [words for words in RULES if "scaling" in words and "NTK" not in words])
def test_rules_through_tables_in_half_precision(words):
    exact = table(RULES[words])
    claims = Claims(head_dim=128, longest=131072, table="bfloat16")
    found = check(lambda ids: tuple(x.to(torch.bfloat16) for x in exact(ids)), claims, kind="tables")
    assert words in found.identity
    assert "cos and sin rounded to bfloat16" in found.identity
    assert found.ok


@pytest.mark.parametrize(("claimed", "codes"), [("float32", ["angle-precision"]), ("bfloat16", [])])
def test_half_precision_is_seen_without_a_rule(claimed, codes):
    exact = table([0.9, 0.5, 0.11, 0.017])
    claims = Claims(head_dim=8, table=claimed)
    found = check(lambda ids: tuple(x.to(torch.bfloat16) for x in exact(ids)), claims, kind="tables")
    assert "by no known rule" in found.identity
    assert [finding.code for finding in found.findings] == codes
