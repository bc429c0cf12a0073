"""Alike pieces in one call: every piece in one stack, views that are the pieces, few calls on a line."""

import pytest
import torch
from exptx.numeric.biases import pieces as room
from exptx.numeric.biases.pieces import Call, pieces
from exptx.numeric.biases.stacks import Stack, stacks
from hypothesis import given
from hypothesis import strategies as st


@pytest.fixture(autouse=True, scope="module")
def _small_leaves():
    patch = pytest.MonkeyPatch()
    patch.setattr(room, "LEAF", 4)
    yield
    patch.undo()


def cut(t, s, causal=True, reach=float("inf")):
    nothing = torch.zeros(1, 0, dtype=torch.int64)
    return pieces(t, s, Call(nothing, nothing, causal, False, 1.0, None), reach)


def places(stack):
    """(rows, cols) of every piece of a stack, read off the views of token numbers."""
    tokens = torch.arange(1000)[None, None]
    return [
        (tuple(rows.tolist()), tuple(cols.tolist()))
        for rows, cols in zip(stack.rows(tokens)[0, 0], stack.cols(tokens)[0, 0], strict=True)
    ]


def flat(piece):
    return tuple(range(1000))[piece.rows], tuple(range(1000))[piece.cols]


@given(
    queries=st.integers(1, 90),
    keys=st.integers(1, 90),
    steps=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    start=st.integers(-20, 60),
    causal=st.booleans(),
    reach=st.sampled_from([float("inf"), 5.0, 17.0]),
)
def test_every_piece_is_in_one_stack_whose_pieces_have_the_same_gaps(
    queries, keys, steps, start, causal, reach
):
    t, s = steps[0] * torch.arange(queries) + start, steps[1] * torch.arange(keys)
    found = cut(t, s, causal, reach)
    taken = [place for stack in stacks(t, s, found) for place in places(stack)]
    assert sorted(taken) == sorted(map(flat, found))
    for stack in stacks(t, s, found):
        gaps = [t[list(rows)][:, None] - s[list(cols)] for rows, cols in places(stack)]
        assert all(torch.equal(gap, gaps[0]) for gap in gaps)
        if stack.piece.centre is not None:
            centres = {int(p.centre - t[p.rows.start]) for p in found if flat(p) in places(stack)}
            assert len(centres) == 1


def test_pieces_of_a_stack_do_not_overlap():
    """So that each has its own slots."""
    t = torch.arange(300)
    for stack in stacks(t, t, cut(t, t, reach=9.0)):
        for side in (0, 1):
            tokens = [n for place in places(stack) for n in place[side]]
            assert len(tokens) == len(set(tokens))


def test_pieces_that_share_tokens_stay_apart():
    t = torch.arange(8)
    found = [room.Piece(slice(n, n + 4), slice(n, n + 4), 0) for n in (0, 2, 4)]
    assert [stack.count for stack in stacks(t, t, found)] == [1, 1, 1]
    assert [stack.count for stack in stacks(t, t, [found[0], found[2]])] == [2]
    wide, tall = (
        [room.Piece(slice(n, n + a), slice(n, n + b), 0) for n in (0, 2)] for a, b in ((2, 4), (4, 2))
    )
    for some in (wide, tall):  # they share keys, or queries
        assert [stack.count for stack in stacks(t, t, some)] == [1, 1]


def test_a_view_is_written_through():
    x = torch.zeros(1, 2, 20, 3)
    stack = Stack(room.Piece(slice(2, 4), slice(0, 2), 1, torch.tensor(1)), 4, 5, 5)
    stack.rows(x)[..., 1] += 1
    assert x[0, 1, :, 1].nonzero()[:, 0].tolist() == [2, 3, 7, 8, 12, 13, 17, 18]
    assert x.sum() == 16
    assert stack.rows(x).shape == (1, 2, 4, 2, 3)


@pytest.mark.parametrize("tokens", [64, 256, 512])
def test_evenly_spaced_tokens_need_a_call_for_each_doubling(tokens):
    t = torch.arange(tokens)
    assert len(stacks(t, t, cut(t, t))) <= (tokens // room.LEAF).bit_length() + 1


@pytest.mark.parametrize("ids", [torch.arange(64).cumsum(0), torch.arange(64) / 2, torch.zeros(64).long()])
def test_other_positions_are_taken_one_by_one(ids):
    found = cut(ids, ids)
    assert [stack.piece for stack in stacks(ids, ids, found)] == found
