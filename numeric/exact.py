"""Guaranteed values: every number is enclosed by balls (python-flint) and correctly rounded, at any position.

A ball is a number with a proved error radius. It is computed at more and more bits until both its ends
round to the same float, so what is returned is the float nearest to the true value. Positions are whole
or rational numbers of any size; nothing here is fast, and nothing here is ever approximately right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from numbers import Rational

import flint
import sympy as sp
import torch
from torch import Tensor

from ..symbolic.frequencies import Frequencies
from ..symbolic.generator import Generator
from ..symbolic.sections import AxisFrequencies
from .constants import number_ball, refuse_symbols
from .errors import BadDtype, BadTensor
from .layout import heads_first, join_pairs, split_pairs
from .rounding import round_correctly
from .validation import check_heads, check_position_ids, check_tensor, check_token_positions

Position = int | Fraction | sp.Rational | float


def rotary_table(
    inv_freq: Frequencies | AxisFrequencies | Tensor,
    position_ids: Tensor | Sequence,
    *,
    attention_scaling: Position = 1,
    dtype: torch.dtype = torch.float32,
) -> tuple[Tensor, Tensor]:
    """(cos, sin) of inv_freq * position_ids, every entry the value of `dtype` nearest to the true one.

    inv_freq: Frequencies, or a floating-point tensor (pairs,) whose entries count as exact; on several axes
    AxisFrequencies, or a tensor (axes, pairs): then position_ids has a row for every coordinate.
    position_ids: a tensor, or nested lists of int, Fraction or sympy Rational of any size (also beyond 2^53).
    attention_scaling: exact amplitude; multiplies the attention_factor of Frequencies.
    dtype: float64, float32, bfloat16 or float16. Shapes: position_ids.shape + (pairs,).
    Raises BadTensor or BadDtype naming the argument, NotLowered if Frequencies hold a symbol.
    """
    values, shape = _positions(position_ids)
    axes = _axis_balls(inv_freq)
    amplitude = _amplitude_ball(inv_freq, attention_scaling)
    if axes is None:
        waves = _frequency_balls(inv_freq)
        turns = [(_wave(w, t, inverse=False), bits) for t, bits in values for w in waves]
    else:
        waves, turns = axes[0], _summed(axes, values, shape)
        shape = shape[1:]
    entries = [
        [
            round_correctly(lambda turn=turn, part=part: amplitude() * turn()[part], dtype, bits)
            for turn, bits in turns
        ]
        for part in (1, 0)
    ]
    cos, sin = (torch.tensor(e, dtype=torch.float64).to(dtype).reshape(*shape, len(waves)) for e in entries)
    return cos, sin


def rotary_embedding(
    x: Tensor,
    inv_freq: Frequencies | Tensor,
    position_ids: Tensor | Sequence,
    *,
    interleaved: bool = False,
    layout: str = "bhtd",
    inverse: bool = False,
    dtype: torch.dtype = torch.float64,
) -> Tensor:
    """x rotated exactly, every coordinate correctly rounded to `dtype`; same shape as x.

    x: (batch, heads, time, head_dim), or (batch, time, heads, head_dim) with layout="bthd"; its entries count
    as exact. Its first 2 * pairs coordinates turn, the rest is copied. inv_freq, position_ids: as for
    `rotary_table` here, positions (time,) or (batch, time). interleaved: planes (2i, 2i + 1) instead of
    (i, i + pairs). inverse: turn by -ωt. Amplitude 1: an attention_factor of Frequencies is left out.
    Raises BadTensor, BadDtype or BadChoice naming the argument, NotLowered if Frequencies hold a symbol.
    """
    x = check_heads(x, "x", layout)
    waves = _frequency_balls(inv_freq)
    width = 2 * len(waves)
    if x.shape[-1] < width:
        raise BadTensor(f"inv_freq has {len(waves)} entries, but x has head_dim {x.shape[-1]} < {width}")
    tokens = heads_first(x, layout)
    batch, heads, time, _ = tokens.shape
    rows = _positions_per_token(position_ids, batch, time)
    turns = [[[_wave(w, t, inverse) for w in waves] for t, _ in row] for row in rows]
    x0, x1 = (part.to(torch.float64).tolist() for part in split_pairs(tokens[..., :width], interleaved))
    y0, y1 = (torch.empty(batch, heads, time, len(waves), dtype=torch.float64) for _ in range(2))
    for b, h, s, i in product(range(batch), range(heads), range(time), range(len(waves))):
        first, second = _turned(x0[b][h][s][i], x1[b][h][s][i], turns[b][s][i])
        y0[b, h, s, i] = round_correctly(first, dtype, rows[b][s][1])
        y1[b, h, s, i] = round_correctly(second, dtype, rows[b][s][1])
    turned = join_pairs(y0, y1, interleaved)
    y = torch.cat((turned, tokens[..., width:].to(torch.float64)), dim=-1).to(dtype)
    return heads_first(y, layout)


def rotary_score(
    q: Tensor,
    k: Tensor,
    inv_freq: Frequencies | Tensor,
    t: Position,
    s: Position,
    *,
    interleaved: bool = False,
    dtype: object = torch.float64,
) -> float:
    """(R_t q) · (R_s k) = Σ (q·k) cos ω(t-s) + (q×k) sin ω(t-s), correctly rounded; a Python float.

    q, k: (2 * pairs,), entries count as exact; t, s: int, Fraction, sympy Rational or finite float, of any
    size; inv_freq, interleaved, dtype: as for `rotary_embedding`. Raises BadTensor or BadDtype.
    """
    waves = _frequency_balls(inv_freq)
    for name, x in (("q", q), ("k", k)):
        if check_tensor(x, name).shape != (2 * len(waves),):
            raise BadTensor(f"{name} has shape {tuple(x.shape)}; shape ({2 * len(waves)},) works")
    planes = list(
        zip(
            waves,
            *(part.tolist() for x in (q, k) for part in split_pairs(x.to(torch.float64), interleaved)),
            strict=True,
        )
    )
    gap = _rational(t) - _rational(s)

    def score() -> flint.arb:
        total = flint.arb(0)
        for wave, q0, q1, k0, k1 in planes:
            sin, cos = (wave() * _arb(gap)).sin_cos()
            a, b, c, d = map(flint.arb, (q0, q1, k0, k1))
            total += (a * c + b * d) * cos + (a * d - b * c) * sin
        return total

    return round_correctly(score, dtype, _bits(gap))


def flow(generator: Generator, t: Position, *, dtype: torch.dtype = torch.float64) -> Tensor:
    """exp(tX) as a tensor (dim, dim): the closed form, every entry correctly rounded to `dtype`.

    t: int, Fraction, sympy Rational or finite float. NotLowered if a symbol is left in the generator.
    """
    time = _rational(t)
    closed = generator.exp(sp.Rational(time.numerator, time.denominator))
    result = torch.zeros(generator.dim, generator.dim, dtype=torch.float64)
    for (i, j), entry in closed.todok().items():
        refuse_symbols(entry, f"exp(tX)[{i}, {j}]")
        result[i, j] = round_correctly(lambda entry=entry: number_ball(entry), dtype, _bits(time))
    return result.to(dtype)


def flow_by_definition(generator: Generator, t: Position, bits: int = 128) -> flint.arb_mat:
    """Balls around exp(tX) straight from generator.matrix, without the closed form: an independent third leg.

    t: as for `flow`; bits: the working precision, which the radii follow. Shape (dim, dim). NotLowered if a
    symbol is left in the generator.
    """
    with flint.ctx.workprec(bits):
        time = _arb(_rational(t))
        rows = generator.matrix.tolist()
        return flint.arb_mat([[time * number_ball(entry) for entry in row] for row in rows]).exp()


Enclosure = Callable[[], flint.arb]


def _per_precision(enclose: Callable) -> Callable:
    """The same enclosure, computed once at every precision that is asked for."""
    known: dict[int, object] = {}

    def cached():
        if flint.ctx.prec not in known:
            known[flint.ctx.prec] = enclose()
        return known[flint.ctx.prec]

    return cached


def _wave(frequency: Enclosure, t: Enclosure, inverse: bool) -> Callable[[], tuple[flint.arb, flint.arb]]:
    """(sin, cos) of ±ωt."""
    return _per_precision(lambda: (-frequency() * t() if inverse else frequency() * t()).sin_cos())


def _turned(a: float, b: float, wave: Callable) -> tuple[Enclosure, Enclosure]:
    """The two coordinates of R(ωt) (a, b), as enclosures still to be computed."""
    first, second = flint.arb(a), flint.arb(b)

    def y0() -> flint.arb:
        sin, cos = wave()
        return first * cos - second * sin

    def y1() -> flint.arb:
        sin, cos = wave()
        return first * sin + second * cos

    return y0, y1


def _frequency_balls(inv_freq: Frequencies | AxisFrequencies | Tensor) -> list[Callable[[], flint.arb]]:
    """Every frequency on one axis as an enclosure to be computed at the ambient precision."""
    if isinstance(inv_freq, AxisFrequencies):
        raise BadTensor(f"inv_freq has {inv_freq.axes} axes; Frequencies or a tensor (pairs,) works")
    if isinstance(inv_freq, Frequencies):
        return [
            _per_precision(lambda w=w, k=k: number_ball(w, f"frequency {k}"))
            for k, w in enumerate(inv_freq.exact)
        ]
    values = check_tensor(inv_freq, "inv_freq")
    if values.ndim != 1:
        raise BadTensor(f"inv_freq has shape {tuple(values.shape)}; shape (pairs,) works")
    return [lambda w=w: flint.arb(w) for w in values.to(torch.float64).tolist()]


def _axis_balls(inv_freq: object) -> list[list[Enclosure]] | None:
    """The rates of every axis as enclosures; None where there is one axis without a row of its own."""
    if isinstance(inv_freq, AxisFrequencies):
        return [_frequency_balls(Frequencies(rates)) for rates in inv_freq.exact]
    if isinstance(inv_freq, Tensor) and inv_freq.ndim == 2:
        return [_frequency_balls(rates) for rates in inv_freq]
    return None


def _summed(axes: list[list[Enclosure]], values: list[Timed], shape: tuple[int, ...]) -> list[tuple]:
    """((sin, cos) of Σ_a ω_a t_a, bits that it may lose), token by token and plane by plane."""
    if not shape or shape[0] != len(axes):
        raise BadTensor(
            f"position_ids has shape {shape}, but positions have {len(axes)} coordinates; one row each works"
        )
    count = len(values) // len(axes)
    turns = []
    for token in range(count):
        places = values[token::count]
        bits = max(lost for _, lost in places) + len(axes)
        for rates in zip(*axes, strict=True):
            terms = [(w, t) for w, (t, _) in zip(rates, places, strict=True)]
            angle = _per_precision(lambda terms=terms: sum((w() * t() for w, t in terms), flint.arb(0)))
            turns.append((_per_precision(lambda angle=angle: angle().sin_cos()), bits))
    return turns


def _amplitude_ball(
    inv_freq: Frequencies | AxisFrequencies | Tensor, scaling: Position
) -> Callable[[], flint.arb]:
    exact = _rational(scaling)
    if isinstance(inv_freq, (Frequencies, AxisFrequencies)):
        return lambda: number_ball(inv_freq.attention_factor, "attention_factor") * _arb(exact)
    return lambda: _arb(exact)


Timed = tuple[Enclosure, int]


def _positions(position_ids: Tensor | Sequence) -> tuple[list[Timed], tuple[int, ...]]:
    """Every position as (enclosure, bits that its angle may lose), and the shape they stood in."""
    if isinstance(position_ids, Tensor):
        check_position_ids(position_ids, ranks=())
        flat, shape = position_ids.flatten().tolist(), tuple(position_ids.shape)
    else:
        flat, shape = _flatten(position_ids)
    return [_timed(value) for value in flat], shape


def _positions_per_token(position_ids: Tensor | Sequence, batch: int, time: int) -> list[list[Timed]]:
    if isinstance(position_ids, Tensor):
        check_token_positions(position_ids, batch, time)
    values, shape = _positions(position_ids)
    if shape not in ((time,), (1, time), (batch, time)):
        raise BadTensor(f"position_ids has shape {shape}; shape ({time},) or ({batch}, {time}) works")
    rows = [values[i : i + time] for i in range(0, len(values), time)] if time else []
    return rows * batch if len(rows) == 1 else rows


def _flatten(values: object) -> tuple[list, tuple[int, ...]]:
    if isinstance(values, (list, tuple, range)):
        parts = [_flatten(value) for value in values]
        shapes = {shape for _, shape in parts}
        if len(shapes) > 1:
            raise BadTensor("position_ids has rows of different lengths; a rectangular list works")
        return [x for flat, _ in parts for x in flat], (len(parts), *(shapes.pop() if shapes else ()))
    return [values], ()


def _timed(value: object) -> Timed:
    exact = _rational(value)
    return (lambda: _arb(exact)), _bits(exact)


def _rational(value: object) -> Fraction:
    """An int, Fraction, sympy Rational or finite float (a clock reading) as a Fraction."""
    if isinstance(value, float) and value - value == 0:
        return Fraction(value)
    if isinstance(value, sp.Rational):
        return Fraction(int(value.p), int(value.q))
    if isinstance(value, Rational) and not isinstance(value, bool):
        return Fraction(int(value.numerator), int(value.denominator))
    raise BadDtype(f"{value!r} is no position; an int, a Fraction or a sympy Rational works")


def _arb(value: Fraction) -> flint.arb:
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def _bits(value: Fraction) -> int:
    """log2 of a large position: the bits of an angle that its whole turns use up."""
    return max(0, value.numerator.bit_length() - value.denominator.bit_length())


__all__ = ["flow", "flow_by_definition", "rotary_embedding", "rotary_score", "rotary_table"]
