"""The fence: every encoding of the catalogue, inside or outside, with one witness for each refusal."""

import sympy as sp
from sympy.core.function import AppliedUndef

from ...symbolic.decide import Status
from ...symbolic.encoding import Encoding
from ...symbolic.tree import At, D
from ..law import Chapter, Hypothesis, Law
from ..step import Cited, Identity, Perturbation
from .common import KRANTZ_PARKS, c, m, plus, s, t, times, transpose, u
from .fenced import ABSOLUTE, ALL, BIASES, INSIDE, TIED, build

CHAPTER = Chapter(
    "fence",
    "The fence",
    "What the demands linear, relative and continuous leave inside, and what they leave outside. Outside "
    "does not mean bad: it means that the theorem says nothing about it, and that one witness shows why.",
)


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


@CHAPTER.law("relative", encodings=(*INSIDE, *TIED, *BIASES, *ABSOLUTE))
def relative(name: str) -> Law:
    if name in BIASES:
        return _opaque_bias(name)
    goal = shift_both(name)
    common = {
        "id": "relative",
        "encoding": name,
        "statement": (
            f"Written out for {build(name).head_dim} features, for all real `t, s, c` and all parameters: "
            f"everything that attention sees of the positions with {ALL[name].called} is the same at "
            "`(t + c, s + c)` as at `(t, s)`."
        ),
        "steps": (goal,),
        "rests_on": _more_features(name),
        "comment": ALL[name].why,
    }
    if name in ABSOLUTE:
        sibling = _instead(goal, name)
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
    turns = any(block.turns for generator in build(name).generators for block in generator.blocks)
    return ("rope-relative", "direct-sum") if turns else ("direct-sum",)


def _instead(goal: Identity, name: str) -> Perturbation:
    """The same claim, true for the encoding that does what is claimed."""
    instead = ABSOLUTE[name].instead
    other = shift_both(instead)
    return goal.but(f"{ALL[instead].called} instead", lhs=other.lhs, rhs=other.rhs)


def _capital(name: str) -> str:
    """With a capital, unless a name begins as xPos does."""
    called = ALL[name].called.replace("`", "")
    own = any(letter.isupper() for letter in called.partition(" ")[0])
    return called if own else called[0].upper() + called[1:]


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
            f"For all real `t, s, c` and any function `b` of the gap, {ALL[name].called} among them: "
            "`b((t+c)-(s+c)) = b(t-s)`."
        ),
        steps=(goal,),
        perturbations=(unshifted, half),
        comment=(
            "Whatever the function, it reads the gap alone. Whether `exp(uX)` can make it is "
            f"[another question](#in-family--{name})."
        ),
    )


@CHAPTER.law("in-family", encodings=(*INSIDE, *BIASES, *ABSOLUTE))
def in_family(name: str) -> Law:
    if name in BIASES:
        return _analytic(name)
    if name in ABSOLUTE:
        goal = shift_both(name)
        return Law(
            id="in-family",
            encoding=name,
            title=f"“{_capital(name)}: an exp(tX)”",
            statement=(
                f"What attention sees with {ALL[name].called} has the form `C e^{{(t-s)X}} B`; in particular "
                "it is the same at `(t + c, s + c)` as at `(t, s)`."
            ),
            expected=Status.REFUTED,
            steps=(goal,),
            siblings=(_instead(goal, name),),
            rests_on=("general-form", f"relative/{name}"),
            comment=f"Everything in the family is relative, and this is not. {ALL[name].why}",
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
            f"For all real `t, s` and all contents: the score with {ALL[name].called} is "
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
        comment=ALL[name].why,
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
