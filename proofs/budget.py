"""How far a correct kernel may be off: error budgets from dtype, angle and length, none typed by hand.

Standard model of floating point: fl(a ∘ b) = (a ∘ b)(1 + δ) + η with |δ| <= u and |η| at most half the
smallest number (products and roundings only). A sum of n products in any order, fused or not, is within
γ_n Σ|a_i b_i|, γ_n = nu/(1 - nu) (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., §3.1).
u_c is the roundoff of the arithmetic (float64 for float64 inputs, else float32), u_o that of the output.
Every budget allows 2^-53 relatively for an oracle that is itself stored in float64.

Arguments are non-negative floats or float64 tensors of magnitudes; shapes broadcast. Functions return the
same kind of thing.
"""

from __future__ import annotations

from typing import Any

from ..numeric.rounding import FORMATS, format_of, unit_roundoff

ORACLE = unit_roundoff("float64")
Magnitude = Any  # a float or a float64 tensor


def compute_roundoff(dtype: object) -> float:
    """u_c of the arithmetic on inputs of `dtype`."""
    return unit_roundoff("float64" if format_of(dtype) is FORMATS["float64"] else "float32")


def gamma(terms: int, dtype: object) -> float:
    """γ_n = n u_c / (1 - n u_c) for n roundings in the arithmetic of `dtype`."""
    return terms * compute_roundoff(dtype) / (1 - terms * compute_roundoff(dtype))


def table_entry(angle: Magnitude, dtype: object, amplitude: float = 1.0, value: Magnitude = 1.0) -> Magnitude:
    """a (2^-52 |ωt| + (u + 2^-51) v): an entry a·cos(ωt) with a float64 angle, stored in `dtype`.

    2^-52 |ωt|: the frequency and the product round once each, and the derivative of cos and sin is at most 1.
    2^-51: cos within one ulp, 2^-52, times a, and the oracle. value v: |cos ωt| where it is known, else 1.
    """
    return amplitude * (2 * ORACLE * abs(angle) + (unit_roundoff(dtype) + 4 * ORACLE) * value)


def single_angle_entry(
    angle: Magnitude, amplitude: float = 1.0, frequency_roundings: Magnitude = 1
) -> Magnitude:
    """As `table_entry` for float32 angles: a ((f + 1)(1 + u) u |ωt| + 4u), with f roundings in the frequency.

    One more for the product; cos within 2u, the amplitude u, storing u. The recipe 1/b^{i/d} in float32 has
    f = ln b + 3: the exponent rounds once and counts ln b times, the power 2, the quotient 1.
    """
    u = unit_roundoff("float32")
    return amplitude * ((frequency_roundings + 1) * u * (1 + u) * abs(angle) + 4 * u)


def rerotation_entry(
    before: Magnitude, after: Magnitude, dtype: object, amplitude: float = 1.0, value: Magnitude = 1.0
) -> Magnitude:
    """a (2^-53 (|wt| + |w't| + 2(|wt| + |w't|)) + (u + 2^-51) v): an entry a·cos((w' - w)t).

    before |wt|, after |w't|: each frequency rounds once, then their difference and the product, both of
    magnitude at most |wt| + |w't|. The rest as in `table_entry`.
    """
    drift = 3 * ORACLE * (before + after)
    return amplitude * (drift + (unit_roundoff(dtype) + 4 * ORACLE) * value)


def rounded(value: Magnitude, error: Magnitude, dtype: object) -> Magnitude:
    """The error after rounding to `dtype` what is within `error` of a number of magnitude `value`.

    float64 and float32 results are already in the dtype of the arithmetic and are not rounded again.
    """
    if format_of(dtype).unit_roundoff <= compute_roundoff(dtype):
        return error + ORACLE * value
    return error + unit_roundoff(dtype) * (value + error) + format_of(dtype).half_smallest + ORACLE * value


