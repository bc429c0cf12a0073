"""The command line `exptx`: thin; every command hands over to the room that does the work.

Exit status: 0 all as expected (an expected refutation is no failure), 1 something is not, 2 a wrong call.
Results go to standard output, progress to standard error.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .cli_doctor import check, explain, vectors

if TYPE_CHECKING:
    from .prove import Proof

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Positional encodings for attention as exp(tX): derived, proved, run and checked.",
)
IN_FULL = 6  # so many proofs that were asked for by name are shown step by step
INTERRUPTED = 130
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Assume = Annotated[
    list[str] | None,
    typer.Option(help="The sign of a symbol: 'x > 0', 'x <= 0', 'x != 0'; repeatable."),
]
Seconds = Annotated[float, typer.Option(min=0.1, help="Stop after this time.")]
Megabytes = Annotated[int, typer.Option(min=300, help="Stop at this much memory.")]


def _version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        typer.echo(f"exptx {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Positional encodings for attention as exp(tX)."""


@app.command()
def prove(
    laws: Annotated[
        list[str] | None,
        typer.Argument(help="Laws or single proofs (law/encoding); all where none is named."),
    ] = None,
    encodings: Annotated[
        list[str] | None,
        typer.Option("--encoding", help="Only proofs about this encoding or block; repeatable."),
    ] = None,
    certificates: Annotated[
        Path | None, typer.Option(help="Write one JSON certificate per proof, and an index, here.")
    ] = None,
    names: Annotated[bool, typer.Option("--list", help="Only list the laws.")] = False,
    as_json: Json = False,
) -> None:
    """Decide every step of the laws and say what was found; a few named ones are shown in full."""
    from . import certificate, console
    from .prove import foundations

    if names:
        console.listing()
        return
    if certificates is not None:
        certificate.require_writable(certificates)
    done = console.prove(laws or None, encodings or None)
    if certificates is not None:
        written = [*done, *foundations(done)]
        certificate.write_certificates(written, certificates)
        typer.echo(f"{len(written)} certificates, foundations included, in {certificates}", err=True)
    if as_json:
        _document(certificate.document(done))
    else:
        console.show(done, in_full=bool(laws) and len(done) <= IN_FULL)
    raise typer.Exit(_status(done))


@app.command()
def verify(
    path: Annotated[Path, typer.Argument(help="A folder of certificates, or a proofs.json.")],
    as_json: Json = False,
) -> None:
    """Re-check certificates with integer and rational arithmetic alone."""
    from . import certificate, checker
    from .errors import UnknownPath

    if not path.exists():
        raise UnknownPath(
            f"path is {path}, which does not exist; a folder of certificates or a proofs.json works"
        )
    rejections = checker.verify(path)
    if as_json:
        rows = [asdict(rejection) for rejection in rejections]
        _document({"schema": "exptx-verify/1", "rejections": rows})
        raise typer.Exit(1 if rejections else 0)
    for rejection in rejections:
        typer.echo(str(rejection))
    if not rejections:
        typer.echo(f"all {certificate.count(path)} certificates in {path} are right")
    raise typer.Exit(1 if rejections else 0)


@app.command(context_settings={"ignore_unknown_options": True})  # -x is a formula
def decide(
    lhs: Annotated[str, typer.Argument(help="A formula or matrix: 'exp(-x)*cos(2*x)', '[[0, 1], [0, 0]]'.")],
    rhs: Annotated[str, typer.Argument(help="What it is said to equal.")],
    assume: Assume = None,
    seconds: Seconds = 30,
    megabytes: Megabytes = 2000,
    as_json: Json = False,
) -> None:
    """Decide whether two formulas are equal for all real values of their symbols.

    Numbers are exact (0.1 is 1/10), products are written with *, powers with ^; the functions are exp sin cos
    tan sinh cosh tanh sqrt log abs, the constants pi, e, I. Exit status: 0 proved, 1 refuted or undecided
    (with the reason), 2 not readable.
    """
    from . import answers, typed

    found = typed.decide(lhs, rhs, assume or (), seconds, megabytes)
    if as_json:
        _document(found)
    else:
        typer.echo("\n".join(answers.decided(found)))
    raise typer.Exit(0 if found["status"] == "proved" else 1)


@app.command(context_settings={"ignore_unknown_options": True})
def classify(
    what: Annotated[
        str,
        typer.Argument(
            help="A matrix '[[6, -15], [3, -6]]', a .npy or .json file, a bias in the gap u such as "
            "'exp(-u)*cos(3*u)', or a catalogue name."
        ),
    ],
    domain: Annotated[
        str | None,
        typer.Option(help="Where a bias is used: real, causal (u >= 0), integers, causal-integers."),
    ] = None,
    row_constant: Annotated[
        bool, typer.Option("--row-constant", help="Count the order of a bias up to a constant per query.")
    ] = False,
    tolerance: Annotated[
        str | None, typer.Option(help="Ask for decays within this error of a bias, on --window.")
    ] = None,
    window: Annotated[str | None, typer.Option(help="The gaps for --tolerance, such as '0, 8192'.")] = None,
    parameters: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter of an encoding: head_dim=8; repeatable.")
    ] = None,
    assume: Assume = None,
    seconds: Seconds = 30,
    megabytes: Megabytes = 2000,
    as_json: Json = False,
) -> None:
    """Say what a matrix, bias or encoding is: its blocks, kernel functions, bounds, or why it is outside.

    Exit status: 0 with an answer, whichever it is, 2 without one (unreadable, stopped, or not classified).
    """
    from . import answers, typed

    asked = {
        "domain": domain,
        "modulo_row_constant": row_constant or None,
        "tolerance": tolerance,
        "window": window,
    }
    found = typed.classify(what, assume or (), asked, typed.settings(parameters or ()), seconds, megabytes)
    if as_json:
        _document(found)
    else:
        typer.echo("\n".join(answers.classified(found)))


