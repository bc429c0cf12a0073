"""Interpolated positions, raised bases, and a base that follows the length: golden values and verdicts."""

import pytest
import sympy as sp
from exptx.symbolic import BadInput, Status, enclose, encoding
from exptx.symbolic.decide import decide
from exptx.symbolic.scaling import dynamic, ntk_base
from exptx.symbolic.verdicts import verdicts

S, U = sp.symbols("s u", real=True)
FACTOR = sp.Symbol("a", positive=True)


def waves(member):
    """The frequencies, plane by plane."""
    return [block.frequency for block in member.content_generator.blocks]


# ------------------------------------------------------------------------------- golden values


def test_interpolated_by_four_position_8_is_position_2(rounds_to):
    rope = encoding("rope", head_dim=4)
    member = encoding("position_interpolation", head_dim=4, factor=4)
    assert member.key_factor(sp.Integer(8)) == rope.key_factor(sp.Integer(2))
    decimals = "-3.144039117024187 1.919605346559823 -0.3391430828157455 4.039197360052977"
    turned = member.query_factor(sp.Integer(8)) * sp.Matrix([1, 2, 3, 4])
    assert all(rounds_to(x, d) for x, d in zip(turned, decimals.split(), strict=True))


def test_interpolation_reads_every_position_divided_by_the_factor():
    rope = encoding("rope", head_dim=4, frequencies=[1, sp.Rational(1, 100)])
    member = encoding("position_interpolation", head_dim=4, factor=FACTOR)
    assert decide(member.score(FACTOR * S, FACTOR * U), rope.score(S, U)).holds


def test_the_raised_base_has_the_published_digits(rounds_to):
    member = waves(encoding("ntk_aware", head_dim=128, factor=4))
    assert rounds_to(member[1], "0.8471171851512068")
    assert rounds_to(member[63], "2.886954961723645e-5")
    assert rounds_to(member[1] ** -64, "40889.94243248622")
    assert rounds_to(waves(encoding("ntk_aware", head_dim=128, factor=2))[1] ** -64, "20221.26168973791")
    assert rounds_to(waves(encoding("ntk_aware", head_dim=64, factor=8))[1] ** -32, "85550.37588568538")


@pytest.mark.parametrize("head_dim", [4, 64])
def test_the_raised_base_keeps_the_first_plane_and_interpolates_the_last(head_dim):
    plain = waves(encoding("rope", head_dim=head_dim))
    raised = waves(encoding("ntk_aware", head_dim=head_dim, factor=FACTOR))
    assert raised[0] == plain[0] == 1
    assert raised[-1] == plain[-1] / FACTOR


def test_the_base_at_one_length_has_the_published_digits(rounds_to):
    member = encoding("dynamic_ntk", head_dim=128, factor=2, max_position_embeddings=2048, seq_len=4096)
    assert rounds_to(waves(member)[1] ** -64, "30527.73674880670")


# ------------------------------------------------------------------------------------- verdicts

FROZEN = [
    ("position_interpolation", {"factor": FACTOR}),
    ("ntk_aware", {"factor": 4}),
    ("dynamic_ntk", {"factor": 2, "max_position_embeddings": 4, "seq_len": 9}),
]


@pytest.mark.parametrize(("name", "given"), FROZEN)
def test_a_frozen_recipe_answers_every_question_with_yes(name, given):
    answers = verdicts(encoding(name, head_dim=8, **given)).answers()
    assert {answer.word for answer in answers.values()} == {"yes"}


@pytest.mark.parametrize(("first", "factor", "head_dim"), [(4, 2, 4), (2048, 2, 128), (1, FACTOR, 4)])
def test_a_base_that_follows_the_length_is_refuted_by_a_cached_key(first, factor, head_dim):
    live = encoding("dynamic_ntk", head_dim=head_dim, factor=factor, max_position_embeddings=first)
    words = {name: answer.word for name, answer in verdicts(live).answers().items()}
    assert words == {
        "group": "no",
        "relative": "no",
        "family": "no",
        "bidirectional": "yes",
        "bounded": "yes",
    }
    verdict = live.is_relative()
    assert verdict.status is Status.REFUTED
    key, gap = verdict.witness[S], verdict.witness[U]
    assert key + 1 > first
    q, k = ([verdict.witness[x] for x in column] for column in live.content())
    difference = live.score(key + gap, key, q=q, k=k) - live.score(gap, 0, q=q, k=k)
    assert 0 not in enclose(difference, 20, {x: verdict.witness[x] for x in difference.free_symbols})


def test_a_cached_key_stays_as_its_own_length_turned_it():
    """L0 = 4: the query at 5 and the key at 4, turned at lengths 6 and 5, whose stretch is 2 and 3/2."""
    live = encoding("dynamic_ntk", head_dim=4, factor=2, max_position_embeddings=4)
    e1 = [0, 1, 0, 0]
    a, b = sp.Rational(5, 200), sp.Rational(4, 150)
    assert live.score(5, 4, q=e1, k=e1) == sp.cos(a) * sp.cos(b) + sp.sin(a) * sp.sin(b)
    for position, length in ((5, 6), (4, 5)):
        fixed = encoding("dynamic_ntk", head_dim=4, factor=2, max_position_embeddings=4, seq_len=length)
        assert live.key_factor(sp.Integer(position)) == fixed.key_factor(sp.Integer(position))
        assert waves(fixed) == list(dynamic(10_000, 4, 2, 4, length))


def test_up_to_the_original_length_nothing_follows_the_length():
    live = encoding("dynamic_ntk", head_dim=4, factor=2, max_position_embeddings=8)
    rope = encoding("rope", head_dim=4)
    assert sp.expand(live.score(7, 3) - rope.score(7, 3)) == 0
    assert sp.expand(live.score(8, 3) - rope.score(8, 3)) != 0
    assert live.key_factor(sp.Integer(7)) == rope.key_factor(sp.Integer(7))


# ------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("name", "given", "word"),
    [
        ("position_interpolation", {"head_dim": 4, "factor": 0}, "factor is 0"),
        ("ntk_aware", {"head_dim": 2, "factor": 4}, "head_dim is 2"),
        ("dynamic_ntk", {"head_dim": 2, "factor": 4, "max_position_embeddings": 4}, "head_dim is 2"),
        (
            "dynamic_ntk",
            {"head_dim": 4, "factor": 4, "max_position_embeddings": 0},
            "max_position_embeddings",
        ),
        (
            "dynamic_ntk",
            {"head_dim": 4, "factor": 4, "max_position_embeddings": 4, "seq_len": 0},
            "seq_len is 0",
        ),
    ],
)
def test_a_refusal_names_the_argument(name, given, word):
    with pytest.raises(BadInput, match=word):
        encoding(name, **given)


def test_the_base_of_a_recipe_is_itself_a_base():
    raised = encoding("rope", head_dim=8, rope_theta=ntk_base(10_000, 8, 4))
    member = encoding("ntk_aware", head_dim=8, factor=4)
    for a, b in zip(waves(raised), waves(member), strict=True):
        assert abs(enclose(sp.log(a) - sp.log(b), 30).upper) < sp.Rational(1, 10**25)
