"""RoPE as a matrix, as blocks and as six operations; the two pairings; values; maps other than rotations."""

from collections.abc import Callable

import sympy as sp

from ...symbolic.catalogue.registry import encoding
from ...symbolic.equivalent import Intertwiner, equivalent
from ...symbolic.induction import Induction
from ...symbolic.tree import At
from ..law import Chapter, Hypothesis, Law
from ..step import Cited, Exact, Identity
from .common import (
    I2,
    LINDEMANN,
    K,
    Q,
    R,
    c,
    k0,
    k1,
    product,
    q0,
    q1,
    s,
    t,
    transpose,
    u,
    w,
)

CHAPTER = Chapter(
    "levels",
    "RoPE as it is written and run",
    "One big matrix, many small ones, or four multiplies and two adds; neighbouring features or features "
    "half a head apart; queries and keys, but not values: the same operation in the forms in which one "
    "meets it.",
)
n = sp.Symbol("n", nonnegative=True)
COUNT = sp.Symbol("N", real=True)
OMEGAS = sp.symbols("omega0:3", positive=True)


@CHAPTER.law("levels")
def levels() -> Law:
    a = sp.Symbol("alpha", real=True)
    blocks = Identity(
        name="block = four multiplies and two adds",
        goal=True,
        lhs=product(R(a), Q),
        rhs=sp.ImmutableMatrix([q0 * sp.cos(a) - q1 * sp.sin(a), q0 * sp.sin(a) + q1 * sp.cos(a)]),
    )
    b = sp.Symbol("beta", real=True)
    big = sp.ImmutableMatrix(sp.diag(R(a), R(b)))
    both = sp.ImmutableMatrix([q0, q1, k0, k1])
    split = Identity(
        name="big matrix = blocks side by side",
        goal=True,
        lhs=product(big, both),
        rhs=sp.ImmutableMatrix([*(R(a) * Q), *(R(b) * K)]),
    )
    counted = _counting()
    return Law(
        id="levels",
        title="Three ways to write RoPE are one operation",
        statement=(
            "The block-diagonal matrix, the list of plane rotations, and `x₀ cos α - x₁ sin α`, "
            "`x₀ sin α + x₁ cos α` agree for all contents and angles. A plane costs four multiplies and "
            "two adds; `n` planes have `4n` non-zero entries: 256 of 16384 at `d = 128` for integer "
            "`t ≠ 0`, 128 at `t = 0`."
        ),
        hypotheses=(
            Hypothesis(
                "integer",
                "`t` is a non-zero integer and the frequencies are algebraic, as `10000^{-2k/d}` is",
            ),
        ),
        steps=(blocks, split, *counted),
        perturbations=(
            blocks.but(
                "the minus sign is deleted",
                rhs=sp.ImmutableMatrix([q0 * sp.cos(a) + q1 * sp.sin(a), q0 * sp.sin(a) + q1 * sp.cos(a)]),
            ),
            split.but(
                "the second block has the first angle", rhs=sp.ImmutableMatrix([*(R(a) * Q), *(R(a) * K)])
            ),
            counted[0].but("a full plane is counted as two", claim={COUNT: 2 * n}),
        ),
        comment=(
            "Level 1 is what it is, level 2 is where one understands it, level 3 is what runs. Nobody "
            "builds the matrix. Two blocks stand for any number: stacking is associative."
        ),
    )


def _counting() -> tuple[Exact, Identity, Identity, Cited]:
    """How many entries of the matrix are not zero, at t ≠ 0 and at t = 0."""
    count = Exact(
        name="four non-zero entries a plane",
        goal=True,
        of=Induction(index=n, start=0, state={COUNT: (0, COUNT + 4)}, claim={COUNT: 4 * n}),
    )
    at128 = Identity(
        name="256 of 16384 at d = 128",
        lhs=sp.Matrix([[4 * sp.Integer(64), sp.Integer(128) ** 2]]),
        rhs=sp.Matrix([[256, 16384]]),
    )
    still = Identity(name="at t = 0 the matrix is I", lhs=At(R(w * t), t, 0), rhs=I2)
    never_zero = Cited(
        name="neither cos(ωt) nor sin(ωt) is zero",
        lemma="cos or sin of a non-zero algebraic number is not zero: a zero would make π algebraic",
        source=LINDEMANN,
        needs=("integer",),
    )
    return count, at128, still, never_zero


@CHAPTER.law("half-split")
def half_split() -> Law:
    conjugate, orthogonal, rows, one_sided = _six_features()
    every = _every_size(lambda i, planes: 2 * (i - planes) + 1)
    return Law(
        id="half-split",
        title="Half-split is interleaved with its features relabelled",
        statement=(
            "With the permutation `P` that sends the features `2j, 2j+1` to `j, j + d/2`: for every `d`, "
            "every plane `j`, every frequency and real `u`, the half-split rotation of `Px` is `P` times "
            "the interleaved rotation of `x`. As matrices, `P A_interleaved(u) = A_half(u) P` with "
            "`PᵀP = I`; so permuting the rows of `W_q` and `W_k` by `P` turns a checkpoint of one kind "
            "into the other."
        ),
        steps=(every, orthogonal, conjugate, rows),
        rests_on=("rope-relative", "change-of-basis", "direct-sum"),
        perturbations=(
            every.but(
                "the second half takes the even features too",
                lhs=_every_size(lambda i, planes: 2 * (i - planes)).lhs,
            ),
            conjugate.but("no permutation on the right", rhs=product(conjugate.rhs.args[0], sp.eye(6))),
            rows.but("only W_q is permuted", rhs=one_sided),
        ),
        comment=(
            "Equal as families, different on given weights: running a checkpoint of one kind with the "
            "other's kernel gives garbage after a token or two. Mixing the two for query and key is not "
            "even relative, see relative--mismatched_pairings."
        ),
    )


