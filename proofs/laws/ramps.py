"""Ramps that keep fast planes and divide slow ones: over planes (YaRN's code) or over turns (Llama 3)."""

from collections.abc import Sequence
from functools import cache

import sympy as sp

from ...symbolic import ramps
from ...symbolic.decide import Status
from ...symbolic.signs import Sign
from ...symbolic.tree import At, D
from ..law import Hypothesis, Law
from ..step import Enclosed, Exact, Identity, Perturbation, Source, Step
from .common import times
from .frequencies import around, frequency
from .longer_contexts import CHAPTER

YARN = Source(
    "B. Peng et al., YaRN: Efficient Context Window Extension of Large Language Models, 2023, section 3.2; "
    "code: jquesnelle/yarn, LlamaYaRNScaledRotaryEmbedding.py",
    "https://arxiv.org/abs/2309.00071",
)
LLAMA = Source(
    "code: meta-llama/llama-models, models/llama3/model.py, apply_scaling; the same in transformers, "
    "modeling_rope_utils.py"
)
CODED = {
    20: "0.05623413251903491", 21: "0.04694085999795940", 33: "0.004600435467850347",
    45: "0.0001517716047318249", 46: "0.00008334508951020775",
}  # fmt: skip
IN_PAPER = {
    21: "0.04832172921501631", 33: "0.001757735528861942", 45: "0.00009642591545833584",
}  # fmt: skip
LLAMA_31 = {
    28: "0.003211445994752591", 29: "0.002166570763503359", 31: "0.0008567514129196321",
    34: "0.0001785078127679964", 35: "0.00009556212353964683", 63: "0.0000003068925988914511",
}  # fmt: skip
x, r, low, high, keep = sp.symbols("x r l h kappa", real=True)
more, rate, width = sp.symbols("e c z", positive=True)  # s = 1 + e; ω(x) = e^{-cx}; z: the width of a ramp
past, left = sp.Symbol("a", nonnegative=True), sp.Symbol("b", positive=True)  # from one end, to the other
s = sp.Symbol("s", positive=True)
INSIDE = Hypothesis(
    "inside",
    "`s > 1`, also written `1 + e`, and the ramp has a width above 0, also written `a + b`: `a` from the end "
    "where `x` or `r` is least to the plane in question, `b` from there to the other end",
)


def blend(kept: sp.Expr, factor: sp.Expr = s) -> sp.Expr:
    """κ + (1-κ)/s: what the frequency is multiplied by."""
    return kept + (1 - kept) / factor


def ends(ratio: sp.Expr, where: sp.Symbol, whole: sp.Expr, divided: sp.Expr) -> tuple[Identity, Identity]:
    """The middle branch meets both outer ones: 1 where planes are kept, 1/s where they are divided."""
    first = Identity(name="it joins the kept planes", goal=True, lhs=At(ratio, where, whole), rhs=sp.S.One)
    last = Identity(name="and the divided ones", goal=True, lhs=At(ratio, where, divided), rhs=1 / s)
    return first, last


def outer_branches() -> tuple[Identity, Identity]:
    """κ = 1 and κ = 0."""
    kept = Identity(name="κ = 1: kept", lhs=At(blend(keep), keep, 1), rhs=sp.S.One)
    gone = Identity(name="κ = 0: divided by s", lhs=At(blend(keep), keep, 0), rhs=1 / s)
    return kept, gone


def bounds() -> tuple[Exact, Exact]:
    """1/s ≤ ratio ≤ 1, for every 0 < κ = b/(a+b) ≤ 1."""
    ratio = blend(left / (past + left), 1 + more)
    note = "κ = b/(a+b), s = 1 + e"
    above = Exact(name="never below 1/s", goal=True, of=Sign(ratio - 1 / (1 + more), "+"), note=note)
    below = Exact(name="never above 1", goal=True, of=Sign(1 - ratio, "+0"), note=note)
    return above, below


def plane_of() -> Identity:
    """b^{-2x/d} at x = d ln(L₀/(2πr))/(2 ln b) is 2πr/L₀."""
    base, size, log = sp.symbols("Lambda d R", positive=True)
    return Identity(
        name="plane x(ρ) makes ρ turns within L₀ positions",
        lhs=sp.exp(times(-2 * base / size, size * log / (2 * base))),
        rhs=sp.exp(-log),
        note="Λ = ln b; R = ln(L₀/(2πρ)), so that e^{-R} = 2πρ/L₀",
    )


def decimals(name: str, table: Sequence[sp.Expr], rows: dict[int, str]) -> tuple[Enclosed, ...]:
    """One enclosed value a plane."""
    return tuple(
        Enclosed(name=f"{name}, plane {k}", expr=table[k], **around(text)) for k, text in rows.items()
    )


