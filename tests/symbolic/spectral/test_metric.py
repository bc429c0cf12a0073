"""The inner product that bounds a flow: equations by hand, bounds against sampled norms, or none."""

import random

import numpy as np
import pytest
import sympy as sp
from exptx.symbolic.block import Block
from exptx.symbolic.decide import Status
from exptx.symbolic.enclosed_flow import ball_exp
from exptx.symbolic.generator import Generator
from exptx.symbolic.spectral.companion import CompanionBlock

x = sp.Symbol("x")
g, w = sp.symbols("gamma omega", positive=True)
Q = sp.Rational


def over_q(factor):
    return sp.Poly(factor, x, domain="QQ")


def dense(n):
    rng = random.Random(n)
    while True:
        basis = sp.Matrix(n, n, lambda i, j: rng.randint(-3, 3))
        if basis.det() != 0:
            return basis


def moved(*blocks):
    return Generator.direct_sum(*blocks, basis=dense(sum(block.dim for block in blocks)))


TURNS = [
    Generator([[6, -15], [3, -6]]),
    Generator([[0, -3, 2], [3, 0, -1], [-2, 1, 0]]),
    Generator([[0, 2], [-1, 0]]),
    moved(Block(0, 2), Block(0, 2), Block(0)),
    moved(Block(0, sp.sqrt(2)), Block(0, sp.Integer(10) ** Q(1, 7))),
    moved(CompanionBlock(over_q(x**4 + 10 * x**2 + 1)), Block(0)),
]
FADES = [
    Generator([[-3, 5], [1, -2]]),
    moved(Block(Q(1, 3), 0, 3), Block(0, 2)),
    moved(Block(Q(1, 3), 1, 2), Block(0, 2)),
    moved(CompanionBlock(over_q(x**3 + 3 * x**2 + 3 * x + 3), 2), Block(0, 3)),
    moved(Block(sp.log(2), 0, 2), Block(0)),
]
GROWS = [Generator([[1]]), Generator([[0, 1], [0, 0]]), moved(CompanionBlock(over_q(x**3 - x - 1)))]


def floats(matrix):
    return np.array([[float(entry) for entry in row] for row in matrix.evalf(30).tolist()])


def norms(generator, times):
    """2-norms of exp(tX) by Arb's matrix exponential and numpy."""
    n = generator.dim
    for time in times:
        flow = ball_exp(generator, time)
        yield np.linalg.norm([[float(flow[i, j].mid()) for j in range(n)] for i in range(n)], 2)


def test_the_turn_of_the_textbook_has_this_metric_and_bound():
    metric = Generator([[6, -15], [3, -6]]).metric()
    assert metric.matrix == sp.Matrix([[1, -2], [-2, 5]])
    assert metric.bound.lower <= 3 + 2 * sp.sqrt(2) <= metric.bound.upper  # 5.828…
    assert metric.bound.width < Q(1, 10**15)
    assert str(metric) == "‖exp(tX)‖ is bounded by 5.82843 for all t"


@pytest.mark.parametrize("generator", TURNS, ids=lambda one: f"n{one.dim}")
def test_a_flow_bounded_for_all_times_keeps_an_inner_product(generator):
    metric = generator.metric()
    x, p = generator.matrix, metric.matrix
    assert metric.all_times
    assert metric.verdict.status is Status.PROVED
    assert (x.T * p + p * x).applyfunc(sp.expand) == sp.zeros(generator.dim)
    assert min(np.linalg.eigvalsh(floats(p))) > 0
    assert max(norms(generator, (-7, Q(-1, 3), 1, 2, 5, 40))) <= float(metric.bound.upper) * (1 + 1e-12)


@pytest.mark.parametrize("generator", FADES, ids=lambda one: f"n{one.dim}")
def test_a_flow_bounded_forward_never_lengthens_in_some_inner_product(generator):
    metric = generator.metric()
    x, p = floats(generator.matrix), floats(metric.matrix)
    slope = x.T @ p + p @ x
    assert not metric.all_times
    assert metric.verdict.status is Status.PROVED
    assert max(np.linalg.eigvalsh(slope)) < 1e-9 * np.linalg.norm(slope)
    assert min(np.linalg.eigvalsh(p)) > 0
    assert max(norms(generator, (0, Q(1, 3), 1, 2, 5, 40))) <= float(metric.bound.upper) * (1 + 1e-12)


@pytest.mark.parametrize("generator", GROWS, ids=lambda one: f"n{one.dim}")
def test_a_growing_flow_has_no_metric_and_names_what_grows(generator):
    assert generator.metric() is None
    found = generator.bounded()
    assert not found.forward
    assert found.witnesses
    assert all(growth.verdict.status is Status.PROVED for growth in found.witnesses)


def test_a_companion_entry_named_as_unbounded_does_grow():
    generator = Generator.direct_sum(CompanionBlock(over_q(x**3 - x - 1)))
    (forward, backward) = generator.bounded().witnesses
    for growth, sign in ((forward, 1), (backward, -1)):
        (place,) = growth.entries
        near, far = (abs(ball_exp(generator, sign * time, 60)[place].mid()) for time in (10, 60))
        assert far > 100 * near


def test_imaginary_companion_roots_are_bounded_once_and_slide_when_repeated():
    quartic = over_q(x**4 + 10 * x**2 + 1)
    assert Generator.direct_sum(CompanionBlock(quartic)).bounded().all_times
    found = Generator.direct_sum(CompanionBlock(quartic, 2)).bounded()
    assert (found.forward, found.backward) == (False, False)


@pytest.mark.parametrize(
    ("matrix", "isometric"),
    [([[0, w], [-w, 0]], True), ([[-g, w], [-w, -g]], False), ([[6, -15], [3, -6]], False), ([[0]], True)],
)
def test_lengths_are_kept_exactly_by_skew_matrices(matrix, isometric):
    assert Generator(matrix).isometric is isometric


def test_symbolic_rates_have_a_metric_too():
    assert Generator([[0, w], [-w, 0]]).metric().matrix == sp.eye(2)
    slide = Generator([[-g, 1], [0, -g]]).metric()
    assert slide.matrix == sp.diag(1, g**-2)
    assert slide.bound is None
    spring = Generator([[0, 1], [-w, 0]]).metric().matrix
    assert sp.simplify(spring / spring[1, 1]) == sp.diag(w, 1)  # the energy w·x² + v²
