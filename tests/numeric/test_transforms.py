"""Rotations inside torch.func and forward-mode differentiation: right numbers, or a sentence that says no."""

import pytest
import torch
from exptx.numeric import (
    BadChoice,
    BadTensor,
    PositionOutOfRange,
    RotaryEmbedding,
    TooLarge,
    alibi_attention,
    alibi_slopes,
    biased_attention,
    linear_attention,
    rotary_embedding,
    rotary_embedding_qk,
    rotary_table,
    transport,
)
from exptx.numeric.transforms import unwrapped
from exptx.proofs import budget
from exptx.symbolic import Block, Generator, frequencies, realize
from sympy import Symbol
from torch.autograd import forward_ad
from torch.func import grad, hessian, jacrev, jvp, vmap

# torch's own, where it loads its rules for tangents
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")
F = frequencies(10000, 8)
IDS = torch.arange(4)
COS, SIN = rotary_table(F, IDS, dtype=torch.float64)


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


X, OTHER = drawn(2, 3, 4, 8), drawn(2, 3, 4, 8, seed=1)


def rotate(x, *table, ids=None):
    return rotary_embedding(x, *(table or (COS, SIN)), ids)


def both(x):
    return rotary_embedding_qk(x, x[:, :1], COS, SIN)


def module(x):
    return RotaryEmbedding(F)(x, x, IDS)[0]


@pytest.mark.parametrize("function", [rotate, both, module])
def test_a_mapped_rotation_is_the_rotation_of_each(function):
    rotate(X)  # what was called before makes no difference
    stack = torch.stack((X, OTHER, X + OTHER))
    together, each = vmap(function)(stack), [function(x) for x in stack]
    for i, known in enumerate(each):
        got = [y[i] for y in together] if isinstance(together, tuple) else [together[i]]
        assert all(map(torch.equal, got, known if isinstance(known, tuple) else [known]))


def test_tables_row_numbers_positions_and_frequencies_are_mapped_too():
    ids = torch.stack((IDS, IDS.flip(0), torch.tensor([3, 3, 0, 1])))
    for mapped in (
        lambda i: rotate(X, ids=i),
        lambda i: rotate(X, *rotary_table(F, i, dtype=torch.float64)),
        lambda i: RotaryEmbedding(F)(X, X, i)[0],
        lambda i: transport(X, BLOCKS, -i),
    ):
        assert torch.equal(vmap(mapped)(ids), torch.stack([mapped(i) for i in ids]))
    waves = drawn(3, 4)
    of_waves = vmap(lambda w: rotary_table(w, IDS)[0])(waves)
    assert torch.equal(of_waves, torch.stack([rotary_table(w, IDS)[0] for w in waves]))


BLOCKS = Generator.direct_sum(Block(0, 3), Block(1), Block(0, size=2), Block(0), Block(0, 1))


@pytest.mark.parametrize(
    "function", [rotate, lambda x: both(x)[0], module, lambda x: transport(x, BLOCKS, -IDS)]
)
def test_the_tangent_of_a_linear_map_is_its_value_at_the_tangent(function):
    y, tangent = jvp(function, (X,), (OTHER,))
    assert torch.equal(y, function(X))
    assert torch.equal(tangent, function(OTHER))
    with forward_ad.dual_level():
        dual = forward_ad.unpack_dual(function(forward_ad.make_dual(X, OTHER)))
        assert torch.equal(dual.primal, function(X))
        assert torch.equal(dual.tangent, function(OTHER))


def test_the_tangent_of_a_table_is_passed_on():
    _, tangent = jvp(lambda c, s: rotate(X, c, s), (COS, SIN), (SIN, COS))
    assert torch.equal(tangent, rotate(X, SIN, COS))


def test_the_tangent_of_a_position_is_the_generator_at_work():
    """d/dt R(ωt) x = R(ωt) ωJx: the tables at t with their derivative, (-ω sin, ω cos)."""
    waves = torch.tensor([float(w) for w in F.exact], dtype=torch.float64)
    _, tangent = jvp(
        lambda t: rotate(X, *rotary_table(F, t, dtype=torch.float64)),
        (IDS.double(),),
        (torch.ones(4).double(),),
    )
    bound = budget.gamma(8, torch.float64) * X.abs().amax()
    assert (tangent - rotate(X, -waves * SIN, waves * COS)).abs().max() <= bound


def test_gradients_are_those_of_autograd_also_one_for_each():
    leaf = X.clone().requires_grad_()
    (rotate(leaf) * OTHER).sum().backward()
    assert torch.equal(grad(lambda x: (rotate(x) * OTHER).sum())(X), leaf.grad)
    each = vmap(grad(lambda x, w: (rotate(x) * w).sum()))(
        torch.stack((X, X)), torch.stack((OTHER, 2 * OTHER))
    )
    assert torch.equal(each, torch.stack((leaf.grad, 2 * leaf.grad)))


