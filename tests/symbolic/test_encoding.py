"""The laws of an encoding: scores, factors and lifts, relativity decided, what is refused."""

import cmath
import math

import pytest
import sympy as sp
from exptx.symbolic.block import Block
from exptx.symbolic.catalogue import encoding
from exptx.symbolic.decide import Status, decide
from exptx.symbolic.errors import BadInput, ExptxError, WrongType
from exptx.symbolic.kinds.generated import Generated
from hypothesis import given
from hypothesis import strategies as st

t, s, u = sp.symbols("t s u", real=True)
m, sigma, gamma = sp.symbols("m sigma gamma", positive=True)
TENTH = sp.Rational(1, 10)

MEMBERS = {
    "nope": {"head_dim": 3},
    "rope": {"head_dim": 6},
    "decay": {"head_dim": 3, "gamma": TENTH},
    "damped_rope": {"head_dim": 4, "gamma": gamma},
    "alibi": {"slope": m, "head_dim": 3, "scale": sigma},
    "rotated_values_back": {"head_dim": 4},
}


# --------------------------------------------------------------------------------------- scores


@given(
    st.integers(1, 4).map(lambda h: 2 * h),
    st.booleans(),
    st.lists(st.integers(-3, 3), min_size=16, max_size=16),
    st.integers(-50, 50),
    st.integers(-50, 50),
)
def test_rotary_scores_equal_the_complex_product(head_dim, interleaved, numbers, query, key):
    """Re Σ conj(q_k e^{i w t}) k_k e^{i w s}, in floating point and without any matrix."""
    q, k = numbers[:head_dim], numbers[8 : 8 + head_dim]
    half = head_dim // 2
    pairs = [(2 * i, 2 * i + 1) if interleaved else (i, i + half) for i in range(half)]
    expected = 0.0
    for i, (a, b) in enumerate(pairs):
        turn = cmath.exp(1j * 10_000 ** (-2 * i / head_dim) * (key - query))
        expected += (complex(q[a], q[b]).conjugate() * turn * complex(k[a], k[b])).real
    exact = encoding("rope", head_dim=head_dim, interleaved=interleaved).score(query, key, q=q, k=k)
    assert math.isclose(float(exact.n(17)), expected, rel_tol=1e-12, abs_tol=1e-10)


def test_alibi_scores_penalise_distance_and_the_other_sign_rewards_it():
    alibi = encoding("alibi", slope=sp.Rational(1, 2), head_dim=4)
    assert alibi.scale * alibi.score(5, 2, q=[0] * 4, k=[0] * 4) == sp.Rational(-3, 2)
    rewarded = encoding("alibi", slope=sp.Rational(-1, 2), head_dim=4)
    assert rewarded.scale * rewarded.score(5, 2, q=[0] * 4, k=[0] * 4) == sp.Rational(3, 2)


def test_the_alibi_lift_gives_the_biased_logit_for_every_slope_and_scale():
    alibi = encoding("alibi", slope=m, head_dim=3, scale=sigma)
    q, k = alibi.content()
    assert decide(alibi.scale * alibi.score(t, s), sigma * q.dot(k) - m * (t - s)).holds
    assert alibi.query_lift(q)[3:] == [-m / sigma, 0]
    assert alibi.key_lift(k)[3:] == [0, 1]


def test_decay_multiplies_the_score_by_the_fade():
    decay = encoding("decay", head_dim=2, gamma=gamma)
    q, k = decay.content()
    assert decide(decay.score(t, s), sp.exp(-gamma * (t - s)) * q.dot(k)).holds
    assert not decide(decay.score(t, s), sp.exp(gamma * (t - s)) * q.dot(k)).holds


# ------------------------------------------------------------------------------------- factors


