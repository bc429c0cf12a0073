"""Named encodings, a file a family; a new one is a function marked `@register` in a file imported here."""

from . import nope, rope, decay, alibi, absolute, misplaced, gap_bias  # noqa: I001  (order of the listing)
from .registry import document, encoding, encodings

document()

__all__ = ["absolute", "alibi", "decay", "encoding", "encodings", "gap_bias", "misplaced", "nope", "rope"]
