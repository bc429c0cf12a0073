"""`make peers`: what the doctor measures in packages as they are installed, as a table in Markdown."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import torch
from exptx.proofs.doctor.adapters.signatures import adapted
from exptx.proofs.doctor.claims import Claims, rope
from exptx.proofs.doctor.subject import Subject
from exptx.proofs.doctor.suite import check
from exptx.symbolic.catalogue.alibi import slopes
from exptx.symbolic.configs.description import Alibi

DIM = 64
HEADS = 12  # no power of two: rules and roundings of slopes differ there
KERNELS = [  # package, module, callable, adapter
    ("transformers", "transformers.models.llama.modeling_llama", "apply_rotary_pos_emb", "transformers"),
    ("transformers", "transformers.models.gptj.modeling_gptj", "apply_rotary_pos_emb", "gptj"),
    ("rotary-embedding-torch", "rotary_embedding_torch", "apply_rotary_emb", "rotary-embedding-torch"),
    ("x-transformers", "x_transformers.x_transformers", "apply_rotary_pos_emb", "x-transformers"),
    ("torchscale", "torchscale.component.xpos_relative_position", "apply_rotary_pos_emb", "torchscale"),
    (
        "megatron-core",
        "megatron.core.models.common.embeddings.rope_utils",
        "_apply_rotary_pos_emb_bshd",
        "megatron",
    ),
    ("flash-linear-attention", "fla.modules.rotary", "rotary_embedding_ref", "fla"),
]


def onnx(X, cos_cache, sin_cache, position_ids):
    """The operator with its required arguments."""
    return torch.onnx.ops.rotary_embedding(X, cos_cache, sin_cache, position_ids)


def alibi_of_attn_gym(query_length: int, key_length: int) -> torch.Tensor:
    """Its score_mod of HEADS heads as a bias (heads, Tq, Tk); query i stands at Tk - Tq + i."""
    mod = import_module("attn_gym.mods").generate_alibi_bias(HEADS)
    t = torch.arange(key_length)
    places = t[key_length - query_length :]
    return mod(torch.zeros(()), 0, torch.arange(HEADS)[:, None, None], places[:, None], t)


def alibi_of_transformers(module: str) -> Callable[[int, int], torch.Tensor]:
    """What a model of transformers adds to its logits, (heads, 1, Tk), for every query."""

    def bias(query_length: int, key_length: int) -> torch.Tensor:
        mask = torch.ones(1, key_length, dtype=torch.int64)
        build = import_module(f"transformers.models.{module}").build_alibi_tensor
        return build(mask, HEADS, torch.float32).expand(HEADS, query_length, key_length)

    return bias


def alibi_of_mpt(query_length: int, key_length: int) -> torch.Tensor:
    """m(s - n), counted from the last key n."""
    build = import_module("transformers.models.mpt.modeling_mpt").build_mpt_alibi_tensor
    return build(HEADS, key_length).expand(HEADS, query_length, key_length)


def frequencies_of_llama(config, seq_len):
    """(inv_freq, attention_factor) as LlamaRotaryEmbedding forms them."""
    transformers = import_module("transformers")
    rules = import_module("transformers.modeling_rope_utils").ROPE_INIT_FUNCTIONS
    llama = import_module("transformers.models.llama.modeling_llama").LlamaRotaryEmbedding
    given = transformers.LlamaConfig(**{key: value for key, value in config.items() if key != "model_type"})
    kind = given.rope_parameters["rope_type"]
    if kind == "default":
        return llama.compute_default_rope_parameters(given)
    return rules[kind](given, None, seq_len=seq_len)


class Llama(torch.nn.Module):
    """The rotary of Llama as a model applies it."""

    def __init__(self):
        super().__init__()
        module = import_module("transformers.models.llama.modeling_llama")
        config = import_module("transformers").LlamaConfig(hidden_size=4 * DIM, num_attention_heads=4)
        self.tables = module.LlamaRotaryEmbedding(config)
        self.turn = module.apply_rotary_pos_emb

    def forward(self, q, k, position_ids):
        return self.turn(q, k, *self.tables(q, position_ids))


def tiny(rope_type: str) -> Callable[[], torch.nn.Module]:
    """A Llama of two layers with random weights and 8 positions."""

    def build() -> torch.nn.Module:
        transformers = import_module("transformers")
        torch.manual_seed(0)
        config = transformers.LlamaConfig(
            vocab_size=16, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
            max_position_embeddings=8,
            rope_parameters={"rope_type": rope_type, "rope_theta": 10000.0, "factor": 4.0},
        )  # fmt: skip
        return transformers.LlamaForCausalLM(config)

    return build


def matrix_exp(X):
    """The exponential of torch.linalg."""
    return torch.linalg.matrix_exp(X)


def others():
    """(package, callable in words, Subject), beyond kernels that take tables and biases."""
    plain = Claims(rope(10000, DIM, interleaved=False), DIM)
    yield "transformers", f"{LLAMA}, float32", Subject(Llama(), "rotary", plain)
    narrow = replace(plain, dtype="bfloat16")
    yield "transformers", NARROW, Subject(Llama(), "rotary", narrow)
    told = replace(narrow, table="bfloat16", arithmetic="bfloat16")
    yield "transformers", CLAIMED, Subject(Llama(), "rotary", told)
    rules = Subject(frequencies_of_llama, "inv_freq", Claims())
    yield "transformers", "transformers.modeling_rope_utils.ROPE_INIT_FUNCTIONS", rules
    for rope_type in ("default", "linear", "dynamic"):
        yield (
            "transformers",
            f"LlamaForCausalLM, {rope_type}, with its cache",
            Subject(tiny(rope_type), "module"),
        )
    yield "torch", "torch.linalg.matrix_exp", Subject(matrix_exp, "matrix_exp")


def alibi_of_x_transformers(query_length: int, key_length: int) -> torch.Tensor:
    """AlibiPositionalBias of HEADS heads."""
    found = import_module("x_transformers.x_transformers").AlibiPositionalBias(HEADS)
    return found(query_length, key_length).detach()


def subjects():
    """(package, callable in words, what builds its Subject), one a row."""
    claims = Claims(rope(10000, DIM), DIM)
    yield "torch", "torch.onnx.ops.rotary_embedding", lambda: adapted(onnx, "onnx", claims)
    for package, module, name, adapter in KERNELS:

        def build(module=module, name=name, adapter=adapter):
            return adapted(getattr(import_module(module), name), adapter, claims)

        yield package, f"{module}.{name}", build
    alibi = Claims(Alibi(slopes(HEADS), False), DIM, heads=HEADS)
    models = "transformers.models"
    bloom, falcon = "bloom.modeling_bloom", "falcon.modeling_falcon"
    for package, name, bias in (
        ("transformers", f"{models}.{bloom}.build_alibi_tensor", alibi_of_transformers(bloom)),
        ("transformers", f"{models}.{falcon}.build_alibi_tensor", alibi_of_transformers(falcon)),
        ("transformers", f"{models}.mpt.modeling_mpt.build_mpt_alibi_tensor", alibi_of_mpt),
        ("x-transformers", "x_transformers.x_transformers.AlibiPositionalBias", alibi_of_x_transformers),
        ("attn-gym", "attn_gym.mods.generate_alibi_bias", alibi_of_attn_gym),
    ):
        yield package, name, partial(Subject, bias, "bias", alibi)
    for package, name, subject in others():
        yield package, name, partial(same, subject)


def same(subject: Subject) -> Subject:
    """What is built already."""
    return subject


def examined():
    """(package with version, callable, Diagnosis or what an import raised), one a row."""
    for package, name, build in subjects():
        try:
            subject = build()
        except Exception as error:  # an import may raise anything; the row says what
            yield package, name, f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}"
            continue
        yield f"{package} {version(package)}", name, check(subject)


LLAMA = "transformers.models.llama.modeling_llama.LlamaRotaryEmbedding"
NARROW = f"{LLAMA}, bfloat16"
CLAIMED = f"{LLAMA}, bfloat16, tables and products claimed so"
EXPECTED = {  # callable -> codes of what is known of the versions that are pinned
    "torch.onnx.ops.rotary_embedding": {"gradient"},
    "transformers.models.falcon.modeling_falcon.build_alibi_tensor": {"bias-linear"},
    "attn_gym.mods.generate_alibi_bias": {"bias-linear"},
    NARROW: {"arithmetic", "module-cast"},
    CLAIMED: {"module-cast"},
    "LlamaForCausalLM, dynamic, with its cache": {"decode", "batch"},
    "torch.linalg.matrix_exp": {"matrix-exp"},
}


def page(found) -> str:
    """A table of identities and codes, then each finding with its numbers and lines that show it."""
    lines = ["| package | callable | identity | findings |", "|---|---|---|---|"]
    details = []
    for package, name, one in found:
        if isinstance(one, str):
            lines.append(f"| {package} | `{name}` | not examined | {one} |")
            continue
        codes = ", ".join(f"`{code}`" for code in dict.fromkeys(f.code for f in one.findings)) or "none"
        lines.append(f"| {package} | `{name}` | {one.identity} | {codes} |")
        details += [detail(package, name, finding) for finding in one.findings]
    return "\n".join([*lines, "", *details])


def detail(package: str, name: str, finding) -> str:
    """One finding in full."""
    off = "" if finding.residual is None else f" Off by {finding.residual:.3g}, allowed {finding.budget:.3g}."
    said = f"**{package}**, `{name}`: `{finding.code}` at {finding.where}.{off} Cause: {finding.cause}."
    return f"{said}\n\n```python\n{finding.reproduction}\n```\n"


def surprises(found) -> list[str]:
    """Rows whose codes are not those that are known; a package that is not examined is one."""
    said = []
    for package, name, one in found:
        codes = {"not examined"} if isinstance(one, str) else {finding.code for finding in one.findings}
        if codes != EXPECTED.get(name, set()):
            known = sorted(EXPECTED.get(name, set())) or ["none"]
            said.append(f"{package}, {name}: {', '.join(sorted(codes)) or 'none'}; known: {', '.join(known)}")
    return said


HEAD = f"""# Released packages, as the doctor measures them

Written by `make peers` on {date.today().isoformat()}. A kernel that takes tables is called with exact ones of
base 10000. Biases are those of {HEADS} heads, judged by the ALiBi authors' code, which a package need not
follow. A finding says where a package differs from the law or the claim that is named, not that it is unfit
for its use. `exptx check MODULE:NAME --adapter NAME --base 10000` repeats a row about a kernel; `subject` is
the callable.

"""

if __name__ == "__main__":
    measured = list(examined())
    text = page(measured)
    sys.stdout.write(text + "\n")
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(HEAD + text + "\n", encoding="utf-8")
    for surprise in surprises(measured):
        sys.stderr.write(f"not as known: {surprise}\n")
    sys.exit(1 if surprises(measured) else 0)
