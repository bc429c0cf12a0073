"""LongRoPE frozen and switched: the golden amplitude, verdicts, and the witness at the switch."""

import pytest
import sympy as sp
from exptx.symbolic import BadInput, Status, enclose, encoding
from exptx.symbolic.catalogue import entries
from exptx.symbolic.verdicts import verdicts

S, U = sp.symbols("s u", real=True)
LONG = {"head_dim": 4, "factor": 32, "original_max_position_embeddings": 4096}
SHORT, FAR = [1, sp.Rational(11, 10)], [sp.Rational(3, 2), 4]


def cos_of_difference(a, b):
    """cos(a - b), written out as the product of two turned vectors gives it."""
    return sp.cos(a) * sp.cos(b) + sp.sin(a) * sp.sin(b)


def test_the_score_carries_the_square_of_the_published_amplitude(rounds_to):
    member = encoding("longrope", divisors=FAR, **LONG)
    assert rounds_to(member.amplitude, "1.190238071423808")
    e0 = [1, 0, 0, 0]
    expected = member.amplitude**2 * cos_of_difference(5 / sp.Rational(3, 2), 3 / sp.Rational(3, 2))
    assert sp.expand(member.score(5, 3, q=e0, k=e0) - expected) == 0


def test_every_plane_has_its_own_divisor():
    member = encoding("longrope", divisors=FAR, **LONG)
    rope = encoding("rope", head_dim=4)
    for mine, plain, divisor in zip(
        member.content_generator.blocks, rope.content_generator.blocks, FAR, strict=True
    ):
        assert mine.frequency * divisor == plain.frequency


@pytest.mark.parametrize(("seq_len", "divisors"), [(1, SHORT), (4096, SHORT), (4097, FAR)])
def test_at_one_length_the_switching_one_is_a_frozen_one(seq_len, divisors):
    fixed = encoding("longrope_switching", short_factor=SHORT, long_factor=FAR, seq_len=seq_len, **LONG)
    frozen = encoding("longrope", divisors=divisors, **LONG)
    assert fixed.score(5, 3) == frozen.score(5, 3)
    for member in (fixed, frozen):
        assert {answer.word for answer in verdicts(member).answers().values()} == {"yes"}


@pytest.mark.parametrize("first", [4, 4096])
def test_the_switching_one_is_refuted_by_a_key_past_the_switch(first):
    given = LONG | {"original_max_position_embeddings": first}
    live = encoding("longrope_switching", short_factor=SHORT, long_factor=FAR, **given)
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
    rest = {x: v for x, v in verdict.witness.items() if x not in (S, U)}
    difference = (live.score(key + gap, key) - live.score(gap, 0)).subs(rest)
    assert 0 not in enclose(difference, 20)


def test_a_key_written_before_the_switch_keeps_the_short_divisors():
    live = encoding("longrope_switching", short_factor=[1, 1], long_factor=[1, 4], **LONG)
    e1, m = [0, 1, 0, 0], live.amplitude
    expected = m**2 * cos_of_difference(sp.Rational(4096, 400), sp.Rational(4095, 100))
    assert sp.expand(live.score(4096, 4095, q=e1, k=e1) - expected) == 0
    assert entries()["longrope_switching"].shown().is_relative().status is Status.REFUTED


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("longrope", {**LONG, "divisors": [1]}, "1 factors"),
        ("longrope", {**LONG, "divisors": [1, 0]}, "is 0"),
        ("longrope_switching", {**LONG, "short_factor": [1, 2], "long_factor": [1, 2]}, "nothing switches"),
        ("longrope_switching", {**LONG, "short_factor": [1, 2], "long_factor": [1]}, "1 factors"),
    ],
)
def test_a_refusal_names_the_argument(name, given, words):
    with pytest.raises(BadInput, match=words):
        encoding(name, **given)
