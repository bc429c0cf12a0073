"""How pairs of queries and keys are cut: every visible one once, rectangles with a centre, few of them."""

import math

import pytest
import torch
from exptx.numeric.biases import pieces as room
from exptx.numeric.biases.pieces import Call, pieces
from hypothesis import given
from hypothesis import strategies as st


@pytest.fixture(autouse=True, scope="module")
def _small_leaves():
    """Leaves of 4 queries, so that small examples have many rectangles."""
    patch = pytest.MonkeyPatch()
    patch.setattr(room, "LEAF", 4)
    yield
    patch.undo()


def call(causal=True, mask=None):
    nothing = torch.zeros(1, 0, dtype=torch.int64)
    return Call(nothing, nothing, causal, False, 1.0, mask)


def counted(found, queries, keys):
    """How often each pair lies in a piece."""
    counts = torch.zeros(queries, keys, dtype=torch.int64)
    for piece in found:
        counts[piece.rows, piece.cols] += 1
    return counts


ids = st.lists(st.integers(0, 3), min_size=1, max_size=40).map(lambda steps: torch.tensor(steps).cumsum(0))


@given(
    t=ids,
    s=ids,
    start=st.integers(-30, 30),
    causal=st.booleans(),
    reach=st.sampled_from([math.inf, 1.0, 7.0]),
)
def test_every_pair_that_counts_lies_in_one_piece_and_rectangles_have_a_centre(t, s, start, causal, reach):
    t = t + start
    found = pieces(t, s, call(causal), reach)
    gap = t[:, None] - s
    wanted = gap.abs() <= reach
    if causal:
        wanted &= gap >= 0
    counts = counted(found, len(t), len(s))
    assert (counts[wanted] == 1).all()
    assert (counts <= 1).all()
    for piece in found:
        if piece.side:
            assert (piece.side * (t[piece.rows] - piece.centre) >= 0).all()
            assert (piece.side * (piece.centre - s[piece.cols]) >= 0).all()


@given(order=st.permutations(range(9)), causal=st.booleans())
def test_positions_in_any_order_are_cut_into_strips_with_all_keys(order, causal):
    found = pieces(torch.tensor(order), torch.arange(9), call(causal))
    assert (counted(found, 9, 9) == 1).all()
    ascends = list(order) == sorted(order)
    assert ascends or not any(piece.side for piece in found)


def test_a_mask_asks_for_strips():
    mask = torch.ones(1, 1, 1, 100, dtype=torch.bool)
    found = pieces(torch.arange(100), torch.arange(100), call(mask=mask))
    assert [piece.rows for piece in found] == [slice(0, 64), slice(64, 100)]
    assert all(piece.side == 0 and piece.cols == slice(0, 100) for piece in found)


def test_nothing_has_no_pieces():
    nothing, some = torch.arange(0), torch.arange(3)
    assert pieces(nothing, some, call()) == pieces(some, nothing, call()) == []


@pytest.mark.parametrize("tokens", [256, 512, 1024])
def test_what_is_near_is_linear_in_time_and_the_rest_is_few_rectangles(tokens):
    found = pieces(torch.arange(tokens), torch.arange(tokens), call())
    near = [piece for piece in found if piece.side == 0]
    area = sum((p.rows.stop - p.rows.start) * (p.cols.stop - p.cols.start) for p in near)
    assert area <= 2 * room.LEAF * tokens
    assert len(found) <= 2 * tokens / room.LEAF


def test_keys_before_the_first_query_are_one_rectangle():
    found = pieces(torch.arange(90, 100), torch.arange(100), call())
    assert found[0].rows == slice(0, 10)
    assert found[0].cols == slice(0, 91)


def test_one_query_is_one_piece_whatever_it_sees():
    found = pieces(torch.tensor([70]), torch.arange(100), call())
    assert [(p.rows, p.cols, p.side) for p in found] == [(slice(0, 1), slice(0, 71), 0)]


def test_whole_positions_beyond_float32_are_cut_where_they_stand():
    t = torch.arange(40) + 2**40
    found = pieces(t, t, call(), 5.5)
    gap = t[:, None] - t
    assert (counted(found, 40, 40)[(gap >= 0) & (gap <= 5)] == 1).all()
