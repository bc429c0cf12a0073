"""Keys that were rotated at other frequencies: what breaks when a table changes, and what mends it."""

import sympy as sp

from ...symbolic.decide import Status
from ...symbolic.tree import At
from ..law import Law, Renaming
from ..step import Identity, Source
from .common import K, Q, R, c, dot, product, s, t, times, u
from .longer_contexts import CHAPTER

before, after, third = sp.symbols("omega nu mu", real=True)
m0, m1, m2 = sp.symbols("m_0 m_1 m_2", positive=True)
DYNAMIC = Source(
    "huggingface/transformers, issue 25104: cached and fresh keys score differently under dynamic NTK",
    "https://github.com/huggingface/transformers/issues/25104",
)
LONGROPE = Source(
    "Y. Ding et al., LongRoPE: Extending LLM Context Window Beyond 2 Million Tokens, 2024",
    "https://arxiv.org/abs/2402.13753",
)


def mixed_score(query: sp.Expr, key: sp.Expr, turned: sp.Expr) -> sp.Expr:
    """(R(νt) q)·(R(turned·s) k): the query at the new frequency, the key at whatever it was turned by."""
    return dot(R(after * query) * Q, R(turned * key) * K)


@CHAPTER.law("cached-keys")
def cached_keys() -> Law:
    goal = Identity(
        name="shift both positions",
        goal=True,
        lhs=mixed_score(t + c, s + c, before),
        rhs=mixed_score(t, s, before),
    )
    same = goal.but(
        "the keys are turned at the new frequency",
        lhs=mixed_score(t + c, s + c, after),
        rhs=mixed_score(t, s, after),
    )
    return Law(
        id="cached-keys",
        title="“Cached keys serve every length”",
        statement=(
            "For all real frequencies `ω` and `ν` of a plane: the score `(R(νt) q)·(R(ωs) k)` of a query "
            "turned at `ν` with a key that was turned at `ω` when it was cached is the same at "
            "`(t + c, s + c)` as at `(t, s)`."
        ),
        expected=Status.REFUTED,
        steps=(goal,),
        siblings=(same,),
        sources=(DYNAMIC, LONGROPE),
        rests_on=("rope-plane",),
        comment=(
            "Where frequencies depend on the length of the text, as in dynamic NTK and at the switch of "
            "LongRoPE, the cache holds keys of an older `ω`. The score is then `cos(νt - ωs)` where it ought "
            "to be `cos ν(t - s)`, off by the angle `(ν - ω)s`, which grows with the position of the key. "
            "Keep keys as they were before any rotation, or [carry them over](#rerotation)."
        ),
    )


def _keys(amplitude: sp.Expr, frequency: sp.Expr) -> sp.MatrixBase:
    """m R(ωs): what was done to a key at position s."""
    return amplitude * R(frequency * s)


def _turn(place: sp.Expr = s) -> sp.MatrixBase:
    """(m₁/m₀) R((ν-ω)s)."""
    return m1 / m0 * R((after - before) * place)


def _carried() -> tuple[Identity, Identity, Identity, Identity]:
    """One key, two changes in a row, the way back, and the score."""
    goal = Identity(
        name="cached keys become fresh ones",
        goal=True,
        lhs=product(_turn(), _keys(m0, before)),
        rhs=_keys(m1, after),
    )
    path = Identity(
        name="two changes in a row are one",
        goal=True,
        lhs=product(m2 / m1 * R((third - after) * s), _turn()),
        rhs=m2 / m0 * R((third - before) * s),
    )
    back = Identity(
        name="and there is a way back",
        lhs=product(m0 / m1 * R((before - after) * s), _turn()),
        rhs=sp.eye(2).as_immutable(),
    )
    score = Identity(
        name="so the score is that of the new frequency",
        goal=True,
        lhs=dot(m1 * R(after * t) * Q, _turn() * _keys(m0, before) * K),
        rhs=times(m1**2, At(dot(Q, R(-after * u) * K), u, t - s)),
    )
    return goal, path, back, score


@CHAPTER.law("rerotation")
def rerotation() -> Law:
    goal, path, back, score = _carried()
    cached = _keys(m0, before)
    return Law(
        id="rerotation",
        title="A cache can be carried over",
        statement=(
            "For all frequencies `ω, ν, μ` of a plane, 0 and negative ones included, all amplitudes "
            "`m_0, m_1, m_2 > 0` and every position `s`: `(m_1/m_0) R((ν-ω)s)` turns the key `m_0 R(ωs) k` "
            "into `m_1 R(νs) k`; two such turns in a row are one; and with queries `m_1 R(νt) q` the score "
            "is `m_1² qᵀR(-ν(t-s)) k` again, a function of the gap."
        ),
        steps=(goal, path, back, score),
        perturbations=(
            goal.but("the amplitude stays", lhs=product(R((after - before) * s), cached)),
            goal.but("the new turn on top of the old one", lhs=product(m1 / m0 * R(after * s), cached)),
            goal.but("the key is counted one position off", lhs=product(_turn(s + 1), cached)),
            path.but(
                "the amplitudes are subtracted", lhs=product((m2 - m1) * R((third - after) * s), _turn())
            ),
        ),
        renamings=(
            Renaming("the other direction of turning", {before: -before, after: -after, third: -third}),
        ),
        sources=(DYNAMIC,),
        rests_on=("rope-plane", "group-law/turn"),
        comment=(
            "From old frequencies to new ones is itself a transport: a turn by the position of the key, at "
            "the difference of the two. It needs the position at which each key was turned, and nothing of "
            "the text. `exptx.numeric.rerotate` does it, in place if asked; each time, keys round once more."
        ),
    )
