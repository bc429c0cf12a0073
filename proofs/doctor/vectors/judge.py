"""outputs.safetensors of a program in another language, held to exact values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import Tensor

from ...errors import BadFile, MissingExtra, UnknownPath
from ...inspection.config_file import read_config_file
from ..findings import Diagnosis, Finding, Measured
from ..spec import claims_of
from .cases import CODES_OF, Case, case_of
from .write import SCHEMA

LARGEST = 1 << 30  # bytes of a file that is read


def judge(folder: Path) -> Diagnosis:
    """Every case of the folder's manifest: the first entry beyond what is allowed, and why.

    UnknownPath or BadFile for a folder without vectors; an output that is missing is a finding.
    """
    manifest = read_config_file(folder / "manifest.json")
    if manifest.get("schema") != SCHEMA:
        raise BadFile(f"{folder / 'manifest.json'} is no manifest of exptx vectors; exptx vectors writes one")
    kind, entries, said = (manifest.get(key) for key in ("kind", "cases", "claims"))
    whole = isinstance(kind, str) and isinstance(entries, list) and isinstance(said, dict)
    if not whole or not all(isinstance(entry, dict) for entry in entries):
        raise BadFile(f"{folder / 'manifest.json'} lacks kind, claims or cases; exptx vectors writes them")
    claims, _ = claims_of(said)
    inputs, outputs = (_tensors(folder / f"{name}.safetensors") for name in ("inputs", "outputs"))
    findings, measured = [], []
    for entry in entries:
        name, out = str(entry.get("name")), str(entry.get("output"))
        mine = f"{name}/"
        given = {key.removeprefix(mine): value for key, value in inputs.items() if key.startswith(mine)}
        try:
            case = case_of(kind, claims, name, given)
        except (KeyError, IndexError, RuntimeError):
            raise BadFile(
                f"{folder / 'inputs.safetensors'} does not hold the inputs of {name!r} as they were written"
            ) from None
        found = _judged(case, outputs.get(out), out, str(entry.get("dtype")))
        (findings if isinstance(found, Finding) else measured).append(found)
    identity = f"outputs of {len(entries)} calls of kind {kind}"
    return Diagnosis(str(folder), kind, identity, tuple(findings), tuple(measured), ())


def _tensors(path: Path) -> dict[str, Tensor]:
    try:
        from safetensors import SafetensorError
        from safetensors.torch import load
    except ImportError:
        raise MissingExtra("vectors need safetensors; run pip install 'exptx[torch]'") from None
    if not path.is_file():
        raise UnknownPath(f"{path} does not exist; a program reads the inputs and writes its outputs there")
    if path.stat().st_size > LARGEST:
        raise BadFile(f"{path} has {path.stat().st_size} bytes; {LARGEST} at most are read")
    try:
        return load(path.read_bytes())
    except SafetensorError as error:
        raise BadFile(f"{path} is no safetensors file: {error}") from None


def _judged(case: Case, found: Tensor | None, out: str, dtype: str) -> Finding | Measured:
    show = f"exptx vectors writes the inputs of {case.name!r}; expected.safetensors holds {out!r}"

    def broken(code: str, where: str, cause: str) -> Finding:
        return Finding(code, where, None, None, cause, show)

    if found is None:
        return broken("call", out, "outputs.safetensors lacks it")
    shape = tuple(case.expected.shape)
    if tuple(found.shape) != shape:
        return broken("call", out, f"it has shape {tuple(found.shape)}; {shape} was expected")
    if not found.is_floating_point() or not found.isfinite().all():
        return broken("call", out, "it holds other than finite floating-point numbers")
    came = str(found.dtype).removeprefix("torch.")
    if came not in (dtype, "float32", "float64"):
        return broken("dtype", out, f"it is in {came}, claimed {dtype}")
    off = (found.double() - case.expected).abs()
    beyond = (off > case.allowed).nonzero()
    if not len(beyond):
        at = int((off / case.allowed).nan_to_num(0.0).argmax())
        words = f"{case.name}: {case.law}"
        return Measured(words, float(off.flatten()[at]), float(case.allowed.flatten()[at]))
    at = tuple(beyond[0].tolist())
    code, cause = _cause(case, found.double())
    where = f"{case.name}, entry {list(at)}"
    return Finding(code, where, float(off[at]), float(case.allowed[at]), cause, show)


def _cause(case: Case, found: Tensor) -> tuple[str, str]:
    """The first usual mistake that gives these numbers within what is allowed.

    One that gives what is expected, in this case, is none.
    """
    guesses = list(case.guesses())
    if found.ndim > 1 and found.shape[-1] == found.shape[-2]:
        guesses.append((CODES_OF[case.kind], "the last two axes are exchanged", case.expected.mT))
    for code, words, wrong in guesses:
        same = bool(((wrong - case.expected).abs() <= 4 * case.allowed).all())
        if not same and bool(((found - wrong).abs() <= 2 * case.allowed).all()):
            return code, words
    return CODES_OF[case.kind], "unknown"


def document_of(folder: Path) -> dict[str, Any]:
    """The document of `isolated`, for one folder."""
    from ..isolated import document

    return document(judge(folder))
