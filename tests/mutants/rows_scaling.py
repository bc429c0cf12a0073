"""Reports on rules for longer texts, and on what of a config reaches the frequencies."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from exptx.proofs import Claims, Subject
from exptx.symbolic import read_config
from mutant import Mutant
from parts import DIM, issue, kernel, pull, turn
from rules import (
    DEEPSEEK,
    DYNAMIC,
    LINEAR,
    LLAMA3,
    LONGROPE,
    RULES,
    YARN,
    Config,
    default,
    dynamic,
    frequencies,
    grown,
    llama3,
    longrope,
    plain,
    size,
    with_rule,
    yarn,
)
from torch import Tensor


def of_config(apply: Callable[..., Any], config: Config) -> Subject:
    encoding = read_config(dict(config)).group().encoding
    return Subject(apply, "inv_freq", Claims(encoding, encoding.head_dim, config=config))


class Growing:
    """A base that grows with the longest text so far, and is never put back."""

    def __init__(self) -> None:
        self.longest = 0

    def __call__(self, config: Config, seq_len: int) -> Tensor:
        self.longest = max(self.longest, seq_len)
        return frequencies()(config, self.longest)


def always_stretched(config: Config, given: Mapping[str, Any], seq_len: int) -> Tensor:
    return dynamic(config, given, int(given["factor"] * config["max_position_embeddings"]))


def lost_result(config: Config, given: Mapping[str, Any], seq_len: int) -> Tensor:
    w = plain(given["rope_theta"], size(config))
    scaled = llama3(config, given, seq_len)
    del scaled  # worked out, and w is returned
    return w


def swapped_blend(config: Config, given: Mapping[str, Any], seq_len: int) -> Tensor:
    return llama3(config, given, seq_len, swapped=True)


def by_type_only(config: Config, seq_len: int) -> Tensor:
    """Reads the key "type", which newer files call "rope_type"."""
    given = config["rope_parameters"]
    return RULES[given.get("type", "default")](config, given, seq_len)


def llama3_for_all(config: Config, seq_len: int) -> Tensor:
    given = dict(config["rope_parameters"])
    if given["rope_type"] == "default":
        return default(config, given, seq_len)
    numbers = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 2048}
    return llama3(config, {**numbers, **given}, seq_len)


def ntk_in_yarn(config: Config, given: Mapping[str, Any], seq_len: int) -> Tensor:
    d = size(config)
    return yarn(config, given, seq_len, given["rope_theta"] * given["factor"] ** (d / (d - 2)))


def by_capacity(config: Config, given: Mapping[str, Any], seq_len: int) -> Tensor:
    return longrope(config, given, 65536)


def powers_of_two(config: Config, given: Mapping[str, Any], seq_len: int) -> Tensor:
    ratio = max(seq_len / config["max_position_embeddings"], 1.0)
    return grown(given["rope_theta"], max(2.0 ** math.ceil(math.log2(ratio) + 1) - 1, 1.0), size(config))


ONE = with_rule("dynamic", factor=1.0)


def growth(factor: float, c: float) -> float:
    return 0.1 * c * math.log(factor) + 1


def with_amplitude(ratio: bool) -> Callable[[Config, int], tuple[Tensor, float]]:
    """YaRN with the ratio of both growths, or with that of mscale_all_dim alone."""

    def inv_freq(config: Config, seq_len: int) -> tuple[Tensor, float]:
        given = config["rope_parameters"]
        whole = growth(given["factor"], given["mscale_all_dim"])
        table = growth(given["factor"], given["mscale"]) / whole if ratio else whole
        return frequencies()(config, seq_len), table

    return inv_freq


GEMMA = {
    "model_type": "gemma3_text",
    "hidden_size": 512,
    "num_attention_heads": 4,
    "head_dim": 128,
    "num_hidden_layers": 6,
    "sliding_window": 512,
    "layer_types": ["sliding_attention"] * 5 + ["full_attention"],
    "max_position_embeddings": 32768,
    "rope_parameters": {
        "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
        "full_attention": {"rope_type": "linear", "rope_theta": 1000000.0, "factor": 8.0},
    },
}


def by_layer(local: float, whole: float) -> Callable[[Config, int, str], Tensor]:
    """Frequencies a layer type, each divided by a share of its factor: 0 for not at all."""

    def inv_freq(config: Config, seq_len: int, layer_type: str) -> Tensor:
        given = config["rope_parameters"][layer_type]
        if given["rope_type"] not in ("default", "linear"):
            raise ValueError(given["rope_type"])
        factor = config["rope_parameters"]["full_attention"]["factor"]
        divides = {"sliding_attention": local, "full_attention": whole}[layer_type]
        return plain(given["rope_theta"], config["head_dim"]) / (factor if divides else 1.0)

    return inv_freq


def of_layers(apply: Callable[..., Any]) -> Subject:
    encoding = read_config(GEMMA).group("full_attention").encoding
    return Subject(apply, "inv_freq", Claims(encoding, encoding.head_dim, config=GEMMA))


PARTIAL = {**with_rule("default", partial_rotary_factor=0.5), "model_type": "stablelm"}


def twice_partial(config: Config, given: Mapping[str, Any], seq_len: int) -> Tensor:
    share = given["partial_rotary_factor"]
    return plain(given["rope_theta"], int(size(config) * share))


def whole_table(x: Tensor, position_ids: Tensor) -> Tensor:
    """Frequencies of the whole head meet the slice that turns."""
    w = plain(10000.0, DIM)
    half = x[..., : DIM // 2]
    angle = position_ids[:, None, :, None].float() * torch.cat((w, w))
    x0, x1 = half.chunk(2, -1)
    turned = half * angle.cos() + torch.cat((-x1, x0), -1) * angle.sin()
    return torch.cat((turned, x[..., DIM // 2 :]), -1)


def right_slice(x: Tensor, position_ids: Tensor) -> Tensor:
    angle = position_ids[:, None, :, None].float() * plain(10000.0, DIM // 2)
    return turn(x, angle.cos(), angle.sin())


WIDE = {**with_rule("default"), "head_dim": 160}


def narrow_head(config: Config, given: Mapping[str, Any], seq_len: int) -> Tensor:
    return plain(given["rope_theta"], config["hidden_size"] // config["num_attention_heads"])


SMALL_YARN = {**YARN, "hidden_size": 4 * DIM, "rope_parameters": {**YARN["rope_parameters"], "factor": 4.0}}


def claims_of(config: Config, longest: int) -> Claims:
    encoding = read_config(dict(config)).group().encoding
    return Claims(encoding, encoding.head_dim, longest=longest)


def clamped(x: Tensor, position_ids: Tensor) -> Tensor:
    """Positions are divided by the factor and cut off at the trained length."""
    t = (position_ids / 4.0).clamp(max=4095.0)
    angle = t[:, None, :, None].float() * plain(10000.0, DIM)
    c = growth(4.0, 1.0)
    return turn(x, c * angle.cos(), c * angle.sin())


def ramped(x: Tensor, position_ids: Tensor) -> Tensor:
    w = yarn(SMALL_YARN, SMALL_YARN["rope_parameters"], 0)
    angle = position_ids[:, None, :, None].float() * w
    c = growth(4.0, 1.0)
    return turn(x, c * angle.cos(), c * angle.sin())


SMALL_DYNAMIC = {**DYNAMIC, "hidden_size": 4 * DIM, "max_position_embeddings": 64}


def stretched(alone: bool) -> Callable[[Tensor, Tensor], Tensor]:
    """Dynamic NTK with a base for every row, or one for the batch, of its longest row."""

    def rotate(x: Tensor, position_ids: Tensor) -> Tensor:
        rows = []
        for row, ids in zip(x, position_ids, strict=True):
            length = int((ids if alone else position_ids).max()) + 1
            w = dynamic(SMALL_DYNAMIC, SMALL_DYNAMIC["rope_parameters"], length)
            angle = ids[:, None].float() * w
            rows.append(turn(row, angle.cos(), angle.sin()))
        return torch.stack(rows)

    return rotate


MUTANTS = [
    Mutant(
        "S02", (pull("huggingface/transformers", 27227),),
        "the base grows with a long text and stays",
        of_config(Growing(), DYNAMIC), of_config(frequencies(), DYNAMIC),
        ("frequency-state",), "long text",
    ),
    Mutant(
        "S03",
        (
            pull("vllm-project/vllm", 41277), pull("vllm-project/vllm", 41301),
            issue("vllm-project/vllm", 5093), issue("vllm-project/vllm", 3488),
        ),
        "the length is always factor times the model's",
        of_config(frequencies(dynamic=always_stretched), DYNAMIC), of_config(frequencies(), DYNAMIC),
        ("frequency",), "factor times the model's",
    ),
    Mutant(
        "S06", (pull("huggingface/transformers", 32330),),
        "scaled frequencies are worked out and the plain ones returned",
        of_config(frequencies(llama3=lost_result), LLAMA3), of_config(frequencies(), LLAMA3),
        ("frequency",), "not applied",
    ),
    Mutant(
        "S07", (pull("ml-explore/mlx-examples", 907),),
        "the blend is taken in wavelengths, with its weights swapped",
        of_config(frequencies(llama3=swapped_blend), LLAMA3), of_config(frequencies(), LLAMA3),
        ("frequency",), "swapped",
    ),
    Mutant(
        "S08",
        (
            pull("jmaczan/tiny-vllm", 1), pull("sbryngelson/ANEForge", 58), issue("lablup/mlxcel", 1355),
        ),
        "the rule is looked for under another key, and the plain one runs",
        of_config(by_type_only, LLAMA3), of_config(frequencies(), LLAMA3),
        ("frequency",), "not applied",
    ),
    Mutant(
        "S10", (pull("NVIDIA-NeMo/Automodel", 2825),),
        "every rule gets the schedule of llama3",
        of_config(llama3_for_all, LINEAR), of_config(frequencies(), LINEAR),
        ("frequency",), "llama3",
    ),
    Mutant(
        "S11", (pull("paiml/aprender", 2161),),
        "planes that should stay come from the NTK base",
        of_config(frequencies(yarn=ntk_in_yarn), YARN), of_config(frequencies(), YARN),
        ("frequency",), "NTK base",
    ),
    Mutant(
        "S13", (pull("rasbt/LLMs-from-scratch", 940),),
        "positions are divided by the factor and cut off, in place of YaRN",
        kernel(clamped, claims_of(SMALL_YARN, 32768)), kernel(ramped, claims_of(SMALL_YARN, 32768)),
        ("value", "relative"),
    ),
    Mutant(
        "S16", (pull("kekzl/imp", 880),),
        "the table is scaled by the growth of mscale_all_dim, not by the ratio",
        of_config(with_amplitude(False), DEEPSEEK), of_config(with_amplitude(True), DEEPSEEK),
        ("amplitude",), "mscale_all_dim",
    ),
    Mutant(
        "S20", (issue("ggml-org/llama.cpp", 24823),),
        "factors are chosen by what was allocated, not by the length of the text",
        of_config(frequencies(longrope=by_capacity), LONGROPE), of_config(frequencies(), LONGROPE),
        ("frequency",), "long texts",
    ),
    Mutant(
        "S23", (issue("QwenLM/Qwen", 401),),
        "one base for the whole batch, of its longest row",
        kernel(stretched(False), claims_of(SMALL_DYNAMIC, 256)),
        kernel(stretched(True), claims_of(SMALL_DYNAMIC, 256)),
        ("batch",), "rows around it",
    ),
    Mutant(
        "S24", (issue("InternLM/lmdeploy", 536),),
        "the stretch is rounded up to a power of two",
        of_config(frequencies(dynamic=powers_of_two), ONE), of_config(frequencies(), ONE),
        ("frequency",), "power of two",
    ),
    Mutant(
        "S26", (issue("antonellof/ferrox", 39),),
        "layers that see a window are divided by the factor of the others",
        of_layers(by_layer(1, 1)), of_layers(by_layer(0, 1)),
        ("frequency",),
    ),
    Mutant(
        "S27", (pull("Blaizzy/mlx-vlm", 1709), issue("lablup/mlxcel", 1340)),
        "the factor of the layers that see everything is not passed on",
        of_layers(by_layer(0, 0)), of_layers(by_layer(0, 1)),
        ("frequency",), "not applied",
    ),
    Mutant(
        "F02", (pull("vllm-project/vllm", 29966),),
        "the share that turns is taken twice",
        of_config(frequencies(default=twice_partial), PARTIAL), of_config(frequencies(), PARTIAL),
        ("frequency",), "taken twice",
    ),
    Mutant(
        "F05", (issue("huggingface/transformers", 48630),),
        "a table of the whole head meets the part that turns",
        kernel(whole_table, claims_of({**PARTIAL, "hidden_size": 4 * DIM}, 4096)),
        kernel(right_slice, claims_of({**PARTIAL, "hidden_size": 4 * DIM}, 4096)),
        ("call",),
    ),
    Mutant(
        "F07", (pull("huggingface/transformers", 32495),),
        "head_dim is hidden_size over heads, whatever the config says",
        of_config(frequencies(default=narrow_head), WIDE), of_config(frequencies(), WIDE),
        ("frequency",), "hidden_size / num_attention_heads",
    ),
]  # fmt: skip
