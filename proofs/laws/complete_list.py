"""The complete list: every block with its kernel functions, and where the popular six-row table is short."""

from typing import Any

import sympy as sp

from ...symbolic.block import Block
from ...symbolic.induction import Induction
from ...symbolic.limits import Limit
from ...symbolic.signs import Sign
from ...symbolic.tree import At, D
from ..law import Chapter, Hypothesis, Law
from ..step import Cited, Exact, Identity, Source
from .bounded import BLOCKS as BOUNDED
from .bounded import JORDAN, JORDAN_FORM
from .common import ALIBI, KRANTZ_PARKS, PURANIK, ROFORMER, g, plus, product, times, u, w
from .one_parameter import for_all, spoken

CHAPTER = Chapter(
    "complete-list",
    "The complete list",
    "Every generator is, in some basis, a direct sum of the blocks `J_m(-γ)` and `C_m(γ, ω)`. Turn, fade "
    "and slide are the ingredients; they may also act at once inside one block, and slides come in every "
    "height.",
)
c, s_, f = sp.cos(w * u), sp.sin(w * u), sp.exp(-g * u)
ROWS = {
    # block: (block, kernel functions = first row of exp(uX), where it is shipped)
    "hold": (Block(0), [1], "NoPE, in some decoders"),
    "fade": (Block(g), [f], "decay in linear attention and state-space models, RetNet's scale"),
    "grow": (Block(-g), [1 / f], "nowhere; beside an equal fade it is a boost"),
    "turn": (Block(0, w), [c, -s_], "RoPE, as in Llama, Qwen and Mistral"),
    "damped-turn": (Block(g, w), [f * c, -f * s_], "RetNet, xPos, Mamba-3 (in a clock)"),
    "growing-turn": (Block(-g, w), [c / f, -s_ / f], "nowhere; it needs keys ahead only"),
    "slide": (Block(0, 0, 2), [1, u], "ALiBi, as in BLOOM and MPT"),
    "slide-3": (Block(0, 0, 3), [1, u, u**2 / 2], "quadratic bias (KERPLE-power with exponent 2)"),
    "faded-slide": (Block(g, 0, 2), [f, u * f], "nowhere that we know of; the critically damped oscillator"),
    "turning-slide": (Block(0, w, 2), [c, -s_, u * c, -u * s_], "Jordan-RoPE, exact mode"),
    "damped-turning-slide": (
        Block(g, w, 2),
        [f * c, -f * s_, u * f * c, -u * f * s_],
        "Jordan-RoPE with decay, exact mode",
    ),
}


def paper(text: str, arxiv: str) -> Source:
    return Source(text, f"https://arxiv.org/abs/{arxiv}")


RETNET = paper("Y. Sun et al., Retentive Network, 2023", "2307.08621")
JORDAN_ROPE = paper("Jordan-RoPE, 2026", "2605.04217")
SOURCES = {
    "hold": (
        paper(
            "A. Haviv et al., Transformer Language Models without Positional Encodings, 2022", "2203.16634"
        ),
    ),
    "fade": (RETNET, paper("T. Dao, A. Gu, Transformers are SSMs, 2024", "2405.21060")),
    "turn": (ROFORMER,),
    "damped-turn": (
        RETNET,
        paper("Y. Sun et al., A Length-Extrapolatable Transformer (xPos), 2022", "2212.10554"),
    ),
    "slide": (ALIBI, paper("BigScience, BLOOM, 2022", "2211.05100")),
    "slide-3": (paper("T.-C. Chi et al., KERPLE, 2022", "2205.09921"),),
    "turning-slide": (JORDAN_ROPE,),
    "damped-turning-slide": (JORDAN_ROPE,),
}
VERDICTS = {
    "all t": "bounded for all `t`, so usable in both directions",
    "t ≥ 0": "bounded for `t ≥ 0` only, so usable behind a causal mask",
    "t ≤ 0": "bounded for `t ≤ 0` only, so unusable behind a causal mask",
    "neither": "bounded in neither direction",
}


