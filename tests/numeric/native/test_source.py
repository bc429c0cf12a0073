"""The C source: readable, free of warnings, and exact in the way between formats, on every processor."""

import subprocess

import pytest
import torch
from exptx.numeric.native import Native, build
from exptx.numeric.native.source import Kernel, source
from exptx.numeric.rounding import round_dyadic
from exptx.symbolic.emit_c import c_statements
from exptx.symbolic.lowering import shape_program

HALVES = [torch.bfloat16, torch.float16]
TURN = {"turns": True, "fades": False}


@pytest.mark.parametrize("size", [1, 2])
def test_the_statements_of_the_program_stand_in_the_source_as_they_are_emitted(size):
    program = shape_program(size, **TURN)
    text = source(Kernel(program, "bfloat16", True))
    assert c_statements(program, real="lanes", indent="    ") in text
    assert all(line in text for line in str(program).splitlines())


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("shape", [(1, True, False), (1, False, False), (2, True, True)])
def test_no_compiler_finds_fault_with_the_source(dtype, interleaved, shape, processor, tmp_path):
    size, turns, fades = shape
    text = source(Kernel(shape_program(size, turns=turns, fades=fades), dtype, interleaved))
    command = [
        *build.find_compiler().command,
        *build.FLAGS,
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-unused-function",
    ]
    command += ["-fsyntax-only", "-x", "c", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_nothing_of_torch_or_python_is_included():
    text = source(Kernel(shape_program(1, **TURN), "float16", False))
    included = {line.split()[1] for line in text.splitlines() if line.startswith("#include")}
    assert included == {"<pthread.h>", "<stdint.h>", "<string.h>"}


def faded(x, table, interleaved=False):
    """x f, one block a feature: x and table (n,)."""
    out = torch.empty_like(x)
    fade = Native(shape_program(1, turns=False, fades=True))
    fade(x[None, None, None], out[None, None, None], (table[None],), None, interleaved)
    return out


def turned(x0, x1, c, s, interleaved):
    """(x0 c - x1 s, x0 s + x1 c), all (n,)."""
    x = torch.stack((x0, x1), -1).flatten() if interleaved else torch.cat((x0, x1))
    out = torch.empty_like(x)
    turn = Native(shape_program(1, **TURN))
    turn(x[None, None, None], out[None, None, None], (c[None], s[None]), None, interleaved)
    return out.unflatten(0, (-1, 2)).unbind(-1) if interleaved else out.chunk(2)


def same(a, b):
    """Equal bit for bit, but any NaN for any other."""
    bits = {2: torch.int16, 4: torch.int32}[a.element_size()]
    return bool(((a.view(bits) == b.view(bits)) | (a.isnan() & b.isnan())).all())


def every_half(dtype):
    return torch.arange(-(2**15), 2**15).to(torch.int16).view(dtype)


@pytest.mark.parametrize("dtype", HALVES)
def test_every_number_of_sixteen_bits_comes_back_as_it_was(dtype, processor):
    x = every_half(dtype)
    assert same(faded(x, torch.ones(len(x))), x)
    zero = torch.zeros(len(x))
    for interleaved in (False, True):
        y0, _ = turned(x, zero.to(dtype), torch.ones(len(x)), zero, interleaved)
        assert same(y0[x != 0], x[x != 0])


def near_boundaries(dtype):
    """float32 at, and one step beside, every number of the format and every middle between two of them."""
    values = every_half(dtype).float()
    finite = values[values.isfinite()].sort().values.double()
    middles = ((finite[1:] + finite[:-1]) / 2).float()
    beyond = torch.tensor([65504.0, 65519.996, 65520.0, 65536.0, 3.3895e38, 3.3961775e38, 3.4028235e38])
    special = torch.tensor([torch.inf, -torch.inf, torch.nan, -torch.nan, 0.0, -0.0, 1e-45, -1e-45])
    payloads = torch.tensor([0x7F800001, 0x7FFFFFFF, -1, -0x7FFFFF, 0x7FBFFFFF], dtype=torch.int32)
    points = torch.cat((finite.float(), middles, beyond, -beyond, special, payloads.view(torch.float32)))
    steps = [torch.nextafter(points, torch.tensor(way)) for way in (torch.inf, -torch.inf)]
    return torch.cat((points, *steps))


@pytest.mark.parametrize("dtype", HALVES)
def test_every_rounding_is_to_nearest_with_ties_to_even(dtype, processor):
    """1 times a table of float32, next to every boundary; torch rounds the same numbers by its own code."""
    table = near_boundaries(dtype)
    known = table.to(dtype)
    assert same(faded(torch.ones(len(table)).to(dtype), table), known)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("interleaved", [False, True])
def test_rotations_round_alike_wherever_a_number_stands(dtype, interleaved, processor):
    """x0 = 1, x1 = 0: the table comes out; in vectors of each width and beside other kinds of numbers."""
    table = near_boundaries(dtype)
    table = table[table.isfinite()]
    table = table[torch.randperm(len(table), generator=torch.Generator().manual_seed(7))]
    other = table.flip(0)
    one, zero = torch.ones(len(table)).to(dtype), torch.zeros(len(table)).to(dtype)
    y0, y1 = turned(one, zero, table, other, interleaved)
    assert same(y0, (table - 0 * other).to(dtype))  # of either zero
    assert same(y1, (other + 0 * table).to(dtype))


@pytest.mark.parametrize("dtype", HALVES)
def test_rounding_agrees_with_whole_number_arithmetic(dtype):
    """A sample by the exact route, for the case that torch and the kernel err alike."""
    table = near_boundaries(dtype)
    table = table[table.isfinite() & (table.abs() < 65504)][::997]
    got = faded(torch.ones(len(table)).to(dtype), table).double().tolist()
    for value, rounded in zip(table.double().tolist(), got, strict=True):
        numerator, denominator = value.as_integer_ratio()
        assert rounded == round_dyadic(numerator, 1 - denominator.bit_length(), dtype)


def test_nothing_is_fused():
    """x0 c - x1 s with c = x0 = 1 + 2^-12: the square rounds, and the difference to its rounding is 0."""
    a = torch.full((40,), 1 + 2.0**-12)
    square = a * a
    y0, _ = turned(a, square, a, torch.ones(40), False)
    assert (y0 == 0).all()