@pytest.mark.parametrize("name", MEMBERS)
def test_the_score_is_the_flow_of_the_generator_at_the_gap(name):
    """φ(q)ᵀ exp((t-s)X) ψ(k)."""
    member = encoding(name, **MEMBERS[name]).symbolic()[0]
    (generator,) = member.generators
    q, k = member.content()
    flow = (member.query_lift(q).T * generator.exp(t - s) * member.key_lift(k))[0, 0]
    assert decide(member.score(t, s), flow).holds


@pytest.mark.parametrize("name", MEMBERS)
def test_query_and_key_factors_are_contragredient(name):
    member = encoding(name, **MEMBERS[name]).symbolic()[0]
    product = member.query_factor(t).T * member.key_factor(t)
    assert decide(product, sp.eye(product.rows)).holds


def test_rope_generates_minus_omega_j_from_canonical_blocks():
    w0, w1 = sp.symbols("w0 w1", positive=True)
    (generator,) = encoding("rope", head_dim=4, frequencies=[w0, w1], interleaved=True).generators
    assert generator.blocks == (Block(0, w0), Block(0, w1))
    assert generator.matrix == sp.diag(sp.Matrix([[0, w0], [-w0, 0]]), sp.Matrix([[0, w1], [-w1, 0]]))
    assert generator.basis == sp.diag(1, -1, 1, -1)


def test_partial_rotation_leaves_the_other_features_alone():
    part = encoding("rope", head_dim=8, rotary_dim=4)
    assert part.query_factor(t)[4:, 4:] == sp.eye(4)
    assert part.query_factor(t)[:4, :4] == encoding("rope", head_dim=4).query_factor(t)


def test_a_plane_of_frequency_zero_holds_its_features():
    rope = encoding("rope", head_dim=4, frequencies=[1, 0], interleaved=True)
    assert rope.query_factor(t)[2:, 2:] == sp.eye(2)
    damped = encoding("damped_rope", head_dim=4, gamma=gamma, frequencies=[1, 0], interleaved=True)
    assert damped.key_factor(t)[2:, 2:] == sp.exp(gamma * t) * sp.eye(2)


def test_the_scale_is_not_part_of_the_score():
    rope = encoding("rope", head_dim=16)
    assert rope.scale == sp.Rational(1, 4)
    assert rope.score(0, 0, q=[1] * 16, k=[1] * 16) == 16


# ----------------------------------------------------------------------------------- relativity


@pytest.mark.parametrize("name", MEMBERS)
def test_members_are_relative_and_in_the_family(name):
    member = encoding(name, **MEMBERS[name])
    assert member.is_relative().status is Status.PROVED
    assert member.in_family().status is Status.PROVED


def test_a_head_of_128_irrational_frequencies_is_decided_by_free_ones():
    rope = encoding("rope", head_dim=128)
    free, values = rope.symbolic()
    assert len(values) == 64
    assert all(w.is_positive for w in values)
    assert list(values.values()) == [sp.Integer(10_000) ** sp.Rational(-2 * k, 128) for k in range(64)]
    assert rope.is_relative().holds
    assert free.generators[0].dim == 128


def test_free_frequencies_put_back_give_the_encoding():
    rope = encoding("rope", head_dim=8, interleaved=True)
    free, values = rope.symbolic()
    assert free.query_factor(t).xreplace(values) == rope.query_factor(t)


class Corrupted(Generated):
    """A member whose key factor carries the wrong sign: the key turns against the query."""

    def key_factor(self, position):
        return self.generator.exp(position)


def corrupted(name, **parameters):
    member = encoding(name, **parameters)
    return Corrupted("corrupted", {}, member.head_dim, member.content_generator, biases=member.biases)


@pytest.mark.parametrize("name", ["rope", "decay", "damped_rope", "alibi"])
def test_one_wrong_sign_is_refuted_with_a_witness_that_checks(name):
    verdict = corrupted(name, **MEMBERS[name]).is_relative()
    assert verdict.status is Status.REFUTED
    check_witness(corrupted(name, **MEMBERS[name]), verdict)
    assert corrupted(name, **MEMBERS[name]).in_family().status is not Status.PROVED


