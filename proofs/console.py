"""What a person sees in a terminal: progress on standard error, verdicts as a table on standard output."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from .laws import CHAPTERS
from .prove import Proof
from .prove import prove as run

BADGE = {"proved": "green", "refuted": "magenta", "undecided": "yellow", "not_checked": "cyan"}


@contextmanager
def _bar() -> Generator[Progress]:
    columns = (TextColumn("{task.description:<36}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield bar


def prove(laws: Iterable[str] | None, encodings: Iterable[str] | None) -> list[Proof]:
    """`proofs.prove` with a progress bar."""
    total = (
        sum(len(e.proof_ids()) for c in CHAPTERS for e in c.entries)
        if laws is None and encodings is None
        else None
    )
    with _bar() as bar:
        task = bar.add_task("proving", total=total)

        def advance(proof: Proof) -> None:
            bar.update(task, advance=1, description=f"proved {proof.id}"[:36])

        return run(laws, encodings, progress=advance)


def table(proofs: list[Proof]) -> None:
    """One row a proof, one block a chapter, and a line that counts."""
    console = Console()
    rows = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("proof", "verdict", "steps", "teeth", "what it says"):
        rows.add_column(heading, overflow="fold")
    for proof in proofs:
        caught = sum(t.status.value == "refuted" for t in proof.perturbations)
        held = sum(t.status.value == "proved" for t in proof.siblings)
        teeth = (
            f"{caught}/{len(proof.perturbations)}"
            if proof.perturbations
            else f"{held}/{len(proof.siblings)} true"
        )
        rows.add_row(
            proof.id, _badge(proof), str(len(proof.steps)), teeth if teeth != "0/0 true" else "", proof.title
        )
    console.print(rows)
    wrong = [proof.id for proof in proofs if not proof.as_expected]
    summary = ", ".join(f"{count} {name}" for name, count in tally(proofs).items() if count)
    console.print(
        f"\n{len(proofs)} proofs: {summary}; "
        + (f"NOT as expected: {', '.join(wrong)}" if wrong else "all as expected")
    )
    for proof in proofs:
        if not proof.as_expected:
            _explain(console, proof)


def _badge(proof: Proof) -> Text:
    word = proof.status.value.replace("_", " ")
    return Text(
        word if proof.as_expected else f"{word.upper()} (expected {proof.expected.value})",
        style=BADGE[proof.status.value],
    )


def _explain(console: Console, proof: Proof) -> None:
    console.print(f"\n{proof.id}: {proof.statement}", markup=False)
    for step in proof.steps:
        console.print(f"  {step.status.value:12} {step.name}: {step.reason}", markup=False)
    for trial in (*proof.perturbations, *proof.siblings):
        console.print(f"  {trial.status.value:12} if {trial.change}: {trial.executed.reason}", markup=False)


def tally(proofs: Iterable[Proof]) -> dict[str, int]:
    """How many proofs have each status."""
    counts = dict.fromkeys(BADGE, 0)
    for proof in proofs:
        counts[proof.status.value] += 1
    return counts


def report(out: Path) -> bool:
    """Prove, measure and write: the parts of `exptx report` in order; whether all came out as expected."""
    from . import certificate, measure
    from .report.pages import write_report

    certificate.require_writable(out)
    began = time.perf_counter()
    proofs = prove(None, None)
    proved = time.perf_counter()
    with _bar() as bar:
        task = bar.add_task("measuring the kernels", total=len(proofs))

        def advance(name: str) -> None:
            bar.update(task, advance=1, description=f"measured {name}"[:36])

        residuals = measure.residuals(proofs, advance)
        seconds = {"the proofs": proved - began, "the measurements": time.perf_counter() - proved}
        write_report(
            proofs,
            residuals,
            out,
            proofs_document=certificate.document(proofs),
            timings=seconds,
            progress=lambda stage: bar.update(task, description=stage, total=None),
        )
    return all(p.as_expected for p in proofs) and all(r.as_expected for r in residuals.values())
