"""Triton behind the operators, on CPU tensors in its interpreter: gradients, compilation, refusals."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
from exptx.numeric import (
    NeedsGradient,
    PositionOutOfRange,
    native,
    ops,
    rotary_embedding,
    rotary_embedding_qk,
    rotary_table,
    triton,
)
from exptx.numeric.ops import rotary_out, rotary_qk
from exptx.numeric.validation import compute_dtype
from exptx.symbolic import frequencies
from torch.library import opcheck

TIME, PAIRS = 3, 2
IDS = torch.tensor([[0, 2, 2], [1, 1, 0]], dtype=torch.int32)
CASES = [
    ("bhtd", False, False, None),
    ("bthd", True, True, IDS),
    ("bthd", False, True, None),
    ("bhtd", True, False, IDS),
]


def heads(number, layout="bhtd", dtype=torch.float64, seed=0):
    """(2, number, TIME, 6), in the given layout: heads of which four coordinates turn."""
    x = torch.randn(2, number, TIME, 6, generator=torch.Generator().manual_seed(seed), dtype=dtype)
    return x.transpose(1, 2).contiguous() if layout == "bthd" else x


def table(dtype=torch.float64):
    return rotary_table(frequencies(10000, 2 * PAIRS), torch.arange(TIME), dtype=dtype)


def learning(*tensors):
    return tuple(x.clone().requires_grad_() for x in tensors)


@pytest.fixture
def only_triton(monkeypatch):
    """No kernel in C is called."""

    def refused(*_):
        raise AssertionError("a kernel in C was called")

    monkeypatch.setattr(native, "rotary", refused)
    monkeypatch.setattr(native, "rotary_qk", refused)


@pytest.mark.parametrize("name", ["exptx::rotary", "exptx::rotary_qk", "exptx::rotary_out"])
def test_a_gpu_has_kernels_of_its_own(name):
    assert torch._C._dispatch_has_kernel_for_dispatch_key(name, "CUDA")
    assert ops._kernels(SimpleNamespace(is_cuda=True), "auto") is triton
    assert ops._kernels(SimpleNamespace(is_cuda=False), "auto") is native


@pytest.mark.usefixtures("only_triton")
@pytest.mark.parametrize(("layout", "interleaved", "inverse", "ids"), CASES)
def test_the_operators_keep_what_their_schema_promises(layout, interleaved, inverse, ids):
    options = (ids, 2 * PAIRS, interleaved, layout, inverse, "triton")
    q, k, cos, sin = learning(heads(3, layout), heads(2, layout), *table())
    opcheck(rotary_qk, (q, k, cos, sin, *options))
    opcheck(rotary_out, (q.detach(), torch.empty_like(q), cos.detach(), sin.detach(), *options))


@pytest.mark.parametrize(("layout", "interleaved", "inverse", "ids"), CASES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_gradients_have_the_bits_of_those_by_the_kernel_in_c(
    layout, interleaved, inverse, ids, dtype, request
):
    """Which are tried against finite differences by themselves."""
    options = {"interleaved": interleaved, "layout": layout, "inverse": inverse, "rotary_dim": 2 * PAIRS}
    found = []
    for impl in ("native", "triton"):
        if impl == "triton":
            request.getfixturevalue("only_triton")
        inputs = learning(heads(2, layout, dtype), heads(1, layout, dtype), *table(compute_dtype(dtype)))
        q, k = rotary_embedding_qk(*inputs, ids, **options, impl=impl)
        y = rotary_embedding(q, *inputs[2:], ids, **options, impl=impl)
        ((y * y).sum() + (k * k * k).sum()).backward()
        found.append([x.grad for x in inputs])
    assert all(map(torch.equal, *found))


@pytest.mark.usefixtures("only_triton")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_one_compiled_graph_gives_the_same_numbers_forward_and_backward(dtype):
    rows = table(torch.float32)

    def step(q, k):
        q, k = rotary_embedding_qk(q, k, *rows, rotary_dim=4, impl="triton")
        return rotary_embedding(q, *rows, rotary_dim=4, inverse=True, impl="triton"), k

    eager, traced = (learning(heads(3, dtype=dtype), heads(2, dtype=dtype)) for _ in range(2))
    known = step(*eager)
    got = torch.compile(step, fullgraph=True, backend="aot_eager")(*traced)
    assert all(map(torch.equal, got, known))
    sum((x * x).sum() for x in known).backward()
    sum((x * x).sum() for x in got).backward()
    assert all(torch.equal(a.grad, b.grad) for a, b in zip(eager, traced, strict=True))


@pytest.mark.usefixtures("only_triton")
def test_a_result_in_given_memory_or_in_place_is_the_new_one():
    x, rows = heads(2, dtype=torch.float16), table(torch.float32)
    known = rotary_embedding(x, *rows, rotary_dim=4, impl="triton")
    out = torch.empty_like(x).transpose(1, 2).contiguous().transpose(1, 2)
    assert rotary_embedding(x, *rows, rotary_dim=4, impl="triton", out=out) is out
    assert rotary_embedding(x, *rows, rotary_dim=4, impl="triton", out=x) is x
    assert torch.equal(out, known)
    assert torch.equal(x, known)
    with pytest.raises(NeedsGradient):
        rotary_embedding(*learning(x), *rows, rotary_dim=4, impl="triton", out=out)


def test_a_position_outside_the_table_is_refused_as_by_the_kernel_in_c():
    x, rows, ids = heads(2, dtype=torch.float32), table(torch.float32), torch.tensor([0, 3, 1])
    said = []
    for impl in ("native", "triton"):
        with pytest.raises(PositionOutOfRange) as caught:
            rotary_embedding(x, *rows, ids, rotary_dim=4, impl=impl)
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_without_triton_it_is_said_what_to_install(monkeypatch):
    triton.available.cache_clear()
    monkeypatch.setattr(triton.call, "find_spec", lambda name: None)
    assert triton.available() == "Triton is not installed (pip install triton)"
    assert not triton.interpreted()
    triton.available.cache_clear()


def test_a_triton_that_does_not_load_is_a_reason_too(monkeypatch):
    def broken(name):
        raise OSError("libtriton.so is for another system")

    triton.available.cache_clear()
    monkeypatch.setattr(triton.call, "import_module", broken)
    assert triton.available() == "Triton does not load (OSError: libtriton.so is for another system)"
    triton.available.cache_clear()


def test_nobody_imports_triton_before_it_is_needed():
    code = """
import sys, torch
from exptx.numeric import rotary_embedding
x, table = torch.ones(1, 2, 3, 8), torch.ones(3, 4)
rotary_embedding(x, table, table)
rotary_embedding(x, table, table, impl="eager")
assert "triton" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
