"""Triton kernels in the interpreter: every dtype, pairing, layout, stride and position, to the last bit.

Two oracles: products of numbers of 24 bits are exact in float64, and the kernel in C, which another compiler
makes of the same program, has the same bits.
"""

import pytest
import torch
from exptx.numeric import BadDtype, BadTensor, PositionOutOfRange, native, triton
from exptx.numeric.layout import join_pairs, split_pairs
from exptx.numeric.triton.plan import WARPS
from exptx.numeric.validation import compute_dtype
from exptx.proofs import budget
from hypothesis import given, settings
from hypothesis import strategies as st

DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
WIDTHS = [2, 6, 10, 30, 64, 80, 128, 2050]  # the last has rows of more planes than a tile has elements
BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}


def drawn(shape, dtype, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def tables(rows, pairs, dtype, seed=1):
    """Any numbers do: a kernel multiplies what it is given."""
    return tuple(drawn((*rows, pairs), compute_dtype(dtype), seed + i) for i in range(2))


def bits(x):
    return x.contiguous().view(BITS[x.element_size()])


def assert_turned(out, x, cos, sin, interleaved, inverse=False):
    """x (b, h, t, d), a table row a token: coordinates within their budget, the tail bit for bit."""
    width = 2 * cos.shape[-1]
    x0, x1 = split_pairs(x[..., :width].double(), interleaved)
    c, s = (table.double() if table.ndim == 2 else table.double()[:, None] for table in (cos, sin))
    s = -s if inverse else s
    known = join_pairs(x0 * c - x1 * s, x0 * s + x1 * c, interleaved)
    near = join_pairs((x0 * c).abs(), (x0 * s).abs(), interleaved)
    far = join_pairs((x1 * s).abs(), (x1 * c).abs(), interleaved)
    bound = budget.rotated_coordinate(known.abs(), near, far, 0.0, 0.0, x.dtype)
    bound = bound + budget.coordinate(near, far, 0.0, 0.0, torch.float64)  # the oracle's own, for float64
    off = (out[..., :width].double() - known).abs()
    assert out.dtype == x.dtype
    assert (off <= bound).all(), f"{(off - bound).max().item()} beyond the budget"
    assert torch.equal(bits(out[..., width:]), bits(x[..., width:]))


def both(x, out, *arguments):
    """The result of Triton's kernel in `out`, after checking that it has the bits of that in C."""
    known = torch.empty_like(x)
    native.rotary(x, known, *arguments)
    triton.rotary(x, out, *arguments)
    assert torch.equal(bits(out), bits(known))
    return out


def strided(x, kind):
    """The numbers of x in memory of another kind."""
    b, h, t, d = x.shape
    memory = {
        "contiguous": lambda: torch.empty(b, h, t, d, dtype=x.dtype),
        "bthd": lambda: torch.empty(b, t, h, d, dtype=x.dtype).transpose(1, 2),
        "every other feature": lambda: torch.empty(b, h, t, 2 * d, dtype=x.dtype)[..., ::2],
        "features outermost": lambda: torch.empty(d, t, h, b, dtype=x.dtype).permute(3, 2, 1, 0),
        "sliced": lambda: torch.empty(b + 1, h + 2, t + 1, d + 3, dtype=x.dtype)[1:, 1:-1, :-1, 1:-2],
    }
    return memory[kind]().copy_(x)


KINDS = ["contiguous", "bthd", "every other feature", "features outermost", "sliced"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_width_turns_within_its_budget_in_both_directions(dtype, interleaved, width):
    x, (cos, sin) = drawn((2, 3, 5, width + 3), dtype), tables((5,), width // 2, dtype)
    for inverse in (False, True):
        out = both(x, torch.full_like(x, torch.nan), cos, sin, None, width, interleaved, "bhtd", inverse)
        assert_turned(out, x, cos, sin, interleaved, inverse)


@pytest.mark.parametrize(("heads", "time"), [(1, 1), (5, 1), (33, 1), (2, 3), (9, 16), (6, 17), (1, 40)])
@pytest.mark.parametrize("interleaved", [False, True])
def test_tiles_of_every_shape_cover_all_tokens_and_heads_once(heads, time, interleaved):
    x, (cos, sin) = drawn((2, heads, time, 130), torch.bfloat16), tables((time,), 64, torch.bfloat16)
    out = both(x, torch.full_like(x, torch.nan), cos, sin, None, 128, interleaved)
    assert_turned(out, x, cos, sin, interleaved)


@settings(max_examples=25)
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
    out = strided(torch.zeros_like(x), target)
    both(strided(x, source), out, cos, sin, None, width, interleaved)
    assert_turned(out, x, cos, sin, interleaved)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_in_place_is_out_of_place(dtype, kind):
    for interleaved in (False, True):
        x, (cos, sin) = strided(drawn((2, 3, 4, 14), dtype), kind), tables((4,), 6, dtype)
        known = both(x, torch.empty_like(x), cos, sin, None, 12, interleaved)
        triton.rotary(x, x, cos, sin, None, 12, interleaved)
        assert torch.equal(x, known)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("interleaved", [False, True])
def test_nothing_beside_the_result_is_written(kind, interleaved):
    memory = torch.full((40_000,), 7.0)
    before, x = memory.clone(), drawn((2, 3, 4, 14), torch.float32)
    shaped = strided(torch.zeros_like(x), kind)
    out = memory.as_strided(shaped.shape, shaped.stride(), 1000)
    triton.rotary(x, out, *tables((4,), 6, x.dtype), None, 12, interleaved)
    touched = torch.zeros_like(memory, dtype=torch.bool)
    touched.as_strided(out.shape, out.stride(), 1000).fill_(True)
    assert torch.equal(memory[~touched], before[~touched])
    assert (memory[touched] != 7.0).all()


def test_the_tail_keeps_its_bits():
    """A signalling NaN would become a quiet one in many a conversion."""
    x, (cos, sin) = drawn((1, 2, 3, 10), torch.float32), tables((3,), 3, torch.float32)
    x[..., 6:].view(torch.int32).fill_(0x7F800001)
    out = torch.empty_like(x)
    triton.rotary(x, out, cos, sin, None, 6)
    triton.rotary(x, x, cos, sin, None, 6)
    assert all((y[..., 6:].view(torch.int32) == 0x7F800001).all() for y in (x, out))


@pytest.mark.parametrize("layout", ["bhtd", "bthd"])
@pytest.mark.parametrize("rows", ["shared", "one batch", "batch"])
@pytest.mark.parametrize("width", [8, 64])
def test_every_table_serves_its_tokens(layout, rows, width):
    """Also in columns that are not neighbours, as those of a table of full width."""
    shape = {"shared": (5,), "one batch": (1, 5), "batch": (3, 5)}[rows]
    cos, sin = tables(shape, width // 2, torch.float32)
    x = drawn((3, 2, 5, width), torch.float32)
    given = x.transpose(1, 2).contiguous() if layout == "bthd" else x
    for c, s in ((cos, sin), (cos.repeat_interleave(2, -1)[..., ::2], sin)):
        out = both(given, torch.empty_like(given), c, s, None, width, False, layout)
        assert_turned(out.transpose(1, 2) if layout == "bthd" else out, x, cos, sin, False)


@pytest.mark.parametrize("layout", ["bhtd", "bthd"])
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8])
def test_positions_choose_rows_up_to_the_last(layout, dtype):
    cos, sin = tables((9,), 4, torch.float32)
    x = drawn((2, 3, 4, 8), torch.float32)
    given = x.transpose(1, 2).contiguous() if layout == "bthd" else x
    batches = torch.tensor([[8, 0, 8, 3], [1, 2, 0, 8]], dtype=dtype)
    for ids in (batches, batches[:1], batches[0], batches.T.contiguous().T):
        out = both(given, torch.empty_like(given), cos, sin, ids, 8, False, layout)
        rows = ids.long() if ids.ndim == 2 else ids[None].long()
        assert_turned(out.transpose(1, 2) if layout == "bthd" else out, x, cos[rows], sin[rows], False)


@pytest.mark.parametrize("bad", [9, -1, 2**40, -(2**62)])
def test_a_position_outside_the_table_is_named_where_it_can_be_read(bad):
    cos, sin = tables((9,), 4, torch.float32)
    x, ids = drawn((2, 3, 4, 8), torch.float32), torch.zeros(2, 4, dtype=torch.int64)
    ids[1, 2] = bad
    before = x.clone()
    with pytest.raises(PositionOutOfRange, match=f"position_ids contains {bad}, but .* 9 rows; ids in 0..8"):
        triton.rotary(x, x, cos, sin, ids)
    assert torch.equal(x, before)


@pytest.mark.parametrize("bad", [9, -1, 2**40, -(2**62)])
def test_a_position_outside_the_table_reads_nothing_and_makes_nan_of_its_token_alone(bad, monkeypatch):
    """On a GPU nobody waits for positions, so the kernel itself is tried: a far address would be a fault."""
    monkeypatch.setattr(triton.call, "check_in_table", lambda *_: None)
    cos, sin = tables((9,), 4, torch.float32)
    x, ids = drawn((2, 3, 4, 10), torch.float32), torch.tensor([[8, 0, 1, 2], [3, 4, 8, 5]])
    known, out = torch.empty_like(x), torch.empty_like(x)
    native.rotary(x, known, cos, sin, ids, 8)
    known[1, :, 2, :8] = torch.nan
    ids[1, 2] = bad
    triton.rotary(x, out, cos, sin, ids, 8)
    assert torch.equal(out.nan_to_num(9.0), known.nan_to_num(9.0))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("layout", ["bhtd", "bthd"])
@pytest.mark.parametrize("given_ids", [False, True])
@pytest.mark.parametrize("heads", [(8, 2), (1, 9)])
def test_queries_and_keys_together_are_each_by_itself(dtype, interleaved, layout, given_ids, heads):
    cos, sin = tables((6,), 16, dtype)
    ids = torch.tensor([5, 0, 3]) if given_ids else None
    cos, sin = (cos, sin) if given_ids else (cos[:3], sin[:3])
    q, k = (drawn((2, h, 3, 33) if layout == "bhtd" else (2, 3, h, 33), dtype) for h in heads)
    options = (cos, sin, ids, 32, interleaved, layout)
    outs, known = [torch.full_like(x, torch.nan) for x in (q, k)], [torch.empty_like(x) for x in (q, k)]
    triton.rotary_qk(q, k, *outs, *options)
    native.rotary_qk(q, k, *known, *options)
    assert all(torch.equal(bits(a), bits(b)) for a, b in zip(outs, known, strict=True))
    outs[1].fill_(torch.nan)
    triton.rotary_qk(q, k, q, outs[1], *options)  # one of them in place
    assert torch.equal(q, outs[0])
    assert torch.equal(outs[1], known[1])


def test_queries_and_keys_are_one_launch_in_which_no_product_is_fused(monkeypatch):
    launched = []
    run = triton.call.function

    class Counted:
        def __init__(self, kernel):
            self.kernel = run(kernel)

        def __getitem__(self, grid):
            return lambda *numbers, **given: launched.append(given) or self.kernel[grid](*numbers, **given)

    monkeypatch.setattr(triton.call, "function", Counted)
    q, k, (cos, sin) = (
        drawn((1, 4, 3, 8), torch.float32),
        drawn((1, 2, 3, 8), torch.float32),
        tables((3,), 4, torch.float32),
    )
    triton.rotary_qk(q, k, torch.empty_like(q), torch.empty_like(k), cos, sin)
    (given,) = launched
    assert (given["enable_fp_fusion"], given["num_warps"]) == (False, WARPS)


@pytest.mark.parametrize("shape", [(0, 2, 3, 8), (2, 0, 3, 8), (2, 3, 0, 8)])
def test_nothing_is_turned_to_nothing(shape):
    x, (cos, sin) = torch.empty(shape), tables((shape[2],), 4, torch.float32)
    triton.rotary(x, torch.empty(shape), cos, sin)
    triton.rotary(x, x, cos, sin)
    one = torch.ones(shape[0], 1, *shape[2:])
    triton.rotary_qk(x, one, x, one, cos, sin)


@pytest.mark.parametrize("interleaved", [False, True])
def test_entries_beyond_two_to_the_31_are_found(interleaved):
    """Heads 2^31 + 64 entries apart, in memory that is reserved but touched in two places only."""
    x = torch.empty(2**31 + 4096, dtype=torch.bfloat16).as_strided((1, 2, 3, 64), (0, 2**31 + 64, 64, 1))
    x.copy_(drawn((1, 2, 3, 64), torch.bfloat16))
    cos, sin = tables((3,), 32, x.dtype)
    kept = x.clone()
    known = both(x, torch.empty(1, 2, 3, 64, dtype=x.dtype), cos, sin, None, 64, interleaved)
    assert_turned(known, kept, cos, sin, interleaved)
    triton.rotary(x, x, cos, sin, None, 64, interleaved)
    assert torch.equal(x, known)
    both(kept, x, cos, sin, None, 64, interleaved, "bhtd", True)
    assert_turned(x, kept, cos, sin, interleaved, inverse=True)


FAR = -(-(2**31) // 5 // 64) * 64 + 64  # the sixth entry lies beyond 2^31, though no stride does


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize(
    ("shape", "width", "axis"),
    [
        ((6, 1, 2, 4), 4, 0),
        ((1, 6, 2, 4), 4, 1),  # heads of one step
        ((1, 6, 16, 128), 128, 1),  # heads of several steps and tiles
        ((1, 1, 6, 4), 4, 2),
        ((1, 1, 600, 4), 4, 2),  # tokens of several tiles
        ((1, 1, 2, 6), 6, 3),
        ((1, 1, 2, 6), 2, 3),  # the tail reaches that far
    ],
)
def test_no_product_of_a_place_and_a_stride_is_cut_to_32_bits(interleaved, shape, width, axis):
    rest = [n if i != axis else 1 for i, n in enumerate(shape)]
    strides = [rest[1] * rest[2] * rest[3], rest[2] * rest[3], rest[3], 1]
    strides[axis] = FAR * 5 // (shape[axis] - 1)
    memory = torch.empty(2**31 + 8192, dtype=torch.bfloat16)
    x, (cos, sin) = memory.as_strided(shape, strides), tables(shape[2:3], width // 2, memory.dtype)
    x.copy_(drawn(shape, x.dtype))
    known = torch.empty(shape, dtype=x.dtype)
    both(x, known, cos, sin, None, width, interleaved)
    triton.rotary(x, x, cos, sin, None, width, interleaved)
    assert torch.equal(bits(x), bits(known))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("ids", [None, torch.tensor([5, 0, 4, 1, 2, 3], dtype=torch.int32)])
def test_tables_of_more_than_two_to_the_31_entries_are_read_everywhere(axis, ids):
    strides = [6, 1]
    strides[axis] = FAR
    memory = torch.empty(2**31 + 8192)
    cos = memory.as_strided((6, 6), strides).copy_(drawn((6, 6), torch.float32))
    x, sin = drawn((2, 3, 6, 12), torch.float32, 1), drawn((6, 6), torch.float32, 2)
    both(x, torch.empty_like(x), cos, sin, ids)


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")  # of numpy, for ∞·0
@pytest.mark.parametrize(
    "value", [1.0, -3.0, 2.0**-126, 2.0**-133, 3 * 2.0**-130, float("inf"), float("nan")]
)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_numbers_of_every_size_keep_their_bits_where_nothing_turns(value, dtype):
    """By a table of ones and zeros: subnormal, infinite and missing numbers too."""
    x = torch.full((1, 1, 1, 4), value).to(dtype)
    x[..., 2:] = 0
    one, zero = torch.ones(1, 2), torch.zeros(1, 2)
    out = torch.empty_like(x)
    triton.rotary(x, out, one, zero)
    known = torch.empty_like(x)
    native.rotary(x, known, one, zero)
    assert torch.equal(out[..., :2].nan_to_num(9), x[..., :2].nan_to_num(9))
    assert torch.equal(out.nan_to_num(9), known.nan_to_num(9))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_halves_round_to_even(dtype):
    """1 + n·u for the table entry n/2·u of every n: every second one is a tie."""
    u = 2.0 ** -(8 if dtype == torch.bfloat16 else 11)
    n = torch.arange(64.0)
    x = torch.zeros(1, 1, 1, 128, dtype=dtype)
    x[..., :64] = 1
    out = torch.empty_like(x)
    triton.rotary(x, out, (1 + n * u)[None], torch.zeros(1, 64))
    assert torch.equal(out[0, 0, 0, :64], (1 + n.double() * u).to(dtype))


REFUSED = [
    (lambda x, t: triton.rotary(x, x[..., :7], *t), BadTensor, r"out is \(1, 2, 4, 7\)"),
    (lambda x, t: triton.rotary(x, x.double(), *t), BadTensor, "torch.float64, but x is .* torch.float32"),
    (
        lambda x, t: triton.rotary(x, x.clone(), t[0].double(), t[1]),
        BadDtype,
        "a table has dtype torch.float64",
    ),
    (lambda x, t: triton.rotary(x, x.clone(), t[0], t[1][:3]), BadTensor, r"a table is \(3, 4\)"),
    (
        lambda x, t: triton.rotary(x, x.clone(), *t, torch.zeros(3, 4).long()),
        BadTensor,
        r"position_ids is \(3, 4\) torch.int64, which does not fit",
    ),
    (
        lambda x, t: triton.rotary_qk(x, x[..., :3, :], x.clone(), x[..., :3, :].clone(), *t),
        BadTensor,
        r"a table is \(4, 4\) torch.float32, which does not fit x, \(1, 2, 3, 8\)",
    ),
    (lambda x, t: triton.rotary(x, x[:, :1].expand(1, 2, 4, 8), *t), BadTensor, "its entries share memory"),
    (
        lambda x, t: triton.rotary(x[..., :4], x[..., 1:5], *(y[:, :2] for y in t)),
        BadTensor,
        "out shares memory",
    ),
    (lambda x, t: triton.rotary_qk(x, x, x, x, *t), BadTensor, "out shares memory with another tensor"),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSED)
def test_what_does_not_fit_is_refused_in_one_sentence_and_nothing_is_written(call, error, words):
    x, rows = drawn((1, 2, 4, 8), torch.float32), tables((4,), 4, torch.float32)
    before = x.clone()
    with pytest.raises(error, match=words) as caught:
        call(x, rows)
    assert "\n" not in str(caught.value)
    assert torch.equal(x, before)