def test_the_second_derivative_of_half_the_squared_length_is_the_identity():
    """Because a rotation keeps lengths: RᵀR = I. Forwards over backwards, and two Jacobians."""
    x = X[:1, :1]
    found = hessian(lambda x: rotate(x).square().sum() / 2)(x).reshape(32, 32)
    jacobian = jacrev(rotate)(x).reshape(32, 32)
    bound = budget.gamma(12, torch.float64)
    assert (found - torch.eye(32)).abs().max() <= bound
    assert (jacobian.T @ jacobian - torch.eye(32)).abs().max() <= budget.gamma(36, torch.float64)


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: vmap(f)(X[None]),
        lambda f: jvp(f, (X,), (X,)),
        lambda f: grad(lambda x: f(x).sum())(X),
        lambda f: dual(f),
    ],
)
def test_a_kernel_that_would_not_see_into_a_transform_is_refused(transform):
    """A compiled kernel on a dual number would drop the tangent in silence."""
    with pytest.raises(BadChoice, match=r"impl=.native. does not see into transforms of torch\.func"):
        transform(lambda x: rotary_embedding(x, COS, SIN, impl="native"))


def dual(function):
    with forward_ad.dual_level():
        return function(X)


@pytest.mark.parametrize(
    "function",
    [
        grad(lambda x: (rotate(x) * OTHER).sum()),
        lambda x: jvp(rotate, (x,), (OTHER,))[1],
        lambda x: vmap(rotate)(x[None]),
    ],
)
def test_transforms_compile_without_a_break(function):
    assert torch.equal(torch.compile(function, fullgraph=True, backend="aot_eager")(X), function(X))


def test_what_is_refused_outside_is_refused_inside():
    with pytest.raises(PositionOutOfRange, match="position_ids contains 4, but cos and sin have 4 rows"):
        vmap(lambda i: rotate(X, ids=i))(torch.stack((IDS, IDS + 1)))
    with pytest.raises(BadTensor, match="position_ids contains NaN"):
        vmap(lambda t: rotary_table(F, t))(torch.tensor([[0.0], [torch.nan]]))
    with pytest.raises(TooLarge, match=r"2\^28 radians"):
        vmap(lambda t: rotary_table(F, t))(torch.tensor([[0], [2**29]]))


def test_the_plain_tensor_is_found_through_every_wrapper():
    seen = []
    vmap(vmap(grad(lambda x: seen.append(unwrapped(x)) or x.sum())))(X[0])
    assert torch.equal(seen[0], X[0])
    assert unwrapped(X) is X


@pytest.mark.parametrize("form", ["chunked", "recurrent", "parallel"])
def test_linear_attention_is_linear_in_its_values_and_mapped_as_each(form):
    q, k, v, other = (drawn(1, 2, 70, 8, seed=seed) for seed in range(4))
    decay = torch.tensor([-0.1, -0.5], dtype=torch.float64)

    def attend(v):
        return linear_attention(q, k, v, decay, form=form)[0]

    y, tangent = jvp(attend, (v,), (other,))
    assert torch.equal(y, attend(v))
    bound = budget.gamma(200, torch.float64) * attend(other).abs().max()
    assert (tangent - attend(other)).abs().max() <= bound
    leaf = v.clone().requires_grad_()
    attend(leaf).square().sum().backward()
    assert (grad(lambda v: attend(v).square().sum())(v) - leaf.grad).abs().max() <= bound
    mapped = vmap(attend)(torch.stack((v, other)))
    assert (mapped - torch.stack((attend(v), attend(other)))).abs().max() <= bound


def test_fused_attention_says_that_it_does_not_see_into_transforms():
    """The tangent of a dual number would be dropped in silence."""
    q = drawn(1, 2, 5, 8)
    u = Symbol("u", real=True)
    for name, attend in {
        "alibi_attention": lambda q: alibi_attention(q, q, q, alibi_slopes(2)),
        "biased_attention": lambda q: biased_attention(q, q, q, realize(-u / 9, u)),
    }.items():
        for transform in (lambda f: jvp(f, (q,), (q,)), lambda f: grad(lambda q: f(q).sum())(q)):
            with pytest.raises(
                BadChoice, match=f"{name} does not see into transforms of torch.func .* works"
            ):
                transform(attend)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, c: torch.ops.exptx.rotary(x, c, SIN, None, 8, False, "bhtd", False),
        lambda x, c: torch.ops.exptx.rotary_qk(x, x[:, :1], c, SIN, None, 8, False, "bhtd", False),
        lambda x, c: torch.ops.exptx.rotary_out(
            x, torch.empty(x.shape).double(), c, SIN, None, 8, False, "bhtd", False
        ),
        lambda x, c: torch.ops.exptx.slide(x, x, x, c[:3, 0], IDS[None], IDS[None], None, True, False, 1.0),
        lambda x, c: torch.compile(linear_attention, backend="eager")(x, x, x, -c[:3, 0].square()),
    ],
)
def test_an_operator_refuses_dual_numbers(call):
    """Below autograd a tangent would be dropped in silence."""
    call(X, COS)
    with forward_ad.dual_level():
        for given in ((forward_ad.make_dual(X, OTHER), COS), (X, forward_ad.make_dual(COS, SIN))):
            with pytest.raises(BadChoice, match="has no rule for forward-mode differentiation"):
                call(*given)
