"""Attention with every encoding of the catalogue against its float64 specification; laws of its arguments."""

import math
from functools import lru_cache

import pytest
import sympy as sp
import torch
from exptx.numeric import (
    Unbounded,
    attention,
    reference,
)
from exptx.numeric.constants import nearest_float
from exptx.proofs import budget
from exptx.symbolic import Block, Generator, encoding
from exptx.symbolic.kinds.generated import Generated
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

R = sp.Rational
D, H = 8, 3
LAW = settings(
    max_examples=4, deadline=None, derandomize=True, phases=(Phase.explicit, Phase.generate)
)  # no shrinking: the cases are small
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]

YARN = encoding("yarn", head_dim=D, factor=16, original_max_position_embeddings=4096)
SWITCHED = {"short_factor": [1] * 4, "long_factor": [1, 2, 3, 4], "original_max_position_embeddings": 3}
INSIDE = {
    "nope": encoding("nope", head_dim=D),
    "rope": encoding("rope", head_dim=D),
    "rope interleaved": encoding("rope", head_dim=D, interleaved=True),
    "rope partial": encoding("rope", head_dim=D, rotary_dim=4),
    "decay": encoding("decay", head_dim=D, gamma=R(1, 10)),
    "damped rope": encoding("damped_rope", head_dim=D, gamma=R(1, 10)),
    "alibi": encoding("alibi", num_heads=H, head_dim=D),
    "alibi one slope": encoding("alibi", slope=R(1, 3), head_dim=D),
    "rope + alibi": encoding("rope", head_dim=D) + encoding("alibi", num_heads=H, head_dim=D),
    "decay + rope": encoding("decay", head_dim=D, gamma=R(1, 7)) + encoding("rope", head_dim=D),
    "values back": encoding("rotated_values_back", head_dim=D),
    "yarn": YARN,
    "yarn + alibi": YARN + encoding("alibi", num_heads=H, head_dim=D),
}
OUTSIDE = {
    "sinusoidal": encoding("sinusoidal", head_dim=D),
    "keys only": encoding("keys_only", head_dim=D),
    "mismatched": encoding("mismatched_pairings", head_dim=D),
    "rotated values": encoding("rotated_values", head_dim=D),
    "boost": encoding("same_side_boost", head_dim=D, rate=R(1, 20)),
    "before projection": encoding(
        "before_projection", head_dim=D, projection=sp.Matrix(D, D, lambda i, j: R(i - j, 8))
    ),
    "symmetric": encoding("symmetric_distance", slope=R(1, 3), head_dim=D),
    "dynamic base": encoding("dynamic_ntk", head_dim=D, factor=2, max_position_embeddings=3),
    "switching": encoding("longrope_switching", **SWITCHED, head_dim=D, factor=4),
    "steps": encoding("step_table", edges=[-1, 1, 3], values=[0, R(1, 2), -1, R(1, 3)], head_dim=D),
}
FAR = {"rope", "rope interleaved", "rope partial", "keys only", "mismatched", "rotated values", "values back"}


def factor_error(x, factor, ids, dtype):
    """(|F x|, error) for the factors of an encoding outside the family, (B, H, T, n)."""
    matrices = torch.tensor(
        [[[float(e) for e in row] for row in factor(sp.Integer(t)).tolist()] for t in ids.tolist()],
        dtype=torch.float64,
    )
    exact, above = matrices @ x[..., None], matrices.abs() @ x.abs()[..., None]
    entries = (matrices != 0).double() @ x.abs()[..., None]
    angle = ids.double().abs()[:, None]
    return exact[..., 0].abs(), budget.factored(
        above[..., 0], entries[..., 0], angle, matrices.shape[-1], dtype
    )


