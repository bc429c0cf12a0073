"""Linear attention: three forms of one sum, within the budget of their dtype, whatever gates and lengths."""

import math
from fractions import Fraction
from itertools import pairwise

import pytest
import torch
from exptx.numeric import linear_attention, rotary_embedding, rotary_table
from exptx.numeric.linear import forms
from exptx.proofs import budget
from exptx.proofs.measures.recurred import Recurrence, checked
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

FORMS = ("chunked", "recurrent", "parallel")
DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
GATES = ("heads", "tokens", "features")
ANGLES = (None, "planes", "heads", "tokens")
WEAK, STRONG = math.log1p(-(2.0**-12)), -5.0


def normal(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def uniform(seed, *shape):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def sequence(
    time, dtype=torch.float64, gates="tokens", angles=None, *, zeros=True, seed=0, features=6, batch=1, **more
):
    """A sequence whose decays reach from next to nothing to e^-5 a token, with some gates that are 0."""
    heads, width = 2, 3
    q, k = (normal(seed + i, batch, heads, time, features).to(dtype) for i in range(2))
    v = normal(seed + 2, batch, heads, time, width).to(dtype)
    rows = features // 2 if angles else features
    shape = {"heads": (heads,), "tokens": (batch, heads, time), "features": (batch, heads, time, rows)}[gates]
    decay = STRONG * uniform(seed + 3, *shape) ** 8
    if zeros and gates != "heads":
        decay = decay.masked_fill(uniform(seed + 4, *shape) < 0.05, -math.inf)
    pairs = features // 2
    angle = {"planes": (pairs,), "heads": (heads, pairs), "tokens": (batch, heads, time, pairs)}
    turned = None if angles is None else normal(seed + 5, *angle[angles])
    return Recurrence(q, k, v, decay.to(dtype), turned if turned is None else turned.to(dtype), **more)


def start(given, seed=9):
    """A state to begin from."""
    (batch, heads, _, features), width = given.q.shape, given.v.shape[-1]
    kind = torch.float64 if given.q.dtype == torch.float64 else torch.float32
    return normal(seed, batch, heads, features, width).to(kind)


def worst(measured):
    """The largest share of its budget that any entry takes; NaN counts as infinite."""
    share = (measured.found - measured.known).abs() / measured.error
    return float(share.nan_to_num(nan=math.inf).max())


@settings(max_examples=30)
@given(
    st.integers(1, 70),
    st.sampled_from(DTYPES),
    st.sampled_from(GATES),
    st.sampled_from(ANGLES),
    st.sampled_from([1, 4, 16, 64]),
    st.sampled_from([1.0, 0.5, -3.0]),
    st.booleans(),
    st.booleans(),
)
def test_every_form_is_the_recurrence(time, dtype, gates, angles, size, scale, begins, interleaved):
    given = sequence(time, dtype, gates, angles, scale=scale, interleaved=interleaved, seed=time)
    if begins:
        given = Recurrence(**vars(given) | {"initial_state": start(given)})
    for form, (out, state) in checked(given, FORMS, size).items():
        assert worst(out) <= 1, form
        assert worst(state) <= 1, form
        found, last = given.run(form, size)
        assert found.dtype == dtype
        assert last.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)


def test_a_batch_is_its_sequences():
    given = sequence(37, torch.float32, "features", "tokens", batch=3)
    whole = given.run("chunked", 8)
    for b in range(3):
        alone = Recurrence(
            given.q[b, None],
            given.k[b, None],
            given.v[b, None],
            given.log_decay[b, None],
            given.angle[b, None],
        )
        out, state = checked(alone, ["chunked"], 8)["chunked"]
        assert ((whole[0][b] - out.known[0]).abs() <= out.error[0]).all()
        assert ((whole[1][b] - state.known[0]).abs() <= state.error[0]).all()


@pytest.mark.parametrize("form", FORMS)
def test_ones_that_fade_by_a_power_add_up_to_the_geometric_sum(form):
    """q = k = v = 1, decay 31/32: 1, 1.96875, 2.9072265625, … in fractions."""
    ones = torch.ones(1, 1, 200, 1, dtype=torch.float64)
    rate = torch.tensor([math.log(31 / 32)], dtype=torch.float64)
    out, state = linear_attention(ones, ones, ones, rate, form=form, chunk_size=16)
    sums, total = [], Fraction(0)
    for _ in range(200):
        total = total * Fraction(31, 32) + 1
        sums.append(float(total))
    known = torch.tensor(sums, dtype=torch.float64)
    # the logarithm is off by u/2 · ln(32/31), and so is a weight a token of its lag
    bound = budget.gamma(200 + 16 + 200 * 16, "float64") * known
    assert ((out.flatten() - known).abs() <= bound).all()
    assert float(out[0, 0, 1, 0]) == pytest.approx(1.96875, rel=1e-15)
    assert torch.equal(state.flatten(), out[0, 0, -1])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("interleaved", [False, True])
