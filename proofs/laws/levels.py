"""RoPE as a matrix, as blocks and as six operations; the two pairings; values; maps other than rotations."""

from collections.abc import Callable

import sympy as sp

from ...symbolic.catalogue.registry import encoding
from ...symbolic.equivalent import Intertwiner, equivalent
from ...symbolic.free import word_poly
from ...symbolic.induction import Induction
from ...symbolic.tree import At
from ...symbolic.words import Words, commuting, letters
from ..law import Chapter, Hypothesis, Law, Renaming
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
    plus,
    product,
    q0,
    q1,
    s,
    t,
    times,
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
COUNT, SQUARE = sp.symbols("N D", real=True)
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
    split = _two_planes(a)
    counted = _counting()
    stacked = _stacked()
    return Law(
        id="levels",
        title="Three ways to write RoPE are one operation",
        statement=(
            "For all contents, all angles and any number of planes: the block-diagonal matrix, the list of "
            "plane rotations, and `x₀ cos α - x₁ sin α`, `x₀ sin α + x₁ cos α` give the same vector. A plane "
            "costs four multiplies and two adds. Of the `4n²` entries for `n` planes `4n` are not zero: 256 "
            "of 16384 at `d = 2n = 128` for integer `t ≠ 0`, and 128 at `t = 0`, where the matrix is `I`."
        ),
        hypotheses=(
            Hypothesis(
                "integer",
                "`t` is a non-zero integer and the frequencies are algebraic, as `10000^{-2k/d}` is",
            ),
        ),
        steps=(blocks, split, stacked, *counted),
        rests_on=("direct-sum",),
        perturbations=(
            blocks.but(
                "the minus sign is deleted",
                rhs=sp.ImmutableMatrix([q0 * sp.cos(a) + q1 * sp.sin(a), q0 * sp.sin(a) + q1 * sp.cos(a)]),
            ),
            split.but(
                "the second block has the first angle", rhs=sp.ImmutableMatrix([*(R(a) * Q), *(R(a) * K)])
            ),
            stacked.but("the blocks overlap", rules=stacked.of.rules[2:]),
            counted[0].but("two of the four are left out", claim={**counted[0].of.claim, COUNT: 2 * n}),
        ),
        comment=(
            "Level 1 is the matrix, level 2 the list of planes, level 3 the six operations that run. Nobody "
            "builds the matrix. Blocks are added one at a time, as in [blocks side by side](#direct-sum)."
        ),
    )


def _two_planes(a: sp.Symbol) -> Identity:
    """The big matrix of two planes against its blocks."""
    b = sp.Symbol("beta", real=True)
    big = sp.ImmutableMatrix(sp.diag(R(a), R(b)))
    both = sp.ImmutableMatrix([q0, q1, k0, k1])
    return Identity(
        name="big matrix = blocks side by side",
        goal=True,
        lhs=product(big, both),
        rhs=sp.ImmutableMatrix([*(R(a) * Q), *(R(b) * K)]),
    )


def _stacked() -> Exact:
    """(PA + QB)(Px + Qy) = PAx + QBy, with P, Q the projections on the old blocks and on the new one."""
    p, q, a, b, x, y = letters("P Q A B x y")
    apart = ((p * q, 0 * p), (q * p, 0 * p))
    inside = [rule for letter in (a, b, x, y) for rule in (*commuting(p, letter), *commuting(q, letter))]
    claim = Words(
        (p * a + q * b) * (p * x + q * y), p * a * x + q * b * y, (*apart, (p * p, p), (q * q, q), *inside)
    )
    return Exact(name="one block more, on a part of its own", goal=True, of=claim)


