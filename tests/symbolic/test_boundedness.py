"""Which blocks stay bounded, in which direction of time, and what grows in the others."""

import pytest
import sympy as sp
from exptx.symbolic.block import Block
from exptx.symbolic.decide import Status
from exptx.symbolic.errors import BadInput
from exptx.symbolic.generator import Generator

g, w = sp.symbols("gamma omega", positive=True)

#        block                forward  backward
TABLE = [
    (Block(0), True, True),
    (Block(g), True, False),
    (Block(-g), False, True),
    (Block(0, w), True, True),
    (Block(g, w), True, False),
    (Block(-g, w), False, True),
    (Block(0, 0, 2), False, False),
    (Block(0, 0, 5), False, False),
    (Block(0, w, 2), False, False),
    (Block(g, 0, 3), True, False),
    (Block(-g, 0, 3), False, True),
    (Block(g, w, 3), True, False),
    (Block(-g, w, 2), False, True),
]


@pytest.mark.parametrize(("block", "forward", "backward"), TABLE)
def test_a_block_is_bounded_exactly_where_the_table_says(block, forward, backward):
    found = Generator.direct_sum(block).bounded()
    assert (found.forward, found.backward, found.all_times) == (forward, backward, forward and backward)


@pytest.mark.parametrize(("block", "forward", "backward"), TABLE)
def test_the_entries_themselves_grow_where_the_table_says_so(block, forward, backward):
    """Without the room: the largest entry at a far time, next to that at a nearer one."""
    time = sp.Symbol("t")
    flow = block.exp(time).subs({g: sp.Rational(1, 2), w: 3})
    for sign, bounded in [(1, forward), (-1, backward)]:
        near, far = (max(abs(sp.N(entry.subs(time, sign * u), 30)) for entry in flow) for u in (40, 400))
        assert bool(far < 5 * near) is bounded


@pytest.mark.parametrize(("block", "forward", "backward"), TABLE)
def test_every_unbounded_direction_has_a_witness_that_goes_there(block, forward, backward):
    found = Generator.direct_sum(block).bounded()
    directions = {w.direction for w in found.witnesses}
    assert directions == {d for d, ok in [(sp.oo, forward), (-sp.oo, backward)] if not ok}
    for growth in found.witnesses:
        assert growth.verdict.status is Status.PROVED
        time = sp.Symbol("t")
        assert sp.limit(growth.closed, time, growth.direction) == growth.limit
        assert abs(growth.limit) == sp.oo


def test_witness_entries_are_places_of_the_whole_flow():
    generator = Generator.direct_sum(Block(0, w), Block(g, w), Block(0, 0, 2))
    time = generator.time
    flow = generator.exp(time)
    for growth in generator.bounded().witnesses:
        values = [flow[place] for place in growth.entries]
        shown = values[0] if len(values) == 1 else sum(value**2 for value in values)
        assert sp.expand(shown - growth.quantity) == 0


def test_a_boost_grows_both_ways():
    found = Generator.direct_sum(Block(g), Block(-g)).bounded()
    assert (found.forward, found.backward) == (False, False)
    assert found.reason.startswith("Unbounded both ways")
    assert {w.block for w in found.witnesses} == {0, 1}


def test_one_slide_spoils_a_bank_of_turns_and_is_named():
    found = Generator.direct_sum(*[Block(0, k) for k in range(1, 9)], Block(0, 0, 2)).bounded()
    assert not found.forward
    assert "block 8 (slide) has an entry t" in found.reason


def test_a_basis_does_not_matter():
    blocks = [Block(g), Block(0, w)]
    skew = sp.Matrix([[1, 2, 0], [0, 1, 3], [0, 0, 1]])
    plain, moved = Generator.direct_sum(*blocks), Generator.direct_sum(*blocks, basis=skew)
    assert plain.bounded() == moved.bounded()


def test_an_unknown_sign_is_asked_for():
    with pytest.raises(BadInput, match=r"Symbol\('a', positive=True\)"):
        Generator.direct_sum(Block(sp.Symbol("a"))).bounded()


def test_irrational_rates_are_bounded_by_their_sign():
    assert Generator.direct_sum(Block(sp.sqrt(2), sp.Integer(10000) ** sp.Rational(-1, 64))).bounded().forward
    assert Generator.direct_sum(Block(-sp.log(2))).bounded().backward
