"""A whole generator: every coordinate in one run, in place where the basis only orders and mirrors."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp
from exptx.symbolic.block import Block
from exptx.symbolic.catalogue import encoding
from exptx.symbolic.errors import BadInput, Unsupported, WrongType
from exptx.symbolic.generator import Generator
from exptx.symbolic.lowered import lower_generator
from exptx.symbolic.lowering import lower
from exptx.symbolic.verdict import Status

R = sp.Rational
GENERATORS = {
    "rope": encoding("rope", head_dim=8).generators[0],
    "interleaved": encoding("rope", head_dim=8, interleaved=True).generators[0],
    "partial": encoding("rope", head_dim=8, rotary_dim=4).generators[0],
    "irrational": encoding("rope", head_dim=6).generators[0],
    "alibi": encoding("alibi", num_heads=1, head_dim=3).heads[0].generators[0],
    "mixed": Generator.direct_sum(
        Block(0, 3), Block(R(1, 3)), Block(0, 5), Block(0, size=3), Block(R(1, 7), 1, 2), Block(0), Block(-1)
    ),
    "ordered": Generator.direct_sum(
        Block(1, 2), Block(0, 3, 2), basis=sp.Matrix(6, 6, lambda i, j: (-1) ** j * int(i == (5 * j + 1) % 6))
    ),
    "dense": Generator([[6, -15], [3, -6]]),
    "roots": Generator([[1, 2], [3, 4]]),
}
every_generator = pytest.mark.parametrize("generator", GENERATORS.values(), ids=GENERATORS)
every_way = pytest.mark.parametrize(
    "way", [{}, {"transpose": True}, {"inverse": True}, {"transpose": True, "inverse": True}]
)


@every_generator
@every_way
def test_the_direct_sum_of_the_programs_is_the_flow(generator, way):
    lowered = lower_generator(generator, **way)
    assert lowered.verify().holds
    places = [place for run in lowered.runs for i in range(len(run.blocks)) for place in run.places(i)]
    assert sorted(places) == list(range(generator.dim))


@pytest.mark.parametrize("name", ["rope", "interleaved", "partial", "alibi", "mixed", "ordered"])
@every_way
def test_features_that_are_only_ordered_and_mirrored_are_worked_on_themselves(name, way):
    lowered = lower_generator(GENERATORS[name], **way)
    assert lowered.before is None
    t = sp.Symbol("t", real=True)
    closed = GENERATORS[name].exp(-t if "inverse" in way else t)
    assert lowered.matrix() == (closed.T if "transpose" in way else closed)


@every_way
def test_a_dense_basis_stands_before_and_after(way):
    generator = GENERATORS["dense"]
    lowered = lower_generator(generator, **way)
    t = sp.Symbol("t", real=True)
    closed = generator.exp(-t if "inverse" in way else t)
    difference = lowered.after * lowered.matrix() * lowered.before - (
        closed.T if "transpose" in way else closed
    )
    assert difference.applyfunc(sp.expand).is_zero_matrix


@pytest.mark.parametrize(
    ("interleaved", "starts", "strides"), [(False, (0, 64), (1, 1)), (True, (0, 1), (2, 2))]
)
def test_the_planes_of_rope_are_one_run_in_either_pairing(interleaved, starts, strides):
    rope = encoding("rope", head_dim=128, interleaved=interleaved).generators[0]
    (run,) = lower_generator(rope, transpose=True).runs
    assert (len(run.blocks), run.starts, run.strides) == (64, starts, strides)
    assert run.program.steps == lower(Block(0, 1)).steps  # y0 = x0 c - x1 s, y1 = x0 s + x1 c


def test_a_sum_with_one_wrong_block_is_refuted():
    lowered = lower_generator(GENERATORS["mixed"])
    turn = lowered.runs[0]
    wrong = replace(turn, blocks=(Block(0, 4), *turn.blocks[1:]))
    assert replace(lowered, runs=(wrong, *lowered.runs[1:])).verify().status is Status.REFUTED
    moved = replace(turn, starts=tuple(reversed(turn.starts)))
    assert replace(lowered, runs=(moved, *lowered.runs[1:])).verify().status is Status.REFUTED


@pytest.mark.parametrize(
    ("generator", "error", "words"),
    [
        (sp.eye(2), WrongType, r"generator is a \w+; a Generator works"),
        (
            Generator([[0, 1, 0], [0, 0, 1], [1, 1, 0]]),
            Unsupported,
            r"roots of lambda\*\*3 - lambda - 1, which give no straight-line program",
        ),
        (
            Generator.direct_sum(Block(sp.Symbol("t", positive=True))),
            BadInput,
            "uses t, which is the position here; another name works",
        ),
    ],
)
def test_what_has_no_program_is_refused_in_one_sentence(generator, error, words):
    with pytest.raises(error, match=words):
        lower_generator(generator)
