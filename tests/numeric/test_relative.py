"""The one-line relative test: what it catches, what it cannot see, why its tolerance grows with the angle."""

import pytest
import torch
from exptx.numeric import BadTensor, relative_test, rotary_embedding, rotary_table
from exptx.symbolic import frequencies

D = 64


def rope(base=10000, *, sign=1, speed=1, angles="exact", interleaved=False):
    """An encoding as the test wants it: apply(x, position_ids)."""

    def apply(x, ids):
        tables = rotary_table(frequencies(base, D), sign * speed * ids, angles=angles)
        return rotary_embedding(x, *tables, interleaved=interleaved)

    return apply


def test_correct_code_passes():
    assert relative_test(rope(), D).passed
    assert relative_test(rope(interleaved=True), D, shift=100000).passed
    assert relative_test(rope(), D, dtype=torch.bfloat16).passed
    assert relative_test(rope(), D, t=2, s=5, shift=-1000).passed


BLIND_SPOTS = {
    "identity": lambda x, ids: x,
    "wrong base": rope(500000),
    "wrong sign": rope(sign=-1),
    "doubled angle": rope(speed=2),
    "wrong pairing": rope(interleaved=True),
}


@pytest.mark.parametrize("name", BLIND_SPOTS)
def test_blind_spot_it_passes_although_the_rotation_is_another_one(name):
    wrong = BLIND_SPOTS[name]
    assert relative_test(wrong, D, max_frequency=2.0).passed
    x, ids = torch.randn(1, 1, 1, D, generator=torch.Generator().manual_seed(1)), torch.tensor([[3]])
    assert not torch.equal(wrong(x, ids), rope()(x, ids))  # one rotated vector tells them apart


def test_blind_spot_a_score_with_t_before_s_shows_the_sign():
    q, k = torch.randn(2, 1, 1, 1, D, generator=torch.Generator().manual_seed(2))
    scores = []
    for sign in (1, -1):
        apply = rope(sign=sign)
        scores.append((apply(q, torch.tensor([[2]])) * apply(k, torch.tensor([[5]]))).sum().item())
    assert abs(scores[0] - scores[1]) > 1


def keys_untouched():
    calls = []

    def apply(x, ids):
        calls.append(0)
        return rope()(x, ids) if len(calls) % 2 else x  # queries come first, then keys

    return apply


def mixed_pairings():
    calls = []

    def apply(x, ids):
        calls.append(0)
        return rope(interleaved=len(calls) % 2 == 0)(x, ids)

    return apply


def test_it_catches_a_side_that_is_not_rotated_and_two_sides_with_different_pairings():
    assert not relative_test(keys_untouched(), D).passed
    assert not relative_test(mixed_pairings(), D).passed


def test_it_catches_an_added_table_and_a_gain_after_the_rotation():
    gain = torch.linspace(1, 2, D)
    assert not relative_test(lambda x, ids: rope()(x, ids) * gain, D).passed

    def added(x, ids):
        cos, sin = rotary_table(frequencies(10000, D), ids)
        return x + torch.cat((sin, cos), -1)[:, None]

    assert not relative_test(added, D).passed


def test_float32_angles_fail_a_fixed_tolerance_far_out_and_pass_one_that_knows_their_angle():
    near = relative_test(rope(angles="hf"), D, shift=10)
    far = relative_test(rope(angles="hf"), D, shift=1048576)
    assert near.passed
    assert far.difference > 100 * near.tolerance  # correct code, and yet no fixed tolerance fits both
    assert not far.passed
    aware = relative_test(rope(angles="hf"), D, shift=1048576, angle_dtype=torch.float32)
    assert aware.difference == far.difference
    assert aware.passed


def test_nan_never_passes():
    assert not relative_test(lambda x, ids: x * float("nan"), D).passed


def test_a_head_without_features_is_refused():
    with pytest.raises(BadTensor, match="head_dim is 0; a positive whole number works"):
        relative_test(rope(), 0)
