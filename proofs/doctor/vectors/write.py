"""A folder of vectors: inputs.safetensors, expected.safetensors and manifest.json, whole or not at all."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from ...errors import MissingExtra, Unwritable
from ..claims import Claims
from .cases import case_of, inputs_of
from .decimals import sample

SCHEMA = "exptx-vectors/1"


def write(folder: Path, kind: str, claims: Claims, options: Mapping[str, Any], version: str) -> int:
    """Write the vectors of a kind, and return how many cases there are.

    folder: new, or empty. options: what `spec.claims_of` made the claims of; the manifest keeps them.
    expected.safetensors holds each output in float64, under its name, and rounded to the claimed dtype, under
    its name with ".rounded". Unwritable where it cannot go, MissingExtra without safetensors.
    """
    try:
        from safetensors.torch import save
    except ImportError:
        raise MissingExtra("vectors need safetensors; run pip install 'exptx[torch]'") from None
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Unwritable(f"{folder} is there and not an empty folder; a new one works")
    inputs, expected, entries = {}, {}, []
    for name, given in inputs_of(kind, claims).items():
        case = case_of(kind, claims, name, given)
        output = f"{name}/out"
        inputs.update({f"{name}/{key}": value.contiguous() for key, value in given.items()})
        expected[output] = case.expected.contiguous()
        expected[f"{output}.rounded"] = case.expected.to(getattr(torch, claims.dtype)).contiguous()
        entries.append(
            {
                "name": name,
                "inputs": [f"{name}/{key}" for key in given],
                "output": output,
                "shape": list(case.expected.shape),
                "dtype": claims.dtype,
                "law": case.law,
                "largest_allowed_error": float(case.allowed.max()),
            }
        )
    manifest = {
        "schema": SCHEMA,
        "version": version,
        "kind": kind,
        "claims": {key: value for key, value in options.items() if value is not None},
        "write": "outputs.safetensors, each output under its name; exptx check --outputs judges the folder",
        "decimals": sample(claims, kind),
        "cases": entries,
    }
    _placed(folder, {"inputs.safetensors": save(inputs), "expected.safetensors": save(expected)}, manifest)
    return len(entries)


def _placed(folder: Path, files: Mapping[str, bytes], manifest: Mapping[str, Any]) -> None:
    """All files in a folder beside, renamed when it is whole."""
    parent = folder.resolve().parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(dir=parent, prefix=f".{folder.name}."))
    except OSError as error:
        raise Unwritable(f"cannot write {folder}: {error.strerror or error}; name another folder") from error
    try:
        for name, content in files.items():
            (new / name).write_bytes(content)
        text = json.dumps(manifest, indent=1, ensure_ascii=False)
        (new / "manifest.json").write_text(text, encoding="utf-8")
        new.chmod(0o755)
        if folder.exists():
            folder.rmdir()
        new.rename(folder)
    except OSError as error:
        raise Unwritable(f"cannot write {folder}: {error.strerror or error}; name another folder") from error
    finally:
        shutil.rmtree(new, ignore_errors=True)
