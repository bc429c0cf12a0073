"""Skew generators: lengths are kept, the gap decides, and a matrix that is not skew is refused."""

import pytest
import sympy as sp
from exptx.symbolic import BadInput, WrongType, decide, encoding

t, s = sp.symbols("t s", real=True)
w = sp.Symbol("w", positive=True)
FOUR = [[0, 1, 2, 3], [-1, 0, 4, 5], [-2, -4, 0, 6], [-3, -5, -6, 0]]


def test_any_skew_matrix_gives_an_orthogonal_map_of_the_gap(row):
    given = encoding("skew", matrix=[[0, 3, 4], [-3, 0, 0], [-4, 0, 0]])
    assert decide(given.key_factor(s).T * given.key_factor(s), sp.eye(3)).holds
    assert decide(given.query_factor(t), given.key_factor(t)).holds
    assert [block.frequency for block in given.generators[0].blocks if block.turns] == [5]
    assert row(given) == ["yes"] * 5


def test_eigenvalues_that_are_roots_of_degree_four_are_no_obstacle(row):
    """No square root of a rational is a frequency of this one; its flow is verified over the roots."""
    given = encoding("skew", matrix=FOUR)
    assert given.generators[0].has_companions
    assert row(given) == ["yes"] * 5


def test_rope_is_one_of_them():
    skew = encoding("skew", matrix=[[0, -w], [w, 0]])
    assert decide(skew.score(t, s), encoding("rope", head_dim=2, frequencies=[w]).score(t, s)).holds


def test_the_power_of_an_orthogonal_matrix_is_the_flow_of_its_logarithm(row):
    """A = [[0, w], [0, 0]]: W = exp(A - Aᵀ) turns by -w, and qᵀW^{t-s}k by the gap times that."""
    given = encoding("ape", matrix=[[0, w], [0, 0]])
    angle = w * (t - s)
    assert decide(given.score(t, s, q=[1, 0], k=[1, 0]), sp.cos(angle)).holds
    assert decide(given.score(t, s, q=[1, 0], k=[0, 1]), sp.sin(angle)).holds
    assert row(given) == ["yes"] * 5


def test_a_reflection_moves_the_planes_and_keeps_the_frequencies(row):
    given = encoding("lrpe", head_dim=4, reflection=[1, 2, 0, 1], frequencies=[w, 2 * w])
    v = sp.Matrix([1, 2, 0, 1])
    mirror = sp.eye(4) - 2 * v * v.T / 6
    rope = encoding("rope", head_dim=4, frequencies=[w, 2 * w], interleaved=True)
    q, k = (list(mirror * sp.Matrix(x)) for x in ([1, 2, 3, 4], [4, 3, 2, 1]))
    published = rope.score(t, s, q=q, k=k)
    assert decide(given.score(t, s, q=[1, 2, 3, 4], k=[4, 3, 2, 1]), published).holds
    assert row(given) == ["yes"] * 5


def test_many_planes_are_verified_block_by_block():
    given = encoding("lrpe", head_dim=16)
    assert "every block solves its equation" in given.is_relative().reason
    assert given.in_family().holds


@pytest.mark.parametrize(
    ("name", "given", "error", "sentence"),
    [
        (
            "skew",
            {"matrix": [[0, 1], [1, 0]]},
            BadInput,
            r"not skew: the entries \[0, 1\] = 1 and \[1, 0\] = 1",
        ),
        ("skew", {"matrix": [[1, 0], [0, 0]]}, BadInput, r"not skew: the entries \[0, 0\] = 1"),
        ("skew", {"matrix": [[0, 1]]}, BadInput, "not square"),
        ("ape", {"matrix": [[0, 0.5], [0, 0]]}, WrongType, "float"),
        ("lrpe", {"head_dim": 2, "reflection": [0, 0]}, BadInput, "reflection has the squared length 0"),
        ("lrpe", {"head_dim": 4, "reflection": [1, 2]}, BadInput, "reflection has 2 entries; 4 are needed"),
    ],
)
def test_other_input_is_refused_in_one_sentence(name, given, error, sentence):
    with pytest.raises(error, match=sentence):
        encoding(name, **given)
