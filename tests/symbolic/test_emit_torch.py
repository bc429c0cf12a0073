"""PyTorch source: readable, the same on every run, and a new tensor that is the flow of the generator."""

from __future__ import annotations

import pytest
import sympy as sp
from exptx.symbolic.block import Block
from exptx.symbolic.emit_torch import torch_function, torch_source, torch_statements
from exptx.symbolic.generator import Generator
from exptx.symbolic.lowered import lower_generator
from exptx.symbolic.lowering import lower

w = sp.Symbol("omega", positive=True)


def test_a_turn_reads_as_it_is_written_on_paper():
    assert torch_function(lower(Block(0, w))) == (
        "def turn(x0, x1, c, s):\n"
        '    """turn: y = M(t) x, with c = cos(ω·t), s = sin(ω·t)."""\n'
        "    y0 = x0 * c - x1 * s\n"
        "    y1 = x0 * s + x1 * c\n"
        "    return y0, y1\n"
    )


def test_one_output_is_still_a_tuple():
    assert torch_function(lower(Block(1))).endswith("    y0 = x0 * f\n    return y0,\n")


@pytest.mark.parametrize("block", [Block(1, w, 3), Block(0, size=4), Block(0)])
def test_the_statements_stand_in_the_function_word_for_word(block):
    program = lower(block, transpose=True)
    assert torch_statements(program, indent="    ") in torch_function(program)


def test_a_generator_in_several_runs_names_every_table_once():
    generator = Generator.direct_sum(Block(0, 3), Block(0), Block(1, 2), Block(0), Block(0, size=2))
    assert torch_source(lower_generator(generator), "mixed", "a title") == "\n".join(
        [
            "import torch",
            "",
            "",
            "def mixed(x, c, s, c_2, s_2, t):",
            '    """a title',
            "",
            "    turn: coordinates 0, 1",
            "        c = cos(ω·t), s = sin(ω·t)",
            "        ω = 3",
            "    2 x hold: coordinate 3 * i + 2, i < 2",
            "    damped turn: coordinates 3, 4",
            "        c_2 = e^(-γ·t)·cos(ω·t), s_2 = e^(-γ·t)·sin(ω·t)",
            "        γ = 1, ω = 2",
            "    slide2: coordinates 6, 7",
            "        t = t",
            '    """',
            "    y = torch.empty_like(x)",
            "    x0 = x[..., 0:1]",
            "    x1 = x[..., 1:2]",
            "    y0 = x0 * c - x1 * s",
            "    y1 = x0 * s + x1 * c",
            "    y[..., 0:1] = y0",
            "    y[..., 1:2] = y1",
            "    x0 = x[..., 2:6:3]",
            "    y0 = x0",
            "    y[..., 2:6:3] = y0",
            "    x0 = x[..., 3:4]",
            "    x1 = x[..., 4:5]",
            "    c = c_2",
            "    s = s_2",
            "    y0 = x0 * c - x1 * s",
            "    y1 = x0 * s + x1 * c",
            "    y[..., 3:4] = y0",
            "    y[..., 4:5] = y1",
            "    x0 = x[..., 6:7]",
            "    x1 = x[..., 7:8]",
            "    y0 = x0 + x1 * t",
            "    y1 = x1",
            "    y[..., 6:7] = y0",
            "    y[..., 7:8] = y1",
            "    return y",
            "",
        ]
    )
