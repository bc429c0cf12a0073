"""Gradients of linear attention: to everything that goes in, in every form, gates of exactly 0 included."""

import math

import pytest
import torch
from exptx.numeric import linear_attention, reference
from exptx.numeric.linear import forms
from exptx.proofs import budget

FORMS = ("chunked", "recurrent", "parallel")
SHAPES = {"heads": (2,), "tokens": (1, 2, 11), "features": (1, 2, 11, 4)}
ANGLES = {"planes": (2,), "heads": (2, 2), "tokens": (1, 2, 11, 2)}


def normal(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def inputs(gates, angles=None):
    """q, k, v, log decays, state and angle, all wanting gradients."""
    shape = (*SHAPES[gates][:-1], 2) if angles and gates == "features" else SHAPES[gates]
    parts = [normal(0, 1, 2, 11, 4), normal(1, 1, 2, 11, 4), normal(2, 1, 2, 11, 3)]
    parts += [-normal(3, *shape).abs(), normal(4, 1, 2, 4, 3)]
    parts += [normal(5, *ANGLES[angles])] if angles else []
    return [x.requires_grad_() for x in parts]


def run(form, q, k, v, log_decay, state, angle=None, **more):
    return linear_attention(
        q, k, v, log_decay, initial_state=state, angle=angle, form=form, chunk_size=4, scale=0.5, **more
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("gates", SHAPES)
@pytest.mark.parametrize("angles", [None, *ANGLES])
def test_gradients_are_right(form, gates, angles, monkeypatch):
    monkeypatch.setattr(forms, "STRETCH", 4)  # three stretches
    assert torch.autograd.gradcheck(lambda *given: run(form, *given), inputs(gates, angles), fast_mode=True)


@pytest.mark.parametrize("form", FORMS)
def test_gradients_of_packed_sequences_are_right(form):
    q, k, v, log_decay, state = inputs("features")
    states = torch.cat((state, 2 * state, -state)).detach().requires_grad_()
    bounds = torch.tensor([0, 3, 3, 11])
    assert torch.autograd.gradcheck(
        lambda *given: run(form, *given, cu_seqlens=bounds), (q, k, v, log_decay, states), fast_mode=True
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("gates", ["tokens", "features"])
def test_a_gate_of_zero_has_the_gradient_of_the_recurrence_which_is_zero(form, gates):
    given = inputs(gates)
    shut = torch.zeros(SHAPES[gates], dtype=torch.bool)
    shut[:, :, [0, 5, 6]] = True
    given[3] = given[3].detach().masked_fill(shut, -math.inf).requires_grad_()
    found = torch.autograd.grad(sum(x.sum() for x in run(form, *given)), given)
    q, k, v, log_decay, state = given
    known = torch.autograd.grad(
        sum(x.sum() for x in reference.linear_attention(q, k, v, log_decay, initial_state=state, scale=0.5)),
        given,
    )
    for one, other in zip(found, known, strict=True):
        assert one.isfinite().all()
        assert (one - other).abs().max() <= 2 * budget.gamma(400, "float64") * other.abs().max()
    assert not found[3][shut].any()
    assert found[3][~shut].all()


@pytest.mark.parametrize("form", FORMS)
def test_gradients_come_in_the_dtypes_of_the_inputs(form):
    q, k, v, log_decay, state = inputs("tokens")
    given = [x.detach().bfloat16().requires_grad_() for x in (q, k, v)]
    given += [x.detach().float().requires_grad_() for x in (log_decay, state)]
    out, _ = run(form, *given)
    out.float().square().sum().backward()
    for x in given:
        assert x.grad.dtype == x.dtype
        assert x.grad.isfinite().all()


@pytest.mark.parametrize("form", FORMS)
def test_weak_and_strong_gates_give_finite_gradients_in_single_precision(form):
    """e^{+γs} would overflow after 18 tokens at e^-5 a token."""
    q, k, v = (normal(i, 1, 1, 300, 4).float().requires_grad_() for i in range(3))
    for rate in (-5.0, -50.0, -(2.0**-12), 0.0):
        decay = torch.tensor([rate], requires_grad=True)
        out, state = linear_attention(q, k, v, decay, form=form)
        found = torch.autograd.grad(out.sum() + state.sum(), (q, k, v, decay))
        assert all(x.isfinite().all() for x in found)
