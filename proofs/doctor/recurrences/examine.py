"""(q, k, v, log_decay, form) -> out, examined: each form against float64, and under hard decays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from ....numeric.layout import heads_first
from ... import budget
from ..call import called, shaped
from ..codes import CODES
from ..failed import Failed
from ..findings import Diagnosis, Finding, Measured
from ..say import Say
from ..subject import Subject
from .guesses import guesses
from .tokens import NORMALISERS, Convention, Tokens, allowed, right, tokens

Outcome = Finding | Measured


def examine(subject: Subject, level: str, say: Say) -> Diagnosis:
    """The convention from the first form that works, then every form and every law by it."""
    claims = subject.claims
    fixed = tokens(37, 3, claims.head_dim, False, claims.dtype)
    gated = tokens(37, 3, claims.head_dim, True, claims.dtype)
    unjudged = []
    if not _takes(subject, gated):
        gated = None
        unjudged.append("gates of every token: log_decay of shape (batch, heads, time) is refused")
    convention = identified(subject, fixed)
    outcomes: list[Outcome] = []
    for form in claims.forms:
        say(form)
        kinds = [given for given in (fixed, gated) if given is not None]
        outcomes += [value(subject, form, given, convention) for given in kinds]
        if all(isinstance(one, Measured) for one in outcomes):
            outcomes += laws(subject, form, fixed, gated, convention)
    findings = tuple(one for one in outcomes if isinstance(one, Finding))
    measured = tuple(one for one in outcomes if isinstance(one, Measured))
    scale = "1" if convention.scale == 1 else f"1/√{claims.head_dim}"
    identity = (
        f"linear attention with decay, scale {scale}, {NORMALISERS[convention.normaliser]}, "
        f"in the forms {', '.join(claims.forms)}"
    )
    return Diagnosis(subject.name, subject.kind, identity, findings, measured, tuple(unjudged))


def run(subject: Subject, form: str, given: Tokens, learns: bool = False) -> Tensor:
    """(batch, heads, T, dv) of one call."""
    layout = subject.claims.layout
    pieces = [heads_first(x, layout) for x in (given.q, given.k, given.v)]
    found = called(subject.apply, *pieces, given.log_decay, form, learns=learns)
    checked = shaped(found[0] if isinstance(found, tuple) else found, tuple(pieces[2].shape))
    return heads_first((found[0] if isinstance(found, tuple) else found) if learns else checked, layout)


def _takes(subject: Subject, given: Tokens) -> bool:
    try:
        run(subject, subject.claims.forms[0], given.until(3))
    except Failed:
        return False
    return True


def identified(subject: Subject, given: Tokens) -> Convention:
    """The scale and normaliser under which most of the forms are right; scale 1, none, if no form is."""
    outputs = []
    for form in subject.claims.forms:
        try:
            outputs.append(run(subject, form, given).double())
        except Failed:  # said where the form is judged
            continue
    if not outputs:
        run(subject, subject.claims.forms[0], given)  # says why
    best, most = Convention(1.0, ""), 0
    for scale in (1.0, subject.claims.head_dim**-0.5):
        for normaliser in NORMALISERS:
            one = Convention(scale, normaliser)
            told, off = right(given, one), allowed(given, one, subject.claims.dtype)
            fits = sum(bool(((out - told).abs() <= off).all()) for out in outputs)
            if fits > most:
                best, most = one, fits
    return best


def value(subject: Subject, form: str, given: Tokens, convention: Convention) -> Outcome:
    """A form against the recurrence in float64."""
    kind = "one decay a head" if given.log_decay.ndim == 1 else "a gate for every token"
    try:
        out = run(subject, form, given).double()
    except Failed as failed:
        return Finding("recurrence", f"{form}, {kind}", None, None, str(failed), _show(form))
    told, off = right(given, convention), allowed(given, convention, subject.claims.dtype)
    difference = (out - told).abs()
    beyond = (~(difference <= off)).nonzero()
    if not len(beyond):
        at = int((difference / off).argmax())
        law = f"{form}: {CODES['recurrence'].law}"
        return Measured(law, float(difference.flatten()[at]), float(off.flatten()[at]))
    first = min(beyond.tolist(), key=lambda at: at[2])
    at = tuple(first)
    where = f"{form}, {kind}, token {at[2]}, head {at[1]}"
    cause = _cause(given, convention, out, off)
    return Finding("recurrence", where, float(difference[at]), float(off[at]), cause, _show(form))


def _cause(given: Tokens, convention: Convention, out: Tensor, off: Tensor) -> str:
    for words, wrong in guesses(given, convention):
        if wrong.shape == out.shape and bool(((out - wrong).abs() <= 4 * off).all()):
            return words
    return "unknown"


def laws(
    subject: Subject, form: str, fixed: Tokens, gated: Tokens | None, convention: Convention
) -> Iterator[Outcome]:
    """Rows, one token, hard decays and gradients; a call that fails is a finding under its own code."""
    checks = [("batch", _batch, fixed), ("single-token", _single, fixed), ("strong-decay", _strong, fixed)]
    if gated is not None:
        checks += [("reset", _reset, gated), ("hold", _hold, gated)]
    checks.append(("recurrence-gradient", _gradient, fixed))
    for code, law, given in checks:
        try:
            yield law(subject, form, given, convention)
        except Failed as failed:
            yield Finding(code, form, None, None, str(failed), _show(form))


def _judged(code: str, form: str, off: Tensor, bound: Tensor, cause: str) -> Outcome:
    at = int((off / bound).nan_to_num(0.0).argmax())
    worst, limit = float(off.flatten()[at]), float(bound.flatten()[at])
    if not bool((off <= bound).all()):
        return Finding(code, form, worst, limit, cause, _show(form))
    return Measured(f"{form}: {CODES[code].law}", worst, limit)


def _batch(subject: Subject, form: str, given: Tokens, convention: Convention) -> Outcome:
    """The second row alone."""
    row = slice(1, 2)
    off = (run(subject, form, given)[row] - run(subject, form, given.rows(row))).abs().double()
    bound = 2 * allowed(given, convention, subject.claims.dtype)[row]
    return _judged("batch", form, off, bound, "a row depends on the rows around it")


def _single(subject: Subject, form: str, given: Tokens, convention: Convention) -> Outcome:
    """One token, and three: lengths below any chunk."""
    first = given.until(1)
    off = (run(subject, form, first).double() - right(first, convention)).abs()
    bound = allowed(first, convention, subject.claims.dtype)
    return _judged("single-token", form, off, bound, "a text shorter than a chunk is read wrongly")


def _strong(subject: Subject, form: str, given: Tokens, convention: Convention) -> Outcome:
    """A decay of e^-8 a token over 37 tokens, e^{296} where its inverse is formed."""
    hard = replace(given, log_decay=torch.full_like(given.log_decay, -8.0))
    off = (run(subject, form, hard).double() - right(hard, convention)).abs()
    cause = "the inverse of a decay is formed, and overflows or loses everything"
    return _judged("strong-decay", form, off, allowed(hard, convention, subject.claims.dtype), cause)


def _reset(subject: Subject, form: str, given: Tokens, convention: Convention) -> Outcome:
    """A gate of -200, e^-200 = 1e-87, forgets all before its token.

    Sums of gates round by u of their size, and are subtracted: 4u·|Σ gates| relative to a weight.
    """
    gates = given.log_decay.clone()
    gates[:, :, 9] = -200.0
    hard = replace(given, log_decay=gates)
    after = Tokens(given.q[:, :, 9:], given.k[:, :, 9:], given.v[:, :, 9:], given.log_decay[:, :, 9:])
    off = (run(subject, form, hard)[:, :, 9:].double() - right(after, convention)).abs()
    cause = "inverse factors of cumulative gates are formed, 0 times infinity where one of them resets"
    dtype = subject.claims.dtype
    sizes = replace(after, q=after.q.abs(), k=after.k.abs(), v=after.v.abs())
    sums = 4 * budget.compute_roundoff(dtype) * (200.0 + after.time) * right(sizes, convention)
    return _judged("reset", form, off, allowed(after, convention, dtype) + sums, cause)


def _hold(subject: Subject, form: str, given: Tokens, convention: Convention) -> Outcome:
    """Gates of 0: a sum over all tokens."""
    held = replace(given, log_decay=torch.zeros_like(given.log_decay))
    off = (run(subject, form, held).double() - right(held, convention)).abs()
    bound = allowed(held, convention, subject.claims.dtype)
    return _judged("hold", form, off, bound, "a gate of 0 does not hold")


def _gradient(subject: Subject, form: str, given: Tokens, convention: Convention) -> Outcome:
    """Gradients by q, k and v of Σ out: finite, also under a strong decay, and by v those of float64.

    out is linear in v: its gradient is within the same relative bound as out, with magnitudes for values.
    """
    if not subject.claims.gradient:
        return Measured(CODES["recurrence-gradient"].law, 0.0, 1.0)
    hard = replace(given, log_decay=torch.full_like(given.log_decay, -8.0))
    for one in (hard, given):
        leaves = [x.clone().requires_grad_() for x in (one.q, one.k, one.v)]
        q, k, v = (x * 1 for x in leaves)
        out = run(subject, form, Tokens(q, k, v, one.log_decay), learns=True)
        if not out.requires_grad:
            cause = "the result is cut off from its input"
            return Finding("recurrence-gradient", form, None, None, cause, _show(form))
        found = torch.autograd.grad(out.sum(), leaves, allow_unused=True)
        if any(g is None or not g.isfinite().all() for g in found):
            cause = "a gradient is missing or not finite: exp is taken before the mask, or inf meets 0"
            return Finding("recurrence-gradient", form, None, None, cause, _show(form))
    v = given.v.double().requires_grad_()
    told = torch.autograd.grad(right(replace(given, v=v), convention).sum(), v)[0]
    size = given.v.abs().double().requires_grad_()
    sizes = Tokens(given.q.abs(), given.k.abs(), size, given.log_decay)
    bound = torch.autograd.grad(allowed(sizes, convention, subject.claims.dtype).sum(), size)[0]
    off = (found[2].double() - told).abs()
    return _judged("recurrence-gradient", form, off, 2 * bound, "unknown")


def _show(form: str) -> str:
    return (
        "q, k, v = (torch.randn(1, 3, 37, 8) for _ in range(3))\n"
        "g = torch.log1p(-(2.0 ** -(5.0 + torch.arange(3))))\n"
        f"print((subject(q, k, v, g, {form!r}) - subject(q, k, v, g, 'recurrent')).abs().max())"
    )
