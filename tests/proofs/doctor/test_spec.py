"""Claims from options, from a spec file and from a config; what contradicts itself is refused."""

from __future__ import annotations

import json

import pytest
from exptx.proofs.doctor.spec import claims_of
from exptx.proofs.errors import BadClaim
from exptx.symbolic.configs.description import Alibi

CONFIG = {"model_type": "llama", "hidden_size": 128, "num_attention_heads": 4}


def written(tmp_path, found):
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(found))
    return str(path)


def test_a_config_says_what_is_claimed(tmp_path):
    given, kind = claims_of({"config": written(tmp_path, CONFIG), "pairing": None, "kind": "rotary"})
    assert (given.head_dim, given.encoding.interleaved, kind) == (32, False, "rotary")
    assert given.config == CONFIG


def test_a_spec_file_says_the_same_as_options(tmp_path):
    said = {"base": 500000, "head_dim": 32, "pairing": "half", "kind": "tables"}
    assert claims_of({"spec": written(tmp_path, said)}) == claims_of(said)


def test_alibi_and_catalogue_encodings_are_claims(tmp_path):
    bias, _ = claims_of({"spec": written(tmp_path, {"alibi": 8})})
    assert isinstance(bias.encoding, Alibi)
    assert bias.heads == len(bias.encoding.slopes) == 8
    xpos, _ = claims_of({"spec": written(tmp_path, {"encoding": {"name": "xpos", "head_dim": 16}})})
    assert xpos.encoding.name == "xpos"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"base": 1e4, "alibi": 8}, "both say"),
        ({"pairings": "half"}, "'pairings' is no claim"),
        ({"base": 1e4, "pairing": "neox"}, "pairing is 'neox'"),
        ({"encoding": "xpos"}, "no object with a name"),
        ({"config": CONFIG, "head_dim": 32}, "config says head_dim"),
    ],
)
def test_what_contradicts_itself_is_refused_by_name(tmp_path, said, words):
    with pytest.raises(BadClaim, match=words):
        claims_of({"spec": written(tmp_path, said)})


def test_what_is_said_twice_is_refused(tmp_path):
    with pytest.raises(BadClaim, match="head_dim is said by"):
        claims_of({"spec": written(tmp_path, {"head_dim": 32}), "head_dim": 64})


def test_catalogue_names_that_kernels_are_judged_by_become_their_claims(tmp_path):
    said = {"encoding": {"name": "rope", "head_dim": 32, "rope_theta": 500000, "rotary_dim": 16}}
    turned, _ = claims_of({"spec": written(tmp_path, said)})
    assert (turned.rotary.rotary_dim, turned.rotary.parameters["rope_theta"]) == (16, 500000.0)
    bias, _ = claims_of({"spec": written(tmp_path, {"encoding": {"name": "alibi", "num_heads": 12}})})
    assert bias.heads == len(bias.encoding.slopes) == 12