def coordinate(
    x0_cos: Magnitude, x1_sin: Magnitude, table_error: Magnitude, spread: Magnitude, dtype: object
) -> Magnitude:
    """x0 c - x1 s before the output is rounded: spread·τ + (2u_c + u_c²)(|x0 c| + |x1 s| + spread·τ) + 2η.

    Two products and one subtraction, each rounded once. spread = |x0| + |x1|; τ = table_error, 0 when the
    oracle uses the same table.
    """
    u, tiny = compute_roundoff(dtype), format_of("float64" if _is_double(dtype) else "float32").half_smallest
    drift = spread * table_error
    return drift + (2 * u + u * u) * (x0_cos + x1_sin + drift) + 2 * tiny


def rotated_coordinate(
    value: Magnitude,
    x0_cos: Magnitude,
    x1_sin: Magnitude,
    table_error: Magnitude,
    spread: Magnitude,
    dtype: object,
) -> Magnitude:
    """`coordinate`, then one rounding to `dtype`; value is the magnitude of the exact coordinate."""
    return rounded(value, coordinate(x0_cos, x1_sin, table_error, spread, dtype), dtype)


def score(
    q: Magnitude, k: Magnitude, q_error: Magnitude, k_error: Magnitude, length: int, dtype: object
) -> Magnitude:
    """Σ q_i k_i over the last axis: Σ(|q|e_k + |k|e_q + e_q e_k) + γ_d Σ(|q| + e_q)(|k| + e_k).

    q, k: magnitudes of the rotated coordinates, (..., d); q_error, k_error: their errors; length: d.
    """
    products = (q + q_error) * (k + k_error)
    return (products - q * k).sum(-1) + (gamma(length, dtype) + ORACLE) * products.sum(-1)


def rotated_vector(table_error: Magnitude, dtype: object) -> Magnitude:
    """ε with ‖error‖ <= ε‖x‖ for a rotated vector before output rounding: 2 (τ + (2u_c + u_c²)(1 + τ)).

    Both coordinates of a plane are off by at most (|x0| + |x1|) ε/2, and 2(|x0| + |x1|)² <= 4(x0² + x1²).
    """
    u = compute_roundoff(dtype)
    return 2 * (table_error + (2 * u + u * u) * (1 + table_error))


def score_of_vectors(
    norms: Magnitude, q_error: Magnitude, k_error: Magnitude, length: int, dtype: object
) -> Magnitude:
    """q·k from ‖q‖‖k‖ and relative vector errors: (ε_q + ε_k + ε_q ε_k + γ_{d+4}(1 + ε_q)(1 + ε_k))‖q‖‖k‖.

    The four roundings beyond the sum of length d are for a weight e^{-γu} <= 1 and for joining partial sums.
    """
    moved = (1 + q_error) * (1 + k_error)
    return (moved - 1 + (gamma(length + 4, dtype) + ORACLE) * moved) * norms


def transported(majorant: Magnitude, dim: int, table_error: Magnitude, dtype: object) -> Magnitude:
    """S exp(tB) S⁻¹ x, not yet rounded: ((1 + τ)(1 + γ_{3 dim + 8}) - 1) |S||E||S⁻¹||x|.

    majorant: that product of magnitudes, with |cos| and |sin| in E replaced by 1, so that an error τ of the
    table is τ relative to it. Three sums of at most dim terms; both bases, two factors of E, their products.
    """
    return ((1 + table_error) * (1 + gamma(3 * dim + 8, dtype)) - 1 + ORACLE) * majorant


def fade(exponent: Magnitude, dtype: object) -> Magnitude:
    """Relative error of a weight e^{-γt} t^k/k!: 2^-52 |γt| + γ_7(float64), and u_c where stored shorter.

    In float64 the rate and the exponent round once each; exp and the power are within one ulp, 2^-52 each;
    1/k! and two products round once each.
    """
    stored = 0.0 if _is_double(dtype) else compute_roundoff(dtype)
    return (1 + 2 * ORACLE * abs(exponent)) * (2 * ORACLE * abs(exponent) + gamma(7, "float64")) + stored


