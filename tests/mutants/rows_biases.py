"""Public reports about slopes, biases and scores."""

from __future__ import annotations

import math

import sympy as sp
import torch
from exptx.proofs import Subject
from exptx.proofs.doctor.claims import Claims
from exptx.symbolic.catalogue.alibi import slopes
from exptx.symbolic.configs.description import Alibi, Rotary
from mutant import Inexpressible, Mutant, Trap

GITHUB = "https://github.com/"


def said(heads, causal=True, scaled=False, **more):
    """The claims of an ALiBi model."""
    return Claims(Alibi(slopes(heads), scaled), heads=heads, causal=causal, **more)


def code_slopes(n):
    """As the authors' code: two lists where n is no power of two."""
    c = 2 ** math.floor(math.log2(n))
    start = 2 ** -(2 ** -(math.log2(c) - 3))
    first = [start * start**h for h in range(c)]
    return torch.tensor(first + code_slopes(2 * c)[::2][: n - c].tolist() if n > c else first)


def from_zero(n):
    """A01."""
    return torch.tensor([2 ** (-8 * h / n) for h in range(n)])


def one_sequence(n):
    """A02."""
    return torch.tensor([2 ** (-8 * (h + 1) / n) for h in range(n)])


def sharded(offset):
    """What two ranks hold, side by side. A04: without the offset of the rank."""

    def gathered(n):
        whole, ranks = code_slopes(n), 2 if n % 2 == 0 else 1
        local = n // ranks
        return torch.cat([whole[offset * r * local : offset * r * local + local] for r in range(ranks)])

    return gathered


def bias(heads, value):
    """(Tq, Tk) -> value(m, t, s)."""
    m = code_slopes(heads)[:, None, None]

    def of_lengths(query_length, key_length):
        t = torch.arange(key_length - query_length, key_length)[:, None]
        return value(m, t, torch.arange(key_length)[None])

    return of_lengths


def half_module(n):
    """A12: slopes that are a buffer follow .half()."""
    module = torch.nn.Module()
    module.register_buffer("slopes", code_slopes(n))
    return module.half().slopes


def caching(shared):
    """Instances that keep their longest bias. A14: in an attribute of the class."""

    class Keeping:
        kept: torch.Tensor | None = None

        def __init__(self, heads):
            self.heads, self.own = heads, None

        def __call__(self, query_length, key_length):
            kept = Keeping.kept if shared else self.own
            if kept is None or kept.shape[-1] < key_length:
                kept = -bias(self.heads, lambda m, t, s: m * (t - s))(1, key_length).flip(-1)
                if shared:
                    Keeping.kept = kept
                self.own = kept
            t = torch.arange(key_length - query_length, key_length)[:, None]
            gap = (t - torch.arange(key_length)).clamp(min=0)
            return kept[:, 0][:, gap]

    return Keeping


def kept(shared):
    """The subject of A14."""
    made = caching(shared)
    return Subject(
        made(8), "bias", said(8, longest=256), make=lambda config: made(config["num_attention_heads"])
    )


def scores(heads, *, divided=False, tiled=False, local=False):
    """ALiBi logits. A07: the bias inside the scaled bracket. T09: tiled groups. A15: local positions."""
    m = code_slopes(heads)[:, None, None]

    def logits(q, k, query_positions, key_positions):
        groups, scale = q.shape[1] // k.shape[1], q.shape[-1] ** -0.5
        t, s = query_positions, key_positions
        if local:
            t, s = (torch.arange(x.shape[-1])[None] for x in (t, s))
        k = k.repeat(1, groups, 1, 1) if tiled else k.repeat_interleave(groups, 1)
        added = -m * (t[:, None, :, None] - s[:, None, None, :])
        return scale * (q @ k.mT + added) if divided else scale * (q @ k.mT) + added

    return logits


