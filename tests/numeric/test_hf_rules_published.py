"""Published configs, read by transformers into its models and by exptx: the same numbers to the last bit."""

import json
from importlib import import_module
from inspect import getmembers, isclass, signature
from pathlib import Path

import pytest
import torch
from exptx.numeric.hf_rules import hf_frequencies
from exptx.symbolic.configs.description import Rotary
from exptx.symbolic.configs.read import read_config
from transformers import AutoConfig

FOLDER = Path(__file__).resolve().parents[1] / "configs"
OTHERS = {  # configs whose rotary positions no module of transformers forms, and why
    "gpt-j-6b": "its table is a function",
    "internlm3-8b": "its code comes with the checkpoint",
    "kimi-k2": "its code comes with the checkpoint",
}


def rotary_module(name):
    """The module of transformers that forms the tables of the text part of a config."""
    given = json.loads((FOLDER / f"{name}.json").read_text())
    kind = given.pop("model_type")
    config = AutoConfig.for_model(kind, **given)
    config = config.get_text_config() if hasattr(config, "text_config") else config
    where = import_module(type(config).__module__.replace("configuration_", "modeling_"))
    fitting = [
        found
        for label, found in getmembers(where, isclass)
        if label.endswith("RotaryEmbedding")
        and "Vision" not in label
        and "config" in signature(found).parameters
    ]
    return fitting[-1](config)


def rotary_groups():
    for path in sorted(FOLDER.glob("*.json")):
        model = read_config(json.loads(path.read_text()))
        kinds = {group.kind: group for group in model.groups if isinstance(group.encoding, Rotary)}
        yield from ((path.stem, kind) for kind in kinds if path.stem not in OTHERS)


@pytest.mark.parametrize(("name", "kind"), list(rotary_groups()))
def test_the_model_of_transformers_has_these_frequencies(name, kind):
    encoding = read_config(json.loads((FOLDER / f"{name}.json").read_text())).group(kind).encoding
    module = rotary_module(name)
    layered = kind is not None and hasattr(module, f"{kind}_inv_freq")
    prefix = f"{kind}_" if layered else ""
    ours, scaling = hf_frequencies(encoding, encoding.trained_length)
    assert torch.equal(ours, getattr(module, f"{prefix}inv_freq"))
    assert scaling == getattr(module, f"{prefix}attention_scaling")
