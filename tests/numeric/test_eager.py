"""The eager path: tile by tile it gives what it gives at once, and no path gives another number."""

import pytest
import torch
from exptx.numeric import eager, rotary_embedding, rotary_table
from exptx.symbolic import frequencies


def heads(layout, dtype):
    x = torch.randn(2, 5, 4, 10, generator=torch.Generator().manual_seed(0)).to(dtype)
    return x.transpose(1, 2) if layout == "bthd" else x


@pytest.fixture(params=[1, 90, 170, 10**6])
def tile(request, monkeypatch):
    monkeypatch.setattr(eager, "_TILE", request.param)


@pytest.mark.usefixtures("tile")
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("layout", ["bhtd", "bthd"])
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("inverse", [False, True])
def test_tiles_and_the_native_kernel_give_the_same_bits(dtype, layout, interleaved, inverse):
    x, ids = heads(layout, dtype), torch.tensor([3, 0, 2, 2])
    table = rotary_table(
        frequencies(10000, 8),
        torch.arange(4),
        dtype=torch.float64 if dtype == torch.float64 else torch.float32,
    )
    options = {"layout": layout, "interleaved": interleaved, "inverse": inverse, "rotary_dim": 8}
    known = rotary_embedding(x, *table, ids, impl="native", **options)
    got = rotary_embedding(x, *table, ids, impl="eager", **options)
    assert torch.equal(got, known)
    assert got.is_contiguous()
    out = x.clone()
    rotary_embedding(out, *table, ids, impl="eager", out=out, **options)
    assert torch.equal(out, known)


@pytest.mark.usefixtures("tile")
def test_gradients_do_not_depend_on_tiles():
    x, table = (
        heads("bhtd", torch.float64).requires_grad_(),
        rotary_table(frequencies(10000, 10), torch.arange(4)),
    )
    table = [entry.double() for entry in table]
    assert torch.autograd.gradcheck(
        lambda x: rotary_embedding(x, *table, impl="eager"), (x[:1, :1].detach().requires_grad_(),)
    )
    y = rotary_embedding(x, *table, impl="eager")
    y.backward(torch.ones_like(y))
    assert torch.equal(x.grad, rotary_embedding(torch.ones_like(y), *table, inverse=True))
