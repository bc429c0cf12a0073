"""How a function may be meant where nothing says so: other layouts, and positions that it does not take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from .claims import Claims
from .findings import Diagnosis
from .subject import Subject, required
from .suite import check

LAYOUTS = {
    "bthd": "x is read as (batch, time, heads, head_dim)",
    "bhtd": "x is read as (batch, heads, time, head_dim)",
}
ROTARY_CLAIMS = ("layout", "pairing", "positions", "direction")  # what nothing else has
LENGTHS = (4096, 2048, 1024, 512)  # tables may be as short; the first is what is claimed where nothing is
POSITIONS = {
    "ids": "",
    "none": "its tokens are read at positions 0, 1, …",
    "offset": "its last argument is read as the position of the first token",
}


def examined(
    apply: Callable[..., Any], told: Claims, said: Mapping[str, Any], more: dict[str, Any]
) -> Diagnosis:
    """`check` as the arguments suggest; where that cannot be called, the way that turns with fewest findings.

    said: what options claim, None where they do not; that much is kept. more: for `check`.
    """
    kind = said.get("kind")
    if kind is None and any(said.get(name) is not None for name in ROTARY_CLAIMS):
        kind = "rotary"
    if kind not in (None, "rotary", "tables"):
        return check(apply, told, kind=kind, **more)
    first = None
    for longest in LENGTHS if said.get("longest") is None else (told.longest,):
        found = _called(apply, replace(told, longest=longest), {**said, "kind": kind}, more)
        first = first or found
        if found.frequencies or (found.identity != UNCALLED and longest == told.longest and kind is not None):
            words = f"positions from {longest} on: it cannot be called there; claim --longest"
            return found if longest == told.longest else replace(found, unjudged=(*found.unjudged, words))
    assert first is not None
    return first


def _called(
    apply: Callable[..., Any], told: Claims, said: Mapping[str, Any], more: dict[str, Any]
) -> Diagnosis:
    """As the arguments suggest, else in another way."""
    found = check(apply, told, kind=said.get("kind"), **more)
    if found.identity != UNCALLED or said.get("kind") == "tables":
        return found
    others = []
    for claims, words in readings(apply, told, said):
        other = check(Subject(apply, "rotary", claims), **more)
        if other.identity != UNCALLED:
            option = "claim --layout and --positions if it is otherwise"
            others.append(replace(other, unjudged=(*other.unjudged, f"how it is called: {words}; {option}")))
    return min(others, key=lambda one: (not one.frequencies, len(one.findings)), default=found)


UNCALLED = "cannot be called"


def readings(
    apply: Callable[..., Any], told: Claims, said: Mapping[str, Any]
) -> Iterator[tuple[Claims, str]]:
    """Claims of a rotary kernel that its number of arguments admits, the default left out."""
    count = required(apply)
    for positions, placed in POSITIONS.items():
        least = 1 if positions == "none" else 2
        if said.get("positions") not in (None, positions) or not least <= count <= least + 1:
            continue
        for layout, laid in LAYOUTS.items():
            if said.get("layout") in (None, layout) and (positions, layout) != ("ids", "bhtd"):
                words = " and ".join(one for one in (laid, placed) if one)
                yield replace(told, positions=positions, layout=layout), words
