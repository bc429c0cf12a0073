"""What a person sees in a terminal: progress on standard error, verdicts as a table on standard output."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from .laws import CHAPTERS
from .prove import Executed, Proof
from .prove import prove as run

BADGE = {"proved": "green", "refuted": "magenta", "undecided": "yellow", "not_checked": "cyan"}


@contextmanager
def _bar() -> Generator[Progress]:
    columns = (TextColumn("{task.description:<36}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
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


def show(proofs: list[Proof], *, in_full: bool) -> None:
    """The proofs as a table, or each in full; a line that counts; in full what is not as expected."""
    console = Console(width=None if sys.stdout.isatty() else 160)
    if in_full:
        for proof in proofs:
            _in_full(console, proof)
    else:
        console.print(_table(proofs))
    wrong = [proof.id for proof in proofs if not proof.as_expected]
    summary = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in tally(proofs).items() if count)
    plural = "proof" if len(proofs) == 1 else "proofs"
    verdict = f"NOT as expected: {', '.join(wrong)}" if wrong else "all as expected"
    console.print(f"{len(proofs)} {plural}: {summary}; {verdict}; kernels not measured (exptx report does)")
    for proof in proofs if not in_full else ():
        if not proof.as_expected:
            _in_full(console, proof)


def _table(proofs: list[Proof]) -> Table:
    """A row a proof: id, verdict, steps, and how many changes were tried (all of them must break it)."""
    rows = Table(box=None, pad_edge=False, header_style="bold", caption_justify="left")
    rows.add_column("proof", no_wrap=True)
    rows.add_column("verdict", no_wrap=True)
    rows.add_column("steps", justify="right")
    rows.add_column("changes", justify="right")
    rows.add_column("what it says", overflow="fold")
    for proof in proofs:
        trials = (*proof.perturbations, *proof.siblings)
        rows.add_row(
            proof.id, _badge(proof), str(len(proof.steps)), str(len(trials)), proof.title.replace("`", "")
        )
    return rows


def _badge(proof: Proof) -> Text:
    word = proof.status.value.replace("_", " ")
    return Text(
        word if proof.as_expected else f"{word.upper()} (expected {proof.expected.value.replace('_', ' ')})",
        style=BADGE[proof.status.value],
    )


def _in_full(console: Console, proof: Proof) -> None:
    """Statement, steps with their formulas, and what the changes did."""
    console.print(Text.assemble((proof.id, "bold"), "  ", _badge(proof)))
    console.print(Text(proof.statement.replace("`", "")))
    for hypothesis in proof.hypotheses:
        console.print(Text(f"  given    {hypothesis.text.replace('`', '')}"))
    for step in proof.steps:
        _line(console, step.status.value, step.name, step)
    for trial in proof.perturbations:
        _line(console, trial.status.value, f"changed: {trial.change}", trial.executed)
    for trial in proof.siblings:
        _line(console, trial.status.value, f"true instead: {trial.change}", trial.executed)
    if proof.rests_on:
        console.print(Text(f"  rests on {', '.join(proof.rests_on)}"))
    console.print()


def _line(console: Console, status: str, name: str, step: Executed) -> None:
    word = "cited" if step.kind == "cited" else status.replace("_", " ")
    console.print(Text.assemble("  ", (f"{word:<9}", BADGE[status]), f"{name}"))
    if step.formula is not None:
        left, relation, right = (part if isinstance(part, str) else _text(part) for part in step.formula)
        console.print(
            Text(f"           {left} {relation} {right}", style="dim", no_wrap=True, overflow="ellipsis")
        )
    console.print(Text(f"           {step.reason}", style="dim"))


def _text(part: Any) -> str:
    from ..symbolic.typeset import to_text

    return f"[{', '.join(map(str, part))}]" if isinstance(part, tuple) else to_text(part)


def listing() -> None:
    """Every law with its title and the encodings or blocks it is proved for, chapter by chapter."""
    console = Console(width=None if sys.stdout.isatty() else 160)
    for chapter in CHAPTERS:
        console.print(Text(chapter.title, style="bold"))
        for entry in chapter.entries:
            cases = f"  / {', '.join(entry.encodings)}" if entry.encodings else ""
            console.print(Text(f"  {entry.id}{cases}"))


def tally(proofs: Iterable[Proof]) -> dict[str, int]:
    """How many proofs have each status."""
    counts = dict.fromkeys(BADGE, 0)
    for proof in proofs:
        counts[proof.status.value] += 1
    return counts


def report(out: Path) -> bool:
    """Prove, measure and write: the parts of `exptx report` in order; whether all came out as expected."""
    from . import certificate, measure
    from .report.atlas import spots
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
        measured = time.perf_counter()
        charted = spots(lambda name: bar.update(task, description=f"charting {name}"[:36], total=None))
        seconds = {
            "the proofs": proved - began,
            "the measurements": measured - proved,
            "the map": time.perf_counter() - measured,
        }
        write_report(
            proofs,
            residuals,
            out,
            spots=charted,
            proofs_document=certificate.document(proofs),
            timings=seconds,
            progress=lambda stage: bar.update(task, description=stage, total=None),
        )
    return all(p.as_expected for p in proofs) and all(r.as_expected for r in residuals.values())
