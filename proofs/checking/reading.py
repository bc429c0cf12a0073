"""Reading with nothing taken on trust: refusals with their place, strict JSON, exact numbers, limits."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

DIGITS, BYTES, WORK = 2000, 1 << 26, 100_000
NUMBER = re.compile(r"(-?[0-9]+)(?:/([0-9]+)|(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,4}))?)")
_spent = [0]


class Refusal(Exception):
    """A reason, and its place in the document such as `steps[3] "shift", lhs[2][1]`."""

    def __init__(self, reason: str, place: str = "") -> None:
        super().__init__(reason)
        self.reason, self.place = reason, place


def need(condition: object, reason: str, place: str = "") -> None:
    if not condition:
        raise Refusal(reason, place)


def spend(steps: int, *, afresh: bool = False) -> None:
    """Count elementary operations: a document that needs too many is refused, not endured."""
    _spent[0] = steps if afresh else _spent[0] + steps
    need(_spent[0] <= WORK, f"needs more than {WORK} elementary operations; smaller steps work")


@contextmanager
def within(place: str) -> Generator[None, None, None]:
    """Whatever is refused inside, or cannot be read, stands at this place."""
    try:
        yield
    except Refusal as refusal:
        joint = ", " if place and refusal.place[:1] not in ("", "[") else ""
        refusal.place = place + joint + refusal.place
        raise
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise Refusal(f"is malformed, or nested too deeply ({str(error)[:100]})", place) from None


def part(value: Any, key: Any, reader: Callable[..., Any], *more: Any) -> Any:
    """What the reader makes of an entry of an object or a list; a refusal stands at its place."""
    with within(f"[{key}]" if isinstance(value, list) else key):
        need(isinstance(value, list) or key in value, "is missing")
        return reader(value[key], *more)


def each(value: Any, reader: Callable[..., Any], *more: Any) -> list[Any]:
    """What the reader makes of all the entries of a list."""
    return [part(value, i, reader, *more) for i in range(len(typed(value, list)))]


def entries(value: Any, reader: Callable[..., Any], *more: Any) -> dict[str, Any]:
    """What the reader makes of all the entries of an object."""
    return {key: part(value, key, reader, *more) for key in typed(value, dict)}


def fields(value: Any, required: Collection[str], optional: Collection[str] = ()) -> dict[str, Any]:
    """An object with exactly these fields."""
    for key in (*required, *typed(value, dict)):
        need(key in value, "is missing", key)
        need(key in required or key in optional, "is not a field that is known here", key[:60])
    return value


def typed(value: Any, kind: type = str) -> Any:
    need(isinstance(value, kind), f"is of the type {type(value).__name__}; {kind.__name__} is needed")
    return value


def one_of(value: Any, known: Collection[Any]) -> Any:
    need(typed(value) in known, f"is {value!r:.60}, none of {', '.join(map(str, known))[:100]}")
    return value


def integer(value: Any, low: int, high: int) -> int:
    need(type(value) is int and low <= value <= high, f"is no integer from {low} to {high}")
    return value


def number(value: Any) -> Fraction:
    """ "2/3", "-5", "-1.5e-3" """
    text = typed(value)
    match = NUMBER.fullmatch(text) if len(text) <= DIGITS else None
    if match is None:
        raise Refusal(f"is {text[:60]!r}; a number such as '2/3', of at most {DIGITS} digits, is needed")
    whole, below, digits, exponent = match.groups(default="")
    return Fraction(int(whole + digits), int(below or 1)) * Fraction(10) ** (int(exponent or 0) - len(digits))


def load(path: Path) -> Any:
    """The document in a file; floats, repeated keys and endless nesting are refused."""

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len(dict(found)) == len(found), "has a field twice in one object")
        return dict(found)

    def no_float(text: str) -> None:
        raise Refusal(f"contains the float {text[:40]}; exact numbers are strings such as '1/10'")

    try:
        regular = stat.S_ISREG(path.stat().st_mode)
        need(regular and path.stat().st_size <= BYTES, f"is no regular file of at most {BYTES} bytes")
        text = path.read_text(encoding="utf-8")
        return json.loads(text, object_pairs_hook=pairs, parse_float=no_float, parse_constant=no_float)
    except (OSError, RecursionError, ValueError) as error:
        raise Refusal(f"cannot be read: {str(error)[:200]}") from None


def canonical(value: Any) -> bytes:
    """The bytes that are hashed and compared: sorted keys, no spaces, UTF-8, a final newline."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
