"""Forgetting attention: printed sums of gates, what is added to the logit, one token off, refused gates."""

import math

import pytest
import sympy as sp
from exptx.symbolic import BadInput, Status, WrongType, encoding

GATES = [sp.Rational(k, 10) for k in (9, 8, 7, 6)]
t, s, u = sp.symbols("t s u", real=True)


def logit_bias(entry, query, key):
    """The logit for q = k = 0."""
    zero = [0] * entry.head_dim
    return entry.scale * entry.score(query, key, q=zero, k=zero)


@pytest.mark.parametrize(
    ("pair", "inclusive", "digits"),
    [
        ((3, 0), True, "-1.090644119018933"),
        ((3, 1), True, "-0.8675005677047231"),
        ((3, 0), False, "-0.6851790109107684"),
    ],
)
def test_the_sum_of_logarithms_has_its_printed_digits(rounds_to, pair, inclusive, digits):
    entry = encoding("fox", head_dim=4, forget=GATES, inclusive=inclusive)
    assert rounds_to(logit_bias(entry, *pair), digits)


@pytest.mark.parametrize("scale", [None, sp.Rational(1, 7)])
def test_the_bias_is_added_after_the_scale(scale):
    entry = encoding("fox", head_dim=3, forget=GATES, scale=scale)
    content = entry.scale * entry.score(2, 2, q=[1, 2, 3], k=[3, 2, 1])
    assert content == 10 * (scale or 1 / sp.sqrt(3))
    whole = entry.scale * entry.score(2, 0, q=[1, 2, 3], k=[3, 2, 1])
    assert abs((whole - content).n(20) - math.log(0.8 * 0.7)) < 1e-14


def test_attention_is_that_of_the_running_product_of_gates():
    """Weights e^{q·k/√d} f(s+1) ⋯ f(t), as a loop over tokens has them."""
    entry = encoding("fox", head_dim=1, forget=GATES)
    keys, query = [2, -1, 1, 3], 2
    carried: list[float] = []
    for gate, key in zip((0.9, 0.8, 0.7, 0.6), keys, strict=True):
        carried = [weight * gate for weight in carried] + [math.exp(query * key)]
    for position, weight in enumerate(carried):
        logit = entry.scale * entry.score(3, position, q=[query], k=[keys[position]])
        assert math.isclose(math.exp(float(logit)), weight, rel_tol=1e-13)


def test_its_row_of_the_map(row):
    assert row(encoding("fox", head_dim=2)) == ["cocycle", "in-its-clock", "in-its-clock", "no", "no"]


def test_equal_gaps_with_other_gates_refute_positions():
    verdict = encoding("fox", head_dim=2, forget=GATES).is_relative()
    assert verdict.status is Status.REFUTED
    key, gap = int(verdict.witness[s]), int(verdict.witness[u])
    sums = [sum(math.log(float(f)) for f in GATES[key + 1 : key + gap + 1]) for key in (key, 0)]
    assert abs(sums[0] - sums[1]) > 0.01


def test_constant_gates_are_alibi():
    constant = encoding("fox", head_dim=4, forget=[sp.exp(-sp.Rational(1, 4))] * 6)
    alibi = encoding("alibi", head_dim=4, slope=sp.Rational(1, 4))
    q, k = [1, 0, 2, 3], [5, 1, 1, 1]
    assert constant.is_relative().status is Status.PROVED
    assert sp.expand(constant.score(5, 2, q=q, k=k) - alibi.score(5, 2, q=q, k=k)) == 0


@pytest.mark.parametrize(
    ("forget", "error", "words"),
    [
        ([1, 0], BadInput, "erases everything"),
        ([sp.Rational(3, 2)], BadInput, "at most 1"),
        ([-1], BadInput, "at most 1"),
        ([0.5], WrongType, "float"),
        (0.5, WrongType, "list"),
        ([], WrongType, "list"),
    ],
)
def test_gates_outside_zero_and_one_are_refused(forget, error, words):
    with pytest.raises(error, match=words):
        encoding("fox", head_dim=2, forget=forget)
