"""The rotary kernel against exact values: every dtype, layout, pairing, width and position."""

from fractions import Fraction

import pytest
import torch
from exptx.numeric import (
    NeedsGradient,
    exact,
    rotary_embedding,
    rotary_table,
)
from exptx.numeric.layout import join_pairs, split_pairs
from exptx.proofs import budget
from exptx.symbolic import frequencies
from hypothesis import given, settings
from hypothesis import strategies as st

LAW = settings(max_examples=60, deadline=None, derandomize=True)
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
NEGATED_ZERO_AND_NAN = torch.tensor([-0.0, float("nan"), float("inf")])


def table_dtype(dtype):
    return torch.float64 if dtype == torch.float64 else torch.float32


def drawn(shape, dtype, seed, contiguous=True):
    """Random normal numbers; if not contiguous, every other entry of something larger, axes swapped."""
    generator = torch.Generator().manual_seed(seed)
    if contiguous:
        return torch.randn(shape, generator=generator).to(dtype)
    b, h, t, d = shape
    return torch.randn(b, t, h, 2 * d, generator=generator).to(dtype).transpose(1, 2)[..., ::2]


def magnitudes(x, cos, sin, interleaved):
    """|x0 c|, |x1 s|, |x0| + |x1| and their partners for the second coordinate, joined to the width of x."""
    x0, x1 = (part.double().abs() for part in split_pairs(x, interleaved))
    c, s = cos.double().abs()[:, None], sin.double().abs()[:, None]
    return (
        join_pairs(x0 * c, x0 * s, interleaved),
        join_pairs(x1 * s, x1 * c, interleaved),
        join_pairs(x0 + x1, x0 + x1, interleaved),
    )


@st.composite
def cases(draw):
    pairs, tail = draw(st.integers(1, 128)), draw(st.sampled_from([0, 0, 1, 2, 7]))
    time = draw(st.sampled_from([1, 2, 5]))
    shape = draw(st.sampled_from([1, 3])), draw(st.sampled_from([1, 3])), time, 2 * pairs + tail
    positions = draw(
        st.lists(st.integers(-(2**20), 2**20), min_size=shape[0] * time, max_size=shape[0] * time)
    )
    return {
        "x": drawn(shape, draw(st.sampled_from(DTYPES)), draw(st.integers(0, 99)), draw(st.booleans())),
        "width": 2 * pairs,
        "ids": torch.tensor(positions).reshape(shape[0], time),
        "base": draw(st.sampled_from([100, 10000, 500000])),
        "interleaved": draw(st.booleans()),
        "layout": draw(st.sampled_from(["bhtd", "bthd"])),
        "inverse": draw(st.booleans()),
        "impl": draw(st.sampled_from(["native", "eager"])),
    }


@LAW
@given(cases())
def test_every_coordinate_is_within_its_budget_of_the_exact_rotation(case):
    x, width, ids, layout = case["x"], case["width"], case["ids"], case["layout"]
    waves, pairing = frequencies(case["base"], width), case["interleaved"]
    cos, sin = rotary_table(waves, ids, dtype=table_dtype(x.dtype))
    y = rotary_embedding(
        x.transpose(1, 2) if layout == "bthd" else x,
        cos,
        sin,
        interleaved=pairing,
        layout=layout,
        rotary_dim=width,
        inverse=case["inverse"],
        impl=case["impl"],
    )
    y = y.transpose(1, 2) if layout == "bthd" else y
    known = exact.rotary_embedding(x, waves, ids, interleaved=pairing, inverse=case["inverse"])[..., :width]
    c, s = exact.rotary_table(waves, ids, dtype=torch.float64)
    near, far, spread = magnitudes(x[..., :width], c, s, pairing)
    angle = ids.double().abs()[..., None] * torch.tensor([float(w) for w in waves.exact])
    drift = budget.table_entry(join_pairs(angle, angle, pairing)[:, None], table_dtype(x.dtype))
    bound = budget.rotated_coordinate(known.abs(), near, far, drift, spread, x.dtype)
    assert y.dtype == x.dtype
    assert y.shape == x.shape
    assert ((y[..., :width].double() - known).abs() <= bound).all()
    assert torch.equal(y[..., width:], x[..., width:])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("interleaved", [False, True])