def _by_plane() -> tuple[tuple[Step, ...], tuple[Perturbation, ...]]:
    ratio = blend(1 - (x - low) / (high - low))
    first, last = ends(ratio, x, low, high)
    sloped = blend(1 - (x - low) / (past + left), 1 + more)
    falls = Exact(name="the ratio falls along the ramp", goal=True, of=Sign(D(sloped, x), "-"))
    order = Exact(
        name="and the frequencies fall too: no plane overtakes another",
        goal=True,
        of=Sign(At(D(sp.exp(-rate * x) * sloped, x), x, low + past), "-"),
        note="ω(x) = e^{-cx}; x = l + a, h = x + b",
    )
    exchanged = blend((x - low) / (high - low))
    harmonic = 1 / (1 + (s - 1) * (x - low) / (high - low))  # blends periods, and joins as well
    return (first, last, *bounds(), falls, order, *outer_branches(), plane_of()), (
        first.but("the weights are exchanged", lhs=At(exchanged, x, low)),
        last.but("the ramp is one plane wider", lhs=At(blend(1 - (x - low) / (high + 1 - low)), x, high)),
        first.but("the kept planes are divided as well", lhs=At(ratio / s, x, low)),
        falls.but("where s < 1", expr=D(blend(1 - (x - low) / (past + left), 1 / (1 + more)), x)),
        order.but(
            "the ratio climbs along the ramp",
            expr=At(D(sp.exp(-rate * x) * (1 + more + (x - low) / (past + left)), x), x, low + past),
        ),
        first.but("periods are blended instead of frequencies", lhs=ratio, rhs=harmonic),
    )


@CHAPTER.law("ramp-by-plane")
def ramp_by_plane() -> Law:
    steps, perturbations = _by_plane()
    numbers = decimals("d = 128, b = 10000, L₀ = 4096, s = 16", _yarn("code"), CODED)
    edges = tuple(
        Enclosed(
            name=f"there {turns} turns are made by plane",
            expr=ramps.yarn_plane(10_000, 128, 4096, turns),
            **around(text),
        )
        for turns, text in ((32, "20.9444816206"), (1, "45.0268812738"))
    )
    late = Enclosed(
        name="with L₀ = 131072 the ramp would end beyond plane 63, the last",
        expr=ramps.yarn_plane(10_000, 128, 131_072, 1),
        lower="69",
        upper="70",
    )
    return Law(
        id="ramp-by-plane",
        title="YaRN as it is coded: a ramp over planes",
        statement=(
            "For all `s > 1`, `l < h` and real `x`: with `κ = 1` for `x ≤ l`, `1 - (x-l)/(h-l)` between and "
            "`0` for `x ≥ h`, the ratio `κ + (1-κ)/s` of new to old frequency is continuous, 1 up to `l`, "
            "`1/s` from `h` on, falls between, and stays in `[1/s, 1]`; and `e^{-cx}(κ + (1-κ)/s)`, `c > 0`, "
            "falls with `x`. `l` and `h` are the planes of 32 turns and of 1 turn within `L_0` positions, "
            "rounded outward."
        ),
        hypotheses=(INSIDE,),
        steps=(*steps, *edges, *numbers, late),
        perturbations=(*perturbations, numbers[1].but("as in the paper", expr=_yarn("paper")[21])),
        sources=(YARN,),
        rests_on=("first-frequency",),
        comment=(
            "The first frequency stays 1, as `l` is never below 0; the last is divided by exactly `s` if "
            "`h ≤ d/2 - 1`. The code limits `h` to `d - 1`, a number of features where planes are counted: "
            "from about `L_0 = 2πb` on the last plane is divided by less than `s`. Rounding `l` down and `h` "
            "up makes the ramp a little wider; it joins all the same."
        ),
    )


@cache
def _yarn(ramp: str) -> tuple[sp.Expr, ...]:
    """YaRN with d = 128, b = 10000, L₀ = 4096, s = 16."""
    return ramps.yarn(10_000, 128, 16, 4096, ramp=ramp).exact


def _by_turns() -> tuple[tuple[Step, ...], tuple[Perturbation, ...]]:
    ratio = blend((r - low) / (high - low))
    first, last = ends(ratio, r, high, low)
    least = sp.Symbol("l", positive=True)  # here turns are counted: both ends lie above 0
    sloped = blend((r - least) / (past + left), 1 + more)
    grows = Exact(name="the ratio grows with the turns", goal=True, of=Sign(D(sloped, r), "+"))
    count = sp.Symbol("n", positive=True)
    slower = Exact(
        name="which fall from plane to plane",
        of=Sign(D(count * sp.exp(-rate * x), x), "-"),
        note="r = n e^{-cx}, n = L₀/2π",
    )
    order = Exact(
        name="and a plane with fewer turns keeps the lower frequency",
        goal=True,
        of=Sign(At(D(r * sloped, r), r, least + past), "+"),
        note="r = l + a, h = r + b",
    )
    w, first_length = sp.symbols("omega L_0", positive=True)
    coded = Identity(
        name="Llama 3 writes it with wavelengths λ = 2π/ω",
        goal=True,
        lhs=At((1 - keep) * w / s + keep * w, keep, (first_length / (2 * sp.pi / w) - low) / (high - low)),
        rhs=times(w, At(ratio, r, first_length * w / (2 * sp.pi))),
    )
    periods = blend((1 / r - 1 / high) / (1 / low - 1 / high))
    return (first, last, *bounds(), grows, slower, order, coded), (
        first.but(
            "the weight is read off wavelengths and given to the wrong end",
            lhs=At(periods, r, high),
        ),
        last.but("the ends of the ramp are exchanged", lhs=At(blend((r - high) / (low - high)), r, low)),
        grows.but("where s < 1", expr=D(blend((r - least) / (past + left), 1 / (1 + more)), r)),
        coded.but("the scaled frequency gets the weight of the plain one", rhs=times(w, At(1 - ratio, r, r))),
    )


