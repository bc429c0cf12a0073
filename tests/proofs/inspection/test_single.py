"""The float32 frequencies of transformers are within the error that is carried through each recipe."""

from math import log, pi
from types import SimpleNamespace

import pytest
import torch
from exptx.numeric.constants import nearest_float
from exptx.numeric.hf_rules import hf_frequencies
from exptx.proofs.inspection.single import U, relative_errors
from exptx.symbolic.configs.read import read_config
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

BASES = st.floats(100, 1e8) | st.sampled_from([10000.0, 500000.0, 1000000.0, 150000, 5e6])
DIMS = st.sampled_from([4, 8, 64, 80, 96, 128, 192, 256])
FACTORS = st.floats(1, 128) | st.sampled_from([2.0, 4.0, 8.0, 32.0, 40.0])
FIRST = st.sampled_from([2048, 4096, 8192, 32768, 131072])


@st.composite
def rules(draw):
    """(head_dim, rope_parameters, length of the text), the model's length being four times the original."""
    dim, base, factor, first = draw(DIMS), draw(BASES), draw(FACTORS), draw(FIRST)
    one = {"rope_theta": base, "factor": factor, "original_max_position_embeddings": first}
    low = draw(st.floats(0.5, 4))
    kind = draw(
        st.sampled_from(["default", "linear", "dynamic", "yarn", "llama3", "longrope", "proportional"])
    )
    used = {
        "default": {},
        "linear": {"factor"},
        "dynamic": {"factor"},
        "proportional": {"factor"},
        "longrope": {"original_max_position_embeddings"},
    }.get(kind, {"factor", "original_max_position_embeddings"})
    one = {"rope_type": kind, **{k: v for k, v in one.items() if k in used or k == "rope_theta"}}
    if kind == "llama3":
        one |= {"low_freq_factor": low, "high_freq_factor": low + draw(st.floats(0.5, 8))}
    if kind == "yarn":
        one |= {"beta_fast": draw(st.floats(8, 64)), "truncate": draw(st.booleans())}
        turns = log(first / (2 * pi * one["beta_fast"])) / log(base)  # the ramp begins at turns · dim/2
        assume(0.01 < turns < 1)
    if kind == "longrope":
        lists = st.lists(st.floats(1, 64), min_size=dim // 2, max_size=dim // 2)
        one |= {"short_factor": draw(lists), "long_factor": draw(lists)}
    if kind == "proportional":
        one |= {"partial_rotary_factor": draw(st.sampled_from([0.25, 0.5, 1.0]))}
    return dim, one, draw(st.sampled_from([1, first, first + 1, 3 * first]))


def theirs(config, length):
    """inv_freq and amplitude that transformers computes, which reads the config through attributes."""
    rule = config["rope_parameters"]["rope_type"]
    seen = SimpleNamespace(**config, standardize_rope_params=lambda: None)
    if rule == "default":
        return LlamaRotaryEmbedding.compute_default_rope_parameters(seen)
    return ROPE_INIT_FUNCTIONS[rule](seen, seq_len=length if rule == "longrope" else torch.tensor(length))


@settings(max_examples=80, deadline=None)
@given(rules())
def test_transformers_is_within_the_error_carried_through_its_own_recipe(drawn):
    dim, one, length = drawn
    longest = 4 * one.get("original_max_position_embeddings", 2048)
    config = {"head_dim": dim, "rope_parameters": one, "max_position_embeddings": longest}
    config |= {"hidden_size": dim, "num_attention_heads": 1}
    encoding = read_config(config).group().encoding
    exact = [nearest_float(w) for w in encoding.frequencies(length)]
    waves, amplitude = theirs({**config, "rope_parameters": dict(one)}, length)
    bounds = relative_errors(encoding, length)
    for k, (w, got, bound) in enumerate(zip(exact, waves.tolist(), bounds, strict=True)):
        assert abs(got - w) <= bound * w + 2.0**-50 * w, (k, one["rope_type"], got, w)
    assert amplitude == pytest.approx(float(encoding.frequencies(length).attention_factor), rel=2.0**-50)


@settings(max_examples=40, deadline=None)
@given(DIMS, BASES, FACTORS, st.sampled_from(["default", "linear"]))
def test_the_plain_table_and_the_linear_rule_are_within_three_roundings_and_ln_b(dim, base, factor, rule):
    one = {"rope_type": rule, "rope_theta": base, **({"factor": factor} if rule == "linear" else {})}
    config = {"head_dim": dim, "rope_parameters": one, "max_position_embeddings": 4096}
    encoding = read_config(config).group().encoding
    waves, _ = theirs(config, 1)
    for w, got in zip(encoding.frequencies(), waves.tolist(), strict=True):
        exact = nearest_float(w)
        assert abs(got - exact) <= (3 + log(base)) * U * exact


@settings(max_examples=80, deadline=None)
@given(rules())
def test_hf_frequencies_are_those_of_transformers_to_the_last_bit(drawn):
    dim, one, length = drawn
    longest = 4 * one.get("original_max_position_embeddings", 2048)
    config = {"head_dim": dim, "rope_parameters": one, "max_position_embeddings": longest}
    config |= {"hidden_size": dim, "num_attention_heads": 1}
    ours, scaling = hf_frequencies(read_config(config).group().encoding, length)
    waves, amplitude = theirs({**config, "rope_parameters": dict(one)}, length)
    assert torch.equal(ours, waves)
    assert scaling == amplitude