def score_error(q, k, encoding, t, s, dtype):
    """A bound on the error of the content score, (B, H, Tq, Tk)."""
    if isinstance(encoding.heads[0], Generated):
        drift = [budget.table_entry(float(ids.abs().max()), arithmetic(dtype)) for ids in (t, s)]
        vectors = [budget.rotated_vector(tau, dtype) for tau in drift]
        square = float(encoding.heads[0].amplitude) ** 2
        norms = square * q.norm(dim=-1)[..., :, None] * k.norm(dim=-1)[..., None, :]
        return budget.score_of_vectors(norms, *vectors, q.shape[-1], dtype)
    slots = encoding.key_factor(sp.S.Zero).cols - q.shape[-1]
    lifted = [torch.cat((x, torch.ones(*x.shape[:-1], slots).double()), dim=-1) for x in (q, k)]
    left = factor_error(lifted[0], encoding.query_factor, t, dtype)
    right = factor_error(lifted[1], encoding.key_factor, s, dtype)
    (qm, qe), (km, ke) = ([part[..., None, :] for part in left], [part[..., None, :, :] for part in right])
    return budget.score(qm, km, qe, ke, qm.shape[-1], dtype)


def arithmetic(dtype):
    return torch.float64 if dtype == torch.float64 else torch.float32


def bounded_output(q, k, v, encoding, t, s, causal, dtype):
    """(exact output, budget) of attention, both float64 (B, H, Tq, dv)."""
    q, k, v = q.double(), k.double(), v.double()
    scale = nearest_float(encoding.scale)
    scores = reference.scores(q, k, encoding, t, s)
    content = score_error(q, k, encoding, t, s, dtype)
    # what is not content is the bias, of which only the size matters
    norms = q.norm(dim=-1)[..., :, None] * k.norm(dim=-1)[..., None, :]
    error = budget.logit(scale, norms, content, scale * (scores.abs() + norms), dtype)
    logits = scale * scores
    if causal:
        logits = logits.masked_fill(t[:, None] < s, -math.inf)
    p = logits.softmax(dim=-1)
    below = torch.where(p > 0, logits.amax(-1, keepdim=True) - logits, 0.0).nan_to_num(posinf=0.0)
    bound = budget.attention_output(p, below, v.abs(), error, dtype)
    known = reference.attention(q, k, v, encoding, position_ids=t, key_position_ids=s, causal=causal)
    if encoding.heads[0].value_factor(sp.Integer(1)) != sp.eye(v.shape[-1]):
        vector = budget.rotated_vector(budget.table_entry(float(s.abs().max()), arithmetic(dtype)), dtype)
        vector = vector + budget.factored(math.sqrt(v.shape[-1]), 0.0, 0.0, v.shape[-1], dtype)
        size = v.norm(dim=-1).amax() * math.sqrt(2)
        bound = math.sqrt(2) * bound.amax(-1, keepdim=True) * math.sqrt(v.shape[-1]) + 2 * vector * size
    return known, budget.rounded(known.abs(), bound, dtype)


@st.composite
def cases(draw, far):
    time, keys = draw(st.sampled_from([(1, 1), (3, 3), (1, 4)]))
    start = draw(st.integers(-(2**20), 2**20)) if far else draw(st.integers(0, 9))
    steps = draw(st.lists(st.integers(0, 5), min_size=keys, max_size=keys))
    s = start + torch.tensor(steps).cumsum(0)
    batch, strided = draw(st.sampled_from([1, 3])), draw(st.booleans())
    return s[-time:], s, batch, strided, draw(st.integers(0, 9))


def drawn(batch, time, width, strided, seed, dtype):
    """Content of shape (batch, H, time, width); strided: its features are not beside one another."""
    generator = torch.Generator().manual_seed(seed)
    if strided:
        return torch.randn(batch, H, width, time, generator=generator).to(dtype).transpose(-1, -2)
    return torch.randn(batch, H, time, width, generator=generator).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [2, 6, 32, 256])
def test_every_width_attends_within_its_budget_of_the_specification(width, dtype):
    enc = encoding("damped_rope", head_dim=width, gamma=sp.Rational(1, 10))
    s = torch.tensor([0, 3, 7]) + (2**20 if width > 6 else -(2**20))
    q, k, v = (drawn(1, 3, width, True, seed, dtype) for seed in range(3))
    known, bound = bounded_output(q, k, v, enc, s, s, True, dtype)
    out = attention(q, k, v, enc, position_ids=s)
    assert ((out.double() - known).abs() <= bound).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*INSIDE, *OUTSIDE])