@app.command(context_settings={"ignore_unknown_options": True})
def lower(
    what: Annotated[
        str, typer.Argument(help="A catalogue name, a matrix '[[6, -15], [3, -6]]', or a .npy or .json file.")
    ],
    to: Annotated[
        str | None, typer.Option(help="c, torch or triton; without it the straight-line programs are shown.")
    ] = None,
    factor: Annotated[
        str | None,
        typer.Option(help="flow exp(tX), query exp(tX)ᵀ (of a name) or key exp(-tX); flow of a matrix."),
    ] = None,
    parameters: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter of an encoding: head_dim=8; repeatable.")
    ] = None,
    assume: Assume = None,
    seconds: Seconds = 60,
    megabytes: Megabytes = 2000,
    as_json: Json = False,
) -> None:
    """Print the source of a kernel, emitted from the closed form and proved equal to it from its text.

    Exit status: 0 proved, 1 not proved (with the reason), 2 a wrong call.
    """
    from . import typed

    found = typed.lower(what, assume or (), to, factor, typed.settings(parameters or ()), seconds, megabytes)
    proved = found["check"]["status"] == "proved"
    if as_json:
        _document(found)
    else:
        typer.echo(found["source"].rstrip())
        if not proved or to is None:
            typer.echo(f"{found['check']['status']}: {found['check']['reason']}", err=not proved)
    raise typer.Exit(0 if proved else 1)


@app.command()
def inspect(
    config: Annotated[Path, typer.Argument(help="A model's config.json, or the folder that holds it.")],
    context: Annotated[
        int | None,
        typer.Option(min=1, help="The length of text to look at, in positions; the model's without it."),
    ] = None,
    layer_type: Annotated[str | None, typer.Option(help="Only these layers, e.g. full_attention.")] = None,
    html: Annotated[
        Path | None, typer.Option(help="Also write a page with pictures of the spectra to this file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say what a config does with positions: encoding, periods, amplitude, precision, caches.

    Exit status: 0 with an answer, 2 for a file that is no config and for keys that contradict each other, are
    unknown, or are read in more than one way (one sentence says which).
    """
    from ..symbolic.configs.read import read_config
    from .inspection.config_file import read_config_file
    from .inspection.document import document
    from .inspection.lines import lines

    found = document(read_config(read_config_file(config)), context, layer_type)
    if html is not None:
        from .inspection.page import write_page

        write_page(found, config.name, html)
        typer.echo(f"{html}", err=True)
    if as_json:
        _document(found)
    else:
        typer.echo("\n".join(lines(found, config.name)))


app.command()(check)
app.command()(explain)
app.command()(vectors)


@app.command()
def report(
    out: Annotated[
        Path, typer.Option(help="The folder to write index.html, proofs.json and run.json to.")
    ] = Path("build/report"),
) -> None:
    """Prove everything, measure the kernels, and write the report."""
    from . import console

    as_expected = console.report(out)
    typer.echo(f"{out / 'index.html'}")
    raise typer.Exit(0 if as_expected else 1)


@app.command()
def bench(
    races: Annotated[
        list[str] | None,
        typer.Argument(help="prefill, decode, training, growth, slots, decide; all where none is named."),
    ] = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Measurements of each contestant.")] = None,
    tokens: Annotated[int, typer.Option(min=1, help="Length of the sequences, but for decode.")] = 4096,
    compiled: Annotated[bool, typer.Option(help="Also what torch.compile makes of transformers.")] = True,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print tables for a README.")] = False,
    as_json: Json = False,
) -> None:
    """Time the kernels beside copying memory, hand-written PyTorch and other libraries, all checked before.

    Exit status: 0, whatever was fast, 1 if a kernel of exptx gives wrong numbers, 2 a wrong call.
    """
    from .. import benchmarks

    found = benchmarks.outcome(races or (), rounds, tokens, compiled, lambda name: typer.echo(name, err=True))
    if as_json:
        _document(benchmarks.document(found))
    else:
        typer.echo(benchmarks.markdown(found) if markdown else benchmarks.text(found))
    raise typer.Exit(0 if found.ours_is_right else 1)


@app.command()
def env(as_json: Json = False) -> None:
    """What exptx runs on: versions that belong in a bug report."""
    from .environment import environment

    found = environment()
    if as_json:
        _document({"schema": "exptx-env/1", **found})
        return
    for name, value in found.items():
        typer.echo(f"{name:12} {value}")


def _document(document: dict[str, Any]) -> None:
    typer.echo(json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True))


def _status(proofs: list[Proof]) -> int:
    return 0 if all(proof.as_expected for proof in proofs) else 1


def main() -> None:
    """Run the command line; a refusal is one sentence and exit status 2, an interruption is 130."""
    from ..symbolic.errors import ExptxError

    try:
        app()
    except ExptxError as error:
        typer.echo(f"exptx: {error}", err=True)
        sys.exit(2)
    except (KeyboardInterrupt, SystemExit) as leaving:
        if isinstance(leaving, SystemExit) and leaving.code != INTERRUPTED:
            raise
        typer.echo("exptx: interrupted; nothing was left half-written", err=True)
        sys.exit(INTERRUPTED)  # typer itself turns the interruption into this status, without a word
