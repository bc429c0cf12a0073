"""`attention` with the encodings of the catalogue against the laws that speak of scores and outputs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import sympy as sp
import torch
from torch import Tensor

from ... import numeric
from ...numeric.constants import nearest_float
from ...symbolic.block import Block
from ...symbolic.catalogue import encoding
from ...symbolic.encoding import Encoding
from ..laws import order
from ..laws.fenced import BIASES, INSIDE
from .attended import Heads, exact_output, logits, output
from .flowed import State, carry
from .places import places
from .residual import Case, measures
from .rotated import DTYPES, FAR, Measured, drawn, name_of

R = sp.Rational
HEADS, WIDTH = 3, 4
SAME = (
    "both outputs came out the same: what does not turn reads the gap alone, which is formed exactly, and "
    "where something turns a few float32 roundings vanish when the output is rounded to a shorter dtype"
)
SHORTER = (
    "both outputs came out the same: sums in another order differ by a few float32 roundings, which vanish "
    "when the output is rounded to a shorter dtype"
)
SELDOM = (
    "the budget adds the largest rounding of scores, exp, normaliser and sum as if all had one sign, and "
    "both outputs must be granted a rounding of their own; roundings of either sign cancel, and outputs "
    "this close seldom round to different numbers"
)
WEIGHTS = (
    "the budget adds the largest rounding of scores, exp, normaliser and sum as if all had one sign; they "
    "have either sign and cancel"
)
BASE = {"head_dim": WIDTH}
WAVES = {"head_dim": WIDTH, "frequencies": (R(6, 7), R(1, 10))}


@lru_cache(maxsize=64)
def named(name: str) -> Encoding:
    """The encoding of a law, with numbers: frequencies 6/7 and 1/10, γ = 1/10, slopes of three heads."""
    parameters = {
        "nope": BASE,
        "rope": WAVES,
        "rope-partial": {"head_dim": WIDTH, "rotary_dim": 2, "frequencies": (R(6, 7),)},
        "decay": {"head_dim": WIDTH, "gamma": R(1, 10)},
        "damped_rope": {**WAVES, "gamma": R(1, 10)},
        "alibi": {"num_heads": HEADS, "head_dim": WIDTH},
        "symmetric_distance": {"slope": R(1, 3), "head_dim": WIDTH},
        "step_table": {"edges": [-1, 1, 3], "values": [0, R(1, 2), -1, R(1, 3)], "head_dim": WIDTH},
        "same_side_boost": {"head_dim": WIDTH, "rate": R(1, 20)},
        "position_interpolation": {"head_dim": WIDTH, "factor": 4},
        "ntk_aware": {"head_dim": WIDTH, "factor": 4},
        "yarn": {**BASE, "factor": 4, "original_max_position_embeddings": 1000, "rope_theta": 100},
        "p_rope": {"head_dim": WIDTH, "proportion": R(1, 2)},
        "retnet": {"head_dim": WIDTH, "num_heads": 1},
        "xpos": BASE,
        "jordan_rope": {"head_dim": WIDTH, "gamma": R(1, 20)},
        "boost": {"head_dim": WIDTH, "rate": R(1, 100)},
        "quadratic_bias": {"coefficient": R(1, 50), "head_dim": WIDTH},
        "sandwich": BASE,
        "tied_gains": {"head_dim": WIDTH, "query_gains": (2, 1, R(1, 2), 3)},
        "untied_gains": {"head_dim": WIDTH, "query_gains": (2, 1, 1, 3)},
        "mismatched_table": BASE,
        "fope": {**WAVES, "amplitudes": ((1, R(1, 2)), (R(1, 2), 1))},
        "before_projection": {**WAVES, "projection": sp.Matrix(WIDTH, WIDTH, lambda i, j: R(2 * i - j, 8))},
    }
    if name == "rope+alibi":
        return named("rope") + named("alibi")
    return encoding(name.removesuffix("-partial"), **parameters.get(name, WAVES))


TURNING = ("rope", "rope-partial", "position_interpolation", "ntk_aware", "yarn", "rotated_values_back")
NOT_RUN = ("learned_absolute", "grape_a_qk", "transformer_xl", "pope")
"""No kernel: a table of opaque functions has no numbers, and lifts of the content are not run."""


def heads(dtype: torch.dtype) -> Heads:
    """Six sequences of three heads at positions 2, 5, 8, 11."""
    q, k, v = (drawn((6, HEADS, 4, WIDTH), dtype, seed) for seed in (21, 22, 23))
    return Heads(q, k, v, torch.tensor([2, 5, 8, 11]))


@lru_cache(maxsize=256)
def allowed(name: str, dtype: torch.dtype, shift: int) -> Tensor:
    """The budget of every output of `heads`, at positions moved by `shift`."""
    return output(heads(dtype).moved(shift), named(name)).error


def attend(given: Heads, found: Encoding, causal: bool = True) -> Tensor:
    """The kernel's output in float64."""
    return numeric.attention(given.q, given.k, given.v, found, position_ids=given.ids, causal=causal).double()


