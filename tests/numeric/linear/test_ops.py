"""Linear attention under torch.compile: the operator as PyTorch checks it, one graph for every length."""

import subprocess
import sys

import pytest
import torch
from exptx.numeric import BadTensor, linear_attention
from exptx.numeric.linear.attention import LINEAR
from torch._dynamo.testing import CompileCounterWithBackend

FORMS = ("chunked", "recurrent", "parallel")


def drawn(time, key_heads=2, dtype=torch.float32):
    """q, k, v, log decays, angles and a state, all of them learned."""
    seed = torch.Generator().manual_seed(time)
    shapes = [(1, 2, time, 4), (1, key_heads, time, 4), (1, key_heads, time, 3), (1, 2, time), (2, 2)]
    parts = [torch.randn(shape, generator=seed).to(dtype) for shape in shapes]
    parts[3] = -parts[3].abs()
    return [x.requires_grad_() for x in (*parts, torch.randn(1, 2, 4, 3, generator=seed))]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("key_heads", [2, 1])
def test_the_operator_passes_the_checks_of_pytorch(form, key_heads):
    options = (form, 0.5, 4, False, key_heads == 1)
    torch.library.opcheck(LINEAR, (*drawn(11, key_heads), None, *options))
    packed = [*drawn(11, key_heads)[:5], torch.randn(2, 2, 4, 3), torch.tensor([0, 3, 11])]
    torch.library.opcheck(LINEAR, (*packed, *options))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_one_graph_serves_every_length_with_its_gradients(form, dtype):
    counter = CompileCounterWithBackend("aot_eager")

    def run(q, k, v, decay, angle, state):
        return linear_attention(q, k, v, decay, angle=angle, initial_state=state, form=form, chunk_size=8)

    compiled = torch.compile(run, fullgraph=True, backend=counter)
    for time in (20, 41, 64, 33):
        given = drawn(time, dtype=dtype)
        outs, known = compiled(*given), run(*given)
        assert all(map(torch.equal, outs, known))
        found, own = (torch.autograd.grad(sum(x.sum() for x in out), given) for out in (outs, known))
        assert all(map(torch.equal, found, own))
    assert counter.frame_count <= 2


def test_packed_sequences_compile_and_a_wrong_border_is_still_refused():
    q, k, v, decay, *_ = drawn(20)
    compiled = torch.compile(
        lambda bounds: linear_attention(q, k, v, decay, cu_seqlens=bounds)[0],
        fullgraph=True,
        backend="aot_eager",
    )
    bounds = torch.tensor([0, 7, 20])
    assert torch.equal(compiled(bounds), linear_attention(q, k, v, decay, cu_seqlens=bounds)[0])
    with pytest.raises(BadTensor, match=r"cu_seqlens is \[0, 7, 21\]"):
        compiled(torch.tensor([0, 7, 21]))


PEAK = """
import re, sys, torch
from pathlib import Path
from exptx.numeric import linear_attention
torch.set_num_threads(1)
def run(tokens):
    q, k, v = (x.requires_grad_() for x in torch.randn(3, 1, 2, tokens, 16).unbind(0))
    decay = -torch.rand(1, 2, tokens).requires_grad_()
    linear_attention(q, k, v, decay, form=sys.argv[1])[0].sum().backward()
run(1024)
for n in map(int, sys.argv[2:]):
    run(n)
    print(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.parametrize(("form", "tokens"), [("chunked", 16384), ("recurrent", 2048)])
def test_memory_grows_like_time_forwards_and_backwards(form, tokens):
    lengths = map(str, (tokens, 2 * tokens, 4 * tokens))
    done = subprocess.run([sys.executable, "-c", PEAK, form, *lengths], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    short, middle, long = map(int, done.stdout.split())
    # from 2T to 4T twice as much is added as from T to 2T; all pairs add 3.4 times as much
    assert long - middle < 3 * (middle - short)
