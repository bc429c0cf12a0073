"""The commands of the doctor: `exptx check` and `exptx explain`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer


def check(
    targets: Annotated[
        list[str], typer.Argument(help="file.py:function or package.module:OBJECT, several if you like.")
    ],
    kind: Annotated[
        str | None, typer.Option(help="What it is; see docs/doctor.md. By its arguments.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="The config.json it is for: what it should do.")] = None,
    spec: Annotated[
        Path | None, typer.Option(help="Claims as a JSON object, by the names used here.")
    ] = None,
    base: Annotated[float | None, typer.Option(help="Without a config: the base of plain RoPE.")] = None,
    head_dim: Annotated[int | None, typer.Option(help="Features of a head; 64 without it.")] = None,
    heads: Annotated[int | None, typer.Option(help="Heads of queries; 4 without it.")] = None,
    kv_heads: Annotated[int | None, typer.Option(help="Heads of keys, where there are fewer.")] = None,
    pairing: Annotated[str | None, typer.Option(help="half or interleaved: what the weights expect.")] = None,
    layout: Annotated[str | None, typer.Option(help="bhtd (batch, heads, time, head_dim) or bthd.")] = None,
    dtype: Annotated[str | None, typer.Option(help="Of the inputs: float32, bfloat16, float16, …")] = None,
    table: Annotated[str | None, typer.Option(help="In which cos and sin are kept; float32.")] = None,
    arithmetic: Annotated[str | None, typer.Option(help="In which products are summed; float32.")] = None,
    positions: Annotated[str | None, typer.Option(help="ids, offset, lengths or none.")] = None,
    causal: Annotated[bool | None, typer.Option(help="Whether later keys are hidden.")] = None,
    inplace: Annotated[bool | None, typer.Option(help="Whether inputs may be overwritten.")] = None,
    gradient: Annotated[bool | None, typer.Option(help="Whether it is trained through.")] = None,
    longest: Annotated[int | None, typer.Option(help="Positions below this are tried; 4096.")] = None,
    adapter: Annotated[
        str | None, typer.Option(help="The library whose signature a kernel that takes tables has, or auto.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full/--quick", help="Also compile it, which takes longer.")
    ] = False,
    device: Annotated[str, typer.Option(help="Where inputs are put: cpu, cuda, …")] = "cpu",
    seconds: Annotated[
        float | None, typer.Option(min=0.1, help="Each subject's time; 60, 300 if full.")
    ] = None,
    baseline: Annotated[Path | None, typer.Option(help="Known findings, each with its reason.")] = None,
    sarif: Annotated[Path | None, typer.Option(help="Write the findings as SARIF 2.1.0 here.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Execute somebody's implementation, say what it is, and which law it breaks where and why.

    Exit status: 0 nothing found, 1 something was, 2 a wrong call.
    """
    claims = _claims(locals())
    level = "full" if full else "quick"
    request = {"options": claims, "level": level, "device": device, "adapter": adapter, "progress": True}
    found = _examined(targets, request, seconds or (300 if full else 60), baseline)
    _written(targets, found, sarif)
    _printed(targets, found, as_json)
    raise typer.Exit(0 if all(document["ok"] for document in found) else 1)


CLAIMS = (
    "kind", "config", "spec", "base", "head_dim", "heads", "kv_heads", "pairing", "layout", "dtype", "table",
    "arithmetic", "positions", "causal", "inplace", "gradient", "longest",
)  # fmt: skip


def _claims(given: dict[str, Any]) -> dict[str, Any]:
    """Options that are claims, paths as text."""
    claims = {name: given[name] for name in CLAIMS}
    return {name: str(value) if isinstance(value, Path) else value for name, value in claims.items()}


def _examined(
    targets: list[str], request: dict[str, Any], limit: float, baseline: Path | None
) -> list[dict[str, Any]]:
    """One target after the other, each in a process of its own."""
    from .doctor import isolated
    from .doctor.baseline import reasons

    known = [{} if baseline is None else reasons(baseline, target) for target in targets]
    found = []
    for target, accepted in zip(targets, known, strict=True):
        typer.echo(f"executes the code of {target}", err=True)
        found.append(isolated.examine(target, isolated.Request(**request, reasons=accepted), limit))
    return found


def _written(targets: list[str], found: list[dict[str, Any]], path: Path | None) -> None:
    if path is None:
        return
    from .. import __version__
    from .certificate import require_writable, write_atomically
    from .doctor.sarif import sarif

    require_writable(path.resolve().parent)
    write_atomically(path, json.dumps(sarif(targets, found, __version__), indent=1).encode())


def _printed(targets: list[str], found: list[dict[str, Any]], as_json: bool) -> None:
    from .. import __version__
    from .doctor.lines import lines

    if as_json:
        subjects = [{"target": t, **document} for t, document in zip(targets, found, strict=True)]
        ok = all(document["ok"] for document in found)
        whole = {"schema": "exptx-check/2", "version": __version__, "ok": ok, "subjects": subjects}
        typer.echo(json.dumps(whole, indent=1, ensure_ascii=False, sort_keys=True))
        return
    for document in found:
        typer.echo("\n".join(lines(document)))


def explain(
    code: Annotated[str | None, typer.Argument(help="A code of `exptx check`; all without one.")] = None,
) -> None:
    """What a finding means: the law, what follows when it is broken, and what mends it."""
    from difflib import get_close_matches

    from .doctor.codes import CODES
    from .errors import UnknownLaw

    if code is None:
        width = max(map(len, CODES))
        for name, law in CODES.items():
            typer.echo(f"{name:{width}}  {law.law}")
        return
    if code not in CODES:
        near = get_close_matches(code, CODES, 3) or list(CODES)[:3]
        raise UnknownLaw(f"code is {code!r}; {', '.join(near)} are some of those that exptx explain lists")
    law = CODES[code]
    typer.echo(f"{code}\n  law:  {law.law}\n  so:   {law.consequence}\n  fix:  {law.fix}")
