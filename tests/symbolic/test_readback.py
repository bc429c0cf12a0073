"""Emitted text itself, in every language, is decided equal to the closed form; changed text is refuted."""

from __future__ import annotations

import re

import pytest
import sympy as sp
from exptx.symbolic.block import Block
from exptx.symbolic.emit_c import c_function, c_statements
from exptx.symbolic.emit_torch import torch_source, torch_statements
from exptx.symbolic.emit_triton import triton_source, triton_statements
from exptx.symbolic.errors import Unreadable
from exptx.symbolic.generator import Generator
from exptx.symbolic.lowered import lower_generator
from exptx.symbolic.lowering import lower
from exptx.symbolic.readback import read_statements, statements_in, verify_statements
from exptx.symbolic.verdict import Status

g, w = sp.symbols("gamma omega", positive=True)
EMITTED = {"c": c_statements, "torch": torch_statements, "triton": triton_statements}
BLOCKS = [Block(decay, frequency, size) for decay in (0, g, -g) for frequency in (0, w) for size in (1, 2, 3)]
WAYS = [
    {"transpose": transpose, "inverse": inverse} for transpose in (False, True) for inverse in (False, True)
]

every_language = pytest.mark.parametrize("language", EMITTED)
every_block = pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.kind}-{block.size}")
every_way = pytest.mark.parametrize(
    "way", WAYS, ids=lambda way: "-".join(k for k, v in way.items() if v) or "flow"
)


@every_language
@every_block
@every_way
def test_the_text_of_every_block_computes_its_closed_form(language, block, way):
    program = lower(block, **way)
    text = EMITTED[language](program, indent="    ")
    assert verify_statements(text, language, program).holds


@every_language
@every_way
@pytest.mark.parametrize(
    "block", [Block(g, size=3), Block(0, w), Block(g, w), Block(0, w, 2)], ids=lambda b: b.kind
)
def test_one_changed_sign_or_coefficient_in_the_text_is_refuted(language, block, way):
    program = lower(block, **way)
    text = EMITTED[language](program)
    changed = [*swapped(text, r" \+ ", " - "), *swapped(text, r" - ", " + ")]
    for symbol, _ in program.tables:
        others = [other for other, _ in program.tables if other != symbol] or [program.inputs[0]]
        changed += [one for other in others for one in swapped(text, rf"(?<= \* ){symbol}\b", str(other))]
    assert len(changed) >= 3
    for other in changed:
        assert verify_statements(other, language, program).status is Status.REFUTED


def swapped(text, old, new):
    """The text with one place changed, for every place."""
    return [text[: found.start()] + new + text[found.end() :] for found in re.finditer(old, text)]


@every_language
def test_the_text_of_the_transposed_program_is_refuted(language):
    program, other = lower(Block(g, w, 2)), lower(Block(g, w, 2), transpose=True)
    assert verify_statements(EMITTED[language](other), language, program).status is Status.REFUTED


@every_language
def test_two_statements_in_the_wrong_order_are_refused(language):
    program = lower(Block(0, w, 2))
    lines = EMITTED[language](program).splitlines()
    with pytest.raises(Unreadable, match="uses y2 before it has a value"):
        verify_statements("\n".join([lines[2], *lines[:2], lines[3]]), language, program)


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("c", "const float y0 = x0 * c - x1 * s", "is no statement in c"),
        ("c", "y0 = x0 * c - x1 * s;", "is no statement in c"),
        ("c", "const float y0 = x0 * c; y1 = x1;", "is no statement in c"),
        ("torch", "const float y0 = x0;", "is no statement in torch"),
        ("torch", "y0 += x0", "is no statement"),
        ("torch", "y0 = x0 / c", "is not read from '/ c' on"),
        ("torch", "y0 = x0 ** c", r"is not read from '\* c' on"),
        ("torch", "y0 = 2 * x0", r"is not read from '2 \* x0' on"),
        ("torch", "y0 = fma(x0, c, s)", "uses fma before it has a value"),
        ("torch", "y0 = (x0 * c", "ends too early"),
        ("torch", "y0 = x0 * (c - s) x1", "is not read from 'x1' on"),
        ("torch", "y0 = x0 # * c", "is not read from '# . c' on"),
        ("torch", "y0 = x0 * c\ny0 = x1", "gives y0 a second value"),
        ("torch", "x0 = x1", "gives x0 a second value"),
        ("torch", "y0 = x0 * c - x1 * s", "never assign y1"),
        ("fortran", "y0 = x0", "language is 'fortran'; one of c, torch, triton works"),
    ],
)
def test_what_is_no_list_of_statements_is_refused(language, text, words):
    with pytest.raises(Unreadable, match=words):
        verify_statements(text, language, lower(Block(0, w)))


def test_the_statements_of_every_run_are_found_in_a_whole_source():
    generator = Generator.direct_sum(Block(0, 3, 3), Block(0), Block(1, 2), Block(0, size=2))
    lowered = lower_generator(generator)
    for language, source in (("c", c_function), ("torch", torch_source), ("triton", triton_source)):
        found = statements_in(source(lowered, "mixed", "a title: y0 = x0"))
        for text, run in zip(found, lowered.runs, strict=True):
            assert verify_statements(text, language, run.program).holds


def test_products_bind_before_sums_and_minus_belongs_to_one_product():
    names = {name: sp.Symbol(name, real=True) for name in "abcd"}
    a, b, c, d = names.values()
    for text, value in {
        "a - b - c": a - b - c,
        "a - (b - c)": a - (b - c),
        "-a * b + c * d": -a * b + c * d,
        "a * b - c * d * a": a * b - c * d * a,
        "(a + b) * (c - d)": (a + b) * (c - d),
    }.items():
        ((name, found),) = read_statements(f"y = {text}", "torch", names)
        assert (name, sp.expand(found - value)) == ("y", 0)
