"""Native kernels of any program, against its steps in float64 and against the specification."""

import math

import pytest
import torch
from exptx.numeric import exact, native, reference
from exptx.numeric.native import Native
from exptx.numeric.validation import compute_dtype
from exptx.proofs import budget
from exptx.symbolic import Block, Generator, encoding, frequencies
from exptx.symbolic.lowering import shape_program

DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
PROGRAMS = [  # size, turns, fades, transpose, interleaved
    (1, False, True, False, False),
    (2, False, False, True, True),
    (2, False, True, False, False),
    (1, True, True, True, True),
    (2, True, False, False, False),
    (3, True, True, False, True),
    (3, True, True, True, False),
]


def drawn(shape, dtype, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def coordinates(x, n, blocks, interleaved):
    """(n, b, h, t, blocks): coordinate by coordinate."""
    x = x[..., : n * blocks].double()
    return (
        x.unflatten(-1, (blocks, n)).movedim(-1, 0)
        if interleaved
        else x.unflatten(-1, (n, blocks)).movedim(3, 0)
    )


def product(factors):
    return math.prod(factors[1:], start=factors[0])


def evaluated(program, inputs, rows, dtype):
    """(y, budget): the terms of the steps in float64; γ_n of the sum of their magnitudes, and a rounding."""
    given = [*program.inputs, *(symbol for symbol, _ in program.tables)]
    values = dict(zip(given, [*inputs, *rows], strict=True))
    sizes = {symbol: value.abs() for symbol, value in values.items()}
    for step in program.steps:
        for found, signs in ((values, [term.sign for term in step.terms]), (sizes, [1] * len(step.terms))):
            terms = [product([found[f] for f in term.factors]) for term in step.terms]
            found[step.symbol] = sum(sign * term for sign, term in zip(signs, terms, strict=True))
    known, size = (torch.stack([found[y] for y in program.outputs]) for found in (values, sizes))
    error = sum(budget.gamma(program.roundings(), kind) for kind in (dtype, "float64")) * size
    return known, budget.rounded(known.abs(), error, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("size", "turns", "fades", "transpose", "interleaved"), PROGRAMS)
def test_every_program_does_what_its_steps_say(dtype, size, turns, fades, transpose, interleaved):
    program = shape_program(size, turns=turns, fades=fades, transpose=transpose)
    n, blocks = len(program.inputs), 53
    x = drawn((2, 3, 4, n * blocks + 1), dtype)
    rows = [drawn((4, blocks), compute_dtype(dtype), 5 + i) for i in range(len(program.tables))]
    out = torch.empty_like(x)
    Native(program)(x, out, tuple(rows), None, interleaved)
    inputs = coordinates(x, n, blocks, interleaved)
    known, bound = evaluated(program, inputs, [row.double() for row in rows], dtype)
    assert ((coordinates(out, n, blocks, interleaved) - known).abs() <= bound).all()
    assert torch.equal(out[..., -1], x[..., -1])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("head_dim", [2, 6, 12])
def test_the_rotation_is_the_flow_of_the_rotary_generator(dtype, interleaved, head_dim):
    """By the specification, in exact numbers: x turns as a key does, by -s; back by the transposed flow."""
    ids = torch.tensor([1, -7, 100, 0])
    x = drawn((1, 3, 4, head_dim), dtype)
    cos, sin = exact.rotary_table(frequencies(10000, head_dim), ids, dtype=compute_dtype(dtype))
    generator = encoding("rope", head_dim=head_dim, interleaved=interleaved).generators[0]
    for inverse in (False, True):
        out = torch.empty_like(x)
        native.rotary(x, out, cos, sin, None, head_dim, interleaved, "bhtd", inverse)
        known = reference.transport(x, generator, -ids, transpose=inverse)
        size = x.double().abs().amax(-1, keepdim=True)
        table = budget.unit_roundoff(compute_dtype(dtype))  # correctly rounded
        bound = budget.rotated_coordinate(known.abs(), size, size, table, 2 * size, dtype)
        assert ((out.double() - known).abs() <= bound + head_dim * budget.ORACLE * size).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("transpose", [False, True])
def test_a_slide_is_the_flow_of_its_generator(dtype, transpose):
    """Block J_3(0): whole numbers throughout, so that nothing rounds and the results are equal."""
    program = shape_program(3, turns=False, fades=False, transpose=transpose)
    ids = torch.tensor([0, 2, 4])
    rows = tuple((ids.double() ** k / math.factorial(k))[:, None].to(compute_dtype(dtype)) for k in (1, 2))
    x = torch.randint(-3, 4, (2, 2, 3, 3)).to(dtype)
    out = torch.empty_like(x)
    Native(program)(x, out, rows)
    known = reference.transport(x, Generator.direct_sum(Block(0, 0, 3)), ids, transpose=transpose)
    assert torch.equal(out.double(), known)


@pytest.mark.parametrize("which", range(4))
def test_a_changed_coefficient_is_seen(which):
    """Eight roundoffs on one table entry of a dominant product leave the budget of the unchanged program."""
    program = shape_program(1, turns=True, fades=True)
    x = torch.tensor([[1.5, 0.0], [0.0, 1.5]])[which // 2].reshape(1, 1, 1, 2)
    rows = [torch.full((1, 1), value) for value in (0.75, 0.625)]
    known, bound = evaluated(program, coordinates(x, 2, 1, False), [r.double() for r in rows], x.dtype)
    for scale, fits in ((1.0, True), (1 + 8 * budget.unit_roundoff(torch.float32), False)):
        changed = [row * (scale if k == which % 2 else 1.0) for k, row in enumerate(rows)]
        out = torch.empty_like(x)
        Native(program)(x, out, tuple(changed))
        off = (coordinates(out, 2, 1, False) - known).abs()
        assert bool((off <= bound).all()) is fits
