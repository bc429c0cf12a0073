"""Several axes as they are used: planes that turn by linear forms of a vector, and sections of planes."""

import sympy as sp

from ...symbolic.induction import Induction
from ...symbolic.tree import D
from ..law import Law, Renaming
from ..step import Enclosed, Exact, Identity, Source
from .axes import CHAPTER, c
from .common import K, Q, R, dot, w, x
from .turn import sum_over_planes

ROPE_VIT = Source(
    "B. Heo, S. Park, D. Han, S. Yun, Rotary Position Embedding for Vision Transformer, ECCV 2024",
    "https://arxiv.org/abs/2403.13298",
)
QWEN = Source(
    "P. Wang et al., Qwen2-VL: Enhancing Vision-Language Model's Perception of the World at Any Resolution, "
    "2024, section 2.1",
    "https://arxiv.org/abs/2409.12191",
)
F = sp.symbols("f_x f_y", real=True)
T, S, C = (sp.symbols(f"{letter}_x {letter}_y", real=True) for letter in "tsc")
MOVED = tuple(a + b for a, b in zip(T, C, strict=True)), tuple(a + b for a, b in zip(S, C, strict=True))


def mixed_plane(query: tuple[sp.Expr, sp.Expr], key: tuple[sp.Expr, sp.Expr]) -> sp.Expr:
    """(R(f·query) q)·(R(f·key) k): one plane that turns by a linear form of both coordinates."""
    return dot(R(F[0] * query[0] + F[1] * query[1]) * Q, R(F[0] * key[0] + F[1] * key[1]) * K)


def _linear_forms() -> tuple[Exact, dict]:
    """Σ f_i(p_i + c_i) for any number of axes, and the same with only the last shift kept."""
    angle, shift, moved = sp.symbols("L D M", real=True)
    linear = Induction(
        index=sp.Symbol("n", nonnegative=True),
        start=0,
        state={
            angle: (0, angle + F[0] * x),
            shift: (0, shift + F[0] * c),
            moved: (0, moved + F[0] * (x + c)),
        },
        claim={moved: angle + shift},
    )
    forms = Exact(
        name="any number of axes: Σ f_i(p_i + c_i) = Σ f_i p_i + Σ f_i c_i",
        goal=True,
        of=linear,
        note="one axis more adds f·p, with frequency and coordinate of its own",
    )
    return forms, {**linear.state, shift: (0, F[0] * c)}


@CHAPTER.law("axes-mixed")
def axes_mixed() -> Law:
    plane = mixed_plane(T, S)
    goal = Identity(name="shift both vectors", goal=True, lhs=mixed_plane(*MOVED), rhs=plane)
    slopes = [
        Identity(name=f"shift derivative along {z}", lhs=D(plane, a) + D(plane, b), rhs=sp.S.Zero)
        for z, a, b in zip("xy", T, S, strict=True)
    ]
    forms, once = _linear_forms()
    planes = Exact(name="any number of planes", goal=True, of=sum_over_planes(plane, mixed_plane(*MOVED)))
    crossed = mixed_plane(MOVED[0], MOVED[1][::-1]), mixed_plane(T, S[::-1])
    area = [dot(R(F[0] * a[0] * a[1]) * Q, R(F[0] * b[0] * b[1]) * K) for a, b in (MOVED, (T, S))]
    return Law(
        id="axes-mixed",
        title="Axial and mixed RoPE see only the difference of two vectors",
        statement=(
            "For every number of planes and of axes, all real frequencies, negative ones and 0 included, all "
            "contents and all positions: a plane that turns by `f_x x + f_y y` gives "
            "`(R(f·t) q)·(R(f·s) k)`, which does not change when one vector `c` is added to `t` and `s`. "
            "With `f_y = 0` or `f_x = 0` this is axial RoPE."
        ),
        steps=(*slopes, goal, forms, planes),
        rests_on=("rope-relative",),
        renamings=(Renaming("the other direction of turning, f → -f everywhere", {f: -f for f in F}),),
        perturbations=(
            goal.but("only the query moves along y", lhs=mixed_plane((MOVED[0]), (MOVED[1][0], S[1]))),
            goal.but("the key exchanges its coordinates", lhs=crossed[0], rhs=crossed[1]),
            goal.but("the angle is the product x·y", lhs=area[0], rhs=area[1]),
            forms.but("the shift is counted once for all axes", state=once),
        ),
        sources=(ROPE_VIT,),
        comment=(
            "Learned frequencies need no constraint at all: turns of one plane always commute. An axial "
            "plane knows one coordinate only; a mixed one can tell a diagonal from a row."
        ),
    )


