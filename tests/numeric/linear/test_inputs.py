"""Tokens of linear attention: cut, gathered, and the clock of their turn."""

import torch
from exptx.numeric.linear.inputs import Tokens, rotated, running_sum
from exptx.proofs import budget


def tokens(time=7, **changed):
    x = torch.arange(time * 4.0).reshape(1, 1, time, 4) + 1
    given = {"q": x, "k": x, "v": x, "log_decay": -x[..., :1], "turned": x[..., :2].double(), "scale": 0.5}
    return Tokens(**given | {"interleaved": False} | changed)


def test_a_running_sum_of_many_tokens_drifts_by_two_levels_of_roundings_only():
    """0.1, 65536 times: added one after the other the roundings go one way."""
    time, step = 65536, torch.full((1, 1, 65536, 1), 0.1, dtype=torch.float64)
    found = running_sum(step).flatten()
    known = torch.arange(1, time + 1, dtype=torch.float64) * 0.1
    assert ((found - known).abs() <= budget.gamma(256 + time // 256 + 2, "float64") * known).all()
    assert found[0] == 0.1


def test_a_running_sum_does_not_care_where_its_blocks_end():
    x = torch.randint(-9, 9, (2, 1, 11, 3), generator=torch.Generator().manual_seed(0)).double()
    for block in (1, 2, 4, 11, 64):
        assert torch.equal(running_sum(x, block), x.cumsum(-2))


def test_pieces_are_the_tokens_in_their_order_and_what_is_shared_stays_whole():
    whole = tokens(log_decay=torch.full((1, 1, 1, 1), -1.0))
    pieces = whole.split([3, 4])
    assert [piece.time for piece in pieces] == [3, 4]
    assert torch.equal(torch.cat([piece.q for piece in pieces], 2), whole.q)
    assert all(piece.log_decay is whole.log_decay for piece in pieces)


def test_an_empty_place_adds_nothing_and_keeps_the_state():
    found = tokens().gathered(torch.tensor([2, -1, 0])).ready()
    assert not found.k[:, :, 1].any()
    assert not found.v[:, :, 1].any()
    assert torch.equal(found.step.flatten(), torch.tensor([-9.0, 0.0, -1.0]).double().exp())


def test_a_turn_back_undoes_a_turn():
    seed = torch.Generator().manual_seed(1)
    x, angle = (torch.randn(2, 3, 5, n, generator=seed, dtype=torch.float64) for n in (4, 2))
    for interleaved in (False, True):
        there = rotated(x, angle, interleaved)
        assert torch.allclose(rotated(there, angle, interleaved, back=True), x, rtol=1e-14, atol=1e-14)
    quarter = rotated(torch.tensor([1.0, 0.0]), torch.tensor([torch.pi / 2], dtype=torch.float64), False)
    assert torch.allclose(quarter, torch.tensor([0.0, 1.0]), atol=1e-7)