@CHAPTER.law("kernel-functions", encodings=tuple(ROWS))
def kernel_functions(name: str) -> Law:
    block, row, where = ROWS[name]
    flow = block.exp(u)
    first = sp.zeros(1, block.dim).as_mutable()
    first[0, 0] = 1
    goal = Identity(
        name="first row of exp(uX)", goal=True, lhs=product(first, flow), rhs=sp.ImmutableMatrix([row])
    )
    ode = Identity(name="A' = XA", lhs=D(flow, u), rhs=product(block.matrix, flow))
    start = Identity(name="A(0) = I", lhs=At(flow, u, 0), rhs=sp.eye(block.dim).as_immutable())
    fate = BOUNDED[name][1]
    verdict = {"all t": "both ways", "t ≥ 0": "causal only", "t ≤ 0": "ahead only"}.get(fate, "not bounded")
    wrong = [*row[:-1], row[-1] + u] if len(row) > 1 else [row[0] + u]
    return Law(
        id="kernel-functions",
        encoding=name,
        title=f"{spoken(name).capitalize()}: {verdict}",
        statement=(
            f"For every real `u`{for_all(block)}: the first row of `exp(uX)` for the {spoken(name)} is, up "
            f"to sign, {_listed(row)}; its scores are combinations of these. The block is "
            f"{VERDICTS[fate]}."
        ),
        steps=(ode, start, goal),
        rests_on=(f"flow/{name}", f"bounded/{name}"),
        sources=SOURCES.get(name, ()),
        perturbations=(
            goal.but("a term u is added to the last function", rhs=sp.ImmutableMatrix([wrong])),
            ode.but("X has 1 added on its diagonal", rhs=product(block.matrix + sp.eye(block.dim), flow)),
        ),
        comment=f"In use: {where}." + (_POLYNOMIAL if fate == "neither" else ""),
    )


_POLYNOMIAL = " In a bias polynomial growth does no harm; keys mapped by it grow with the context."


def _listed(row: list[sp.Expr]) -> str:
    from ...symbolic.typeset import to_text

    return ", ".join(f"`{to_text(abs_sign(sp.sympify(entry, strict=True)))}`" for entry in row)


def abs_sign(entry: sp.Expr) -> sp.Expr:
    """The entry without a leading minus: as a kernel function the sign is free."""
    return -entry if entry.could_extract_minus_sign() else entry


@CHAPTER.law("complete-list")
def complete_list() -> Law:
    quadratic, pair, squares, wrong, doubled = _quadratics()
    return Law(
        id="complete-list",
        title="Nothing is missing",
        statement=(
            "Every real square `X` is similar to a direct sum of blocks `J_m(-γ)` and `C_m(γ, ω)` with real "
            "`γ` and `ω > 0`, unique up to order; so every entry of `exp(uX)` is a combination of "
            "`u^k e^{-γu}`, `u^k e^{-γu} cos ωu` and `u^k e^{-γu} sin ωu` with `k < m`. In two dimensions "
            "the polynomials of the blocks are `λ² - (x+y)λ + xy` and `λ² + 2γλ + γ² + ω²`, every real "
            "quadratic one of the two."
        ),
        hypotheses=(Hypothesis("real", "`X` is a real square matrix"),),
        steps=(
            Cited(
                name="real Jordan form",
                lemma=JORDAN_FORM,
                source=JORDAN,
                needs=("real",),
            ),
            quadratic,
            pair,
            squares,
        ),
        rests_on=("uniqueness", "all-sizes", "direct-sum", "change-of-basis", "bounded-all-sizes"),
        perturbations=(
            pair.but("both roots with the same sign of ω", lhs=doubled),
            quadratic.but("the constant term is the sum", rhs=wrong),
        ),
        sources=(PURANIK,),
        comment=(
            "Existence and uniqueness of the form are cited; [the rows](#kernel-functions) are computed, and "
            "their fate [for every size](#bounded-all-sizes). Only integer positions allow more: "
            "[alternating rows](#integer-rows) and, causally, [windows](#window-rows)."
        ),
    )


def _quadratics() -> tuple[Identity, Identity, Identity, sp.Expr, sp.Expr]:
    """The polynomials of blocks of size 2, and two that are wrong."""
    lam, x, y = sp.symbols("lambda x y", real=True)
    trace, det = x + y, x * y
    quadratic = Identity(
        name="two dimensions: x, y real are the roots of λ² - (x+y)λ + xy",
        goal=True,
        lhs=(lam - x) * (lam - y),
        rhs=lam**2 - trace * lam + det,
    )
    mid, half, rest = sp.symbols("b c e", real=True)
    squares = Identity(
        name="every quadratic is (λ + b/2)² plus a number: e ≤ 0 is the first kind, e > 0 the second",
        lhs=lam**2 + mid * lam + half,
        rhs=At((lam + mid / 2) ** 2 + rest, rest, half - mid**2 / 4),
    )
    pair = Identity(
        name="two dimensions: -γ ± iω are the roots of λ² + 2γλ + γ² + ω²",
        goal=True,
        lhs=(lam + g - sp.I * w) * (lam + g + sp.I * w),
        rhs=lam**2 + 2 * g * lam + g**2 + w**2,
    )
    return quadratic, pair, squares, lam**2 - trace * lam + trace, (lam + g - sp.I * w) ** 2


