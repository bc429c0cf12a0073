"""Transport by exp(tX): every block, every size, any basis, against the closed form evaluated exactly."""

import math

import pytest
import sympy as sp
import torch
from exptx.numeric import (
    BadDtype,
    BadTensor,
    NotLowered,
    TooLarge,
    exact,
    reference,
    rotary_embedding,
    rotary_table,
    transport,
)
from exptx.proofs import budget
from exptx.symbolic import Block, Generator, encoding, frequencies
from hypothesis import given, settings
from hypothesis import strategies as st

LAW = settings(max_examples=20, deadline=None, derandomize=True)
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
R = sp.Rational


def arithmetic_dtype(dtype):
    return torch.float64 if dtype == torch.float64 else torch.float32


def test_what_does_not_move_is_still_a_new_tensor():
    x = torch.ones(1, 1, 2, 3)
    moved = transport(x, Generator.direct_sum(*[Block(0)] * 3), torch.arange(2))
    assert torch.equal(moved, x)
    moved.zero_()
    assert x.all()


def majorant(generator, t):
    """|S| (⊕ e^{-γt} |t|^k/k! N^k ⊗ ones) |S⁻¹|: exp(tX) entry by entry, without signs and cosines."""
    parts = []
    for block in generator.blocks:
        width = 2 if block.turns else 1
        fade = math.exp(-float(block.decay) * t)
        toeplitz = sum(
            (fade * abs(t) ** k / math.factorial(k) * torch.ones(block.size - k).double().diag(k))
            for k in range(block.size)
        )
        parts.append(torch.kron(toeplitz, torch.ones(width, width).double()))
    basis, inverse = (
        torch.tensor([[float(x) for x in row] for row in matrix.tolist()], dtype=torch.float64).abs()
        for matrix in (generator.basis, generator.inverse_basis)
    )
    return basis @ torch.block_diag(*parts) @ inverse


def within_budget(x, generator, ids, transpose, layout="bhtd"):
    """Whether transport of x (bhtd) agrees with the exact flow, token by token."""
    y = transport(
        x if layout == "bhtd" else x.transpose(1, 2), generator, ids, transpose=transpose, layout=layout
    )
    y = y if layout == "bhtd" else y.transpose(1, 2)
    fastest = max((float(block.frequency) for block in generator.blocks), default=0.0)
    good = True
    for i, t in enumerate(ids.tolist()):
        matrix, above = exact.flow(generator, t), majorant(generator, t)
        matrix, above = (m.T if transpose else m for m in (matrix, above))
        known = x[:, :, i].double() @ matrix.T
        drift = budget.table_entry(fastest * t, arithmetic_dtype(x.dtype))
        error = budget.transported(x[:, :, i].double().abs() @ above.T, generator.dim, drift, x.dtype)
        bound = budget.rounded(known.abs(), error, x.dtype)
        good &= bool(((y[:, :, i].double() - known).abs() <= bound).all())
    return good and y.dtype == x.dtype


BLOCKS = st.builds(
    Block,
    st.sampled_from([0, R(1, 10), R(-1, 10), R(1, 3)]),
    st.sampled_from([0, 0, R(1, 2), sp.pi / 7, 1 / sp.sqrt(10)]),
    st.integers(1, 3),
)


@LAW
@given(
    st.lists(BLOCKS, min_size=1, max_size=2),
    st.sampled_from(DTYPES),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["bhtd", "bthd"]),
    st.lists(st.integers(-8, 8), min_size=1, max_size=2),
    st.sampled_from([1, 3]),
    st.booleans(),
)
def test_transport_agrees_with_the_exact_flow(
    blocks, dtype, sheared, transpose, layout, positions, batch, strided
):
    size = sum(block.dim for block in blocks)
    basis = sp.Matrix(size, size, lambda i, j: R(int(i == j)) + R(int(j == i + 1), 3)) if sheared else None
    generator = Generator.direct_sum(*blocks, basis=basis)
    seed = torch.Generator().manual_seed(size)
    x = torch.randn(batch, 3, len(positions), size, generator=seed).to(dtype)
    if strided:  # the same numbers, features not beside one another
        x = x.transpose(-1, -2).contiguous().transpose(-1, -2)
    assert within_budget(x, generator, torch.tensor(positions), transpose, layout)


