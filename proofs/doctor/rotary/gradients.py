"""The gradient of a rotary kernel: the transposed map at the same positions."""

from __future__ import annotations

import torch

from ..failed import Failed
from .trial import DTYPE, Outcome, Trial, broken, judged, turned


def gradient(given: Trial) -> Outcome | None:
    """d<g, R x>/dx = R^T g, for queries and for keys; None where no gradient is claimed."""
    if not given.calls.subject.claims.gradient:
        return None
    leaf = given.x.clone().requires_grad_()
    outputs = given.calls.rotate_both(leaf * 1, given.ids, learns=True)
    cotangent = torch.randn(given.x.shape, generator=torch.Generator().manual_seed(2))
    dim = given.planes.dim
    if not all(y.requires_grad for y in outputs):
        return broken("gradient", "the output", "the result is cut off from its input", dim)
    try:
        found = [torch.autograd.grad(y, leaf, cotangent, retain_graph=True)[0] for y in outputs[:1]]
    except RuntimeError as error:
        raise Failed(f"the backward pass raised {str(error).splitlines()[0]}") from error
    rows = given.rows
    expected, allowed = turned(given.planes, cotangent, rows, DTYPE, back=True)
    off = torch.stack([(g.double() - expected).abs() for g in found]).amax(0)
    return judged("gradient", off, 2 * allowed, dim, _cause(given, found[0], cotangent, rows), ids=given.ids)


def _cause(given: Trial, found: torch.Tensor, cotangent: torch.Tensor, rows: torch.Tensor) -> str:
    forward, allowed = turned(given.planes, cotangent, rows, DTYPE)
    if bool(((found.double() - forward).abs() <= 2 * allowed).all()):
        return "the gradient is turned forward, where the inverse is due"
    if not bool(found.any()):
        return "the gradient is zero"
    if torch.equal(found, cotangent):
        return "the gradient passes unturned"
    return "unknown"
