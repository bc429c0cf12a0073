"""The commands of the doctor: `exptx check`, `exptx vectors` and `exptx explain`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

# What an implementation is said to do; the same options for `check` and `vectors`.
Kind = Annotated[str | None, typer.Option(help="What it is; see docs/doctor.md. By its arguments.")]
Config = Annotated[Path | None, typer.Option(help="The config.json it is for: what it should do.")]
Spec = Annotated[Path | None, typer.Option(help="Claims as a JSON object, by the names used here.")]
Base = Annotated[float | None, typer.Option(help="Without a config: the base of plain RoPE.")]
HeadDim = Annotated[int | None, typer.Option(help="Features of a head; 64 without it.")]
RotaryDim = Annotated[int | None, typer.Option(help="With a base: features that turn, the first of a head.")]
Heads = Annotated[int | None, typer.Option(help="Heads of queries; 4 without it.")]
KvHeads = Annotated[int | None, typer.Option(help="Heads of keys, where there are fewer.")]
Pairing = Annotated[str | None, typer.Option(help="half or interleaved: what the weights expect.")]
Direction = Annotated[str | None, typer.Option(help="counter-clockwise is x0 cos - x1 sin; or clockwise.")]
Layout = Annotated[str | None, typer.Option(help="bhtd (batch, heads, time, head_dim) or bthd.")]
Dtype = Annotated[str | None, typer.Option(help="Of the inputs: float32, bfloat16, float16, …")]
Angles = Annotated[str | None, typer.Option(help="In which angles are formed; float32.")]
Table = Annotated[str | None, typer.Option(help="In which cos and sin are kept; float32.")]
Arithmetic = Annotated[str | None, typer.Option(help="In which products are summed; float32.")]
Positions = Annotated[str | None, typer.Option(help="ids, offset, lengths or none.")]
Causal = Annotated[bool | None, typer.Option(help="Whether later keys are hidden.")]
Inplace = Annotated[bool | None, typer.Option(help="Whether inputs may be overwritten.")]
Gradient = Annotated[bool | None, typer.Option(help="Whether it is trained through.")]
Longest = Annotated[int | None, typer.Option(help="Positions below this are tried; 4096.")]
Adapter = Annotated[
    str | None, typer.Option(help="The library whose signature a kernel that takes tables has, or auto.")
]
# How it is examined.
Targets = Annotated[
    list[str] | None, typer.Argument(help="file.py:function or package.module:OBJECT, several if you like.")
]
Outputs = Annotated[
    Path | None, typer.Option(help="A folder of `vectors` with outputs.safetensors, in place of a target.")
]
Full = Annotated[bool, typer.Option("--full/--quick", help="Also compile it, which takes longer.")]
Device = Annotated[str, typer.Option(help="Where inputs are put: cpu, cuda, …")]
Limit = Annotated[float | None, typer.Option(min=0.1, help="Each subject's time; 60, 300 if full.")]
Baseline = Annotated[Path | None, typer.Option(help="Known findings, each with its reason.")]
Sarif = Annotated[Path | None, typer.Option(help="Write the findings as SARIF 2.1.0 here.")]
Html = Annotated[Path | None, typer.Option(help="Write a page with pictures here.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def check(
    targets: Targets = None,
    kind: Kind = None,
    config: Config = None,
    spec: Spec = None,
    base: Base = None,
    head_dim: HeadDim = None,
    rotary_dim: RotaryDim = None,
    heads: Heads = None,
    kv_heads: KvHeads = None,
    pairing: Pairing = None,
    direction: Direction = None,
    layout: Layout = None,
    dtype: Dtype = None,
    angles: Angles = None,
    table: Table = None,
    arithmetic: Arithmetic = None,
    positions: Positions = None,
    causal: Causal = None,
    inplace: Inplace = None,
    gradient: Gradient = None,
    longest: Longest = None,
    adapter: Adapter = None,
    outputs: Outputs = None,
    full: Full = False,
    device: Device = "cpu",
    seconds: Limit = None,
    baseline: Baseline = None,
    sarif: Sarif = None,
    html: Html = None,
    as_json: Json = False,
) -> None:
    """Execute somebody's implementation, say what it is, and which law it breaks where and why.

    Exit status: 0 nothing found, 1 something was, 2 a wrong call.
    """
    claims = _claims(locals())
    names = list(targets or [])
    if outputs is not None:
        found, names = _outputs(outputs, names, claims), [str(outputs)]
    else:
        level = "full" if full else "quick"
        request = {"options": claims, "level": level, "device": device, "adapter": adapter, "progress": True}
        found = _examined(names, request, seconds or (300 if full else 60), baseline)
    _written(names, found, sarif, html)
    _printed(names, found, as_json)
    raise typer.Exit(0 if all(document["ok"] for document in found) else 1)


def vectors(
    out: Annotated[
        Path | None, typer.Option(help="A new folder for inputs, exact outputs, manifest.")
    ] = None,
    one: Annotated[bool, typer.Option("--one", help="Only print a vector to check by hand.")] = False,
    kind: Annotated[str, typer.Option(help="rotary, tables, slopes, bias or inv_freq.")] = "rotary",
    config: Config = None,
    spec: Spec = None,
    base: Base = None,
    head_dim: HeadDim = None,
    heads: Heads = None,
    pairing: Pairing = None,
    dtype: Dtype = None,
    longest: Longest = None,
) -> None:
    """Write inputs and exact outputs for a program in another language, which `check --outputs` judges."""
    from .. import __version__
    from .doctor.spec import claims_of
    from .doctor.vectors import decimals, write
    from .errors import BadClaim

    if one:
        typer.echo(decimals.one())
        return
    if out is None:
        raise BadClaim("out is not given; a new folder works, or --one")
    given = {name: value for name, value in locals().items() if name in CLAIMS and value is not None}
    options = {name: str(value) if isinstance(value, Path) else value for name, value in given.items()}
    claims, _ = claims_of(options)
    count = write.write(out, kind, claims, options, __version__)
    typer.echo(f"{count} cases in {out}: write outputs.safetensors there, then exptx check --outputs {out}")


CLAIMS = (
    "kind", "config", "spec", "base", "head_dim", "rotary_dim", "heads", "kv_heads", "pairing",
    "direction", "layout", "dtype", "angles", "table", "arithmetic", "positions", "causal", "inplace",
    "gradient", "longest",
)  # fmt: skip


def _claims(given: dict[str, Any]) -> dict[str, Any]:
    """Options that are claims, paths as text."""
    claims = {name: given[name] for name in CLAIMS}
    return {name: str(value) if isinstance(value, Path) else value for name, value in claims.items()}


def _outputs(folder: Path, targets: list[str], claims: dict[str, Any]) -> list[dict[str, Any]]:
    """A folder of outputs, judged by the claims that its manifest keeps."""
    from .doctor.vectors.judge import document_of
    from .errors import BadClaim

    if targets or any(value is not None for value in claims.values()):
        raise BadClaim(
            "outputs is a folder whose manifest says what is claimed; no target and no claim works"
        )
    return [document_of(folder)]


def _examined(
    targets: list[str], request: dict[str, Any], limit: float, baseline: Path | None
) -> list[dict[str, Any]]:
    """One target after the other, each in a process of its own."""
    from .errors import BadClaim

    if not targets:
        raise BadClaim("no target is named; file.py:function or package.module:OBJECT works, or --outputs")
    from .doctor import isolated
    from .doctor.baseline import reasons

    known = [{} if baseline is None else reasons(baseline, target) for target in targets]
    found = []
    for target, accepted in zip(targets, known, strict=True):
        typer.echo(f"executes the code of {target}", err=True)
        found.append(isolated.examine(target, isolated.Request(**request, reasons=accepted), limit))
    return found


def _written(targets: list[str], found: list[dict[str, Any]], path: Path | None, html: Path | None) -> None:
    """The files that were asked for."""
    if html is not None:
        from .doctor.page import write_page

        write_page(targets, found, html)
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
