"""The config that is being read: its keys, what is known of its family, and the notes made on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..walk import shown
from .families import FAMILIES, Family

LENGTHS = ("max_position_embeddings", "n_positions", "max_seq_len", "model_max_length", "seq_length")
UNREAD = (
    "offset_alibi",
    "original_rope",
)  # keys about positions in published configs that no code computes with


@dataclass(frozen=True)
class Source:
    """given: the keys of the text part; family: what its model_type fixes, if known; notes, as they came."""

    given: Mapping
    family: Family | None
    notes: dict[tuple[str, str], None] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Mapping) -> Source:
        """The source with the family of its model_type."""
        found = cls(given, FAMILIES.get(str(given.get("model_type"))))
        for key in UNREAD:
            if given.get(key) is not None:
                found.note(key, "nothing reads it")
        return found._with_length()

    def _with_length(self) -> Source:
        """The same with the length that the model's code takes where its config has none."""
        length = None if self.family is None else self.family.length
        if length is None or any(self.given.get(name) is not None for name in LENGTHS):
            return self
        self.note("max_position_embeddings", f"it is absent; {self.model_type} then takes {length}")
        return Source({**self.given, "max_position_embeddings": length}, self.family, self.notes)

    @property
    def model_type(self) -> str:
        """The model_type as a message shows it."""
        return f"model_type {shown(self.given.get('model_type'))}"

    @property
    def unknown(self) -> str:
        """That nothing is known of the model's code, as a message says it."""
        absent = self.given.get("model_type") is None
        return "there is no model_type" if absent else f"{self.model_type} is not known"

    def note(self, key: str, sentence: str) -> None:
        """Say once what `key` means here."""
        self.notes.setdefault((key, sentence))
