"""What is printed of a bias is true as it stands there, digit by digit."""

from __future__ import annotations

import re

import mpmath
import pytest
from exptx.proofs.answers import classified
from exptx.proofs.classification import classification


def lines_of(what, *assume, **asked):
    found = classified(classification(what, assume, asked, {}))
    return {name: text.strip() for name, _, text in (line.partition(":") for line in found)}


def printed(formula, at):
    """The value of a printed constant and decays, by the digits that are printed."""
    constant, *terms = formula.replace("- ", "-").replace("+ ", "+").split()
    total = mpmath.mpf(constant)
    for term in terms:
        weight, rate = re.fullmatch(r"([-+][\d.e-]+)·e\^\(-([\d.e-]+)·u\)", term).groups()
        total += mpmath.mpf(weight) * mpmath.exp(-mpmath.mpf(rate) * at)
    return total


@pytest.mark.parametrize(
    ("what", "bias", "tolerance", "end"),
    [
        ("exp(-u^2/100)", lambda u: mpmath.exp(-(u**2) / 100), "10^-3", 64),
        ("-log(1 + u)", lambda u: -mpmath.log1p(u), "1/100", 8192),
        ("-sqrt(u)", lambda u: -mpmath.sqrt(u), "1/10", 4096),
        ("-log(1 + u)", lambda u: -mpmath.log1p(u), "10^-5", 1000),
    ],
)
def test_the_printed_formula_satisfies_the_printed_bound(what, bias, tolerance, end):
    lines = lines_of(what, domain="causal", tolerance=tolerance, window=f"0, {end}")
    bound = mpmath.mpf(re.match(r"at most (\S+) for this formula", lines["error"]).group(1))
    with mpmath.workdps(40):
        for k in range(400):
            at = mpmath.mpf(end) * (mpmath.mpf(k) / 399) ** 3
            assert abs(bias(at) - printed(lines["formula"], at)) <= bound


def test_terms_that_cancel_beyond_float32_are_spoken_of():
    asked = {"domain": "causal", "tolerance": "10^-3", "window": "0, 64"}
    document = classification("exp(-u^2/100)", (), asked, {})
    assert float(document["amplification"]) > 2**24
    assert document["floats"].startswith("its terms cancel: rounding moves it by up to 7.7 in float32")
    assert document["floats"].endswith("only float64 carries it")
    assert "floats" not in lines_of("-log(1 + u)", tolerance="1/100", window="0, 8192")
