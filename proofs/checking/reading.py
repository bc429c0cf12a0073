"""Reading JSON with nothing taken on trust: strict syntax, exact fields, exact numbers, canonical bytes."""

from __future__ import annotations

import hashlib
import json
import re
import stat
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

from .refusal import Refusal, shown, within

DIGITS = 2000
_RATIONAL = re.compile(r"(-?[0-9]+)(?:/([0-9]+))?")
_DECIMAL = re.compile(r"(-?[0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,4}))?")
_BYTES = 64 * 1024 * 1024


def read(path: Path) -> Any:
    """The document in the file. Refuses unreadable files, floats, repeated keys, endless nesting."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise Refusal("is no regular file")
        if status.st_size > _BYTES:
            raise Refusal(f"is larger than {_BYTES} bytes")
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise Refusal(f"cannot be read: {error}") from None
    try:
        return json.loads(text, object_pairs_hook=_pairs, parse_float=_no_float, parse_constant=_no_float)
    except RecursionError:
        raise Refusal("is nested too deeply to be read") from None
    except ValueError as error:
        raise Refusal(f"is not readable JSON: {str(error)[:200]}") from None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise Refusal(f"has the field {shown(twice)} twice in one object")
    return result


def _no_float(text: str) -> None:
    raise Refusal(f"contains the float {text[:40]}; exact numbers are strings such as '1/10'")


def canonical_sha256(document: Any) -> str:
    """SHA-256 of the canonical bytes: sorted keys, no spaces, UTF-8, a final newline."""
    try:
        text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode() + b"\n").hexdigest()
    except (RecursionError, UnicodeEncodeError):
        raise Refusal("has no canonical bytes (nested too deeply, or not Unicode text)") from None


def fields(value: Any, required: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Any]:
    """`value` as an object with exactly these fields."""
    if not isinstance(value, dict):
        raise Refusal(f"is {shown(value)}; an object is needed")
    required, allowed = tuple(required), {*required, *optional}
    for name in required:
        if name not in value:
            raise Refusal("is missing", name)
    for name in value:
        if name not in allowed:
            raise Refusal("is not a field that is known here", name[:60])
    return value


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise Refusal(f"is {shown(value)}; a text is needed")
    return value


def items(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise Refusal(f"is {shown(value)}; a list is needed")
    return value


def texts(value: Any) -> list[str]:
    for i, entry in enumerate(items(value)):
        with within(f"[{i}]"):
            text(entry)
    return value


def distinct(names: list[str]) -> list[str]:
    seen: set[str] = set()
    for i, name in enumerate(names):
        if name in seen:
            raise Refusal(f"names {shown(name)} twice", f"[{i}]")
        seen.add(name)
    return names


def one_of(value: Any, choices: Iterable[str]) -> str:
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        raise Refusal(f"is {shown(value)}; one of {', '.join(choices)} is needed")
    return value


def integer(value: Any, lowest: int, highest: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Refusal(f"is {shown(value)}; an integer is needed")
    if not lowest <= value <= highest:
        raise Refusal(f"is {shown(value)}; an integer from {lowest} to {highest} is needed")
    return value


def rational(value: Any) -> Fraction:
    """ "2/3" or "-5" as a Fraction."""
    match = _RATIONAL.fullmatch(text(value)) if len(text(value)) <= DIGITS else None
    if match is None or (match[2] and not int(match[2])):
        raise Refusal(
            f"is {shown(value)}; a rational number such as '2/3' (at most {DIGITS} digits) is needed"
        )
    return Fraction(int(match[1]), int(match[2] or 1))


def bound(value: Any) -> Fraction:
    """A rational number, or a decimal such as "-1.5e-3", as a Fraction."""
    match = _DECIMAL.fullmatch(text(value)) if len(text(value)) <= DIGITS else None
    if match is None:
        return rational(value)
    whole, part, exponent = match[1], match[2] or "", int(match[3] or 0)
    return Fraction(int(whole + part)) * Fraction(10) ** (exponent - len(part))
