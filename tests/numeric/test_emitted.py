"""The emitted functions: the flow of every block, within the roundings that its program counts."""

from __future__ import annotations

import inspect
import traceback

import pytest
import sympy as sp
import torch
from exptx.numeric import emitted, exact
from exptx.numeric.constants import nearest_float
from exptx.numeric.rounding import unit_roundoff
from exptx.proofs import budget
from exptx.symbolic import Block, Generator
from exptx.symbolic.emit_torch import torch_source
from exptx.symbolic.errors import WrongType
from exptx.symbolic.lowered import lower_generator
from exptx.symbolic.lowering import DECAY, FREQUENCY, lower, shape_program

R = sp.Rational
SHAPES = [(turns, fades, size) for turns in (False, True) for fades in (False, True) for size in (1, 2, 3, 6)]
WAYS = [
    {"transpose": transpose, "inverse": inverse} for transpose in (False, True) for inverse in (False, True)
]


def tables(program, block, t, dtype):
    """The tables of a shape at the rates of a block, each the nearest number of the dtype."""
    at = {program.position: t, DECAY: block.decay, FREQUENCY: block.frequency}
    exact_entries = [value.subs(at, simultaneous=True) for _, value in program.tables]
    return [torch.tensor(nearest_float(entry), dtype=torch.float64).to(dtype) for entry in exact_entries]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize(("turns", "fades", "size"), SHAPES)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(k for k, v in way.items() if v) or "flow")
def test_every_shape_is_the_exact_flow_within_its_roundings(turns, fades, size, way, dtype):
    """|y - M x| <= γ_n |M||x| entry by entry; a table in float64 before it is stored rounds once more."""
    block = Block(R(1, 7) if fades else 0, R(3, 5) if turns else 0, size)
    program = shape_program(size, turns=turns, fades=fades, **way)
    seed = torch.Generator().manual_seed(size)
    x = torch.randn(block.dim, 50, generator=seed).to(dtype)
    y = torch.stack(emitted.compiled(program)(*x, *tables(program, block, R(5, 2), dtype)))
    matrix = exact.flow(Generator.direct_sum(block), -2.5 if way["inverse"] else 2.5)
    matrix = matrix.T if way["transpose"] else matrix
    roundings = budget.gamma(program.roundings(), dtype) + 2 * unit_roundoff("float64")
    assert y.dtype == dtype
    assert ((y.double() - matrix @ x.double()).abs() <= roundings * (matrix.abs() @ x.double().abs())).all()


def test_one_coefficient_off_by_eight_roundoffs_is_seen():
    program = shape_program(1, turns=True, fades=False)
    block, t = Block(0, R(3, 5)), R(5, 2)
    x = torch.tensor([[1.0], [0.0]])
    matrix = exact.flow(Generator.direct_sum(block), 2.5)
    bound = budget.gamma(program.roundings(), torch.float32) * (matrix.abs() @ x.double().abs())
    for which in range(2):
        entries = tables(program, block, t, torch.float32)
        entries[which] = entries[which] * (1 + 8 * unit_roundoff("float32"))
        y = torch.stack(emitted.compiled(program)(*x, *entries))
        assert ((y.double() - matrix @ x.double()).abs() > bound).any()


def test_the_functions_broadcast_their_tables_over_heads():
    x0, x1 = torch.randn(2, 2, 3, 5, 4, generator=torch.Generator().manual_seed(0))
    c, s = torch.randn(2, 5, 4, generator=torch.Generator().manual_seed(1))
    y0, y1 = emitted.turn(x0, x1, c, s)
    assert y0.shape == y1.shape == (2, 3, 5, 4)
    for head in range(3):
        alone = emitted.turn(x0[:, head], x1[:, head], c, s)
        assert torch.equal(torch.stack(alone), torch.stack((y0[:, head], y1[:, head])))


def test_turning_and_the_transposed_turn_are_adjoint():
    x, y = torch.randn(2, 2, 64, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    c, s = torch.randn(2, 64, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    there = sum(a * b for a, b in zip(emitted.turn(*x, c, s), y, strict=True))
    back = sum(a * b for a, b in zip(x, emitted.turn_transposed(*y, c, s), strict=True))
    size = sum(abs(a) for a in (x[0] * c * y[0], x[1] * s * y[0], x[0] * s * y[1], x[1] * c * y[1]))
    assert ((there - back).abs() <= 2 * budget.gamma(4, torch.float64) * size).all()


def test_the_functions_are_differentiable_in_features_and_tables():
    given = [torch.randn(3, dtype=torch.float64, requires_grad=True) for _ in range(4)]
    assert torch.autograd.gradcheck(emitted.turn, given)


def test_the_functions_compile_without_a_break():
    given = torch.randn(4, 8, generator=torch.Generator().manual_seed(0)).unbind()
    compiled = torch.compile(emitted.turn, fullgraph=True, backend="eager")
    assert all(map(torch.equal, compiled(*given), emitted.turn(*given)))


def test_a_program_is_compiled_once():
    program = lower(Block(DECAY, FREQUENCY, 3))
    assert emitted.compiled(program) is emitted.compiled(shape_program(3, turns=True, fades=True))


def test_the_source_stands_in_tracebacks_and_can_be_inspected():
    assert "y0 = x0 * c - x1 * s" in inspect.getsource(emitted.turn)
    with pytest.raises(RuntimeError) as caught:
        emitted.turn(torch.ones(2), torch.ones(2), torch.ones(3), torch.ones(3))
    assert "y0 = x0 * c - x1 * s" in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("text", ["def turn(x): pass", None, torch_source])
def test_nothing_but_a_program_is_compiled(text):
    with pytest.raises(WrongType, match=r"program is a \w+; a Program works"):
        emitted.compiled(text)


@pytest.mark.parametrize("way", WAYS[:3], ids=lambda way: "-".join(k for k, v in way.items() if v) or "flow")
def test_the_printed_file_of_a_generator_is_its_flow(way):
    """`torch_source` as a user would run it, from a file."""
    generator = Generator.direct_sum(
        Block(0, 3), Block(R(1, 3)), Block(0), Block(0, size=3), Block(R(1, 7), 1, 2), Block(0, 5)
    )
    lowered = lower_generator(generator, **way)
    names = {}
    exec(torch_source(lowered, "moved", "a title"), names)
    x = torch.randn(7, generator.dim, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    rows = []
    for run in lowered.runs:
        for i, (symbol, value) in enumerate(run.program.tables):
            own = bool(value.free_symbols & {DECAY, FREQUENCY})
            entries = [tables(run.program, block, R(5, 2), torch.float64)[i] for block in run.blocks]
            rows.append((symbol.name if not own else None, torch.stack(entries if own else entries[:1])))
    single, given = set(), []
    for name, row in rows:
        if name is None or name not in single:
            given.append(row)
        single |= {name} - {None}
    y = names["moved"](x, *given)
    matrix = exact.flow(generator, -2.5 if way["inverse"] else 2.5)
    matrix = matrix.T if way["transpose"] else matrix
    roundings = max(program.roundings() for program in lowered.programs)
    bound = (budget.gamma(roundings, torch.float64) + 2 * unit_roundoff("float64")) * (
        x.abs() @ matrix.abs().T
    )
    assert ((y - x @ matrix.T).abs() <= bound).all()
