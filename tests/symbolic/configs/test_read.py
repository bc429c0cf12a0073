"""Configs in, facts about positions out: frequencies of written formulas, layers, amplitudes, refusals."""

import copy

import pytest
from exptx.symbolic import BadInput, WrongType
from exptx.symbolic.configs.description import Alibi, Learned, Rotary, Unrotated
from exptx.symbolic.configs.read import read_config

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "max_position_embeddings": 131072,
    "rope_theta": 500000.0,
    "rope_scaling": {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
}


def rates(encoding, length=None):
    return [float(w) for w in encoding.frequencies(length)]


def test_llama_3_has_its_published_table():
    """29 planes kept, 6 blended, 29 divided by 8."""
    (group,) = read_config(LLAMA).groups
    assert group.indices == tuple(range(32))
    known = {28: 0.003211445994752591, 31: 0.0008567514129196321, 35: 9.556212353964683e-5}
    known |= {29: 0.002166570763503359, 32: 0.0005248461609929547, 63: 3.068925988914511e-7}
    known |= {30: 0.001371893567761138, 33: 0.0003126937503840651, 34: 0.0001785078127679964}  # mpmath
    got = rates(group.encoding)
    assert {k: got[k] for k in known} == pytest.approx(known, rel=1e-15)
    assert group.encoding.interleaved is False


def moved_inside(config):
    """The same config as version 5 writes it."""
    new = copy.deepcopy(config)
    new["rope_parameters"] = {**new.pop("rope_scaling"), "rope_theta": new.pop("rope_theta")}
    return new


def test_both_versions_of_a_config_say_the_same():
    old, new = read_config(LLAMA), read_config(moved_inside(LLAMA))
    assert old.groups[0].encoding.frequencies() == new.groups[0].encoding.frequencies()


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"rope_theta": True}, WrongType, "rope_theta is True; a number works"),
        ({"rope_theta": "500000"}, WrongType, "rope_theta is .*500000"),
        ({"rope_theta": float("nan")}, BadInput, "rope_theta is nan"),
        ({"rope_theta": -1.0}, BadInput, "rope_theta is -1"),
        ({"hidden_size": 4095}, BadInput, "hidden_size 4095 is no multiple of num_attention_heads 32"),
        ({"hidden_size": "big"}, WrongType, "hidden_size is 'big'"),
        ({"num_hidden_layers": 2.5}, WrongType, "num_hidden_layers is 2.5"),
        ({"num_hidden_layers": 10**9}, BadInput, "num_hidden_layers is 1000000000"),
        ({"rope_scaling": [1]}, WrongType, r"rope_scaling is \[1\]; a mapping works"),
        ({"rope_scaling": {"rope_type": "llama4"}}, BadInput, "rope_type is 'llama4', which is unknown"),
        ({"rope_scaling": {"type": "ntk", "factor": 2.0}}, BadInput, r"vLLM's static rule \(b·s\)"),
        ({"rope_scaling": {"type": "linear"}}, BadInput, "has no factor, which rope_type 'linear' needs"),
        (
            {"rope_scaling": {"type": "linear", "factor": 2.0, "alpha_max": 1}},
            BadInput,
            "unknown keys: alpha_max",
        ),
        (
            {"rope_scaling": {"type": "linear", "rope_type": "yarn", "factor": 2.0}},
            BadInput,
            "rope_type is 'yarn' and type is 'linear'; give one of them",
        ),
        (
            {"rope_parameters": {"rope_type": "linear", "factor": 2.0}, "rope_scaling": {"factor": 4.0}},
            BadInput,
            "factor is 4.0 in rope_scaling and 2.0 in rope_parameters",
        ),
        (
            {"rope_scaling": {"rope_type": "linear", "factor": 2.0, "rope_theta": 10000.0}},
            BadInput,
            "rope_theta is 10000.0 in rope_parameters and 500000.0 beside it; give it once",
        ),
        ({"max_position_embeddings": 4096}, BadInput, "the length of training is at most the model's"),
        ({"rope_scaling_factor": 3}, BadInput, "config has rope_scaling_factor, unknown here"),
        ({"layer_types": ["full_attention"]}, BadInput, "layer_types has 1 entries, but there are 32 layers"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(change, error, words):
    with pytest.raises(error, match=words):
        read_config({**LLAMA, **change}).groups[0].encoding.frequencies()


@pytest.mark.parametrize("config", [None, 3, [LLAMA], {1: 2}])
def test_what_is_no_config_is_refused(config):
    with pytest.raises(WrongType, match="config"):
        read_config(config)


def test_kinds_of_encoding_are_told_apart():
    bloom = {"model_type": "bloom", "n_head": 16, "hidden_size": 1536, "n_layer": 24, "seq_length": 2048}
    gpt2 = {"model_type": "gpt2", "n_head": 12, "n_embd": 768, "n_layer": 12, "n_positions": 1024}
    jamba = {"model_type": "jamba", "num_hidden_layers": 32}
    kinds = [type(read_config(config).groups[0].encoding) for config in (LLAMA, bloom, gpt2, jamba)]
    assert kinds == [Rotary, Alibi, Learned, Unrotated]


def test_amplitudes_of_short_and_long_texts_change_after_the_original_length():
    """As Phi-3.5-MoE has it: short_mscale up to L0 positions, long_mscale beyond."""
    one = {"type": "longrope", "short_factor": [1.0, 1.0], "long_factor": [1.0, 8.0], "short_mscale": 1.25}
    one |= {"long_mscale": 1.5, "original_max_position_embeddings": 64}
    config = {"head_dim": 4, "rope_theta": 1e4, "rope_scaling": one, "max_position_embeddings": 512}
    encoding = read_config(config).group().encoding
    assert [float(encoding.frequencies(n).attention_factor) for n in (1, 64, 65)] == [1.25, 1.25, 1.5]


@pytest.mark.parametrize(
    ("rule", "planes", "held"),
    [("default", 32, 0), ("linear", 16, 0), ("proportional", 32, 16)],
)
def test_llama_takes_a_partial_factor_in_three_ways(rule, planes, held):
    """As its code in transformers does: ignored, the head made narrower, planes left still."""
    one = {"rope_type": rule, "rope_theta": 1e4, "partial_rotary_factor": 0.5, "factor": 2.0}
    if rule == "default":
        del one["factor"]
    model = read_config({"model_type": "llama", "head_dim": 64, "rope_parameters": one})
    got = rates(model.group().encoding)
    assert (len(got), got.count(0.0)) == (planes, held)
    assert rule == "proportional" or "partial_rotary_factor" in dict(model.notes)


@pytest.mark.parametrize("key", ["partial_rotary_factor", "rotary_pct"])
@pytest.mark.parametrize(
    ("model_type", "features", "words"),
    [
        (None, 16, "some models ignore the key, and there is no model_type"),
        ("mine", 16, "some models ignore the key, and model_type 'mine' is not known"),
        ("gpt_neox", 16, "16 of 64 features turn"),
        ("llama", 64, "model_type 'llama' ignores it with rope_type 'default': all 64 features turn"),
    ],
)
def test_a_share_is_taken_at_its_word_but_where_the_model_is_known_to_ignore_it(
    key, model_type, features, words
):
    """Taken at its word: as the same number of features, given outright."""
    config = {"head_dim": 64, "rope_theta": 1e4, "model_type": model_type}
    model = read_config({**config, key: 0.25})
    assert words in dict(model.notes)[key]
    same = read_config({**config, "rotary_dim": features, "model_type": None}).group().encoding
    assert model.group().encoding.rotary_dim == same.rotary_dim == features
    assert model.group().encoding.frequencies() == same.frequencies()


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"rotary_pct": 0.3}, "rotary_pct makes 19 of 64 features turn; an even number from 2 to 64"),
        ({"rotary_pct": 2}, "rotary_pct is 2; a number above 0 and at most 1 works"),
        ({"partial_rotary_factor": -1}, "partial_rotary_factor is -1; a number above 0"),
        ({"rotary_dim": 7}, "rotary_dim makes 7 of 64 features turn"),
        ({"rotary_dim": 8, "rotary_pct": 0.5}, "rotary_dim is 8, but rotary_pct is 0.5, which is 32 of 64"),
        (
            {"partial_rotary_factor": 0.25, "rotary_pct": 0.5},
            "partial_rotary_factor is 0.25 and rotary_pct is 0.5; give one of them",
        ),
    ],
)
def test_a_share_that_is_refused_is_called_by_the_key_that_was_written(keys, words):
    with pytest.raises(BadInput, match=words):
        read_config({"head_dim": 64, "rope_theta": 1e4, **keys})