@CHAPTER.law("mrope-is-rope")
def mrope_is_rope() -> Law:
    a, b, p, r = sp.symbols("a b p r", real=True)

    def plane(query: sp.Expr, key: sp.Expr, rest: sp.Expr = 1 - a - b) -> sp.Expr:
        angles = [w * (a * z + b * z + rest * z) for z in (query, key)]
        return dot(R(angles[0]) * Q, R(angles[1]) * K)

    rope = dot(R(w * p) * Q, R(w * r) * K)
    one = Identity(name="one plane at t = h = w", goal=True, lhs=plane(p, r), rhs=rope)
    goal = Exact(name="all planes", goal=True, of=sum_over_planes(rope, plane(p, r)))
    ahead = dot(R(w * (a * p + b * (p + 1) + (1 - a - b) * p)) * Q, R(w * r) * K)
    return Law(
        id="mrope-is-rope",
        title="M-RoPE on text is RoPE",
        statement=(
            "For every number of planes, all frequencies and contents, and every way to give each plane "
            "weights for time, height and width that add up to 1: at positions with `t = h = w` the score "
            "`Σ (R(ω_j p) q_j)·(R(ω_j r) k_j)` is that of RoPE at `p` and `r`. In M-RoPE one weight of each "
            "plane is 1 and the others are 0, in chunks or interleaved."
        ),
        steps=(one, goal),
        rests_on=("rope-relative", "axes-mixed"),
        renamings=(Renaming("the other direction of turning, ω → -ω everywhere", {w: -w}),),
        perturbations=(
            one.but("two axes own one plane: the weights add up to 2", lhs=plane(p, r, 2 - a - b)),
            one.but("height is one ahead for the query only", lhs=ahead),
            goal.but("the width of every plane is lost", state=sum_over_planes(rope, plane(p, r, -a)).state),
        ),
        sources=(QWEN,),
        comment=(
            "A free regression test for every section map: give all axes the same positions and compare with "
            "RoPE on one axis. It does not tell the two layouts apart; "
            "[one vector](#mrope-worked-example) does."
        ),
    )


def mrope_angle(plane: int, coordinate: int) -> sp.Expr:
    """coordinate · θ^(-2·plane/128) with θ = 10⁶."""
    return coordinate * sp.Integer(10**6) ** sp.Rational(-2 * plane, 128)


@CHAPTER.law("mrope-worked-example")
def mrope_worked_example() -> Law:
    printed = {
        15: (1, "0.0392418975848453", "0.0392418975848454"),
        16: (2, "0.0632455532033675", "0.0632455532033676"),
        39: (2, "0.000441346813816917", "0.000441346813816919"),
        40: (3, "0.000533483823011676", "0.000533483823011678"),
        63: (3, "0.00000372281328225515", "0.00000372281328225517"),
    }
    steps = {
        i: Enclosed(name=f"plane {i}", goal=True, expr=mrope_angle(i, coordinate), lower=low, upper=high)
        for i, (coordinate, low, high) in printed.items()
    }
    return Law(
        id="mrope-worked-example",
        title="One vector tells the sections apart",
        statement=(
            "With 64 planes, `ω_i = 10^{-6·i/64}` and the sections 16, 24, 24 for time, height and width, at "
            "the position `(1, 2, 3)` plane 0 turns by 1 radian and the planes 15, 16, 39, 40, 63, next to "
            "the borders, by the angles enclosed here."
        ),
        steps=tuple(steps.values()),
        rests_on=("mrope-is-rope",),
        perturbations=(
            steps[16].but("the border one plane later", expr=mrope_angle(16, 1)),
            steps[39].but("interleaved with 24, 20, 20: plane 39 belongs to time", expr=mrope_angle(39, 1)),
            steps[63].but(
                "the exponent is -2i/64: each section has a table of its own", expr=mrope_angle(126, 3)
            ),
        ),
        sources=(QWEN,),
        comment="Planes at the borders of sections are where a section map is wrong first.",
    )
