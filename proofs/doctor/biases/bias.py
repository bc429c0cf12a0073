"""A bias, examined: (query_length, key_length) -> (heads, Tq, Tk), up to a constant a row."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from ....numeric.rounding import unit_roundoff
from ..findings import Diagnosis, Finding, Measured
from ..say import Say
from ..subject import Subject
from .judged import Outcome, judged
from .linear import allowed, expected, identified, named
from .matrix import Biases, bias_of, gaps, read, seen, visible
from .rules import spec

NAMES = ("head", "query", "key")
LOCAL = "queries are taken to stand at their index in the call, not at Tk - Tq + i"


def examine(given: Subject, level: str, say: Say) -> Diagnosis:
    """A square, decoding steps, and chunks; Failed where it cannot be called."""
    found = read(given)
    line = identified(found, given.claims)
    outcomes = list(_outcomes(given, found, line))
    unjudged = []
    if spec(given.claims) is None:
        unjudged.append("whether this bias is the right one: claim the encoding with --config")
    if line is None:
        words = f"adds to {found.heads} heads a bias that is not linear in the gap"
    else:
        sign = "+" if bool((line < 0).all()) else "-"
        distance = "(t-s)" if given.claims.causal else "|t-s|"
        words = f"adds {sign}m{distance} with {named(line, given.claims)}, up to a constant a row"
    findings = tuple(f for f in outcomes if isinstance(f, Finding))
    held = tuple(f for f in outcomes if isinstance(f, Measured))
    return Diagnosis(given.name, given.kind, words, findings, held, tuple(unjudged))


def _outcomes(given: Subject, found: Biases, line: Tensor | None) -> Iterator[Outcome]:
    hidden = _hidden(given, found)
    if hidden is not None:
        yield hidden
        return
    whole = found.square.shape[-1]
    told = expected(given.claims, found.heads)
    right = told if told is not None else line
    if line is None:
        if told is not None:
            cause = _cause(found.square, told, given)
            code = "bias-linear" if given.claims.causal else "bias-symmetry"
            yield judged(code, *_off(found.square, told, given), NAMES, cause, _repro(whole, whole))
        else:
            yield _relative(found, given)
    elif bool((line < 0).any()):
        head = int((line < 0).nonzero()[0])
        cause = "the bias grows with distance: the minus is missing"
        reproduction = _repro(whole, whole)
        yield Finding("bias-sign", f"head {head}, query 1, key 0", None, None, cause, reproduction)
    elif right is not None:
        cause = "" if told is None else named(line, given.claims)
        yield judged("bias-linear", *_off(found.square, right, given), NAMES, cause, _repro(whole, whole))
    yield from _parts(given, found, line)
    yield _again(given, found)
    if given.make is not None:
        yield from _instances(given, found)


def _off(bias: Tensor, slopes: Tensor, given: Subject) -> tuple[Tensor, Tensor]:
    """|b - (-m |t - s|)| between each key and the one where the query stands, and what is allowed."""
    gap = gaps(bias)
    right = -slopes[:, None, None] * gap.abs()
    off = (seen(bias) - right).abs()
    room = allowed(slopes, bias, given.claims.table)
    shown = visible(bias, given.claims.causal)
    return torch.where(shown, off, 0.0), torch.where(shown, room, 0.0)


def _hidden(given: Subject, found: Biases) -> Finding | None:
    """Keys that should be seen, but have -inf or the least number of their format."""
    for (rows, keys), bias in found.all().items():
        gone = visible(bias, given.claims.causal) & bias.isneginf()
        if bool(gone.any()):
            head, query, key = gone.nonzero()[0].tolist()
            ahead = bool(key - query > keys - rows)
            cause = "later keys are hidden, though causal=False is claimed" if ahead else "unknown"
            return Finding(
                "bias-mask", f"head {head}, query {query}, key {key}", None, None, cause, _repro(rows, keys)
            )
    return None


def _cause(bias: Tensor, slopes: Tensor, given: Subject) -> str:
    """The known faults, each by the bias it gives."""
    rows, keys = bias.shape[-2:]
    i, j = torch.arange(rows).double()[:, None], torch.arange(keys).double()
    room = allowed(slopes, bias, given.claims.table)
    shown, here, m = visible(bias, given.claims.causal), seen(bias), slopes[:, None, None]
    for words, right in (
        (LOCAL, -m * (i - j).abs()),
        ("+m j, a bias of the key's index, which is -m|i - j| below the diagonal only", m * (j + 0 * i)),
        ("the bias grows with distance: the minus is missing", m * (keys - rows + i - j).abs()),
        ("no bias at all", 0 * m * (i + j)),
    ):
        if bool(((here - seen(right)).abs() <= room)[shown].all()):
            return words
    for short in (torch.bfloat16, torch.float16):
        name = str(short).removeprefix("torch.")
        near = ((here + m * gaps(bias).abs()).abs() <= allowed(slopes, bias, name))[shown].all()
        if bool(near) and torch.equal(bias.to(short).to(bias.dtype), bias):
            return f"the bias is rounded to {name}"
    return "unknown"


def _parts(given: Subject, found: Biases, line: Tensor | None) -> Iterator[Outcome]:
    """Decoding steps and chunks against the same rows of the square, or of a longer line."""
    worst = None
    for (rows, keys), part in found.parts.items():
        if keys <= found.square.shape[-1]:
            whole = found.square[:, keys - rows : keys, :keys]
            off = (seen(part) - seen(whole)).abs()
            slopes = part.new_zeros(found.heads) if line is None else line.abs()
            room = 2 * allowed(slopes, part, given.claims.table) + _stored(part, whole, given)
            shown = visible(part, given.claims.causal)
            off, room = torch.where(shown, off, 0.0), torch.where(shown, room, 0.0)
        elif line is not None:
            off, room = _off(part, line.abs(), given)
        else:
            continue
        told = expected(given.claims, found.heads)
        slopes = told if told is not None else line
        cause = "unknown" if slopes is None else _cause(part, slopes.abs(), given)
        if line is not None and bool((line < 0).any()) and keys > found.square.shape[-1]:
            continue
        longer = keys > found.square.shape[-1] and cause != LOCAL
        one = judged("bias-linear" if longer else "bias-offset", off, room, NAMES, cause, _repro(rows, keys))
        if isinstance(one, Finding):
            yield one
            return
        worst = one if worst is None or one.residual > worst.residual else worst
    if worst is not None:
        yield worst


def _stored(one: Tensor, other: Tensor, given: Subject) -> Tensor:
    """Both as they are kept, each key and the one where the query stands: 4u of the largest."""
    finite = torch.cat([bias[bias.isfinite()].abs() for bias in (one, other)])
    return torch.full_like(one, 4 * unit_roundoff(given.claims.table) * float(finite.max()))


def _relative(found: Biases, given: Subject) -> Outcome:
    """b(i, j) - b(i, i) against the last row, which has every gap (both ways: rows i and i + 1)."""
    here, rows = seen(found.square), found.square.shape[-1]
    off = torch.zeros_like(here)
    off[:, 1:, 1:] = (here[:, 1:, 1:] - here[:, :-1, :-1]).abs()
    room = _stored(found.square, found.square, given)
    shown = visible(found.square, given.claims.causal)
    off = torch.where(shown, off, 0.0)
    return judged("bias-relative", off, room, NAMES, "unknown", _repro(rows, rows))


def _again(given: Subject, found: Biases) -> Outcome:
    """A short call after all others."""
    rows, keys = next(iter(found.parts))
    again, before = bias_of(given, given.apply, rows, keys), found.parts[rows, keys]
    off = torch.where(again == before, 0.0, (again - before).abs())
    cause = "something is kept from call to call under too small a key"
    return judged("bias-again", off, torch.zeros_like(off), NAMES, cause, _repro(rows, keys))


def _instances(given: Subject, found: Biases) -> Iterator[Outcome]:
    """An instance of another number of heads, and then one of the first again."""
    key, assumed = "num_attention_heads", given.claims.heads
    rows, keys = found.square.shape[-2:]
    assert given.make is not None
    for heads in (2 * assumed, assumed):
        shown = f"bias = make({{{key!r}: {heads}}})({rows}, {keys})"
        text = f"make({{{key!r}: {3 * assumed - heads}}})({rows}, {keys})\n{shown}\nprint(bias.shape)"
        other = bias_of(given, given.make({key: heads}), rows, keys, heads=None)
        if other.shape[0] != heads:
            cause = f"an instance of {heads} heads has the bias of {other.shape[0]}: instances share a cache"
            yield Finding("bias-again", f"{heads} heads", None, None, cause, text)
            return
        if heads == assumed:
            off = torch.where(other == found.square, 0.0, (other - found.square).abs())
            cause = "instances share a cache"
            yield judged("bias-again", off, torch.zeros_like(off), NAMES, cause, text)


def _repro(rows: int, keys: int) -> str:
    return f"import torch\nbias = subject({rows}, {keys})\nprint(bias.shape, bias.diff(dim=-1)[0])"
