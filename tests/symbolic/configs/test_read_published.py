"""Configs of published models, in tests/configs: periods, planes, factors and layers that formulas give.

Source of a file: the config.json (of Qwen 2.5: the model card's YaRN block in it) that the model's page on
the Hugging Face hub shows, without keys that no position depends on. Expected numbers are typed in from the
rule's published formula, evaluated in mpmath or by hand.
"""

import json
from math import isclose, log, pi, sqrt
from pathlib import Path

import pytest
from exptx.symbolic.configs.description import Alibi, Learned, Rotary, Unrotated
from exptx.symbolic.configs.read import read_config

FOLDER = Path(__file__).resolve().parents[2] / "configs"
FULL, SLIDING = "full_attention", "sliding_attention"


def group(name, kind=None):
    return read_config(json.loads((FOLDER / f"{name}.json").read_text())).group(kind)


def rates(encoding, length=None):
    return [float(w) for w in encoding.frequencies(length)]


def near(a, b):
    return isclose(a, b, rel_tol=1e-9)


PLAIN = [  # name, layer type, base, turning features, features of a head, planes (2k, 2k+1)?
    ("mistral-7b-v0.1", None, 10000, 128, 128, False),
    ("mistral-nemo", None, 1000000, 128, 128, False),  # not 5120 / 32 = 160
    ("gemma-3-27b", SLIDING, 10000, 128, 128, False),
    ("gemma-4-e2b", SLIDING, 10000, 256, 256, False),
    ("olmo-3-7b", SLIDING, 500000, 128, 128, False),
    ("smollm3-3b", None, 5000000, 128, 128, False),
    ("command-r7b", SLIDING, 50000, 128, 128, True),
    ("qwen2-vl-7b", None, 1000000, 128, 128, False),
    ("qwen3-vl-8b", None, 5000000, 128, 128, False),
    ("qwen3.5-35b-a3b", None, 10000000, 64, 256, False),
    ("gpt-j-6b", None, 10000, 64, 256, True),
    ("pythia-6.9b", None, 10000, 32, 128, False),
    ("glm-4-9b", None, 10000, 64, 128, True),
    ("modernbert-base", FULL, 160000, 64, 64, False),
    ("modernbert-base", SLIDING, 10000, 64, 64, False),
    ("hunyuan-7b", None, 10000 * 1000 ** (128 / 126), 128, 128, False),  # alpha = 1000
]


@pytest.mark.parametrize(("name", "kind", "base", "turning", "features", "pairs"), PLAIN)
def test_plain_tables_have_the_base_and_the_width_of_the_model(name, kind, base, turning, features, pairs):
    one = group(name, kind).encoding
    assert (one.rule, one.head_dim, one.rotary_dim, one.interleaved) == ("default", features, turning, pairs)
    assert all(near(w, base ** (-2 * k / turning)) for k, w in enumerate(rates(one)))
    assert one.frequencies().attention_factor == 1


LLAMA3 = [  # base, features, factor, low, high, L0, how many planes are kept and how many divided
    ("llama-3.1-8b", 500000, 128, 8, 1, 4, 8192, 29, 29),
    ("llama-3.2-1b", 500000, 64, 32, 1, 4, 8192, 15, 14),
    ("llama-4-scout", 500000, 128, 16, 1, 1, 8192, 35, 29),
]


@pytest.mark.parametrize(("name", "base", "d", "s", "low", "high", "first", "kept", "divided"), LLAMA3)
def test_llama_3_ramps(name, base, d, s, low, high, first, kept, divided):
    """The code of Llama 3.1: kept below a wavelength of L0/high, divided beyond L0/low, a blend between."""
    kind = "chunked_attention" if name == "llama-4-scout" else None
    got, counts = rates(group(name, kind).encoding), {"kept": 0, "divided": 0}
    for k, w in enumerate(got):
        plain = base ** (-2 * k / d)
        wavelength = 2 * pi / plain
        if wavelength < first / high:
            counts["kept"] += 1
            assert near(w, plain)
        elif wavelength > first / low:
            counts["divided"] += 1
            assert near(w, plain / s)
        else:
            smooth = (first / wavelength - low) / (high - low)
            assert near(w, (1 - smooth) * plain / s + smooth * plain)
    assert counts == {"kept": kept, "divided": divided}