def sheared(
    exact: Magnitude,
    majorant: Magnitude,
    weight_error: Magnitude,
    table_error: Magnitude,
    roundings: int,
    dtype: object,
) -> Magnitude:
    """e^{-γt} Σ t^k/k! N^k ⊗ R(ωt) applied to x in canonical coordinates, before the output is rounded.

    exact: |E||x|; majorant: the same with |cos| and |sin| replaced by 1; weight_error: relative, from `fade`;
    table_error: absolute, 0 where nothing turns. roundings of a block with m terms: m (a product and m - 1
    sums), and 2 more where it turns (x0 c - x1 s).
    """
    turning = table_error * majorant
    growth = (1 + weight_error) * (1 + gamma(roundings, dtype)) - 1 + ORACLE
    return growth * (exact + turning) + turning


def factored(
    sum_of_products: Magnitude, sum_of_entries: Magnitude, angle: Magnitude, terms: int, dtype: object
) -> Magnitude:
    """Σ_j F_ij x_j with rounded entries: (u_c + γ_terms + 2^-51) Σ|F_ij||x_j| + 2^-52 |ωt| Σ_{F_ij ≠ 0}|x_j|.

    Entries are formed in float64 within 2^-51, apart from the rounding of the largest angle, and stored.
    """
    relative = compute_roundoff(dtype) + gamma(terms, dtype) + 4 * ORACLE
    return relative * sum_of_products + 2 * ORACLE * abs(angle) * sum_of_entries


def logit(
    scale: float, score_value: Magnitude, score_error: Magnitude, bias: Magnitude, dtype: object
) -> Magnitude:
    """scale·score + bias: the score error scaled, and the roundings of scale, bias and sum."""
    magnitude = scale * (score_value + score_error) + bias
    return scale * score_error + gamma(4, dtype) * magnitude


def attention_output(
    weights: Magnitude, gaps: Magnitude, values: Magnitude, logit_error: Magnitude, dtype: object
) -> Magnitude:
    """Σ_s p_s v_s with p = softmax(logits), before the output is rounded; shape (..., Tq, dv).

    weights p: (..., Tq, Tk); gaps: how far each logit lies below the row maximum, same shape (0 where p = 0);
    values |v|: (..., Tk, dv); logit_error: same shape as p. A logit off by e changes exp by e^{±e};
    the maximum (off by its own error) cancels in the quotient; subtracting it rounds by u·gap and exp is
    within 2 ulp = 4u, so r = e + u·gap + 4u. The normaliser is off by N = Σ p (e^r - 1) + γ_T, hence p by
    e^r (1 + u)/(1 - N) - 1, and the weighted sum adds γ_T Σ p|v|.
    """
    u, length = compute_roundoff(dtype), weights.shape[-1]
    growth = (logit_error + u * gaps + 4 * u).expm1()
    normaliser = (weights * growth).sum(-1, keepdim=True) + gamma(length, dtype)
    relative = (1 + growth) * (1 + u) / (1 - normaliser) - 1
    drift = weights * relative
    return drift @ values + (gamma(length, dtype) + 2 * ORACLE) * ((weights + drift) @ values)


def attended(
    weights: Magnitude, gaps: Magnitude, values: Magnitude, logit_error: Magnitude, dtype: object
) -> Magnitude:
    """As `attention_output`, tighter, for values v with their signs: what all weights share cancels.

    With o = Σ p v, and weights p_s e^{δ_s} before they are normalised, the output moves by
    Σ p_s (e^{δ_s} - 1)(v_s - o) / Σ p_s e^{δ_s}, since Σ p_s (v_s - o) = 0; |δ_s| <= r as there. Normaliser,
    quotient and weighted sum add γ_{2T+1} Σ p|v|.
    """
    u, length = compute_roundoff(dtype), weights.shape[-1]
    growth = weights * (logit_error + u * gaps + 4 * u).expm1()
    least = 1 - growth.sum(-1, keepdim=True)
    apart = (values[..., None, :, :] - (weights @ values)[..., :, None, :]).abs()
    moved = (growth[..., None] * apart).sum(-2) / least
    return moved + (gamma(2 * length + 1, dtype) + 2 * ORACLE) * ((weights + growth) @ values.abs()) / least


