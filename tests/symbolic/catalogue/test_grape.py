"""GRAPE: the rank-two turn against Rodrigues' formula, and content slopes under a fixed generator."""

import pytest
import sympy as sp
from exptx.symbolic import BadInput, Status, WrongType, decide, encoding
from exptx.symbolic.catalogue.grape import GATES

t, s, u = sp.symbols("t s u", real=True)
w, sigma = sp.symbols("w sigma", positive=True)
A, B = sp.Matrix([1, 2, 2]), sp.Matrix([2, 0, 1])
PLANE = A * B.T - B * A.T
GATED = {"grape_a_q": "q", "grape_a_k": "k", "grape_a_qk": "qk"}


def test_the_turn_in_the_plane_of_two_vectors(rounds_to):
    given = encoding("grape_m", a=[1, 2, 2], b=[2, 0, 1])
    (turn,) = [block for block in given.generators[0].blocks if block.turns]
    assert rounds_to(turn.frequency, "5.385164807134504")
    printed = ["0.67513736635881", "0.65889253896965", "0.33173808740664"]
    assert all(map(rounds_to, given.key_factor(sp.S.One)[0, :], printed))


def test_rodrigues_formula_is_its_flow():
    """exp(pL) = I + sin(cp)/c L + (1 - cos(cp))/c² L², c = √29, for every p."""
    free, values = encoding("grape_m", a=A, b=B).symbolic()
    c, x, y = sp.sqrt(29), *sp.symbols("x y")
    shorter = {sp.sin(c * s): x, sp.cos(c * s): y}
    flow = free.key_factor(s).subs(values).xreplace(shorter)
    rodrigues = sp.eye(3) + x / c * PLANE + (1 - y) / 29 * PLANE**2
    assert list(values.values()) == [c]
    assert (flow - rodrigues).applyfunc(sp.expand).is_zero_matrix


def test_both_sides_are_turned_by_the_same_orthogonal_map():
    given = encoding("grape_m", a=[1, 0], b=[0, 1], rate=w)
    assert decide(given.query_factor(t), given.key_factor(t)).holds
    turn = sp.Matrix([[sp.cos(w * t), sp.sin(w * t)], [-sp.sin(w * t), sp.cos(w * t)]])
    assert decide(given.key_factor(t), turn).holds


def gates(score, query, key):
    """The score with numbers for the gates."""
    return score.replace(GATES["q"], lambda *_: query).replace(GATES["k"], lambda *_: key)


def test_gates_of_query_and_key_scale_one_slope():
    """u = 5, w = 0.3, λ = 0.7 and 1.1: -(t-s) w (λ_q + λ_k) = -2.7."""
    given = encoding("grape_a_qk", head_dim=1, slope=sp.Rational(3, 10), scale=1)
    score = given.score(12, 7, q=[0], k=[0])
    assert gates(score, sp.Rational(7, 10), sp.Rational(11, 10)) == sp.Rational(-27, 10)


@pytest.mark.parametrize(("name", "letters"), GATED.items())
def test_the_logit_is_the_content_and_a_gated_slope(name, letters):
    given = encoding(name, head_dim=2, slope=w, scale=sigma)
    q, k = given.content()
    rate = sum(GATES[letter](*column) for letter, column in (("q", q), ("k", k)) if letter in letters)
    assert decide(sigma * given.score(t, s), sigma * (q.T * k)[0, 0] - w * (t - s) * rate).holds


@pytest.mark.parametrize(("name", "letters"), GATED.items())
def test_the_generator_is_fixed_and_nilpotent(name, letters):
    given = encoding(name, head_dim=2)
    (generator,) = given.generators
    assert [block.size for block in generator.blocks] == [1, 1] + [2] * len(letters)
    assert generator.matrix**2 == sp.zeros(generator.dim)
    assert given.agreement.status is Status.PROVED


@pytest.mark.parametrize("name", GATED)
def test_the_row_of_gated_slopes(row, name):
    given = encoding(name, head_dim=2, slope=w, scale=sigma)
    assert row(given) == ["yes", "yes", "yes", "no", "no"]
    assert "no upper bound as u → -∞" in given.is_bidirectional().reason


@pytest.mark.parametrize("vectors", [(A, B), ([1, 0], [0, 1]), ([1, 2, 0, 1], [0, 1, 1, 5])])
def test_the_row_of_the_turn(row, vectors):
    a, b = vectors
    assert row(encoding("grape_m", a=a, b=b)) == ["yes"] * 5


@pytest.mark.parametrize(
    ("name", "given", "error", "sentence"),
    [
        ("grape_m", {"a": [1, 2], "b": [2, 4]}, BadInput, "a and b are parallel"),
        ("grape_m", {"a": [1, 2], "b": [2]}, BadInput, "b has 1 entries; 2 are needed"),
        ("grape_m", {"a": [1, 0], "b": [0, 1], "rate": 0}, BadInput, "rate is 0; it must be positive"),
        ("grape_m", {"a": [1, 0.5], "b": [0, 1]}, WrongType, r"a\[1\] is .*, which is a float"),
        ("grape_a_q", {"slope": 0}, BadInput, "slope is 0; it must be positive"),
        ("grape_a_k", {"scale": -1}, BadInput, "scale is -1; it must be positive"),
        ("grape_a_qk", {"head_dim": 0}, BadInput, "head_dim is 0; a whole number from 1"),
    ],
)
def test_other_input_is_refused_in_one_sentence(name, given, error, sentence):
    with pytest.raises(error, match=sentence):
        encoding(name, **given)


def test_a_rate_of_many_digits_is_bounded_like_any_other():
    """L is skew whichever its rate: exp(tL) turns, and nothing grows."""
    long = encoding("grape_m", a=(1, 2, 2), b=(2, 0, 1), rate=sp.Rational(10**200 + 7, 3**100))
    assert 1 <= long.generators[0].metric().bound.upper < 1 + sp.Rational(1, 10**9)
    assert long.is_bounded().status is Status.PROVED
