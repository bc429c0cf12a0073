"""A piece of attention: in the fused kernel and in plain products, forwards and backwards; pieces join."""

import math

import pytest
import torch
from exptx.numeric.biases import fused
from exptx.numeric.rounding import unit_roundoff
from exptx.proofs import budget

SCALE = 0.3


def part_of(q, k, v, mask):
    """One piece on the axis of pieces."""
    own = None if mask is None else mask[:, :, None]
    return fused.Part(q[:, :, None], k[:, :, None], v[:, :, None], own, SCALE)


def attend(*given):
    return tuple(x[:, :, 0] for x in fused.attend(part_of(*given)))


def drawn(dtype, keys=700):
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(2, 3, n, 8, generator=generator).to(dtype) for n in (40, keys, keys))
    mask = torch.randn(2, 3, 40, keys, generator=generator, dtype=fused.compute_dtype(dtype))
    mask[:, :, 5] = -math.inf  # a query that sees nothing
    mask[:, :, 6, :600] = -math.inf  # and one that sees none of the first keys
    return q, k, v, mask


def exact(q, k, v, mask):
    logits = SCALE * q.double() @ k.double().mT + (0.0 if mask is None else mask.double())
    return logits.softmax(-1).nan_to_num(0.0) @ v.double(), logits.logsumexp(-1), logits


def tolerance(q, k, v, mask):
    """(of the output, of ℓ): weights are rounded to the dtype of v, the output again."""
    u, unit = budget.compute_roundoff(q.dtype), unit_roundoff(q.dtype)
    size = SCALE * q.double().norm(dim=-1)[..., None] * k.double().norm(dim=-1)[..., None, :]
    steep = size + (0.0 if mask is None else mask.double().nan_to_num(neginf=0.0).abs())
    error = float(steep.max()) * (u + budget.gamma(12, q.dtype)) + 40 * u + budget.gamma(k.shape[2], q.dtype)
    # logits err by `error`, so weights by twice that
    return (2 * math.expm1(error) + 2 * unit + unit) * v.double().abs().amax(), 2 * error


@pytest.fixture(params=["kernel", "plain"])
def way(request, monkeypatch):
    if request.param == "plain":
        monkeypatch.setattr(fused, "_has_kernel", lambda _: False)
        monkeypatch.setattr(fused, "_STRIP", 9000)  # several strips
    return request.param


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_a_piece_is_softmax_of_its_logits(dtype, masked, way):
    q, k, v, mask = drawn(dtype)
    mask = mask if masked else None
    out, log_sum = attend(q, k, v, mask)
    known, known_sum, _ = exact(q, k, v, mask)
    of_out, of_sum = tolerance(q, k, v, mask)
    assert out.dtype == dtype
    assert log_sum.dtype == torch.float64
    assert ((out.double() - known).abs() <= of_out).all()
    hidden = known_sum == -math.inf
    assert torch.equal(log_sum == -math.inf, hidden)
    assert ((log_sum - known_sum)[~hidden].abs() <= of_sum).all()


@pytest.mark.parametrize("cut", [1, 350, 699])
def test_two_pieces_join_to_the_whole(cut, way):
    q, k, v, mask = drawn(torch.float64)
    whole, log_sum = torch.zeros(2, 3, 40, 8).double(), torch.full((2, 3, 40), -math.inf).double()
    for part in (slice(0, cut), slice(cut, None)):
        fused.join(whole, log_sum, *attend(q, k[:, :, part], v[:, :, part], mask[..., part]))
    known, known_sum, _ = exact(q, k, v, mask)
    of_out, of_sum = tolerance(q, k, v, mask)
    assert ((whole - known).abs() <= 2 * of_out).all()
    assert ((log_sum - known_sum).nan_to_num(0.0).abs() <= 2 * of_sum).all()


