"""Two listings as textbooks print them, rebuilt as test subjects: what is right in them, and what is wrong.

One rotates a list of numbers; the other keeps a float32 table and calls it from attention. Both are
interleaved, both are relative. What fails is around them: odd widths, half precision, decoding, long inputs.
"""

import math
import re

import pytest
import torch
from exptx.numeric import attention, exact, relative_test, rotary_embedding, rotary_table
from exptx.proofs import budget
from exptx.symbolic import encoding, frequencies


def rotate_list(vector, position, base=10000):
    """The listing with plain lists: plane i is (2i, 2i + 1), turned by position · base^(-2i/d)."""
    width = len(vector)
    rotated = vector[:]
    for plane in range(width // 2):
        angle = position / base ** (2 * plane / width)
        first, second = vector[2 * plane], vector[2 * plane + 1]
        rotated[2 * plane] = first * math.cos(angle) - second * math.sin(angle)
        rotated[2 * plane + 1] = first * math.sin(angle) + second * math.cos(angle)
    return rotated


def cached_table(length, width, base=10000.0):
    """The listing with a table: float32 frequencies times float32 positions."""
    rates = base ** (-2.0 * torch.arange(width // 2, dtype=torch.float32) / width)
    angle = torch.outer(torch.arange(length, dtype=torch.float32), rates)
    return angle.cos(), angle.sin()


def rotate_cached(x, cos, sin):
    """The listing's kernel for x (batch, heads, time, width): rows 0 … time-1 of the table."""
    batch, heads, time, width = x.shape
    planes = x.view(batch, heads, time, width // 2, 2)
    first, second = planes[..., 0], planes[..., 1]
    c, s = (table[:time].view(1, 1, time, width // 2) for table in (cos, sin))
    return torch.stack((first * c - second * s, first * s + second * c), dim=-1).flatten(-2)


def attend_cached(q, k, v, cos, sin, causal=True):
    """The listing's attention: both sides rotated from position 0, mask built by index on the CPU."""
    q, k = rotate_cached(q, cos, sin), rotate_cached(k, cos, sin)
    logits = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if causal:
        size = logits.shape[-1]
        logits = logits.masked_fill(torch.ones(size, size, dtype=torch.bool).triu(1), -math.inf)
    return logits.softmax(dim=-1) @ v


D = 8
COS, SIN = cached_table(64, D)


def content():
    torch.manual_seed(0)  # as printed; the numbers depend on it, the laws do not
    return torch.randn(1, 1, 1, D), torch.randn(1, 1, 1, D)


def printed_score(t, s):
    q, k = content()
    q = rotate_cached(q, COS[t : t + 1], SIN[t : t + 1])
    k = rotate_cached(k, COS[s : s + 1], SIN[s : s + 1])
    return (q * k).sum().item()


def score_bound(largest):
    """The budget of one score with float32 angles up to `largest` radians."""
    q, k = content()
    drift = budget.single_angle_entry(float(largest), frequency_roundings=math.log(10000) + 3)
    vector = budget.rotated_vector(drift, torch.float32)
    return budget.score_of_vectors(float(q.norm() * k.norm()), vector, vector, D, torch.float32)


# ---- what is right


@pytest.mark.parametrize("width", [2, 4, 16])
def test_right_the_list_rotates_every_plane_of_an_even_width(width):
    vector = torch.randn(width, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    got = torch.tensor(rotate_list(vector.tolist(), 5), dtype=torch.float64)
    x = vector.reshape(1, 1, 1, width)
    known = exact.rotary_embedding(x, frequencies(10000, width), [5], interleaved=True).flatten()
    # position / base^p rounds the power, the quotient and cos once more than a table of exact frequencies
    drift = 4 * budget.table_entry(5.0, torch.float64)
    spread = vector.abs().reshape(-1, 2).sum(-1).repeat_interleave(2)
    bound = budget.rotated_coordinate(known.abs(), spread, 0.0, drift, spread, torch.float64)
    assert ((got - known).abs() <= bound).all()


def test_right_equal_gaps_score_alike_and_other_gaps_do_not():
    """The printed scores: gap 3 three times, gap 5 once."""
    three = [printed_score(3, 0), printed_score(13, 10), printed_score(43, 40)]
    assert max(three) - min(three) <= 2 * score_bound(43)
    assert abs(printed_score(5, 0) - three[0]) > 100 * score_bound(43)


def test_right_the_printed_scores_are_the_exact_ones():
    q, k = (x.flatten() for x in content())
    for t, s in ((3, 0), (13, 10), (43, 40), (5, 0)):
        known = exact.rotary_score(q, k, frequencies(10000, D), t, s, interleaved=True)
        assert abs(printed_score(t, s) - known) <= score_bound(max(t, s))


def test_right_the_cached_kernel_is_ours_interleaved():
    x = torch.randn(2, 3, 5, D, generator=torch.Generator().manual_seed(1))
    assert torch.equal(rotate_cached(x, COS, SIN), rotary_embedding(x, COS[:5], SIN[:5], interleaved=True))


def output_bound(q, k, v):
    """How far two float32 outputs over five keys may lie apart, with angles up to 4 and any weights."""
    norms = float(q.norm(dim=-1).amax() * k.norm(dim=-1).amax())
    drift = budget.single_angle_entry(4.0, frequency_roundings=math.log(10000) + 3)
    vector = budget.rotated_vector(drift, torch.float32)
    error = budget.score_of_vectors(norms, vector, vector, D, torch.float32)
    error = budget.logit(D**-0.5, norms, error, 0.0, torch.float32)
    p = torch.full((1, 5), 0.2, dtype=torch.float64)  # all |v| at their maximum, so the weights do not matter
    values = v.abs().amax().double().expand(5, 1)
    errors, below = torch.full_like(p, error), torch.full_like(p, 2 * norms)
    return 2 * float(budget.attention_output(p, below, values, errors, torch.float32))


def test_right_prefill_attention_is_attention_with_the_interleaved_encoding():
    q, k, v = torch.randn(3, 1, 2, 5, D, generator=torch.Generator().manual_seed(2)).unbind(0)
    ours = attention(q, k, v, encoding("rope", head_dim=D, interleaved=True))
    assert (ours - attend_cached(q, k, v, COS, SIN)).abs().max() <= output_bound(q, k, v)


# ---- what is wrong


def test_wrong_an_odd_width_leaves_its_last_entry_unrotated_without_a_word():
    rotated = rotate_list([1.0, 2.0, 3.0, 4.0, 5.0], 5)
    assert rotated[4] == 5.0
    assert rotated[:4] != [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(ValueError, match=r"head_dim is 5, .*; head_dim 4 or 6 works"):
        rotary_embedding(torch.ones(1, 1, 1, 5), COS[:1, :2], SIN[:1, :2])


def test_wrong_half_precision_ends_in_a_dtype_error():
    q, k, v = torch.randn(3, 1, 1, 4, D).bfloat16().unbind(0)
    with pytest.raises(RuntimeError, match="expected scalar type Float but found BFloat16"):
        attend_cached(q, k, v, COS, SIN)
    assert attention(q, k, v, encoding("rope", head_dim=D)).dtype == torch.bfloat16


def decode():
    """One query, the token at position 4, and five keys."""
    q, k, v = torch.randn(3, 1, 1, 5, D, generator=torch.Generator().manual_seed(3)).unbind(0)
    return q[:, :, 4:], k, v, attend_cached(q, k, v, COS, SIN)[:, :, 4:]


def test_wrong_decoding_with_a_causal_mask_returns_five_rows_for_one_query():
    q, k, v, _ = decode()
    assert attend_cached(q, k, v, COS, SIN).shape == (1, 1, 5, D)
    ours = attention(q, k, v, encoding("rope", head_dim=D, interleaved=True), position_ids=torch.tensor([4]))
    assert ours.shape == (1, 1, 1, D)


def test_wrong_decoding_without_a_mask_puts_the_query_at_position_zero_silently():
    q, k, v, known = decode()
    enc = encoding("rope", head_dim=D, interleaved=True)
    silent = attend_cached(q, k, v, COS, SIN, causal=False)
    at_zero = attention(
        q, k, v, enc, causal=False, position_ids=torch.tensor([0]), key_position_ids=torch.arange(5)
    )
    at_four = attention(q, k, v, enc, position_ids=torch.tensor([4]))
    assert (silent - at_zero).abs().max() <= output_bound(q, k, v)
    assert (at_four - known).abs().max() <= output_bound(q, k, v)
    assert (silent - known).abs().max() > 100 * output_bound(q, k, v)


def test_wrong_more_tokens_than_rows_end_in_a_view_error():
    x = torch.randn(1, 1, 65, D)
    with pytest.raises(RuntimeError, match="shape '\\[1, 1, 65, 4\\]' is invalid"):
        rotate_cached(x, COS, SIN)
    with pytest.raises(
        ValueError, match=re.escape("cos has shape (64, 4), but x has 1 sequences of 65 tokens")
    ):
        rotary_embedding(x, COS, SIN)


def test_wrong_the_mask_is_built_on_the_cpu_wherever_the_logits_are():
    q, k, v = torch.randn(3, 1, 1, 4, D, device="meta").unbind(0)
    with pytest.raises(RuntimeError, match="device"):
        attend_cached(q, k, v, COS.to("meta"), SIN.to("meta"))
    ids = torch.arange(4, device="meta")
    assert attention(q, k, v, encoding("rope", head_dim=D), position_ids=ids).is_meta


def test_wrong_the_unit_test_of_the_listing_holds_for_no_rotation_at_all():
    """Same content and same gap give the same score also if nothing is rotated."""
    assert relative_test(lambda x, ids: x, D).passed
    assert relative_test(lambda x, ids: rotate_cached(x, COS[ids[0]], SIN[ids[0]]), D, shift=50).passed


def test_wrong_float32_angles_drift_with_the_position():
    cos, _ = cached_table(65536, 128)
    row = cos[65535].double()
    known = exact.rotary_table(frequencies(10000, 128), [65535], dtype=torch.float64)[0][0]
    ours = rotary_table(frequencies(10000, 128), torch.tensor([65535]))[0][0].double()
    bound = budget.table_entry(65535.0, torch.float32)
    assert (ours - known).abs().max() <= bound
    assert (row - known).abs().max() > 1000 * bound