@pytest.mark.parametrize("size", [1, 2, 5, 16])
@pytest.mark.parametrize("frequency", [0, R(1, 2)])
def test_blocks_of_every_size_have_their_factorials(size, frequency):
    generator = Generator.direct_sum(Block(R(1, 10), frequency, size))
    x = torch.randn(1, 1, 2, generator.dim, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for transpose in (False, True):
        assert within_budget(x, generator, torch.tensor([9, -4]), transpose)


@pytest.mark.parametrize("dtype", DTYPES)
def test_eight_roundoffs_on_the_angle_table_are_seen(dtype, monkeypatch):
    """A plane at position 1 with one coordinate: the budget of one coordinate is tight enough."""
    generator, ids = Generator.direct_sum(Block(0, R(1, 64))), torch.tensor([1])
    x = torch.tensor([1.5, 0.0]).to(dtype).reshape(1, 1, 1, 2)
    known = x[0, 0, 0].double() @ exact.flow(generator, 1).T
    # the angle 1/64 is exact in float64, so a table entry takes cos (one ulp, 2u) and storing, if that rounds
    stored = 0.0 if dtype == torch.float64 else budget.unit_roundoff(torch.float32)
    drift = 2 * budget.unit_roundoff(torch.float64) + stored
    bound = budget.rotated_coordinate(known.abs(), known.abs(), 0.0, drift, 1.5, dtype)

    def error():
        return (transport(x, generator, ids).double() - known).abs()[0, 0, 0]

    assert (error() <= bound).all()
    cosine = torch.Tensor.cos
    monkeypatch.setattr(torch.Tensor, "cos", lambda a: cosine(a) * (1 + 8 * budget.unit_roundoff(dtype)))
    assert error()[0] > bound[0]


@LAW
@given(
    st.sampled_from([2, 8, 64]), st.booleans(), st.lists(st.integers(-(2**20), 2**20), min_size=1, max_size=3)
)
def test_transport_by_the_rotary_generator_is_the_rotary_kernel(head_dim, interleaved, positions):
    """exp(tX)ᵀ q is R(tw) q, and so is exp(-tX) q: the same table, the same products."""
    generator = encoding("rope", head_dim=head_dim, interleaved=interleaved).content_generator
    ids = torch.tensor(positions)
    x = torch.randn(1, 2, len(positions), head_dim, generator=torch.Generator().manual_seed(head_dim))
    rotated = rotary_embedding(x, *rotary_table(frequencies(10000, head_dim), ids), interleaved=interleaved)
    assert torch.equal(transport(x, generator, ids, transpose=True), rotated)
    assert torch.equal(transport(x, generator, -ids), rotated)


def test_queries_and_keys_transported_apart_score_by_the_gap():
    """exp(tX)ᵀ q · exp(-sX) k = qᵀ exp((t-s)X) k, for a generator that is neither orthogonal nor diagonal."""
    generator = Generator.direct_sum(
        Block(R(1, 10), R(1, 2), 2),
        Block(0, size=2),
        basis=sp.eye(6) + sp.Matrix(6, 6, lambda i, j: int(j == i + 1)),
    )
    q, k = torch.randn(2, 1, 1, 1, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    for t, s in ((5, 2), (2, 5), (9, 6)):
        left = transport(q, generator, torch.tensor([t]), transpose=True)
        right = transport(k, generator, torch.tensor([-s]))
        known = (q @ exact.flow(generator, t - s) * k).sum()
        above = [x.abs() @ m for x, m in ((q, majorant(generator, t)), (k, majorant(generator, -s).T))]
        errors = [
            budget.transported(m, 6, budget.table_entry(4.5, torch.float64), torch.float64) for m in above
        ]
        bound = budget.score(*above, *errors, 6, torch.float64)
        assert abs((left * right).sum() - known) <= bound


def test_the_reference_is_the_exact_flow_applied_token_by_token():
    generator = Generator.direct_sum(Block(R(1, 10), R(1, 2)), Block(0, size=2))
    ids = torch.tensor([3, 0])
    x = torch.randn(2, 1, 2, 4, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    for transpose in (False, True):
        known = reference.transport(x, generator, ids, transpose=transpose)
        error = budget.transported(
            x.abs() @ majorant(generator, 3).T.clamp(min=1),
            4,
            budget.table_entry(1.5, torch.float64),
            torch.float64,
        )
        assert ((transport(x, generator, ids, transpose=transpose) - known).abs() <= error.amax()).all()


@pytest.mark.parametrize("transpose", [False, True])
def test_gradients_are_right(transpose):
    generator = Generator.direct_sum(Block(R(1, 10), R(1, 2), 2), Block(0, size=2), Block(R(1, 5)))
    x = torch.randn(2, 1, 3, 7, dtype=torch.float64, requires_grad=True)
    ids = torch.tensor([[0, 3, -2], [1, 1, 4]])
    assert torch.autograd.gradcheck(lambda x: transport(x, generator, ids, transpose=transpose), (x,))


def test_gradients_to_clock_readings_are_right():
    generator = Generator.direct_sum(Block(R(1, 10), R(1, 2), 3), Block(0, size=2), Block(R(1, 5)))
    x = torch.randn(1, 1, 3, 9, dtype=torch.float64)
    ids = torch.tensor([0.0, 2.5, -1.0], dtype=torch.float64, requires_grad=True)
    for transpose in (False, True):
        assert torch.autograd.gradcheck(
            lambda t, way=transpose: transport(x, generator, t, transpose=way), (ids,)
        )


def test_a_generator_that_holds_returns_x():
    x = torch.randn(1, 1, 2, 3)
    assert torch.equal(transport(x, Generator.direct_sum(*[Block(0)] * 3), torch.tensor([5, 7])), x)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda x, g: transport(x, g, torch.tensor([-900])),
            TooLarge,
            r"contains e\^90, beyond .*attention\(\)",
        ),
        (
            lambda x, g: transport(
                torch.ones(1, 1, 1, 6), Generator.direct_sum(Block(0, size=6)), torch.tensor([2**40])
            ),
            TooLarge,
            r"contains powers up to t\^5, which overflow",
        ),
        (lambda x, g: transport(x, g.matrix, torch.tensor([1])), BadDtype, "generator is a Immutable"),
        (
            lambda x, g: transport(x[..., :1], g, torch.tensor([1])),
            BadTensor,
            "x has 1 features but generator has size 2",
        ),
        (lambda x, g: transport(x, g, torch.tensor([1, 2])), BadTensor, r"position_ids has shape \(2,\)"),
        (
            lambda x, g: transport(
                x, Generator.direct_sum(Block(sp.Symbol("g", positive=True), size=2)), torch.tensor([1])
            ),
            NotLowered,
            r"the decay of generator.blocks\[0\] is the symbol g; tensors need numbers",
        ),
    ],
)
def test_what_cannot_be_transported_is_refused_in_one_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call(torch.ones(1, 1, 1, 2), Generator.direct_sum(Block(R(1, 10)), Block(0)))
