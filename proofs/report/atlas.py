"""Owns the chapter "the map": the encodings of the catalogue with their answers, by where they stand."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from ...symbolic.catalogue import entries
from ...symbolic.catalogue.registry import Entry
from ..charted import REGIONS, encoding_document, exact_score
from .formulas import Formula, formula_of

SCHEMA = "exptx-map/1"
GENERATOR_SHOWN = 4  # up to this size X is written out


@dataclass(frozen=True)
class Spot:
    """One encoding: its document, its formulas, and the ids of the proofs that speak of it."""

    document: Mapping[str, Any]
    formulas: tuple[Formula, ...]
    proofs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.document["name"]

    @property
    def anchor(self) -> str:
        return f"map-{self.name.replace('_', '-')}"

    @property
    def types(self) -> list[str]:
        """The types of the generators, each once."""
        return list(dict.fromkeys(generator["type"] for generator in self.document["generators"]))


@dataclass(frozen=True)
class Region:
    """The encodings of one region, in alphabetical order."""

    title: str
    spots: tuple[Spot, ...]


def spots(progress: Callable[[str], None] | None = None) -> list[Spot]:
    """Every entry of the catalogue at its example, computed; `progress` is told each name before it."""
    found = []
    for entry in entries().values():
        if progress:
            progress(entry.name)
        found.append(_spot(entry))
    return found


def _spot(entry: Entry) -> Spot:
    shown = entry.shown()
    formulas = []
    score = exact_score(shown)
    if score is not None:
        formulas.append(formula_of((score[0], "=", score[1])))
    for number, generator in enumerate(shown.heads[0].generators):
        if generator.dim <= GENERATOR_SHOWN:
            name = "X" if len(shown.heads[0].generators) == 1 else f"X_{number + 1}"
            formulas.append(formula_of((sp.Symbol(name), "=", generator.matrix)))
    return Spot(encoding_document(entry, shown), tuple(formulas))


def atlas(found: Iterable[Spot], proofs: Collection[str]) -> list[Region]:
    """The regions that hold an encoding, in the order of REGIONS; `proofs`: the ids that may be linked."""
    placed: dict[str, list[Spot]] = {region: [] for region in REGIONS}
    for spot in found:
        about = tuple(pid for pid in proofs if pid.partition("/")[2] == spot.name)
        placed[spot.document["region"]].append(Spot(spot.document, spot.formulas, about))
    return [Region(REGIONS[region], tuple(there)) for region, there in placed.items() if there]


def map_document(found: Iterable[Spot]) -> dict[str, Any]:
    """`map.json`: the documents alone."""
    return {"schema": SCHEMA, "encodings": [dict(spot.document) for spot in found]}
