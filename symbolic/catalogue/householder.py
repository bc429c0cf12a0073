"""Products of I - β w wᵀ, one a token: Householder-like maps, the delta rule, and it with a gate."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from ..encoding import Encoding
from ..errors import BadInput, WrongType
from ..exact import exact_entry, whole
from ..kinds.ordered import Loss, Numbers, Ordered, Tokens
from ..walk import shown
from .registry import register


@register(
    published="`logit = k_sᵀ H_{s+1} ⋯ H_t q_t/√d`, `H_l = I - β_l w_l w_lᵀ`, `|w_l| = 1`, `0 < β_l < 2`",
    source=(
        "S. Yang et al., PaTH Attention, arXiv 2505.16381; "
        "fla/layers/path_attn.py of flash-linear-attention (β twice a sigmoid, w divided by its length)"
    ),
    danger="β = 1 makes a factor singular, so no factor of the key alone exists; |w| is 1 up to rounding",
    example={"head_dim": 2},
)
def path(head_dim: int, vectors: object = None, betas: object = None) -> Encoding:
    """score = q·H_t ⋯ H_{s+1}k, H_l = I - β_l w_l w_lᵀ.

    vectors, betas: w(0), w(1), … with head_dim exact entries each, and β(0), β(1), …; free if None. Lengths
    are taken as given: the code divides w by its own, so give vectors of length 1 for what it computes.
    """
    return _householder("path", head_dim, {"vectors": vectors, "betas": betas}, "w")


@register(
    published=(
        "`S_t = (I - β_t k_t k_tᵀ)S_{t-1} + β_t k_t v_tᵀ`, `o_t = S_tᵀ q_t`, `|k_t| = 1`, `0 < β_t < 1`"
    ),
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
    return _householder("deltanet", head_dim, {"keys": keys, "betas": betas}, "kappa")


@register(
    published=(
        "`S_t = α_t (I - β_t k_t k_tᵀ)S_{t-1} + β_t k_t v_tᵀ`, `o_t = S_tᵀ q_t`, `|k_t| = 1`, "
        "`0 < α_t, β_t < 1`"
    ),
    source=(
        "S. Yang, J. Kautz, A. Hatamizadeh, Gated Delta Networks, arXiv 2412.06464; "
        "fla/ops/gated_delta_rule/naive.py of flash-linear-attention"
    ),
    danger="products of α underflow, so chunks are scaled by differences of sums of log α, in float32",
    example={"head_dim": 2},
)
def gated_deltanet(
    head_dim: int, keys: object = None, betas: object = None, forget: object = None
) -> Encoding:
    """score = q·H_t ⋯ H_{s+1}k, H_l = α_l (I - β_l k_l k_lᵀ): the delta rule with a forget gate.

    keys, betas, forget: k(0), k(1), … with head_dim exact entries each, β(0), β(1), … and α(0), α(1), …; free
    if all are None. What is written is β_s v_s.
    """
    given = {"keys": keys, "betas": betas, "forget": forget}
    return _householder("gated_deltanet", head_dim, given, "kappa")


def _householder(name: str, head_dim: int, told: dict[str, object], letter: str) -> Encoding:
    """told: the vectors, β and, with a gate, α of the tokens, by keyword."""
    size, gated = whole(head_dim, "head_dim"), "forget" in told
    given = _given(told, size)
    names = (*(("alpha",) if gated else ()), "beta", *(f"{letter}{i}" for i in range(size)))
    samples = tuple((sp.S.Half,) * gated + numbers for numbers in _samples(size))
    premise = f"{'0 ≤ α ≤ 1, ' * gated}0 ≤ β ≤ 2/|{letter[0]}|²"
    if gated:
        tokens = Tokens(names, _gated, samples, given, _gated_losses, premise)
    else:
        tokens = Tokens(names, _reflect, samples, given, _losses, premise)
    count, columns = len(told) - 1, [None] * len(told)
    if given is not None:
        rest = zip(*(numbers[:count][::-1] for numbers in given), strict=True)
        columns = [tuple(numbers[count:] for numbers in given), *rest]
    return Ordered(name, {"head_dim": size, **dict(zip(told, columns, strict=True))}, size, tokens)


def _reflect(beta: sp.Expr, *vector: sp.Expr) -> sp.MatrixBase:
    """I - β w wᵀ."""
    w = sp.Matrix(vector)
    return sp.eye(len(vector)) - beta * w * w.T


def _losses(beta: sp.Expr, *vector: sp.Expr) -> tuple[Loss, ...]:
    """I - HᵀH = β (2 - β w·w) w wᵀ."""
    w = sp.Matrix(vector)
    return (Loss((beta, 2 - beta * w.dot(w)), w),)


def _gated(alpha: sp.Expr, beta: sp.Expr, *vector: sp.Expr) -> sp.MatrixBase:
    """α (I - β w wᵀ)."""
    return alpha * _reflect(beta, *vector)


def _gated_losses(alpha: sp.Expr, beta: sp.Expr, *vector: sp.Expr) -> tuple[Loss, ...]:
    """I - HᵀH = (1 - α²) Σ e eᵀ + α² β (2 - β w·w) w wᵀ."""
    unit = sp.eye(len(vector))
    faded = [Loss((1 - alpha, 1 + alpha), unit.col(i)) for i in range(len(vector))]
    return (*faded, *(Loss((alpha**2, *loss.factors), loss.column) for loss in _losses(beta, *vector)))


def _samples(size: int) -> tuple[Numbers, ...]:
    """β = 1/2 along e0 and along (3, 4)/5, which do not commute; β = 1, singular. Vectors have length 1."""
    half, rest = sp.Rational(1, 2), (sp.S.Zero,) * (size - 2)
    if size == 1:
        return (half, sp.S.One), (sp.Rational(1, 4), sp.S.One), (sp.S.One, sp.S.One)
    slanted = (sp.Rational(3, 5), sp.Rational(4, 5), *rest)
    along = (sp.S.One, sp.S.Zero, *rest)
    return (half, *along), (half, *slanted), (sp.S.One, *along)


def _given(told: dict[str, object], size: int) -> tuple[Numbers, ...] | None:
    """The numbers of every token, the vector last, or None where all are left free."""
    if all(value is None for value in told.values()):
        return None
    lists: dict[str, Sequence] = {}
    for called, value in told.items():
        if isinstance(value, str) or not isinstance(value, Sequence) or not value:
            raise WrongType(
                f"{called} is {shown(value)}; a list with one entry a token works, "
                f"for {'both' if len(told) == 2 else 'all'} or none"
            )
        lists[called] = value
    name, *others = lists
    for other in others:
        if len(lists[other]) != len(lists[name]):
            raise BadInput(
                f"{name} has {len(lists[name])} entries and {other} has {len(lists[other])}; "
                "give one of each a token"
            )
    found = []
    for token, (vector, *numbers) in enumerate(zip(*lists.values(), strict=True)):
        if isinstance(vector, str) or not isinstance(vector, Sequence) or len(vector) != size:
            raise BadInput(f"{name}[{token}] is {shown(vector)}; {size} exact numbers work")
        exact = [exact_entry(x, f"{name}[{token}][{i}]") for i, x in enumerate(vector)]
        first = [exact_entry(x, f"{other}[{token}]") for x, other in zip(numbers, others, strict=True)]
        found.append((*reversed(first), *exact))
    return tuple(found)
