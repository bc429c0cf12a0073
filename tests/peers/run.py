"""`make peers`: what the doctor measures in packages as they are installed, as a table in Markdown."""

from __future__ import annotations

import sys
from collections.abc import Callable
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
        ("x-transformers", "x_transformers.x_transformers.AlibiPositionalBias", alibi_of_x_transformers),
        ("attn-gym", "attn_gym.mods.generate_alibi_bias", alibi_of_attn_gym),
    ):
        yield package, name, partial(Subject, bias, "bias", alibi)


def rows():
    """Lines of the table; a package that cannot be imported is said, with what it raised."""
    yield "| package | callable | identity | findings |"
    yield "|---|---|---|---|"
    for package, name, build in subjects():
        try:
            subject = build()
        except Exception as error:  # an import may raise anything; the row says what
            said = f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}"
            yield f"| {package} | `{name}` | not examined | {said} |"
            continue
        found = check(subject)
        said = "; ".join(f"`{f.code}` at {f.where}: {f.cause}" for f in found.findings) or "none"
        yield f"| {package} {version(package)} | `{name}` | {found.identity} | {said} |"


if __name__ == "__main__":
    text = "\n".join(rows())
    sys.stdout.write(text + "\n")
    if len(sys.argv) > 1:
        head = (
            "# Released packages, as the doctor measures them\n\n"
            f"Written by `make peers` on {date.today().isoformat()}. Each kernel is called with exact tables "
            f"of base 10000. Biases are those of {HEADS} heads, judged by the ALiBi authors' code, "
            "which a package need not follow.\n`exptx check MODULE:NAME --adapter NAME --base 10000` repeats "
            "a row about a kernel.\n\n"
        )
        Path(sys.argv[1]).write_text(head + text + "\n", encoding="utf-8")
