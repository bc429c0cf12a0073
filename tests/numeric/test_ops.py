"""The rotary operators as PyTorch sees them: schema, gradients, compilation, checkpoints, autocast."""

import subprocess
import sys

import pytest
import torch
from exptx.numeric import rotary_embedding, rotary_embedding_qk, rotary_table
from exptx.numeric.ops import rotary, rotary_out, rotary_qk
from exptx.symbolic import frequencies
from torch.library import opcheck
from torch.utils.checkpoint import checkpoint

PAIRS, TIME = 2, 3
IDS = [None, torch.tensor([0, 2, 2]), torch.tensor([[0, 2, 2], [1, 1, 0]], dtype=torch.int32)]
CASES = [
    (layout, interleaved, inverse, ids)
    for layout, interleaved, inverse in [
        ("bhtd", False, False),
        ("bhtd", True, True),
        ("bthd", True, False),
        ("bthd", False, True),
    ]
    for ids in IDS
]


def heads(number, layout="bhtd", dtype=torch.float64, seed=0):
    """(2, number, TIME, 6), in the given layout: heads of which four coordinates turn."""
    x = torch.randn(
        2, number, TIME, 2 * PAIRS + 2, generator=torch.Generator().manual_seed(seed), dtype=dtype
    )
    return x.transpose(1, 2).contiguous() if layout == "bthd" else x


def table(dtype=torch.float64, batch=None):
    ids = torch.arange(TIME) if batch is None else torch.arange(batch * TIME).reshape(batch, TIME)
    return rotary_table(frequencies(10000, 2 * PAIRS), ids, dtype=dtype)


def learning(*tensors):
    return tuple(x.clone().requires_grad_() for x in tensors)


@pytest.mark.parametrize(("layout", "interleaved", "inverse", "ids"), CASES)
def test_the_operators_keep_what_their_schema_promises(layout, interleaved, inverse, ids):
    options = (ids, 2 * PAIRS, interleaved, layout, inverse)
    q, k, cos, sin = learning(heads(3, layout), heads(2, layout), *table())
    opcheck(rotary, (q, cos, sin, *options))
    opcheck(rotary_qk, (q, k, cos, sin, *options))
    opcheck(rotary_out, (q.detach(), torch.empty_like(q), cos.detach(), sin.detach(), *options))


@pytest.mark.parametrize(("layout", "interleaved", "inverse", "ids"), CASES)
def test_first_and_second_gradients_are_those_of_finite_differences(layout, interleaved, inverse, ids):
    options = (ids, 2 * PAIRS, interleaved, layout, inverse)
    inputs = learning(heads(2, layout), heads(1, layout), *table())

    def rotate(q, k, cos, sin):
        return rotary_qk(q, k, cos, sin, *options)

    assert torch.autograd.gradcheck(rotate, inputs)
    assert torch.autograd.gradgradcheck(rotate, inputs)


@pytest.mark.parametrize("batch", [1, 2])
def test_a_table_row_of_several_sequences_collects_all_their_gradients(batch):
    x, cos, sin = learning(heads(3), *table(batch=batch))
    assert torch.autograd.gradcheck(
        lambda *inputs: rotary(*inputs, None, 4, False, "bhtd", False), (x, cos, sin)
    )


@pytest.mark.parametrize("impl", ["native", "eager"])
def test_frequencies_and_float_positions_can_be_learnt_through_the_table(impl):
    waves, clock = learning(
        torch.tensor([1.0, 0.1], dtype=torch.float64), torch.tensor([0.5, 1.25, 7.5]).double()
    )

    def rotated(waves, clock):
        return rotary_embedding(
            heads(2), *rotary_table(waves, clock, dtype=torch.float64), rotary_dim=4, impl=impl
        )

    assert torch.autograd.gradcheck(rotated, (waves, clock))


def test_the_gradient_is_the_transported_one_also_where_amplitudes_differ_from_one():
    """The adjoint is the transpose: with amplitude 3 it is nine times the inverse."""
    cos, sin = (3 * entry for entry in table())
    x, g = heads(2), heads(2, seed=1)
    (x_learning,) = learning(x)
    rotary_embedding(x_learning, cos, sin, rotary_dim=4, impl="native").backward(g)
    assert torch.equal(x_learning.grad, rotary_embedding(g, cos, sin, rotary_dim=4, inverse=True))
    scores = (rotary_embedding(x, cos, sin, rotary_dim=4) * g).sum(), (x * x_learning.grad).sum()
    assert torch.allclose(*scores)


def test_only_what_turns_is_kept_for_the_backward_pass_and_only_if_the_table_learns():
    kept = []
    x, cos, sin = heads(2), *table()

    def sizes(*inputs):
        kept.clear()
        with torch.autograd.graph.saved_tensors_hooks(
            lambda saved: kept.append(saved.numel()) or saved, lambda x: x
        ):
            rotary_embedding(*inputs, rotary_dim=4, impl="native")
        return sorted(kept)

    assert sizes(*learning(x), cos, sin) == [cos.numel(), sin.numel()]
    assert sizes(x, *learning(cos, sin)) == [cos.numel(), sin.numel(), x.numel()]