@CHAPTER.law("six-rows-short")
def six_rows_short() -> Law:
    peak = u * sp.exp(-g * u)
    slope = Identity(
        name="rising before u = 1/γ, falling after it",
        goal=True,
        lhs=D(peak, u),
        rhs=(1 - g * u) * sp.exp(-g * u),
    )
    three = Block(0, 0, 3).matrix
    height = Identity(
        name="N₃² is not zero, so u²/2 appears",
        goal=True,
        lhs=product(*[three] * 2),
        rhs=sp.ImmutableMatrix([[0, 0, 1], [0, 0, 0], [0, 0, 0]]),
    )
    fades = Exact(name="and fading in the end", goal=True, of=Limit(peak, u, sp.oo, sp.S.Zero))
    flat = Identity(name="N₂² is", lhs=product(*[Block(0, 0, 2).matrix] * 2), rhs=sp.zeros(2, 2))
    block = Block(0, w, 2).exp(u)
    inside = Identity(
        name="a slide inside a turn",
        goal=True,
        lhs=product(sp.ImmutableMatrix([[1, 0, 0, 0]]), block, sp.ImmutableMatrix([0, 0, 1, 0])),
        rhs=sp.ImmutableMatrix([[u * sp.cos(w * u)]]),
        note="one block: turn and slide multiply; side by side they would only add",
    )
    return Law(
        id="six-rows-short",
        title="Where the table with six rows is short",
        statement=(
            "For all `γ, ω > 0`, three kinds of row are missing from it: slides of height `m ≥ 3` with "
            "`u^{m-1}`; faded slides such as `u e^{-γu}`, which rise to a peak at `u = 1/γ` before they "
            "fade; and slides inside a turn, `u cos ωu`."
        ),
        steps=(height, flat, slope, fades, inside),
        perturbations=(
            slope.but("the peak is at 2/γ", rhs=(1 - g * u / 2) * sp.exp(-g * u)),
            inside.but("turn and slide side by side", rhs=sp.ImmutableMatrix([[u + sp.cos(w * u)]])),
            height.but("three slides in a row", lhs=product(*[three] * 3)),
        ),
        rests_on=(
            "kernel-functions/slide-3",
            "kernel-functions/faded-slide",
            "kernel-functions/turning-slide",
        ),
        comment=(
            "“Turn, fade, slide and their combinations” is right if combination includes the product "
            "inside one block. And a defective matrix need not grow: with `γ > 0` it fades in the end, like "
            "the critically damped oscillator."
        ),
    )


RHO = sp.Symbol("rho", positive=True)


@CHAPTER.law("integer-rows")
def integer_rows() -> Law:
    power, slope = sp.symbols("p q", real=True)
    steps = sp.Symbol("n", nonnegative=True)
    rows = Induction(
        index=steps,
        start=0,
        state={power: (1, -RHO * power), slope: (0, power - RHO * slope)},
        claim={slope: -steps * power / RHO},
    )
    goal = Exact(
        name="the first row of Bⁿ is (-ρ)ⁿ, n(-ρ)ⁿ⁻¹",
        goal=True,
        of=rows,
        note="B = [[-ρ, 1], [0, -ρ]]; p and q are the entries of its first row",
    )
    real, *fates = _fates()
    return Law(
        id="integer-rows",
        title="Rows that only integer positions have",
        statement=(
            "For every `ρ > 0` the powers of `B = [[-ρ,1],[0,-ρ]]` give the kernels `(-ρ)ⁿ` and `n(-ρ)ⁿ⁻¹` "
            "at the integer gaps `n ≥ 0`. No real number has `e^λ = -ρ`, so `(-ρ)ⁿ` is no `e^{λn}`: it is "
            "outside on the reals. For `ρ < 1` both tend to 0 and `(-ρ)^{-n}` is unbounded; for `ρ = 1` "
            "`(-1)ⁿ` is bounded for all `n`."
        ),
        steps=(goal, real, *fates),
        perturbations=(
            goal.but(
                "the eigenvalue is +ρ in the second entry only",
                state={**rows.state, slope: (0, power + RHO * slope)},
            ),
            real.but("the eigenvalue is +ρ", expr=plus(real.of.expr, times(sp.Integer(-2), RHO))),
            fates[0].but("ρ = e^γ > 1", expr=u * sp.exp(g * u), value=sp.S.Zero),
        ),
        rests_on=("integer-no-generator", "uniqueness"),
        comment=(
            "Gates may be negative in models that step from token to token, so these rows do occur. They are "
            "samples of `e^{-γu} cos πu`, a plane, which needs two dimensions where `-ρ` needs one."
        ),
    )


