"""Content lifts: the published score decides, and a lift that misses it proves nothing."""

from dataclasses import replace

import pytest
import sympy as sp
from exptx.symbolic import BadInput, Block, Generator, Status, encoding
from exptx.symbolic.kinds.lifted import Lifted

u = sp.Symbol("u", real=True)
gate = sp.Function("gate", positive=True)
anything = sp.Function("anything", real=True)


def sloped(function, published=None):
    """q k - (t-s) f(q), lifted to three features."""

    def formula(_, t, s, q, k):
        return q[0] * k[0] - (t - s) * function(q[0])

    return Lifted(
        "sloped",
        {},
        1,
        generator=Generator.direct_sum(Block(0), Block(0, size=2)),
        query_map=lambda q: sp.Matrix([q[0], -function(q[0]), 0]),
        key_map=lambda k: sp.Matrix([k[0], 0, 1]),
        published=published or formula,
    )


def test_a_lift_that_gives_the_published_score_is_inside():
    given = sloped(gate)
    assert given.agreement.status is Status.PROVED
    for verdict in (given.is_relative(), given.in_family(), given.has_group_law()):
        assert verdict.status is Status.PROVED


@pytest.mark.parametrize(
    "published",
    [
        lambda _, t, s, q, k: q[0] * k[0] + (t - s) * gate(q[0]),
        lambda _, t, s, q, k: q[0] * k[0] - (t - s) * gate(k[0]),
        lambda _, t, s, q, k: q[0] * k[0] - t * gate(q[0]),
        lambda _, t, s, q, k: q[0] - (t - s) * gate(q[0]),
    ],
)
def test_a_lift_that_misses_the_published_score_decides_nothing(published):
    given = sloped(gate, published)
    assert given.agreement.status is Status.REFUTED
    for verdict in (given.is_relative(), given.in_family()):
        assert verdict.status is Status.UNDECIDED
        assert "not shown to give the published score" in verdict.reason


def test_what_grows_for_keys_ahead_is_not_for_bidirectional_use():
    assert sloped(gate).is_bidirectional().status is Status.REFUTED
    assert sloped(anything).is_bidirectional().status is Status.UNDECIDED
    assert sloped(gate).is_bounded().status is Status.REFUTED


def test_a_bounded_flow_is_for_bidirectional_use():
    assert encoding("pope", head_dim=1).is_bidirectional().status is Status.PROVED
    assert encoding("pope", head_dim=1).is_bounded("causal").status is Status.PROVED


def test_a_fade_is_bounded_for_past_keys_only():
    faded = Lifted(
        "faded",
        {},
        1,
        generator=Generator.direct_sum(Block(1)),
        query_map=lambda q: sp.Matrix([gate(q[0])]),
        key_map=lambda k: sp.Matrix([gate(k[0])]),
        published=lambda x, t, s, q, k: sp.exp((t - s) * x.matrix[0, 0]) * gate(q[0]) * gate(k[0]),
    )
    assert faded.in_family().status is Status.PROVED
    assert faded.is_bounded("causal").status is Status.PROVED
    assert faded.is_bounded().status is Status.REFUTED
    assert faded.is_bidirectional().status is Status.REFUTED


def test_a_growth_that_the_lift_does_not_read_leaves_the_score_bounded():
    idle = replace(
        sloped(gate),
        query_map=lambda q: sp.Matrix([q[0], 0, 0]),
        published=lambda _, t, s, q, k: q[0] * k[0],
    )
    assert idle.is_bidirectional().status is Status.PROVED
    assert idle.is_bounded().status is Status.REFUTED


def test_the_score_is_shown_as_published():
    given = sloped(gate)
    assert given.score(u, 0, q=[2], k=[3]) == 6 - u * gate(2)
    lifted = given.pairing(u, sp.S.Zero, given.query_lift(sp.Matrix([2])), given.key_lift(sp.Matrix([3])))
    assert sp.expand(lifted - given.score(u, 0, q=[2], k=[3])) == 0
    assert given.generators == (given.generator,)


def test_content_of_the_wrong_size_is_refused():
    with pytest.raises(BadInput, match="q has 2 entries; head_dim is 1"):
        sloped(gate).score(1, 0, q=[1, 2])
