"""The turn: RoPE. Rotating by absolute positions leaves the gap, for any number of planes."""

import sympy as sp

from ...symbolic.catalogue.registry import encoding
from ...symbolic.decide import Status
from ...symbolic.equivalent import Intertwiner, equivalent
from ...symbolic.induction import Induction
from ...symbolic.limits import Limit
from ...symbolic.signs import Sign
from ...symbolic.tree import At, D
from ..law import Chapter, Hypothesis, Law, Renaming
from ..step import Cited, Exact, Identity, Source
from .common import (
    I2,
    LINDEMANN,
    ROFORMER,
    J,
    K,
    Q,
    R,
    c,
    dot,
    g,
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
    x,
    y,
)

CHAPTER = Chapter(
    "turn",
    "The turn: RoPE",
    "A clock hand that turns by ω a step. Rotate the query by its own position and the key by its own "
    "position, and their "
    "dot product sees only the angle between the hands: the gap. Everything here holds for arbitrary "
    "frequencies; how to "
    "choose them is the next chapter.",
)
n = sp.Symbol("n", nonnegative=True)
S, S1 = sp.symbols("S S1", real=True)
COUNT = sp.Symbol("N", real=True)
OMEGAS = sp.symbols("omega0:3", positive=True)


def plane(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """(R(ω·query) q)·(R(ω·key) k) for one plane."""
    return dot(R(w * query) * Q, R(w * key) * K)


def sum_over_planes(term: sp.Expr, shifted: sp.Expr) -> Induction:
    """Two running sums over planes, one of each term, agree after n planes, for every n."""
    return Induction(index=n, start=0, state={S: (0, S + term), S1: (0, S1 + shifted)}, claim={S1: S})


@CHAPTER.law("rope-plane")
def rope_plane() -> Law:
    goal = Identity(name="shift both", goal=True, lhs=plane(t + c, s + c), rhs=plane(t, s))
    slope = Identity(name="shift derivative", lhs=D(plane(t, s), t) + D(plane(t, s), s), rhs=sp.S.Zero)
    gap = Identity(name="substitute t = s + u", lhs=plane(s + u, s), rhs=dot(Q, R(-w * u) * K))
    return Law(
        id="rope-plane",
        title="One plane sees only the gap",
        statement="For all real `t, s, c`, every `ω > 0` and all `q, k ∈ ℝ²`: `(R(ωt) q)·(R(ωs) k)` does not "
        "change "
        "when `c` is added to both positions.",
        steps=(slope, gap, goal),
        perturbations=(
            goal.but("only the query is shifted", lhs=plane(t + c, s)),
            goal.but("the key turns the other way", lhs=plane(t + c, -s - c), rhs=plane(t, -s)),
            slope.but("the derivatives are subtracted", lhs=D(plane(t, s), t) - D(plane(t, s), s)),
            gap.but("the rotation has the wrong sign", rhs=dot(Q, R(w * u) * K)),
        ),
        renamings=(Renaming("the other direction of turning, ω → -ω everywhere", {w: -w}),),
        sources=(ROFORMER,),
        comment="Two proofs: the derivative of the score along a common shift is zero, and after `t = s + u` "
        "the position `s` is "
        "gone. The second also shows what is left: `qᵀ R(-ωu) k`, so in `exp(uX)` the generator is `X = "
        "-ωJ`.",
    )


@CHAPTER.law("rope-relative")
def rope_relative() -> Law:
    goal = Exact(name="all planes", goal=True, of=sum_over_planes(plane(t, s), plane(t + c, s + c)))
    return Law(
        id="rope-relative",
        title="RoPE is relative, for every number of planes",
        statement="For every number of planes `n`, all frequencies, all real `t, s, c` and all contents: "
        "the RoPE "
        "score "
        "`Σ (R(ω_j t) q_j)·(R(ω_j s) k_j)` is the same at `(t + c, s + c)` as at `(t, s)`.",
        steps=(goal,),
        rests_on=("rope-plane",),
        perturbations=(
            goal.but(
                "each new plane shifts only the query",
                state=sum_over_planes(plane(t, s), plane(t + c, s)).state,
            ),
            goal.but(
                "each new plane turns q and k at different rates",
                state=sum_over_planes(
                    dot(R(w * t) * Q, R(2 * w * s) * K), dot(R(w * (t + c)) * Q, R(2 * w * (s + c)) * K)
                ).state,
            ),
        ),
        renamings=(Renaming("the other direction of turning, ω → -ω everywhere", {w: -w}),),
        sources=(ROFORMER,),
        comment="The sum over no planes is 0 on both sides; a new plane, with a frequency and contents "
        "of its "
        "own, adds equal terms. "
        "Hence all n, not a sample of dimensions. A plane that does not turn is the case ω = 0, and "
        "unrotated features are more of those.",
    )


@CHAPTER.law("rope-length")
def rope_length() -> Law:
    turned = R(w * t) * Q
    one = Identity(name="one plane", lhs=dot(turned, turned), rhs=dot(Q, Q))
    goal = Exact(name="all planes", goal=True, of=sum_over_planes(dot(Q, Q), dot(turned, turned)))
    stretched = sp.exp(-g * t) * turned
    return Law(
        id="rope-length",
        title="RoPE keeps lengths",
        statement="For every number of planes, all frequencies and every real `t`: `‖R_t q‖ = ‖q‖`.",
        steps=(one, goal),
        perturbations=(
            one.but("the turn also fades", lhs=dot(stretched, stretched)),
            goal.but(
                "one entry has the wrong sign", state=sum_over_planes(dot(Q, Q), _wrong_square(t)).state
            ),
        ),
        comment="Rotation changes angles and nothing else. It can neither lose information nor blow up.",
    )


def _wrong_square(time: sp.Expr) -> sp.Expr:
    """Squared length after the rotation matrix with its minus sign deleted."""
    a = q0 * sp.cos(w * time) + q1 * sp.sin(w * time)
    b = q0 * sp.sin(w * time) + q1 * sp.cos(w * time)
    return a**2 + b**2


@CHAPTER.law("plane-score")
def plane_score() -> Law:
    along, across = dot(Q, K), q0 * k1 - q1 * k0
    right = along * sp.cos(w * (t - s)) + across * sp.sin(w * (t - s))
    goal = Identity(name="cosine and sine part", goal=True, lhs=plane(t, s), rhs=right)
    sign = Identity(
        name="the sign of the sine",
        lhs=goal.rhs.subs({q0: 1, q1: 0, k0: 0, k1: 1, t: 5, s: 2}, simultaneous=True),
        rhs=sp.sin(3 * w),
    )
    return Law(
        id="plane-score",
        title="What one plane scores",
        statement="For all real `t, s`, every `ω > 0` and all `q, k ∈ ℝ²`: `(R(ωt) q)·(R(ωs) k) = (q·k) cos "
        "ω(t-s) + (q×k) sin ω(t-s)`, "
        "with `q×k = q₀k₁ - q₁k₀`.",
        steps=(goal, sign),
        perturbations=(
            goal.but(
                "the sine has the other sign", rhs=along * sp.cos(w * (t - s)) - across * sp.sin(w * (t - s))
            ),
            goal.but("the sine part is left out", rhs=along * sp.cos(w * (t - s))),
            sign.but("the gap has the other sign", rhs=sp.sin(-3 * w)),
        ),
        comment="Popular accounts keep only the cosine. That is the special case of parallel contents: "
        "with q = "
        "(1, 0), k = (0, 1) "
        "at (5, 2) the plane of frequency 1 scores sin 3 = 0.141…, and at (2, 5) it scores -0.141….",
    )


@CHAPTER.law("cosine-only")
def cosine_only() -> Law:
    goal = Identity(name="cosine alone", goal=True, lhs=plane(t, s), rhs=dot(Q, K) * sp.cos(w * (t - s)))
    parallel = {k0: x * q0, k1: x * q1}
    return Law(
        id="cosine-only",
        title="“Each pair picks up a cosine of the gap”",
        statement="For all `t, s, ω` and all contents: `(R(ωt) q)·(R(ωs) k) = (q·k) cos ω(t-s)`.",
        expected=Status.REFUTED,
        steps=(goal,),
        siblings=(
            goal.but(
                "for parallel contents, k = x q",
                lhs=goal.lhs.xreplace(parallel),
                rhs=goal.rhs.xreplace(parallel),
            ),
        ),
        rests_on=("plane-score",),
        comment="A frequent short answer. It forgets the part that tells before from behind.",
    )


@CHAPTER.law("turn-flow")
def turn_flow() -> Law:
    rotation = R(w * t)
    ode = Identity(name="A' = XA", goal=True, lhs=D(rotation, t), rhs=product(w * J, rotation))
    start = Identity(name="A(0) = I", goal=True, lhs=At(rotation, t, 0), rhs=I2)
    square = Identity(name="J² = -I", lhs=product(J, J), rhs=-I2)
    return Law(
        id="turn-flow",
        title="The rotation is exp(ωtJ)",
        statement=(
            "For every `ω > 0` and real `t`: `A(t) = R(ωt)` satisfies `A(0) = I` and `A' = ωJ A` with `J² = "
            "-I`; hence `R(ωt) = exp(ωtJ)`."
        ),
        steps=(square, start, ode),
        rests_on=("uniqueness",),
        perturbations=(
            ode.but("the sign of J is flipped", rhs=product(-w * J, rotation)),
            ode.but("the frequency is doubled in X", rhs=product(2 * w * J, rotation)),
            square.but(
                "J is symmetric",
                lhs=product(sp.ImmutableMatrix([[0, 1], [1, 0]]), sp.ImmutableMatrix([[0, 1], [1, 0]])),
            ),
        ),
        renamings=(Renaming("the other direction of turning, ω → -ω everywhere", {w: -w}),),
        comment="With the query at t and the key at s the matrix between them is `R(ω(s-t)) = "
        "exp((t-s)X)` with "
        "`X = -ωJ`: the sign "
        "that golden values must pin down.",
    )


@CHAPTER.law("one-line-cannot-turn")
def one_line_cannot_turn() -> Law:
    rate = sp.Symbol("lambda", real=True)
    goal = Exact(name="a 1×1 group is positive", goal=True, of=Sign(sp.exp(rate * t), "+"))
    return Law(
        id="one-line-cannot-turn",
        title="Why pairs: a line has no room to turn",
        statement=(
            "For all real `λ, t`: `e^{λt} > 0`, so a real `1×1` group never reaches `-1` and never turns."
        ),
        steps=(goal,),
        perturbations=(
            goal.but("it is sometimes negative", sign="-"),
            goal.but("the cosine is positive too", expr=sp.cos(w * t)),
        ),
        comment=(
            "A half turn would be multiplication by -1. On a line every continuous group is a fade, a hold "
            "or a growth."
        ),
    )


@CHAPTER.law("conjugate-pairs")
def conjugate_pairs() -> Law:
    re, im, re2, im2, a = sp.symbols("p_re p_im r_re r_im a", real=True)
    horner = Induction(
        index=n,
        start=0,
        state={
            re: (0, re * x - im * y + a),
            im: (0, re * y + im * x),
            re2: (0, re2 * x + im2 * y + a),
            im2: (0, -re2 * y + im2 * x),
        },
        claim={re2: re, im2: -im},
    )
    goal = Exact(name="p(z̄) is the conjugate of p(z)", goal=True, of=horner)
    wrong_claim = {re2: re, im2: im}
    wrong_state = {**horner.state, re2: (0, re2 * x + im2 * y + a), im2: (0, -re2 * y + im2 * x + a)}
    return Law(
        id="conjugate-pairs",
        title="Why pairs: complex eigenvalues come in twos",
        statement="For every real polynomial `p` of any degree and every `z = x + iy`: `p(z̄)` is the "
        "conjugate "
        "of `p(z)`. So complex "
        "eigenvalues of a real matrix come in conjugate pairs.",
        steps=(goal,),
        perturbations=(
            goal.but("the values are equal, not conjugate", claim=wrong_claim),
            goal.but("the coefficients have imaginary parts", state=wrong_state),
        ),
        comment=(
            "Horner's rule adds one coefficient a at a time; the claim passes from n coefficients to n + 1. "
            "Each pair owns a plane."
        ),
    )


@CHAPTER.law("odd-dimension")
def odd_dimension() -> Law:
    lam, a2, a1, a0 = sp.symbols("lambda a2 a1 a0", real=True)
    cubic = lam**3 + a2 * lam**2 + a1 * lam + a0
    up = Exact(name="right end", goal=True, of=Limit(cubic, lam, sp.oo, sp.oo))
    down = Exact(name="left end", goal=True, of=Limit(cubic, lam, -sp.oo, -sp.oo))
    return Law(
        id="odd-dimension",
        title="Why pairs: an odd dimension keeps one line fixed",
        statement="A real `3×3` characteristic polynomial tends to `-∞` on the left and `+∞` on the right, "
        "whatever its coefficients; so it "
        "has a real root, and a rotation of an odd number of coordinates leaves a line that does not turn.",
        steps=(
            up,
            down,
            Cited(
                name="a continuous function with values of both signs has a zero",
                lemma="intermediate value theorem; the same two limits hold for every odd degree",
                source=Source("W. Rudin, Principles of Mathematical Analysis, 3rd ed., Theorem 4.23"),
            ),
        ),
        perturbations=(
            up.but("the degree is even", expr=lam * cubic, to=-sp.oo, value=-sp.oo),
            down.but("the left end goes up", value=sp.oo),
        ),
        rests_on=("conjugate-pairs",),
        comment="This is why implementations refuse an odd head dimension, or leave one feature unrotated.",
    )


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
    return Law(
        id="levels",
        title="Three ways to write RoPE are one operation",
        statement="The block-diagonal matrix, the list of plane rotations, and `x₀ cos α - x₁ sin α`, `x₀ "
        "sin α + "
        "x₁ cos α` agree for all "
        "contents and angles. A plane costs four multiplies and two adds; `n` planes have `4n` non-zero "
        "entries: 256 of 16384 at `d = 128` for integer `t ≠ 0`, 128 at `t = 0`.",
        hypotheses=(
            Hypothesis(
                "integer",
                "`t` is a non-zero integer and the frequencies are algebraic, as `10000^{-2k/d}` is",
            ),
        ),
        steps=(
            blocks,
            split,
            count,
            at128,
            still,
            Cited(
                name="neither cos(ωt) nor sin(ωt) is zero",
                lemma="cos or sin of a non-zero algebraic number is not zero: a zero would make π algebraic",
                source=LINDEMANN,
                needs=("integer",),
            ),
        ),
        perturbations=(
            blocks.but(
                "the minus sign is deleted",
                rhs=sp.ImmutableMatrix([q0 * sp.cos(a) + q1 * sp.sin(a), q0 * sp.sin(a) + q1 * sp.cos(a)]),
            ),
            split.but(
                "the second block has the first angle", rhs=sp.ImmutableMatrix([*(R(a) * Q), *(R(a) * K)])
            ),
            count.but("a full plane is counted as two", claim={COUNT: 2 * n}),
        ),
        comment="Level 1 is what it is, level 2 is where one understands it, level 3 is what runs. Nobody "
        "builds the matrix. Two blocks "
        "stand for any number: stacking is associative.",
    )


@CHAPTER.law("half-split")
def half_split() -> Law:
    found = {
        kind: encoding("rope", head_dim=6, interleaved=kind, frequencies=OMEGAS) for kind in (True, False)
    }
    between, split = (found[kind].generators[0].exp(u) for kind in (True, False))
    intertwiner = equivalent(found[True], found[False])
    assert isinstance(intertwiner, Intertwiner)
    permutation = intertwiner.matrix
    conjugate = Identity(
        name="d = 6, written out",
        goal=True,
        lhs=product(permutation, between),
        rhs=product(split, permutation),
        note="P A_interleaved(u) = A_half(u) P",
    )
    orthogonal = Identity(
        name="Pᵀ P = I", goal=True, lhs=product(transpose(permutation), permutation), rhs=sp.eye(6)
    )
    # a further plane adds the same term whether its features stand at 2n, 2n+1 or at n, n + d/2
    grown = Exact(name="any number of planes", goal=True, of=sum_over_planes(plane(t, s), plane(t, s)))
    wq = sp.ImmutableMatrix(6, 2, lambda i, j: sp.Symbol(f"a{i}_{j}", real=True))
    wk = sp.ImmutableMatrix(6, 2, lambda i, j: sp.Symbol(f"b{i}_{j}", real=True))
    rows = Identity(
        name="permuted weight rows give the same scores",
        goal=True,
        lhs=product(transpose(wq), between, wk),
        rhs=product(transpose(permutation * wq), split, permutation * wk),
    )
    return Law(
        id="half-split",
        title="Half-split is interleaved with its features relabelled",
        statement="With the permutation `P` that sends the features `(2j, 2j+1)` to `(j, j + d/2)`: `P "
        "A_interleaved(u) = A_half(u) P` for "
        "every real `u` and all frequencies, and `PᵀP = I`; so permuting the rows of `W_q` and `W_k` by "
        "`P` turns a checkpoint of one kind into the other.",
        steps=(orthogonal, conjugate, rows, grown),
        rests_on=("rope-relative", "change-of-basis", "direct-sum"),
        perturbations=(
            conjugate.but("no permutation on the right", rhs=product(split, sp.eye(6))),
            rows.but("only W_q is permuted", rhs=product(transpose(permutation * wq), split, wk)),
            grown.but(
                "query and key of a new plane in different pairings",
                state=sum_over_planes(plane(t, s), _crossed()).state,
            ),
        ),
        comment=(
            "Equal as families, different on given weights: running a checkpoint of one kind with the "
            "other's kernel gives garbage after a token or two. Mixing the two for query and key is not "
            "even relative, see relative--mismatched_pairings."
        ),
    )


def _crossed() -> sp.Expr:
    """A plane whose key has its two features exchanged."""
    return dot(R(w * t) * Q, R(w * s) * sp.Matrix([k1, k0]))


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
        statement="For all real `t, s, c`: a value rotated at its own position and returned through `R(-ωt)` "
        "reaches the output as `R(ω(s-t)) v`, "
        "which depends on the gap only.",
        steps=(forth, back),
        perturbations=(
            back.but("the output is left as it is", lhs=product(R(w * (s + c)), Q), rhs=product(R(w * s), Q)),
            back.but(
                "the output turns the same way as the value",
                lhs=product(R(w * (t + c)), R(w * (s + c)), Q),
                rhs=product(R(w * t), R(w * s), Q),
            ),
        ),
        comment="Values are normally not rotated, because content should arrive as it was written. Rotating "
        "them and leaving the output "
        "makes the output depend on absolute positions.",
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
        statement="For every group `A`: with the query factor `A(t)ᵀ` and the key factor `A(-s)` the "
        "score is `qᵀ "
        "A(t-s) k`. Only where "
        "`A(t)ᵀ = A(-t)`, as for a rotation, are the two factors the same map.",
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