def _every_size(second: Callable[[sp.Expr, sp.Expr], sp.Expr]) -> Identity:
    """Plane j of n: (Px)(i) is x(2i) in the first half and x(second(i)) in the second, i = j and j + n."""
    j, planes = sp.symbols("j n", real=True)
    feature = sp.Function("x", real=True)
    first, other = feature(2 * j), feature(second(j + planes, planes))
    return Identity(
        name="plane j of any number of planes",
        goal=True,
        lhs=product(R(-w * u), sp.ImmutableMatrix([first, other])),
        rhs=product(R(-w * u), sp.ImmutableMatrix([feature(2 * j), feature(2 * j + 1)])),
        note="left: features j and j + n of Px; right: features 2j and 2j + 1 of x",
    )


def _six_features() -> tuple[Identity, Identity, Identity, sp.MatMul]:
    """Three planes written out as matrices; the last is the score with only W_q permuted."""
    found = {
        kind: encoding("rope", head_dim=6, interleaved=kind, frequencies=OMEGAS) for kind in (True, False)
    }
    between, split = (found[kind].generators[0].exp(u) for kind in (True, False))
    intertwiner = equivalent(found[True], found[False])
    assert isinstance(intertwiner, Intertwiner)
    p = intertwiner.matrix
    wq, wk = (
        sp.ImmutableMatrix(6, 2, lambda i, j, n=name: sp.Symbol(f"{n}{i}_{j}", real=True)) for name in "ab"
    )
    conjugate = Identity(name="d = 6, written out", goal=True, lhs=product(p, between), rhs=product(split, p))
    orthogonal = Identity(name="Pᵀ P = I", goal=True, lhs=product(transpose(p), p), rhs=sp.eye(6))
    rows = Identity(
        name="permuted weight rows give the same scores",
        goal=True,
        lhs=product(transpose(wq), between, wk),
        rhs=product(transpose(p * wq), split, p * wk),
    )
    return conjugate, orthogonal, rows, product(transpose(p * wq), split, wk)


@CHAPTER.law("rotated-values")
def rotated_values() -> Law:
    back = Identity(
        name="output rotated back",
        goal=True,
        lhs=product(R(-w * (t + c)), R(w * (s + c)), Q),
        rhs=product(R(-w * t), R(w * s), Q),
    )
    forth = Identity(name="only the gap is left", lhs=product(R(-w * t), R(w * s)), rhs=R(-w * (t - s)))
    return Law(
        id="rotated-values",
        title="Values may turn if the output turns back",
        statement=(
            "For all real `t, s, c`: a value rotated at its own position and returned through `R(-ωt)` "
            "reaches the output as `R(ω(s-t)) v`, which depends on the gap only."
        ),
        steps=(forth, back),
        perturbations=(
            back.but("the output is left as it is", lhs=product(R(w * (s + c)), Q), rhs=product(R(w * s), Q)),
            back.but(
                "the output turns the same way as the value",
                lhs=product(R(w * (t + c)), R(w * (s + c)), Q),
                rhs=product(R(w * t), R(w * s), Q),
            ),
        ),
        comment=(
            "Values are normally not rotated, because content should arrive as it was written. Rotating "
            "them and leaving the output makes the output depend on absolute positions."
        ),
    )


@CHAPTER.law("contragredient")
def contragredient() -> Law:
    a, inverse = _shear(t), _shear(-s)
    goal = Identity(name="query by the transpose", goal=True, lhs=product(a, inverse), rhs=_shear(t - s))
    same = Identity(
        name="for a rotation the transpose is the inverse", lhs=transpose(R(w * t)), rhs=R(-w * t)
    )
    return Law(
        id="contragredient",
        title="“Apply the same map to q and k” is special to rotations",
        statement=(
            "For every group `A`: with the query factor `A(t)ᵀ` and the key factor `A(-s)` the score is "
            "`qᵀ A(t-s) k`. Only where `A(t)ᵀ = A(-t)`, as for a rotation, are the two factors the same "
            "map."
        ),
        steps=(same, goal),
        perturbations=(
            goal.but("the key gets the same map as the query", lhs=product(a, transpose(_shear(s)))),
            same.but("a slide instead of a rotation", lhs=transpose(_shear(t)), rhs=_shear(-t)),
        ),
        rests_on=("flow-group-law",),
        comment="Shown on the slide, where the difference matters; the general case is the group law.",
    )


def _shear(time: sp.Expr) -> sp.ImmutableMatrix:
    return sp.ImmutableMatrix([[1, time], [0, 1]])
