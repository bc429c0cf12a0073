"""Retention: published decays and angles, row sums, and where the split form overflows."""

import pytest
import sympy as sp
from exptx.symbolic import BadInput, WrongType, decide, encoding

t, s = sp.symbols("t s", real=True)


@pytest.mark.parametrize(
    ("head", "rate", "half_life"),
    [
        (0, "0.03174869831458030", "21.83230234"),
        (1, "0.01574835696813917", "44.01393631"),
        (2, "0.007843177461025893", None),
        (7, "0.0002441704321739145", "2838.784264"),
    ],
)
def test_the_decays_of_the_paper(rounds_to, head, rate, half_life):
    heads = encoding("retnet", num_heads=8, head_dim=4).heads
    blocks = heads[head].content_generator.blocks
    assert len({block.decay for block in blocks}) == 1
    assert rounds_to(blocks[0].decay, rate)
    if half_life:
        assert rounds_to(blocks[0].half_life, half_life)


def test_the_angles_include_the_endpoint(rounds_to):
    head = encoding("retnet", num_heads=1, head_dim=8).heads[0]
    frequencies = [block.frequency for block in head.content_generator.blocks]
    assert frequencies[0] == 1
    assert rounds_to(frequencies[1], "0.04641588833612779")
    assert rounds_to(frequencies[2], "0.002154434690031884")
    assert frequencies[3] == sp.Rational(1, 10000)
    rope = encoding("rope", head_dim=8).generators[0].blocks
    assert [block.frequency for block in rope][1:] == [sp.Rational(1, 10**k) for k in (1, 2, 3)]


def test_one_plane_alone_turns_by_one_radian():
    (head,) = encoding("retnet", num_heads=1, head_dim=2).heads
    faded = sp.Rational(31, 32) ** 2 * sp.cos(2)
    assert decide(head.score(3, 1, q=[1, 0], k=[1, 0]), faded).holds


def test_the_score_is_the_published_one():
    """γ^{t-s} times the rotary score of planes (2k, 2k+1), γ = 31/32 in head 0."""
    (head,) = encoding("retnet", num_heads=1, head_dim=4).heads
    q, k = [1, 2, 3, 4], [4, 3, 2, 1]
    angles = [1, sp.Rational(1, 10000)]
    rope = encoding("rope", head_dim=4, frequencies=angles, interleaved=True)
    assert sp.expand(head.score(7, 2, q=q, k=k) - sp.Rational(31, 32) ** 5 * rope.score(7, 2, q=q, k=k)) == 0


def test_the_root_of_a_row_sum(rounds_to):
    """What a row of four visible tokens is divided by: sqrt(Σ γ^u), γ = 31/32."""
    fade = encoding("decay", head_dim=1, gamma=-sp.log(sp.Rational(31, 32)))
    weights = [fade.score(3, key, q=[1], k=[1]) for key in range(4)]
    assert rounds_to(sp.sqrt(sp.Add(*weights)), "1.953554640244771")


@pytest.mark.parametrize(
    ("head", "dtype", "position"),
    [
        (0, "float16", 350),
        (0, "bfloat16", 2795),
        (0, "float32", 2795),
        (7, "float16", 45419),
        (7, "bfloat16", 363349),
        (7, "float32", 363365),
    ],
)
def test_the_first_position_at_which_the_split_key_overflows(first_to_overflow, head, dtype, position):
    """The length of exp(γs)R(sθ)e0 is e^{γs}."""
    given = encoding("retnet", num_heads=8, head_dim=2).heads[head]
    column = given.key_factor(s)[:, 0]
    size = sp.sqrt(column[0] ** 2 + column[1] ** 2)
    assert first_to_overflow(size, dtype, position)


def test_its_row(row):
    assert row(encoding("retnet", num_heads=2, head_dim=4)) == ["yes", "yes", "yes", "no", "forward-only"]


def test_every_head_is_relative_and_the_heads_differ():
    given = encoding("retnet", num_heads=3, head_dim=2)
    assert len(given.heads) == 3
    assert len({head.parameters["gamma"] for head in given.heads}) == 3
    assert decide(given.heads[0].symbolic()[0].query_factor(sp.S.Zero), sp.eye(2)).holds


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        ({"num_heads": 0}, BadInput, "num_heads is 0; a whole number from 1"),
        ({"num_heads": 8.0}, WrongType, "num_heads is 8.0; a whole number works, e.g. 8"),
        ({"num_heads": 1, "head_dim": 3}, BadInput, "head_dim is 3, which is odd"),
    ],
)
def test_other_input_is_refused_in_one_sentence(given, error, sentence):
    with pytest.raises(error, match=sentence):
        encoding("retnet", **given)