def test_with_a_given_table_only_the_arithmetic_errs(dtype, interleaved):
    """The oracle multiplies the same table entries as fractions, so nothing but the kernel is measured."""
    x = drawn((1, 2, 3, 8), dtype, 7)
    cos, sin = rotary_table(frequencies(10000, 8), torch.tensor([[1, 2, -3]]), dtype=table_dtype(dtype))
    y = rotary_embedding(x, cos, sin, interleaved=interleaved)
    near, far, spread = magnitudes(x, cos, sin, interleaved)
    x0, x1 = split_pairs(x.double(), interleaved)
    y0, y1 = split_pairs(y.double(), interleaved)
    arithmetic = budget.rotated_coordinate(torch.zeros(()), near, far, 0.0, spread, dtype)
    bounds = split_pairs(arithmetic, interleaved)
    for place in [(0, h, t, i) for h in range(2) for t in range(3) for i in range(4)]:
        a, b = Fraction(x0[place].item()), Fraction(x1[place].item())
        c, s = (Fraction(table[place[0], place[2], place[3]].item()) for table in (cos, sin))
        for got, known, bound in ((y0, a * c - b * s, bounds[0]), (y1, a * s + b * c, bounds[1])):
            allowed = bound[place].item() + budget.unit_roundoff(dtype) * abs(float(known))
            assert abs(Fraction(got[place].item()) - known) <= allowed


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("which", ["x0 cos", "x1 sin", "x0 sin", "x1 cos"])
def test_eight_roundoffs_on_one_coefficient_break_the_budget(dtype, which):
    """Small position, that product dominant: the budget is tight enough to see it, whatever the dtype."""
    waves, ids = frequencies(10000, 2), torch.tensor([[1]])
    first = which.startswith("x0")
    x = torch.tensor([1.5, 0.0] if first else [0.0, 1.5]).to(dtype).reshape(1, 1, 1, 2)
    cos, sin = rotary_table(waves, ids, dtype=table_dtype(dtype))
    bad = 1 + 8 * budget.unit_roundoff(dtype)
    scaled = (cos * bad, sin) if which.endswith("cos") else (cos, sin * bad)
    known = rotary_embedding(x.double(), cos.double(), sin.double())
    near, far, spread = magnitudes(x, cos, sin, False)
    bound = budget.rotated_coordinate(known.abs(), near, far, 0.0, spread, dtype)
    good, wrong = rotary_embedding(x, cos, sin), rotary_embedding(x, *scaled)
    assert ((good.double() - known).abs() <= bound).all()
    assert ((wrong.double() - known).abs() > bound).any()


GOLDEN = {  # x = (1, 2, 3, 4), theta = 10000, at positions 1, 2, 3
    True: [
        ("-1.142639663747653", "1.922075596544176", "2.959850667913329", "4.029799501669161"),
        ("-2.234741690198506", "0.07700375373139692", "2.919405353226401", "4.059196026746310"),
        ("-1.272232512720180", "-1.838864985141024", "2.878668100436980", "4.088186635603437"),
    ],
    False: [
        ("-1.984110648555550", "1.959900667496664", "2.462377902412316", "4.019799668334994"),
        ("-3.144039117024187", "1.919605346559823", "-0.3391430828157455", "4.039197360052977"),
        ("-1.413352520780047", "1.879118066687992", "-2.828857481741469", "4.058191135400941"),
    ],
}
CLOCKWISE = (
    "3.064715260291829",
    "2.039899334169997",
    "0.7794359327965226",
    "3.979800334998328",
)


def golden_bound(x, known, position, pairing, dtype):
    """The budget of a coordinate plus half a unit of the last typed digit."""
    waves = frequencies(10000, 4)
    cos, sin = exact.rotary_table(waves, [[position]], dtype=torch.float64)
    near, far, spread = magnitudes(x, cos, sin, pairing)
    drift = budget.table_entry(float(position), table_dtype(dtype))
    digits = torch.tensor([0.5 * 10.0 ** -len(text.partition(".")[2]) for text in known], dtype=torch.float64)
    values = torch.tensor([float(text) for text in known], dtype=torch.float64)
    return values, budget.rotated_coordinate(values.abs(), near, far, drift, spread, dtype) + digits


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("pairing", [True, False])
def test_rotated_vectors_have_the_values_known_for_each_pairing(dtype, pairing):
    x = torch.tensor([1.0, 2, 3, 4]).to(dtype).reshape(1, 1, 1, 4)
    for position, known in enumerate(GOLDEN[pairing], start=1):
        cos, sin = rotary_table(frequencies(10000, 4), torch.tensor([position]), dtype=table_dtype(dtype))
        y = rotary_embedding(x, cos, sin, interleaved=pairing)
        values, bound = golden_bound(x, known, position, pairing, dtype)
        assert ((y.double() - values).abs() <= bound).all()


