"""Attention with a bias of the gap against all pairs in float64: piece by piece is the same thing."""

import math

import pytest
import sympy as sp
import torch
from exptx.numeric import alibi_attention, biased_attention
from exptx.numeric.biases import fused
from exptx.numeric.biases import pieces as room
from exptx.proofs import budget
from exptx.symbolic import realize

u = sp.Symbol("u")
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
D = 8


@pytest.fixture(autouse=True)
def _small_leaves(monkeypatch):
    """Leaves of 8 queries, so that small examples have rectangles."""
    monkeypatch.setattr(room, "LEAF", 8)


def drawn(dtype, batch=2, heads=4, key_heads=None, queries=60, keys=60, width=6):
    generator = torch.Generator().manual_seed(1)
    shapes = (heads, queries, D), (key_heads or heads, keys, D), (key_heads or heads, keys, width)
    return tuple(torch.randn(batch, *shape, generator=generator).to(dtype) for shape in shapes)


def slopes_of(heads):
    return torch.tensor([0.8409, 2**-0.5, 0.05, 0.0, 3.0][:heads], dtype=torch.float64)


def pairs(q, k, v, bias, t, s, *, causal=True, mask=None):
    """(output, weights, gaps below the largest logit, logits) in float64, from all pairs at once."""
    k, v = (x.repeat_interleave(q.shape[1] // k.shape[1], 1) for x in (k, v))
    gap = (torch.atleast_2d(t)[:, :, None] - torch.atleast_2d(s)[:, None]).double()[:, None]
    logits = q.shape[-1] ** -0.5 * (q @ k.mT) + bias(gap)
    logits = logits.masked_fill(gap < 0, -math.inf) if causal else logits
    if mask is not None:
        logits = logits.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else logits + mask
    p = logits.softmax(-1).nan_to_num(0.0)
    below = torch.where(p > 0, logits.amax(-1, keepdim=True) - logits, 0.0)
    return p @ v, p, below, logits


def allowed(q, k, v, bias, t, s, dtype, **options):
    """(exact output, budget) for inputs in float64."""
    known, p, below, logits = pairs(q, k, v, bias, t, s, **options)
    size = (
        q.norm(dim=-1)[..., None]
        * k.norm(dim=-1).repeat_interleave(q.shape[1] // k.shape[1], 1)[..., None, :]
    )
    scaled, steepness = q.shape[-1] ** -0.5 * size, torch.where(p > 0, logits, 0.0).abs()
    # content and slots are one sum of at most D + 24 products; content alone is at most `scaled`
    error = budget.logit(1.0, scaled, budget.gamma(D + 24, dtype) * (scaled + steepness), steepness, dtype)
    values = v.abs().repeat_interleave(q.shape[1] // v.shape[1], 1)
    log_sum = float((scaled + steepness).max()) + math.log(k.shape[2])
    bound = budget.joined_output(p, below, values, error, log_sum, 2 * 8, dtype)
    return known, budget.rounded(known.abs(), bound, dtype)


def line(kind, batch, queries, keys):
    """Positions of queries and keys."""
    if kind == "counted":
        return torch.arange(queries), torch.arange(keys)
    if kind == "last":
        return torch.arange(keys - queries, keys), torch.arange(keys)
    if kind == "rows":
        return torch.stack([torch.arange(queries) + 3 * b for b in range(batch)]), torch.arange(keys)
    if kind == "float":
        steps = torch.rand(batch, queries, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
        return steps.cumsum(1), steps.cumsum(1)
    if kind == "equal":
        return torch.arange(queries) // 7, torch.arange(keys) // 7
    if kind == "shuffled":
        order = torch.randperm(keys, generator=torch.Generator().manual_seed(5))
        return order[:queries], order
    return torch.arange(queries) - 5, torch.arange(keys)  # the first queries see nothing


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("key_heads", [4, 2, 1])
@pytest.mark.parametrize("kind", ["counted", "last", "rows", "float", "equal", "shuffled", "early"])
def test_pieces_add_up_to_attention_over_all_pairs(kind, key_heads, dtype):
    queries, keys = (40, 61) if kind in ("last", "rows", "early") else (61, 61)
    q, k, v = drawn(dtype, key_heads=key_heads, queries=queries, keys=keys)
    m, (t, s) = slopes_of(4), line(kind, 2, queries, keys)
    for causal, symmetric in ((True, False), (False, True)):
        out = alibi_attention(
            q,
            k,
            v,
            m,
            causal=causal,
            symmetric=symmetric,
            position_ids=t,
            key_position_ids=s,
            enable_gqa=True,
        )
        bias = lambda gap, two=symmetric: -m[:, None, None] * (gap.abs() if two else gap)  # noqa: E731
        wide = (x.double() for x in (q, k, v))
        known, bound = allowed(*wide, bias, t, s, dtype, causal=causal)
        assert out.dtype == dtype
        assert ((out.double() - known).abs() <= bound).all()


@pytest.mark.parametrize("wrong", [1.001, -1.0])
def test_another_slope_is_seen(wrong):
    q, k, v = drawn(torch.float64)
    m, t = slopes_of(4), torch.arange(60)
    known, bound = allowed(q, k, v, lambda gap: -wrong * m[:, None, None] * gap, t, t, torch.float64)
    assert not ((alibi_attention(q, k, v, m) - known).abs() <= bound).all()


@pytest.mark.parametrize("key_heads", [4, 2])
@pytest.mark.parametrize(("causal", "symmetric"), [(True, False), (False, True), (True, True)])
@pytest.mark.parametrize("kind", ["counted", "last", "early", "shuffled", "float"])
def test_gradients_are_those_of_all_pairs(kind, causal, symmetric, key_heads):
    queries = 40 if kind in ("last", "early") else 61
    given = drawn(torch.float64, key_heads=key_heads, queries=queries, keys=61)
    t, s = line(kind, 2, queries, 61)
    weights = torch.randn(2, 4, queries, 6, generator=torch.Generator().manual_seed(9), dtype=torch.float64)

    def gradients(function):
        leaves = [x.clone().requires_grad_() for x in (*given, slopes_of(4))]
        return torch.autograd.grad((function(*leaves) * weights).sum(), leaves)

    ours = gradients(
        lambda q, k, v, m: alibi_attention(
            q,
            k,
            v,
            m,
            causal=causal,
            symmetric=symmetric,
            position_ids=t,
            key_position_ids=s,
            enable_gqa=True,
        )
    )
    known = gradients(
        lambda q, k, v, m: pairs(
            q, k, v, lambda gap: -m[:, None, None] * (gap.abs() if symmetric else gap), t, s, causal=causal
        )[0]
    )
    # sums of at most 2·61·61 products of numbers of order one, times gaps, in another order
    for mine, theirs in zip(ours, known, strict=True):
        scale = theirs.abs().max() + weights.abs().max() * 61
        assert (mine - theirs).abs().max() <= budget.gamma(2 * 61 * 61, torch.float64) * scale


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_float32_rounded_once(dtype):
    q, k, v = drawn(dtype)
    wide = alibi_attention(q.float(), k.float(), v.float(), slopes_of(4))
    assert torch.equal(alibi_attention(q, k, v, slopes_of(4)), wide.to(dtype))


def test_slopes_of_each_sequence_are_its_own():
    q, k, v = drawn(torch.float64)
    m = torch.stack((slopes_of(4), slopes_of(4).flip(0)))
    both = alibi_attention(q, k, v, m)
    for b in range(2):
        t = torch.arange(60)
        own = (x[b : b + 1] for x in (q, k, v))
        known, bound = allowed(*own, lambda gap, b=b: -m[b, :, None, None] * gap, t, t, torch.float64)
        assert ((both[b] - known[0]).abs() <= bound[0]).all()


MASKS = {
    "padding": torch.arange(60).ge(7)[None, None, None],
    "heads": torch.rand(1, 4, 60, 60, generator=torch.Generator().manual_seed(4)) > 0.3,
    "added": torch.randn(2, 1, 60, 60, generator=torch.Generator().manual_seed(4), dtype=torch.float64),
}


@pytest.mark.parametrize("key_heads", [4, 2])
@pytest.mark.parametrize("name", MASKS)
def test_a_mask_takes_part_in_every_strip(name, key_heads):
    q, k, v = drawn(torch.float64, key_heads=key_heads)
    m, t, mask = slopes_of(4), torch.arange(60), MASKS[name]
    known, bound = allowed(q, k, v, lambda gap: -m[:, None, None] * gap, t, t, torch.float64, mask=mask)
    out = alibi_attention(q, k, v, m, attn_mask=mask, enable_gqa=True)
    assert ((out - known).abs() <= bound).all()


def test_decoding_one_query_at_a_time_is_the_full_pass():
    q, k, v = drawn(torch.float64)
    t = torch.arange(60)
    _, bound = allowed(q, k, v, lambda gap: -slopes_of(4)[:, None, None] * gap, t, t, torch.float64)
    full = alibi_attention(q, k, v, slopes_of(4))
    for n in (0, 1, 30, 59):
        step = alibi_attention(
            q[:, :, n : n + 1],
            k[:, :, : n + 1],
            v[:, :, : n + 1],
            slopes_of(4),
            position_ids=torch.tensor([n]),
        )
        assert ((step - full[:, :, n : n + 1]).abs() <= 2 * bound[:, :, n : n + 1]).all()


def test_nothing_seen_is_nothing_given():
    q, k, v = drawn(torch.float32)
    assert not alibi_attention(
        q, k, v, slopes_of(4), position_ids=torch.arange(60) - 100, key_position_ids=torch.arange(60)
    ).any()
    assert alibi_attention(q[:, :, :0], k, v, slopes_of(4), position_ids=torch.arange(0)).shape == (
        2,
        4,
        0,
        6,
    )
    assert not alibi_attention(q, k[:, :, :0], v[:, :, :0], slopes_of(4), position_ids=torch.arange(60)).any()


BIASES = {
    "slide": -u / 4,
    "quadratic": -(u**2) / 100,
    "ringing": sp.exp(-u / 5) * sp.cos(u) - u / 8,
    "power and wave": 2 ** (-u) + sp.cos(sp.pi * u / 3),
}


def exact_table(bias):
    """bias(u) for u = -59 … 59, float64."""
    return torch.tensor([float(sp.N(bias.subs(u, n))) for n in range(-59, 60)], dtype=torch.float64)


@pytest.mark.parametrize("gauge", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BIASES)
def test_a_realised_bias_is_the_bias_at_every_gap(name, dtype, gauge):
    bias, t = BIASES[name], torch.arange(60)
    q, k, v = drawn(dtype)
    realized, table = realize(bias, u, modulo_row_constant=gauge), exact_table(bias)
    for options in ({"causal": True}, {"causal": False, "symmetric": True}):
        two = options.get("symmetric", False)
        known, bound = allowed(
            *(x.double() for x in (q, k, v)),
            lambda gap, two=two: table[(gap.abs() if two else gap).long() + 59],
            t,
            t,
            dtype,
            causal=options["causal"],
        )
        out = biased_attention(q, k, v, realized, **options)
        assert ((out.double() - known).abs() <= bound).all()


STEPS = {
    "exceptions": sp.Piecewise((2, sp.Eq(u, 0)), (-3, sp.Eq(u, 3)), (-u / 4, True)),
    "a sign": (-1) ** u * 2**-u - u / 9,
    "a sign and an exception": sp.Piecewise((5, sp.Eq(u, 1)), ((-1) ** u, True)),
    "nothing": sp.Integer(0),
}


@pytest.mark.parametrize("gauge", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", STEPS)
def test_a_bias_of_whole_gaps_needs_no_flow(name, dtype, gauge):
    """Its step is singular, turns a sign, or has no rows at all."""
    q, k, v = drawn(dtype)
    realized = realize(STEPS[name], u, domain="causal-integers", modulo_row_constant=gauge)
    assert realized.generator is None
    table = torch.tensor([float(STEPS[name].subs(u, n)) for n in range(60)], dtype=torch.float64)
    t, wide = torch.arange(60), [x.double() for x in (q, k, v)]
    known, bound = allowed(*wide, lambda gap: table[gap.long().clamp(min=0)], t, t, dtype)
    assert ((biased_attention(q, k, v, realized).double() - known).abs() <= bound).all()


@pytest.mark.parametrize("sign", [1, -1])
def test_a_sign_is_read_at_gaps_below_0_as_well(sign):
    q, k, v = drawn(torch.float64)
    bias, t = sign * (-1) ** u * sp.Rational(9, 10) ** u, torch.arange(60)
    realized = realize(bias, u, domain="integers")
    known, bound = allowed(q, k, v, lambda gap: sign * (-0.9) ** gap, t, t, torch.float64, causal=False)
    assert ((biased_attention(q, k, v, realized, causal=False) - known).abs() <= bound).all()


def test_powers_of_far_gaps_fit_where_float16_is_multiplied_in_tiles(monkeypatch):
    monkeypatch.setattr(fused, "_TILED", {torch.float16, torch.bfloat16})
    q, k, v = drawn(torch.float16)
    far, bias = 1000 * torch.arange(60), realize(-(u**3) / 900, u)
    wide = biased_attention(q.float(), k.float(), v.float(), bias, position_ids=far)
    assert torch.equal(biased_attention(q, k, v, bias, position_ids=far), wide.half())


def test_one_head_may_have_no_bias_at_all():
    q, k, v = drawn(torch.float64)
    each = [realize(x * u, u) for x in (-1, 0, sp.Rational(-1, 9), 0)]
    m, t = torch.tensor([1.0, 0.0, 1 / 9, 0.0], dtype=torch.float64)[:, None, None], torch.arange(60)
    known, bound = allowed(q, k, v, lambda gap: -m * gap, t, t, torch.float64)
    assert ((biased_attention(q, k, v, each) - known).abs() <= bound).all()


@pytest.mark.parametrize("name", ["quadratic", "slide"])
def test_causal_false_reads_the_bias_on_both_sides_as_it_is(name):
    q, k, v = drawn(torch.float64)
    table, t = exact_table(BIASES[name]), torch.arange(60)
    known, bound = allowed(q, k, v, lambda gap: table[gap.long() + 59], t, t, torch.float64, causal=False)
    out = biased_attention(q, k, v, realize(BIASES[name], u), causal=False)
    assert ((out - known).abs() <= bound).all()


@pytest.mark.parametrize("key_heads", [4, 2])
def test_every_head_may_have_a_bias_of_its_own(key_heads):
    q, k, v = drawn(torch.float64, key_heads=key_heads)
    each, t = list(BIASES.values()), torch.arange(60)
    tables = torch.stack([exact_table(bias) for bias in each])
    known, bound = allowed(q, k, v, lambda gap: tables[:, gap[0, 0].long() + 59], t, t, torch.float64)
    out = biased_attention(q, k, v, [realize(bias, u) for bias in each], enable_gqa=True)
    assert ((out - known).abs() <= bound).all()


def test_gradients_flow_through_a_realised_bias():
    q, k, v = (x[:1, :1, :10, :4].clone().requires_grad_() for x in drawn(torch.float64))
    realized = realize(BIASES["ringing"], u)
    assert torch.autograd.gradcheck(lambda *given: biased_attention(*given, realized), (q, k, v))