@pytest.mark.parametrize("masked", [True, False])
def test_gradients_of_pieces_add_to_those_of_the_whole(masked, way):
    q, k, v, mask = drawn(torch.float64)
    mask = mask if masked else None
    leaves = [x.clone().requires_grad_() for x in (q, k, v)]
    gradient = torch.randn(2, 3, 40, 8, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    # the query that sees nothing gives nothing back, whatever is asked of it
    seen = torch.ones(40, 1).double()
    seen[5] = 0.0 if masked else 1.0
    known, log_sum, logits = exact(*leaves, None if mask is None else mask.where(seen > 0, 0.0))
    wanted = torch.autograd.grad((known * gradient * seen).sum(), [*leaves, logits])
    out, log_sum = (known * seen).detach(), log_sum.detach().masked_fill(seen[:, 0] == 0, -math.inf)
    found = [torch.zeros_like(x) for x in leaves]
    for part in (slice(0, 300), slice(300, None)):
        own = part_of(q, k[:, :, part], v[:, :, part], None if mask is None else mask[..., part])
        rows = tuple(x[:, :, None] for x in (gradient, out, log_sum))
        of_q, of_k, of_v = (x[:, :, 0] for x in fused.gradients(own, *rows))
        found[0] += of_q
        found[1][:, :, part] += of_k
        found[2][:, :, part] += of_v
        factor = torch.randn(
            40, of_k.shape[2], generator=torch.Generator().manual_seed(6), dtype=torch.float64
        )
        summed = fused.logit_gradients(own, *rows, factor)
        exact_sum = (wanted[3][..., part] * factor).sum((-2, -1))
        assert (summed - exact_sum).abs().max() <= budget.gamma(10**5, torch.float64)
    for mine, theirs in zip(found, wanted[:3], strict=True):
        assert (mine - theirs).abs().max() <= budget.gamma(10**4, torch.float64) * (1 + theirs.abs().max())


@pytest.mark.parametrize(("sequences", "count"), [(1, 3), (3, 1), (2, 3), (3, 2)])
def test_pieces_of_a_stack_are_pieces(sequences, count, way):
    """Taken sequence by sequence or piece by piece, whichever is shorter; one mask for all pieces."""
    generator = torch.Generator().manual_seed(0)
    shape = (sequences, 2, count)
    q, k, v = (torch.randn(*shape, n, 8, generator=generator, dtype=torch.float64) for n in (6, 9, 9))
    mask = torch.randn(sequences, 2, 1, 6, 9, generator=generator, dtype=torch.float64)
    out, log_sum = fused.attend(fused.Part(q, k, v, mask, SCALE))
    gradient = torch.randn(out.shape, generator=generator, dtype=torch.float64)
    found = fused.gradients(fused.Part(q, k, v, mask, SCALE), gradient, out, log_sum)
    factor = torch.rand(6, 9, generator=generator, dtype=torch.float64)
    summed = fused.logit_gradients(fused.Part(q, k, v, mask, SCALE), gradient, out, log_sum, factor)
    each = torch.zeros_like(summed)
    for i in range(count):
        one = fused.Part(*(x[:, :, i : i + 1] for x in (q, k, v)), mask, SCALE)
        own = [x[:, :, i : i + 1] for x in (gradient, out, log_sum)]
        for a, b in zip((out, log_sum), fused.attend(one), strict=True):
            assert (a[:, :, i : i + 1] - b).abs().max() <= budget.gamma(100, torch.float64)
        for a, b in zip(found, fused.gradients(one, *own), strict=True):
            assert (a[:, :, i : i + 1] - b).abs().max() <= budget.gamma(1000, torch.float64)
        each += fused.logit_gradients(one, *own, factor)
    assert (each - summed).abs().max() <= budget.gamma(1000, torch.float64)


def test_half_precision_is_given_to_the_kernel_only_where_it_is_multiplied_in_tiles(monkeypatch):
    half = torch.zeros(1, dtype=torch.bfloat16)
    monkeypatch.setattr(fused, "_TILED", set())
    assert fused.kernel_dtype(half) == torch.float32
    monkeypatch.setattr(fused, "_TILED", {torch.bfloat16})
    assert fused.kernel_dtype(half) == torch.bfloat16
    assert fused.kernel_dtype(half.double()) == torch.float64
    assert fused.kernel_dtype(half.to("meta")) == torch.float32
