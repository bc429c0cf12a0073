"""Cases by kind: inputs, exact outputs, how far a program may be off, and what usual mistakes would give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from ....numeric import exact
from ....numeric.angles import frequency_tensor
from ....numeric.layout import join_pairs, split_pairs
from ....symbolic.catalogue.alibi import slopes as alibi_slopes
from ....symbolic.configs.description import Alibi, Rotary
from ....symbolic.scaling import Frequencies
from ... import budget
from ...errors import BadClaim
from ..claims import Claims, rope
from ..identify.explain import claimed

Guess = tuple[str, str, Tensor]  # code, the mistake in words, what it gives


@dataclass(frozen=True)
class Case:
    """One call. expected, allowed: float64. unit: what `allowed` is relative to, in words."""

    name: str
    kind: str
    inputs: dict[str, Tensor]
    expected: Tensor
    allowed: Tensor
    law: str
    guesses: Callable[[], Iterator[Guess]]


def inputs_of(kind: str, claims: Claims) -> dict[str, dict[str, Tensor]]:
    """Inputs of every case, by its name; the same for the same claims."""
    last = claims.longest - 1
    spans = {
        "start": [0, 1, 2, 3],
        "middle": [last // 9, last // 7, last // 5, last // 3],
        "far": [last // 2, last - 2, last - 1, last],
    }
    if kind == "tables":
        return {name: {"position_ids": torch.tensor(ids)} for name, ids in spans.items()}
    if kind == "rotary":
        random = torch.Generator().manual_seed(23)
        form, d = getattr(torch, claims.dtype), claims.head_dim
        units = torch.eye(d)[None, :, None].expand(1, d, 2, d).contiguous().to(form)
        found = {"units": {"x": units, "position_ids": torch.tensor([0, 1])}}
        for name, ids in spans.items():
            x = torch.randn(1, 2, 4, d, generator=random).to(form)
            found[name] = {"x": x, "position_ids": torch.tensor(ids)}
        return found
    if kind == "slopes":
        return {
            f"{n} heads": {"num_heads": torch.tensor(n)} for n in dict.fromkeys((8, 12, 40, claims.heads))
        }
    if kind == "bias":
        sizes = {"square": (6, 6), "step": (1, 9), "chunk": (3, 64)}
        return {
            name: {"query_length": torch.tensor(a), "key_length": torch.tensor(b)}
            for name, (a, b) in sizes.items()
        }
    if kind == "inv_freq":
        return {"frequencies": {"seq_len": torch.tensor(claims.longest)}}
    raise BadClaim(f"kind is {kind!r}; {', '.join(MAKERS)} works here")


def case_of(kind: str, claims: Claims, name: str, inputs: dict[str, Tensor]) -> Case:
    """What is exact for given inputs; BadClaim where the claims do not say it."""
    if kind not in MAKERS:
        raise BadClaim(f"kind is {kind!r}; {', '.join(MAKERS)} works here")
    return MAKERS[kind](claims, name, inputs)


def _rotary_claim(claims: Claims) -> Rotary:
    if claims.rotary is None:
        raise BadClaim("nothing says which frequencies are right; --base or --config works")
    return claims.rotary


def _neighbours(claims: Claims) -> bool:
    if claims.pairing is not None:
        return claims.pairing == "interleaved"
    return bool(claims.rotary and claims.rotary.interleaved)


def _rotary(claims: Claims, name: str, inputs: dict[str, Tensor]) -> Case:
    encoding, paired = _rotary_claim(claims), _neighbours(claims)
    found = encoding.frequencies(claims.longest)
    factor = float(found.attention_factor)
    x, ids = inputs["x"], inputs["position_ids"]
    turning = Frequencies(found.exact)
    wide = x.double()
    expected = wide.clone()
    rotated = exact.rotary_embedding(wide, turning, ids, interleaved=paired)
    width = 2 * len(found.exact)
    expected[..., :width] = factor * rotated[..., :width]
    told = claimed(encoding, claims.longest)
    waves = frequency_tensor(found).double()
    errors = torch.zeros_like(waves)
    errors[waves != 0] = told.errors
    angle = ids.double()[:, None] * waves
    entry = budget.single_angle_entry(angle, max(factor, 1.0), frequency_roundings=errors / 2.0**-24)
    x0, x1 = split_pairs(wide[..., :width], paired)
    cos, sin = factor * angle.cos().abs(), factor * angle.sin().abs()
    halves = [
        budget.coordinate(a.abs() * cos, b.abs() * sin, entry, a.abs() + b.abs(), claims.dtype)
        for a, b in ((x0, x1), (x1, x0))
    ]
    allowed = torch.zeros_like(wide)
    allowed[..., :width] = join_pairs(halves[0], halves[1], paired)
    allowed = budget.rounded(expected.abs(), allowed, claims.dtype)
    allowed[..., width:] = 0.0  # copied

    def guesses() -> Iterator[Guess]:
        yield from _turns(claims, wide, ids, waves, factor)

    law = "features turn by position times frequency; the others are copied"
    return Case(name, "rotary", inputs, expected, allowed, law, guesses)


def _turned(
    x: Tensor, ids: Tensor, waves: Tensor, paired: bool, factor: float, form: str = "float64"
) -> Tensor:
    angle = (ids.double()[:, None] * waves).to(getattr(torch, form)).double()
    cos, sin = factor * angle.cos(), factor * angle.sin()
    width = 2 * len(waves)
    x0, x1 = split_pairs(x[..., :width], paired)
    turned = join_pairs(x0 * cos - x1 * sin, x0 * sin + x1 * cos, paired)
    return torch.cat((turned, x[..., width:]), -1)


def _turns(claims: Claims, x: Tensor, ids: Tensor, waves: Tensor, factor: float) -> Iterator[Guess]:
    """Usual mistakes of a rotary kernel."""
    paired = _neighbours(claims)
    names = {True: "interleaved", False: "half-split"}
    other = f"features turn {names[not paired]}, claimed {names[paired]}"
    yield "pairing", other, _turned(x, ids, waves, not paired, factor)
    yield (
        "direction",
        "planes turn the other way: the sign of the sine",
        _turned(x, ids, -waves, paired, factor),
    )
    for step in (1, -1):
        words = f"positions are read as position {'+' if step > 0 else '-'} 1"
        yield "origin", words, _turned(x, ids + step, waves, paired, factor)
    yield "value", "nothing is turned", x
    if factor != 1:
        yield "amplitude", "the attention factor is left out", _turned(x, ids, waves, paired, 1.0)
    for words, wrong in _other_waves(claims, len(waves)):
        yield "value", words, _turned(x, ids, wrong, paired, factor)
    for form in ("bfloat16", "float16"):
        yield "angle-precision", f"angles are rounded to {form}", _turned(x, ids, waves, paired, factor, form)


def _other_waves(claims: Claims, count: int) -> Iterator[tuple[str, Tensor]]:
    encoding = _rotary_claim(claims)
    base = encoding.parameters["rope_theta"]
    for other in (10000, 500000, 1000000):
        plain = frequency_tensor(rope(other, 2 * count).frequencies()).double()
        yield f"frequencies are those of base {other}, without scaling", plain
    for size in dict.fromkeys((encoding.head_dim, 4 * count)):
        if size != 2 * count:
            whole = frequency_tensor(rope(base, size).frequencies()).double()[:count]
            yield f"exponents are 2i/{size}, where 2i/{2 * count} is due", whole


def _tables(claims: Claims, name: str, inputs: dict[str, Tensor]) -> Case:
    """Angles of every plane: cos and sin, stacked (2, T, pairs)."""
    encoding = _rotary_claim(claims)
    found = encoding.frequencies(claims.longest)
    told, factor = claimed(encoding, claims.longest), float(found.attention_factor)
    ids = inputs["position_ids"]
    cos, sin = exact.rotary_table(Frequencies(found.exact), ids, dtype=torch.float64)
    waves = frequency_tensor(found).double()
    errors = torch.zeros_like(waves)
    errors[waves != 0] = told.errors
    angle = ids.double()[:, None] * waves
    entry = budget.single_angle_entry(angle, max(factor, 1.0), frequency_roundings=errors / 2.0**-24)
    expected = factor * torch.stack((cos, sin))

    def stacked(w: Tensor, at: Tensor, amplitude: float = factor) -> Tensor:
        turn = at.double()[:, None] * w
        return amplitude * torch.stack((turn.cos(), turn.sin()))

    def guesses() -> Iterator[Guess]:
        yield "direction", "the sine has the other sign", stacked(-waves, ids)
        yield "value", "sin stands before cos", expected.flip(0)
        yield "origin", "positions are read as position + 1", stacked(waves, ids + 1)
        yield "amplitude", "the attention factor is left out", stacked(waves, ids, 1.0)
        for words, wrong in _other_waves(claims, len(waves)):
            yield "value", words, stacked(wrong, ids)

    law = "cos and sin of position times frequency, stacked (2, positions, planes)"
    return Case(name, "tables", inputs, expected, entry.expand_as(expected), law, guesses)


def _slopes_of(claims: Claims, heads: int) -> Tensor:
    told = claims.encoding
    if isinstance(told, Alibi) and len(told.slopes) == heads:
        return torch.tensor([float(m) for m in told.slopes], dtype=torch.float64)
    return torch.tensor([float(m) for m in alibi_slopes(heads)], dtype=torch.float64)


def _slope_errors(slopes: Tensor) -> Tensor:
    powers = torch.arange(1, len(slopes) + 1, dtype=torch.float64)
    return budget.slope_entry(slopes, powers, "float32")


def _slopes(claims: Claims, name: str, inputs: dict[str, Tensor]) -> Case:
    heads = int(inputs["num_heads"])
    expected = _slopes_of(claims, heads)
    h = torch.arange(heads, dtype=torch.float64)

    def guesses() -> Iterator[Guess]:
        yield "slope-sign", "slopes are negative", -expected
        yield "slope-value", "the head index counts from 0 in the exponent", 2.0 ** (-8 * h / heads)
        yield "slope-value", "one geometric sequence for every number of heads", 2.0 ** (-8 * (h + 1) / heads)
        yield "slope-value", "slopes are sorted", expected.sort(descending=True).values

    return Case(name, "slopes", inputs, expected, _slope_errors(expected), "the slopes of the heads", guesses)


def _bias(claims: Claims, name: str, inputs: dict[str, Tensor]) -> Case:
    queries, keys = int(inputs["query_length"]), int(inputs["key_length"])
    slopes = _slopes_of(claims, claims.heads)
    gap = (keys - queries + torch.arange(queries)[:, None] - torch.arange(keys)[None]).double()
    expected = -slopes[:, None, None] * gap
    size = (slopes + _slope_errors(slopes))[:, None, None] * gap.abs()
    allowed = _slope_errors(slopes)[:, None, None] * gap.abs() + 2.0**-24 * size

    def guesses() -> Iterator[Guess]:
        yield "bias-sign", "the bias grows with distance", -expected
        yield (
            "bias-offset",
            "queries count from 0, whatever came before",
            expected + slopes[:, None, None] * (keys - queries),
        )
        yield "bias-linear", "the bias is symmetric, -m|t - s|", -slopes[:, None, None] * gap.abs()

    return Case(name, "bias", inputs, expected, allowed, "a bias -m(t - s), later keys included", guesses)


def _inv_freq(claims: Claims, name: str, inputs: dict[str, Tensor]) -> Case:
    encoding, seq_len = _rotary_claim(claims), int(inputs["seq_len"])
    found = encoding.frequencies(seq_len)
    expected = frequency_tensor(found).double()
    told = claimed(encoding, seq_len)
    allowed = torch.zeros_like(expected)
    allowed[expected != 0] = told.errors * told.waves + 2 * budget.single_angle_entry(0.0) * told.waves

    def guesses() -> Iterator[Guess]:
        for words, wrong in _other_waves(claims, len(expected)):
            yield "frequency", words, wrong

    law = "radians a position of every plane"
    return Case(name, "inv_freq", inputs, expected, allowed, law, guesses)


MAKERS: dict[str, Callable[[Claims, str, dict[str, Tensor]], Case]] = {
    "rotary": _rotary,
    "tables": _tables,
    "slopes": _slopes,
    "bias": _bias,
    "inv_freq": _inv_freq,
}
CODES_OF = {
    "rotary": "value",
    "tables": "value",
    "slopes": "slope-value",
    "bias": "bias-linear",
    "inv_freq": "frequency",
}