def _counting() -> tuple[Exact, Identity, Identity, Cited]:
    """How many entries of the matrix are not zero, at t ≠ 0 and at t = 0."""
    count = Exact(
        name="four non-zero entries a plane",
        goal=True,
        of=Induction(
            index=n,
            start=0,
            state={COUNT: (0, COUNT + 4), SQUARE: (0, SQUARE + 8 * n + 4)},
            claim={COUNT: 4 * n, SQUARE: 4 * n**2},
        ),
        note="N of D entries; a plane after n others adds its own four and 2·2·2n zeros",
    )
    planes = sp.Symbol("n", real=True)
    at128 = Identity(
        name="256 of 16384 at d = 128, that is n = 64",
        lhs=At(sp.Matrix([[4 * planes, 4 * planes**2, 2 * planes]]), planes, 64),
        rhs=sp.Matrix([[256, 16384, 128]]),
        note="the third number is the length of the diagonal",
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
    every = _every_size(lambda i, planes: plus(times(2, plus(i, times(-1, planes))), 1))
    weights = _permuted_rows()
    return Law(
        id="half-split",
        title="Half-split is interleaved with its features relabelled",
        statement=(
            "Let `P` be the permutation that sends the features `2j, 2j+1` to `j, j + d/2`. For every even "
            "`d`, every plane `j`, every frequency and real `u`, the half-split rotation of `Px` is `P` "
            "times the interleaved rotation of `x`: `A_half(u) P = P A_interleaved(u)`, with `PᵀP = I`. So "
            "permuting the rows of `W_q` and `W_k` by `P` gives the same scores: "
            "`(PW_q)ᵀ A_half(u) PW_k = W_qᵀ A_interleaved(u) W_k`."
        ),
        steps=(every, weights, orthogonal, conjugate, rows),
        rests_on=("rope-relative", "change-of-basis", "direct-sum"),
        perturbations=(
            every.but(
                "the second half takes the even features too",
                lhs=_every_size(lambda i, planes: times(2, plus(i, times(-1, planes)))).lhs,
            ),
            conjugate.but("no permutation on the right", rhs=product(conjugate.rhs.args[0], sp.eye(6))),
            weights.but("only W_q is permuted", lhs=_permuted_rows(key=False).of.lhs),
            rows.but("only W_q is permuted, d = 6", rhs=one_sided),
        ),
        comment=(
            "Equal as families, different on given weights: running a checkpoint of one kind with the "
            "other's kernel gives garbage after a token or two. Mixing the two for query and key is "
            "[not even relative](#relative--mismatched_pairings)."
        ),
    )


def _every_size(second: Callable[[sp.Expr, sp.Expr], sp.Expr]) -> Identity:
    """Plane j of n: (Px)(i) is x(2i) in the first half and x(second(i)) in the second, i = j and j + n."""
    j, planes = sp.symbols("j n", real=True)
    feature = sp.Function("x", real=True)
    first, other = feature(times(2, j)), feature(second(plus(j, planes), planes))
    return Identity(
        name="plane j of any number of planes",
        goal=True,
        lhs=product(R(-w * u), sp.ImmutableMatrix([first, other])),
        rhs=product(R(-w * u), sp.ImmutableMatrix([feature(2 * j), feature(2 * j + 1)])),
        note="left: features j and j + n of Px; right: features 2j and 2j + 1 of x",
    )


def _permuted_rows(key: bool = True) -> Exact:
    """(PW_q)ᵀ A_half P W_k = W_qᵀ A_interleaved W_k, from A_half P = P A_interleaved and PᵀP = I."""
    p, pt, half, between, wq, wk = letters("P Pt H A Wq Wk")
    rules = ((half * p, p * between), (pt * p, word_poly(1)))
    moved = wq * pt * half * (p * wk if key else wk)
    return Exact(
        name="permuted weight rows give the same scores",
        goal=True,
        of=Words(moved, wq * between * wk, rules),
        note="Wq stands for W_qᵀ, Pt for Pᵀ, H for A_half and A for A_interleaved",
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
        name="permuted weight rows, d = 6, written out",
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
    forth = Identity(
        name="only the gap is left", goal=True, lhs=product(R(-w * t), R(w * s)), rhs=R(-w * (t - s))
    )
    return Law(
        id="rotated-values",
        title="Values may turn if the output turns back",
        statement=(
            "For all real `t, s, c` and every `ω > 0`: a value rotated at its own position and returned "
            "through `R(-ωt)` reaches the output as `R(-ωt)R(ωs) v = R(-ω(t-s)) v`, the same at "
            "`(t + c, s + c)`."
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
        renamings=(Renaming("the other direction of turning, ω → -ω everywhere", {w: -w}),),
        comment=(
            "Values are normally not rotated, because content should arrive as it was written. Rotating "
            "them and leaving the output makes the output depend on "
            "[absolute positions](#relative--rotated_values)."
        ),
    )


@CHAPTER.law("contragredient")
def contragredient() -> Law:
    a, inverse = _shear(t), _shear(-s)
    left, right = (sp.ImmutableMatrix(2, 2, sp.symbols(f"{x}:2(:2)", real=True)) for x in "ab")
    across = Identity(
        name="(Aᵀq)·(Bk) = qᵀ A B k",
        goal=True,
        lhs=product(transpose(transpose(left) * Q), right, K),
        rhs=product(transpose(Q), left, right, K),
    )
    goal = Identity(
        name="on the slide: A(t)A(-s) = A(t-s)", goal=True, lhs=product(a, inverse), rhs=_shear(t - s)
    )
    same = Identity(
        name="for a rotation the transpose is the inverse",
        goal=True,
        lhs=product(transpose(R(w * t)), R(w * t)),
        rhs=I2,
    )
    return Law(
        id="contragredient",
        title="“Apply the same map to q and k” is special to rotations",
        statement=(
            "For every group `A(u) = exp(uX)` and all real `t, s`: with the query factor `A(t)ᵀ` and the key "
            "factor `A(-s)` the score is `(A(t)ᵀq)·(A(-s)k) = qᵀ A(t-s) k`. Only where `A(t)ᵀ = A(-t)`, as "
            "for a rotation, are the two factors one map at `-t` and `-s`."
        ),
        steps=(across, goal, same),
        perturbations=(
            across.but("the query gets A, not its transpose", lhs=product(transpose(left * Q), right, K)),
            goal.but("the key gets the same map as the query", lhs=product(a, transpose(_shear(s)))),
            same.but("a slide instead of a rotation", lhs=product(transpose(_shear(t)), _shear(t))),
        ),
        rests_on=("flow-group-law",),
        comment=(
            "Written out for `2×2` matrices; `A(t)A(-s) = A(t-s)` is [the group law](#flow-group-law), shown "
            "on the slide, where using one map for both goes wrong."
        ),
    )


def _shear(time: sp.Expr) -> sp.ImmutableMatrix:
    return sp.ImmutableMatrix([[1, time], [0, 1]])