@measures("relative", small=SELDOM, zero=SAME)
def relative(name: str) -> Iterator[Case]:
    """Outputs at positions moved by c minus the outputs before."""
    if name in NOT_RUN:
        return
    found, shift = named(name), FAR if name in TURNING else 9
    for dtype in DTYPES:
        here = heads(dtype)
        there = here.moved(shift)
        error = (attend(there, found) - attend(here, found)).abs()
        bound = allowed(name, dtype, 0) + allowed(name, dtype, shift)
        where = f"{HEADS} heads, head_dim {WIDTH}, positions {here.ids.tolist()}, moved by {shift}"
        yield Case(error, bound, name_of(dtype), where)


@measures("in-family", small=WEIGHTS)
def in_family(name: str) -> Iterator[Case]:
    """Outputs against softmax(scale · φ(q)ᵀ exp((t-s)X) ψ(k)) v; what is not relative cannot be one."""
    if name in BIASES:
        yield from continued(name)
    elif name not in INSIDE:
        yield from relative(name)
    elif name not in NOT_RUN:
        for dtype in DTYPES:
            given = heads(dtype)
            error = (attend(given, named(name)) - exact_output(given, named(name))).abs()
            where = f"{HEADS} heads, head_dim {WIDTH}, positions {given.ids.tolist()}"
            yield Case(error, allowed(name, dtype, 0), name_of(dtype), where)


def continued(name: str) -> Iterator[Case]:
    """Outputs over keys on both sides, against the bias that continues what holds for large gaps."""
    found, third = named(name), 1 / 3
    for dtype in DTYPES:
        given = heads(dtype)
        gap = (given.ids[:, None] - given.ids).double()
        line = -third * gap if name == "symmetric_distance" else third * nearest_float(found.scale) + 0 * gap
        at = places(named("nope"), tuple(given.ids.tolist()))
        content = logits(given, at, nearest_float(found.scale), causal=False).known
        known = (content + line).softmax(-1) @ given.v.double()
        error, bound = (
            (attend(given, found, causal=False) - known).abs(),
            output(given, found, causal=False).error,
        )
        yield Case(error, bound, name_of(dtype), f"positions {given.ids.tolist()}, keys on both sides")


@measures("distance-outside")
def distance_outside() -> Iterator[Case]:
    yield from continued("symmetric_distance")


@measures("alibi-logit", small=WEIGHTS)
def alibi_logit() -> Iterator[Case]:
    """Outputs of `alibi_attention` with the paper's slopes against the lifted score times its scale."""
    for dtype in DTYPES:
        given = heads(dtype)
        slopes = numeric.alibi_slopes(HEADS, dtype=torch.float64)
        found = numeric.alibi_attention(given.q, given.k, given.v, slopes, position_ids=given.ids).double()
        where = f"{HEADS} heads, head_dim {WIDTH}, positions {given.ids.tolist()}"
        error = (found - exact_output(given, named("alibi"))).abs()
        yield Case(error, allowed("alibi", dtype, 0), name_of(dtype), where)


@measures("alibi-sign")
def alibi_sign() -> Iterator[Case]:
    """With a negative slope the key at gap 40 outweighs the one at gap 0, which the claim sends to 0."""
    rewarding = encoding("alibi", slope=R(-1, 2), head_dim=2)
    ids = torch.tensor([0, 40])
    for dtype in DTYPES:
        blank, v = torch.zeros(1, 1, 2, 2, dtype=dtype), torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=dtype)
        given = Heads(blank, blank, v[None, None], ids)
        weights, bound = attend(given, rewarding)[0, 0, 1], output(given, rewarding).error[0, 0, 1]
        yield Case(
            weights[:1] - weights[1:],
            bound[:1] + bound[1:],
            name_of(dtype),
            "equal contents, slope -1/2, gaps 40 and 0",
        )


