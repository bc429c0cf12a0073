"""Keys that were rotated at other frequencies: what breaks when a table changes, and what mends it."""

from dataclasses import dataclass
from typing import Any

import sympy as sp

from ...symbolic.catalogue import encoding
from ...symbolic.decide import Status
from ...symbolic.encoding import Encoding
from ...symbolic.kinds.lengthwise import Lengthwise
from ...symbolic.tree import At
from ..law import Law, Renaming
from ..step import Enclosed, Identity, Source
from .common import K, Q, R, c, dot, product, s, t, times, u
from .frequencies import around
from .longer_contexts import CHAPTER
from .rescaled import DYNAMIC, LONGROPE

before, after, third = sp.symbols("omega nu mu", real=True)
m0, m1, m2 = sp.symbols("m_0 m_1 m_2", positive=True)
CACHED = Source(
    "huggingface/transformers, issue 25104: cached and fresh keys score differently under dynamic NTK",
    "https://github.com/huggingface/transformers/issues/25104",
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
        sources=(CACHED, LONGROPE),
        rests_on=("rope-plane",),
        comment=(
            "Where frequencies depend on the length of the text, as in dynamic NTK and at the switch of "
            "LongRoPE, the cache holds keys of an older `ω`. The score is then `cos(νt - ωs)` where it ought "
            "to be `cos ν(t - s)`, off by the angle `(ν - ω)s`, which grows with the position of the key. "
            "Keep keys as they were before any rotation, or [carry them over](#rerotation)."
        ),
    )


@dataclass(frozen=True)
class Switch:
    """A rule whose table depends on the length.

    angle: from a token to the next one on the slow plane, as a decimal; seen: what that means.
    """

    called: str
    parameters: dict[str, Any]
    angle: str
    seen: str


SWITCHES = {
    "dynamic_ntk": Switch(
        "dynamic NTK",
        {"head_dim": 4, "factor": 2, "max_position_embeddings": 2048},
        "-0.0011",
        "Between a query at 4095 and the key before it the slow plane turns backwards: the new token's angle "
        "is smaller than the old one's, although it stands further on.",
    ),
    "longrope_switching": Switch(
        "LongRoPE",
        {
            "head_dim": 4,
            "short_factor": [1, 1],
            "long_factor": [1, 4],
            "factor": 4,
            "original_max_position_embeddings": 4095,
        },
        "-30.7025",
        "The key at 4094 was turned by the short divisors, the query at 4095 by the long ones: they are more "
        "than 30 radians apart on the slow plane, where 1/400 would be right.",
    ),
}


@CHAPTER.law("every-length", encodings=tuple(SWITCHES))
def every_length(name: str) -> Law:
    switch = SWITCHES[name]
    found = encoding(name, **switch.parameters)
    assert isinstance(found, Lengthwise)
    frozen = encoding(name, **switch.parameters, seq_len=4096)
    late = Enclosed(
        name="the angle from the one before it to it, on the slow plane",
        expr=4095 * found.spectrum(sp.Integer(4096))[1] - 4094 * found.spectrum(sp.Integer(4095))[1],
        **around(switch.angle),
    )
    goal = _neighbours(found)
    one_length = _neighbours(frozen)
    return Law(
        id="every-length",
        encoding=name,
        title=f"“{switch.called[0].upper()}{switch.called[1:]}: relative while the text grows”",
        statement=(
            f"With {switch.called} as it is run, on 4 features, where a vector at position `p` is turned "
            "when the text has `p + 1` tokens and the cache keeps it so, what attention sees of a token and "
            "of the one before it is the same at (4095, 4094) as at (1, 0)."
        ),
        expected=Status.REFUTED,
        steps=(goal, late),
        siblings=(goal.but("all turned at length 4096", lhs=one_length.lhs, rhs=one_length.rhs),),
        sources=(CACHED, DYNAMIC, LONGROPE),
        rests_on=("cached-keys",),
        comment=(
            f"{switch.seen} At one frozen length the rule is [relative](#relative--rope) like any "
            "rotation; when the length changes, [carry the cache over](#rerotation)."
        ),
    )


def _neighbours(found: Encoding) -> Identity:
    late, early = (found.maps(sp.Integer(p + 1), sp.Integer(p))["score"] for p in (4094, 0))
    return Identity(name="a token and the one before it", goal=True, lhs=late, rhs=early)


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
        sources=(CACHED,),
        rests_on=("rope-plane", "group-law/turn"),
        comment=(
            "From old frequencies to new ones is itself a transport: a turn by the position of the key, at "
            "the difference of the two. It needs the position at which each key was turned, and nothing of "
            "the text. `exptx.numeric.rerotate` does it, in place if asked; each time, keys round once more."
        ),
    )
