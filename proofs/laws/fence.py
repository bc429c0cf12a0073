"""The fence: every encoding of the catalogue, inside or outside, and one witness for each refusal."""

import sympy as sp

from ...symbolic.catalogue.registry import encoding
from ...symbolic.decide import Status
from ...symbolic.encoding import Encoding
from ..law import Chapter, Hypothesis, Law
from ..step import Apart, Cited, Identity, Source
from .common import VASWANI, R, c, dot, k0, k1, m, q0, q1, s, t, times, transpose, u, w

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
ANALYTIC = Source("S. G. Krantz, H. R. Parks, A Primer of Real Analytic Functions, 2nd ed., Corollary 1.2.6")


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
    "decay": "The factor is e^{-γ(t-s)}; positions never enter alone.",
    "damped_rope": "Turn and fade commute, so both see the gap.",
    "alibi": "The lifted slots give -m(t-s)/σ.",
    "rope+alibi": "Two encodings side by side: the sum of relative scores is relative.",
    "rotated_values_back": "The value arrives rotated by the gap only.",
    "sinusoidal": "The products of content and position vector stay: they know t and s one by one.",
    "learned_absolute": "A table may hold anything; with an arbitrary table nothing cancels.",
    "keys_only": "Rotating the keys alone saves half the work and leaves the absolute position of the key.",
    "before_projection": "The projection between the two rotations does not commute with them.",
    "mismatched_pairings": "Query and key turn in different planes; nothing cancels beyond the first tokens.",
    "same_side_boost": "The boost is symmetric, so one map on both sides gives B(t+s): a sum, not a gap.",
    "rotated_values": "Scores are fine, but the output carries the absolute position of each value.",
}


def moved(found: Encoding, shift: sp.Expr) -> sp.Expr | sp.MatrixBase:
    """What attention sees of the positions, as one column, with both positions moved by `shift`."""
    maps = found.maps(t + shift, s + shift)
    entries = [entry for name in sorted(maps) for entry in maps[name]]
    return sp.ImmutableMatrix(len(entries), 1, entries)


def shift_both(name: str) -> Identity:
    found = build(name)
    return Identity(name="shift both positions", goal=True, lhs=moved(found, c), rhs=moved(found, sp.S.Zero))


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
            "For all real `t, s, c` and all parameters: everything that attention sees of the positions in "
            f"{_called(name)} is the same at `(t + c, s + c)` as at `(t, s)`."
        ),
        "steps": (goal,),
        "comment": WHY[name],
    }
    if name in ABSOLUTE:
        other = shift_both(SIBLING[name])
        sibling = goal.but(f"{_called(SIBLING[name])} instead", lhs=other.lhs, rhs=other.rhs)
        return Law(
            title=f"“{_called(name)} is relative”", expected=Status.REFUTED, siblings=(sibling,), **common
        )
    found = build(name)
    first = sp.ImmutableMatrix(goal.lhs.rows, 1, lambda i, _: int(i == 0))
    breakers = (
        goal.but("the query's position is added", lhs=goal.lhs + (t + c) * first, rhs=goal.rhs + t * first),
        goal.but("the key's position is added", lhs=goal.lhs + (s + c) * first, rhs=goal.rhs + s * first),
    )
    if name != "nope":  # NoPE does not notice any shift
        breakers += (goal.but("only the query is shifted", lhs=_one_sided(found)),)
    return Law(title=f"{_called(name)} is relative", perturbations=breakers, **common)


def _one_sided(found: Encoding) -> sp.MatrixBase:
    maps = found.maps(t + c, s)
    entries = [entry for name in sorted(maps) for entry in maps[name]]
    return sp.ImmutableMatrix(len(entries), 1, entries)


def _called(name: str) -> str:
    words = {
        "nope": "NoPE",
        "rope": "RoPE",
        "rope-partial": "partial RoPE",
        "damped_rope": "damped RoPE",
        "alibi": "ALiBi",
        "rope+alibi": "RoPE with ALiBi",
    }
    return words.get(name, name.replace("_", " "))


