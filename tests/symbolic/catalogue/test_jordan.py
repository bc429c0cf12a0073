"""Jordan-RoPE: its matrix, printed rows of its flow, the contragredient query, and its row."""

import pytest
import sympy as sp
from exptx.symbolic import At, BadInput, Block, D, WrongType, decide, encoding

t, s, u = sp.symbols("t s u", real=True)
w, gamma, eta = sp.symbols("w gamma eta", positive=True)
HALF = sp.S.Half


def test_the_flow_of_a_turning_slide(rounds_to):
    given = encoding("jordan_rope", head_dim=4, gamma=0, frequencies=[HALF])
    printed = ["0.54030230586814", "-0.84147098480790", "1.0806046117363", "-1.6829419696158"]
    assert all(map(rounds_to, given.generators[0].exp(2)[0, :], printed))


def test_the_flow_of_a_fading_slide(rounds_to):
    printed = ["0.74081822068172", "2.2224546620452", "3.3336819930677"]
    assert all(map(rounds_to, Block(sp.Rational(1, 10), size=3).exp(3)[0, :], printed))


def test_a_critically_damped_kernel_peaks_at_ten(rounds_to):
    kernel = Block(sp.Rational(1, 10), size=2).exp(t)[0, 1]
    assert decide(kernel, t * sp.exp(-t / 10)).holds
    assert decide(At(D(kernel, t), t, 10), 0).holds
    assert decide(At(D(D(kernel, t), t), t, 10), -sp.exp(-1) / 10).holds
    assert rounds_to(kernel.subs(t, 10), "3.678794411714423")


def test_the_generator_is_planes_coupled_by_the_shear():
    given = encoding("jordan_rope", head_dim=4, gamma=gamma, shear=eta, frequencies=[w])
    plane = sp.Matrix([[-gamma, -w], [w, -gamma]])
    nilpotent = sp.Matrix([[0, 1], [0, 0]])
    expected = sp.kronecker_product(sp.eye(2), plane) + eta * sp.kronecker_product(nilpotent, sp.eye(2))
    assert given.generators[0].matrix == sp.ImmutableMatrix(expected)


def test_the_kernels_are_powers_of_the_gap_on_a_damped_turn():
    given = encoding("jordan_rope", head_dim=6, gamma=gamma, order=3, frequencies=[w])
    first, last = [1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0]
    assert decide(given.score(u, 0, q=first, k=last), u**2 / 2 * sp.exp(-gamma * u) * sp.cos(w * u)).holds


def test_the_query_is_moved_by_the_contragredient():
    """The same map on both sides, as for rotations, would not be relative."""
    given = encoding("jordan_rope", head_dim=4, gamma=gamma, frequencies=[w])
    assert decide(given.query_factor(t).T * given.key_factor(t), sp.eye(4)).holds
    both = given.key_factor(t).T * given.key_factor(t)
    assert not decide(both, sp.eye(4)).holds


def test_the_frequencies_are_those_of_its_code():
    given = encoding("jordan_rope", head_dim=8, gamma=0)
    assert [block.frequency for block in given.generators[0].blocks] == [
        1,
        sp.Integer(10000) ** sp.Rational(-2, 8),
    ]


@pytest.mark.parametrize(
    ("parameters", "bounded"),
    [({"gamma": gamma}, "forward-only"), ({"gamma": 0}, "no"), ({"gamma": -gamma}, "no")],
)
def test_its_row(row, parameters, bounded):
    given = encoding("jordan_rope", head_dim=4, **parameters)
    assert row(given) == ["yes", "yes", "yes", "no", bounded]


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        ({"head_dim": 6}, BadInput, "head_dim is 6, no multiple of 4, the size of a block of order 2"),
        ({"head_dim": 4, "order": 0}, BadInput, "order is 0; a whole number from 1"),
        ({"head_dim": 4, "shear": 0}, BadInput, "shear is 0; it must be positive"),
        ({"head_dim": 4, "frequencies": [1, 2]}, BadInput, "frequencies has 2 entries; 1 are needed"),
        ({"head_dim": 4, "frequencies": [0]}, BadInput, r"frequencies\[0\] is 0; it must be positive"),
        ({"head_dim": 4, "rope_theta": 1e4}, WrongType, "rope_theta is .*, which is a float"),
    ],
)
def test_other_input_is_refused_in_one_sentence(given, error, sentence):
    with pytest.raises(error, match=sentence):
        encoding("jordan_rope", **{"gamma": 0, **given})