def test_every_encoding_attends_within_its_budget_of_the_specification(name, dtype):
    enc = (INSIDE | OUTSIDE)[name]

    @LAW
    @given(cases(far=name in FAR or name in INSIDE))
    def law(case):
        t, s, batch, strided, seed = case
        q, k, v = (drawn(batch, n, D, strided, seed + n, dtype) for n in (len(t), len(s), len(s)))
        out = attention(q, k, v, enc, position_ids=t, key_position_ids=s)
        known, bound = bounded_output(q, k, v, enc, t, s, True, dtype)
        assert out.dtype == dtype
        assert ((out.double() - known).abs() <= bound).all()

    law()


@pytest.mark.parametrize("name", ["nope", "rope", "values back", "symmetric", "steps", "sinusoidal"])
def test_what_is_bounded_on_both_sides_attends_to_keys_ahead(name):
    enc, t = (INSIDE | OUTSIDE)[name], torch.arange(4)
    q, k, v = inputs(torch.float64, time=4)
    known, bound = bounded_output(q, k, v, enc, t, t, False, torch.float64)
    assert ((attention(q, k, v, enc, causal=False) - known).abs() <= bound).all()


@pytest.mark.parametrize("name", ["decay", "damped rope", "alibi", "rope + alibi", "decay + rope"])
def test_what_grows_for_keys_ahead_is_refused_with_the_symmetric_form_as_another_choice(name):
    q, k, v = inputs(torch.float32)
    with pytest.raises(Unbounded, match=r"causal=False lets a query see keys ahead of it.*\|t - s\|"):
        attention(q, k, v, INSIDE[name], causal=False)


def test_growth_is_refused_for_keys_ahead_too():
    q, k, v = inputs(torch.float32)
    with pytest.raises(Unbounded, match=r"decay is unbounded .*grow"):
        attention(q, k, v, encoding("decay", head_dim=D, gamma=R(-1, 10)), causal=False)


def test_a_bias_that_falls_on_both_sides_is_no_reason_to_refuse_keys_ahead():
    q, k, v = inputs(torch.float64)
    falling, t = encoding("quadratic_bias", head_dim=D, coefficient=R(1, 4)), torch.arange(5)
    known, bound = bounded_output(q, k, v, falling, t, t, False, torch.float64)
    assert ((attention(q, k, v, falling, causal=False) - known).abs() <= bound).all()


def inputs(dtype, heads=H, time=5, key_heads=None):
    generator = torch.Generator().manual_seed(0)
    return (
        torch.randn(2, heads, time, D, generator=generator).to(dtype),
        *(torch.randn(2, key_heads or heads, time, D, generator=generator).to(dtype) for _ in range(2)),
    )


@lru_cache
def budget_of(name):
    q, k, v = inputs(torch.float64)
    _, bound = bounded_output(q, k, v, INSIDE[name], torch.arange(5), torch.arange(5), True, torch.float64)
    return bound.amax()


def close(a, b, name):
    """Two orders of the same computation in float64: twice the budget of one of them."""
    return bool(((a - b).abs() <= 2 * budget_of(name)).all())


@pytest.mark.parametrize("name", INSIDE)
def test_attention_depends_on_gaps_only(name):
    q, k, v = inputs(torch.float64)
    assert close(
        attention(q, k, v, INSIDE[name]),
        attention(q, k, v, INSIDE[name], position_ids=torch.arange(5) + 1),
        name,
    )


@pytest.mark.parametrize("name", [*INSIDE, *OUTSIDE])
def test_decoding_one_query_at_a_time_is_the_full_pass(name):
    q, k, v = inputs(torch.float64)
    enc = (INSIDE | OUTSIDE)[name]
    full = attention(q, k, v, enc)
    for t in range(5):
        step = attention(
            q[:, :, t : t + 1], k[:, :, : t + 1], v[:, :, : t + 1], enc, position_ids=torch.tensor([t])
        )
        assert step.shape == (2, H, 1, D)
        assert close(step, full[:, :, t : t + 1], name if name in INSIDE else "nope")


