"""Decoding with a cache: a right decoder passes in both pairings, and what a cache forgets is found."""

from __future__ import annotations

import pytest
import torch
from exptx.numeric import RotaryEmbedding
from exptx.proofs import Claims, check, rope
from exptx.symbolic import frequencies

DIM = 16


class Decoder:
    """Keys kept turned in a buffer that is written in place, of the kernels of this project."""

    def __init__(self, interleaved=False, forgets=0):
        self.rotary = RotaryEmbedding(frequencies(10000, DIM), interleaved=interleaved)
        self.forgets = forgets

    def __call__(self, q, k, v, cache):
        start = 0 if cache is None else cache[0].shape[2]
        ids = torch.arange(start, start + q.shape[2])
        q, k = self.rotary(q, k, ids)
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        keys = torch.arange(k.shape[2])
        seen = (keys <= ids[:, None]) & ((keys >= self.forgets) | (keys == ids[:, None]))
        logits = (q @ k.transpose(-1, -2) * DIM**-0.5).masked_fill(~seen, float("-inf"))
        return logits.softmax(-1) @ v, (k, v)


def claims(interleaved=False, **more):
    return Claims(rope(10000.0, DIM, interleaved=interleaved), DIM, **more)


@pytest.mark.parametrize("interleaved", [False, True])
def test_a_right_decoder_passes_and_every_law_is_measured(interleaved):
    found = check(Decoder(interleaved), claims(interleaved), kind="decode")
    assert found.ok, found.findings
    assert {law.residual <= law.budget for law in found.measured} == {True}
    assert len(found.measured) == 4


def test_the_other_pairing_is_another_model():
    found = check(Decoder(True), claims(False), kind="decode")
    assert {finding.code for finding in found.findings} == {"attention-value"}


def test_without_a_claim_a_decoder_is_compared_with_itself():
    found = check(Decoder(), Claims(head_dim=DIM), kind="decode")
    assert found.ok
    assert any("claim the encoding" in said for said in found.unjudged)


def test_a_cache_that_forgets_its_first_token_is_found():
    codes = {finding.code for finding in check(Decoder(forgets=1), claims(), kind="decode").findings}
    assert codes & {"attention-value", "decode"}
