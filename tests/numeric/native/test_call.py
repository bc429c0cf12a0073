"""Native kernels against exact products: every dtype, pairing, layout, stride, position and result."""

import pytest
import torch
from exptx.numeric import PositionOutOfRange, native
from exptx.numeric.layout import join_pairs, split_pairs
from exptx.numeric.native import Native
from exptx.numeric.validation import compute_dtype
from exptx.proofs import budget
from exptx.symbolic.lowering import shape_program
from hypothesis import given
from hypothesis import strategies as st

DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
WIDTHS = [2, 4, 6, 10, 30, 32, 34, 64, 66, 80, 96, 126, 128, 190, 256]
BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}


def drawn(shape, dtype, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def tables(rows, pairs, dtype, seed=1):
    """Any numbers do: a kernel multiplies what it is given."""
    return tuple(drawn((*rows, pairs), compute_dtype(dtype), seed + i) for i in range(2))


def assert_turned(out, x, cos, sin, interleaved, inverse=False):
    """x (b, h, t, d), a table row a token: each coordinate within its budget, what does not turn bit for bit.

    Products of numbers of 24 bits are exact in float64 and their sum rounds once, which the budget allows for
    the oracle; in float64 the oracle itself is one more kernel, so its own budget is added.
    """
    width = 2 * cos.shape[-1]
    x0, x1 = split_pairs(x[..., :width].double(), interleaved)
    c, s = (table.double() if table.ndim == 2 else table.double()[:, None] for table in (cos, sin))
    s = -s if inverse else s
    known = join_pairs(x0 * c - x1 * s, x0 * s + x1 * c, interleaved)
    near = join_pairs((x0 * c).abs(), (x0 * s).abs(), interleaved)
    far = join_pairs((x1 * s).abs(), (x1 * c).abs(), interleaved)
    bound = budget.rotated_coordinate(known.abs(), near, far, 0.0, 0.0, x.dtype)
    bound = bound + budget.coordinate(near, far, 0.0, 0.0, torch.float64)
    off = (out[..., :width].double() - known).abs()
    assert out.dtype == x.dtype
    assert (off <= bound).all(), f"{(off - bound).max().item()} beyond the budget"
    tails = (y[..., width:].contiguous().view(BITS[y.element_size()]) for y in (out, x))
    assert torch.equal(*tails)


def strided(x, kind):
    """The numbers of x in memory of another kind."""
    if kind == "contiguous":
        return x.contiguous()
    b, h, t, d = x.shape
    if kind == "bthd":
        return torch.empty(b, t, h, d, dtype=x.dtype).transpose(1, 2).copy_(x)
    if kind == "every other feature":
        return torch.empty(b, h, t, 2 * d, dtype=x.dtype)[..., ::2].copy_(x)
    if kind == "features outermost":
        return torch.empty(d, t, h, b, dtype=x.dtype).permute(3, 2, 1, 0).copy_(x)
    if kind == "sliced":
        return torch.empty(b + 1, h + 2, t + 1, d + 3, dtype=x.dtype)[1:, 1:-1, :-1, 1:-2].copy_(x)
    raise AssertionError(kind)


KINDS = ["contiguous", "bthd", "every other feature", "features outermost", "sliced"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_width_turns_within_its_budget_in_both_directions(dtype, interleaved, width):
    x, (cos, sin) = drawn((3, 5, 7, width + 3), dtype), tables((7,), width // 2, dtype)
    for inverse in (False, True):
        out = torch.full_like(x, torch.nan)
        native.rotary(x, out, cos, sin, None, width, interleaved, "bhtd", inverse)
        assert_turned(out, x, cos, sin, interleaved, inverse)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("interleaved", [False, True])
def test_other_processors_turn_alike_to_the_last_bit(dtype, interleaved, processor):
    """A fresh program, compiled for `processor`; the room's own kernels are those of this machine."""
    for width in (2, 10, 34, 96, 128):
        x, (cos, sin) = drawn((2, 3, 5, width + 1), dtype), tables((5,), width // 2, dtype)
        out, known = torch.full_like(x, torch.nan), torch.empty_like(x)
        Native(shape_program(1, turns=True, fades=False))(x, out, (cos, sin), None, interleaved)
        native.rotary(x, known, cos, sin, interleaved=interleaved)
        assert torch.equal(out, known)


@given(
    st.sampled_from(DTYPES),
    st.booleans(),
    st.sampled_from(KINDS),
    st.sampled_from(KINDS),
    st.sampled_from([2, 12, 64]),
    st.tuples(*[st.integers(1, 5)] * 3),
    st.integers(0, 2),
)
def test_no_stride_makes_a_difference(dtype, interleaved, source, target, width, sizes, tail):
    x, (cos, sin) = drawn((*sizes, width + tail), dtype), tables((sizes[2],), width // 2, dtype)
    out, known = strided(torch.zeros_like(x), target), torch.empty_like(x)
    native.rotary(strided(x, source), out, cos, sin, interleaved=interleaved)
    native.rotary(x, known, cos, sin, interleaved=interleaved)
    assert torch.equal(out, known)
    assert_turned(known, x, cos, sin, interleaved)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_in_place_is_out_of_place(dtype, kind):
    for interleaved, width in ((False, 12), (True, 12), (False, 64), (True, 64)):
        x, (cos, sin) = strided(drawn((2, 3, 4, width + 2), dtype), kind), tables((4,), width // 2, dtype)
        known = torch.empty_like(x)
        native.rotary(x, known, cos, sin, interleaved=interleaved)
        native.rotary(x, x, cos, sin, interleaved=interleaved)
        assert torch.equal(x, known)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_beside_the_result_is_written(kind):
    memory = torch.full((40_000,), 7.0)
    before, x = memory.clone(), drawn((2, 3, 4, 14), torch.float32)
    shaped = strided(torch.zeros_like(x), kind)
    out = memory.as_strided(shaped.shape, shaped.stride(), 1000)
    native.rotary(x, out, *tables((4,), 6, x.dtype))
    touched = torch.zeros_like(memory, dtype=torch.bool)
    touched.as_strided(out.shape, out.stride(), 1000).fill_(True)
    assert torch.equal(memory[~touched], before[~touched])
    assert (memory[touched] != 7.0).all()


def test_heads_that_share_memory_can_be_read():
    x, (cos, sin) = drawn((1, 1, 4, 8), torch.float32).expand(3, 5, 4, 8), tables((4,), 4, torch.float32)
    out = torch.empty(3, 5, 4, 8)
    native.rotary(x, out, cos, sin)
    assert_turned(out, x, cos, sin, False)


@pytest.mark.parametrize("layout", ["bhtd", "bthd"])
@pytest.mark.parametrize("rows", ["shared", "one batch", "batch"])
@pytest.mark.parametrize("width", [8, 64])
def test_every_table_serves_its_tokens(layout, rows, width):
    """Also in columns that are not neighbours, as those of a table of full width."""
    shape = {"shared": (5,), "one batch": (1, 5), "batch": (3, 5)}[rows]
    cos, sin = tables(shape, width // 2, torch.float32)
    x = drawn((3, 2, 5, width), torch.float32)
    given = x.transpose(1, 2).contiguous() if layout == "bthd" else x
    for c, s in ((cos, sin), tuple(t.repeat_interleave(2, -1)[..., ::2] for t in (cos, sin))):
        out = torch.empty_like(given)
        native.rotary(given, out, c, s, layout=layout)
        assert_turned(out.transpose(1, 2) if layout == "bthd" else out, x, cos, sin, False)


@pytest.mark.parametrize("layout", ["bhtd", "bthd"])
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8])
def test_positions_choose_rows_up_to_the_last(layout, dtype):
    cos, sin = tables((9,), 4, torch.float32)
    x = drawn((2, 3, 4, 8), torch.float32)
    given = x.transpose(1, 2).contiguous() if layout == "bthd" else x
    batches = torch.tensor([[8, 0, 8, 3], [1, 2, 0, 8]], dtype=dtype)
    for ids in (batches, batches[:1], batches[0], batches.T.contiguous().T):
        out = torch.empty_like(given)
        native.rotary(given, out, cos, sin, ids, layout=layout)
        rows = ids.long() if ids.ndim == 2 else ids[None].long()
        back = out.transpose(1, 2) if layout == "bthd" else out
        assert_turned(back, x, cos[rows], sin[rows], False)


@pytest.mark.parametrize(("bad", "where"), [(9, 3), (-1, 0), (2**40, 5), (-(2**62), 7)])
def test_a_position_outside_the_table_is_named_before_anything_is_written(bad, where):
    cos, sin = tables((9,), 4, torch.float32)
    x, ids = drawn((2, 3, 4, 8), torch.float32), torch.zeros(2, 4, dtype=torch.int64)
    ids.view(-1)[where] = bad
    before, wide = x.clone(), (cos[:, :4], sin[:, :4])
    with pytest.raises(PositionOutOfRange, match=f"position_ids contains {bad}, but .* 9 rows; ids in 0..8"):
        native.rotary(x, x, *wide, ids)
    assert torch.equal(x, before)


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("layout", ["bhtd", "bthd"])
@pytest.mark.parametrize("given_ids", [False, True])
def test_queries_and_keys_together_are_each_by_itself(interleaved, layout, given_ids):
    cos, sin = tables((6,), 16, torch.bfloat16)
    ids = torch.tensor([5, 0, 3]) if given_ids else None
    cos, sin = (cos, sin) if given_ids else (cos[:3], sin[:3])
    shapes = [(2, h, 3, 33) if layout == "bhtd" else (2, 3, h, 33) for h in (4, 2)]
    q, k = (drawn(shape, torch.bfloat16) for shape in shapes)
    outs, known = [torch.empty_like(x) for x in (q, k)], [torch.empty_like(x) for x in (q, k)]
    native.rotary_qk(q, k, *outs, cos, sin, ids, 32, interleaved, layout)
    for x, y in zip((q, k), known, strict=True):
        native.rotary(x, y, cos, sin, ids, 32, interleaved, layout)
    assert all(torch.equal(a, b) for a, b in zip(outs, known, strict=True))


@pytest.mark.parametrize("shape", [(0, 2, 3, 8), (2, 0, 3, 8), (2, 3, 0, 8)])
def test_nothing_is_turned_to_nothing(shape):
    x, (cos, sin) = torch.empty(shape), tables((shape[2],), 4, torch.float32)
    native.rotary(x, torch.empty(shape), cos, sin)
    native.rotary(x, x, cos, sin)
    native.rotary_qk(x, torch.ones(shape[0], 1, *shape[2:]), x, torch.ones(shape[0], 1, *shape[2:]), cos, sin)


@pytest.mark.parametrize("interleaved", [False, True])
def test_entries_beyond_two_to_the_31_are_found(interleaved):
    """Heads 2^31 + 64 entries apart, in memory that is reserved but touched in two places only."""
    x = torch.empty(2**31 + 4096, dtype=torch.bfloat16).as_strided((1, 2, 3, 64), (0, 2**31 + 64, 64, 1))
    x.copy_(drawn((1, 2, 3, 64), torch.bfloat16))
    cos, sin = tables((3,), 32, x.dtype)
    known, kept = torch.empty(1, 2, 3, 64, dtype=x.dtype), x.clone()
    native.rotary(x, known, cos, sin, interleaved=interleaved)
    assert_turned(known, kept, cos, sin, interleaved)
    native.rotary(x, x, cos, sin, interleaved=interleaved)
    assert torch.equal(x, known)
    native.rotary(kept, x, cos, sin, interleaved=interleaved, inverse=True)
    assert_turned(x, kept, cos, sin, interleaved, inverse=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("layout", ["bhtd", "bthd"])
def test_large_results_past_the_cache_are_the_same(dtype, interleaved, layout):
    """Larger than PAST_THE_CACHE; in place nothing goes past it, so two routes are compared."""
    tokens = 2**24 // (4 * 128 * torch.empty(0, dtype=dtype).element_size()) + 5
    x = drawn((1, 4, tokens, 128) if layout == "bhtd" else (1, tokens, 4, 128), dtype)
    cos, sin = tables((tokens,), 64, dtype)
    out = native.fresh(x)
    native.rotary(x, out, cos, sin, interleaved=interleaved, layout=layout)
    native.rotary(x, x, cos, sin, interleaved=interleaved, layout=layout)
    assert torch.equal(out, x)
