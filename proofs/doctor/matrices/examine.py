"""(X) -> exp(X) for X (..., d, d), examined against ball arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import flint
import torch
from torch import Tensor

from ... import budget
from ..call import called, shaped
from ..codes import CODES
from ..failed import Failed
from ..findings import Diagnosis, Finding, Measured
from ..say import Say
from ..subject import Subject
from .matrices import named

Outcome = Finding | Measured
BITS = 400


@dataclass(frozen=True)
class Exact:
    """exp(X) in float64, and how far a computed one may be off in the largest singular value."""

    value: Tensor
    allowed: float


def examine(subject: Subject, level: str, say: Say) -> Diagnosis:
    """Every matrix alone in both formats, then batches, transposes and sums."""
    outcomes: list[Outcome] = []
    formats = []
    for dtype in ("float32", "float64"):
        say(dtype)
        try:
            called(subject.apply, torch.zeros(2, 2, dtype=getattr(torch, dtype)))
        except Failed:
            continue
        formats.append(dtype)
        outcomes += [value(subject, words, x, dtype) for words, x in named()]
        outcomes += batches(subject, dtype)
    if not formats:
        called(subject.apply, torch.zeros(2, 2))  # says why
    findings = tuple(one for one in outcomes if isinstance(one, Finding))
    measured = [one for one in outcomes if isinstance(one, Measured)]
    worst = sorted(measured, key=lambda one: -one.residual / one.budget)[:8]
    identity = f"a matrix exponential in {' and '.join(formats)}"
    said = ("float64 where only float32 is taken, or the reverse",) if len(formats) == 1 else ()
    return Diagnosis(subject.name, subject.kind, identity, findings, tuple(worst), said)


def value(subject: Subject, words: str, x: Tensor, dtype: str) -> Outcome:
    """One matrix alone against balls; where the exact result overflows the format, nothing is asked."""
    given = x.to(getattr(torch, dtype))
    told = exact(given.double(), dtype)
    law = f"{CODES['matrix-exp'].law}, {dtype}"
    if float(told.value.abs().max()) > torch.finfo(given.dtype).max:
        return Measured(law, 0.0, 1.0)
    show = f"X = torch.tensor({given.tolist()}, dtype=torch.{dtype})\nprint(subject(X))"
    try:
        found = shaped(called(subject.apply, given.clone()), tuple(given.shape)).double()
    except Failed as failed:
        return Finding("matrix-exp", f"{words}, {dtype}", None, None, str(failed), show)
    off = float(torch.linalg.matrix_norm(found - told.value, 2))
    if off <= told.allowed:
        return Measured(law, off, told.allowed)
    cause = _cause(subject, given, found, told)
    return Finding("matrix-exp", f"{words}, {dtype}", off, told.allowed, cause, show)


def _cause(subject: Subject, x: Tensor, found: Tensor, told: Exact) -> str:
    """Whether a batch of two is right, or the exponential of another matrix was formed."""
    for words, other in {
        "it is the exponential of the transpose": x.T,
        "it is the exponential of -X": -x,
        "it is the exponential of the symmetric part": (x + x.T) / 2,
    }.items():
        wrong = exact(other.double(), str(x.dtype).removeprefix("torch."))
        if float(torch.linalg.matrix_norm(found - wrong.value, 2)) <= wrong.allowed:
            return words
    try:
        pair = called(subject.apply, torch.stack((x, x)))[0].double()
    except Failed:
        return "unknown"
    if float(torch.linalg.matrix_norm(pair - told.value, 2)) <= told.allowed:
        return "one matrix alone takes another path than a batch, which is right"
    return "unknown"


def exact(x: Tensor, dtype: str, beside: float = 0.0) -> Exact:
    """exp(X) by balls, and the bound of `running`; X in float64. beside: the largest norm of its batch."""
    ball = flint.arb_mat([[flint.arb(entry) for entry in row] for row in x.tolist()])
    before = flint.ctx.prec
    flint.ctx.prec = BITS
    try:
        size = float(torch.linalg.matrix_norm(x, 2)) if x.numel() else 0.0
        largest = max(size, beside)
        halvings = max(0, math.ceil(math.log2(largest)) + 4) if largest > 0 else 0
        powers = [_floats((ball * flint.arb(2) ** -k).exp()) for k in range(halvings, -1, -1)]
    finally:
        flint.ctx.prec = before
    return Exact(powers[-1], running(powers, size * 2.0**-halvings, x.shape[-1], dtype))


def running(powers: list[Tensor], first: float, dim: int, dtype: str) -> float:
    """Scaling and squaring, R_{k+1} = R_k²: e_{k+1} = 2‖R_k‖e_k + e_k² + γ_d d ‖R_k‖², in the 2-norm.

    The first is exp of a matrix of norm below 1/8: a sum of at most 16 terms, by powers whose own rounding, d
    a product, is weighed by the norm, or a quotient of two such, by elimination: off by γ_{16 + 4d} e^{1/8}.
    ‖|A||B|‖ is at most d‖A‖‖B‖, hence the d. (Higham, Functions of Matrices, SIAM 2008, §10.3.)
    """
    off = budget.gamma(16 + 4 * dim, dtype) * math.exp(first)
    for power in powers[:-1]:
        size = float(torch.linalg.matrix_norm(power, 2))
        if not math.isfinite(size * size):
            return math.inf
        off = 2 * size * off + off * off + budget.gamma(dim, dtype) * dim * (size + off) ** 2
    last = float(powers[-1].abs().max()) if powers[-1].isfinite().all() else math.inf
    return off + budget.ORACLE * last * dim


def _floats(balls: flint.arb_mat) -> Tensor:
    return torch.tensor(
        [[float(entry.mid()) for entry in row] for row in balls.tolist()], dtype=torch.float64
    )


def batches(subject: Subject, dtype: str) -> Iterator[Outcome]:
    """A batch of different sizes, entry by entry as alone; a strided view as its copy; exp(Xᵀ) = exp(X)ᵀ."""
    form = getattr(torch, dtype)
    chosen = [x.to(form) for _, x in named() if x.shape[-1] == 3]
    beside = max(float(torch.linalg.matrix_norm(x.double(), 2)) for x in chosen)
    each = [exact(x.double(), dtype, beside) for x in chosen]
    usable = [n for n, one in enumerate(each) if math.isfinite(one.allowed)]
    usable.sort(key=lambda n: float(torch.linalg.matrix_norm(chosen[n], 1)))  # the first needs least
    batch = torch.stack([chosen[n] for n in usable])
    views = {
        "batch-exp": (batch.clone(), "entries of a batch share what was chosen for one of them"),
        "strides": (batch.mT.contiguous().mT, "memory is read as if it were contiguous"),
    }
    for code, (given, cause) in views.items():
        show = f"X = torch.randn(4, 3, 3, dtype=torch.{dtype})\nprint(subject(X)[1] - subject(X[1]))"
        try:
            found = shaped(called(subject.apply, given), tuple(given.shape)).double()
        except Failed as failed:
            if code == "strides":
                yield Finding(code, dtype, None, None, str(failed), show)
            continue  # a function of one matrix
        pairs = zip(found, usable, strict=True)
        off = [float(torch.linalg.matrix_norm(f - each[n].value, 2)) for f, n in pairs]
        worst = max(range(len(off)), key=lambda i: off[i] / each[usable[i]].allowed)
        limit = each[usable[worst]].allowed
        if off[worst] > limit:
            yield Finding(code, f"entry {worst}, {dtype}", off[worst], limit, cause, show)
        else:
            yield Measured(f"{CODES[code].law}, {dtype}", off[worst], limit)
