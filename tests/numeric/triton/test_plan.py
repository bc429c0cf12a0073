"""How calls are cut into tiles: everything is covered, and nothing is done that need not be."""

import torch
from exptx.numeric.triton import plan
from exptx.numeric.triton.plan import Tile, make
from exptx.symbolic.lowering import shape_program
from hypothesis import given
from hypothesis import strategies as st

TURN = shape_program(1, turns=True, fades=False)


def form(*shape, dtype=torch.float32):
    return shape, torch.empty(shape, device="meta").stride(), dtype


def made(*heads, time=5, width=12, in_place=()):
    parts = tuple((form(2, h, time, width),) * 2 for h in heads)
    return make(TURN, parts, in_place or (False,) * len(heads), (form(time, 5),) * 2, None, "bhtd")


@given(st.integers(1, 3000), st.integers(1, 100), st.integers(1, 100))
def test_a_tile_has_sides_of_powers_of_two_and_as_many_planes_as_threads_like(planes, time, heads):
    tile = Tile.of(planes, time, heads)
    assert all(n & (n - 1) == 0 for n in (tile.lanes, tile.tokens, tile.near))
    assert planes <= tile.lanes < 2 * planes
    assert tile.groups(heads) * tile.near * tile.steps >= heads
    together = tile.lanes * tile.tokens * tile.near
    assert together <= max(plan._TILE, tile.lanes)
    short = tile.tokens < time or tile.near < heads
    assert together == max(plan._TILE, tile.lanes) or not short  # full, unless all is in it


def test_one_token_takes_heads_together_and_many_take_them_one_by_one():
    assert Tile.of(64, 1, 32) == Tile(64, 1, 16, 1)
    assert Tile.of(64, 4096, 32) == Tile(64, 16, 1, 4)
    assert Tile.of(64, 4096, 1) == Tile(64, 16, 1, 1)


def test_in_place_the_tail_is_not_touched():
    tails = [
        [made(3, 1, in_place=in_place).constants[name] for name in ("Q_TAIL", "K_TAIL")]
        for in_place in ((False, False), (True, False), (False, True), (True, True))
    ]
    assert tails == [[2, 2], [0, 2], [2, 0], [0, 0]]


def test_lengths_that_differ_are_one_compilation():
    """What is compiled into a kernel does not grow with the sequence, nor does it tell long ones apart."""
    assert len({tuple(made(8, 2, time=time).constants.items()) for time in range(129, 300)}) == 1


def test_tiles_are_counted_for_queries_and_keys_each():
    for time, tiles in ((5, (2 * 2, 2)), (300, (2 * 3 * 8, 2 * 3))):  # batch, times places, times groups
        assert (made(32, time=time).tiles, made(4, time=time).tiles) == tiles
        assert made(32, 4, time=time).tiles == sum(tiles)
