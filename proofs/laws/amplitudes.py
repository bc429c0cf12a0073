"""Rules for longer contexts by name: what a query and a key at one position give, I or m²I."""

from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from ...symbolic.catalogue import encoding, entries
from ...symbolic.kinds.generated import Generated
from ..law import Law
from ..step import Enclosed, Identity
from .common import R, dot, product, t, times, u, v, w
from .frequencies import around
from .longer_contexts import CHAPTER
from .ramps import YARN
from .rescaled import LONGROPE

M = sp.Symbol("m", positive=True)


@dataclass(frozen=True)
class Rule:
    """One rule of the catalogue: what it is called, its example's parameters, and whether M(0) = m²I."""

    called: str
    parameters: dict[str, Any] = field(default_factory=dict)
    amplified: bool = False
    of: str = ""


RULES = {
    "position_interpolation": Rule("position interpolation"),
    "ntk_aware": Rule("NTK-aware scaling"),
    "dynamic_ntk": Rule("dynamic NTK at one length", {"seq_len": 8}),
    "yarn": Rule("YaRN", amplified=True),
    "longrope": Rule("LongRoPE", amplified=True),
    "llama3": Rule("Llama 3's rule"),
    "p_rope": Rule("p-RoPE"),
    "partial_rotary": Rule("partial rotary", {"head_dim": 4, "rotary_dim": 2}, of="rope"),
}


def _score(name: str, query: sp.Expr, key: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """(score at two positions, q·k) with free frequencies, content and, where there is one, amplitude m."""
    rule = RULES[name]
    given = rule.parameters if rule.of else {**entries()[name].example, **rule.parameters}
    given_rule = encoding(rule.of or name, **given)
    assert isinstance(given_rule, Generated)  # each has one fixed generator
    free = given_rule.symbolic()[0]
    q, k = free.content()
    named = {free.amplitude: M} if rule.amplified else {}
    return free.score(query, key).xreplace(named), dot(q, k)


def _titled(called: str) -> str:
    """With a capital, unless the name has its own."""
    own = any(letter.isupper() for letter in called.partition(" ")[0])
    return called if own else called[0].upper() + called[1:]


@CHAPTER.law("gap-zero", encodings=tuple(RULES))
def gap_zero(name: str) -> Law:
    rule = RULES[name]
    here, content = _score(name, t, t)
    goal = Identity(
        name="query and key at one position",
        goal=True,
        lhs=here,
        rhs=times(M**2, content) if rule.amplified else content,
    )
    group = Identity(
        name="and M(u) M(0)⁻¹ M(v) = M(u + v)",
        lhs=product(M**2 * R(-w * u), R(sp.S.Zero) / M**2, M**2 * R(-w * v)),
        rhs=M**2 * R(-w * (u + v)),
        note="one plane",
    )
    apart = goal.but("one position apart", lhs=_score(name, t + 1, t)[0])
    if rule.amplified:
        others = (
            goal.but("M(0) = I", rhs=content),
            goal.but("the amplitude is on the keys alone", rhs=times(M, content)),
            group.but("A(0) = I is taken for granted", lhs=product(M**2 * R(-w * u), M**2 * R(-w * v))),
        )
    else:
        others = (goal.but("an amplitude of 2 on query and key", rhs=times(sp.Integer(4), content)),)
    start = "m²I" if rule.amplified else "I"
    return Law(
        id="gap-zero",
        encoding=name,
        title=f"{_titled(rule.called)}: M(0) = {start}",
        answer=start,
        statement=(
            f"Written out for 4 features, for all real `t`, frequencies and contents: with {rule.called} the "
            f"score of a query and a key at one position is `{'m² ' if rule.amplified else ''}q·k`, so "
            f"`M(0) = {start}`."
        ),
        steps=(goal, *((group, *VALUES[name]) if rule.amplified else ())),
        perturbations=(apart, *others),
        sources=(YARN,) if name == "yarn" else (LONGROPE,) if name == "longrope" else (),
        rests_on=("rope-plane", "direct-sum"),
        comment=AMPLIFIED if rule.amplified else PLAIN,
    )


PLAIN = "New frequencies, and nothing else: a query meets a key at its own position with `q·k`, as before."
AMPLIFIED = (
    "Cosine and sine are multiplied by `m`, on query and key alike, so logits carry `m²`. `M(0)` need not be "
    "I, it need only be invertible: `W_q' = m² W_q` absorbs it, and `A(u) = M(u) M(0)⁻¹` is the group again. "
    "An implementation that multiplies the softmax scale by `m²` as well computes `m⁴`."
)
VALUES = {
    "yarn": (
        Enclosed(name="s = 16: m²", expr=(1 + sp.log(16) / 10) ** 2, **around("1.631390226674868")),
        Enclosed(name="s = 4: m", expr=1 + sp.log(4) / 10, **around("1.138629436111989")),
    ),
    "longrope": (
        Enclosed(
            name="s = 32, L₀ = 4096: m², which is 17/12",
            expr=1 + sp.log(32) / sp.log(4096),
            **around("1.416666666666667"),
        ),
    ),
}
