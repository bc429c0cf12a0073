"""Two processes: a DTensor sharded over heads, tokens or sequences turns and learns as the whole tensor."""

import subprocess
import sys

import torch
from exptx.numeric import rotary_embedding, rotary_table
from exptx.symbolic import frequencies

PROGRAM = """
import sys
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from exptx.numeric import BadTensor, RotaryEmbedding, rotary_embedding, rotary_embedding_qk, rotary_table
from exptx.symbolic import frequencies

rank, store = int(sys.argv[1]), sys.argv[2]
dist.init_process_group("gloo", rank=rank, world_size=2, store=dist.FileStore(store, 2))
mesh = init_device_mesh("cpu", (2,))
waves = frequencies(10000, 8)


def drawn(heads, seed):
    return torch.randn(2, heads, 6, 8, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def learning(x, placement=None):
    x = x if placement is None else distribute_tensor(x, mesh, [placement])
    return x.detach().clone().requires_grad_()


def agree(impl, ids, table_ids, layout, axis):
    q, k, g = (x if layout == "bhtd" else x.transpose(1, 2) for x in (drawn(4, 0), drawn(2, 1), drawn(4, 2)))
    table = rotary_table(waves, table_ids, dtype=torch.float64)
    options = {"impl": impl, "layout": layout}
    plain, rows = learning(q), [learning(x) for x in table]
    known = rotary_embedding(plain, *rows, ids, **options)
    known.backward(g)

    sharded, shared = learning(q, Shard(axis)), [learning(x, Replicate()) for x in table]
    y = rotary_embedding(sharded, *shared, ids, **options)
    assert y.placements == (Shard(axis),), "nothing is gathered on the way"
    y.backward(distribute_tensor(g, mesh, [Shard(axis)]))
    assert torch.equal(y.full_tensor(), known.detach())
    assert torch.equal(sharded.grad.full_tensor(), plain.grad)
    for mine, theirs in zip(shared, rows, strict=True):  # sums in another order
        assert torch.allclose(mine.grad.full_tensor(), theirs.grad, rtol=1e-14, atol=1e-14)

    others = distribute_tensor(k, mesh, [Shard(axis)])
    turned = rotary_embedding_qk(sharded.detach(), others, *table, ids, **options)
    for got, x in zip(turned, (q, k), strict=True):
        assert got.placements == (Shard(axis),)
        assert torch.equal(got.full_tensor(), rotary_embedding(x, *table, ids, **options))


some = torch.tensor([5, 3, 1, 0, 0, 2])
for impl in ("native", "eager"):
    for ids, table_ids in [
        (None, torch.arange(6)),
        (None, torch.arange(12).reshape(2, 6)),
        (some, torch.arange(6)),
        (torch.stack((some, some.flip(0))), torch.arange(6)),
    ]:
        for layout in ("bhtd", "bthd"):
            for axis in (0, 1, 2):
                agree(impl, ids, table_ids, layout, axis)

q, k = drawn(4, 0).float(), drawn(2, 1).float()
module, positions = RotaryEmbedding(waves), torch.arange(6)
for axis, ids in ((1, positions), (2, positions), (2, distribute_tensor(positions, mesh, [Shard(0)]))):
    sharded = [distribute_tensor(x, mesh, [Shard(axis)]) for x in (q, k)]
    for got, known in zip(module(*sharded, ids), module(q, k, positions), strict=True):
        assert got.placements == (Shard(axis),)
        assert torch.equal(got.full_tensor(), known)

sharded = distribute_tensor(q, mesh, [Shard(1)])
for x, out in ((sharded, sharded), (sharded, q.clone()), (q, sharded)):
    try:
        rotary_embedding(x, *rotary_table(waves, positions), out=out)
    except BadTensor as error:
        assert str(error) == "x or out is a DTensor, into which no result can be written; out=None works"
    else:
        raise AssertionError("it was written")
dist.destroy_process_group()
"""


def test_a_sharded_rotation_is_the_rotation_and_gathers_nothing(tmp_path):
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    both = [
        subprocess.Popen([*command, str(rank), str(tmp_path / "store")], stderr=subprocess.PIPE, text=True)
        for rank in range(2)
    ]
    errors = [process.communicate(timeout=300)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], "\n".join(errors)


def test_zigzag_shards_of_a_long_text_are_just_positions():
    """Rank r of n holds the pieces r and 2n - 1 - r, so that causal work is even."""
    ranks, piece = 4, 3
    x = torch.randn(1, 2, 2 * ranks * piece, 8, generator=torch.Generator().manual_seed(0))
    cos, sin = rotary_table(frequencies(10000, 8), torch.arange(x.shape[2]))
    whole = rotary_embedding(x, cos, sin)
    pieces = torch.arange(x.shape[2]).reshape(2 * ranks, piece)
    for rank in range(ranks):
        ids = torch.cat((pieces[rank], pieces[2 * ranks - 1 - rank]))
        assert torch.equal(rotary_embedding(x[:, :, ids], cos, sin, ids), whole[:, :, ids])
        assert torch.equal(
            rotary_embedding(x[:, :, ids], *rotary_table(frequencies(10000, 8), ids)), whole[:, :, ids]
        )
