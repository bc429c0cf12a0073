"""Generators whose eigenvalues have no closed form: taken apart into planes, transported like any other."""

import math
import random

import pytest
import sympy as sp
import torch
from exptx.numeric import TooLarge, exact, reference, transport
from exptx.numeric.roots import in_planes
from exptx.proofs import budget
from exptx.symbolic import Block, Generator
from exptx.symbolic.spectral.companion import CompanionBlock

x, R = sp.Symbol("x"), sp.Rational
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]


def over_q(p):
    return sp.Poly(p, x, domain="QQ")


def in_a_basis(*blocks):
    """The blocks in a random triangular basis."""
    size, draw = sum(block.dim for block in blocks), random.Random(3)
    basis = sp.Matrix(size, size, lambda i, j: R(draw.randint(-2, 2), 3) if j > i else int(i == j))
    return Generator.direct_sum(*blocks, basis=basis)


def companion(p, size=1):
    """The one block of p."""
    return Generator.direct_sum(CompanionBlock(over_q(p), size))


ROOT = sp.Poly(x**2 - sp.sqrt(2), x, extension=True)
GENERATORS = {
    "one real root, one pair": Generator([[0, 1, 0], [0, 0, 1], [1, 1, 0]]),
    "a dense matrix": Generator([[1, 2, 0], [0, 1, 3], [1, 1, 1]]),
    "size two": companion(x**3 - 2, 2),
    "roots on the axis, size two": companion(x**4 + 10 * x**2 + 1, 2),
    "no real root": companion(x**8 + x / 2 + 3),
    "over a larger field": Generator.direct_sum(
        CompanionBlock(sp.Poly(x**2 - sp.sqrt(2), x, extension=True), 2)
    ),
    "roots of very different sizes": Generator.direct_sum(
        CompanionBlock(over_q(x**3 + 30 * x**2 + x / 500 + 1))
    ),
    "beside canonical blocks, in a basis": in_a_basis(
        Block(R(1, 10), R(1, 2), 2), CompanionBlock(over_q(x**5 - x - 1)), Block(0, size=3)
    ),
}


def flow(generator, t):
    """exp(tX) straight from the matrix by Arb, which knows no roots."""
    rows = exact.flow_by_definition(generator, t, bits=512).tolist()
    return torch.tensor([[float(entry.mid()) for entry in row] for row in rows], dtype=torch.float64)


def majorant(generator, t):
    """|S| (⊕ e^{-γt} |t|^k/k! N^k ⊗ ones) |S⁻¹|."""
    found, parts = in_planes(generator), []
    for block in found.blocks:
        fade = math.exp(-block.decay * t)
        toeplitz = sum(
            fade * abs(t) ** k / math.factorial(k) * torch.ones(block.size - k).double().diag(k)
            for k in range(block.size)
        )
        width = 2 if block.turns else 1
        parts.append(torch.kron(toeplitz, torch.ones(width, width).double()))
    basis, inverse = (torch.tensor(m, dtype=torch.float64).abs() for m in (found.basis, found.inverse))
    return basis @ torch.block_diag(*parts) @ inverse


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_transport_is_the_exponential_of_the_matrix(name, dtype):
    generator, ids = GENERATORS[name], torch.tensor([0.0, 3.0, -0.25], dtype=torch.float64)
    vectors = torch.randn(2, 3, 3, generator.dim, generator=torch.Generator().manual_seed(1)).to(dtype)
    kind = torch.float64 if dtype == torch.float64 else torch.float32
    blocks = in_planes(generator).blocks
    fastest, fading = max(b.frequency for b in blocks), max(abs(b.decay) for b in blocks)
    for transpose in (False, True):
        found = transport(vectors, generator, ids, transpose=transpose)
        for i, t in enumerate(ids.tolist()):
            matrix, above = (m if transpose else m.T for m in (flow(generator, t), majorant(generator, t)))
            known = vectors[:, :, i].double() @ matrix
            drift = budget.table_entry(fastest * t, kind) + budget.fade(fading * t, dtype)
            error = budget.transported(vectors[:, :, i].double().abs() @ above, generator.dim, drift, dtype)
            assert (
                (found[:, :, i].double() - known).abs() <= budget.rounded(known.abs(), error, dtype)
            ).all()


@pytest.mark.parametrize("name", ["size two", "roots on the axis, size two"])
def test_the_reference_knows_the_roots_as_well(name):
    generator = GENERATORS[name]
    vectors = torch.randn(
        1, 1, 2, generator.dim, dtype=torch.float64, generator=torch.Generator().manual_seed(2)
    )
    ids = torch.tensor([2, -1])
    known = reference.transport(vectors, generator, ids)
    above = vectors.abs() @ (majorant(generator, 2) + majorant(generator, -1)).T
    error = budget.transported(above, generator.dim, budget.table_entry(10.0, torch.float64), torch.float64)
    assert ((transport(vectors, generator, ids) - known).abs() <= error).all()


@pytest.mark.parametrize("name", GENERATORS)
def test_the_planes_are_the_roots_of_the_characteristic_polynomial(name):
    generator = GENERATORS[name]
    roots = [
        complex(-block.decay, sign * block.frequency)
        for block in in_planes(generator).blocks
        for sign in ((1, -1) if block.turns else (1,))
        for _ in range(block.size)
    ]
    assert len(roots) == generator.dim
    for block in generator.blocks:
        if isinstance(block, CompanionBlock):
            for root in block.roots():
                exactly = complex(float(root.real.lower), float(root.imag.lower))
                nearest = min(roots, key=lambda z, e=exactly: abs(z - e))
                assert abs(nearest - exactly) <= 4 * budget.unit_roundoff("float64") * abs(exactly)


def test_roots_on_the_imaginary_axis_neither_fade_nor_grow():
    blocks = in_planes(GENERATORS["roots on the axis, size two"]).blocks
    assert [block.decay for block in blocks] == [0.0, 0.0]
    assert [block.size for block in blocks] == [2, 2]


@pytest.mark.parametrize(
    "name", ["one real root, one pair", "size two", "beside canonical blocks, in a basis"]
)
@pytest.mark.parametrize("transpose", [False, True])
def test_gradients_to_vectors_and_clock_readings_are_right(name, transpose):
    generator = GENERATORS[name]
    vectors = torch.randn(1, 2, 3, generator.dim, dtype=torch.float64, requires_grad=True)
    ids = torch.tensor([[0.5, 2.0, -1.25]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda x, t: transport(x, generator, t, transpose=transpose), (vectors, ids)
    )


def test_the_gradient_of_the_position_is_the_generator():
    """d/dt exp(tX) x = X exp(tX) x."""
    generator = GENERATORS["one real root, one pair"]
    vector = torch.randn(1, 1, 1, 3, dtype=torch.float64)
    t = torch.tensor([1.5], dtype=torch.float64)
    moved = torch.autograd.functional.jacobian(lambda t: transport(vector, generator, t), t)[..., 0]
    x_matrix = torch.tensor(generator.matrix.tolist(), dtype=torch.float64)
    assert torch.allclose(moved, transport(vector, generator, t) @ x_matrix.T, rtol=1e-13)


def test_a_growing_root_is_refused_before_it_overflows():
    with pytest.raises(TooLarge, match=r"exp\(tX\) contains e\^132.5, beyond the 88.7"):
        transport(torch.ones(1, 1, 1, 3), GENERATORS["one real root, one pair"], torch.tensor([100]))
