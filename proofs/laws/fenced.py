"""The encodings at the fence: their parameters, what they are called, why they stand where they stand."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from ...symbolic.catalogue import encoding, entries
from ...symbolic.encoding import Encoding
from .common import m

W0, W1 = sp.symbols("omega0 omega1", positive=True)
GAMMA = sp.Symbol("gamma", positive=True)
SIGMA = sp.Symbol("sigma", positive=True)
TURNS = {"head_dim": 4, "frequencies": (W0, W1)}
ONE_TURN = {"head_dim": 2, "frequencies": (W0,)}


@dataclass(frozen=True)
class Shown:
    """One encoding of the fence.

    called: its name in a sentence. why: why it stands where it stands. parameters: of the catalogue's entry
    `of` (its own id where none is given), else those of its example; where they hold no symbols, the rates
    are freed. instead: for a claim that fails, the encoding that does what is claimed.
    """

    called: str
    why: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    of: str = ""
    instead: str = ""


INSIDE = {
    "nope": Shown("NoPE", "Nothing depends on position at all.", {"head_dim": 2}),
    "rope": Shown("RoPE", "The rotation by the absolute position leaves only the gap.", TURNS),
    "rope-partial": Shown(
        "partial RoPE",
        "The features that do not turn are planes of frequency 0.",
        {"head_dim": 4, "rotary_dim": 2, "frequencies": (W0,)},
        of="rope",
    ),
    "position_interpolation": Shown(
        "position interpolation",
        "Every frequency is divided by one number: another `X`, and a fixed one.",
        {"head_dim": 2, "factor": 4},
    ),
    "ntk_aware": Shown("NTK-aware scaling", "Another base gives other frequencies, for all lengths."),
    "yarn": Shown(
        "YaRN", "Frozen frequencies, and a factor on both cosine and sine: `M(0) = m²I`, which `W_q` absorbs."
    ),
    "p_rope": Shown("p-RoPE", "The slowest planes stand still: blocks that hold beside blocks that turn."),
    "decay": Shown(
        "decay",
        "The factor is `e^{-γ(t-s)}`; positions never enter alone.",
        {"head_dim": 2, "gamma": GAMMA},
    ),
    "damped_rope": Shown(
        "damped RoPE", "Turn and fade commute, so both see the gap.", {**ONE_TURN, "gamma": GAMMA}
    ),
    "retnet": Shown(
        "RetNet",
        "Turn and fade on every plane; the norms that follow are not spoken of here.",
        {"head_dim": 2, "num_heads": 1},
    ),
    "xpos": Shown(
        "xPos", "A rate of growth for each plane; a centre common to both sides cancels.", {"head_dim": 2}
    ),
    "jordan_rope": Shown(
        "Jordan-RoPE",
        "A block of size two per plane: beside the turn stand `u cos ωu` and `u sin ωu`.",
    ),
    "boost": Shown(
        "the boost",
        "By the transpose and the inverse: `B(t)` on the query, `B(-s)` on the key leave `B(t-s)`.",
    ),
    "alibi": Shown(
        "ALiBi",
        "The lifted slots give `-m(t-s)/σ`, as in [ALiBi's logit](#alibi-logit).",
        {"head_dim": 2, "slope": m, "scale": SIGMA},
    ),
    "quadratic_bias": Shown(
        "a quadratic bias", "A slide of size three: `1, u, u²` are its kernel functions."
    ),
    "grape_a_qk": Shown(
        "GRAPE-A with gates on both sides",
        "The slope is read off the content, but the generator is fixed: a slide on two lifted slots.",
    ),
    "transformer_xl": Shown(
        "Transformer-XL",
        "Content enters by maps that know no position; after them stands one turning vector.",
    ),
    "pope": Shown("PoPE", "Magnitudes and phases are content, before a turn with one `X`.", {"head_dim": 2}),
    "sandwich": Shown("Sandwich", "A bias `Σ cos ω_k u` is a turn between two constant vectors."),
    "rotated_values_back": Shown(
        "values rotated and rotated back",
        "The value arrives rotated by the gap only.",
        ONE_TURN,
    ),
    "rope+alibi": Shown(
        "RoPE with ALiBi", "Two encodings side by side: the sum of relative scores is relative."
    ),
}
ABSOLUTE = {
    "sinusoidal": Shown(
        "the sinusoidal table",
        "The products of content and position vector stay: they know t and s one by one.",
        ONE_TURN,
        instead="rope",
    ),
    "learned_absolute": Shown(
        "a learned table",
        "A table may hold anything; with an arbitrary table nothing cancels.",
        {"head_dim": 1},
        instead="nope",
    ),
    "keys_only": Shown(
        "rotation of the keys only",
        "Rotating the keys alone saves half the work and leaves the absolute position of the key.",
        ONE_TURN,
        instead="rope",
    ),
    "before_projection": Shown(
        "rotation before the projection",
        "The projection between the two rotations does not commute with them.",
        ONE_TURN,
        instead="rope",
    ),
    "mismatched_pairings": Shown(
        "query and key paired differently",
        "Query and key turn in different planes; nothing cancels beyond the first tokens.",
        TURNS,
        instead="rope",
    ),
    "mismatched_table": Shown(
        "a table of one pairing with the turn of the other",
        "The two entries of a plane get the cosines of two planes: no rotation at all.",
        instead="rope",
    ),
    "untied_gains": Shown(
        "learned gains after the rotation",
        "A gain that differs within a plane does not commute with the turn; with "
        "[equal products in each plane](#relative--tied_gains) it would.",
        instead="tied_gains",
    ),
    "same_side_boost": Shown(
        "one boost on both sides",
        "The boost is symmetric, so one map on both sides gives `B(t+s)`: a sum, not a gap. By the "
        "transpose and the inverse it would be [relative](#contragredient).",
        {"head_dim": 2, "rate": GAMMA},
        instead="boost",
    ),
    "fope": Shown(
        "Fourier mixtures on both sides",
        "A sum of several frequencies on the query meets one on the key: the cross terms keep `t + s`.",
        instead="rope",
    ),
    "rotated_values": Shown(
        "rotated values",
        "Scores are fine, but the output carries the absolute position of each value.",
        ONE_TURN,
        instead="rotated_values_back",
    ),
}
TIED = {
    "tied_gains": Shown(
        "gains with equal products in each plane", "What is a multiple of the identity on a plane commutes."
    )
}
BIASES = {
    "symmetric_distance": Shown("the distance `|t-s|`", ""),
    "step_table": Shown("a step table", ""),
}
ALL = INSIDE | ABSOLUTE | TIED | BIASES


def build(name: str) -> Encoding:
    """The encoding of that name, small, with free parameters."""
    shown = ALL[name]
    if name == "rope+alibi":
        return encoding("rope", **ONE_TURN) + encoding("alibi", head_dim=2, slope=m)
    found = encoding(shown.of or name, **(shown.parameters or entries()[name].example)).heads[0]
    given = sp.Tuple(*shown.parameters.values()).free_symbols
    return found if given else found.symbolic()[0]
