"""Every block, transposed and inverse, becomes a program that is decided equal to its closed form."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp
from exptx.symbolic import lowering
from exptx.symbolic.block import Block
from exptx.symbolic.errors import WrongType
from exptx.symbolic.lowering import lower, shape_program
from exptx.symbolic.program import Term
from exptx.symbolic.verdict import Status

g, w = sp.symbols("gamma omega", positive=True)

BLOCKS = {
    f"{name}-{size}": Block(decay, frequency, size)
    for name, (decay, frequency) in {
        "hold": (0, 0),
        "fade": (g, 0),
        "grow": (-g, 0),
        "turn": (0, w),
        "damped-turn": (g, w),
        "growing-turn": (-g, w),
    }.items()
    for size in (1, 2, 3)
}
WAYS = [
    {"transpose": transpose, "inverse": inverse} for transpose in (False, True) for inverse in (False, True)
]


def named(way):
    return "-".join(name for name, wanted in way.items() if wanted) or "flow"


every_block = pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
every_way = pytest.mark.parametrize("way", WAYS, ids=named)


@every_block
@every_way
def test_the_program_of_every_block_equals_its_closed_form(block, way):
    program = lower(block, **way)
    t = program.position
    closed = block.exp(-t if way["inverse"] else t)
    assert program.closed_form == (closed.T if way["transpose"] else closed)
    assert program.verify().holds


@every_block
@every_way
def test_one_changed_sign_anywhere_is_refuted_with_a_witness(block, way):
    program = lower(block, **way)
    for at, step in enumerate(program.steps):
        for i, term in enumerate(step.terms):
            terms = (*step.terms[:i], replace(term, sign=-term.sign), *step.terms[i + 1 :])
            verdict = changed(program, at, terms).verify()
            assert verdict.status is Status.REFUTED
            assert verdict.witness is not None


@pytest.mark.parametrize(
    "block", [Block(g, size=2), Block(0, w), Block(g, w, 2)], ids=lambda block: block.kind
)
@every_way
def test_one_changed_coefficient_anywhere_is_refuted(block, way):
    program = lower(block, **way)
    tables = [symbol for symbol, _ in program.tables]
    for at, step in enumerate(program.steps):
        for i, term in enumerate(step.terms):
            for other in [(term.factors[0],), *((term.factors[0], table) for table in tables)]:
                if other != term.factors:
                    terms = (*step.terms[:i], Term(term.sign, other), *step.terms[i + 1 :])
                    assert changed(program, at, terms).verify().status is Status.REFUTED


@every_block
@every_way
def test_tables_hold_what_depends_on_the_position_only_and_every_product_holds_one_part_of_x(block, way):
    program = lower(block, **way)
    rates = block.decay.free_symbols | block.frequency.free_symbols
    for _, value in program.tables:
        assert program.position in value.free_symbols <= rates | {program.position}
    of_x = {*program.inputs, *(step.symbol for step in program.steps)}
    for term in (term for step in program.steps for term in step.terms):
        assert sum(factor in of_x for factor in term.factors) == 1


@every_block
def test_one_changed_table_is_refuted(block):
    program = lower(block)
    for i, (symbol, value) in enumerate(program.tables):
        tables = (*program.tables[:i], (symbol, 2 * value), *program.tables[i + 1 :])
        assert replace(program, tables=tables).verify().status is Status.REFUTED


def changed(program, at, terms):
    step = replace(program.steps[at], terms=terms)
    return replace(program, steps=(*program.steps[:at], step, *program.steps[at + 1 :]))


def test_a_turn_is_the_rotation_that_everyone_runs():
    assert str(lower(Block(0, w))).splitlines() == [
        "turn: y0, y1",
        "  c = cos(ω·t)",
        "  s = sin(ω·t)",
        "  y0 = x0·c - x1·s",
        "  y1 = x0·s + x1·c",
    ]


@pytest.mark.parametrize("way", WAYS[1:3], ids=named)
def test_turning_back_is_the_same_tables_with_the_sines_turned_over(way):
    program = lower(Block(0, w), **way)
    assert [step.written for step in program.steps] == ["x0 * c + x1 * s", "x1 * c - x0 * s"]
    assert program.tables == lower(Block(0, w)).tables


def test_a_plane_is_turned_once_and_then_slides():
    assert str(lower(Block(g, w, 3))).splitlines() == [
        "damped_turning_slide3: y0, y1, y2, y3, y4, y5",
        "  c = e^(-γ·t)·cos(ω·t)",
        "  s = e^(-γ·t)·sin(ω·t)",
        "  t = t",
        "  t2 = t²/2",
        "  z0 = x2·c - x3·s",
        "  y4 = x4·c - x5·s",
        "  z1 = x2·s + x3·c",
        "  y5 = x4·s + x5·c",
        "  y0 = x0·c - x1·s + z0·t + y4·t2",
        "  y1 = x0·s + x1·c + z1·t + y5·t2",
        "  y2 = z0 + y4·t",
        "  y3 = z1 + y5·t",
    ]


@pytest.mark.parametrize("size", [5, 16])
@every_way
def test_larger_blocks_are_no_exception(size, way):
    for block in (Block(0, size=size), Block(g, size=size), Block(-g, w, size)):
        assert lower(block, **way).verify().holds


@pytest.mark.parametrize("size", range(1, 9))
@every_way
def test_common_planes_cost_four_products_each_and_every_slide_two(size, way):
    """4m + m(m - 1) products against the 2m(m + 1) of the matrix written out."""
    found = lower(Block(g, w, size), **way).operations()
    assert (found.products, found.sums) == (4 * size + size * (size - 1), 2 * size + size * (size - 1))
    plain = lower(Block(g, 0, size), **way).operations()
    assert (plain.products, plain.sums) == (size * (size + 1) // 2, size * (size - 1) // 2)
    held = lower(Block(0, 0, size), **way).operations()
    assert (held.products, held.sums) == (size * (size - 1) // 2,) * 2


@every_way
def test_the_arithmetic_depends_on_the_shape_and_not_on_the_rates(way):
    for size in (1, 2, 4):
        shape = shape_program(size, turns=True, fades=True, **way)
        for block in (
            Block(-g, w, size),
            Block(sp.Rational(1, 3), sp.pi, size),
            Block(1, sp.sqrt(2) - 1, size),
        ):
            program = lower(block, **way)
            assert (program.name, program.steps) == (shape.name, shape.steps)
            assert [symbol for symbol, _ in program.tables] == [symbol for symbol, _ in shape.tables]


def test_a_sum_used_twice_has_a_name_and_one_used_once_is_opened_with_its_sign():
    x0, x1, x2, c, y0, y1 = sp.symbols("x0 x1 x2 c y0 y1", real=True)
    inner = ((1, c, x0), (-1, None, x1))
    once = (((1, None, x2), (-1, None, inner)), ((1, c, x2),))
    assert [step.written for step in lowering._steps(list(once), (y0, y1))] == ["x2 * c", "x2 - x0 * c + x1"]
    twice = (((1, None, x2), (-1, None, inner)), ((1, None, inner), (1, c, x2)))
    assert [(str(step.symbol), step.written) for step in lowering._steps(list(twice), (y0, y1))] == [
        ("z0", "x0 * c - x1"),
        ("y0", "x2 - z0"),
        ("y1", "z0 + x2 * c"),
    ]


def test_rates_may_have_the_names_that_the_program_uses():
    c, t = sp.Symbol("c", positive=True), sp.Symbol("t", positive=True)
    for block in (Block(sp.Symbol("x0"), c, 2), Block(t, sp.Symbol("y0", positive=True), 2)):
        program = lower(block)
        assert program.verify().holds
        assert changed(program, 0, program.steps[0].terms[:1]).verify().status is Status.REFUTED
    assert lower(Block(t)).position.name == "t_0"


@pytest.mark.parametrize("signs", [(1, -1), (-1, 1), (1, 1)])
@every_way
def test_a_mirrored_block_is_lowered_in_its_own_coordinates(signs, way):
    program = lower(Block(g, w), signs=signs, **way)
    mirror = sp.diag(*signs)
    assert program.closed_form == sp.ImmutableMatrix(mirror * lower(Block(g, w), **way).closed_form * mirror)
    assert program.verify().holds


def test_only_a_block_is_lowered():
    with pytest.raises(WrongType, match=r"block is a \w+; a Block works"):
        lower(sp.eye(2))
