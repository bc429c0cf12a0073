"""The short way is taken only where nobody could tell, gives the same numbers, and refuses nothing less."""

import threading

import pytest
import torch
from exptx.numeric import (
    BadTensor,
    NeedsGradient,
    PositionOutOfRange,
    direct,
    rotary_embedding,
    rotary_embedding_qk,
    rotary_table,
)
from exptx.symbolic import frequencies


def heads(number=2, seed=0, dtype=torch.float32):
    return torch.randn(2, number, 3, 8, generator=torch.Generator().manual_seed(seed)).to(dtype)


TABLE = rotary_table(frequencies(10000, 8), torch.arange(3))
IDS = torch.tensor([2, 0, 1])


@pytest.fixture(autouse=True)
def nothing_is_known():
    direct._CALLS.clear()


def known(x, *table, **options):
    """By the eager path, which is another one."""
    return rotary_embedding(x, *table, impl="eager", **options)


@pytest.mark.parametrize("ids", [None, IDS])
@pytest.mark.parametrize("options", [{}, {"inverse": True}, {"interleaved": True}, {"layout": "bthd"}])
def test_the_second_call_goes_the_short_way_to_the_same_numbers(ids, options):
    swap = options.get("layout") == "bthd"
    q, k, other = (x.transpose(1, 2) if swap else x for x in (heads(), heads(4), heads(seed=1)))
    for x in (q, other):
        assert torch.equal(rotary_embedding(x, *TABLE, ids, **options), known(x, *TABLE, ids, **options))
    assert len(direct._CALLS) == 1
    for _ in range(2):
        both = rotary_embedding_qk(q, k, *TABLE, ids, **options)
        assert all(
            torch.equal(y, known(x, *TABLE, ids, **options)) for y, x in zip(both, (q, k), strict=True)
        )
    assert len(direct._CALLS) == 2


def test_calls_that_differ_in_anything_that_counts_are_not_mistaken_for_each_other():
    q, wide = heads(), torch.cat((heads(), heads(seed=1)), dim=-1)
    calls = [
        (q, {}),
        (q, {"interleaved": True}),
        (q, {"inverse": True}),
        (q.bfloat16(), {}),
        (q.transpose(1, 2).contiguous().transpose(1, 2), {}),
        (wide, {"rotary_dim": 8}),
        (wide[..., ::2], {}),
        (q[:, :1], {}),
        (q[:1].expand(2, 2, 3, 8), {}),
    ]
    for _ in range(3):
        for x, options in calls:
            assert torch.equal(rotary_embedding(x, *TABLE, **options), known(x, *TABLE, **options))


@pytest.mark.parametrize("first", ["one", "both"])
def test_queries_and_keys_are_not_mistaken_for_a_tensor_and_its_out(first):
    q, k = heads(), heads(seed=1)
    calls = {
        "one": lambda: [rotary_embedding(q, *TABLE, out=torch.zeros_like(q))],
        "both": lambda: rotary_embedding_qk(q, k, *TABLE),
    }
    for name in (first, *calls, first):
        for y, x in zip(calls[name](), (q, k), strict=False):
            assert torch.equal(y, known(x, *TABLE))


def test_what_was_refused_before_is_refused_after_a_call_that_was_fine():
    x, out = heads(), torch.empty(2, 2, 3, 8)
    for _ in range(2):
        rotary_embedding(x, *TABLE, IDS)
        rotary_embedding(x, *TABLE, out=out)
        with pytest.raises(PositionOutOfRange, match="position_ids contains 3, but cos and sin have 3 rows"):
            rotary_embedding(x, *TABLE, IDS + 1)
        with pytest.raises(PositionOutOfRange, match="contains -1"):
            rotary_embedding_qk(x, x, *TABLE, IDS - 1)
        with pytest.raises(NeedsGradient):
            rotary_embedding(x.clone().requires_grad_(), *TABLE, out=out)
        with pytest.raises(BadTensor, match="rank 4"):
            rotary_embedding(x[0], *TABLE)
        with pytest.raises(BadTensor, match="rotary_dim is"):
            rotary_embedding(x, *TABLE, rotary_dim=[8])


def test_after_a_call_without_gradients_one_with_them_still_has_them():
    x = heads()
    rotary_embedding(x, *TABLE)
    rotary_embedding(x, *TABLE)
    learning = x.clone().requires_grad_()
    rotary_embedding(learning, *TABLE).sum().backward()
    assert torch.equal(learning.grad, known(torch.ones_like(x), *TABLE, inverse=True))


def test_numbers_that_are_negated_in_name_only_are_read_as_they_are():
    x = torch.randn(2, 2, 3, 8, dtype=torch.complex64, generator=torch.Generator().manual_seed(0)).conj().imag
    assert x.is_neg()
    plain = x.resolve_neg()
    strided = torch.empty(2, 2, 3, 16)[..., ::2].copy_(plain)  # the same strides
    for _ in range(2):
        assert torch.equal(rotary_embedding(strided, *TABLE), known(plain, *TABLE))
    assert torch.equal(rotary_embedding(x, *TABLE), known(plain, *TABLE))


def test_threads_share_what_is_known():
    x, wrong = heads(), []

    def work(seed):
        mine = heads(seed=seed)
        expected = known(mine, *TABLE)
        wrong.extend(i for i in range(200) if not torch.equal(rotary_embedding(mine, *TABLE), expected))

    rotary_embedding(x, *TABLE)
    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_what_is_known_does_not_grow_without_end(monkeypatch):
    monkeypatch.setattr(direct, "_MOST_CALLS", 4)
    for time in range(1, 12):
        table = rotary_table(frequencies(10000, 8), torch.arange(time))
        x = torch.ones(1, 1, time, 8)
        assert torch.equal(rotary_embedding(x, *table), known(x, *table))
        assert len(direct._CALLS) <= 4


def test_it_is_taken_only_where_an_operator_would_do_nothing_but_call_its_kernel():
    x = heads()
    assert direct.unwatched(x, None)
    with torch.inference_mode():
        assert direct.unwatched(x)
    with torch.autocast("cpu"):
        assert direct.unwatched(x)
    assert not direct.unwatched(x.clone().requires_grad_())
    with torch.no_grad():
        assert direct.unwatched(x.clone().requires_grad_())
    assert not direct.unwatched(x.to("meta"))
    assert not direct.unwatched(x, torch.nn.Parameter(x))
    assert not direct.unwatched([0.0])
    with torch.autograd.forward_ad.dual_level():
        assert not direct.unwatched(x)
    seen = []
    torch.func.vmap(lambda row: seen.append(direct.unwatched(row)) or row)(x)
    torch.func.grad(lambda y: seen.append(direct.unwatched(y)) or y.sum())(x)
    with torch.utils._python_dispatch.TorchDispatchMode():
        seen.append(direct.unwatched(x))
    assert seen == [False, False, False]


def test_an_export_and_a_trace_contain_the_rotation():
    """A tensor computed beside the dispatcher would be frozen into them as a constant."""

    class Rotate(torch.nn.Module):
        def forward(self, x):
            return rotary_embedding(x, *TABLE)

    x, other = heads(), heads(seed=1)
    expected = known(other, *TABLE)
    rotary_embedding(x, *TABLE)
    assert torch.equal(torch.export.export(Rotate(), (x,)).module()(other), expected)
    assert torch.equal(torch.fx.experimental.proxy_tensor.make_fx(Rotate())(x)(other), expected)