YARN = [  # base, features, factor, L0, low and high end of the ramp, amplitude, factor of the logits besides
    ("qwen2.5-7b-yarn", None, 1e6, 128, 4, 32768, 23, 40, 1.138629436111989, 1),
    ("deepseek-v3", None, 1e4, 64, 40, 4096, 10, 23, 1, (1 + 0.1 * log(40)) ** 2),
    ("deepseek-v2-lite", None, 1e4, 64, 40, 4096, 10, 23, 1, (1 + 0.0707 * log(40)) ** 2),
    ("kimi-k2", None, 5e4, 64, 32, 4096, 19, 20, 1, (1 + 0.1 * log(32)) ** 2),  # beta_fast = beta_slow = 1
    ("olmo-3-7b", FULL, 5e5, 128, 8, 8192, 18, 35, 1.2079441541679836, 1),
    ("gpt-oss-20b", FULL, 150000, 64, 32, 4096, 8.0927, 17.398, 1 + 0.1 * log(32), 1),  # truncate: false
]


@pytest.mark.parametrize(("name", "kind", "base", "d", "s", "first", "low", "high", "m", "logits"), YARN)
def test_yarn_ramps_and_amplitudes(name, kind, base, d, s, first, low, high, m, logits):
    """dim(r) = d ln(L0/2πr)/(2 ln b) at r = 32 and 1, outward to whole planes; linear in planes between."""
    one = group(name, kind).encoding
    fast = one.parameters.get("beta_fast", 32)
    low_end, high_end = (d * log(first / (2 * pi * r)) / (2 * log(base)) for r in (fast, 1))
    if one.parameters.get("truncate", True):
        low_end, high_end = low, high
    assert (low_end, high_end) == pytest.approx((low, high), rel=1e-4)
    for k, w in enumerate(rates(one)):
        kept = 1 - min(max((k - low_end) / (high_end - low_end), 0), 1)
        plain = base ** (-2 * k / d)
        assert near(w, plain * kept + plain / s * (1 - kept))
    assert near(float(one.frequencies().attention_factor), m)
    assert near(float(one.softmax_factor), logits)


def test_position_interpolation_divides_every_frequency():
    for name, kind, base, s in [("vicuna-7b-16k", None, 1e4, 4), ("gemma-3-27b", FULL, 1e6, 8)]:
        assert all(near(w, base ** (-k / 64) / s) for k, w in enumerate(rates(group(name, kind).encoding)))


def test_dynamic_ntk_raises_the_base_with_the_text_and_keeps_it_before():
    """InternLM 3: base 5e7, factor 6: (6·2 - 5)^(128/126) times the base at twice the length."""
    one = group("internlm3-8b").encoding
    assert near(rates(one, 32768)[-1], 5e7 ** (-126 / 128))
    assert near(rates(one, 65536)[-1], (5e7 * 7 ** (128 / 126)) ** (-126 / 128))


def test_longrope_divides_by_one_list_up_to_the_original_length_and_by_another_beyond():
    """Phi-4-mini: 96 of 128 features, λ = 47.77 on the slowest plane; amplitude √(1 + ln 32/ln 4096)."""
    one = group("phi-4-mini").encoding
    assert (one.rotary_dim, one.head_dim) == (96, 128)
    assert near(rates(one, 4096)[-1], 1e4 ** (-94 / 96))
    assert near(rates(one, 4097)[-1], 1e4 ** (-94 / 96) / 47.77)
    assert near(float(one.frequencies(1).attention_factor), sqrt(1 + log(32) / log(4096)))


