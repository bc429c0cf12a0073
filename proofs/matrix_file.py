"""A matrix read exactly from a file: whole numbers from .npy, exact numbers and formulas from .json.

A file is somebody else's: its size, its shape and every field of its header are checked before it is decoded.
"""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import sympy as sp

from ..symbolic.errors import ExptxError
from ..symbolic.matrices import is_matrix
from ..symbolic.parse import parse
from .errors import BadFile, UnknownPath

MAX_BYTES, MAX_SIZE = 4_000_000, 128  # of the file, and of each side of the matrix
_READ = f"matrices from 1 by 1 to {MAX_SIZE} by {MAX_SIZE} are read"
_EXACT = 'exact entries: [[0, "-1/10"], ["sqrt(2)", 0]]'
_MAGIC = b"\x93NUMPY"
_LENGTH_BYTES = {(1, 0): 2, (2, 0): 4, (3, 0): 4}  # version of the format -> bytes of the header's length
_MAX_HEADER = 4_096
_HEADER = re.compile(
    r"\{'descr': '(?P<descr>[<>|=]?[?bBiufcmMOSUV]\d{0,4})', 'fortran_order': (?:True|False), "
    r"'shape': \((?P<shape>(?:NUMBER, ?)*(?:NUMBER)?)\), *\} *\n?".replace("NUMBER", r"(?:0|[1-9]\d{0,18})")
)


def read_matrix_file(path: Path) -> sp.ImmutableMatrix:
    """The exact matrix in a .npy file of whole numbers or a .json file [[0, "-1/10"], ["sqrt(2)", 0]].

    At most 128 by 128, 4 MB. Errors: UnknownPath; BadFile with one sentence for everything that is not such a
    file, floats included (a float has no exact meaning: 0.1 may stand for 1/10 or for its 55 digits).
    """
    if path.suffix not in (".npy", ".json"):
        raise BadFile(f"{path} ends in {path.suffix or 'nothing'}; matrices are read from .npy and .json")
    data = _bytes(path)
    return _npy(path, data) if path.suffix == ".npy" else _json(path, data)


def _bytes(path: Path) -> bytes:
    if not path.exists():
        raise UnknownPath(f"{path} does not exist; a .npy or .json file works")
    if not path.is_file():
        raise BadFile(f"{path} is no ordinary file")
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as problem:
        raise BadFile(f"{path} cannot be read: {problem.strerror}") from None
    if len(data) > MAX_BYTES:
        raise BadFile(f"{path} has more than {MAX_BYTES} bytes; {_READ}")
    return data


# ---- .npy ----


def _npy(path: Path, data: bytes) -> sp.ImmutableMatrix:
    header, body = _header(path, data)
    found = _HEADER.fullmatch(header)
    if found is None:
        raise BadFile(f"{path} has a header that numpy.save does not write for a plain matrix")
    kind = _kind(path, found["descr"])
    rows, columns = _sides(path, [int(n) for n in re.findall(r"\d+", found["shape"])])
    if body != rows * columns * kind.itemsize:
        raise BadFile(
            f"{path} holds {body} bytes where a {rows} by {columns} matrix of {kind} has "
            f"{rows * columns * kind.itemsize}; it was cut short or changed"
        )
    matrix = np.load(io.BytesIO(data), allow_pickle=False)
    return sp.ImmutableMatrix([[sp.Integer(int(entry)) for entry in row] for row in matrix.tolist()])


def _header(path: Path, data: bytes) -> tuple[str, int]:
    """(the header's text, how many bytes follow it)."""
    length_bytes = _LENGTH_BYTES.get((data[6], data[7])) if len(data) >= 8 else None
    if not data.startswith(_MAGIC) or length_bytes is None:
        raise BadFile(f"{path} does not begin like a .npy file of version 1, 2 or 3")
    start = 8 + length_bytes
    length = int.from_bytes(data[8:start], "little")
    if length > _MAX_HEADER or start + length > len(data):
        raise BadFile(f"{path} says that its header has {length} bytes, more than there are or are read")
    return data[start : start + length].decode("latin1"), len(data) - start - length


def _kind(path: Path, descr: str) -> np.dtype:
    try:
        kind = np.dtype(descr)
    except (TypeError, ValueError):
        raise BadFile(f"{path} has entries of the unknown type {descr!r}; whole numbers are read") from None
    if kind.kind == "O":
        raise BadFile(f"{path} holds Python objects, which are never unpickled; whole numbers are read")
    if kind.kind in "fc":
        raise BadFile(
            f"{path} holds {kind} numbers, which are rounded; save whole numbers (matrix.astype(int)), "
            f"or a .json file with {_EXACT}"
        )
    if kind.kind not in "iu":
        raise BadFile(f"{path} has entries of type {kind}; whole numbers are read")
    return kind


def _sides(path: Path, shape: list[int]) -> tuple[int, int]:
    if len(shape) != 2 or not all(1 <= side <= MAX_SIZE for side in shape):
        shown = " by ".join(map(str, shape[:4])) + (" by …" if len(shape) > 4 else "")
        raise BadFile(f"{path} holds an array of shape {shown or '()'}; {_READ}")
    return shape[0], shape[1]


# ---- .json ----


def _json(path: Path, data: bytes) -> sp.ImmutableMatrix:
    def inexact(number: str) -> NoReturn:
        exact = number if re.fullmatch(r"-?\d{1,9}\.\d{1,30}", number) else "1/10"
        raise BadFile(f'{path} contains the float {number[:40]}; write it exactly, in quotes: "{exact}"')

    def infinite(word: str) -> NoReturn:
        raise BadFile(f"{path} contains {word}; only finite numbers have a place in a matrix")

    def whole(number: str) -> int | str:
        return number if len(number) > 20 else int(number)  # long ones have the limits of text

    try:
        rows = json.loads(data, parse_float=inexact, parse_constant=infinite, parse_int=whole)
    except (ValueError, RecursionError) as problem:
        if isinstance(problem, BadFile):
            raise
        raise BadFile(f"{path} is no JSON text: {problem}") from None
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise BadFile(f"{path} must hold a list of rows of {_EXACT}")
    widths = sorted({len(row) for row in rows})
    if len(widths) > 1:
        raise BadFile(f"{path} has rows of {widths[0]} and of {widths[-1]} entries; rows are equally long")
    _sides(path, [len(rows), *widths])
    return sp.ImmutableMatrix(
        [[_entry(path, entry, i, j) for j, entry in enumerate(row)] for i, row in enumerate(rows)]
    )


def _entry(path: Path, entry: Any, i: int, j: int) -> sp.Expr:
    if isinstance(entry, int) and not isinstance(entry, bool):
        return sp.Integer(entry)
    if not isinstance(entry, str):
        raise BadFile(
            f'{path} has {json.dumps(entry)[:40]} in entry ({i}, {j}); a whole number or "1/10" works'
        )
    try:
        formula = parse(entry, name=f"entry ({i}, {j})")
    except ExptxError as problem:
        raise BadFile(f"{path}: {problem}") from None
    if is_matrix(formula):
        raise BadFile(f"{path} has a matrix in entry ({i}, {j}); entries are numbers and formulas")
    return formula
