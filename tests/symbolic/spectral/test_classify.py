"""The real Jordan type of any exact matrix: planted types come back, and their flow is that of Arb."""

import os
import random
import time
from collections import Counter
from functools import cache

import pytest
import sympy as sp
from exptx.symbolic.block import Block
from exptx.symbolic.decide import Status
from exptx.symbolic.errors import Unsupported
from exptx.symbolic.generator import Generator
from exptx.symbolic.spectral.companion import CompanionBlock

t, x = sp.symbols("t x")
a, b, k = sp.symbols("a b k", positive=True)
c = sp.Symbol("c", real=True)
Q = sp.Rational
PLANTED = int(os.environ.get("EXPTX_PLANTED", "220"))  # `make sweep` sets 2000
TYPES = [1, 4, 7, 20, 36, 87, 162, 355]


# ---------------------------------------------------------------- planted types


def partitions(n, largest=None):
    """The partitions of n, largest part first."""
    if n == 0:
        yield ()
    for first in range(min(n, largest or n), 0, -1):
        yield from ((first, *rest) for rest in partitions(n - first, first))


@cache
def types(d):
    """Multisets of clusters (width, partition): one real or complex eigenvalue with its block sizes."""
    clusters = [(w, p) for w in (1, 2) for n in range(1, d // w + 1) for p in partitions(n)]

    def choose(room, start):
        if room == 0:
            yield ()
        for i in range(start, len(clusters)):
            width, sizes = clusters[i]
            if width * sum(sizes) <= room:
                yield from ((clusters[i], *rest) for rest in choose(room - width * sum(sizes), i))

    return list(choose(d, 0))


DECAYS = sorted({Q(n, m) for n in range(-6, 7) for m in (1, 2, 3)})


def planted(type_, rng):
    """Blocks of this type with different small rational eigenvalues."""
    blocks = []
    for (width, sizes), decay in zip(type_, rng.sample(DECAYS, len(type_)), strict=True):
        frequency = Q(rng.randint(1, 9), rng.choice((1, 2, 3))) if width == 2 else 0
        blocks += [Block(decay, frequency, size) for size in sizes]
    return blocks


def over_q(matrix):
    return matrix.to_DM().to_field().to_dense()


def dense(n, rng):
    """A random dense rational basis, invertible."""
    while True:
        basis = over_q(sp.Matrix(n, n, lambda i, j: Q(rng.randint(-5, 5), rng.choice((1, 1, 2, 3)))))
        if basis.rank() == n:
            return basis


def conjugated(blocks, rng):
    """The direct sum of the blocks in a random dense rational basis."""
    whole = over_q(sp.diag(*[block.matrix for block in blocks]))
    basis = dense(whole.shape[0], rng)
    return (basis * whole * basis.inv()).to_Matrix()


@pytest.mark.parametrize(("d", "count"), list(enumerate(TYPES, 1)))
def test_there_are_as_many_structural_types_as_listed(d, count):
    assert len(types(d)) == len(set(types(d))) == count


def test_a_generating_function_counts_the_same_types():
    """Π over clusters 1/(1 - x^size), without listing any type."""
    counts = [1] + [0] * 8
    for width in (1, 2):
        for n in range(1, 8 // width + 1):
            for _ in partitions(n):
                for d in range(width * n, 9):
                    counts[d] += counts[d - width * n]
    assert counts[1:] == TYPES


def chosen():
    """A fixed sample of all types, every dimension in it; the whole of it where `PLANTED` allows."""
    rng = random.Random(0)
    everything = [type_ for d in range(1, 9) for type_ in types(d)]
    rounds = [rng.sample(everything, len(everything)) for _ in range(-(-PLANTED // len(everything)))]
    return [type_ for order in rounds for type_ in order][:PLANTED]


@pytest.mark.parametrize("part", range(8))
def test_every_planted_type_is_found_in_a_random_dense_basis(part):
    rng = random.Random(part)
    for type_ in chosen()[part::8]:
        blocks = planted(type_, rng)
        matrix = conjugated(blocks, rng)
        found = Generator(matrix)
        assert Counter(found.blocks) == Counter(blocks)
        basis = over_q(found.basis)
        assert basis * over_q(found.canonical) == over_q(matrix) * basis
        assert (basis * over_q(found.inverse_basis)).to_Matrix() == sp.eye(found.dim)


# ---------------------------------------------------------------- one matrix at a time

CANONICAL = [
    ([[6, -15], [3, -6]], [Block(0, 3)]),
    ([[1, 2], [3, 4]], [Block(-(5 + sp.sqrt(33)) / 2), Block(-(5 - sp.sqrt(33)) / 2)]),
    ([[0, 2], [0, 0]], [Block(0, 0, 2)]),
    ([[0, 0], [1, 0]], [Block(0, 0, 2)]),
    ([[1, 1], [0, 2]], [Block(-1), Block(-2)]),
    ([[-1, -2], [3, -1]], [Block(1, sp.sqrt(6))]),
    (sp.Matrix([[0, 0, 1], [0, 5, 0], [0, 0, 0]]), [Block(0, 0, 2), Block(-5)]),
    ([[1, 1], [0, 1 + Q(1, 10**6)]], [Block(-1), Block(-1 - Q(1, 10**6))]),  # eigenvalues 1e-6 apart
    ([[1, 1], [Q(-1, 10**12), 1]], [Block(-1, Q(1, 10**6))]),
    ([[sp.sqrt(2), 1, 0], [0, sp.sqrt(2), 0], [1, 0, 1]], [Block(-sp.sqrt(2), 0, 2), Block(-1)]),
    ([[0, -sp.sqrt(2)], [sp.sqrt(2), 1]], [Block(Q(-1, 2), sp.sqrt(7) / 2)]),
    ([[0, 1], [-a, 0]], [Block(0, sp.sqrt(a))]),
    ([[a, 1], [0, a + b]], [Block(-a), Block(-a - b)]),
    ([[0, a, 0], [0, 0, b], [0, 0, 0]], [Block(0, 0, 3)]),
    ([[0, 2 * sp.pi], [0, 1]], [Block(0), Block(-1)]),
    ([[sp.pi, 1], [0, 3]], [Block(-sp.pi), Block(-3)]),
    ([[sp.sqrt(2) * a, 1], [0, a]], [Block(-sp.sqrt(2) * a), Block(-a)]),
    ([[-a, 2 * b], [-b, -a]], [Block(a, sp.sqrt(2) * b)]),
    ([[0, 1], [-(a**2) - b**2, -2 * a]], [Block(a, b)]),
    ([[0, 1], [-(c**2) - 1, 0]], [Block(0, sp.sqrt(c**2 + 1))]),
    (sp.zeros(3), [Block(0)] * 3),
]


@pytest.mark.parametrize(("matrix", "blocks"), CANONICAL)
def test_eigenvalues_up_to_degree_two_give_canonical_blocks_that_solve(matrix, blocks):
    found = Generator(matrix)
    assert Counter(found.blocks) == Counter(blocks)
    assert found.verify().status is Status.PROVED


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        ([[0, -c], [c, 0]], r"discriminant -4\*c\*\*2 has no sign"),  # which way it turns is not known
        ([[0, 1], [-a, -b]], r"discriminant -4\*a \+ b\*\*2 has no sign"),
        ([[a, 1], [0, b]], r"where a - b = 0, .*\(a - b\)\*\*2"),
        ([[0, c, 0], [0, 0, 1], [0, 0, 0]], "where c = 0"),
        ([[0, 0, a], [1, 0, 0], [0, 1, 0]], r"does not split: .* discriminant -27\*a\*\*2"),
        (sp.Matrix(4, 4, lambda i, j: sp.sqrt((2, 3, 5, 7)[(i + j) % 4])), "4 different square roots"),
        ([[0, sp.log(2)], [1, 0]], r"entry log\(2\)"),
        ([[0, sp.cbrt(2)], [1, 0]], r"entry 2\*\*\(1/3\)"),
        ([[0, sp.sin(a)], [1, 0]], r"entry sin\(a\)"),
        ([[0, sp.sqrt(a)], [1, 0]], r"entry sqrt\(a\)"),
    ],
)
def test_what_the_assumptions_or_entries_leave_open_is_refused_by_name(matrix, sentence):
    with pytest.raises(Unsupported, match=sentence):
        Generator(matrix)


def test_parts_are_found_wherever_their_rows_stand():
    """Half-split RoPE: plane i lives in rows i and i + n/2; irrational frequencies stay as they are."""
    n = 64
    waves = [sp.Integer(10000) ** Q(-2 * i, n) for i in range(n // 2)]
    matrix = sp.zeros(n)
    for i, wave in enumerate(waves):
        matrix[i, i + n // 2], matrix[i + n // 2, i] = wave, -wave
    found = Generator(matrix)
    assert list(found.blocks) == [Block(0, wave) for wave in waves]
    assert found.verify().status is Status.PROVED


def seconds(work):
    start = time.process_time()
    work()
    return time.process_time() - start


def test_a_generic_matrix_of_size_8_takes_less_than_two_seconds():
    rng = random.Random(8)
    matrix = sp.Matrix(8, 8, lambda i, j: rng.randint(-9, 9))
    assert seconds(lambda: Generator(matrix).exp(t)) < 2


def test_rope_of_size_64_takes_less_than_a_second():
    waves = [sp.Integer(10000) ** Q(-i, 32) for i in range(32)]
    matrix = sp.diag(*[sp.Matrix([[0, wave], [-wave, 0]]) for wave in waves])
    assert seconds(lambda: Generator(matrix)) < 1


@pytest.mark.parametrize(
    ("factor", "size"),
    [
        (x**3 - x - 1, 1),
        (x**3 - 2, 2),
        (x**4 + 10 * x**2 + 1, 1),
        (x**4 - 10 * x**2 + 1, 2),
        (x**5 - x - 1, 1),
    ],
)
def test_irreducible_factors_of_higher_degree_give_companion_blocks_of_their_sizes(factor, size):
    block = CompanionBlock(sp.Poly(factor, x, domain="QQ"), size)
    found = Generator(conjugated([block, Block(2, 0, 2), Block(0, 1)], random.Random(size)))
    assert Counter(found.blocks) == Counter([block, Block(2, 0, 2), Block(0, 1)])
    assert found.verify().status is Status.PROVED


def test_repeated_irreducible_factors_are_told_apart_by_their_sizes():
    cubic = sp.Poly(x**3 - 2, x, domain="QQ")
    matrix = conjugated([CompanionBlock(cubic, 2), CompanionBlock(cubic, 1)], random.Random(0))
    assert [(block.size, block.multiplicity) for block in Generator(matrix).blocks] == [(2, 3), (1, 3)]


def test_a_fourth_root_over_a_field_with_square_roots_is_a_companion_block():
    found = Generator([[0, sp.sqrt(2)], [1, 0]])
    (block,) = found.blocks
    assert block.factor.as_expr() == sp.Symbol("lambda") ** 2 - sp.sqrt(2)
    assert found.verify().status is Status.PROVED


@pytest.mark.parametrize(
    "matrix", [[[0, 1], [-a, 0]], [[0, 1], [-(c**2) - 1, 0]], [[1, 2], [3, 4]], [[-a, 2 * b], [-b, -a]]]
)
def test_every_step_of_a_derivation_holds_also_with_square_roots(matrix):
    assert Generator(matrix).derivation().holds