def cached_keys(heads, kv_heads, right):
    """T08: keys are appended to a cache by the number of the query head."""

    def logits(q, k, query_positions, key_positions):
        cache, groups = torch.zeros_like(k), heads // kv_heads
        for head in range(kv_heads):  # broken: the first query heads, each by its own group
            cache[:, head if right else head // groups] = k[:, head]
        added = -code_slopes(heads)[:, None, None] * (
            query_positions[:, None, :, None] - key_positions[:, None, None, :]
        )
        return q @ cache.repeat_interleave(groups, 1).mT * q.shape[-1] ** -0.5 + added

    return logits


def latent(factor, **mscales):
    """The claim of a stretched model whose table and softmax share the temperature of YaRN."""
    rule = {
        "rope_type": "yarn", "rope_theta": 10000.0, "factor": factor,
        "original_max_position_embeddings": 4096, **mscales,
    }  # fmt: skip
    softmax = sp.Float(temperature(factor, mscales["mscale_all_dim"]) ** 2, 17) if mscales else sp.S.One
    return Claims(
        Rotary(64, 64, "yarn", rule, 4096 * factor, interleaved=False, softmax_factor=softmax),
        64, heads=2, pairing="half",
    )  # fmt: skip


def temperature(factor, strength=1.0):
    """0.1 a ln s + 1."""
    return 0.1 * strength * math.log(factor) + 1


def turned(claims, table=1.0, softmax=1.0):
    """Logits with the claimed frequencies, amplitude `table` in cos and sin, and a factor of the scale."""
    waves = torch.tensor([float(w) for w in claims.encoding.frequencies(claims.longest).exact])

    def turn(x, positions):
        angle = positions[:, None, :, None] * waves
        c, s = table * angle.cos(), table * angle.sin()
        x0, x1 = x.chunk(2, -1)
        return torch.cat((x0 * c - x1 * s, x0 * s + x1 * c), -1)

    def logits(q, k, query_positions, key_positions):
        scale = softmax * q.shape[-1] ** -0.5
        return scale * (turn(q, query_positions) @ turn(k, key_positions).mT)

    return Subject(logits, "scores", claims)


MLA = latent(40, mscale=0.707, mscale_all_dim=0.707)
EQUAL = latent(16, mscale=1.0, mscale_all_dim=1.0)
YARN = latent(16)

MUTANTS: list[Mutant] = [
    Mutant(
        "A01", (f"{GITHUB}paiml/aprender/pull/2143",), "the head index begins with 0, so one slope is 1",
        Subject(from_zero, "slopes", said(8)), Subject(code_slopes, "slopes", said(8)),
        ("slope-value",), "head index from 0 in the exponent",
    ),
    Mutant(
        "A02", (f"{GITHUB}ml-explore/mlx/issues/343", f"{GITHUB}ml-explore/mlx/pull/3071"),
        "one geometric sequence for head counts that are no power of two",
        Subject(one_sequence, "slopes", said(6)), Subject(code_slopes, "slopes", said(6)),
        ("slope-value",), "one geometric sequence for every n",
    ),
    Mutant(
        "A04", (f"{GITHUB}bigscience-workshop/Megatron-DeepSpeed/issues/227",),
        "every tensor-parallel rank takes the slopes of the first heads",
        Subject(sharded(0), "slopes", said(16)), Subject(sharded(1), "slopes", said(16)),
        ("slope-value",), "no offset of its rank",
    ),
    Mutant(
        "A06", (f"{GITHUB}meta-pytorch/attention-gym/pull/86",), "the bias grows with distance",
        Subject(bias(8, lambda m, t, s: m * (t - s)), "bias", said(8)),
        Subject(bias(8, lambda m, t, s: m * (s - t)), "bias", said(8)),
        ("bias-sign",), "the minus is missing",
    ),
    Mutant(
        "A11",
        (
            f"{GITHUB}lucidrains/x-transformers/pull/88",
            f"{GITHUB}ofirpress/attention_with_linear_biases/issues/5",
        ),
        "the bias of the key's index where later keys are seen",
        Subject(bias(8, lambda m, t, s: m * (s + 0 * t)), "bias", said(8, causal=False)),
        Subject(bias(8, lambda m, t, s: -m * (s - t).abs()), "bias", said(8, causal=False)),
        ("bias-symmetry",), "a bias of the key's index",
    ),
    Mutant(
        "A12",
        (
            f"{GITHUB}Dao-AILab/flash-attention/issues/845",
            f"{GITHUB}Dao-AILab/flash-attention/pull/846",
        ),
        "slopes follow the module when it is cast to half precision",
        Subject(half_module, "slopes", said(12)), Subject(code_slopes, "slopes", said(12)),
        ("slope-precision",), "slopes rounded to float16",
    ),
    Mutant(
        "A14", (f"{GITHUB}ml-explore/mlx/pull/3071",), "instances share a cached bias",
        kept(True), kept(False), ("bias-again",), "instances share a cache",
    ),
    Mutant(
        "A07",
        (
            f"{GITHUB}NVIDIA/TensorRT-Model-Connect/pull/32",
            f"{GITHUB}OpenNMT/CTranslate2/pull/1449",
        ),
        "the bias is added after the scale where the model divides it by √d",
        Subject(scores(8), "scores", said(8, scaled=True)),
        Subject(scores(8, divided=True), "scores", said(8, scaled=True)),
        ("score-bias",), "added after the scale",
    ),
    Mutant(
        "A15", (f"{GITHUB}NVIDIA/TransformerEngine/issues/1046",),
        "distances inside a chunk are local ones",
        Subject(scores(8, local=True), "scores", said(8)), Subject(scores(8), "scores", said(8)),
        ("score-positions",), "index in the call",
    ),
    Mutant(
        "T08", (f"{GITHUB}tile-ai/TileOPs/pull/1234",), "keys are cached by the number of the query head",
        Subject(cached_keys(4, 2, False), "scores", said(4, kv_heads=2)),
        Subject(cached_keys(4, 2, True), "scores", said(4, kv_heads=2)),
        ("score-heads",), None,
    ),
    Mutant(
        "T09", (f"{GITHUB}apple/axlearn/pull/842",), "key heads are tiled, not repeated in place",
        Subject(scores(4, tiled=True), "scores", said(4, kv_heads=2)),
        Subject(scores(4), "scores", said(4, kv_heads=2)),
        ("score-heads",), "tiled instead of repeated",
    ),
    Mutant(
        "S15", (f"{GITHUB}onnxruntime/mobius/pull/548",), "the squared temperature is not in the softmax",
        turned(MLA), turned(MLA, softmax=temperature(40, 0.707) ** 2),
        ("score-scale",), "the factor of the softmax is missing",
    ),
    Mutant(
        "S17",
        (f"{GITHUB}turboderp-org/exllamav3/issues/259", f"{GITHUB}vllm-project/vllm/pull/48623"),
        "one rule for all models: the temperature in the tables where the softmax has it already",
        turned(EQUAL, temperature(16), temperature(16) ** 2), turned(EQUAL, 1.0, temperature(16) ** 2),
        ("score-scale",), "the factor of the softmax is applied twice",
    ),
    Mutant(
        "S19", (f"{GITHUB}guoqingbao/xinfer/pull/329",), "the temperature in the tables and in the softmax",
        turned(YARN, temperature(16), temperature(16) ** 2), turned(YARN, temperature(16)),
        ("score-scale",), "m^4",
    ),
]  # fmt: skip

TRAPS: list[Trap] = [
    *(
        Trap(
            "X3",
            (
                f"{GITHUB}ofirpress/attention_with_linear_biases/issues/9",
                f"{GITHUB}mosaicml/llm-foundry/issues/186",
                f"{GITHUB}vllm-project/vllm/pull/945",
            ),
            f"a row looks like {words}, which is the same up to a constant a row",
            Subject(bias(8, value), "bias", said(8)),
        )
        for words, value in (("+m j", lambda m, t, s: m * (s + 0 * t)),)
    ),
    Trap(
        "X5",
        (f"{GITHUB}baichuan-inc/Baichuan2/issues/225", f"{GITHUB}antofuller/CROMA/issues/12"),
        "slopes of 40 heads differ from the formula of the paper, as the authors' code does",
        Subject(code_slopes, "slopes", said(40)),
    ),
]

INEXPRESSIBLE: list[Inexpressible] = []
