"""The one exception of the re-checker: what is wrong, and the exact place in the document where it stands."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager


class Refusal(Exception):
    """A reason, and the place as a list of parts from the outermost inwards."""

    def __init__(self, reason: str, *place: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.place = list(place)

    @property
    def where(self) -> str:
        """`steps[3] "shift", lhs[2][1]`: parts that start with a bracket continue the part before them."""
        text = ""
        for part in self.place:
            text += part if part.startswith("[") or not text else f", {part}"
        return text


@contextmanager
def within(*place: str) -> Generator[None, None, None]:
    """Whatever is refused inside stands at this place."""
    try:
        yield
    except Refusal as refusal:
        refusal.place[:0] = place
        raise
    except RecursionError:
        raise Refusal("is nested too deeply", *place) from None


def shown(value: object, limit: int = 60) -> str:
    """A short text of any JSON value for a message; never the whole of a giant one."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 200:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, (list, dict)):
        return f"a list of {len(value)}" if isinstance(value, list) else f"an object of {len(value)} fields"
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
