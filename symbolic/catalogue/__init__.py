"""Named encodings, a file a family. A new one is a function marked `@register` in any file of this folder."""

from pathlib import Path

from .registry import encoding, encodings, entries, gather

gather(Path(__file__).parent, __name__)

__all__ = ["encoding", "encodings", "entries"]