def test_a_window_of_keys_is_placed_by_key_position_ids():
    q, k, v = inputs(torch.float64)
    enc, window = INSIDE["rope + alibi"], torch.tensor([2, 3, 4])
    mask = (torch.arange(5) >= 2)[None]
    full = attention(q, k, v, enc, attn_mask=mask)[:, :, 4:]
    part = attention(
        q[:, :, 4:], k[:, :, 2:], v[:, :, 2:], enc, position_ids=torch.tensor([4]), key_position_ids=window
    )
    assert close(full, part, "rope + alibi")


def test_the_order_of_the_keys_does_not_matter_only_their_positions():
    q, k, v = inputs(torch.float64)
    order = torch.tensor([3, 0, 4, 1, 2])
    for name in INSIDE:
        moved = attention(
            q,
            k[:, :, order],
            v[:, :, order],
            INSIDE[name],
            position_ids=torch.arange(5),
            key_position_ids=order,
        )
        assert close(attention(q, k, v, INSIDE[name]), moved, name)


def test_positions_per_sequence_are_positions_of_each_sequence():
    q, k, v = inputs(torch.float64)
    ids = torch.tensor([[0, 1, 2, 3, 4], [7, 9, 10, 15, 20]])
    for name in INSIDE:
        both = attention(q, k, v, INSIDE[name], position_ids=ids)
        for b in range(2):
            alone = attention(q[b : b + 1], k[b : b + 1], v[b : b + 1], INSIDE[name], position_ids=ids[b])
            assert close(both[b], alone[0], name)


def test_grouped_queries_are_repeated_keys():
    q, k, v = inputs(torch.float64, heads=6, key_heads=3)
    for enc in (INSIDE["rope"], encoding("alibi", num_heads=6, head_dim=D)):
        grouped = attention(q, k, v, enc, enable_gqa=True)
        assert torch.equal(grouped, attention(q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1), enc))


@pytest.mark.parametrize("name", ["nope", "rope"])
def test_it_is_the_attention_of_torch_on_rotated_heads(name):
    q, k, v = inputs(torch.float64)
    rotated = [x @ reference.flow(INSIDE[name].content_generator, 0) for x in (q, k)]
    theirs = torch.nn.functional.scaled_dot_product_attention(*rotated, v, is_causal=True)
    ours = attention(q, k, v, INSIDE[name], position_ids=torch.arange(5))
    if name == "nope":
        assert close(ours, theirs, name)
    else:
        assert not close(ours, theirs, name)  # torch knows no positions


def test_masks_boolean_and_additive_agree_and_a_blind_query_gives_zeros():
    q, k, v = inputs(torch.float64)
    seen = torch.rand(2, 1, 5, 5, generator=torch.Generator().manual_seed(3)) > 0.3
    seen[:, :, 2] = False
    added = torch.zeros(seen.shape, dtype=torch.float64).masked_fill(~seen, -math.inf)
    for name, enc in INSIDE.items():
        a, b = (attention(q, k, v, enc, attn_mask=mask) for mask in (seen, added))
        assert torch.equal(a, b), name
        assert (a[:, :, 2] == 0).all()


def test_a_blind_query_has_no_nan_in_its_gradient():
    q, k, v = (x.requires_grad_() for x in inputs(torch.float64))
    mask = torch.ones(5, 5, dtype=torch.bool)
    mask[3] = False
    attention(q, k, v, INSIDE["rope"], attn_mask=mask).sum().backward()
    assert all(x.grad.isfinite().all() for x in (q, k, v))