@measures("permutation-equivariance", small=SELDOM, zero=SHORTER)
def permutation_equivariance() -> Iterator[Case]:
    """Without positions, shuffled tokens give shuffled outputs."""
    order_ = torch.tensor([2, 0, 3, 1])
    for dtype in DTYPES:
        given = heads(dtype)
        q, k, v = (x[:, :, order_] for x in (given.q, given.k, given.v))
        shuffled = Heads(q, k, v, given.ids)
        bound = output(given, named("nope"), causal=False).error[:, :, order_]
        error = attend(shuffled, named("nope"), False) - attend(given, named("nope"), False)[:, :, order_]
        yield Case(
            error.abs(),
            2 * bound,
            name_of(dtype),
            f"{HEADS} heads, head_dim {WIDTH}, order {order_.tolist()}",
        )


def sentence(words: tuple[str, ...], dtype: torch.dtype) -> Heads:
    """Queries = keys = values = the vectors of the words."""
    rows = [[float(entry) for entry in order.WORDS[word]] for word in words]
    x = torch.tensor(rows, dtype=dtype)[None, None]
    return Heads(x, x, x, torch.arange(len(words)))


PLAIN = encoding("alibi", slope=R(1), head_dim=2)


@measures("dog-and-man", small=WEIGHTS)
def dog_and_man() -> Iterator[Case]:
    """Each word's first feature in both sentences, against the exact powers of e."""
    for dtype in DTYPES:
        for words in (order.ONE, order.OTHER):
            known = [nearest_float(order.attend(words, place)) for place in range(3)]
            found = unscaled(words, dtype, causal=False)
            error = found.found[:, 0] - torch.tensor(known, dtype=torch.float64)
            yield Case(error.abs(), found.error[:, 0], name_of(dtype), f"“{' '.join(words)}”")


@measures("causal-mask-sees-order")
def causal_mask_sees_order() -> Iterator[Case]:
    """The output of “bit” in both sentences under a causal mask."""
    for dtype in DTYPES:
        one, other = (unscaled(words, dtype, causal=True) for words in (order.ONE, order.OTHER))
        error, bound = (one.found - other.found)[1, 0].abs(), (one.error + other.error)[1, 0]
        yield Case(error, bound, name_of(dtype), "“bit” in both sentences")


def unscaled(words: tuple[str, ...], dtype: torch.dtype, causal: bool) -> Measured:
    """Attention without positions and with scale 1, (3, 2): queries = keys = values = the words' vectors."""
    rows = [[float(entry) for entry in order.WORDS[word]] for word in words]
    x, plain = torch.tensor(rows, dtype=dtype)[None, None], encoding("nope", head_dim=2)
    found = numeric.attention(x, x, x, plain, causal=causal, scale=1.0).double()
    exact = output(Heads(x, x, x, torch.arange(3)), plain, causal, scale=1.0)
    return Measured(found[0, 0], exact.known[0, 0], exact.error[0, 0])


@measures("decay-needs-causal-mask")
def decay_needs_causal_mask() -> Iterator[Case]:
    """By how much the factor of a key 50 ahead exceeds 1, the most that a dimmed key may have."""
    fade = Block(R(1, 10))
    for dtype in DTYPES:
        state = carry(State.of(torch.ones(1, 1, 1, 1, dtype=dtype)), fade, -50)
        ahead = state.found.double().flatten() - 1
        refused = torch.tensor(float(refuses_keys_ahead(dtype)), dtype=torch.float64)
        yield Case(
            refused * ahead,
            state.error.flatten(),
            name_of(dtype),
            "γ = 1/10, key 50 ahead; attention refuses causal=False",
        )


def refuses_keys_ahead(dtype: torch.dtype) -> bool:
    """Whether attention with a fade refuses causal=False."""
    try:
        attend(heads(dtype), named("decay"), causal=False)
    except numeric.Unbounded:
        return True
    return False


@measures("growth-forbidden")
def growth_forbidden() -> Iterator[Case]:
    """e^{γt} at t = 50, which the claim sends to 0."""
    for dtype in DTYPES:
        state = carry(State.of(torch.ones(1, 1, 1, 1, dtype=dtype)), Block(R(-1, 10)), 50)
        yield Case(state.found.double().flatten(), state.error.flatten(), name_of(dtype), "γ = 1/10, t = 50")
