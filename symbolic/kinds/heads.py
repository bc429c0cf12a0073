"""Encodings whose heads differ: one member of the family per head."""

from __future__ import annotations

from dataclasses import dataclass, replace

import sympy as sp

from ..decide import Status, Verdict
from ..encoding import Encoding
from ..errors import BadInput
from ..generator import Generator
from .generated import Generated
from .summed import Addable, Sum


@dataclass(frozen=True, eq=False, repr=False)
class PerHead(Addable):
    """Several heads; a question about one score goes to `heads[h]`, a verdict holds for all of them."""

    members: tuple[Encoding, ...]
    summands: tuple[Encoding, ...] = ()

    @property
    def heads(self) -> tuple[Encoding, ...]:
        """One encoding per head."""
        return self.members

    @property
    def parts(self) -> tuple[Encoding, ...]:
        """The encodings that were added, or this one."""
        return self.summands or (self,)

    @property
    def scale(self) -> sp.Expr:
        """The scale, common to the heads."""
        return self.members[0].scale

    @property
    def generators(self) -> tuple[Generator, ...]:
        """The generator that the heads share; BadInput when they do not."""
        first = self.members[0].generators
        if any(member.generators != first for member in self.members):
            raise self._ask_a_head("generators")
        return first

    def _ask_a_head(self, what: str) -> BadInput:
        return BadInput(
            f"{self.name} has {len(self.members)} heads that differ; ask one of them: heads[0].{what}"
        )

    def score(self, t: object, s: object, *, q: object = None, k: object = None) -> sp.Expr:
        """Refused: ask `heads[h].score(t, s)`."""
        raise self._ask_a_head("score(t, s)")

    def query_factor(self, t: sp.Expr) -> sp.ImmutableMatrix:
        """Refused: ask `heads[h].query_factor(t)`."""
        raise self._ask_a_head("query_factor(t)")

    def key_factor(self, s: sp.Expr) -> sp.ImmutableMatrix:
        """Refused: ask `heads[h].key_factor(s)`."""
        raise self._ask_a_head("key_factor(s)")

    def is_relative(self) -> Verdict:
        """Proved when every head is relative; the first head that is not answers for all."""
        return self._all("is_relative")

    def in_family(self) -> Verdict:
        """Proved when every head is in the family; the first head that is not answers for all."""
        return self._all("in_family")

    def has_group_law(self) -> Verdict:
        """Proved when every head has one."""
        return self._all("has_group_law")

    def is_bidirectional(self) -> Verdict:
        """Proved when every head is; the first head that is not answers for all."""
        return self._all("is_bidirectional")

    def is_bounded(self, domain: str = "real") -> Verdict:
        """Proved when every head is bounded; the first head that is not answers for all."""
        return self._all("is_bounded", domain)

    def _all(self, question: str, *given: str) -> Verdict:
        known: dict[object, Verdict] = {}
        for index, member in enumerate(self.members):
            shape = _shape(member)
            if shape not in known:
                known[shape] = getattr(member, question)(*given)
            if known[shape].status is not Status.PROVED:
                return replace(known[shape], reason=f"head {index}: {known[shape].reason}")
        reasons = "; ".join(dict.fromkeys(verdict.reason for verdict in known.values()))
        return Verdict(
            status=Status.PROVED,
            reason=f"each of {len(self.members)} heads, with a free amplitude: {reasons}",
        )

    def latex(self) -> str:
        """The score of the first head as LaTeX."""
        return self.members[0].latex()

    @property
    def sentence(self) -> str:
        """The encoding in words, one line."""
        return " + ".join(part.sentence for part in self.summands) or super().sentence

    def __add__(self, other: object) -> Encoding:
        """Head by head; an encoding without heads is added to each."""
        return self._plus(other, lambda mine, its: mine + its, lambda mine, its: mine + its)

    def __radd__(self, other: object) -> Encoding:
        return self._plus(other, lambda mine, its: its + mine, lambda mine, its: its + mine)

    def _plus(self, other: object, add, join) -> Encoding:
        if isinstance(other, PerHead):
            others = other.members
        elif isinstance(other, Addable):
            others = (other,) * len(self.members)
        else:
            raise self._cannot_add(other)
        if len(others) != len(self.members):
            raise BadInput(
                f"{self.name} has {len(self.members)} heads and {other.name} has {len(others)}; "
                "give both the same number"
            )
        summands = join(self.parts, other.parts)
        return PerHead(
            name=" + ".join(part.name for part in summands),
            parameters={part.name: part.parameters for part in summands},
            head_dim=self.head_dim,
            members=tuple(map(add, self.members, others)),
            summands=summands,
        )


def _shape(head: Encoding) -> object:
    """What is left of a head when its numbers are freed; heads of one shape have one proof."""
    if isinstance(head, Sum):
        return tuple(map(_shape, head.pieces))
    if not isinstance(head, Generated):
        return head
    free = head.symbolic()[0]
    return free.content_generator, free.biases, free.value_generator