@pytest.mark.parametrize("name", [*INSIDE, *OUTSIDE])
def test_gradients_are_right(name):
    q, k, v = (x[:1, :, :3].clone().requires_grad_() for x in inputs(torch.float64, time=3))
    ids = torch.tensor([0, 2, 5])
    enc = (INSIDE | OUTSIDE)[name]
    assert torch.autograd.gradcheck(
        lambda q, k, v: attention(q, k, v, enc, position_ids=ids), (q, k, v), fast_mode=True
    )


def test_decay_never_forms_a_growing_factor():
    """At position 100 000 e^{γs} is beyond every float, yet weights depend on the gap alone."""
    for dtype in DTYPES:
        q, k, v = inputs(dtype)
        for name in ("decay", "damped rope"):
            far = attention(q, k, v, INSIDE[name], position_ids=torch.arange(5) + 100_000)
            assert far.isfinite().all()
        near = attention(q, k, v, INSIDE["decay"])
        assert torch.equal(attention(q, k, v, INSIDE["decay"], position_ids=torch.arange(5) + 100_000), near)


def test_hidden_pairs_cannot_overflow():
    q, k, v = inputs(torch.float32)
    ids = torch.tensor([0, 10_000, 20_000, 30_000, 40_000])
    for name in ("decay", "damped rope", "alibi"):
        assert attention(q, k, v, INSIDE[name], position_ids=ids).isfinite().all()


def test_higher_jordan_blocks_attend_by_their_closed_form():
    generator = Generator.direct_sum(
        Block(R(1, 10), R(1, 2), 2),
        Block(0, size=3),
        Block(R(1, 5)),
        basis=sp.eye(D) + sp.Matrix(D, D, lambda i, j: R(int(j == i + 1), 3)),
    )
    enc = Generated("jordan", {}, D, generator)
    q, k, v = inputs(torch.float64, time=4)
    t = torch.arange(4)
    logits = nearest_float(enc.scale) * reference.scores(q, k, enc, t, t)
    magnitude = logits.abs().amax() + q.norm(dim=-1).amax() * k.norm(dim=-1).amax() * 3**2
    error = budget.gamma(8 * D, torch.float64) * magnitude * torch.ones_like(logits)
    p = logits.masked_fill(t[:, None] < t, -math.inf).softmax(-1)
    below = torch.where(p > 0, logits.amax(-1, keepdim=True) - logits, 0.0)
    bound = budget.attention_output(p, below, v.abs(), error, torch.float64)
    assert ((attention(q, k, v, enc) - p @ v).abs() <= bound).all()


class Copies(TorchDispatchMode):
    """Names of the operations whose result is as large as `like` and lies elsewhere."""

    def __init__(self, like):
        super().__init__()
        self.like, self.names, self.every = like, [], set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        self.every.add(func.overloadpacket.__name__)
        large = isinstance(out, torch.Tensor) and out.numel() >= self.like.numel()
        if large and out.untyped_storage().data_ptr() != self.like.untyped_storage().data_ptr():
            self.names.append(func.overloadpacket.__name__)
        return out


def decoding(enc):
    """What one query and 64 keys in 2·H heads cost in copies of the keys."""
    q, k = torch.randn(2, H, 1, D), torch.randn(2, H, 64, D)
    v = torch.randn(2, H, 64, 1)
    attention(q, k, v, enc, position_ids=torch.tensor([63]))
    with Copies(k) as copies:
        attention(q, k, v, enc, position_ids=torch.tensor([63]))
    return copies


@pytest.mark.parametrize("name", ["nope", "decay", "alibi", "alibi one slope"])
def test_keys_that_do_not_turn_are_never_copied(name):
    assert decoding(INSIDE[name]).names == []


@pytest.mark.parametrize("name", ["rope", "rope interleaved", "damped rope", "rope + alibi"])
def test_keys_that_turn_are_not_gathered_by_index(name):
    assert not decoding(INSIDE[name]).every & {"index", "index_select", "gather"}


def test_autocast_changes_nothing():
    q, k, v = inputs(torch.float32)
    plain = attention(q, k, v, INSIDE["rope + alibi"])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(attention(q, k, v, INSIDE["rope + alibi"]), plain)
