"""The complete list: every block with its kernel functions, and where the popular six-row table is short."""

import sympy as sp

from ...symbolic.block import Block
from ...symbolic.tree import D
from ..law import Chapter, Hypothesis, Law
from ..step import Cited, Identity, Source
from .bounded import JORDAN
from .common import PURANIK, g, product, u, w

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
    "hold": (Block(0), [1], "NoPE: some decoders"),
    "fade": (Block(g), [f], "decay: linear attention, RetNet's scale, state-space models"),
    "grow": (Block(-g), [1 / f], "forbidden; with an equal fade it is a boost"),
    "turn": (Block(0, w), [c, -s_], "RoPE: Llama, Qwen, Mistral"),
    "damped-turn": (Block(g, w), [f * c, -f * s_], "RetNet, xPos, Mamba-3 (in a clock)"),
    "slide": (Block(0, 0, 2), [1, u], "ALiBi: BLOOM, MPT"),
    "slide-3": (Block(0, 0, 3), [1, u, u**2 / 2], "quadratic bias (KERPLE-power with exponent 2)"),
    "faded-slide": (Block(g, 0, 2), [f, u * f], "critically damped; not known to be shipped"),
    "turning-slide": (Block(0, w, 2), [c, -s_, u * c, -u * s_], "Jordan-RoPE, exact mode"),
    "damped-turning-slide": (
        Block(g, w, 2),
        [f * c, -f * s_, u * f * c, -u * f * s_],
        "Jordan-RoPE with decay, exact mode",
    ),
}
SHIPPED = Source(
    "surveyed in the encodings' papers and code: RoPE, ALiBi, RetNet, xPos, KERPLE, Jordan-RoPE (arXiv "
    "2605.04217)"
)


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
    wrong = [*row[:-1], row[-1] + u] if len(row) > 1 else [row[0] + u]
    return Law(
        id="kernel-functions",
        encoding=name,
        title=f"{name}: {where}",
        statement=f"The {name} block gives scores that are combinations of {_listed(row)}.",
        steps=(ode, goal),
        rests_on=(f"flow/{name}",),
        perturbations=(
            goal.but("a term u is added to the last function", rhs=sp.ImmutableMatrix([wrong])),
            ode.but("X is doubled and shifted by I", rhs=product(2 * block.matrix + sp.eye(block.dim), flow)),
        ),
        comment=f"Shipped: {where}.",
    )


def _listed(row: list[sp.Expr]) -> str:
    from ...symbolic.typeset import to_text

    return ", ".join(f"`{to_text(abs_sign(sp.sympify(entry, strict=True)))}`" for entry in row)


def abs_sign(entry: sp.Expr) -> sp.Expr:
    """The entry without a leading minus: as a kernel function the sign is free."""
    return -entry if entry.could_extract_minus_sign() else entry


@CHAPTER.law("complete-list")
def complete_list() -> Law:
    lam, x, y = sp.symbols("lambda x y", real=True)
    trace, det = x + y, x * y
    quadratic = Identity(
        name="two dimensions: x, y real are the roots of λ² - (x+y)λ + xy",
        goal=True,
        lhs=(lam - x) * (lam - y),
        rhs=lam**2 - trace * lam + det,
    )
    pair = Identity(
        name="two dimensions: -γ ± iω are the roots of λ² + 2γλ + γ² + ω²",
        goal=True,
        lhs=(lam + g - sp.I * w) * (lam + g + sp.I * w),
        rhs=lam**2 + 2 * g * lam + g**2 + w**2,
    )
    return Law(
        id="complete-list",
        title="Nothing is missing",
        statement=(
            "Every real square `X` is similar to a direct sum of blocks `J_m(-γ)` and `C_m(γ, ω)` with "
            "`ω > 0`, unique up to order; so every `exp(uX)` is a combination of `u^k e^{-γu}`, "
            "`u^k e^{-γu} cos ωu` and `u^k e^{-γu} sin ωu` with `k < m`."
        ),
        hypotheses=(
            Hypothesis("real", "`X` is a real square matrix"),
            Hypothesis("continuous", "positions are real numbers and the encoding is continuous in them"),
        ),
        steps=(
            Cited(
                name="real Jordan form",
                lemma="existence and uniqueness up to order",
                source=JORDAN,
                needs=("real",),
            ),
            quadratic,
            pair,
        ),
        rests_on=("uniqueness", "all-sizes", "direct-sum", "change-of-basis"),
        perturbations=(
            pair.but("both roots with the same sign of ω", lhs=(lam + g - sp.I * w) ** 2),
            quadratic.but("the constant term is the sum", rhs=lam**2 - trace * lam + trace),
        ),
        sources=(PURANIK,),
        comment=(
            "Existence and uniqueness of the form are cited; the rows are computed. On integer positions "
            "there is more: blocks with a negative eigenvalue, (-1)^u ρ^u u^k, and, causally, finite "
            "windows."
        ),
    )


@CHAPTER.law("six-rows-short")
def six_rows_short() -> Law:
    peak = u * sp.exp(-g * u)
    slope = Identity(
        name="rising before u = 1/γ, falling after it",
        goal=True,
        lhs=D(peak, u),
        rhs=(1 - g * u) * sp.exp(-g * u),
    )
    two, three = Block(0, 0, 2).matrix, Block(0, 0, 3).matrix
    height = Identity(
        name="N₃² is not zero, so u²/2 appears",
        goal=True,
        lhs=product(*[three] * 2),
        rhs=sp.ImmutableMatrix([[0, 0, 1], [0, 0, 0], [0, 0, 0]]),
    )
    flat = Identity(name="N₂² is", lhs=product(two, two), rhs=sp.zeros(2, 2))
    block = Block(0, w, 2).exp(u)
    inside = Identity(
        name="a slide inside a turn",
        goal=True,
        lhs=block[0, 2],
        rhs=u * sp.cos(w * u),
        note="one block: turn and slide multiply; side by side they would only add",
    )
    return Law(
        id="six-rows-short",
        title="Where the table with six rows is short",
        statement=(
            "Three kinds of row are missing from it: slides of height `m ≥ 3` with `u^{m-1}`; faded slides "
            "such as `u e^{-γu}`, which rise to a peak at `u = 1/γ` before they fade; and slides inside a "
            "turn, `u cos ωu`."
        ),
        steps=(height, flat, slope, inside),
        perturbations=(
            slope.but("the peak is at 2/γ", rhs=(1 - g * u / 2) * sp.exp(-g * u)),
            inside.but("turn and slide side by side", rhs=u + sp.cos(w * u)),
            height.but("three slides in a row", lhs=product(*[three] * 3)),
        ),
        rests_on=(
            "kernel-functions/slide-3",
            "kernel-functions/faded-slide",
            "kernel-functions/turning-slide",
        ),
        comment=(
            "“Turn, fade, slide and their combinations” is right if combination includes the product "
            "inside one block. And a defective matrix need not grow: with γ > 0 it fades in the end."
        ),
    )