def test_a_layer_type_is_refused_where_the_config_has_none_or_others():
    plain = read_config({"head_dim": 64, "rope_theta": 1e4})
    with pytest.raises(BadInput, match="is 'full'; config has one kind of layer, so leave it out"):
        plain.group("full")
    one = {"rope_theta": 1e4}
    typed = read_config({"head_dim": 64, "rope_parameters": {"full": one, "sliding": one}})
    with pytest.raises(BadInput, match="is 'ful'; config has full, sliding"):
        typed.group("ful")


@pytest.mark.parametrize(
    ("name", "value", "key", "words"),
    [
        ("head_dim", 96, "head_dim", "96, as written, and not hidden_size / num_attention_heads = 128"),
        ("max_position_embeddings", 65536, None, None),
        ("max_position_embeddings", 131072, "factor", "8.0, as written, and not max over original length"),
    ],
)
def test_keys_with_two_meanings_are_explained(name, value, key, words):
    told = dict(read_config({**LLAMA, name: value}).notes)
    assert words is None or words in told[key]
    assert words is not None or not told


def test_layers_of_several_types_have_to_be_chosen_from():
    gemma = {"model_type": "gemma3_text", "num_hidden_layers": 6, "head_dim": 64, "sliding_window": 8}
    model = read_config(gemma)
    assert [group.kind for group in model.groups] == ["sliding_attention", "full_attention"]
    with pytest.raises(BadInput, match="rotary layers of several types, sliding_attention, full_attention"):
        model.group()
    assert rates(model.group("full_attention").encoding)[1] == pytest.approx(1e6 ** (-2 / 64))
