"""Planes of features and the generators that turn them: which features pair, and X = -ωJ on a pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy as sp

from ..block import Block
from ..errors import BadInput, WrongType
from ..exact import even, exact_entry
from ..frequencies import frequencies as base_frequencies
from ..generator import Generator
from ..kinds.generated import Generated
from ..scaling import Frequencies
from ..walk import shown

AS_ROPE = "as rope: an angle formed in float32 is off by up to about 2^-23·|ωt| radians"


def rotation(
    head_dim: object,
    rope_theta: object = 10000,
    rotary_dim: object = None,
    interleaved: object = False,
    frequencies: object = None,
    decay: sp.Expr = sp.S.Zero,
) -> tuple[int, Generator, dict[str, object]]:
    """(head_dim, X, the parameters to show) from the keywords of a rotary encoding."""
    size = even(head_dim, "head_dim")
    rotary = rotary_size(rotary_dim, size)
    turns = plane_frequencies(frequencies, rope_theta, rotary)
    generator = turning(size, pairs(rotary, flag(interleaved, "interleaved")), turns, decay)
    rates = rates_shown(frequencies, rope_theta, turns)
    return size, generator, {"head_dim": size, **rates, "rotary_dim": rotary, "interleaved": interleaved}


def rates_shown(given: object, rope_theta: object, turns: tuple[sp.Expr, ...]) -> dict[str, object]:
    """The parameter that fixed the frequencies: they themselves or the base."""
    return {"rope_theta": exact_entry(rope_theta, "rope_theta")} if given is None else {"frequencies": turns}


def flag(value: object, name: str) -> bool:
    """`value`, which must be True or False."""
    if not isinstance(value, bool):
        raise WrongType(f"{name} is {shown(value)}; True or False works")
    return value


def pairs(rotary_dim: int, interleaved: bool) -> list[tuple[int, int]]:
    """The planes: (2k, 2k+1) when interleaved, else half-split (k, k + rotary_dim/2)."""
    planes = range(rotary_dim // 2)
    return [(2 * k, 2 * k + 1) if interleaved else (k, k + rotary_dim // 2) for k in planes]


def rotary_size(rotary_dim: object, head_dim: int) -> int:
    """The number of rotated features, all of them if None."""
    size = head_dim if rotary_dim is None else even(rotary_dim, "rotary_dim")
    if size > head_dim:
        raise BadInput(f"rotary_dim is {size}, more than head_dim {head_dim}; at most head_dim features turn")
    return size


def plane_frequencies(given: object, rope_theta: object, rotary_dim: int) -> tuple[sp.Expr, ...]:
    """The explicit frequencies, one a plane, or those of the base when None.

    An explicit frequency may be 0 (its plane holds) or negative (it turns the other way), but of known sign.
    """
    if given is None:
        return base_frequencies(rope_theta, rotary_dim).exact
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise WrongType(
            f"frequencies is a {type(given).__name__}; a list with one exact number a plane works"
        )
    if len(given) != rotary_dim // 2:
        raise BadInput(
            f"frequencies has {len(given)} entries; {rotary_dim} features make {rotary_dim // 2} planes"
        )
    return tuple(
        _signed(exact_entry(w, f"frequencies[{k}]"), f"frequencies[{k}]") for k, w in enumerate(given)
    )


def _signed(frequency: sp.Expr, name: str) -> sp.Expr:
    if frequency.is_positive or frequency.is_negative or frequency.is_zero:
        return frequency
    raise BadInput(
        f"{name} is {frequency}, whose sign is not known; declare its symbols, "
        "e.g. Symbol('w', positive=True)"
    )


def turning(
    head_dim: int, planes: Sequence[tuple[int, int]], turns: Sequence[sp.Expr], decay: sp.Expr = sp.S.Zero
) -> Generator:
    """X = -γI - ω_k J on plane k, and -γ on features in no plane.

    The canonical block is -γI + ωJ; the basis carries the pairing, and diag(1, -1) on a plane with ω > 0.
    """
    blocks: list[Block] = []
    columns: list[tuple[int, int]] = []
    for (i, j), turn in zip(planes, turns, strict=True):
        if turn.is_zero:
            blocks += [Block(decay), Block(decay)]
            columns += [(i, 1), (j, 1)]
        else:
            ahead = turn.is_positive
            blocks.append(Block(decay, turn if ahead else -turn))
            columns += [(i, 1), (j, -1 if ahead else 1)]
    moved = {i for plane in planes for i in plane}
    for i in range(head_dim):
        if i not in moved:
            blocks.append(Block(decay))
            columns.append((i, 1))
    basis = sp.SparseMatrix(head_dim, head_dim, {(row, k): sign for k, (row, sign) in enumerate(columns)})
    return Generator.direct_sum(*blocks, basis=sp.ImmutableMatrix(basis))


def scaled(name: str, table: Frequencies, interleaved: object, parameters: Mapping[str, object]) -> Generated:
    """The rotary member with the frequencies and the amplitude of a rule, all features turning."""
    size = 2 * len(table)
    generator = turning(size, pairs(size, flag(interleaved, "interleaved")), table.exact)
    given = {"head_dim": size, **parameters, "interleaved": interleaved}
    return Generated(name, given, size, generator, amplitude=table.attention_factor)
