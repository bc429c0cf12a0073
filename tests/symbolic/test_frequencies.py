"""Frequencies from `rope_parameters`: which rule a mapping means, floats as written, what is refused."""

import itertools

import pytest
import sympy as sp
from exptx.symbolic.errors import BadInput, ExptxError, WrongType
from exptx.symbolic.frequencies import Frequencies, frequencies
from exptx.symbolic.ramps import llama3, yarn, yarn_attention
from exptx.symbolic.scaling import dynamic, linear, longrope, longrope_attention, proportional, rotary


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
    ("written", "base"),
    [(500000.0, 500_000), (1e6, 10**6), (1e23, 10**23), (10000, 10_000), (10000.1, sp.Rational(100_001, 10))],
)
def test_a_float_in_a_config_is_the_number_that_was_written(written, base):
    assert frequencies({"rope_type": "default", "rope_theta": written}, 64) == frequencies(base, 64)


def test_a_positive_symbol_is_a_base():
    b = sp.Symbol("b", positive=True)
    assert frequencies(b, 4) == Frequencies((sp.S.One, b ** sp.Rational(-1, 2)))


# ------------------------------------------------------------------------- one rule a rope_type

YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 16.0, "original_max_position_embeddings": 4096}
LLAMA = {
    "rope_type": "llama3",
    "rope_theta": 500000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
LONG = {
    "type": "longrope",
    "rope_theta": 10000.0,
    "short_factor": [1.0, 1.1],
    "long_factor": [1.0, 2.5],
    "original_max_position_embeddings": 4096,
}
TENTH, HALF = sp.Rational(1, 10), sp.Rational(1, 2)

MEANT = [
    ({"rope_type": "linear", "rope_theta": 1e4, "factor": 0.1}, {}, linear(10_000, 8, TENTH)),
    ({"type": "linear", "rope_theta": 1e4, "factor": 4}, {}, linear(10_000, 8, 4)),
    (
        {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0},
        {"max_position_embeddings": 2048, "seq_len": 4096},
        dynamic(10_000, 8, 2, 2048, 4096),
    ),
    (
        {"rope_type": "dynamic", "rope_theta": 1, "factor": 2.0, "original_max_position_embeddings": 2048.0},
        {"seq_len": 4096},
        dynamic(1, 8, 2, 2048, 4096),
    ),
    (YARN, {"max_position_embeddings": 4096}, yarn(10_000, 8, 16, 4096)),
    (YARN | {"factor": None}, {"max_position_embeddings": 65536}, yarn(10_000, 8, 16, 4096)),
    (YARN | {"truncate": False}, {}, yarn(10_000, 8, 16, 4096, truncate=False)),
    (
        YARN | {"beta_fast": 16.0, "beta_slow": 0.5},
        {},
        yarn(10_000, 8, 16, 4096, beta_fast=16, beta_slow=HALF),
    ),
    (YARN | {"attention_factor": 1.5}, {}, yarn(10_000, 8, 16, 4096, attention_factor=sp.Rational(3, 2))),
    (
        YARN | {"mscale": 0.707, "mscale_all_dim": 0.5},
        {},
        yarn(10_000, 8, 16, 4096, attention_factor=yarn_attention(16, sp.Rational(707, 1000), HALF)),
    ),
    (YARN | {"partial_rotary_factor": 0.5}, {}, yarn(10_000, 4, 16, 4096)),
    (LLAMA, {}, llama3(500_000, 8, 8, 8192, 1, 4)),
    ({"rope_type": "proportional", "rope_theta": 1e6}, {}, proportional(10**6, 8, 1)),
    (
        {"rope_type": "proportional", "rope_theta": 1e6, "partial_rotary_factor": 0.25, "factor": 2.0},
        {},
        proportional(10**6, 8, sp.Rational(1, 4), 2),
    ),
    ({"rope_theta": 1e4, "partial_rotary_factor": 1.0}, {}, rotary(10_000, 8)),
]


@pytest.mark.parametrize(("given", "lengths", "expected"), MEANT)
def test_a_mapping_means_its_rule_with_its_numbers_as_written(given, lengths, expected):
    found = frequencies(given, 8, **lengths)
    assert found == expected
    assert not any(w.has(sp.Float) for w in found.exact)


@pytest.mark.parametrize(("seq_len", "second"), [(1, (11, 10)), (4096, (11, 10)), (4097, (5, 2))])
def test_longrope_divides_by_the_short_factors_up_to_the_original_length(seq_len, second):
    found = frequencies(LONG, 4, seq_len=seq_len, max_position_embeddings=131072)
    assert found == longrope(10_000, 4, [1, sp.Rational(*second)], longrope_attention(32, 4096))
    assert frequencies(LONG | {"factor": 32.0}, 4, seq_len=seq_len) == found
    assert frequencies(LONG | {"attention_factor": 1.0}, 4, seq_len=seq_len).attention_factor == 1


def test_one_mapping_a_layer_type_is_chosen_by_name():
    layers = {"full_attention": YARN, "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}
    assert frequencies(layers, 8, layer_type="full_attention") == frequencies(YARN, 8)
    assert frequencies(layers, 8, layer_type="sliding_attention") == rotary(10_000, 8)


LAYERS = {"full": {"rope_theta": 1}, "local": {"rope_theta": 2}}

REFUSED = [
    (lambda: frequencies({"rope_type": "rope", "rope_theta": 1}, 4), BadInput, ["'rope', which is unknown"]),
    (lambda: frequencies({"rope_type": ["yarn"], "rope_theta": 1}, 4), BadInput, ["unknown", "llama3"]),
    (lambda: frequencies(YARN | {"type": "linear"}, 4), BadInput, ["'yarn'", "'linear'", "one of them"]),
    (lambda: frequencies(YARN | {"attn_factor": 1}, 4), BadInput, ["attn_factor", "attention_factor"]),
    (lambda: frequencies(YARN | {"factor": None}, 4), BadInput, ["no factor", "max_position_embeddings="]),
    (
        lambda: frequencies(YARN | {"original_max_position_embeddings": None}, 4),
        BadInput,
        ["no original_max_position_embeddings", "'yarn' needs"],
    ),
    (lambda: frequencies(YARN | {"truncate": 1}, 4), WrongType, ["truncate is 1", "True or False"]),
    (
        lambda: frequencies(YARN | {"attention_factor": 1.0, "mscale": 1.0}, 4),
        BadInput,
        ["attention_factor and mscale", "give one"],
    ),
    (lambda: frequencies(YARN | {"mscale": 0.707}, 4), BadInput, ["mscale is 707/1000", "DeepSeek"]),
    (lambda: frequencies(YARN | {"factor": float("inf")}, 4), BadInput, ["factor is inf"]),
    (lambda: frequencies(YARN | {"factor": "16"}, 4), WrongType, ["factor"]),
    (
        lambda: frequencies(YARN | {"original_max_position_embeddings": 4096.5}, 4),
        WrongType,
        ["original_max_position_embeddings is 8193/2", "whole number"],
    ),
    (lambda: frequencies(YARN | {"partial_rotary_factor": 0.3}, 4), BadInput, ["3/10", "rotates 1 of 4"]),
    (lambda: frequencies(YARN | {"partial_rotary_factor": 1.5}, 4), BadInput, ["3/2", "6 of 4"]),
    (lambda: frequencies(YARN | {"partial_rotary_factor": 0.75}, 4), BadInput, ["3/4", "rotates 3 of 4"]),
    (
        lambda: frequencies({"rope_theta": 1, "partial_rotary_factor": 0.5}, 4),
        BadInput,
        ["partial_rotary_factor is 1/2", "some models ignore", "'proportional'"],
    ),
    (
        lambda: frequencies({"rope_type": "dynamic", "rope_theta": 1, "factor": 2}, 4, seq_len=9),
        BadInput,
        ["needs max_position_embeddings="],
    ),
    (
        lambda: frequencies(
            {"rope_type": "dynamic", "rope_theta": 1, "factor": 2}, 4, max_position_embeddings=9
        ),
        BadInput,
        ["current length", "seq_len="],
    ),
    (
        lambda: frequencies(
            {"type": "dynamic", "rope_theta": 1, "factor": 2, "original_max_position_embeddings": 8},
            4,
            max_position_embeddings=9,
            seq_len=9,
        ),
        BadInput,
        ["is 8", "is 9", "give it once"],
    ),
    (lambda: frequencies(LONG | {"factor": 32.0}, 4), BadInput, ["current length", "seq_len="]),
    (lambda: frequencies(LONG, 4, seq_len=1), BadInput, ["no factor", "max_position_embeddings="]),
    (lambda: frequencies(LONG | {"factor": 2}, 8, seq_len=1), BadInput, ["2 factors", "4 planes"]),
    (lambda: frequencies(LAYERS, 4), BadInput, ["layer_type is None", "full, local"]),
    (lambda: frequencies(LAYERS, 4, layer_type="ful"), BadInput, ["layer_type is 'ful'", "full, local"]),
    (lambda: frequencies(LAYERS | {"factor": 2}, 4, layer_type="full"), BadInput, ["mixes keys"]),
    (lambda: frequencies({"rope_theta": 1}, 4, layer_type="full"), BadInput, ["not given by layer type"]),
    (lambda: frequencies(10_000, 4, layer_type="full"), BadInput, ["layer_type is 'full'", "base"]),
    (lambda: frequencies(10_000, 4, seq_len=0), BadInput, ["seq_len is 0"]),
    (lambda: frequencies(10_000, 4, max_position_embeddings=4.0), WrongType, ["max_position_embeddings"]),
    (lambda: frequencies({"rope_type": "linear", "factor": 2.0}, 4), BadInput, ["no rope_theta"]),
    (
        lambda: frequencies({"rope_type": "linear"}, 4),
        BadInput,
        ["no rope_theta, no factor", "'linear' needs"],
    ),
    (
        lambda: frequencies(10_000, 4, rotary_dim=2),
        WrongType,
        ["takes no rotary_dim=", "number of features that turn as head_dim"],
    ),
    (
        lambda: frequencies(10_000, 4, factor=2),
        WrongType,
        ["takes no factor=", "key of rope_parameters, e.g. {'rope_theta': 10000, 'factor': …}"],
    ),
    (lambda: frequencies(10_000, 4, head=2), WrongType, ["takes no head=", "seq_len= and layer_type="]),
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