def joined_output(
    weights: Magnitude,
    gaps: Magnitude,
    values: Magnitude,
    logit_error: Magnitude,
    log_sum: float,
    joins: int,
    dtype: object,
) -> Magnitude:
    """`attention_output` of a kernel that works piece by piece, with an exp within 20 ulp = 40u.

    log_sum: the largest |ℓ| of a piece, ℓ = log Σ e^{logit}: two of them, rounded once each, meet where
    pieces join, an error of the logits. Each join also rounds a weight, a difference, a product, a sum: 4u.
    """
    u = compute_roundoff(dtype)
    error = logit_error + 36 * u + 2 * u * log_sum
    return attention_output(weights, gaps, values, error, dtype) + 4 * joins * u * (weights @ values)


def recurred(
    sums: Magnitude, raised: Magnitude, roundings: int, table_error: Magnitude, dtype: object
) -> Magnitude:
    """Σ_s |q||k_s||v_s| e^{-lag}, before the output is rounded: (1 + τ)² (1 + γ_n) raised - sums.

    sums: that sum of magnitudes; raised: the same with every log decay raised by `step_error`, so that a term
    is off by as much as its lag asks for. n roundings a term, from `recurrence_roundings`; τ: relative error
    of a query or key where they turn, else 0.
    """
    return (1 + table_error) ** 2 * (1 + gamma(roundings, dtype)) * raised - (1 - ORACLE) * sums


def step_error(form: str, chunk_size: int, dtype: object) -> float:
    """Relative error of a weight e^{-lag} a token of its lag, in linear attention of the given form.

    A state that is multiplied by a factor in two terms and added to rounds at most three times: at every
    token, or once a chunk, or never. In float64 a factor takes exp (2u) and a product, here and in the
    reference, which also turns (6u), multiplies and adds: 16 in all.
    """
    carried = {"recurrent": 1.0, "chunked": 1 / chunk_size, "parallel": 0.0}[form]
    return 3 * carried * compute_roundoff(dtype) + 16 * ORACLE


def recurrence_roundings(form: str, features: int, tokens: int, chunk_size: int) -> int:
    """Roundings of one term q_i k_i v of linear attention, whatever its lag: sums over features and tokens.

    Scale 2, two factors stored 2 and multiplied 2, scores times v 1, a state carried on once 3, three parts
    joined 2, and 4 for a turn of query and key (a product and a sum each).
    """
    summed = {"recurrent": 1, "chunked": min(chunk_size, tokens), "parallel": tokens}[form]
    return features + summed + 16


def slope_entry(slope: Magnitude, power: Magnitude, dtype: object) -> Magnitude:
    """A slope m = r^p kept in `dtype`: m (γ_{2p + 16} + u).

    The ratio r rounds once, which counts p times, and a sequence multiplies p - 1 times: 2p in all; or the
    exponent -8(h+1)/n rounds twice, which counts 8 ln 2 < 6 times, and the power is within 4 roundings: 16.
    """
    count = (2 * power + 16) * compute_roundoff(dtype)
    return slope * (count / (1 - count) + unit_roundoff(dtype))


def slope_bias(
    slope_error: Magnitude, slope: Magnitude, gap: Magnitude, reach: Magnitude, dtype: object
) -> Magnitude:
    """-m(t - s) modulo a constant a row, between two keys: e_m |t - s| + 6u m r, kept in `dtype`.

    It may stand as -m(t - s), as m·s, as -m·t and m·s, or counted from the last key n as m(s - n): two
    products and a sum, for each of the two keys, each rounded once, of at most m r with the reach
    r = max(t + s, 2n - t - s).
    """
    return slope_error * gap + 6 * unit_roundoff(dtype) * slope * reach


def _is_double(dtype: object) -> bool:
    return format_of(dtype) is FORMATS["float64"]
