"""What attention with a bias of the gap refuses, each in one sentence, and what of nothing it makes."""

import math

import pytest
import sympy as sp
import torch
from exptx.numeric import (
    BadChoice,
    BadDtype,
    BadTensor,
    NotBuilt,
    TooLarge,
    alibi_attention,
    biased_attention,
)
from exptx.symbolic import Realization, realize

u = sp.Symbol("u")
LOG = realize(-sp.log(1 + u), u, domain="causal", tolerance=sp.Rational(1, 10), window=(0, 60))
SIGNED = realize((-2) ** u, u, domain="integers")
FAR = 10**4 * torch.arange(60)


def drawn(dtype):
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(2, 4, 60, n, generator=generator).to(dtype) for n in (8, 8, 6)]


def slopes_of(heads):
    return torch.tensor([0.8409, 2**-0.5, 0.05, 0.0][:heads])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda q, k, v: biased_attention(q, k, v, "-u"), BadDtype, "bias is a str; a Realization works"),
        (
            lambda q, k, v: biased_attention(q, k, v, LOG),
            BadDtype,
            r"a Approximation; its \.realization works",
        ),
        (
            lambda q, k, v: biased_attention(q, k, v, Realization.from_samples([0, 1, 4, 9, 16, 25, 36])),
            BadChoice,
            "from samples at n = 0, …, 6 only and not known at other gaps; a formula",
        ),
        (
            lambda q, k, v: biased_attention(q, k, v, realize(2**u, u, domain="integers"), position_ids=FAR),
            TooLarge,
            "the bias grows beyond float64 at such gaps; fewer positions work",
        ),
        (
            lambda q, k, v: biased_attention(
                q, k, v, realize((-2) ** u, u, domain="integers"), position_ids=FAR
            ),
            TooLarge,
            "the bias grows beyond float64 at such gaps; fewer positions work",
        ),
        (
            lambda q, k, v: biased_attention(q, k, v, [realize(-u, u)] * 3),
            BadTensor,
            "bias has 3 realisations but q has 4 heads; 1 or 4 works",
        ),
        (
            lambda q, k, v: biased_attention(q, k, v, realize(-u, u, domain="causal"), causal=False),
            BadChoice,
            "gaps below 0, but it was realised on the domain 'causal'",
        ),
        (
            lambda q, k, v: biased_attention(
                q, k, v, realize(-u, u, domain="integers"), position_ids=torch.arange(60) / 2
            ),
            BadChoice,
            "positions are floats",
        ),
        (
            lambda q, k, v: alibi_attention(
                q, k, v, slopes_of(4), attn_mask=torch.zeros(60, 60, requires_grad=True)
            ),
            BadChoice,
            r"attn_mask requires a gradient.*attn_mask\.detach\(\) works",
        ),
        (
            lambda q, k, v: alibi_attention(q, k, v, slopes_of(4), attn_mask=torch.zeros(60, 7)),
            BadTensor,
            r"attn_mask has shape \(60, 7\)",
        ),
        (
            lambda q, k, v: alibi_attention(q, k, v, slopes_of(4), causal="no"),
            BadChoice,
            "causal is 'no'; True",
        ),
        (
            lambda q, k, v: biased_attention(q, k, v, realize(-u, u), symmetric=None),
            BadChoice,
            "symmetric is None; True or False works",
        ),
        (
            lambda q, k, v: alibi_attention(q, k, v, slopes_of(4), position_ids=torch.full((60,), math.nan)),
            BadTensor,
            "position_ids contains NaN or infinity",
        ),
        (
            lambda q, k, v: alibi_attention(
                q,
                k,
                v,
                slopes_of(4),
                key_position_ids=torch.arange(60) - 2**63,
                position_ids=torch.arange(60),
            ),
            TooLarge,
            r"key_position_ids reaches beyond ±2\^62",
        ),
        (
            lambda q, k, v: alibi_attention(
                q, k, v, slopes_of(4), position_ids=torch.arange(60.0, requires_grad=True)
            ),
            BadChoice,
            r"position_ids requires a gradient.*position_ids\.detach\(\) works",
        ),
        (
            lambda q, k, v: alibi_attention(q[..., :0], k[..., :0], v, slopes_of(4)),
            BadTensor,
            r"q has shape \(2, 4, 60, 0\), without features",
        ),
        (
            lambda q, k, v: alibi_attention(q, k, v, slopes_of(4), enable_gqa="no"),
            BadChoice,
            "enable_gqa is 'no'; True or False works",
        ),
        (
            lambda q, k, v: alibi_attention(q, k, v, slopes_of(4), scale=10**400),
            BadTensor,
            "scale is 10+; a finite positive number works",
        ),
        (
            lambda q, k, v: biased_attention(q, k, v, realize(-(10**400) * u, u)),
            TooLarge,
            r"a number beyond 2\^\d+ has no float",
        ),
        (
            lambda q, k, v: alibi_attention(q, k[:, :0], v[:, :0], slopes_of(4), enable_gqa=True),
            BadTensor,
            "q has 4 heads and k has 0",
        ),
        (
            lambda q, k, v: biased_attention(q, k, v, realize(sp.exp(3 * u), u)),
            TooLarge,
            r"the bias reaches 7\.\d+e\+76, beyond what torch.float32 holds",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(call, error, words):
    with pytest.raises(error, match=words) as refusal:
        call(*drawn(torch.float32))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "run",
    [
        lambda *given: alibi_attention(*given, slopes_of(given[0].shape[1])),
        lambda *given: biased_attention(*given, realize(-u, u)),
    ],
)
def test_no_sequences_and_no_heads_give_none(run):
    for q, k, v in ([x[:0] for x in drawn(torch.float32)], [x[:, :0] for x in drawn(torch.float32)]):
        given = [x.requires_grad_() for x in (q, k, v)]
        out = run(*given)
        assert out.shape == (*q.shape[:3], 6)
        assert [x.shape for x in torch.autograd.grad(out.sum(), given)] == [x.shape for x in given]


def test_gradients_of_gradients_are_refused():
    q, k, v = (x.requires_grad_() for x in drawn(torch.float64))
    (first,) = torch.autograd.grad(
        alibi_attention(q, k, v, slopes_of(4)).square().sum(), q, create_graph=True
    )
    with pytest.raises(NotBuilt, match=r"gradients of the gradients of alibi_attention .* attention\(\) has"):
        torch.autograd.grad(first.sum(), q)