@CHAPTER.law("ramp-by-turns")
def ramp_by_turns() -> Law:
    steps, perturbations = _by_turns()
    table = ramps.llama3(500_000, 128, 8, 8192, 1, 4).exact
    llama = decimals("Llama 3.1, d = 128", table, LLAMA_31)
    paper = decimals("YaRN's paper, s = 16", _yarn("paper"), IN_PAPER)
    turns = tuple(
        Enclosed(
            name=f"turns of plane {k} within 8192 positions",
            expr=8192 * frequency(500_000, k, 128) / (2 * sp.pi),
            lower=lower,
            upper=upper,
        )
        for k, lower, upper in ((28, "4", "5"), (29, "3", "4"), (34, "1", "2"), (35, "0", "1"))
    )
    return Law(
        id="ramp-by-turns",
        title="Llama 3, and YaRN as it is written: a ramp over turns",
        statement=(
            "For all `s > 1`, `0 < l < h` and `r = L_0 ω/2π`, the turns of a plane within `L_0` positions: "
            "with `κ = 1` for `r ≥ h`, `(r-l)/(h-l)` between and `0` for `r ≤ l`, the ratio `κ + (1-κ)/s` "
            "is continuous, 1 from `h` turns on, `1/s` up to `l`, grows with `r` between, and stays in "
            "`[1/s, 1]`; `r(κ + (1-κ)/s)` grows with `r`. The code of Llama 3, `(1-κ)ω/s + κω` with "
            "`κ = (L_0/λ - l)/(h - l)`, is this ramp with `l = 1`, `h = 4`; the paper of YaRN has `h = 32`."
        ),
        hypotheses=(INSIDE,),
        steps=(*steps, *turns, *llama, *paper),
        perturbations=(*perturbations, paper[1].but("as it is coded", expr=_yarn("code")[33])),
        sources=(LLAMA, YARN),
        rests_on=("first-frequency",),
        comment=(
            "The first frequency stays 1 if `L_0 ≥ 2πh`, the last is divided by exactly `s` if it makes at "
            "most `l` turns. Llama 3.1 keeps planes 0…28, blends 29…34 and divides 35…63 by 8, those that "
            "[never complete a turn](#coverage) in 8192 positions. A loader that does not know the rule "
            "leaves the plain table, which is right up to plane 28."
        ),
    )


@CHAPTER.law("two-ramps")
def two_ramps() -> Law:
    # r = l e^{c(z-x)} turns x planes past the kept end, where r = h = l e^{cz}; the ramp is z planes wide
    here = sp.Symbol("x", real=True)
    by_turns = sp.exp(rate * (width - here)) - 1
    by_plane = times(1 - here / width, sp.exp(rate * width) - 1)
    goal = Identity(name="κ by turns = κ by plane", goal=True, lhs=by_turns, rhs=by_plane)
    middle = tuple(
        Enclosed(name=f"κ of plane 33, {name}", expr=kept, **around(text))
        for name, kept, text in (
            ("in the code", ramps.yarn_kept(10_000, 128, 4096)[33], "0.50000"),
            ("in the paper", ramps.turns_kept(10_000, 128, 4096, 1, 32)[33], "0.1498454744"),
        )
    )
    at_ends = (
        goal.but("where planes are kept", lhs=At(by_turns, here, 0), rhs=At(by_plane, here, 0)),
        goal.but("where they are divided", lhs=At(by_turns, here, width), rhs=At(by_plane, here, width)),
    )
    return Law(
        id="two-ramps",
        title="“YaRN's code does what YaRN's paper says”",
        statement=(
            "For all `c, z > 0` and real `x`: `x` planes past the kept end of a ramp `z` planes wide, the "
            "ramp over turns and the ramp over planes agree, `(e^{c(z-x)} - 1)/(e^{cz} - 1) = 1 - x/z`, "
            "here without the divisor."
        ),
        expected=Status.REFUTED,
        steps=(goal, *middle),
        siblings=at_ends,
        sources=(YARN,),
        rests_on=("ramp-by-plane", "ramp-by-turns"),
        comment=(
            "They agree at both ends and nowhere between: with `d = 128`, `b = 10000`, `L_0 = 4096` plane 33 "
            "is kept by half in the code and by 0.15 in the paper. Models that call themselves YaRN were "
            "trained with the code. Ask for the other with ``ramp='paper'``."
        ),
    )