def check_witness(given_encoding, verdict):
    """The two scores at the witness differ, by plain substitution: no part of the search is trusted."""
    at = {str(x): value for x, value in verdict.witness.items()}
    key, gap = at["s"], at["u"]

    def value(query, key):
        score = given_encoding.score(query, key)
        return score.subs({x: value for x, value in verdict.witness.items() if str(x) not in "su"})

    assert key != 0
    assert abs(value(key + gap, key).n(30) - value(gap, 0).n(30)) > sp.Rational(1, 10**6)


# --------------------------------------------------------------------------------------- showing


def test_an_encoding_shows_itself_in_words_latex_and_html():
    rope = encoding("rope", head_dim=2)
    assert rope.sentence == "rope(head_dim=2, rope_theta=10000, rotary_dim=2, interleaved=False)"
    assert r"\cos" in rope.latex()
    assert rope._repr_latex_().startswith("$")
    assert "<" in rope._repr_html_()
    assert len(encoding("rope", head_dim=128).latex()) < 200


# -------------------------------------------------------------------------------------- refusals

REFUSED = [
    (lambda: encoding("rope", head_dim=5), BadInput, ["head_dim is 5", "odd"]),
    (lambda: encoding("rope", head_dim=4, rotary_dim=6), BadInput, ["rotary_dim is 6", "head_dim 4"]),
    (lambda: encoding("rope", head_dim=4, rotary_dim=3), BadInput, ["rotary_dim is 3", "odd"]),
    (lambda: encoding("rope", head_dim=4, rope_theta=0), BadInput, ["rope_theta is 0"]),
    (lambda: encoding("rope", head_dim=4, interleaved=1), WrongType, ["interleaved is 1", "True or False"]),
    (lambda: encoding("rope", head_dim=4, frequencies=[1]), BadInput, ["frequencies has 1", "2 planes"]),
    (lambda: encoding("rope", head_dim=4, frequencies=[1, 0.5]), WrongType, ["frequencies[1]", "float"]),
    (
        lambda: encoding("rope", head_dim=2, frequencies=[sp.Symbol("w")]),
        BadInput,
        ["frequencies[0]", "positive"],
    ),
    (lambda: encoding("decay", head_dim=4, gamma=0.1), WrongType, ["gamma", "float", "Rational(1, 10)"]),
    (lambda: encoding("decay", head_dim=4, gamma=float("nan")), BadInput, ["gamma", "nan"]),
    (lambda: encoding("decay", head_dim=4, gamma=float("inf")), BadInput, ["gamma", "inf"]),
    (lambda: encoding("decay", head_dim=4, gamma=sp.oo), BadInput, ["gamma", "oo"]),
    (lambda: encoding("alibi"), BadInput, ["num_heads", "slope", "exactly one"]),
    (lambda: encoding("alibi", num_heads=2, slope=1), BadInput, ["num_heads", "slope", "exactly one"]),
    (lambda: encoding("alibi", num_heads=0), BadInput, ["num_heads is 0"]),
    (lambda: encoding("alibi", slope=1, scale=-1), BadInput, ["scale is -1", "positive"]),
    (lambda: encoding("alibi", num_heads=2).score(1, 0), BadInput, ["2 heads", "heads[0].score"]),
    (lambda: encoding("rope", head_dim=4).score(1.5, 0), WrongType, ["t", "float"]),
    (lambda: encoding("rope", head_dim=4).score(1, 0, q=[1, 2]), BadInput, ["q has 2", "head_dim is 4"]),
    (lambda: encoding("rope", head_dim=4).score(1, 0, k="abcd"), WrongType, ["k is a str"]),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSED)
def test_a_refusal_names_the_argument_and_what_would_work(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, ExptxError)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert "\n" not in str(caught.value)