def test_the_inverse_turns_clockwise():
    x = torch.tensor([1.0, 2, 3, 4], dtype=torch.float64).reshape(1, 1, 1, 4)
    cos, sin = rotary_table(frequencies(10000, 4), torch.tensor([1]), dtype=torch.float64)
    values, bound = golden_bound(x, CLOCKWISE, 1, False, torch.float64)
    assert ((rotary_embedding(x, cos, sin, inverse=True) - values).abs() <= bound).all()


SCORES = {  # q = (1, 2, 3, 4) at t, k = (4, 3, 2, 1) at s
    (5, 2, True): -0.760002169826393824,
    (105, 102, True): -0.760002169826393824,
    (5, 2, False): -1.61557971113820824,
    (2, 5, True): 0.951152912797235004,
    (2, 5, False): 1.80673045410904942,
}


@pytest.mark.parametrize("case", SCORES)
def test_scores_have_the_values_known_for_each_pairing_and_each_order_of_t_and_s(case):
    t, s, pairing = case
    q, k = (
        torch.tensor(x, dtype=torch.float64).reshape(1, 1, 1, 4) for x in ([1.0, 2, 3, 4], [4.0, 3, 2, 1])
    )
    cos, sin = rotary_table(frequencies(10000, 4), torch.arange(106), dtype=torch.float64)
    ids = [torch.tensor([t]), torch.tensor([s])]
    rotated = [
        rotary_embedding(x, cos, sin, i, interleaved=pairing) for x, i in zip((q, k), ids, strict=True)
    ]
    vector = budget.rotated_vector(budget.table_entry(max(t, s), torch.float64), torch.float64)
    bound = budget.score_of_vectors(float(q.norm() * k.norm()), vector, vector, 4, torch.float64)
    assert abs((rotated[0] * rotated[1]).sum().item() - SCORES[case]) <= bound


