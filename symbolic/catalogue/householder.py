"""Products of I - β w wᵀ, one a token: accumulated Householder-like maps, and the delta rule."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from ..encoding import Encoding
from ..errors import BadInput, WrongType
from ..exact import exact_entry, whole
from ..kinds.ordered import Numbers, Ordered, Tokens
from ..walk import shown
from .registry import register


@register(
    published="`logit = k_sᵀ H_{s+1} ⋯ H_t q_t/√d`, `H_l = I - β_l w_l w_lᵀ`, `|w_l| = 1`, `0 < β_l < 2`",
    source=(
        "S. Yang et al., PaTH Attention, arXiv 2505.16381; "
        "fla/layers/path_attn.py of flash-linear-attention (β twice a sigmoid, w normalised)"
    ),
    danger="β = 1 makes a factor singular, so no factor of the key alone exists; w is normalised in float16",
    example={"head_dim": 2},
)
def path(head_dim: int, vectors: object = None, betas: object = None) -> Encoding:
    """score = q·H_t ⋯ H_{s+1}k, H_l = I - β_l w_l w_lᵀ.

    vectors, betas: w(0), w(1), … with head_dim exact entries each, and β(0), β(1), …; free if None. The
    lengths are taken as given; the code divides w by its length.
    """
    return _householder("path", head_dim, vectors, betas, "w")


@register(
    published="`S_t = (I - β_t k_t k_tᵀ)S_{t-1} + β_t k_t v_tᵀ`, `o_t = S_tᵀ q_t`",
    source=(
        "S. Yang et al., Parallelizing Linear Transformers with the Delta Rule over Sequence Length, "
        "arXiv 2406.06484; fla/ops/delta_rule/naive.py"
    ),
    danger="where β k·k exceeds 2 the state grows, so keys are normalised; where it is 1 H is singular",
    example={"head_dim": 2},
)
def deltanet(head_dim: int, keys: object = None, betas: object = None) -> Encoding:
    """score = q·H_t ⋯ H_{s+1}k, H_l = I - β_l k_l k_lᵀ of the keys themselves; what is written is β_s v_s.

    keys, betas: k(0), k(1), … with head_dim exact entries each, and β(0), β(1), …; free if None. The
    content k of a score is the key at s, which no factor contains.
    """
    return _householder("deltanet", head_dim, keys, betas, "kappa")


def _householder(name: str, head_dim: int, vectors: object, betas: object, letter: str) -> Encoding:
    size = whole(head_dim, "head_dim")
    keyword = "vectors" if name == "path" else "keys"
    given = _given(vectors, betas, size, keyword)
    names = ("beta", *(f"{letter}{i}" for i in range(size)))
    tokens = Tokens(names, _reflect, _samples(size), given)
    parameters = {
        "head_dim": size,
        keyword: None if given is None else tuple(numbers[1:] for numbers in given),
        "betas": None if given is None else tuple(numbers[0] for numbers in given),
    }
    return Ordered(name, parameters, size, tokens)


def _reflect(beta: sp.Expr, *vector: sp.Expr) -> sp.MatrixBase:
    """I - β w wᵀ."""
    w = sp.Matrix(vector)
    return sp.eye(len(vector)) - beta * w * w.T


def _samples(size: int) -> tuple[Numbers, ...]:
    """β = 1/2 along e0 and along (3, 4)/5, which do not commute; β = 1, singular. Vectors have length 1."""
    half, rest = sp.Rational(1, 2), (sp.S.Zero,) * (size - 2)
    if size == 1:
        return (half, sp.S.One), (sp.Rational(1, 4), sp.S.One), (sp.S.One, sp.S.One)
    slanted = (sp.Rational(3, 5), sp.Rational(4, 5), *rest)
    along = (sp.S.One, sp.S.Zero, *rest)
    return (half, *along), (half, *slanted), (sp.S.One, *along)


def _given(vectors: object, betas: object, size: int, name: str) -> tuple[Numbers, ...] | None:
    """β and w of every token, or None where both are left free."""
    if vectors is None and betas is None:
        return None
    for value, called in ((vectors, name), (betas, "betas")):
        if isinstance(value, str) or not isinstance(value, Sequence) or not value:
            raise WrongType(
                f"{called} is {shown(value)}; a list with one entry a token works, for both or none"
            )
    if len(vectors) != len(betas):
        raise BadInput(
            f"{name} has {len(vectors)} entries and betas has {len(betas)}; give one of each a token"
        )
    found = []
    for token, (vector, beta) in enumerate(zip(vectors, betas, strict=True)):
        if isinstance(vector, str) or not isinstance(vector, Sequence) or len(vector) != size:
            raise BadInput(f"{name}[{token}] is {shown(vector)}; {size} exact numbers work")
        exact = [exact_entry(x, f"{name}[{token}][{i}]") for i, x in enumerate(vector)]
        found.append((exact_entry(beta, f"betas[{token}]"), *exact))
    return tuple(found)
