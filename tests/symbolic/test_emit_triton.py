"""Triton source: readable, masked where blocks are no power of two, offsets of a row in 64 bits."""

from __future__ import annotations

import ast

from exptx.symbolic.block import Block
from exptx.symbolic.catalogue import encoding
from exptx.symbolic.emit_triton import triton_source, triton_statements
from exptx.symbolic.generator import Generator
from exptx.symbolic.lowered import lower_generator


def test_rope_is_one_load_and_one_store_of_every_coordinate():
    lowered = lower_generator(encoding("rope", head_dim=8).generators[0], transpose=True)
    assert triton_source(lowered, "rope", "a title").splitlines()[4:] == [
        "@triton.jit",
        "def rope(x_ptr, c_ptr, s_ptr, y_ptr):",
        '    """a title',
        "",
        "    4 x turn: coordinates i, i + 4, i < 4",
        "        c = cos(ω·t), s = sin(ω·t)",
        "        ω = 1, 1/10, 1/100, 1/1000",
        '    """',
        "    row = tl.program_id(0).to(tl.int64)",
        "    i = tl.arange(0, 4)",
        "    x0 = tl.load(x_ptr + row * 8 + i)",
        "    x1 = tl.load(x_ptr + row * 8 + i + 4)",
        "    c = tl.load(c_ptr + row * 4 + i)",
        "    s = tl.load(s_ptr + row * 4 + i)",
        "    y0 = x0 * c - x1 * s",
        "    y1 = x0 * s + x1 * c",
        "    tl.store(y_ptr + row * 8 + i, y0)",
        "    tl.store(y_ptr + row * 8 + i + 4, y1)",
    ]


def test_three_blocks_are_four_lanes_of_which_one_is_masked():
    generator = Generator.direct_sum(*(Block(rate) for rate in (1, 2, 3)))
    text = triton_source(lower_generator(generator), "fades", "a title")
    assert "i = tl.arange(0, 4)" in text
    assert text.count("mask=i < 3") == 3


def test_the_text_is_python_and_holds_the_statements():
    generator = Generator.direct_sum(Block(1, 2, 3), Block(0, size=2), Block(0), Block(0, 3))
    lowered = lower_generator(generator, inverse=True)
    text = triton_source(lowered, "mixed", "a title")
    function = ast.parse(text).body[-1]
    assert isinstance(function, ast.FunctionDef)
    for program in lowered.programs:
        assert triton_statements(program, indent="    ") in text
