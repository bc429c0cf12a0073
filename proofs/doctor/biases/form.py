"""Claimed logits σ q·k - m(t-s) with turned q and k, in float64, and how far a right kernel may be off."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ....symbolic.configs.description import Alibi, Rotary
from ... import budget
from ..claims import Claims
from .rules import spec


@dataclass(frozen=True)
class Form:
    """scale: all factors together. plain: 1/√d alone. waves: radians a position, of planes (none: no turn).

    slopes: as they meet the logits, float64, or None. interleaved: pairing of the planes. queries, keys:
    whether they turn. sign: -1 where planes turn clockwise. amplitude: the part of the scale that lies in the
    tables, once for each side.
    """

    scale: float
    plain: float
    slopes: Tensor | None = None
    waves: tuple[float, ...] = ()
    interleaved: bool = False
    queries: bool = True
    keys: bool = True
    sign: int = 1
    amplitude: float = 1.0

    def product(self, q: Tensor, k: Tensor, t: Tensor, s: Tensor) -> Tensor:
        """The product of turned q (…, Tq, d) and k (…, Tk, d), without scale or bias."""
        q, k = q.double(), k.double()
        left = self._turned(q, t) if self.queries else q
        right = self._turned(k, s) if self.keys else k
        return left @ right.mT

    def allowed(self, q: Tensor, k: Tensor, t: Tensor, s: Tensor, dtype: str) -> Tensor:
        """How far σ times that product may be off, with angles in float32."""
        norms = q.double().norm(dim=-1)[..., :, None] * k.double().norm(dim=-1)[..., None, :]
        fastest = max(self.waves, default=0.0)
        errors = []
        for positions in (t, s):
            table = budget.single_angle_entry(
                positions.double() * fastest, frequency_roundings=math.log(1e7) + 3
            )
            errors.append(budget.rotated_vector(table if self.waves else 0.0, dtype))
        left, right = (torch.as_tensor(error, dtype=torch.float64) for error in errors)
        left, right = left.reshape(-1, 1), right.reshape(1, -1)
        score = budget.score_of_vectors(norms, left, right, q.shape[-1], dtype)
        return budget.logit(abs(self.scale), norms, score, 0.0, dtype)

    def _turned(self, x: Tensor, positions: Tensor) -> Tensor:
        if not self.waves:
            return x
        angle = positions.double()[:, None] * self.sign * torch.tensor(self.waves, dtype=torch.float64)
        c, s, width = angle.cos(), angle.sin(), 2 * len(self.waves)
        head, tail = x[..., :width], x[..., width:]
        x0, x1 = (head[..., ::2], head[..., 1::2]) if self.interleaved else head.chunk(2, -1)
        y = (x0 * c - x1 * s, x0 * s + x1 * c)
        turned = torch.stack(y, -1).flatten(-2) if self.interleaved else torch.cat(y, -1)
        return torch.cat((turned, tail), -1)


def claimed(claims: Claims) -> Form | None:
    """The form of a claimed ALiBi or rotary encoding; None where neither is claimed."""
    if isinstance(claims.encoding, Alibi):
        plain, rule = claims.head_dim**-0.5, spec(claims)
        assert rule is not None
        slopes = rule.values(claims.heads) * (plain if claims.encoding.scaled else 1.0)
        return None if bool(slopes.isnan().any()) else Form(plain, plain, slopes)
    if not isinstance(claims.encoding, Rotary) or claims.encoding.sections:
        return None
    rotary = claims.encoding
    plain = (rotary.head_dim + rotary.apart) ** -0.5
    table = rotary.frequencies(claims.longest)
    amplitude = float(table.attention_factor)
    interleaved = {"half": False, "interleaved": True, None: bool(rotary.interleaved)}[claims.pairing]
    return Form(
        plain * float(rotary.softmax_factor) * amplitude**2,
        plain,
        None,
        tuple(float(w) for w in table.exact),
        interleaved,
        sign=-1 if claims.direction == "clockwise" else 1,
        amplitude=amplitude,
    )


def scales(form: Form, claims: Claims) -> Iterator[tuple[str, float]]:
    """Scales that are taken for the claimed one, in words."""
    rotary = claims.rotary
    factor = 1.0 if rotary is None else float(rotary.softmax_factor)
    square = form.amplitude**2
    if factor != 1:
        yield "the factor of the softmax is missing", form.scale / factor
        yield "the factor of the softmax is applied twice", form.scale * factor
    if square != 1:
        yield "the amplitude of the tables is missing", form.scale / square
        yield (
            "the amplitude m is applied in the tables and again, squared, in the scale: m^4",
            (form.scale * square),
        )
        yield "the amplitude is applied on one side only", form.scale / form.amplitude
    yield "1/√d is missing", form.scale / form.plain
    yield "1/√d is applied twice", form.scale * form.plain
    yield "1/√d of another part of the head", form.scale / form.plain * claims.head_dim**-0.5


def turns(form: Form) -> Iterator[tuple[str, Form]]:
    """What goes wrong with turning, each as the form it gives."""
    yield "keys are not turned", replace(form, keys=False)
    yield "queries are not turned", replace(form, queries=False)
    yield "nothing turns", replace(form, waves=())
    other = "half" if form.interleaved else "interleaved"
    yield f"planes are {other}", replace(form, interleaved=not form.interleaved)
    yield "planes turn the other way", replace(form, sign=-form.sign)
