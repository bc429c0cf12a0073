"""Frequencies of a config: every rule, every key, the order of calls; and what is refused."""

from __future__ import annotations

import math

import pytest
import torch
from exptx.proofs import Claims, check
from exptx.proofs.doctor.frequencies.varied import varied
from exptx.symbolic import read_config
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

PLAIN = {"model_type": "llama", "hidden_size": 256, "num_attention_heads": 4, "rope_theta": 10000.0}
YARN = {
    **PLAIN,
    "max_position_embeddings": 65536,
    "rope_scaling": {"rope_type": "yarn", "factor": 16.0, "original_max_position_embeddings": 4096},
}


def claims(config):
    encoding = read_config(config).group().encoding
    return Claims(encoding, encoding.head_dim, config=config)


def of_transformers(config, seq_len):
    given = LlamaConfig(**{key: value for key, value in config.items() if key != "model_type"})
    kind = given.rope_parameters["rope_type"]
    if kind == "default":
        return LlamaRotaryEmbedding.compute_default_rope_parameters(given)
    return ROPE_INIT_FUNCTIONS[kind](given, None, seq_len=seq_len)


def plain(config, seq_len):
    given = config.get("rope_scaling") or {}
    if given.get("rope_type", "default") != "default":
        raise ValueError(given["rope_type"])
    d = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    return config["rope_theta"] ** (-torch.arange(0, d, 2).float() / d)


def test_transformers_is_right_under_every_rule_that_is_tried():
    found = check(of_transformers, kind="inv_freq")
    assert found.ok, found.findings
    assert found.identity == "frequencies by the rules default, linear, dynamic, yarn, llama3, longrope"


def test_a_function_of_one_rule_is_right_where_that_rule_is_claimed():
    found = check(plain, claims(PLAIN), kind="inv_freq")
    assert found.ok, found.findings


def test_rules_that_a_function_refuses_are_said_and_no_finding():
    def only_linear(config, seq_len):
        if config["rope_parameters"]["rope_type"] != "linear":
            raise ValueError("linear alone")
        return of_transformers(config, seq_len)

    found = check(only_linear, kind="inv_freq")
    assert found.ok, found.findings
    assert found.identity == "frequencies by the rules linear"
    assert sum("not offered" in said for said in found.unjudged) == 5


def test_an_amplitude_that_is_left_out_is_found():
    def unscaled(config, seq_len):
        return of_transformers(config, seq_len)[0], 1.0

    (finding,) = check(unscaled, claims(YARN), kind="inv_freq").findings
    assert (finding.code, finding.cause) == ("amplitude", "it is not applied")
    assert finding.residual == pytest.approx(0.1 * math.log(16.0))


def test_a_key_that_is_not_read_is_named():
    def fixed_beta(config, seq_len):
        given = {k: v for k, v in config["rope_scaling"].items() if k != "beta_fast"}
        return of_transformers({**config, "rope_scaling": given}, seq_len)

    told = {**YARN, "rope_scaling": {**YARN["rope_scaling"], "beta_fast": 32.0}}
    (finding,) = check(fixed_beta, claims(told), kind="inv_freq").findings
    assert finding.code == "config-key"
    assert "beta_fast" in finding.where


def test_every_number_of_a_config_is_changed_once():
    names = [name for name, _ in varied(YARN)]
    assert names == ["rope_theta", "factor", "original_max_position_embeddings", "max_position_embeddings"]
    assert all(changed != YARN for _, changed in varied(YARN))


def test_what_returns_no_frequencies_is_a_finding():
    (finding,) = check(lambda config, seq_len: "none", claims(PLAIN), kind="inv_freq").findings
    assert finding.code == "call"
