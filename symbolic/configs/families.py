"""What a model's code decides and its config does not say: pairing, partial rotation, layer patterns.

Read in transformers 5.24.0, `models/<model_type>/modeling_*.py` (pairing: `rotate_half` or its like; partial:
`compute_default_rope_parameters`) and `configuration_*.py` (absent keys, layer patterns).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """One model_type.

    interleaved: planes (2k, 2k+1), else (k, k + rotary_dim/2). partial: whether rope_type "default" follows
    partial_rotary_factor. theta: the base where the config has none; local_theta: that of sliding layers, in
    models that have two. share: partial_rotary_factor where the config has none. every: of so many layers one
    is full, the last of them (the first if `first`), where the config has no layer_types. stretched: where
    rope_scaling of older configs applies ("all" layers or "full" ones). unrotated_full: full layers next to
    sliding ones turn nothing. pairing_key: rope_interleave in the config can change the pairing. length:
    max_position_embeddings where the config has none.
    """

    interleaved: bool = False
    partial: bool = False
    theta: float | None = 10000.0
    local_theta: float | None = None
    share: float | None = None
    every: int | None = None
    first: bool = False
    stretched: str = "all"
    unrotated_full: bool = False
    pairing_key: bool = False
    length: int | None = None


_PLAIN = Family()
_PARTIAL = Family(partial=True)
_TURNED_IN_PAIRS = Family(interleaved=True)

_LIKE_LLAMA = (
    "afmoe", "apertus", "arcee", "aria", "csm", "cwm", "diffllama", "doge", "dots1", "falcon_h1",
    "gemma", "gemma2", "granite", "granitemoe", "granitemoehybrid", "internlm2", "internlm3",
    "granitemoeshared", "granite_swa", "hunyuan_v1_dense", "hunyuan_v1_moe", "jetmoe", "lfm2", "lfm2_moe",
    "llama", "minicpm", "minicpm3", "ministral", "ministral3", "mistral", "mllama_text_model", "mixtral",
    "moshi", "olmo", "olmo2", "olmoe", "phimoe", "qwen2", "qwen2_5_vl", "qwen2_5_vl_text", "qwen2_moe",
    "qwen2_vl", "qwen2_vl_text", "qwen3", "qwen3_moe", "qwen3_vl", "qwen3_vl_text", "qwen3_vl_moe",
    "qwen3_vl_moe_text", "seed_oss", "smollm3", "starcoder2", "vaultgemma",
)  # fmt: skip
FAMILIES: dict[str, Family] = {
    **dict.fromkeys(_LIKE_LLAMA, _PLAIN),
    **dict.fromkeys(("glm4_moe", "glm4v_moe", "glm4v", "minimax_m2", "solar_open", "mellum"), _PARTIAL),
    **dict.fromkeys(("phi", "nemotron", "persimmon"), Family(partial=True, share=0.5)),
    **dict.fromkeys(("ernie4_5", "ernie4_5_moe", "helium", "cohere", "blt"), _TURNED_IN_PAIRS),
    "falcon": Family(length=2048),
    "bamba": Family(partial=True, share=0.5),
    "codegen": Family(interleaved=True, partial=True),
    "gptj": Family(interleaved=True, partial=True),
    "chatglm": Family(interleaved=True, partial=True, share=0.5),
    "glm": Family(interleaved=True, partial=True, share=0.5),
    "glm4": Family(interleaved=True, partial=True, share=0.5),
    "phi3": _PARTIAL,
    "phi4_multimodal": _PARTIAL,
    "stablelm": Family(partial=True, share=0.25),
    "gpt_neox": Family(partial=True, share=0.25),
    "qwen3_next": Family(partial=True, share=0.25, every=4),
    "qwen3_5_text": Family(partial=True, share=0.25, every=4),
    "qwen3_5_moe_text": Family(partial=True, share=0.25, every=4),
    "cohere2": Family(interleaved=True, every=4, unrotated_full=True),
    "exaone4": Family(unrotated_full=True),
    "exaone_moe": Family(unrotated_full=True),
    "deepseek_v2": _TURNED_IN_PAIRS,
    "deepseek_v3": Family(interleaved=True, pairing_key=True),
    "deepseek_v32": Family(interleaved=True),
    "kimi_k2": Family(interleaved=True, pairing_key=True),
    "glm4_moe_lite": Family(interleaved=True, partial=True, pairing_key=True),
    "longcat_flash": Family(interleaved=True, theta=10000000.0),
    "mistral4": Family(interleaved=True, pairing_key=True),
    **dict.fromkeys(
        ("gemma3", "gemma3_text"),
        Family(theta=1000000.0, local_theta=10000.0, every=6, stretched="full", length=131072),
    ),
    "gemma4_text": Family(theta=None, every=6),
    "gpt_oss": Family(theta=150000.0, every=2),
    "llama4": Family(interleaved=True, theta=500000.0),
    "llama4_text": Family(interleaved=True, theta=500000.0),
    "mimo_v2_flash": Family(theta=None, partial=True),
    "modernbert": Family(theta=160000.0, local_theta=10000.0, every=3, first=True),
    "modernbert-decoder": Family(theta=160000.0, local_theta=10000.0, every=3, first=True),
    "olmo3": Family(every=4, stretched="full"),
}

LEARNED = ("gpt2", "gpt_bigcode", "gpt_neo", "opt", "bert", "roberta", "biogpt", "xglm", "openai-gpt")
BOTH_WAYS = ("modernbert", "bert", "roberta")  # queries see later tokens too
RECURRENT, CONVOLUTION = (
    "a recurrence over tokens knows their order",
    "a convolution over tokens knows their order",
)
MIXERS = {  # layer types without queries and keys that a position could enter
    **dict.fromkeys(("linear_attention", "mamba", "mamba2", "recurrent"), RECURRENT),
    "conv": CONVOLUTION,
}