def _fates() -> tuple[Exact, Exact, Exact, Identity]:
    """Why no real rate makes these rows, and where they are bounded."""
    rate = sp.Symbol("lambda", real=True)
    real = Exact(name="no real λ has e^λ = -ρ", goal=True, of=Sign(plus(sp.exp(rate), RHO), "+"))
    decays = Exact(
        name="ρ = e^{-γ} < 1: sizes n ρⁿ tend to 0",
        goal=True,
        of=Limit(u * sp.exp(-g * u), u, sp.oo, sp.S.Zero),
    )
    back = Exact(name="and ρⁿ to infinity as n → -∞", goal=True, of=Limit(sp.exp(-g * u), u, -sp.oo, sp.oo))
    unit = Identity(
        name="ρ = 1: (-1)ⁿ is bounded, as (-1)·(-1) = 1",
        lhs=times(sp.Integer(-1), sp.Integer(-1)),
        rhs=sp.S.One,
    )
    return real, decays, back, unit


@CHAPTER.law("window-rows")
def window_rows() -> Law:
    inside, gone, later, *wrong = _window()
    return Law(
        id="window-rows",
        title="Windows: rows of a semigroup",
        statement=(
            "For the shift `B = [[0,1,0],[0,0,1],[0,0,0]]`: `(1,0,0) Bⁿ (1,1,1)ᵀ` is 1 at the gaps "
            "`n = 0, 1, 2` and 0 at every gap `n ≥ 3`, as `B³ = 0`. `B` has no inverse, so there are no "
            "negative gaps; and on the reals no exponential polynomial but 0 vanishes from some gap on."
        ),
        hypotheses=(Hypothesis("interval", "on the reals: the kernel vanishes on a whole interval of gaps"),),
        steps=(
            *inside,
            gone,
            later,
            Cited(
                name="outside on the reals",
                lemma="an exponential polynomial is real analytic, and one that vanishes on an interval is 0",
                source=KRANTZ_PARKS,
                needs=("interval",),
            ),
        ),
        perturbations=tuple(wrong),
        rests_on=("general-form", "broken-inverse"),
        comment=(
            "A window of width `m` needs `m` dimensions, one for each value in it. Such kernels are bounded "
            "and causal. Convolutions over the last tokens are of this kind, and so are clipped tables, with "
            "a hold beside the window for the constant at the end."
        ),
    )


def _window() -> tuple[Any, ...]:
    """The values of a window of width 3, and two that are wrong."""
    a, b, c_ = sp.symbols("x y z", real=True)
    shift = sp.ImmutableMatrix([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    ones, first = sp.ImmutableMatrix([1, 1, 1]), sp.ImmutableMatrix([[1, 0, 0]])
    inside = tuple(
        Identity(
            name=f"gap {n} is in the window",
            goal=True,
            lhs=product(first, *[shift] * n, ones),
            rhs=sp.ImmutableMatrix([[1]]),
        )
        for n in range(3)
    )
    gone = Identity(name="B³ = 0", goal=True, lhs=product(shift, shift, shift), rhs=sp.zeros(3, 3))
    later = Exact(
        name="and every later gap is outside it",
        goal=True,
        of=Induction(
            index=sp.Symbol("n", nonnegative=True),
            start=3,
            state={a: (0, b), b: (0, c_), c_: (0, 0)},
            claim={a: sp.S.Zero, b: sp.S.Zero, c_: sp.S.Zero},
        ),
        note="(x, y, z) = Bⁿ(1, 1, 1); n counts from 3",
    )
    beyond = inside[2].but("one gap further", lhs=product(first, *[shift] * 3, ones))
    wrapped = later.but("the window wraps", state={a: (0, b), b: (0, c_), c_: (0, 1 + 0 * a)})
    return inside, gone, later, beyond, wrapped, gone.but("B² = 0", lhs=product(shift, shift))
