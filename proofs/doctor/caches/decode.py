"""(q, k, v, cache) -> (out, cache), examined: prefill, steps and chunks of one text."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from ....numeric.layout import heads_first
from ..call import called, shaped, shown
from ..claims import Claims
from ..codes import CODES
from ..failed import Failed
from ..findings import Diagnosis, Finding, Measured
from ..say import Say
from ..subject import Subject
from .guesses import CENTRES, Centre, guesses, moved_centre
from .reference import Places, allowed, attended, proper

Outcome = Finding | Measured
SPLITS = ((5, 1, 1, 1, 1), (1, 1, 1, 1), (4, 3, 9), (24, 1, 1))


@dataclass(frozen=True)
class Text:
    """Random q (2, heads, T, d), k and v (2, kv_heads, T, d)."""

    subject: Subject
    q: Tensor
    k: Tensor
    v: Tensor

    @property
    def claims(self) -> Claims:
        """Of the subject."""
        return self.subject.claims

    def budget(self, start: int, count: int) -> Tensor:
        """How far each output of tokens start, … may be off."""
        total = start + count
        q, k, v = self.q[:, :, start:total], self.k[:, :, :total], self.v[:, :, :total]
        return allowed(q, k, v, self.claims, proper(start, count))

    def run(self, sizes: tuple[int, ...], rows: slice = slice(None)) -> list[Tensor]:
        """The output of each call, on the first tokens in pieces of these sizes."""
        cache: Any = None
        outputs, start = [], 0
        for count in sizes:
            out, cache = self.step(start, count, cache, rows)
            outputs.append(out)
            start += count
        return outputs

    def step(self, start: int, count: int, cache: Any, rows: slice = slice(None)) -> tuple[Tensor, Any]:
        """One call on tokens start, …; its output with heads first, and the cache."""
        layout = self.claims.layout
        pieces = (x[rows, :, start : start + count] for x in (self.q, self.k, self.v))
        found = called(self.subject.apply, *(heads_first(x, layout).contiguous() for x in pieces), cache)
        if not (isinstance(found, tuple) and len(found) == 2):
            raise Failed(f"returned {shown(found)}; (out, cache) was expected")
        shape = tuple(heads_first(self.q[rows, :, start : start + count], layout).shape)
        return heads_first(shaped(found[0], shape), layout).double(), found[1]


def text(subject: Subject, length: int = 33) -> Text:
    """A text of tokens whose logits are of order 1."""
    claims, random = subject.claims, torch.Generator().manual_seed(5)
    kv, d = claims.kv_heads or claims.heads, claims.head_dim
    dtype = getattr(torch, claims.dtype)
    q = torch.randn(2, claims.heads, length, d, generator=random).to(dtype)
    k, v = (torch.randn(2, kv, length, d, generator=random).to(dtype) for _ in range(2))
    return Text(subject, q, k, v)


def examine(subject: Subject, level: str, say: Say) -> Diagnosis:
    """Values where an encoding is claimed, then calls against each other."""
    given = text(subject)
    given.run((4, 1))  # Failed here where it cannot be called at all
    outcomes: list[Outcome] = []
    for law in (values, decoding, branches, batch, order):
        say(law.__name__)
        try:
            outcomes += law(given)
        except Failed as failed:
            code = {"values": "attention-value", "batch": "batch"}.get(law.__name__, "decode")
            outcomes.append(Finding(code, law.__name__, None, None, str(failed), _show((5, 1))))
    findings = tuple(one for one in outcomes if isinstance(one, Finding))
    measured = tuple(one for one in outcomes if isinstance(one, Measured))
    unjudged = []
    if subject.claims.encoding is None:
        unjudged.append("whether the weights are right: claim the encoding with --config or --spec")
    if not any(one.law == CODES["decode-state"].law for one in measured) and not findings:
        unjudged.append("two continuations of one cache: it cannot be copied")
    named = "decodes with a cache" + (", in agreement with prefill" if not findings else "")
    return Diagnosis(subject.name, subject.kind, named, findings, measured, tuple(unjudged))


def values(given: Text) -> Iterator[Outcome]:
    """Prefill against float64 attention under the claim."""
    if given.claims.encoding is None:
        return
    (found,) = given.run((24,))
    right = _at(given, proper(0, 24), 24)
    yield _judged(
        "attention-value", (24,), found, right, given.budget(0, 24), partial(_cause, given, (24,), found)
    )


def decoding(given: Text) -> Iterator[Outcome]:
    """Each call against a prefill of the text so far; its last token where the length sets the angles."""
    worst = Measured(CODES["decode"].law, 0.0, 1.0)
    for sizes in SPLITS:
        outputs = given.run(sizes)
        for n in range(1, len(sizes)):
            so_far = sizes[: n + 1]
            (whole,) = given.run((sum(so_far),))
            told = given.claims.rotary
            count = 1 if told is not None and told.length_dependent else sizes[n]
            last, right = outputs[n][:, :, -count:], whole[:, :, -count:]
            cause = partial(_cause, given, so_far, outputs[n])
            near = 2 * given.budget(sum(so_far) - count, count)
            found = _judged("decode", so_far, last, right, near, cause)
            if isinstance(found, Finding):
                yield found
                return
            if found.residual / found.budget >= worst.residual / worst.budget:
                worst = found
    yield worst


def branches(given: Text) -> Iterator[Outcome]:
    """Two continuations of one cache; a cache that cannot be copied is left alone."""
    _, cache = given.step(0, 6, None)
    try:
        kept = copy.deepcopy(cache)
    except Exception:  # what a cache of somebody's raises when it is copied
        return
    one, _ = given.step(6, 3, cache)
    two, _ = given.step(6, 3, kept)
    if not torch.equal(one, two):
        cause = "a copy of the cache gives another result: something is kept beside it"
        yield Finding("decode-state", "two continuations", None, None, cause, _show((6, 3)))
    else:
        yield Measured(CODES["decode-state"].law, 0.0, 0.0)


def batch(given: Text) -> Iterator[Outcome]:
    """The second row alone, by prefill and steps."""
    beside, alone = given.run((5, 1, 1)), given.run((5, 1, 1), slice(1, 2))
    cause = "a row depends on the rows around it"
    allowed_last = 2 * given.budget(6, 1)[1:]
    yield _judged("batch", (5, 1, 1), beside[-1][1:], alone[-1], allowed_last, lambda: cause)


def order(given: Text) -> Iterator[Outcome]:
    """A short text, a long one, the short one again, each with a cache of its own."""
    before = given.run((3, 1))
    given.run((33,))
    after = given.run((3, 1))
    if not all(torch.equal(a, b) for a, b in zip(before, after, strict=True)):
        cause = "a long text changes the next short one: something is kept beside the cache"
        yield Finding("decode-state", "a short text after a long one", None, None, cause, _show((3, 1)))


def _at(given: Text, places: Places, total: int) -> Tensor:
    count = len(places.queries)
    q = given.q[:, :, total - count : total]
    return attended(q, given.k[:, :, :total], given.v[:, :, :total], given.claims, places)


def _cause(given: Text, sizes: tuple[int, ...], found: Tensor) -> str:
    """The first mistake that gives this output, under the claimed encoding."""
    if given.claims.encoding is None:
        return "unknown; with a claimed encoding, usual mistakes are tried"
    total = sum(sizes)
    near = given.budget(total - sizes[-1], sizes[-1])
    for words, guess in guesses(given.claims.encoding).items():
        wrong = _at(given, guess(sizes), total)
        if bool(((wrong - found).abs() <= near).all()):
            return words
    for words, centre in CENTRES.items():
        wrong = _centred(given, sizes, centre)
        if wrong is not None and bool(((wrong - found).abs() <= near).all()):
            return words
    return "unknown"


def _centred(given: Text, sizes: tuple[int, ...], centre: Centre) -> Tensor | None:
    """As it should be, but each key scaled by its own call's centre; None where nothing is scaled."""
    factors = moved_centre(given.claims.encoding, sizes, centre)
    if factors is None:
        return None
    total = sum(sizes)
    q, k = given.q[:, :, total - sizes[-1] : total], given.k[:, :, :total].double() * factors
    return attended(q, k, given.v[:, :, :total], given.claims, proper(total - sizes[-1], sizes[-1]))


def _judged(code, sizes: tuple[int, ...], found: Tensor, right: Tensor, allowed: Tensor, cause) -> Outcome:
    off = (found - right).abs()
    beyond = (~(off <= allowed)).nonzero()
    if not len(beyond):
        return Measured(CODES[code].law, *_worst(off, allowed))
    at = tuple(beyond[0].tolist())
    where = f"calls of {', '.join(map(str, sizes))} tokens, entry {list(at)} of the last output"
    return Finding(code, where, float(off[at]), float(allowed[at]), cause(), _show(sizes))


def _worst(off: Tensor, allowed: Tensor) -> tuple[float, float]:
    at = int((off / allowed).argmax())
    return float(off.flatten()[at]), float(allowed.flatten()[at])


def _show(sizes: tuple[int, ...]) -> str:
    total = sum(sizes)
    return (
        f"q = k = v = torch.randn(1, heads, {total}, head_dim); cache = None\n"
        f"for part in torch.arange({total}).split({list(sizes)}):\n"
        "    out, cache = subject(q[:, :, part], k[:, :, part], v[:, :, part], cache)"
    )
