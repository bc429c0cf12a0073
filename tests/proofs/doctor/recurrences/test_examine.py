"""Recurrences in three forms: conventions are read off, hard decays and gradients are asked of every form."""

from __future__ import annotations

import pytest
import torch
from exptx.numeric import linear_attention
from exptx.proofs import Claims, check

CLAIMS = Claims(head_dim=8)


def ours(scale=1.0):
    def attention(q, k, v, log_decay, form):
        return linear_attention(q, k, v, log_decay, form=form, scale=scale)[0]

    return attention


def codes(apply, claims=CLAIMS):
    return {finding.code: finding.cause for finding in check(apply, claims, kind="recurrence").findings}


@pytest.mark.parametrize(("scale", "words"), [(1.0, "scale 1,"), (8**-0.5, "scale 1/√8")])
def test_the_kernels_of_this_project_pass_in_every_form(scale, words):
    found = check(ours(scale), CLAIMS, kind="recurrence")
    assert found.ok, found.findings
    assert words in found.identity
    assert all(law.residual <= law.budget for law in found.measured)


def test_half_precision_is_judged_by_its_own_budget():
    assert not codes(ours(), Claims(head_dim=8, dtype="bfloat16"))


def test_another_scale_in_one_form_is_named():
    def uneven(q, k, v, log_decay, form):
        return ours(8**-0.5 if form == "chunked" else 1.0)(q, k, v, log_decay, form)

    assert "scaled by 1/√d" in codes(uneven)["recurrence"]


def test_decays_that_are_ignored_are_named():
    def flat(q, k, v, log_decay, form):
        return ours()(q, k, v, torch.zeros_like(log_decay), form)

    assert "nothing decays" in codes(flat)["recurrence"]


def test_a_result_that_is_cut_off_is_found():
    def detached(q, k, v, log_decay, form):
        return ours()(q, k, v, log_decay, form).detach()

    assert set(codes(detached)) == {"recurrence-gradient"}
    assert not codes(detached, Claims(head_dim=8, gradient=False))


def test_a_form_that_is_not_offered_is_not_asked_for():
    def recurrent_only(q, k, v, log_decay, form):
        assert form == "recurrent"
        return ours()(q, k, v, log_decay, form)

    assert not codes(recurrent_only, Claims(head_dim=8, forms=("recurrent",)))
    assert "recurrence" in codes(recurrent_only)


def test_gates_that_are_refused_are_said():
    def fixed(q, k, v, log_decay, form):
        if log_decay.ndim != 1:
            raise ValueError("one decay a head")
        return ours()(q, k, v, log_decay, form)

    found = check(fixed, CLAIMS, kind="recurrence")
    assert found.ok, found.findings
    assert any("gates of every token" in said for said in found.unjudged)
