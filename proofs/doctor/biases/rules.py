"""Rules for the slopes of n heads: the one of the authors' code, and those that are taken for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from ....symbolic.catalogue.alibi import slopes
from ....symbolic.configs.description import Alibi
from ...budget import gamma, slope_entry
from ..claims import Claims

CODE_RULE = "the slopes of the authors' code"
PAPER = "one geometric sequence for every n, 2^(-8(h+1)/n)"
Slopes = dict[int, Tensor]  # the number of heads -> their slopes, float64


@dataclass(frozen=True)
class Rule:
    """values: of a number of heads, float64. convention: whether models use it, and it is no known fault."""

    words: str
    values: Callable[[int], Tensor]
    convention: bool = False


@cache
def code(n: int) -> Tensor:
    """With c the largest power of two <= n: 2^(-8(h+1)/c) for c heads, then 2^(-4(2k+1)/c); float64."""
    return torch.tensor([float(m) for m in slopes(n)], dtype=torch.float64)


def powers(n: int) -> Tensor:
    """Which power of the first slope each slope is: 1 … c, then 1, 3, 5, … of 2c heads."""
    c = 1 << (n.bit_length() - 1)
    return torch.tensor([*range(1, c + 1), *range(1, 2 * (n - c), 2)], dtype=torch.float64)


def allowed(n: int, values: Tensor, table: str) -> Tensor:
    """How far a right slope may be off, an entry each."""
    return slope_entry(values, powers(n), table)


def spec(claims: Claims) -> Rule | None:
    """The rule that is claimed: at the claimed number of heads its slopes, at others where they follow."""
    if not isinstance(claims.encoding, Alibi):
        return None
    told = torch.tensor([float(m) for m in claims.encoding.slopes], dtype=torch.float64)
    power = float(told[0].log2() / code(len(told))[0].log2()) if bool(told[0] > 0) else math.nan
    for rule in (raised(power), Rule(PAPER, paper, True)):
        if torch.allclose(told, rule.values(len(told)), rtol=gamma(16, "float64"), atol=0):
            return rule
    return Rule("the claimed slopes", lambda n: told if n == len(told) else torch.full((n,), math.nan), True)


def raised(power: float) -> Rule:
    """The code rule with 8·power in place of 8: alibi_bias_max."""
    words = CODE_RULE if power == 1 else f"{CODE_RULE}, with {8 * power:g} in place of 8"
    return Rule(words, lambda n: code(n) ** power, True)


def paper(n: int) -> Tensor:
    """2^(-8(h+1)/n)."""
    return 2.0 ** (-8 * torch.arange(1, n + 1, dtype=torch.float64) / n)


def faults() -> Iterator[Rule]:
    """What goes wrong, each as the slopes it gives."""
    yield Rule("head index from 0 in the exponent, 2^(-8h/n)", lambda n: paper(n) * 2.0 ** (8 / n))
    yield Rule("head index from 0 in the exponent, 2^(-8h/c)", _from_zero)
    for parts in (2, 4, 8):
        words = f"each of {parts} parts of the heads begins with the first slope: no offset of its rank"
        yield Rule(words, lambda n, parts=parts: _in_parts(n, parts, code(n)))
        words = f"each of {parts} parts has the slopes of its own number of heads"
        yield Rule(words, lambda n, parts=parts: _in_parts(n, parts, code(max(1, n // parts))))
    yield Rule("the first n slopes of the next power of two", lambda n: code(1 << (n - 1).bit_length())[:n])
    yield Rule("the slopes in falling order", lambda n: code(n).sort(descending=True).values)
    yield Rule("the slopes of the authors' code with a minus", lambda n: -code(n))


def _in_parts(n: int, parts: int, first: Tensor) -> Tensor:
    """The first slopes again in every part; as they should be where heads cannot be shared out."""
    return code(n) if n % parts else first[torch.arange(n) % (n // parts)]


def _from_zero(n: int) -> Tensor:
    c = 1 << (n.bit_length() - 1)
    first = 2.0 ** (-8 * torch.arange(c, dtype=torch.float64) / c)
    return torch.cat((first, 2.0 ** (-4 * (2 * torch.arange(n - c, dtype=torch.float64) - 1) / c)))


def conventions(found: Slopes) -> Iterator[Rule]:
    """What a model may well use: the code rule, the formula of the paper, and another span than 8."""
    yield raised(1.0)
    yield Rule(PAPER, paper, True)
    n, values = max(found.items(), key=lambda item: item[0] & (item[0] - 1) == 0)
    power = round(float(values[0].log2() / code(n)[0].log2()) * 64) / 64 if bool(values[0] > 0) else 0.0
    if power > 0:
        yield raised(power)


def fits(
    rule: Rule, found: Slopes, table: str, rounding: torch.dtype | None = None, read: float = 0.0
) -> bool:
    """Whether all slopes are those of the rule, or those after `rounding`; read: error of reading them."""
    for n, values in found.items():
        right = rule.values(n)
        room = allowed(n, right.abs(), table) + read
        if rounding is not None:
            right = right.to(rounding).to(torch.float64)
        if not bool(((values - right).abs() <= room).all()):
            return False
    return True


def explained(
    found: Slopes, rules: Sequence[Rule], table: str, read: float = 0.0
) -> tuple[Rule, str | None] | None:
    """The first rule that gives all slopes, and the shorter format they were rounded to, if so."""
    for rounding in (None, torch.bfloat16, torch.float16):
        for rule in rules:
            if fits(rule, found, table, rounding, read):
                name = None if rounding is None else str(rounding).removeprefix("torch.")
                return rule, name if name != table else None
    return None
