"""The config that is being read: its keys, what is known of its family, and the notes made on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..walk import shown
from .families import FAMILIES, Family


@dataclass(frozen=True)
class Source:
    """given: the keys of the text part; family: what its model_type fixes, if known; notes, as they came."""

    given: Mapping
    family: Family | None
    notes: dict[tuple[str, str], None] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Mapping) -> Source:
        """The source with the family of its model_type."""
        return cls(given, FAMILIES.get(str(given.get("model_type"))))

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