def _opaque_bias(name: str) -> Law:
    bias = sp.Function("b", real=True)
    goal = Identity(name="shift both positions", goal=True, lhs=bias((t + c) - (s + c)), rhs=bias(t - s))
    unshifted = goal.but("the bias reads t + s", lhs=bias((t + c) + (s + c)), rhs=bias(t + s))
    half = goal.but("only the query is shifted", lhs=bias((t + c) - s))
    return Law(
        id="relative",
        encoding=name,
        title=f"The {_called(name)} is relative",
        statement=(
            f"For all real `t, s, c` and any function `b` of the gap, the {_called(name)} among them: "
            "`b((t+c)-(s+c)) = b(t-s)`."
        ),
        steps=(goal,),
        perturbations=(unshifted, half),
        comment=(
            "Whatever the function, it reads the gap alone. Whether exp(uX) can make it is another question."
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
            title=f"“{_called(name)} is an exp(tX)”",
            statement=(
                f"What {_called(name)} lets attention see has the form `C e^{{(t-s)X}} B`; in particular it "
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
    from ...symbolic.tree import At, D

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
        title=f"{_called(name)} is an exp(tX)",
        statement=(
            f"For all real `t, s` and all contents: the score of {_called(name)} is "
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
    here = "-m|u|" if not step else "a table with the value b at u = 0 and b + m from some edge on"
    goal = Identity(
        name="what holds for large u holds everywhere",
        goal=True,
        lhs=ahead.subs(u, -1),
        rhs=-m if not step else level,
    )
    sibling = goal.but("where u is large", lhs=ahead.subs(u, 7), rhs=-7 * m if not step else level + m)
    return Law(
        id="in-family",
        encoding=name,
        title=f"“The {_called(name)} is an exp(tX)”",
        statement=(
            f"The exponential polynomial that equals {here} for all large `u` equals it at "
            f"{'`u = -1`' if not step else '`u = 0`'} too, with `m > 0`."
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
                source=ANALYTIC,
                needs=("interval",),
            ),
            goal,
        ),
        siblings=(sibling,),
        rests_on=(f"relative/{name}", "general-form"),
        comment=(
            "Relative, but outside: no finite generator makes a kink or a step on the real line. On "
            "integers with a causal mask, windows and clipped tables are possible."
        ),
    )


@CHAPTER.law("sinusoidal-shift")
def sinusoidal_shift() -> Law:
    table = sp.ImmutableMatrix([sp.sin(w * t), sp.cos(w * t)])
    later = sp.ImmutableMatrix([sp.sin(w * (t + u)), sp.cos(w * (t + u))])
    goal = Identity(
        name="the table turns", goal=True, lhs=later, rhs=sp.MatMul(R(-w * u), table, evaluate=False)
    )
    return Law(
        id="sinusoidal-shift",
        title="The sinusoidal table turns, and is absolute all the same",
        statement=(
            "For all real `t, u` and `ω > 0`: the pair `p_t = (sin ωt, cos ωt)` satisfies "
            "`p_{t+u} = R(-ωu) p_t`."
        ),
        steps=(goal,),
        perturbations=(
            goal.but("it turns the other way", rhs=sp.MatMul(R(w * u), table, evaluate=False)),
            goal.but(
                "the pair is (cos, sin)",
                lhs=sp.ImmutableMatrix([later[1], later[0]]),
                rhs=sp.MatMul(R(-w * u), sp.ImmutableMatrix([table[1], table[0]]), evaluate=False),
            ),
        ),
        sources=(VASWANI,),
        comment=(
            "A shift acts linearly on the table. But the table is added to the content, and the cross "
            "terms are not relative: see relative--sinusoidal."
        ),
    )


@CHAPTER.law("nonlinear-outside")
def nonlinear_outside() -> Law:
    turned, key = R(w * t) * sp.Matrix([q0, q1]), R(w * s) * sp.Matrix([k0, k1])
    cubes = dot(turned.applyfunc(lambda e: e**3), key.applyfunc(lambda e: e**3))
    shifted = cubes.subs({t: t + c, s: s + c}, simultaneous=True)
    goal = Identity(name="shift both positions", goal=True, lhs=shifted, rhs=cubes)
    plain = dot(turned, key)
    return Law(
        id="nonlinear-outside",
        title="“A nonlinear map after the rotation changes nothing”",
        statement=(
            "For all `t, s, c` and contents: the score of the entrywise cubes of `R(ωt)q` and `R(ωs)k` is "
            "unchanged when `c` is added to both positions."
        ),
        expected=Status.REFUTED,
        steps=(goal,),
        siblings=(
            goal.but("without the cubes", lhs=plain.subs({t: t + c, s: s + c}, simultaneous=True), rhs=plain),
        ),
        rests_on=("rope-plane",),
        comment=(
            "Linearity is a choice, not a necessity; outside it lies the largest open region. A norm with "
            "learned gains between rotation and product is of this kind too."
        ),
    )


@CHAPTER.law("score-map-outside")
def score_map_outside() -> Law:
    x = sp.Symbol("x", real=True)
    square = times(x, x) / (1 + u**2)
    goal = Identity(
        name="twice the query, twice the score", goal=True, lhs=(2 * x) ** 2 / (1 + u**2), rhs=2 * square
    )
    return Law(
        id="score-map-outside",
        title="“Any map of score and gap is an exp(uX)”",
        statement=(
            "The score map `φ(q·k, u) = (q·k)²/(1+u²)`, which is relative, is linear in the query: with "
            "`x = q·k`, `φ(2x, u) = 2φ(x, u)`."
        ),
        expected=Status.REFUTED,
        steps=(goal,),
        siblings=(goal.but("the product q·k itself", lhs=2 * x / (1 + u**2), rhs=2 * (x / (1 + u**2))),),
        rests_on=("general-form",),
        comment=(
            "A score map sees both vectors at once and may do anything with the gap. ALiBi comes in "
            "because it is additive and linear in the gap."
        ),
    )


@CHAPTER.law("content-position-outside")
def content_position_outside() -> Law:
    gate = sp.Symbol("a", real=True)
    first = sp.exp(-gate * (t - s))
    goal = Identity(name="same gap, same factor", goal=True, lhs=first, rhs=first.subs(gate, gate + 1))
    apart = Apart(name="two contents, one gap", lhs=sp.exp(-gate), rhs=sp.exp(-2 * gate))
    return Law(
        id="content-position-outside",
        title="“Position may be read off the content, and the score still depends on the gap alone”",
        statement=(
            "If each token between moves the clock by a gate that depends on its content, the factor "
            "between two tokens at gap `t - s` is the same for gates `a` and `a + 1`."
        ),
        expected=Status.REFUTED,
        steps=(apart, goal),
        siblings=(goal.but("equal gates", rhs=sp.exp(-gate * t + gate * s)),),
        rests_on=("gates-telescope/fade",),
        comment=(
            "Relative in its clock where one generator is read at it; not in the token distance. Positions "
            "interpolated from content, as in CoPE, leave the frame altogether."
        ),
    )
