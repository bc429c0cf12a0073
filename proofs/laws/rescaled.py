"""Rules with one factor for each length, with one for each plane, and rules that leave planes out."""

import sympy as sp

from ...symbolic import scaling
from ...symbolic.decide import Status
from ...symbolic.signs import Sign
from ...symbolic.tree import At, D
from ..law import Hypothesis, Law
from ..step import Enclosed, Exact, Identity, Perturbation, Source, Step
from .common import R, times, u, v, w
from .frequencies import L, around, frequency
from .longer_contexts import CHAPTER
from .ramps import decimals

DYNAMIC = Source(
    "emozilla, Dynamically scaled RoPE further increases performance of long context LLaMA, 2023; code: "
    "transformers, modeling_rope_utils.py, _compute_dynamic_ntk_parameters"
)
LONGROPE = Source(
    "Y. Ding et al., LongRoPE: Extending LLM Context Window Beyond 2 Million Tokens, 2024",
    "https://arxiv.org/abs/2402.13753",
)
BARBERO = Source(
    "F. Barbero et al., Round and Round We Go! What makes Rotary Positional Encodings useful?, 2024",
    "https://arxiv.org/abs/2410.06205",
)
factor, first = sp.symbols("s L_0", positive=True)
length = sp.Symbol("L", positive=True)
beyond = sp.Symbol("e", nonnegative=True)
STRETCH = factor * length / first - (factor - 1)


@CHAPTER.law("dynamic-ntk")
def dynamic_ntk() -> Law:
    joined = Identity(
        name="at L₀ nothing is changed yet", goal=True, lhs=At(STRETCH, length, first), rhs=sp.S.One
    )
    least = Exact(
        name="beyond L₀ it is at least 1",
        goal=True,
        of=Sign(At(STRETCH, length, first + beyond) - 1, "+0"),
        note="L = L₀ + e",
    )
    grows = Exact(name="and grows with the length", goal=True, of=Sign(D(STRETCH, length), "+"))
    over = Identity(
        name="at s times the length it is s² - s + 1, not s",
        lhs=At(STRETCH, length, factor * first),
        rhs=factor**2 - factor + 1,
    )
    bases = tuple(
        Enclosed(
            name=f"d = 128, s = 2, L₀ = 2048: the base at {now}",
            expr=scaling.ntk_base(10_000, 128, scaling.dynamic_stretch(2, 2048, now)),
            **around(text),
        )
        for now, text in ((4096, "30527.73674880670"), (8192, "72195.86"))
    )
    maximal = times(factor, factor) - (factor - 1)
    return Law(
        id="dynamic-ntk",
        title="Dynamic NTK: one base for every length",
        statement=(
            "For all `s, L_0 > 0`: the factor `σ(L) = sL/L_0 - (s - 1)` that dynamic NTK uses at the length "
            "`L ≥ L_0` is 1 at `L_0`, where it joins the plain table, never below 1, and grows with `L`. "
            "The base is `b σ^{d/(d-2)}`: the first frequency stays 1, the last is divided by `σ(L)`."
        ),
        steps=(joined, least, grows, over, *bases),
        perturbations=(
            joined.but("the longest length stands in for the current one", lhs=At(maximal, length, first)),
            joined.but("the 1 is forgotten", lhs=At(factor * length / first - factor, length, first)),
            grows.but("the longest length stands in for the current one", expr=D(maximal, length)),
            bases[0].but("s itself as the factor", expr=scaling.ntk_base(10_000, 128, 2)),
        ),
        sources=(DYNAMIC,),
        rests_on=("ntk-aware",),
        comment=(
            "Every length has its own generator, so the group law holds only at one frozen length; "
            "[cached keys](#cached-keys) are of older ones. Not to be confused with NTK by the factor `s`: "
            "at `L = sL_0` dynamic NTK already divides the last frequency by `s² - s + 1`."
        ),
    )


def _ordered() -> tuple[tuple[Step, ...], tuple[Perturbation, ...]]:
    """Two neighbours whose divisors do not fall."""
    slower, divisor, gap = sp.symbols("nu lambda_1 d", positive=True)
    wider = sp.Symbol("e", nonnegative=True)
    falls = Exact(
        name="divisors that never fall keep the order of frequencies",
        goal=True,
        of=Sign((slower + gap) / divisor - slower / (divisor + wider), "+"),
        note="ω = ν + d above ν; λ = λ₁, and λ₁ + e on the next plane",
    )
    ratio = Exact(
        name="and the ratio of new to old never grows",
        goal=True,
        of=Sign(1 / divisor - 1 / (divisor + wider), "+0"),
    )
    return (falls, ratio), (
        falls.but("a smaller divisor follows", expr=(slower + gap) / (divisor + wider) - slower / divisor),
        ratio.but("a smaller divisor follows", expr=1 / (divisor + wider) - 1 / divisor),
    )


