"""Membership entry by entry: whether every entry of a map of the gap is an exponential polynomial."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp
from sympy.core.function import AppliedUndef

from ..decide import Status, Verdict
from ..entries import GAP
from ..errors import Unsupported
from ..realization import NotRealizable, Realization, realize


def realizable(maps: Mapping[str, tuple[sp.Expr, ...]]) -> Verdict:
    """PROVED if every entry is an exponential polynomial of the gap, REFUTED by one that is none."""
    count = 0
    for which, entries in maps.items():
        for entry in entries:
            if entry.atoms(AppliedUndef):
                why = f"{entry} is an opaque function; some are exponential polynomials and some are not"
                return Verdict(status=Status.UNDECIDED, reason=why)
            try:
                found = realize(entry, GAP)
            except Unsupported as problem:
                return Verdict(status=Status.UNDECIDED, reason=str(problem))
            if isinstance(found, NotRealizable):
                return _outside(which, found)
            count += isinstance(found, Realization) and found.order > 0  # 0 is what every X gives
    return Verdict(
        status=Status.PROVED,
        reason=f"the score depends on the gap only, and each of {count} different entries is cᵀ exp(uX) v",
    )


def _outside(which: str, found: NotRealizable) -> Verdict:
    cited = f" ({found.cited})" if found.cited else ""
    evidence = f"; {found.witness.sentence}" if found.witness else ""
    point = found.witness.data.get("point") if found.witness else None
    return Verdict(
        status=Status.REFUTED,
        reason=f"its {which} is no exponential polynomial of the gap: {found.reason}{cited}{evidence}",
        witness=point,
        side_conditions=found.conditions,
    )
