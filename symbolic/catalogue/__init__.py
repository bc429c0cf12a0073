"""Named encodings, a file a family; a new one is a function marked `@register` in a file imported here."""

from . import alibi, decay, nope, rope
from .registry import encoding, encodings

__all__ = ["alibi", "decay", "encoding", "encodings", "nope", "rope"]
