"""The operators as PyTorch checks them: schema, shapes without numbers, gradients, whole graphs."""

import pytest
import torch
from exptx.numeric import alibi_attention, alibi_slopes, biased_attention
from exptx.numeric.biases.ops import SLIDE, SLIDE_BACKWARD
from exptx.symbolic import realize
from sympy import Symbol
from torch._dynamo.testing import CompileCounterWithBackend


def drawn(time=40, heads=2, key_heads=2, learned=True, dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    shapes = ((heads, time, 8), (key_heads, time, 8), (key_heads, time, 6))
    return [torch.randn(1, *s, generator=generator).to(dtype).requires_grad_(learned) for s in shapes]


def options(time=40, mask=None, symmetric=False):
    ids = torch.arange(time)[None]
    return ids, ids, mask, True, symmetric, 0.3


@pytest.mark.parametrize("key_heads", [1, 2])
@pytest.mark.parametrize("mask", [None, torch.ones(1, 1, 40, 40, dtype=torch.bool).tril()])
def test_the_operator_passes_the_checks_of_pytorch(mask, key_heads):
    slopes = alibi_slopes(2).requires_grad_()
    torch.library.opcheck(SLIDE, (*drawn(key_heads=key_heads), slopes, *options(mask=mask)))


def test_its_gradient_passes_them_too():
    q, k, v = drawn(learned=False)
    slopes = alibi_slopes(2)
    out, log_sum = SLIDE(q, k, v, slopes, *options())
    given = (torch.ones_like(out), out, log_sum, q, k, v, slopes, *options(), True)
    torch.library.opcheck(SLIDE_BACKWARD, given, test_utils=["test_schema", "test_faketensor"])


def test_one_graph_serves_every_length():
    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(lambda *given: alibi_attention(*given), fullgraph=True, backend=counter)
    slopes = alibi_slopes(2).requires_grad_()
    for time in (40, 50, 300, 64):
        q, k, v = drawn(time)
        out = compiled(q, k, v, slopes)
        assert torch.equal(out, alibi_attention(q, k, v, slopes))
        own, eager = (torch.autograd.grad(y.sum(), slopes) for y in (out, alibi_attention(q, k, v, slopes)))
        assert torch.equal(own[0], eager[0])
    assert counter.frame_count <= 2


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_shapes_need_no_numbers(dtype):
    q, k, v = (x.to("meta") for x in drawn(dtype=dtype))
    out = alibi_attention(q, k, v, alibi_slopes(2).to("meta"))
    assert out.shape == (1, 2, 40, 6)
    assert out.dtype == dtype


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_changes_nothing(dtype):
    q, k, v = drawn()
    plain = alibi_attention(q, k, v, alibi_slopes(2))
    with torch.autocast("cpu", dtype=dtype):
        assert torch.equal(alibi_attention(q, k, v, alibi_slopes(2)), plain)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_gradients_in_half_precision_are_those_of_float64_to_its_rounding(dtype):
    """Through the kernel in half precision: outputs, weights and gradients are each rounded to it."""
    time = 300
    q, k, v = drawn(time, dtype=dtype)
    slopes = torch.tensor([0.8409, 0.01], dtype=torch.float64, requires_grad=True)
    out, _ = SLIDE(q, k, v, slopes, *options(time))
    found = torch.autograd.grad(out.float().square().sum(), (q, k, v, slopes))
    wide = [x.detach().double().requires_grad_() for x in (q, k, v)]
    exact, _ = SLIDE(*wide, slopes, *options(time))
    known = torch.autograd.grad(exact.square().sum(), (*wide, slopes))
    unit = torch.finfo(dtype).eps
    for mine, theirs in zip(found, known, strict=True):
        assert (mine.double() - theirs).norm() <= 8 * unit * theirs.norm()


# torch's own, after any break behind which a tensor has a gradient
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning")
def test_a_realised_bias_runs_between_two_graphs_without_compiling_again():
    u, counter = Symbol("u"), CompileCounterWithBackend("aot_eager")
    bias = realize(-(u**2) / 9, u)

    def model(q, k, v):
        return biased_attention(2 * q, k, v, bias) + 1

    compiled = torch.compile(model, backend=counter)
    for time in (40, 50, 300, 64):
        given = drawn(time)
        out, known = compiled(*given), model(*given)
        assert torch.equal(out, known)
        for mine, theirs in zip(*(torch.autograd.grad(y.sum(), given) for y in (out, known)), strict=True):
            assert torch.equal(mine, theirs)
    assert counter.frame_count <= 4  # before and after, once for a length and once for every one
    with pytest.raises(torch._dynamo.exc.Unsupported, match=r"reads exact numbers, .* fullgraph=False works"):
        torch.compile(model, fullgraph=True, backend="eager")(*drawn())


def test_the_logarithm_of_the_normaliser_is_that_of_the_logits_also_under_a_mask():
    q, k, v = drawn(learned=False, dtype=torch.float64)
    slopes, seen = (
        alibi_slopes(2).double(),
        torch.rand(1, 1, 40, 40, generator=torch.Generator().manual_seed(1)) < 0.5,
    )
    seen = seen | torch.eye(40, dtype=torch.bool)
    gap = torch.arange(40.0)[:, None] - torch.arange(40.0)
    for mask in (None, seen):
        _, found = SLIDE(q, k, v, slopes, *options(mask=mask))
        logits = 0.3 * q @ k.mT - slopes[:, None, None] * gap
        hidden = (gap < 0) if mask is None else (gap < 0) | ~mask
        known = logits.masked_fill(hidden, -torch.inf).logsumexp(-1)
        # 8 products a score, 40 terms a sum; logits below 64 in size
        assert (found - known).abs().max() <= 64 * 64 * torch.finfo(torch.float64).eps
