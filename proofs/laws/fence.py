"""The fence: every encoding of the catalogue, inside or outside, with one witness for each refusal."""

import sympy as sp
from sympy.core.function import AppliedUndef

from ...symbolic.catalogue.registry import encoding
from ...symbolic.decide import Status
from ...symbolic.encoding import Encoding
from ...symbolic.tree import At, D
from ..law import Chapter, Hypothesis, Law
from ..step import Cited, Identity
from .common import KRANTZ_PARKS, c, m, plus, s, t, times, transpose, u

CHAPTER = Chapter(
    "fence",
    "The fence",
    "What the demands linear, relative and continuous leave inside, and what they leave outside. Outside "
    "does not mean bad: it means that the theorem says nothing about it, and that one witness shows why.",
)
W0, W1 = sp.symbols("omega0 omega1", positive=True)
GAMMA = sp.Symbol("gamma", positive=True)
SIGMA = sp.Symbol("sigma", positive=True)
TURNS = {"head_dim": 4, "frequencies": (W0, W1)}


def build(name: str) -> Encoding:
    """The encoding of that name with four features and free parameters."""
    parameters = {
        "nope": {"head_dim": 2},
        "rope": TURNS,
        "rope-partial": {"head_dim": 4, "rotary_dim": 2, "frequencies": (W0,)},
        "decay": {"head_dim": 2, "gamma": GAMMA},
        "damped_rope": {**TURNS, "gamma": GAMMA},
        "alibi": {"head_dim": 2, "slope": m, "scale": SIGMA},
        "same_side_boost": {"head_dim": 2, "rate": GAMMA},
        "sinusoidal": {"head_dim": 2, "frequencies": (W0,)},
        "learned_absolute": {"head_dim": 1},
        "before_projection": {"head_dim": 2, "frequencies": (W0,)},
        "keys_only": {"head_dim": 2, "frequencies": (W0,)},
        "mismatched_pairings": TURNS,
        "rotated_values": {"head_dim": 2, "frequencies": (W0,)},
        "rotated_values_back": {"head_dim": 2, "frequencies": (W0,)},
    }
    if name == "rope+alibi":
        return encoding("rope", head_dim=2, frequencies=(W0,)) + encoding("alibi", head_dim=2, slope=m)
    return encoding(name.removesuffix("-partial"), **parameters[name])


INSIDE = (
    "nope",
    "rope",
    "rope-partial",
    "decay",
    "damped_rope",
    "alibi",
    "rope+alibi",
    "rotated_values_back",
)
ABSOLUTE = (
    "sinusoidal",
    "learned_absolute",
    "keys_only",
    "before_projection",
    "mismatched_pairings",
    "same_side_boost",
    "rotated_values",
)
WHY = {
    "nope": "Nothing depends on position at all.",
    "rope": "The rotation by the absolute position leaves only the gap.",
    "rope-partial": "The features that do not turn are planes of frequency 0.",
    "decay": "The factor is `e^{-γ(t-s)}`; positions never enter alone.",
    "damped_rope": "Turn and fade commute, so both see the gap.",
    "alibi": "The lifted slots give `-m(t-s)/σ`, as in [ALiBi's logit](#alibi-logit).",
    "rope+alibi": "Two encodings side by side: the sum of relative scores is relative.",
    "rotated_values_back": "The value arrives rotated by the gap only.",
    "sinusoidal": "The products of content and position vector stay: they know t and s one by one.",
    "learned_absolute": "A table may hold anything; with an arbitrary table nothing cancels.",
    "keys_only": "Rotating the keys alone saves half the work and leaves the absolute position of the key.",
    "before_projection": "The projection between the two rotations does not commute with them.",
    "mismatched_pairings": "Query and key turn in different planes; nothing cancels beyond the first tokens.",
    "same_side_boost": (
        "The boost is symmetric, so one map on both sides gives `B(t+s)`: a sum, not a gap. By the "
        "transpose and the inverse it would be [relative](#contragredient)."
    ),
    "rotated_values": "Scores are fine, but the output carries the absolute position of each value.",
}


def moved(found: Encoding) -> sp.MatrixBase:
    """What attention sees of the positions t and s, as one column."""
    maps = found.maps(t, s)
    entries = [entry for name in sorted(maps) for entry in maps[name]]
    return sp.ImmutableMatrix(len(entries), 1, entries)


