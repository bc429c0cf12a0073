"""Both readings of a key, with the number of each: the one of the model and the other."""

import json
from math import log
from pathlib import Path

import pytest
from exptx.proofs.inspection.differences import differences
from exptx.symbolic.configs.read import read_config

FOLDER = Path(__file__).resolve().parents[2] / "configs"


def told(name, kind=None, context=131072):
    model = read_config(json.loads((FOLDER / f"{name}.json").read_text()))
    one = model.groups[0] if kind is None else model.group(kind)
    return {row["about"]: row for row in differences(one.encoding, context)}


CASES = [  # file, layer type, key, what the model has, what others have
    ("gpt-oss-20b", None, "truncate", "8.093 to 17.4", "8 to 18"),
    ("deepseek-v3", None, "mscale", "1 on cos", f"{1 + 0.1 * log(40):.9g}"),
    ("deepseek-v2-lite", None, "logits", f"{(1 + 0.0707 * log(40)) ** 2:.9g}", "1"),
    ("olmo-3-7b", "full_attention", "attention_factor", "1.20794415", "1.20794415"),
    ("glm-4-9b", None, "exponents", f"{1e4 ** (-2 / 64):.6g}", f"{1e4 ** (-2 / 128):.6g}"),
    (
        "gemma-4-e2b",
        "full_attention",
        "partial_rotary_factor",
        f"{1e6 ** (-2 / 512):.6g}",
        f"{1e6 ** (-2 / 128):.6g}",
    ),
    (
        "internlm3-8b",
        None,
        "length",
        f"{5e7 * (6 * 4 - 5) ** (128 / 126):.6g}",
        f"{5e7 * 31 ** (128 / 126):.6g}",
    ),
    ("phi-4-mini", None, "list", "up to 4096", "max_model_len"),
    ("qwen2-vl-7b", None, "mrope_section", "chunked", "interleaved"),
    ("bloom", None, "slopes", f"{2 ** (-1 / 8):.6g}", f"{2 ** (-8 / 112):.6g}"),
]


@pytest.mark.parametrize(("name", "kind", "about", "here", "elsewhere"), CASES)
def test_both_values_are_shown(name, kind, about, here, elsewhere):
    row = told(name, kind)[about]
    assert here in row["here"]
    assert elsewhere in row["elsewhere"] + row["who"]


def test_the_paper_and_the_code_of_yarn_blend_differently():
    """d = 128, base 10000, L0 = 4096, s = 16: plane 33 is halfway in the code and 0.15 in the paper."""
    one = {"rope_type": "yarn", "factor": 16, "original_max_position_embeddings": 4096, "rope_theta": 10000}
    encoding = (
        read_config({"head_dim": 128, "rope_parameters": one, "max_position_embeddings": 65536})
        .group()
        .encoding
    )
    (row,) = [row for row in differences(encoding, 65536) if row["about"] == "ramp"]
    plane = int(row["here"].split("plane ")[1].split()[0].strip(":"))
    assert 30 < plane < 46


def test_axes_that_turn_other_planes_are_counted():
    """(16, 24, 24) in chunks against height, width at 1, 2 mod 3: by the definition of both layouts."""
    chunks = [0] * 16 + [1] * 24 + [2] * 24
    crossed = [1 if i % 3 == 1 and i < 72 else 2 if i % 3 == 2 and i < 72 else 0 for i in range(64)]
    moved = sum(a != b for a, b in zip(chunks, crossed, strict=True))
    assert f"{moved} of 64 planes" in told("qwen2-vl-7b")["mrope_section"]["elsewhere"]


@pytest.mark.parametrize("name", ["llama-3.1-8b", "mistral-7b-v0.1", "mpt-7b", "gpt2"])
def test_where_readers_agree_nothing_is_said(name):
    assert told(name) == {}
