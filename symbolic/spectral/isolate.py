"""Isolated roots of a squarefree real polynomial: disjoint discs by python-flint, to any precision."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp
from flint import acb, acb_poly, arb, ctx

from ..balls import Enclosure, ball, outward
from ..errors import BadInput, Disagreement

MAX_BITS = 1 << 16


@dataclass(frozen=True)
class Root:
    """A rectangle that contains exactly one root; on an axis the other part is exactly 0."""

    real: Enclosure
    imag: Enclosure


def isolate(polynomial: sp.Poly, digits: int = 20) -> tuple[Root, ...]:
    """All complex roots, each part of them to `digits` significant digits (absolutely, near 0).

    polynomial: squarefree, over Q or a real number field. Sorted by real part, then imaginary part.
    Source: isolating Newton discs, Johansson, Arb (IEEE TC 2017); a disc that meets the real axis and no
    other disc holds a real root, since roots come in conjugate pairs; with p(-λ) = ±p(λ) the same is true of
    the imaginary axis.
    """
    if isinstance(digits, bool) or not isinstance(digits, int) or digits < 1:
        raise BadInput(f"digits is {digits!r}; a whole number of at least 1 works")
    found = root_balls(polynomial, 4 * digits + 32)
    with ctx.workprec(4 * digits + 32):
        roots = [Root(outward(z.real, digits), outward(z.imag, digits)) for z in found]
    return tuple(sorted(roots, key=lambda root: (root.real.lower, root.imag.lower)))


def root_balls(polynomial: sp.Poly, bits: int) -> list[acb]:
    """Disjoint complex balls with one root each, of relative width near 2^-bits; on the axes exactly so."""
    work = 2 * bits
    while work <= MAX_BITS:
        with ctx.workprec(work):
            discs = _discs(polynomial, work)
            if discs is not None and all(_narrow(z, bits) for z in discs):
                return discs
        work *= 2
    raise Disagreement(f"the roots of {polynomial.as_expr()} were not isolated with {MAX_BITS} bits")


def _discs(polynomial: sp.Poly, bits: int) -> list[acb] | None:
    coefficients = [ball(c, {}, 4 * bits) for c in reversed(polynomial.all_coeffs())]
    try:
        discs = acb_poly(coefficients).roots(tol=arb(2) ** (-3 * bits // 4), maxprec=4 * bits)
    except ValueError:  # not isolated at this precision
        return None
    if any(a.overlaps(b) for i, a in enumerate(discs) for b in discs[:i]):
        return None
    symmetric = len({power % 2 for (power,), _ in polynomial.terms()}) == 1
    return [_on_axis(z, discs, symmetric) for z in discs]


def _on_axis(disc: acb, discs: list[acb], symmetric: bool) -> acb:
    """The part of a disc on the real axis, or if roots are `symmetric` about the imaginary one, on that.

    It is taken if the disc's mirror image meets that disc and no other.
    """
    for mirror, axis, known in (
        (disc.conjugate(), acb(disc.real), True),
        (-disc.conjugate(), acb(0, disc.imag), symmetric),
    ):
        if known and [other is disc for other in discs if other.overlaps(mirror)] == [True]:
            return axis
    return disc


def _narrow(disc: acb, bits: int) -> bool:
    """Each part known to `bits` bits, relative to the root's absolute value."""
    size = abs(disc)
    return all(part.rad() * 2**bits <= size for part in (disc.real, disc.imag))
