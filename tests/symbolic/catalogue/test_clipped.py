"""Tables of vectors at the clipped gap: what the score reads, relative but no exponential polynomial."""

import pytest
import sympy as sp
from exptx.symbolic import BadInput, Unsupported, encoding


def symbol(name):
    return sp.Symbol(name, real=True)


@pytest.mark.parametrize(("gap", "index"), [(-9, 4), (-2, 4), (-1, 3), (0, 2), (1, 1), (2, 0), (9, 0)])
def test_shaw_adds_the_vector_of_the_clipped_gap_to_the_key(gap, index):
    """The index counts s - t, as in the paper."""
    given = encoding("shaw", head_dim=2, reach=2)
    score = given.score(10 + gap, 10, q=[3, 5], k=[7, 11])
    assert score.equals(76 + 3 * symbol(f"w0_{index}") + 5 * symbol(f"w1_{index}"))


@pytest.mark.parametrize(
    ("gap", "key_index", "query_index"), [(-9, 0, 3), (-2, 0, 3), (-1, 1, 3), (0, 2, 2), (1, 3, 1), (9, 3, 0)]
)
def test_deberta_reads_one_table_each_way(gap, key_index, query_index):
    given = encoding("deberta", head_dim=1, reach=2)
    score = given.score(10 + gap, 10, q=[3], k=[7])
    assert score.equals(21 + 3 * symbol(f"K0_{key_index}") + 7 * symbol(f"Q0_{query_index}"))


def test_the_scale_of_deberta_counts_its_three_terms():
    assert encoding("deberta", head_dim=64, reach=2).scale == 1 / sp.sqrt(192)


@pytest.mark.parametrize("name", ["shaw", "deberta"])
def test_both_are_relative_and_outside(row, name):
    given = encoding(name, head_dim=2, reach=2)
    assert row(given) == ["no", "yes", "no", "yes", "yes"]
    assert "would have to hold everywhere" in given.in_family().reason


def test_there_are_no_factors_of_one_position():
    given = encoding("shaw", head_dim=2, reach=1)
    with pytest.raises(Unsupported, match="matrix of both positions"):
        given.query_factor(sp.S.One)
    with pytest.raises(BadInput, match="reach is 0; a whole number from 1"):
        encoding("shaw", head_dim=2, reach=0)