@pytest.mark.parametrize("impl", ["native", "eager"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_tail_of_a_partial_rotation_is_kept_bit_for_bit(dtype, impl):
    x = torch.cat((torch.ones(4), NEGATED_ZERO_AND_NAN)).to(dtype).reshape(1, 1, 1, 7)
    cos, sin = rotary_table(frequencies(10000, 4), torch.tensor([9]), dtype=table_dtype(dtype))
    tail = rotary_embedding(x, cos, sin, rotary_dim=4, impl=impl)[..., 4:]
    assert torch.equal(tail.view(torch.uint8), x[..., 4:].contiguous().view(torch.uint8))


@LAW
@given(st.integers(1, 16), st.sampled_from(["bhtd", "bthd"]), st.booleans(), st.booleans())
def test_looking_rows_up_equals_passing_the_rows(pairs, layout, interleaved, per_sequence):
    x = drawn((2, 3, 4, 2 * pairs), torch.float32, pairs)
    x = x if layout == "bhtd" else x.transpose(1, 2)
    waves = frequencies(10000, 2 * pairs)
    ids = torch.tensor([[3, 0, 6, 6], [1, 2, 3, 4]]) if per_sequence else torch.tensor([3, 0, 6, 6])
    options = {"layout": layout, "interleaved": interleaved}
    looked_up = rotary_embedding(x, *rotary_table(waves, torch.arange(7)), ids.int(), **options)
    assert torch.equal(looked_up, rotary_embedding(x, *rotary_table(waves, ids), **options))


@pytest.mark.parametrize("layout", ["bhtd", "bthd"])
def test_no_token_no_head_or_no_sequence_is_no_special_case(layout):
    cos, sin = rotary_table(frequencies(10000, 8), torch.arange(3))
    for shape in ((0, 2, 3, 8), (2, 0, 3, 8)):
        x = torch.empty(shape) if layout == "bhtd" else torch.empty(shape).transpose(1, 2)
        assert rotary_embedding(x, cos, sin, layout=layout).shape == x.shape
    assert rotary_embedding(torch.empty(1, 1, 0, 8), cos[:0], sin[:0]).shape == (1, 1, 0, 8)
    assert rotary_embedding(torch.empty(1, 1, 0, 8), cos, sin, torch.empty(0, dtype=torch.int64)).numel() == 0


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("layout", ["bhtd", "bthd"])
@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("impl", ["native", "eager"])
def test_gradients_with_respect_to_x_and_to_the_table_are_right(interleaved, layout, inverse, impl):
    x = drawn((2, 3, 2, 6), torch.float64, 1).requires_grad_()
    cos, sin = rotary_table(
        frequencies(10000, 4), torch.tensor([[0, 5, 2], [1, 1, 7]][:2]), dtype=torch.float64
    )
    cos, sin = (
        table[:, : x.shape[1 if layout == "bthd" else 2]].clone().requires_grad_() for table in (cos, sin)
    )

    def rotate(x, cos, sin):
        return rotary_embedding(
            x, cos, sin, interleaved=interleaved, layout=layout, inverse=inverse, rotary_dim=4, impl=impl
        )

    assert torch.autograd.gradcheck(rotate, (x, cos, sin))


def test_the_gradient_of_a_rotation_is_the_rotation_back():
    x = drawn((1, 2, 3, 8), torch.bfloat16, 3).requires_grad_()
    cos, sin = rotary_table(frequencies(10000, 8), torch.arange(3))
    upstream = drawn((1, 2, 3, 8), torch.bfloat16, 4)
    rotary_embedding(x, cos, sin).backward(upstream)
    assert torch.equal(x.grad, rotary_embedding(upstream, cos, sin, inverse=True))


@pytest.mark.parametrize("impl", ["native", "eager"])
def test_out_receives_the_result_and_may_be_x_itself(impl):
    x = drawn((1, 2, 3, 8), torch.float32, 5)
    cos, sin = rotary_table(frequencies(10000, 8), torch.arange(3))
    known, out = rotary_embedding(x, cos, sin), torch.empty(1, 2, 3, 8)
    assert rotary_embedding(x, cos, sin, out=out, impl=impl) is out
    assert torch.equal(out, known)
    assert torch.equal(rotary_embedding(x, cos, sin, out=x, impl=impl), known)
    assert torch.equal(x, known)


@pytest.mark.parametrize("impl", ["native", "eager"])
def test_what_autograd_saved_of_out_is_void(impl):
    """e^x is saved for its own gradient; overwritten, it must not be used, on the short way neither."""
    cos, sin = rotary_table(frequencies(10000, 8), torch.arange(3))
    for _ in range(3):
        x = drawn((1, 2, 3, 8), torch.float32, 5).requires_grad_()
        y = x.exp()
        with torch.no_grad():
            rotary_embedding(y, cos, sin, out=y, impl=impl)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


def test_out_is_refused_where_a_gradient_is_needed_and_only_there():
    cos, sin = rotary_table(frequencies(10000, 8), torch.arange(3))
    x = drawn((1, 2, 3, 8), torch.float32, 5).requires_grad_()
    with pytest.raises(NeedsGradient, match="out was given but a gradient is needed; leave out=None"):
        rotary_embedding(x, cos, sin, out=torch.empty(1, 2, 3, 8))
    with pytest.raises(NeedsGradient):
        rotary_embedding(x.detach(), cos.requires_grad_(), sin, out=torch.empty(1, 2, 3, 8))
    with torch.no_grad():
        rotary_embedding(x, cos, sin, out=torch.empty(1, 2, 3, 8))


@pytest.mark.parametrize("autocast", [False, True])
@pytest.mark.parametrize("impl", ["native", "eager"])
def test_half_precision_is_computed_in_float32_and_rounded_once(autocast, impl):
    x = drawn((1, 2, 3, 8), torch.bfloat16, 6)
    cos, sin = rotary_table(frequencies(10000, 8), torch.arange(3))
    with torch.autocast("cpu", enabled=autocast):
        y = rotary_embedding(x, cos, sin, impl=impl)
    assert torch.equal(y, rotary_embedding(x.float(), cos, sin).bfloat16())


def test_shapes_and_dtypes_are_known_on_meta():
    cos, sin = (table.to("meta") for table in rotary_table(frequencies(10000, 8), torch.arange(3)))
    y = rotary_embedding(torch.empty(1, 2, 3, 8, device="meta", dtype=torch.float16), cos, sin)
    assert y.is_meta
    assert y.dtype == torch.float16
    assert y.shape == (1, 2, 3, 8)


def test_it_compiles_without_a_graph_break_to_the_same_numbers():
    x, ids = drawn((1, 2, 3, 8), torch.float32, 8), torch.tensor([2, 0, 1])
    cos, sin = rotary_table(frequencies(10000, 8), torch.arange(3))
    compiled = torch.compile(rotary_embedding, fullgraph=True, backend="eager")
    assert torch.equal(compiled(x, cos, sin, ids), rotary_embedding(x, cos, sin, ids))