def shift_both(name: str) -> Identity:
    here = moved(build(name))
    if here.atoms(AppliedUndef):  # values of a table are written at the shifted positions
        there = here.subs({t: t + c, s: s + c}, simultaneous=True)
    else:
        there = At(At(here, t, t + c), s, s + c)
    return Identity(name="shift both positions", goal=True, lhs=there, rhs=here)


SIBLING = {
    "sinusoidal": "rope",
    "learned_absolute": "nope",
    "keys_only": "rope",
    "before_projection": "rope",
    "mismatched_pairings": "rope",
    "same_side_boost": "decay",
    "rotated_values": "rotated_values_back",
}


@CHAPTER.law("relative", encodings=(*INSIDE, "symmetric_distance", "step_table", *ABSOLUTE))
def relative(name: str) -> Law:
    if name in ("symmetric_distance", "step_table"):
        return _opaque_bias(name)
    goal = shift_both(name)
    common = {
        "id": "relative",
        "encoding": name,
        "statement": (
            f"Written out for {build(name).head_dim} features, for all real `t, s, c` and all parameters: "
            f"everything that attention sees of the positions with {_called(name)} is the same at "
            "`(t + c, s + c)` as at `(t, s)`."
        ),
        "steps": (goal,),
        "rests_on": _more_features(name),
        "comment": WHY[name],
    }
    if name in ABSOLUTE:
        other = shift_both(SIBLING[name])
        sibling = goal.but(f"{_called(SIBLING[name])} instead", lhs=other.lhs, rhs=other.rhs)
        return Law(
            title=f"“{_capital(name)}: relative”", expected=Status.REFUTED, siblings=(sibling,), **common
        )
    first = sp.ImmutableMatrix(goal.lhs.rows, 1, lambda i, _: int(i == 0))
    breakers = (
        goal.but("the query's position is added", lhs=goal.lhs + (t + c) * first, rhs=goal.rhs + t * first),
        goal.but("the key's position is added", lhs=goal.lhs + (s + c) * first, rhs=goal.rhs + s * first),
    )
    if name != "nope":  # NoPE does not notice any shift
        breakers += (goal.but("only the query is shifted", lhs=At(goal.rhs, t, t + c)),)
    return Law(title=f"{_capital(name)}: relative", perturbations=breakers, **common)


def _more_features(name: str) -> tuple[str, ...]:
    """What carries a law shown for a few features to any number of them."""
    if name not in INSIDE:
        return ()
    return ("rope-relative", "direct-sum") if "rope" in name or "rotated" in name else ("direct-sum",)


def _called(name: str) -> str:
    words = {
        "nope": "NoPE",
        "rope": "RoPE",
        "rope-partial": "partial RoPE",
        "damped_rope": "damped RoPE",
        "alibi": "ALiBi",
        "rope+alibi": "RoPE with ALiBi",
        "rotated_values_back": "values rotated and rotated back",
        "sinusoidal": "the sinusoidal table",
        "learned_absolute": "a learned table",
        "keys_only": "rotation of the keys only",
        "before_projection": "rotation before the projection",
        "mismatched_pairings": "query and key paired differently",
        "same_side_boost": "one boost on both sides",
        "rotated_values": "rotated values",
        "symmetric_distance": "the distance `|t-s|`",
        "step_table": "a step table",
    }
    return words.get(name, name)


def _capital(name: str) -> str:
    called = _called(name).replace("`", "")
    return called[0].upper() + called[1:]


def _opaque_bias(name: str) -> Law:
    bias = sp.Function("b", real=True)
    later = plus(t, c), plus(s, c)
    goal = Identity(
        name="shift both positions",
        goal=True,
        lhs=bias(plus(later[0], times(sp.Integer(-1), later[1]))),
        rhs=bias(t - s),
    )
    unshifted = goal.but("the bias reads t + s", lhs=bias(plus(*later)), rhs=bias(t + s))
    half = goal.but("only the query is shifted", lhs=bias(plus(later[0], -s)))
    return Law(
        id="relative",
        encoding=name,
        title=f"{_capital(name)}: relative",
        statement=(
            f"For all real `t, s, c` and any function `b` of the gap, {_called(name)} among them: "
            "`b((t+c)-(s+c)) = b(t-s)`."
        ),
        steps=(goal,),
        perturbations=(unshifted, half),
        comment=(
            "Whatever the function, it reads the gap alone. Whether `exp(uX)` can make it is "
            f"[another question](#in-family--{name})."
        ),
    )


