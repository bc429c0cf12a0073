"""Numbers in parts that a dtype holds exactly: digits, products of them, and their range."""

from fractions import Fraction

import pytest
import torch
from exptx.numeric import TooLarge
from exptx.numeric.biases.slots import PARTS, slots, split, width
from exptx.numeric.rounding import unit_roundoff
from hypothesis import given
from hypothesis import strategies as st

DTYPES = list(PARTS)
FAR = 65536


def bits(dtype):
    """p of a dtype, from its unit roundoff 2^-p."""
    return round(-torch.log2(torch.tensor(unit_roundoff(dtype), dtype=torch.float64)).item())


def omitted(dtype):
    """η: the products with i + j = n, each at most 2^-pn of the whole, and all those beyond."""
    parts, u = PARTS[dtype], unit_roundoff(dtype)
    return sum((k + 1) * u**k for k in range(parts, parts + 60))


def exact_products(found):
    """Σ query·key for every pair of tokens, in rational numbers."""
    query, key = (
        [[Fraction(x) for x in row] for row in side.double().tolist()] for side in (found.query, found.key)
    )
    return [[sum(a * b for a, b in zip(left, right, strict=True)) for right in key] for left in query]


@pytest.mark.parametrize("dtype", DTYPES)
def test_whole_numbers_up_to_pn_bits_are_digits_without_a_rest(dtype):
    parts = PARTS[dtype]
    top = min(2 ** (bits(dtype) * parts), 2**53) - 1
    numbers = torch.tensor([0, 1, 255, 256, 257, 2049, FAR - 1, -FAR + 1, top]).double()
    numbers = torch.ldexp(numbers, torch.tensor(-12))  # a power of two brings them into the range of float16
    assert torch.equal(sum(x.double() for x in split(numbers, dtype, parts)), numbers)


@pytest.mark.parametrize("dtype", DTYPES)
@given(x=st.floats(1, 2), scale=st.sampled_from([1.0, -8.0, 2.0**-3]))
def test_every_part_is_at_most_a_rounding_of_the_one_before(x, scale, dtype):
    number = torch.tensor([scale * x], dtype=torch.float64)
    parts = [p.double() for p in split(number, dtype, PARTS[dtype])]
    for n in range(1, len(parts) + 1):
        rest = (number - sum(parts[:n])).abs()
        assert rest <= unit_roundoff(dtype) ** n * number.abs()


@pytest.mark.parametrize("dtype", DTYPES)
@given(
    m=st.lists(st.floats(2.0**-8, 1.0), min_size=1, max_size=3),
    distances=st.lists(st.integers(0, FAR - 1), min_size=1, max_size=3),
    scale=st.sampled_from([1.0, 0.125, 128**-0.5]),
)
def test_the_slots_of_a_slide_are_it_but_for_the_products_left_out(m, distances, scale, dtype):
    query = -torch.tensor(m, dtype=torch.float64)[:, None] / scale
    key = torch.tensor(distances, dtype=torch.float64)[:, None]
    found = slots(query, key, dtype)
    assert found.query.dtype == found.key.dtype == dtype
    assert found.query.shape[-1] == found.key.shape[-1] == width(1, dtype)
    assert found.query.isfinite().all()
    assert found.key.isfinite().all()
    # what is below the normal range is rounded to multiples of its smallest number, on either side
    tiny = torch.finfo(dtype).smallest_normal * unit_roundoff(dtype)
    for a, row in zip(query[:, 0].tolist(), exact_products(found), strict=True):
        for b, got in zip(distances, row, strict=True):
            whole = Fraction(a) * b
            sizes = (x.double().abs().amax(tuple(range(x.ndim - 1))) for x in (found.query, found.key))
            below = Fraction(tiny) * sum(Fraction(x) for size in sizes for x in size.tolist())
            assert abs(got - whole) <= Fraction(omitted(dtype)) * abs(whole) + below


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_slot_too_few_is_seen(dtype):
    """The bound above is not met without the smallest product that is kept."""
    query, key = (
        torch.tensor([[-0.8409]], dtype=torch.float64),
        torch.tensor([[54321.0]], dtype=torch.float64),
    )
    found = slots(query, key, dtype)
    kept = found.query.double() * found.key.double()
    smallest = kept.abs().masked_fill(kept == 0, torch.inf).min()
    whole = 0.8409 * 54321.0
    assert smallest > omitted(dtype) * whole


def test_a_product_in_half_precision_is_exact_in_float32():
    generator = torch.Generator().manual_seed(0)
    for dtype in (torch.float16, torch.bfloat16):
        found = slots(
            -torch.rand(50, 1, generator=generator).double(),
            torch.randint(0, FAR, (50, 1), generator=generator).double(),
            dtype,
        )
        exact = found.query.double()[:, None] * found.key.double()
        assert torch.equal((found.query.float()[:, None] * found.key.float()).double(), exact)


def test_float16_holds_a_bias_far_beyond_its_own_range():
    """m = 0.8409, σ = 1/8 and 65536 positions: 440872 before scaling, where float16 ends at 65504."""
    query, key = (
        torch.tensor([[-0.8409 * 8]], dtype=torch.float64),
        torch.arange(0.0, FAR, 997).double()[:, None],
    )
    assert (query * key).abs().max() > torch.finfo(torch.float16).max
    found = slots(query, key, torch.float16)
    assert found.query.abs().max() < 2**11
    assert found.key.abs().max() < 2**11


def test_a_bias_that_no_two_numbers_multiply_to_is_refused():
    far = torch.tensor([[2.0**40]], dtype=torch.float64)
    with pytest.raises(
        TooLarge, match=r"the bias reaches 1\.1e\+12 before scaling, beyond the 5\.363e\+08 that a sum"
    ):
        slots(torch.ones(1, 1).double(), far, torch.float16)
    with pytest.raises(TooLarge, match=r"the bias reaches 1e\+39 before scaling, beyond the 1\.701e\+38"):
        slots(torch.tensor([[1e20]]).double(), torch.tensor([[1e19]]).double(), torch.bfloat16)
    with pytest.raises(TooLarge, match="the bias reaches nan"):
        slots(torch.full((1, 1), torch.nan).double(), far, torch.float32)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_gradient_of_a_factor_is_that_of_its_leading_slots(dtype):
    query, key = torch.tensor([[-0.75], [-3.0]]).double(), torch.tensor([[5.0], [700.0], [9.0]]).double()
    found = slots(query, key, dtype)
    # with respect to query slot w the sum of all products grows by the sum of key slot w
    gradient = found.key.double().sum(0).expand(2, -1)
    assert torch.allclose(found.leading(gradient), key.sum().expand(2, 1), rtol=omitted(dtype), atol=0)
