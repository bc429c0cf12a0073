"""A diagnosis as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def lines(found: dict[str, Any]) -> Iterator[str]:
    """Identity, verdict, findings in full, what was measured, what could not be judged."""
    yield f"subject:   {found['subject']} ({found['kind']})"
    yield f"identity:  {found['identity']}"
    if found.get("frequencies"):
        yield f"turning:   {_turning(found['frequencies'])}"
    count = len(found["findings"])
    yield f"verdict:   {'nothing found' if not count else f'{count} finding' + 's' * (count > 1)}"
    for finding in found["findings"]:
        yield from _finding(finding)
    for finding in found["expected"]:
        yield f"known:     {finding['code']} at {finding['where']}"
    for law in found["measured"]:
        yield f"holds:     {law['law']}: {law['residual']:.2g} of {law['budget']:.2g} allowed"
    for what in found["unjudged"]:
        yield f"unjudged:  {what}"


def _turning(spectrum: list) -> str:
    """The first and the last plane with their errors."""
    (first, a), (last, b) = spectrum[0], spectrum[-1]
    end = len(spectrum) - 1
    return f"plane 0 by {first:.9g} ± {a:.1g} radians a position, plane {end} by {last:.9g} ± {b:.1g}"


def _finding(finding: dict[str, Any]) -> Iterator[str]:
    yield ""
    yield f"{finding['code']}: {finding['law']}"
    off = ""
    if finding["residual"] is not None:
        off = f": off by {finding['residual']:.3g}, allowed {finding['budget']:.3g}"
    yield f"  where:   {finding['where']}{off}"
    yield f"  cause:   {finding['cause']}"
    yield f"  so:      {finding['consequence']}"
    yield f"  fix:     {finding['fix']}"
    first, *rest = finding["reproduction"].splitlines()
    yield f"  show:    {first}"
    yield from (f"           {line}" for line in rest)
    yield ""
