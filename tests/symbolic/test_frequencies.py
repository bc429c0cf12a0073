"""The default rotary frequencies: exact values, enclosures against published decimals, refusals."""

import itertools

import pytest
import sympy as sp
from exptx.symbolic.balls import enclose
from exptx.symbolic.errors import BadInput, ExptxError, WrongType
from exptx.symbolic.frequencies import Frequencies, frequencies

# Computed at 40 digits with another library: head size 128.
PUBLISHED = [
    (10_000, 1, "0.8659643233600654"),
    (10_000, 63, "0.0001154781984689458"),
    (500_000, 1, "0.8146172338565447"),
    (500_000, 32, "0.001414213562373095"),
    (1_000_000, 16, "0.03162277660168379"),
    (1_000_000, 63, "0.000001240937760751720"),
]


@pytest.mark.parametrize(("base", "plane", "decimal"), PUBLISHED)
def test_the_frequencies_of_a_base_lie_where_the_decimals_say(base, plane, decimal):
    found = enclose(frequencies(base, 128).exact[plane], 20)
    expected = sp.Rational(decimal)
    assert abs((found.lower + found.upper) / 2 - expected) < expected * sp.Rational(1, 10**15)


@pytest.mark.parametrize("head_dim", [2, 4, 64, 128, 256])
def test_the_first_frequency_is_one_and_they_fall_in_equal_ratios(head_dim):
    w = frequencies(10_000, head_dim).exact
    assert len(w) == head_dim // 2
    assert w[0] == 1
    ratio = sp.Integer(10_000) ** sp.Rational(-2, head_dim)
    assert all(sp.simplify(b / a - ratio) == 0 for a, b in itertools.pairwise(w))


def test_a_frequency_to_the_power_d_is_a_power_of_the_base():
    for k, w in enumerate(frequencies(10_000, 16)):
        assert w**16 == sp.Integer(10_000) ** (-2 * k)


def test_a_mapping_and_its_base_mean_the_same():
    given = {"rope_type": "default", "rope_theta": 500_000}
    assert frequencies(given, 64) == frequencies(500_000, 64) == frequencies({"rope_theta": 500_000}, 64)
    assert frequencies(given, 64).attention_factor == 1


@pytest.mark.parametrize(
    ("written", "base"), [(500000.0, 500_000), (1e6, 10**6), (1e23, 10**23), (10000, 10_000)]
)
def test_a_whole_float_in_a_config_is_the_number_that_was_written(written, base):
    assert frequencies({"rope_type": "default", "rope_theta": written}, 64) == frequencies(base, 64)


def test_a_positive_symbol_is_a_base():
    b = sp.Symbol("b", positive=True)
    assert frequencies(b, 4) == Frequencies((sp.S.One, b ** sp.Rational(-1, 2)))


REFUSED = [
    (
        lambda: frequencies({"rope_type": "yarn", "rope_theta": 1}, 4),
        BadInput,
        ["rope_type is 'yarn', which is not built", "this version computes only the default rule"],
    ),
    *(
        (
            lambda kind=kind: frequencies({"rope_type": kind, "rope_theta": 1e6, "factor": 8.0}, 4),
            BadInput,
            [f"rope_type is '{kind}', which is not built", "only the default rule"],
        )
        for kind in ("linear", "dynamic", "longrope", "llama3", "proportional")
    ),
    (lambda: frequencies({"type": "linear", "factor": 2.0}, 4), BadInput, ["'linear'", "not built"]),
    (lambda: frequencies({"rope_type": "rope", "rope_theta": 1}, 4), BadInput, ["'rope', which is unknown"]),
    (
        lambda: frequencies({"rope_theta": 10000.5}, 4),
        WrongType,
        ["rope_theta is 10000.5", "float", "write Rational(20001, 2)"],
    ),
    (lambda: frequencies({"rope_theta": -2.0}, 4), BadInput, ["rope_theta is -2", "positive"]),
    (lambda: frequencies({"rope_theta": float("inf")}, 4), BadInput, ["rope_theta is inf"]),
    (
        lambda: frequencies({"rope_theta": True}, 4),
        WrongType,
        ["rope_theta", "True"],
    ),
    (
        lambda: frequencies({"rope_theta": 10, "factor": 2, "beta": 1}, 4),
        BadInput,
        ["beta, factor", "rope_theta"],
    ),
    (lambda: frequencies({"rope_type": "default"}, 4), BadInput, ["rope_theta"]),
    (lambda: frequencies(10_000, 5), BadInput, ["head_dim is 5", "odd", "4 or 6"]),
    (lambda: frequencies(10_000, 0), BadInput, ["head_dim is 0"]),
    (lambda: frequencies(10_000, 4.0), WrongType, ["head_dim is 4.0", "e.g. 4"]),
    (lambda: frequencies(10_000, True), WrongType, ["head_dim is True"]),
    (lambda: frequencies(10_000.0, 4), WrongType, ["rope_theta is 10000.0", "float", "write 10000"]),
    (lambda: frequencies(float("nan"), 4), BadInput, ["rope_theta", "nan"]),
    (lambda: frequencies(0, 4), BadInput, ["rope_theta is 0", "positive"]),
    (lambda: frequencies(-3, 4), BadInput, ["rope_theta is -3", "positive"]),
    (lambda: frequencies(sp.Symbol("b"), 4), BadInput, ["rope_theta", "positive=True"]),
    (lambda: frequencies(None, 4), WrongType, ["rope_theta"]),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSED)
def test_a_refusal_names_the_argument_and_what_would_work(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, ExptxError)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert "\n" not in str(caught.value)