def test_p_rope_turns_a_quarter_of_the_planes_and_counts_the_whole_head():
    """Gemma 4: 64 of 256 planes of heads of 512 features turn, the slowest of them by 0.0333762470."""
    one = group("gemma-4-e2b", FULL).encoding
    got = rates(one)
    assert near(got[63], 0.03337624694292039)
    assert got[64:] == [0.0] * 192


def test_axes_share_the_planes_in_the_layout_of_the_model():
    found = [group(name).encoding for name in ("qwen2-vl-7b", "qwen3-vl-8b", "qwen3.5-35b-a3b")]
    assert [(one.sections, one.section_layout) for one in found] == [
        ((16, 24, 24), "chunked"),
        ((24, 20, 20), "interleaved"),
        ((11, 11, 10), "interleaved"),
    ]


ALIBI = [  # heads, first and last slope
    ("bloom", 112, 2 ** (-1 / 8), 2 ** (-4 * 95 / 64), False),  # 64 slopes, then 48 of those for 128 heads
    ("mpt-7b", 32, 2**-0.25, 2**-8, False),
    ("falcon-rw-1b", 32, 2**-0.25, 2**-8, True),
]


@pytest.mark.parametrize(("name", "heads", "first", "last", "scaled"), ALIBI)
def test_slopes(name, heads, first, last, scaled):
    (found,) = read_config(json.loads((FOLDER / f"{name}.json").read_text())).groups
    slopes = [float(m) for m in found.encoding.slopes]
    assert isinstance(found.encoding, Alibi)
    assert (len(slopes), found.encoding.scaled) == (heads, scaled)
    assert near(slopes[0], first)
    assert near(slopes[-1], last)


LAYERS = [  # name, how many layers turn, how many do not, the layers of the second kind begin with, windows
    ("llama-4-scout", 36, 12, (3, 7, 11), {8192, None}),
    ("smollm3-3b", 27, 9, (3, 7, 11), {None}),
    ("command-r7b", 24, 8, (3, 7, 11), {4096, None}),
    ("qwen3.5-35b-a3b", 10, 30, (0, 1, 2), {None}),
    ("kimi-linear-48b", 0, 27, (0, 1, 2), {None}),
]


@pytest.mark.parametrize(("name", "turning", "still", "first", "windows"), LAYERS)
def test_layers_without_rotation(name, turning, still, first, windows):
    groups = read_config(json.loads((FOLDER / f"{name}.json").read_text())).groups
    counts = {Rotary: 0, Unrotated: 0}
    for one in groups:
        counts[type(one.encoding)] += len(one.indices)
    assert counts == {Rotary: turning, Unrotated: still}
    assert next(g.indices[:3] for g in groups if isinstance(g.encoding, Unrotated)) == first
    assert {one.window for one in groups} == windows


SLIDES = [  # name, full layers, sliding layers, window
    ("gemma-3-27b", 10, 52, 1024),
    ("gemma-4-e2b", 7, 28, 512),
    ("gpt-oss-20b", 12, 12, 128),
    ("olmo-3-7b", 8, 24, 4096),
    ("modernbert-base", 8, 14, 65),
]


@pytest.mark.parametrize(("name", "full", "sliding", "window"), SLIDES)
def test_full_and_sliding_layers(name, full, sliding, window):
    assert (len(group(name, FULL).indices), group(name, FULL).window) == (full, None)
    assert (len(group(name, SLIDING).indices), group(name, SLIDING).window) == (sliding, window)


def test_learned_positions_end():
    (found,) = read_config(json.loads((FOLDER / "gpt2.json").read_text())).groups
    assert found.encoding == Learned(1024)


def test_every_config_is_held_to_some_fact():
    told = {row[0] for table in (PLAIN, LLAMA3, YARN, ALIBI, LAYERS, SLIDES) for row in table}
    told |= {"vicuna-7b-16k", "internlm3-8b", "phi-4-mini", "gpt2"}
    assert told == {path.stem for path in FOLDER.glob("*.json")}
