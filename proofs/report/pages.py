"""Owns the report as a whole: data, pictures and formulas poured into one self-contained HTML page.

`write_report` is the door. Everything is rendered first and only then written, each file by a rename.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

from ..certificate import canonical, sha256, write_atomically
from ..certificate import document as certificate_document
from ..errors import MissingExtra
from .atlas import Spot, atlas, map_document
from .data import ProofLike, book
from .formulas import Formula, formulas_of, typeset
from .record import run_document, this_run
from .residuals import ResidualLike
from .template import Content, render

if TYPE_CHECKING:
    from ..prove import Proof


@dataclass(frozen=True)
class Written:
    """The files of a finished report, and the formulas that typst refused (shown as MathML instead)."""

    index: Path
    proofs: Path
    map: Path
    run: Path
    failures: tuple[tuple[Formula, str], ...]


def write_report(
    proofs: Iterable[ProofLike],
    residuals: Mapping[str, ResidualLike] | None,
    out_dir: str | Path,
    *,
    spots: Iterable[Spot] = (),
    proofs_document: Mapping[str, Any] | None = None,
    command: str = "exptx report",
    timings: Mapping[str, float] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Written:
    """Write `index.html`, `proofs.json`, `map.json` and `run.json` into `out_dir`.

    proofs: in story order. residuals: by proof id or law id, empty or None where nothing could be measured.
    spots: the encodings of the chapter "the map", which is left out where there are none.
    proofs_document: the content of `proofs.json`, made from the proofs where None. timings: seconds to print,
    by description. progress: told each stage. Raises `MissingExtra` without jinja2 or matplotlib,
    `Unwritable` for a folder that cannot be written.
    """
    _require_extra()
    tell = progress or (lambda stage: None)
    proofs, out = list(proofs), Path(out_dir)
    started = perf_counter()
    document = proofs_document or certificate_document(cast("list[Proof]", proofs))
    run = this_run(command, timings or {})
    story = book(proofs, residuals or {}, {row["id"]: row["certificate_sha256"] for row in document["laws"]})
    tell("typesetting the formulas")
    formulas = {id(step): formulas_of(step) for proof in proofs for step in proof.steps}
    charted = list(spots)
    shown = (*formulas.values(), *(spot.formulas for spot in charted))
    sheet = typeset(formula for several in shown for formula in several)
    tell("drawing the pictures")
    from .pictures import gallery

    pictures = gallery({law.id for law in story.laws})
    tell("laying out the page")
    run = replace(run, seconds={**run.seconds, "this page": perf_counter() - started})
    digest = sha256(document)
    regions = atlas(charted, [proof.id for proof in proofs])
    html = render(Content(story, regions, sheet, formulas, pictures, run, digest, bool(residuals)))
    tell("writing")
    written = Written(
        out / "index.html", out / "proofs.json", out / "map.json", out / "run.json", sheet.failures
    )
    write_atomically(written.proofs, canonical(document))
    write_atomically(written.map, canonical(map_document(charted)))
    write_atomically(written.run, canonical(run_document(run, residuals, digest)))
    write_atomically(written.index, html.encode())
    return written


def _require_extra() -> None:
    missing = [name for name in ("jinja2", "matplotlib") if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingExtra(f"the report needs {' and '.join(missing)}; run pip install 'exptx[report]'")