@pytest.mark.parametrize("ids", IDS)
def test_queries_and_keys_in_one_call_are_those_of_two(ids):
    q, k, rows = heads(3), heads(2), table()
    together = rotary_embedding_qk(q, k, *rows, ids, rotary_dim=4)
    for got, x in zip(together, (q, k), strict=True):
        assert torch.equal(got, rotary_embedding(x, *rows, ids, rotary_dim=4))


@pytest.mark.parametrize("impl", ["native", "eager"])
@pytest.mark.parametrize("ids", [None, "some"])
def test_it_compiles_whole_and_at_most_once_more_as_time_grows(impl, ids):
    graphs = []

    def backend(graph, _):
        graphs.append(graph)
        return graph.forward

    def rotate(q, k, cos, sin, ids):
        y = rotary_embedding_qk(q, k, cos, sin, ids, impl=impl)
        return y, rotary_embedding(q, cos, sin, ids, impl=impl, inverse=True)

    compiled = torch.compile(rotate, fullgraph=True, backend=backend)
    for time in (3, 4, 7, 12, 33):
        q, k = (torch.randn(1, h, time, 8, generator=torch.Generator().manual_seed(0)) for h in (4, 2))
        rows = rotary_table(frequencies(10000, 8), torch.arange(time))
        given = None if ids is None else torch.arange(time).flip(0)
        (a, b), c = compiled(q, k, *rows, given)
        (x, y), z = rotate(q, k, *rows, given)
        assert all(map(torch.equal, (a, b, c), (x, y, z)))
    assert 1 <= len(graphs) <= 2


def test_the_compiled_backward_pass_and_the_compiled_out_form_give_the_same_numbers():
    rows = table(torch.float32)

    def step(x):
        return rotary_embedding(x, *rows, rotary_dim=4, impl="native")

    def fill(x, out):
        return rotary_embedding(x, *rows, rotary_dim=4, impl="native", out=out)

    x, y = learning(heads(2, dtype=torch.float32), heads(2, dtype=torch.float32))
    torch.compile(step, fullgraph=True, backend="aot_eager")(x).square().sum().backward()
    step(y).square().sum().backward()
    assert torch.equal(x.grad, y.grad)
    with torch.no_grad():
        known, out = step(x), torch.empty_like(x)
        filled = torch.compile(fill, fullgraph=True, backend="aot_eager")
        filled(x.detach(), out)
        assert torch.equal(out, known)
        inside = x.detach().clone()
        filled(inside, inside)
        assert torch.equal(inside, known)


@pytest.mark.filterwarnings("ignore:.*script_method:DeprecationWarning")  # torch's own, where inductor loads
def test_inductor_compiles_it_to_the_same_numbers():
    q, k, rows = heads(3, dtype=torch.float32), heads(2, dtype=torch.float32), table(torch.float32)
    compiled = torch.compile(rotary_embedding_qk, fullgraph=True)
    known = rotary_embedding_qk(q, k, *rows, rotary_dim=4, impl="native")
    assert all(map(torch.equal, compiled(q, k, *rows, rotary_dim=4, impl="native"), known))


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_activation_checkpointing_recomputes_the_same_gradients(use_reentrant):
    rows = table()

    def block(q, k):
        turned = rotary_embedding_qk(q, k, *rows, rotary_dim=4)
        return (turned[0].sum(1) * turned[1].sum(1)).exp()

    plain, again = learning(heads(3), heads(2)), learning(heads(3), heads(2))
    block(*plain).sum().backward()
    checkpoint(block, *again, use_reentrant=use_reentrant).sum().backward()
    assert all(torch.equal(a.grad, b.grad) for a, b in zip(plain, again, strict=True))


def test_autocast_changes_neither_the_dtype_nor_the_numbers():
    q, k = learning(heads(3, dtype=torch.float32), heads(2, dtype=torch.float32))
    rows = table(torch.float32)
    known = rotary_embedding_qk(q, k, *rows, rotary_dim=4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rows_inside = table(torch.float32)
        got = rotary_embedding_qk(q, k, *rows_inside, rotary_dim=4)
    assert all(map(torch.equal, (*rows, *known), (*rows_inside, *got)))
    sum(x.sum() for x in got).backward()
    assert q.grad.dtype == torch.float32


FIRST = """
import torch
from exptx.numeric import rotary_embedding
from torch._subclasses import FakeTensorMode

class Rotate(torch.nn.Module):
    def forward(self, x, table):
        return rotary_embedding(x, table, table)

x, table = torch.ones(1, 2, 3, 8), torch.ones(3, 4)
{first}
assert torch.equal(Rotate()(x, table), rotary_embedding(x, table, table, impl="eager"))
"""


@pytest.mark.parametrize(
    "first",
    [
        'assert "exptx.rotary" in str(torch.export.export(Rotate(), (x, table)).graph)',
        "with FakeTensorMode() as mode: Rotate()(mode.from_tensor(x), mode.from_tensor(table))",
        'with torch.device("meta"): Rotate()(x, table)',
        "torch.compile(Rotate(), fullgraph=True, backend='eager')(x, table)",
    ],
)
def test_the_first_rotation_of_a_process_may_happen_anywhere(first):
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", FIRST.format(first=first)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