@CHAPTER.law("in-family", encodings=(*INSIDE, "symmetric_distance", "step_table", *ABSOLUTE))
def in_family(name: str) -> Law:
    if name in ("symmetric_distance", "step_table"):
        return _analytic(name)
    if name in ABSOLUTE:
        goal = shift_both(name)
        other = shift_both(SIBLING[name])
        return Law(
            id="in-family",
            encoding=name,
            title=f"“{_capital(name)}: an exp(tX)”",
            statement=(
                f"What attention sees with {_called(name)} has the form `C e^{{(t-s)X}} B`; in particular it "
                "is the same at `(t + c, s + c)` as at `(t, s)`."
            ),
            expected=Status.REFUTED,
            steps=(goal,),
            siblings=(goal.but(f"{_called(SIBLING[name])} instead", lhs=other.lhs, rhs=other.rhs),),
            rests_on=("general-form", f"relative/{name}"),
            comment=f"Everything in the family is relative, and this is not. {WHY[name]}",
        )
    return _member(name)


def _member(name: str) -> Law:
    found = build(name)
    (generator,) = found.generators
    flow = generator.exp(u)
    q, k = found.content()
    middle = sp.MatMul(
        transpose(found.query_lift(q)),
        generator.exp(t - s).as_immutable(),
        found.key_lift(k).as_immutable(),
        evaluate=False,
    )
    start = Identity(name="A(0) = I", goal=True, lhs=At(flow, u, 0), rhs=sp.eye(generator.dim).as_immutable())
    ode = Identity(
        name="A' = XA", goal=True, lhs=D(flow, u), rhs=sp.MatMul(generator.matrix, flow, evaluate=False)
    )
    goal = Identity(
        name="score = φ(q)ᵀ A(t-s) ψ(k)", goal=True, lhs=sp.ImmutableMatrix([[found.score(t, s)]]), rhs=middle
    )
    return Law(
        id="in-family",
        encoding=name,
        title=f"{_capital(name)}: an exp(tX)",
        statement=(
            f"For all real `t, s` and all contents: the score with {_called(name)} is "
            f"`φ(q)ᵀ e^{{(t-s)X}} ψ(k)` with one fixed `{generator.dim}×{generator.dim}` generator `X`; its "
            "closed form satisfies `A(0) = I`, `A' = XA`."
        ),
        steps=(start, ode, goal),
        rests_on=("uniqueness", f"relative/{name}"),
        perturbations=(
            ode.but(
                "X has 1 added on its diagonal",
                rhs=sp.MatMul(generator.matrix + sp.eye(generator.dim), flow, evaluate=False),
            ),
            goal.but("the score is doubled", lhs=sp.ImmutableMatrix([[2 * found.score(t, s)]])),
        ),
        comment=WHY[name],
    )


def _analytic(name: str) -> Law:
    step = name == "step_table"
    level = sp.Symbol("b", real=True)
    ahead = -m * u if not step else level + m
    here = (
        "`-m|u|`, which is `-mu`,"
        if not step
        else "a table with `b` at `u = 0` and `b + m` from some edge on"
    )
    goal = Identity(
        name="what holds for large u holds everywhere",
        goal=True,
        lhs=At(ahead, u, -1 if not step else 0),
        rhs=-m if not step else level,
    )
    sibling = goal.but("where u is large", lhs=At(ahead, u, 7), rhs=-7 * m if not step else level + m)
    return Law(
        id="in-family",
        encoding=name,
        title=f"“{_capital(name)}: an exp(tX)”",
        statement=(
            f"With `m > 0`: the exponential polynomial that equals {here} for all large `u` equals it at "
            f"{'`u = -1`' if not step else '`u = 0`'} too."
        ),
        hypotheses=(Hypothesis("interval", "the two agree on a whole interval of gaps"),),
        expected=Status.REFUTED,
        steps=(
            Cited(
                name="an interval decides",
                lemma=(
                    "an exponential polynomial is real analytic; two real analytic functions that agree on "
                    "an interval agree everywhere"
                ),
                source=KRANTZ_PARKS,
                needs=("interval",),
            ),
            goal,
        ),
        siblings=(sibling,),
        rests_on=(f"relative/{name}", "general-form"),
        comment=(
            "Relative, but outside: no finite generator makes a kink or a step on the real line. On "
            "integers with a causal mask, [windows and clipped tables](#window-rows) are possible."
        ),
    )