@CHAPTER.law("longrope")
def longrope() -> Law:
    ordered, disordered = _ordered()
    log = sp.Symbol("Lambda", positive=True)
    more = sp.Symbol("sigma", nonnegative=True)
    joined = Identity(name="m² is 1 at s = 1", lhs=At(1 + u / log, u, 0), rhs=sp.S.One)
    above = Exact(
        name="and at least 1 beyond",
        goal=True,
        of=Sign(more / log, "+0"),
        note="m² - 1 = ln s/ln L₀, with σ = ln s and Λ = ln L₀",
    )
    value = Enclosed(
        name="s = 32, L₀ = 4096: m² = 17/12",
        expr=scaling.longrope_attention(32, 4096) ** 2,
        **around("1.416666666666667"),
    )
    return Law(
        id="longrope",
        title="LongRoPE: a divisor for every plane",
        statement=(
            "For frequencies `ω > ν > 0` of two neighbours and divisors `0 < λ ≤ λ'`: `ω/λ > ν/λ'`, and the "
            "ratios `1/λ ≥ 1/λ'` do not grow. Cosine and sine are multiplied by `m`, "
            "`m² = 1 + ln s/ln L_0`, which is 1 at `s = 1` and above 1 for `s > 1`."
        ),
        hypotheses=(Hypothesis("long", "`s ≥ 1` and `L_0 > 1`"),),
        steps=(*ordered, joined, above, value),
        perturbations=(
            *disordered,
            value.but("as in YaRN", expr=(1 + sp.log(32) / 10) ** 2),
        ),
        sources=(LONGROPE,),
        rests_on=("first-frequency",),
        comment=(
            "The divisors are searched, not computed, so nothing but a checkpoint says what the first and "
            "the last are. Two lists come with it, and the table jumps from one to the other at `L_0`: no "
            "value joins them, and [cached keys](#cached-keys) are on the wrong side."
        ),
    )


@CHAPTER.law("p-rope")
def p_rope() -> Law:
    held = Identity(
        name="a dropped plane holds", goal=True, lhs=At(R(times(w, v, u)), v, 0), rhs=sp.eye(2).as_immutable()
    )
    live = Identity(
        name="a live one is as it was",
        goal=True,
        lhs=At(R(times(w, v, u)), v, 1),
        rhs=R(w * u),
    )
    table = scaling.proportional(1_000_000, 512, sp.Rational(1, 4)).exact
    (last,) = decimals("d = 512, b = 10⁶, p = 1/4: the last that turns", table, {63: "0.03337624694292039"})
    return Law(
        id="p-rope",
        title="p-RoPE leaves the slow planes out",
        statement=(
            "For every `ω > 0` and real `u`: with ratio 1 a plane is `R(ωu)` as before, with ratio 0 it is "
            "`R(0) = I`. p-RoPE has ratio 1 on the first `⌊pd/2⌋` planes and 0 on the others, so the first "
            "frequency is 1 and the last is 0 for `p < 1`; at `d = 512`, `b = 10⁶`, `p = 1/4` the first 64 "
            "of 256 planes turn, and plane 63 has frequency 0.03337624694292039."
        ),
        steps=(held, live, last),
        perturbations=(
            held.but("the ratios are exchanged", lhs=At(R(times(w, 1 - v, u)), v, 0)),
            live.but("live planes are interpolated as well", lhs=At(R(w * u / v), v, 2)),
            last.but("the exponent counts the live features", expr=frequency(10**6, 63, 128)),
        ),
        sources=(BARBERO,),
        rests_on=("first-frequency",),
        comment=(
            "At a held plane the score knows the content alone, at any distance. In a config this is "
            "``rope_type: proportional``; [partial rotary](#p-rope-is-partial-rotary) is something else."
        ),
    )


@CHAPTER.law("p-rope-is-partial-rotary")
def p_rope_is_partial_rotary() -> Law:
    share, wider = sp.symbols("kappa g", positive=True)
    goal = Identity(
        name="frequency of plane k",
        goal=True,
        lhs=sp.exp(-share * L),
        rhs=sp.exp(-share * wider * L),
        note="g = 1/p",
    )
    numbers = (
        Enclosed(
            name="d = 256, p = 1/4: plane 1 of p-RoPE", expr=frequency(10_000, 1, 256), **around("0.930572")
        ),
        Enclosed(
            name="and of partial rotary on 64 features", expr=frequency(10_000, 1, 64), **around("0.749894")
        ),
    )
    return Law(
        id="p-rope-is-partial-rotary",
        title="“p-RoPE is partial rotary”",
        statement=(
            "For all `κ = 2k/d > 0`, `p > 0` and bases `e^L`: a plane has the same frequency whether the "
            "exponent counts all `d` features, as in p-RoPE, or the `pd` rotated ones, as in partial rotary: "
            "`e^{-κL} = e^{-κL/p}`."
        ),
        expected=Status.REFUTED,
        steps=(goal, *numbers),
        siblings=(
            goal.but("with p = 1", rhs=At(sp.exp(-share * wider * L), wider, 1)),
            goal.but("on plane 0", lhs=At(sp.exp(-u * L), u, 0), rhs=At(sp.exp(-u * wider * L), u, 0)),
        ),
        sources=(BARBERO,),
        rests_on=("p-rope",),
        comment=(
            "Both leave `(1-p)d` features unturned, and ``partial_rotary_factor`` names both. Partial rotary "
            "runs through the whole range of the base on fewer planes: its last frequency is "
            "`b^{-(pd-2)/pd}`, near `1/b`; the last live one of p-RoPE is near `b^{-p}`."
        ),
    )
