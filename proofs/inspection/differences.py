"""Where readers of one config go different ways: what its own model computes, and what another reader does.

Read in the source of the versions named: transformers 5.24, vLLM 0.33, SGLang 0.5.23, the authors' own code.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy as sp

from ...numeric.constants import nearest_float
from ...symbolic import ramps, scaling
from ...symbolic.configs.description import Alibi, Encoding, Rotary
from ...symbolic.frequencies import as_written

Document = dict[str, Any]


def differences(one: Encoding, context: int | None) -> list[Document]:
    """For each key that is read in two ways: the value here, which the model has, the other, and whose."""
    rows: Iterator[tuple[str, str, str, str]] = iter(())
    if isinstance(one, Rotary):
        rows = _rotary(one, context or 1)
    elif isinstance(one, Alibi):
        rows = _slopes(one)
    return [dict(zip(("about", "here", "elsewhere", "who"), row, strict=True)) for row in rows]


def _rotary(one: Rotary, context: int) -> Iterator[tuple[str, str, str, str]]:
    yield from _RULES.get(one.rule, lambda *_: ())(one, context)
    if one.sections and len(one.sections) == 3:
        yield from _layouts(one)
    if one.rotary_dim < one.head_dim and one.rule != "proportional":
        yield from _denominator(one)


def _denominator(one: Rotary) -> Iterator[tuple[str, str, str, str]]:
    k = 1
    here, there = (
        nearest_float(scaling.rotary(as_written(one.parameters["rope_theta"]), size).exact[k])
        for size in (one.rotary_dim, one.head_dim)
    )
    yield (
        "exponents",
        f"count {one.rotary_dim} features: plane 1 turns {here:.6g} a position before any rule",
        f"count {one.head_dim}: {there:.6g}",
        "p-RoPE, and code that takes head_dim for rotary_dim",
    )


def _proportional(one: Rotary, _context: int) -> Iterator[tuple[str, str, str, str]]:
    share = as_written(one.parameters.get("partial_rotary_factor", 1))
    live = int(share * one.head_dim // 2)
    if live < 2 or share == 1:
        return
    base = as_written(one.parameters["rope_theta"])
    here, there = (nearest_float(scaling.rotary(base, d).exact[1]) for d in (one.head_dim, 2 * live))
    yield (
        "partial_rotary_factor",
        f"{live} planes of (k, k+{one.head_dim // 2}) turn, plane 1 by {here:.6g} a position",
        f"{live} planes of (k, k+{live}), plane 1 by {there:.6g}",
        "readers that shrink the head, as rope_type 'default' has it",
    )


def _yarn(one: Rotary, _context: int) -> Iterator[tuple[str, str, str, str]]:
    given = {key: as_written(value) for key, value in one.parameters.items()}
    first = given["original_max_position_embeddings"]
    s = given.get("factor", sp.Rational(one.max_position_embeddings or first, first))
    fast, slow = given.get("beta_fast", 32), given.get("beta_slow", 1)
    place = given["rope_theta"], one.rotary_dim, first, fast, slow
    if not given.get("truncate", True):
        here, there = (ramps.yarn_range(*place, truncate) for truncate in (False, True))
        words = [f"the ramp runs from plane {float(a):.4g} to {float(b):.4g}" for a, b in (here, there)]
        nested = "transformers 5.24, which looks for the key outside the layer types"
        yield "truncate", words[0], words[1], nested if one.nested else "readers that always round it outward"
    if fast != slow:
        yield from _paper(one, given, s)
    yield from _yarn_amplitude(one, given, s)


def _paper(one: Rotary, given: dict, s: sp.Expr) -> Iterator[tuple[str, str, str, str]]:
    first, base = given["original_max_position_embeddings"], given["rope_theta"]
    turns = {key: given[key] for key in ("beta_fast", "beta_slow") if key in given}
    here = [nearest_float(w) for w in one.frequencies()]
    paper = ramps.yarn(base, one.rotary_dim, s, first, ramp="paper", **turns)
    there = [nearest_float(w) for w in paper]
    ratios = [a / b for a, b in zip(here, there, strict=True)]
    k = max(range(len(ratios)), key=lambda i: abs(ratios[i] - 1))
    yield (
        "ramp",
        f"linear in the plane: plane {k} turns {here[k]:.6g} a position",
        f"linear in the turns: {there[k]:.6g}",
        "the text of the YaRN paper, but not its authors' code",
    )


def _yarn_amplitude(one: Rotary, given: dict, s: sp.Expr) -> Iterator[tuple[str, str, str, str]]:
    m, usual = one.frequencies().attention_factor, ramps.yarn_attention(s)
    values = [nearest_float(x) for x in (m, usual)]
    if "attention_factor" in given:
        yield (
            "attention_factor",
            f"{values[0]:.9g} on cos and sin, as written",
            f"{values[1]:.9g} = 0.1 ln s + 1",
            "SGLang 0.5.23, which does not read the key",
        )
    if given.get("mscale") and given.get("mscale_all_dim"):
        yield (
            "mscale",
            f"{values[0]:.9g} on cos and sin, the quotient of mscale and mscale_all_dim",
            f"{values[1]:.9g} = 0.1 ln s + 1",
            "readers that know factor only",
        )
        if one.softmax_factor != 1:
            factor = nearest_float(one.softmax_factor)
            yield (
                "logits",
                f"the attention multiplies their scale by {factor:.9g}, from mscale_all_dim",
                "1",
                "ports of the table without the attention",
            )


def _dynamic(one: Rotary, context: int) -> Iterator[tuple[str, str, str, str]]:
    given = {key: as_written(value) for key, value in one.parameters.items()}
    first, s = one.trained_length or 1, given["factor"]
    here, there = (
        nearest_float(scaling.ntk_base(given["rope_theta"], one.rotary_dim, stretch))
        for stretch in (
            scaling.dynamic_stretch(s, first, max(context, first)),
            1 + s * (s - 1),
        )
    )
    yield (
        "length",
        f"the base for a text of {max(context, first)} positions is {here:.6g}",
        f"{there:.6g} for every text",
        "readers that put factor · max_position_embeddings for the length, as vLLM did (its issue 5093)",
    )


def _longrope(one: Rotary, _context: int) -> Iterator[tuple[str, str, str, str]]:
    first = one.trained_length
    yield (
        "list",
        f"short_factor up to {first} positions of text, long_factor beyond",
        "one list for all texts, from the longest that is allowed",
        "vLLM, which decides once from max_model_len",
    )
    if one.mscales is not None:
        yield (
            "mscale",
            f"{one.mscales[0]} for short texts, {one.mscales[1]} for long ones",
            f"{nearest_float(scaling.longrope_attention(_ratio(one), first)):.9g} = sqrt(1 + ln s/ln L0)",
            "readers that do not know short_mscale and long_mscale",
        )


def _ratio(one: Rotary) -> sp.Rational:
    return sp.Rational(one.max_position_embeddings or 1, one.trained_length or 1)


def _layouts(one: Rotary) -> Iterator[tuple[str, str, str, str]]:
    planes = sum(one.sections)
    chunked = [axis for axis, count in enumerate(one.sections) for _ in range(count)]
    crossed = [i % 3 if i < 3 * one.sections[i % 3] else 0 for i in range(planes)]
    moved = sum(a != b for a, b in zip(chunked, crossed, strict=True))
    other = "interleaved" if one.section_layout == "chunked" else "chunked"
    yield (
        "mrope_section",
        f"{one.section_layout}",
        f"{other}: {moved} of {planes} planes would turn with another axis; text alone does not show it",
        "Qwen3-VL and later" if other == "interleaved" else "Qwen2-VL and Qwen2.5-VL",
    )


def _slopes(one: Alibi) -> Iterator[tuple[str, str, str, str]]:
    count = len(one.slopes)
    if count & (count - 1):
        uniform = [nearest_float(sp.Integer(2) ** sp.Rational(-8 * (h + 1), count)) for h in range(2)]
        here = [nearest_float(m) for m in one.slopes[:2]]
        yield (
            "slopes",
            f"{here[0]:.6g}, {here[1]:.6g}, …, the lists of two powers of two",
            f"{uniform[0]:.6g}, {uniform[1]:.6g}, …",
            "readers with 2^(-8(h+1)/n) for every n, as the paper's text has it",
        )


_RULES = {"yarn": _yarn, "dynamic": _dynamic, "longrope": _longrope, "proportional": _proportional}
