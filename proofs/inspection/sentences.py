"""Sentences about an encoding, a rule, an amplitude: what a reader is told before the numbers."""

from __future__ import annotations

from ...symbolic.configs.description import Alibi, Layers, Learned, Rotary
from ...symbolic.frequencies import as_written


def number(value: object) -> str:
    """A number as people write it: 500000, 0.25, 1e+07 as 10000000."""
    exact = as_written(value)
    if getattr(exact, "is_Integer", False):
        return str(exact)
    return f"{float(exact):.6g}"


def encoding(group: Layers, window: int | None) -> str:
    """One sentence: what positions do in these layers; window: of how many positions, if it cuts the text."""
    one = group.encoding
    if isinstance(one, Rotary):
        what = _rotary(one)
    elif isinstance(one, Alibi):
        what = (
            f"ALiBi: the logit of every head loses its slope times the gap; {len(one.slopes)} heads"
            f"{'' if not one.scaled else ', bias and score divided by √d together'}"
        )
    elif isinstance(one, Learned):
        count = "some" if one.count is None else str(one.count)
        what = f"a learned vector for each of {count} positions is added to the input; beyond there is none"
    else:
        what = f"no position enters queries and keys: {one.why}"
    return what if window is None else f"{what}; {_reach(group, window)}"


def _reach(group: Layers, window: int) -> str:
    if group.both_ways:
        return f"a query sees {window - 1} positions to either side"
    if group.chunked:
        return f"a query sees what precedes it in its chunk of {window} positions"
    return f"a query sees {window} positions, the last one its own"


def _rotary(one: Rotary) -> str:
    whole = one.head_dim + one.apart
    turned = (
        f"all {whole} features of a head turn"
        if one.rotary_dim == whole
        else f"{one.rotary_dim} of the {whole} features of a head turn"
    )
    axes = ""
    if one.sections:
        shares = "/".join(map(str, one.sections))
        axes = f", {len(one.sections)} axes share the planes {shares}, {one.section_layout}"
    pairing = {
        True: "planes (2k, 2k+1)",
        False: f"planes (k, k+{one.rotary_dim // 2})",
        None: "pairing not known",
    }
    planes = f"base {number(one.parameters['rope_theta'])}, {pairing[one.interleaved]}{axes}"
    return f"rotary: {turned}, {planes}; {_RULES[one.rule](one)}"


def _lengths(one: Rotary) -> str:
    return (
        f"factor {number(one.parameters['factor'])}"
        if "factor" in one.parameters
        else "max over original length"
    )


_RULES = {
    "default": lambda one: "no context extension",
    "linear": lambda one: f"linear: every frequency divided by {number(one.parameters['factor'])}",
    "dynamic": lambda one: (
        f"dynamic NTK: beyond {one.trained_length} positions the base grows with the text, {_lengths(one)}"
    ),
    "yarn": lambda one: f"YaRN from {one.trained_length} positions, {_lengths(one)}",
    "llama3": lambda one: f"Llama-3 ramp from {one.trained_length} positions, {_lengths(one)}",
    "longrope": lambda one: (
        f"LongRoPE: a divisor a plane, one list up to {one.trained_length} positions and another beyond"
    ),
    "proportional": lambda one: (
        f"p-RoPE: the fastest {number(one.parameters.get('partial_rotary_factor', 1))} of the planes turn, "
        "exponents count the whole head"
    ),
}
