"""Maps of states: what tokens do to a state, put together in any grouping, also by two processes."""

import math
import subprocess
import sys

import pytest
import torch
from exptx.numeric import BadChoice, BadDtype, BadTensor, StateMap, combine_states, state_map
from exptx.proofs.measures.recurred import Recurrence, checked

GATES = ("heads", "tokens", "features")


def normal(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def sequence(gates, turns, dtype=torch.float32, time=60):
    """Keys, values and gates, a few of them 0."""
    rows = 2 if turns else 4
    shape = {"heads": (2,), "tokens": (1, 2, time), "features": (1, 2, time, rows)}[gates]
    decay = -(normal(3, *shape).abs() ** 3)
    if gates != "heads":
        decay[:, :, 7] = -math.inf
    angle = normal(5, 1, 2, time, 2).to(dtype) if turns else None
    q, k, v = (normal(i, 1, 2, time, 4).to(dtype) for i in range(3))
    return Recurrence(q, k, v[..., :3], decay.to(dtype), angle)


def part(given, start, stop):
    parts = {
        name: x[:, :, start:stop] if isinstance(x, torch.Tensor) and x.ndim > 2 else x
        for name, x in vars(given).items()
    }
    return Recurrence(**parts)


def mapped(given, start, stop):
    tokens = part(given, start, stop)
    return state_map(tokens.k, tokens.v, tokens.log_decay, angle=tokens.angle, chunk_size=16)


@pytest.mark.parametrize("gates", GATES)
@pytest.mark.parametrize("turns", [False, True])
def test_a_map_moves_every_state_as_its_tokens_do(gates, turns):
    given = sequence(gates, turns)
    state = normal(8, 1, 2, 4, 3).float()
    _, end = checked(Recurrence(**vars(given) | {"initial_state": state}), ["chunked"], 16)["chunked"]
    assert ((mapped(given, 0, 60)(state) - end.known).abs() <= 2 * end.error).all()


@pytest.mark.parametrize("gates", GATES)
@pytest.mark.parametrize("turns", [False, True])
def test_stretches_combine_in_any_grouping_to_the_whole(gates, turns):
    given = sequence(gates, turns)
    a, b, c = (mapped(given, *ends) for ends in ((0, 5), (5, 33), (33, 60)))
    _, end = checked(given, ["chunked"], 16)["chunked"]
    whole = mapped(given, 0, 60)
    for found in (combine_states(combine_states(a, b), c), combine_states(a, combine_states(b, c))):
        assert ((found.state - end.known).abs() <= 2 * end.error).all()
        assert torch.allclose(found.log_decay, whole.log_decay, rtol=1e-14)
        assert not turns or torch.allclose(found.angle, whole.angle, rtol=1e-12)


def test_the_order_of_stretches_matters():
    given = sequence("tokens", True)
    a, b = mapped(given, 10, 30), mapped(given, 30, 60)
    assert not torch.allclose(combine_states(a, b).state, combine_states(b, a).state)


def test_no_tokens_keep_every_state():
    given, state = sequence("features", True), normal(8, 1, 2, 4, 3).float()
    nothing = mapped(given, 0, 0)
    assert torch.equal(nothing(state), state)
    whole = mapped(given, 0, 60)
    assert torch.equal(combine_states(nothing, whole).state, whole.state)


def test_gradients_of_a_map_are_right():
    given = sequence("heads", True, torch.float64, time=9)
    state = normal(8, 1, 2, 4, 3)
    tensors = [x.requires_grad_() for x in (given.k, given.v, given.log_decay, given.angle, state)]

    def moved(k, v, log_decay, angle, state):
        one = state_map(k, v, log_decay, angle=angle, chunk_size=4)
        return combine_states(one, one)(state)

    assert torch.autograd.gradcheck(moved, tensors)


def test_maps_of_two_kinds_are_refused():
    plain, turning = mapped(sequence("heads", False), 0, 9), mapped(sequence("heads", True), 0, 9)
    with pytest.raises(BadTensor, match=r"first is a map of \(1, 2, 4, 3\) .* and second of .*, turning;"):
        combine_states(plain, turning)
    with pytest.raises(BadDtype, match="second is a Tensor; a StateMap works"):
        combine_states(plain, plain.state)
    assert isinstance(combine_states(plain, plain), StateMap)


def test_shared_keys_give_the_map_of_repeated_ones():
    given = sequence("tokens", True)
    k, v, rest = given.k[:, :1], given.v[:, :1], {"angle": given.angle, "chunk_size": 16}
    shared = state_map(k, v, given.log_decay, **rest, enable_gqa=True)
    repeated = state_map(*(x.repeat(1, 2, 1, 1) for x in (k, v)), given.log_decay, **rest)
    assert torch.equal(shared.state, repeated.state)
    assert torch.equal(shared.log_decay, repeated.log_decay)
    with pytest.raises(BadTensor, match=r"log_decay has shape \(3,\), 3 heads, but k has 2; with enable_gqa"):
        state_map(given.k, given.v, -torch.ones(3), enable_gqa=True)
    with pytest.raises(BadChoice, match="enable_gqa is 1; True or False works"):
        state_map(k, v, given.log_decay, enable_gqa=1)


@pytest.mark.parametrize("turns", [False, True])
def test_a_map_takes_no_state_of_another_kind(turns):
    """A single number would be spread over the whole state."""
    one = mapped(sequence("heads", turns), 0, 9)
    for state, error, words in (
        (torch.tensor(1.0), BadTensor, r"state has shape \(\); \(1, 2, 4, 3\) works"),
        (one.state.half(), BadDtype, r"state has dtype torch\.float16; a torch\.float32 tensor works"),
        (None, BadDtype, "state is a NoneType"),
    ):
        with pytest.raises(error, match=words):
            one(state)


SHARDED = """
import sys
import torch
import torch.distributed as dist
from exptx.numeric import StateMap, combine_states, linear_attention, state_map

folder, rank, border = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
whole = torch.load(f"{folder}/given.pt", weights_only=True)
ends = (slice(0, border), slice(border, None))[rank]
q, k, v, log_decay, angle = (whole[name][:, :, ends] for name in ("q", "k", "v", "log_decay", "angle"))
mine = state_map(k, v, log_decay, angle=angle, chunk_size=16)
every = []
for x in (mine.state, mine.log_decay, mine.angle):
    gathered = [torch.empty_like(x) for _ in range(2)]
    dist.all_gather(gathered, x.contiguous())
    every.append(gathered)
maps = [StateMap(*parts) for parts in zip(*every)]
before = maps[0].state if rank else None
out, state = linear_attention(q, k, v, log_decay, angle=angle, initial_state=before, chunk_size=16)
torch.save({"out": out, "state": state, "map": combine_states(*maps).state}, f"{folder}/found{rank}.pt")
dist.destroy_process_group()
"""


@pytest.mark.parametrize("border", [32, 21])
def test_two_processes_that_share_the_tokens_give_the_outputs_of_one(border, tmp_path):
    """Each forms the map of its own tokens; the second begins from the state of the first."""
    given = sequence("features", True)
    names = ("q", "k", "v", "log_decay", "angle")
    torch.save({name: getattr(given, name) for name in names}, tmp_path / "given.pt")
    script = tmp_path / "shard.py"
    script.write_text(SHARDED)
    runs = [
        subprocess.Popen([sys.executable, script, tmp_path, str(rank), str(border)], stderr=subprocess.PIPE)
        for rank in range(2)
    ]
    for run in runs:
        _, errors = run.communicate(timeout=120)
        assert run.returncode == 0, errors.decode()
    first, second = (torch.load(tmp_path / f"found{rank}.pt", weights_only=True) for rank in range(2))
    out, end = checked(given, ["chunked"], 16)["chunked"]
    assert ((torch.cat((first["out"], second["out"]), 2) - out.known).abs() <= 2 * out.error).all()
    for state in (second["state"], first["map"], second["map"]):
        assert ((state - end.known).abs() <= 2 * end.error).all()


def test_a_machine_that_goes_on_at_the_border_of_a_chunk_gives_the_same_bits():
    given = sequence("features", False)
    out, state = given.run("chunked", 16)
    later = part(given, 32, 60)
    begun = Recurrence(**vars(later) | {"initial_state": mapped(given, 0, 32).state})
    rest, last = begun.run("chunked", 16)
    assert torch.equal(rest, out[:, :, 32:])
    assert torch.equal(last, state)
