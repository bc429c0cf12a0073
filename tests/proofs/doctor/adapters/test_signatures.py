"""Kernels with known signatures, by name and found by calls: right ones are right, broken ones are found."""

from __future__ import annotations

import pytest
import torch
from exptx.benchmarks.peers import imported
from exptx.proofs.doctor.adapters.probe import find
from exptx.proofs.doctor.adapters.signatures import SIGNATURES, adapted
from exptx.proofs.doctor.claims import Claims, rope
from exptx.proofs.doctor.isolated import Request, examine
from exptx.proofs.doctor.suite import check
from exptx.proofs.errors import BadClaim
from transformers.models.gptj.modeling_gptj import apply_rotary_pos_emb as gptj
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb as llama

rotary_embedding_torch = imported("rotary_embedding_torch")
x_transformers = imported("x_transformers.x_transformers")


def flash(x, cos, sin, interleaved=False):
    """Of the signature of flash-attn: x (batch, time, heads, d), tables (time, r/2)."""
    cos, sin = cos[:, None], sin[:, None]
    n = cos.shape[-1]
    a, b, rest = x[..., :n], x[..., n : 2 * n], x[..., 2 * n :]
    return torch.cat((a * cos - b * sin, b * cos + a * sin, rest), -1)


def broken(x, cos, sin, interleaved=False):
    """The second half turns the other way: not a turn."""
    cos, sin = cos[:, None], sin[:, None]
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos - a * sin), -1)


def meta(xq, xk, freqs_cis):
    """Of the signature of Meta's llama: complex numbers (time, d/2)."""

    def turned(x):
        z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2)) * freqs_cis[:, None]
        return torch.view_as_real(z).flatten(-2).to(x.dtype)

    return turned(xq), turned(xk)


def megatron(t, freqs):
    """Of the signature of Megatron: t (time, batch, heads, d), freqs are angles (time, 1, 1, d)."""
    a, b = t.chunk(2, -1)
    return t * freqs.cos().to(t.dtype) + torch.cat((-b, a), -1) * freqs.sin().to(t.dtype)


def second_axis(x, cos, sin):
    """Tables taken along axis 1: right where that is time."""
    return flash(x, cos[: x.shape[1]], sin[: x.shape[1]])


def onnx(X, cos_cache, sin_cache, position_ids):
    return torch.onnx.ops.rotary_embedding(X, cos_cache, sin_cache, position_ids)


KERNELS = {
    "transformers": llama,
    "gptj": gptj,
    "flash-attn": flash,
    "rotary-embedding-torch": rotary_embedding_torch.apply_rotary_emb,
    "x-transformers": x_transformers.apply_rotary_pos_emb,
    "onnx": onnx,
    "megatron": megatron,
    "meta": meta,
}
PAIRED = {"gptj", "rotary-embedding-torch", "x-transformers", "meta"}
KNOWN = {"onnx": {"gradient"}}  # torch.onnx.ops has no autograd


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("adapter", ["named", "auto"])
def test_a_right_kernel_is_right(name, adapter):
    found = check(adapted(KERNELS[name], name if adapter == "named" else "auto"))
    assert {finding.code for finding in found.findings} == KNOWN.get(name, set()), found.findings
    pairing = "interleaved" if name in PAIRED else "half-split"
    assert found.identity.startswith(f"turns 32 planes, {pairing}, counter-clockwise"), found.identity


@pytest.mark.parametrize("name", KERNELS)
def test_order_and_form_found_are_those_that_the_library_documents(name):
    recipe, known = find(KERNELS[name], 8, 8), SIGNATURES[name]
    assert (recipe.order, recipe.form) == (known.order, known.form)


def test_a_broken_kernel_is_asked_about_and_found_by_name():
    with pytest.raises(BadClaim, match=r"none of .* ways of calling it .* tell me its signature"):
        adapted(broken)
    assert not check(adapted(broken, "flash-attn")).ok


def test_tables_taken_along_the_second_axis_are_those_of_another_layout():
    assert find(second_axis, 8, 8).layout == "bthd"


def test_the_base_that_is_claimed_is_that_of_the_tables():
    found = check(adapted(flash, claims=Claims(rope(500000.0, 64))))
    assert found.ok, found.findings
    assert "base 500000" in found.identity
    assert any("frequencies are not the callable's" in sentence for sentence in found.unjudged)


@pytest.mark.parametrize(("name", "adapter"), [("flash", None), ("llama", None), ("flash", "flash-attn")])
def test_the_command_line_finds_how_it_is_called(name, adapter):
    found = examine(f"{__file__}:{name}", Request(adapter=adapter), 120)
    assert found["ok"], found
    assert any("its tables were given to it" in sentence for sentence in found["unjudged"])
