"""Values of a config as whole numbers, flags, texts and lists; what is something else is refused."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import BadInput, WrongType
from ..scaling import LONGEST
from ..walk import shown


def whole_number(given: Mapping, *names: str, least: int = 1, most: int = LONGEST) -> int | None:
    """The value under the first of the names that has one; whole floats (4096.0) count, None is absent."""
    for name in names:
        value = given.get(name)
        if value is not None:
            return _whole(value, name, least, most)
    return None


def _whole(value: object, name: str, least: int, most: int) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise WrongType(f"{name} is {shown(value)}; a whole number works, e.g. {max(least, 64)}")
    if not least <= value <= most:
        raise BadInput(f"{name} is {shown(value)}; a whole number from {least} to {most} works")
    return value


def flag(given: Mapping, name: str, absent: bool) -> bool:
    """True or False; `absent` where the key is missing or null."""
    value = given.get(name)
    if value is None:
        return absent
    if not isinstance(value, bool):
        raise WrongType(f"{name} is {shown(value)}; true or false works")
    return value


def word(given: Mapping, name: str) -> str | None:
    """A text, or None."""
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise WrongType(f"{name} is {shown(value)}; a text works")
    return value


def table(given: Mapping, name: str) -> Mapping | None:
    """A mapping with text keys, or None where it is missing, null or empty."""
    value = given.get(name)
    if value is None or value == {}:
        return None
    if not isinstance(value, Mapping):
        raise WrongType(f"{name} is {shown(value)}; a mapping works, e.g. {{'rope_type': 'default'}}")
    return text_keys(value, name)


def text_keys(value: Mapping, name: str) -> Mapping:
    """The mapping itself, whose keys must be texts."""
    for key in value:
        if not isinstance(key, str):
            raise WrongType(f"{name} has the key {shown(key)}; keys are texts")
    return value


def row(given: Mapping, name: str) -> list | None:
    """A list, or None."""
    value = given.get(name)
    if value is None:
        return None
    if isinstance(value, str) or not isinstance(value, list | tuple):
        raise WrongType(f"{name} is {shown(value)}; a list works")
    return list(value)