def test_without_decay_a_turn_is_rotary_attention_without_softmax(form, interleaved):
    given = sequence(50, torch.float64, "heads")
    waves = torch.tensor([1.0, 0.1, 0.01], dtype=torch.float64)
    tables = rotary_table(waves, torch.arange(50), dtype=torch.float64)
    q, k = (rotary_embedding(x, *tables, interleaved=interleaved, impl="eager") for x in (given.q, given.k))
    known = (q @ k.mT).tril() @ given.v
    still = torch.zeros(2, dtype=torch.float64)
    out, _ = linear_attention(
        given.q, given.k, given.v, still, angle=waves, form=form, interleaved=interleaved, chunk_size=16
    )
    spread = (
        4 * (given.q.abs().sum(-1, keepdim=True) @ given.k.abs().sum(-1)[:, :, None]).tril() @ given.v.abs()
    )
    table = 2 * budget.table_entry(50.0, torch.float64)
    assert ((out - known).abs() <= (2 * table + budget.gamma(6 + 50 + 16, "float64")) * spread).all()


def long_sequence(gates):
    """65536 tokens: strong decay, weak decay, both mixed; and gates that are 0, in every part."""
    time, features = 65536, 4
    q, k = (normal(i, 1, 1, time, features).float() for i in range(2))
    v = normal(2, 1, 1, time, 2).float()
    shape = (1, 1, time) if gates == "tokens" else (1, 1, time, features)
    third = torch.arange(time).reshape(1, 1, time, *[1] * (len(shape) - 3)) // (time // 3)
    mixed = uniform(3, *shape) < 0.001
    decay = torch.where((third == 0) | ((third >= 2) & mixed), STRONG, WEAK)
    decay = decay.masked_fill(uniform(4, *shape) < 1 / 20000, -math.inf)
    return Recurrence(q, k, v, decay.float())


