"""C source: readable, without a warning from the compiler, and the flow of the generator when it runs."""

from __future__ import annotations

import ctypes
import subprocess

import pytest
import sympy as sp
from exptx.symbolic.block import Block
from exptx.symbolic.catalogue import encoding
from exptx.symbolic.emission import arguments, tables_of
from exptx.symbolic.emit_c import c_function, c_statements
from exptx.symbolic.generator import Generator
from exptx.symbolic.lowered import lower_generator
from exptx.symbolic.lowering import DECAY, FREQUENCY, lower

R = sp.Rational
ROPE = encoding("rope", head_dim=8).generators[0]
MIXED = Generator.direct_sum(
    Block(0, 3),
    Block(R(1, 3), 2),
    Block(0),
    Block(0, size=3),
    Block(R(-1, 5)),
    Block(R(1, 7), 1, 2),
    Block(0),
)
TURNED = Generator([[6, -15], [3, -6]])


def test_the_statements_of_a_turn_are_two_declarations():
    program = lower(Block(0, 1))
    assert c_statements(program) == "const float y0 = x0 * c - x1 * s;\nconst float y1 = x0 * s + x1 * c;"
    assert c_statements(program, real="double", indent="  ").splitlines()[0] == (
        "  const double y0 = x0 * c - x1 * s;"
    )


def test_rope_is_one_loop():
    assert c_function(
        lower_generator(ROPE, transpose=True), "rope", "a title\nof two lines"
    ).splitlines() == [
        "/* a title",
        "   of two lines",
        "   4 x turn: coordinates i, i + 4, i < 4",
        "       c = cos(ω·t), s = sin(ω·t)",
        "       ω = 1, 1/10, 1/100, 1/1000 */",
        "void rope(const float *x, const float *c_row, const float *s_row, float *y)",
        "{",
        "    for (int i = 0; i < 4; ++i) {",
        "        const float x0 = x[i];",
        "        const float x1 = x[i + 4];",
        "        const float c = c_row[i];",
        "        const float s = s_row[i];",
        "        const float y0 = x0 * c - x1 * s;",
        "        const float y1 = x0 * s + x1 * c;",
        "        y[i] = y0;",
        "        y[i + 4] = y1;",
        "    }",
        "}",
    ]


def test_a_long_head_breaks_between_parameters():
    lines = c_function(lower_generator(MIXED), "mixed", "a title").splitlines()
    head = lines[next(i for i, line in enumerate(lines) if line.startswith("void")) : lines.index("{")]
    assert len(head) > 1
    assert all(len(line) <= 100 and line.endswith((",", ")")) for line in head)


@pytest.mark.parametrize("generator", [ROPE, MIXED, TURNED], ids=["rope", "mixed", "turned"])
@pytest.mark.parametrize(
    "way", [{}, {"transpose": True}, {"inverse": True}, {"transpose": True, "inverse": True}]
)
def test_the_compiled_function_is_the_flow_of_the_generator_in_place_too(generator, way, tmp_path):
    lowered = lower_generator(generator, **way)
    run = compiled(lowered, tmp_path)
    t, x = R(7, 3), [R(3 * i - 5, 7) for i in range(generator.dim)]
    closed = generator.exp(-t if "inverse" in way else t)
    known = (closed.T if "transpose" in way else closed) * sp.Matrix(x)
    inside = sp.Matrix(x) if lowered.before is None else lowered.before * sp.Matrix(x)
    outcomes = [run(list(map(float, inside)), t, in_place) for in_place in (False, True)]
    assert outcomes[0] == outcomes[1]
    found = sp.Matrix(outcomes[0]) if lowered.after is None else lowered.after * sp.Matrix(outcomes[0])
    above = closed.applyfunc(abs) if generator is not TURNED else sp.Matrix([[20, 20], [20, 20]])
    spread = (above.T if "transpose" in way else above) * sp.Matrix([abs(entry) for entry in x])
    roundings = (
        max(program.roundings() for program in lowered.programs) + 2
    )  # entries of t and of x round as well
    for i in range(generator.dim):
        assert abs(sp.N(known[i] - found[i], 30)) <= roundings * 2.0**-52 * sp.N(spread[i])


def compiled(lowered, folder):
    """The function in double precision: features, position, whether y is x -> the result."""
    source, library = folder / "kernel.c", folder / "kernel.so"
    source.write_text(c_function(lowered, "kernel", "a title", real="double"))
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O2"]
    subprocess.run(["cc", *strict, "-shared", "-fPIC", source, "-o", library], check=True)
    kernel = ctypes.CDLL(str(library)).kernel
    kernel.restype = None

    def run(features, t, in_place):
        x = (ctypes.c_double * len(features))(*features)
        y = x if in_place else (ctypes.c_double * len(features))()
        kernel(x, *rows(lowered, t), y)
        return list(y)

    return run


def rows(lowered, t):
    """Every table at t from the exact rates of its blocks: numbers, or arrays of doubles."""
    own = tables_of(lowered)
    values = {}
    for run, tables in zip(lowered.runs, own, strict=True):
        of_program = dict(run.program.tables)
        for table in tables:
            entries = [
                float(
                    of_program[table.symbol]
                    .subs({run.program.position: t, DECAY: block.decay, FREQUENCY: block.frequency})
                    .evalf(30)
                )
                for block in run.blocks
            ]
            single = table.length is None
            values[table.name] = (
                ctypes.c_double(entries[0]) if single else (ctypes.c_double * len(entries))(*entries)
            )
    return [values[table.name] for table in arguments(own)]