@pytest.fixture
def one_thread():
    """Small operations, and tests that run beside one another: threads would only wait."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize(("gates", "forms"), [("tokens", FORMS), ("features", FORMS[:2])])
def test_the_forms_agree_over_65536_tokens(gates, forms):
    given = long_sequence(gates)
    assert given.log_decay.isneginf().sum() > 1
    for form, found in checked(given, forms).items():
        assert max(map(worst, found)) <= 1, form


@pytest.mark.parametrize(
    ("form", "size"), [("recurrent", 64), ("chunked", 1), ("chunked", 64), ("parallel", 64)]
)
def test_a_factor_that_comes_4096_times_is_not_off_by_4096_times_its_rounding(form, size):
    """One key, seen ever weaker: the roundings of the products have either sign, that of e^{-γ} has not."""
    time, rate, unit = 4097, -(2.0**-12), budget.unit_roundoff("float32")
    factor = math.exp(rate)
    assert abs(float(torch.tensor(factor)) / factor - 1) > unit / 8
    first = torch.zeros(1, 1, time, 1)
    first[:, :, 0] = 1
    out, _ = linear_attention(
        torch.ones_like(first), first, first, torch.tensor([rate]), form=form, chunk_size=size
    )
    assert abs(float(out[0, 0, -1, 0]) * math.e - 1) < 4 * math.sqrt(time) * unit


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("forgets", [-math.inf, -1e30, -1000.0])
def test_a_gate_that_forgets_begins_anew(form, forgets):
    """No 0·∞ and no difference of large sums: after a gate of 0 the numbers are those of a fresh sequence."""
    given = sequence(40, torch.float32, "tokens", zeros=False)
    decay = given.log_decay.clone()
    decay[:, :, [0, 17, 18]] = forgets
    given = Recurrence(given.q, given.k, given.v, decay, initial_state=start(given))
    out, state = given.run(form, 16)
    fresh = Recurrence(*(x[:, :, 18:] for x in (given.q, given.k, given.v)), decay[:, :, 18:])
    later, last = checked(fresh, [form], 16)[form]
    assert ((out[:, :, 18:] - later.known).abs() <= 2 * later.error).all()
    assert ((state - last.known).abs() <= 2 * last.error).all()
    alone = (given.q[:, :, 17] * given.k[:, :, 17]).double().sum(-1, keepdim=True) * given.v[:, :, 17]
    bound = budget.gamma(6 + 16 + 16, "float32") * (given.q * given.k)[:, :, 17].abs().sum(-1, keepdim=True)
    assert ((out[:, :, 17] - alone).abs() <= bound * given.v[:, :, 17].abs()).all()


@pytest.mark.parametrize("form", FORMS)
def test_a_token_sees_no_later_one(form):
    given = sequence(50, torch.float32, "features", "tokens")
    later = {name: x.clone() for name, x in vars(given).items() if isinstance(x, torch.Tensor)}
    for name, x in later.items():
        x[:, :, 23:] = -1.5 if name == "log_decay" else 7.0
    changed = Recurrence(**vars(given) | later)
    assert torch.equal(given.run(form, 8)[0][:, :, :23], changed.run(form, 8)[0][:, :, :23])
    assert not torch.equal(given.run(form, 8)[0], changed.run(form, 8)[0])


@pytest.mark.parametrize("form", FORMS)
def test_half_the_scale_is_half_the_output_and_the_same_state(form):
    given = sequence(50, torch.float32)
    out, state = given.run(form, 16)
    halved, same = Recurrence(**vars(given) | {"scale": 0.5}).run(form, 16)
    assert torch.equal(halved, out / 2)
    assert torch.equal(same, state)


def cut(given, start, stop, state=None):
    """Some tokens of a sequence, from a state."""
    parts = {
        name: x[:, :, start:stop] if isinstance(x, torch.Tensor) and x.ndim > 2 else x
        for name, x in vars(given).items()
    }
    return Recurrence(**parts | {"initial_state": state})


@pytest.mark.parametrize("gates", GATES)
def test_token_by_token_calls_are_one_recurrent_call_bit_for_bit(gates):
    given = sequence(30, torch.bfloat16, gates)
    out, state = given.run("recurrent")
    now = None
    for t in range(30):
        row, now = cut(given, t, t + 1, now).run("recurrent")
        assert torch.equal(row, out[:, :, t : t + 1])
    assert torch.equal(now, state)


@pytest.mark.parametrize("gates", GATES)
def test_calls_that_meet_at_the_border_of_a_chunk_are_one_call_bit_for_bit(gates):
    given = sequence(80, torch.float32, gates)
    out, state = given.run("chunked", 16)
    first, between = cut(given, 0, 48).run("chunked", 16)
    second, last = cut(given, 48, 80, between).run("chunked", 16)
    assert torch.equal(torch.cat((first, second), 2), out)
    assert torch.equal(last, state)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("angles", [None, "tokens"])
@pytest.mark.parametrize("border", [1, 20, 33])
def test_a_call_goes_on_where_another_ended(form, angles, border):
    given = sequence(34, torch.float32, "features", angles, scale=0.5)
    (out, state), (known, last) = given.run(form, 16), checked(given, [form], 16)[form]
    first, between = cut(given, 0, border).run(form, 16)
    second, end = cut(given, border, 34, between).run("recurrent")
    assert ((torch.cat((first, second), 2) - known.known).abs() <= 2 * known.error).all()
    assert ((end - last.known).abs() <= 2 * last.error).all()
    assert out.shape == known.known.shape
    assert state.shape == end.shape


BOUNDS = [0, 5, 5, 70, 71, 200]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("gates", GATES)
@pytest.mark.parametrize("angles", [None, "planes", "tokens"])
def test_packed_sequences_are_each_alone(form, gates, angles):
    given = sequence(200, torch.float32, gates, angles, scale=0.5)
    states = normal(8, 5, 2, 6, 3).float()
    out, last = linear_attention(
        **vars(given) | {"initial_state": states}, form=form, chunk_size=16, cu_seqlens=torch.tensor(BOUNDS)
    )
    for n, (a, b) in enumerate(pairwise(BOUNDS)):
        if a == b:
            assert torch.allclose(last[n], states[n], rtol=2**-21)
            continue
        known, end = checked(cut(given, a, b, states[n : n + 1]), [form], 16)[form]
        turned = 1 + (angles is not None)  # angles go on from one sequence to the next
        assert ((out[:, :, a:b] - known.known).abs() <= turned * known.error).all()
        assert ((last[n] - end.known[0]).abs() <= turned * end.error[0]).all()


@pytest.mark.parametrize("form", FORMS)
def test_what_is_broken_in_one_packed_sequence_stays_there(form):
    given = sequence(200, torch.float32, "features")
    given.k[:, :, 30] = math.nan
    given.v[:, :, 40] = math.inf
    out, last = linear_attention(**vars(given), form=form, chunk_size=16, cu_seqlens=torch.tensor(BOUNDS))
    assert out[:, :, :5].isfinite().all()
    assert out[:, :, 70:].isfinite().all()
    assert [bool(state.isfinite().all()) for state in last] == [True, True, False, True, True]


def test_no_tokens_leave_the_state_as_it_was():
    given = sequence(1, torch.float32)
    state = start(given)
    out, last = linear_attention(
        *(x[:, :, :0] for x in (given.q, given.k, given.v, given.log_decay)), initial_state=state
    )
    assert out.shape == (1, 2, 0, 3)
    assert torch.equal(last, state)
    assert last.data_ptr() != state.data_ptr()


@pytest.mark.parametrize("form", FORMS)
def test_strides_and_autocast_change_nothing(form):
    given = sequence(40, torch.bfloat16, "features", "tokens")
    strided = {
        name: x.transpose(-1, -2).contiguous().transpose(-1, -2)
        for name, x in vars(given).items()
        if isinstance(x, torch.Tensor)
    }
    out, state = given.run(form, 16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        again, last = Recurrence(**vars(given) | strided).run(form, 16)
    assert torch.equal(out, again)
    assert torch.equal(state, last)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("angles", [None, "tokens"])
def test_query_heads_that_share_keys_are_those_with_repeated_keys(form, angles):
    """Gates, turns and states are those of the query heads."""
    given = vars(sequence(40, torch.float64, "features", angles))
    q, one, values = given["q"].repeat(1, 2, 1, 1), given["k"], given["v"]
    more = {x: given[x] if given[x] is None else given[x].repeat(1, 2, 1, 1) for x in ("log_decay", "angle")}
    more["log_decay"][:, 1] *= 0.5
    leaves = [one.clone().requires_grad_(), values.clone().requires_grad_()]

    def run(k, v, shared):
        out, state = linear_attention(q, k, v, **more, form=form, chunk_size=16, enable_gqa=shared)
        return out, state, *torch.autograd.grad(out.sum() + state.sum(), leaves)

    out, state, *found = run(*leaves, True)
    whole, last, *known = run(*(x.repeat_interleave(2, 1) for x in leaves), False)
    assert torch.equal(out, whole)
    assert torch.equal(state, last)
    assert state.shape == (1, 4, 6, 3)
    for mine, theirs in zip(found, known, strict=True):  # two heads' sums over 40 tokens, in another order
        assert (mine - theirs).abs().max() <= budget.gamma(2 * 40 * 6, "float64") * theirs.abs().max()


class Elements(TorchDispatchMode):
    """How many elements all operations give together, and the most that one gives."""

    def __init__(self):
        super().__init__()
        self.all, self.most = 0, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        found = func(*args, **(kwargs or {}))
        for x in found if isinstance(found, tuple | list) else [found]:
            if isinstance(x, torch.Tensor) and not func.is_view:
                self.all, self.most = self.all + x.numel(), max(self.most, x.numel())
        return found


@pytest.mark.parametrize("gates", GATES)
@pytest.mark.parametrize("form", ["chunked", "recurrent", "packed"])
def test_time_and_memory_grow_like_the_number_of_tokens_also_backwards(form, gates, monkeypatch):
    """At 4T no more than 4 times the elements of T, and no tensor that is larger than what is given."""
    monkeypatch.setattr(forms, "STRETCH", 64)
    counted = []
    for time in (256, 1024):
        given = sequence(time, torch.float32, gates, features=4)
        tensors = [x.requires_grad_() for x in (given.q, given.k, given.v, given.log_decay)]
        bounds = torch.arange(0, time + 1, 128) if form == "packed" else None
        with Elements() as counter:
            name = "chunked" if form == "packed" else form
            out, _ = linear_attention(**vars(given), form=name, chunk_size=16, cu_seqlens=bounds)
            torch.autograd.grad(out.sum(), tensors)
        counted.append(counter)
    assert counted[1].all <= 4.05 * counted[0].all
    assert counted[1].most <= 2 * given.q.numel()


def test_chunks_save_most_of_the_work_of_all_pairs():
    given = sequence(4096, torch.float32, "heads", features=16)
    flops = {}
    for form in ("chunked", "parallel"):
        with FlopCounterMode(display=False) as counter:
            given.run(form)
        flops[form] = counter.get_total_flops()
    assert 16 * flops["chunked"] < flops["parallel"]
