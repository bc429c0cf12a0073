"""Sums of encodings: at most one part moves the content or the values, the others only add a bias.

score(t, s) = score of the moving part + Σ of the biases
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import sympy as sp
from sympy.core.function import AppliedUndef

from ..decide import Status, Verdict
from ..encoding import Encoding
from ..entries import GAP, KEY, QUERY, Place, shift_verdict
from ..errors import BadInput, Unsupported, WrongType
from ..generator import Generator
from ..separate import separate
from ..verdict import conjunction
from .bounds import FROM_ABOVE, IN_SIZE, Sides, in_both, in_one, named
from .entrywise import realizable
from .still import Still


class Addable(Encoding):
    """An encoding that adds up with others."""

    def __add__(self, other: object) -> Encoding:
        """Scores add. At most one part may move content or values; generators that commute count as one."""
        if not isinstance(other, Addable):
            raise self._cannot_add(other)
        if other.heads[0] is not other:
            return NotImplemented
        return add(self, other)

    def __radd__(self, other: object) -> Encoding:
        raise self._cannot_add(other)

    def _cannot_add(self, other: object) -> Exception:
        if not isinstance(other, Encoding):
            return WrongType(f"{self.name} was added to a {type(other).__name__}; another encoding works")
        return BadInput(
            f"{self.name} and {other.name} cannot be added: both move the content or the values; in a sum "
            "one part may, and the others only add a bias (members of the family count as one part)"
        )


def add(a: Addable, b: Addable) -> Encoding:
    """The sum of two encodings without heads of their own; BadInput names the rule that it breaks."""
    if a.head_dim != b.head_dim:
        raise BadInput(
            f"{a.name} has head_dim {a.head_dim} and {b.name} has head_dim {b.head_dim}; "
            "give both the same head_dim"
        )
    pieces: list[Encoding] = []
    for part in (*a.parts, *b.parts):
        joined = ((i, piece.merged(part)) for i, piece in enumerate(pieces))
        found = next(((i, both) for i, both in joined if both is not None), None)
        if found is None:
            pieces.append(part)
        else:
            pieces[found[0]] = found[1]
    if len(pieces) == 1:
        return pieces[0]
    _refuse_other_positions(pieces)
    if sum(piece.moves for piece in pieces) > 1:
        raise a._cannot_add(b)
    moving = next((piece.split()[0] for piece in pieces if piece.moves), None)
    parts = a.parts + b.parts
    return Sum(
        name=" + ".join(part.name for part in parts),
        parameters={part.name: part.parameters for part in parts},
        head_dim=a.head_dim,
        moving=moving or Still("still", {}, a.head_dim),
        biases=tuple(bias for piece in pieces for bias in piece.split()[1]),
        summands=parts,
        fixed_scale=_common_scale(pieces),
    )


def _refuse_other_positions(pieces: list[Encoding]) -> None:
    counts = {_coordinates(piece): piece.name for piece in pieces}
    if len(counts) > 1:
        (many, name), (few, other) = sorted(counts.items(), reverse=True)[:2]
        raise BadInput(
            f"{name} and {other} cannot be added: positions of {name} have {many} coordinates, those of "
            f"{other} have {few}"
        )


def _coordinates(encoding: Encoding) -> int:
    position = encoding.shown_positions()[0]
    return len(position) if isinstance(position, tuple) else 1


def _common_scale(pieces: list[Encoding]) -> sp.Expr | None:
    """A bias is made for its scale and keeps it, as a fixed scale is kept; they must agree."""
    holders = [piece for piece in pieces if piece.fixed_scale is not None or piece.split()[1]]
    for piece in holders:
        if piece.scale != holders[0].scale:
            raise BadInput(
                f"{holders[0].name} has scale {holders[0].scale} and {piece.name} has scale {piece.scale}; "
                "give both the same scale"
            )
    return next((piece.fixed_scale for piece in holders if piece.fixed_scale is not None), None)


@dataclass(frozen=True, eq=False, repr=False)
class Sum(Addable):
    """moving: the part that moves content or values, or `Still`. biases: the others, each with q·k alone.

    summands: the encodings that were added. Every answer is that of the sum: biases may cancel.
    """

    moving: Encoding
    biases: tuple[Encoding, ...]
    summands: tuple[Encoding, ...]

    @property
    def parts(self) -> tuple[Encoding, ...]:
        """The encodings that were added."""
        return self.summands

    @property
    def pieces(self) -> tuple[Encoding, ...]:
        """The moving part, then the biases; what was merged is one piece."""
        return (self.moving, *self.biases)

    @property
    def moves(self) -> bool:
        """Whether one part does."""
        return self.moving.moves

    @property
    def generators(self) -> tuple[Generator, ...]:
        """Those of the parts."""
        return tuple(generator for piece in self.pieces for generator in piece.generators)

    def content(self) -> tuple[sp.ImmutableMatrix, sp.ImmutableMatrix]:
        """The columns q and k of the moving part."""
        return self.moving.content()

    def query_lift(self, q: sp.MatrixBase) -> sp.MatrixBase:
        """φ(q) of the moving part."""
        return self.moving.query_lift(q)

    def key_lift(self, k: sp.MatrixBase) -> sp.MatrixBase:
        """ψ(k) of the moving part."""
        return self.moving.key_lift(k)

    def query_factor(self, t: sp.Expr) -> sp.ImmutableMatrix:
        """F(t) of the moving part."""
        return self.moving.query_factor(t)

    def key_factor(self, s: sp.Expr) -> sp.ImmutableMatrix:
        """G(s) of the moving part."""
        return self.moving.key_factor(s)

    def value_factor(self, s: sp.Expr) -> sp.ImmutableMatrix:
        """V(s) of the moving part."""
        return self.moving.value_factor(s)

    def output_factor(self, t: sp.Expr) -> sp.ImmutableMatrix:
        """O(t) of the moving part."""
        return self.moving.output_factor(t)

    def position(self, value: object, name: str) -> object:
        """`value` as a position of every part."""
        for piece in self.pieces:
            value = piece.position(value, name)
        return value

    def shown_positions(self) -> tuple[object, object]:
        """Those of the part that is the most particular about positions."""
        shown = [piece.shown_positions() for piece in self.pieces]
        return next((pair for pair in shown if not isinstance(pair[0], sp.Symbol)), shown[0])

    def bias(self, t: sp.Expr, s: sp.Expr) -> sp.Expr:
        """The sum of the biases."""
        return self.moving.bias(t, s) + self._added(self.biases, t, s)

    def _added(self, biases: tuple[Encoding, ...], t: sp.Expr, s: sp.Expr) -> sp.Expr:
        """The score of zero content, summed over some of the parts."""
        zero = [sp.S.Zero] * self.head_dim
        return sp.Add(*(piece.score(t, s, q=zero, k=zero) for piece in biases))

    def score(self, t: object, s: object, *, q: object = None, k: object = None) -> sp.Expr:
        """The score of the moving part and the biases."""
        t, s = self.position(t, "t"), self.position(s, "s")
        return self.moving.score(t, s, q=q, k=k) + self._added(self.biases, t, s)

    def maps(self, t: sp.Expr, s: sp.Expr) -> dict[str, sp.MatrixBase]:
        """Those of the moving part, and "bias"."""
        return self.moving.maps(t, s) | {"bias": sp.ImmutableMatrix([[self.bias(t, s)]])}

    def is_relative(self) -> Verdict:
        """Decide whether scores and value maps of the sum depend on t - s only.

        One part that does not decides for all. Of several, the biases may cancel each other; what a moving
        part does to q and to -q differs in sign, so no bias cancels it.
        """
        found = self._open("is_relative")
        if len(found) != 1 or found[0][1].status is not Status.REFUTED:
            return self._together(found) if found else self._each("depends on the gap only")
        return named(found[0][0].name, found[0][1])

    def _open(self, question: str) -> list[tuple[Encoding, Verdict]]:
        """The parts of which it is not proved; one alone that is refuted answers for the sum."""
        answers = [(piece, getattr(piece, question)()) for piece in self.pieces]
        return [(piece, verdict) for piece, verdict in answers if verdict.status is not Status.PROVED]

    def _each(self, what: str) -> Verdict:
        return Verdict(Status.PROVED, f"each of {', '.join(part.name for part in self.summands)} {what}")

    def _together(self, found: list[tuple[Encoding, Verdict]]) -> Verdict:
        """Relativity where several parts are refuted, or some are not decided."""
        open_one = next((x for x in found if x[1].status is not Status.REFUTED), None)
        if open_one is not None:
            return named(open_one[0].name, open_one[1])
        guilty = tuple(piece for piece, _ in found)
        zero = sp.zeros(self.head_dim, 1)
        if guilty[0] is self.moving and not any(self.moving.query_lift(zero)):
            piece, verdict = found[0]
            reason = f"{piece.name}: {verdict.reason}; no bias undoes this, which is the same for q and -q"
            return replace(verdict, reason=reason)
        try:
            return self._of_biases(guilty)
        except (BadInput, Unsupported, WrongType) as problem:
            return Verdict(Status.UNDECIDED, f"not decided for the sum of several parts: {problem}")

    def _of_biases(self, guilty: tuple[Encoding, ...]) -> Verdict:
        moved = guilty[0] is self.moving
        total = guilty[1:] if moved else guilty
        view = _Whole(self, lambda t, s: self._added(total, t, s))
        free = shift_verdict(view.maps if moved else view.bias_alone)
        if free.place is None:
            return replace(free.verdict, reason=f"the sum of the biases: {free.verdict.reason}")
        size = view.query_lift(self.content()[0]).rows - 1
        place = free.place if moved else Place("score", size, size)
        refuted = separate(view, place, [pair for piece in guilty for pair in piece.trials])
        return replace(free.verdict, status=Status.UNDECIDED) if refuted is None else refuted

    def in_family(self) -> Verdict:
        """PROVED if every part is; one part outside decides, of several their sum is asked."""
        relative = self.is_relative()
        if relative.status is Status.REFUTED:
            return replace(relative, reason="it is not relative, and every member of the family is")
        if relative.status is not Status.PROVED:
            return relative
        found = self._open("in_family")
        if not found:
            return self._each("is in the family, and so is the sum")
        open_ones = [x for x in found if x[1].status is not Status.REFUTED]
        if len(found) == 1 or open_ones:
            piece, verdict = (open_ones or found)[0]
            return named(piece.name, verdict)
        return self._entries_of(tuple(piece for piece, _ in found))

    def _entries_of(self, guilty: tuple[Encoding, ...]) -> Verdict:
        """Whether what several parts outside the family add up to is inside."""
        if _coordinates(self) > 1:
            return Verdict(Status.UNDECIDED, "several parts are outside; not decided on several axes")
        if guilty[0] is not self.moving:
            return realizable({"bias": (self._added(guilty, GAP, sp.S.Zero),)})
        entries = self.moving.maps(GAP, sp.S.Zero)["score"].todok()
        content = tuple(dict.fromkeys(x for place, x in entries.items() if min(place) < self.head_dim))
        found = realizable({"content": content})
        if found.status is Status.REFUTED:
            return found
        return Verdict(Status.UNDECIDED, "several parts are outside; their sum is not decided")

    def is_bidirectional(self) -> Verdict:
        """Whether the moving part is, and the sum of the biases is bounded from above."""
        return conjunction([self.moving.is_bidirectional(), *self._biases(FROM_ABOVE, "real")])

    def is_bounded(self, domain: str = "real") -> Verdict:
        """Whether the moving part is, and the sum of the biases is bounded in size."""
        return conjunction([self.moving.is_bounded(domain), *self._biases(IN_SIZE, domain)])

    def _biases(self, sides: Sides, domain: str) -> list[Verdict]:
        """The biases with explicit formulas as one, every other one by itself."""
        explicit = tuple(piece for piece in self.biases if _explicit(self, piece))
        found = [self._explicit_bias(explicit, sides, domain)] if explicit else []
        for piece in self.biases:
            if piece not in explicit:
                above = sides is FROM_ABOVE
                own = piece.is_bidirectional() if above else piece.is_bounded(domain)
                found.append(named(piece.name, own))
        return found

    def _explicit_bias(self, explicit: tuple[Encoding, ...], sides: Sides, domain: str) -> Verdict:
        of_gap = sp.expand(self._added(explicit, KEY + GAP, KEY))
        if not of_gap.has(KEY):
            return in_one("the bias", [of_gap], GAP, domain, sides)
        return in_both("the bias", [self._added(explicit, QUERY, KEY)], domain, sides)

    def is_cocycle(self) -> Verdict | None:
        """Decide U(t, s) U(s, r) = U(t, r): of parts without clocks those in the family have it."""
        return self._in_clocks("is_cocycle", "in_family")

    def is_relative_in_clocks(self) -> Verdict | None:
        """Decide whether the sum depends on differences of clock readings and positions only."""
        return self._in_clocks("is_relative_in_clocks", "is_relative")

    def in_family_in_clocks(self) -> Verdict | None:
        """Decide whether every part is exp of generators at differences of clock readings and positions."""
        return self._in_clocks("in_family_in_clocks", "in_family")

    def _in_clocks(self, question: str, without: str) -> Verdict | None:
        answers = [getattr(piece, question)() for piece in self.pieces]
        if all(answer is None for answer in answers):
            return None
        return conjunction(
            named(piece.name, getattr(piece, without)() if answer is None else answer)
            for piece, answer in zip(self.pieces, answers, strict=True)
        )

    @property
    def sentence(self) -> str:
        """The encoding in words, one line."""
        return " + ".join(part.sentence for part in self.summands)


def _explicit(whole: Sum, piece: Encoding) -> bool:
    """Whether the bias of a part is a formula of one coordinate without opaque functions."""
    if _coordinates(piece) > 1:
        return False
    try:
        return not whole._added((piece,), QUERY, KEY).atoms(AppliedUndef, sp.Sum)
    except (BadInput, Unsupported, WrongType):
        return False


@dataclass(frozen=True)
class _Whole:
    """A sum as one matrix with a constant slot for its biases, so that a witness reads the whole score."""

    encoding: Sum
    added: Callable[[sp.Expr, sp.Expr], sp.Expr]

    def content(self) -> tuple[sp.MatrixBase, sp.MatrixBase]:
        return self.encoding.content()

    def query_lift(self, q: sp.MatrixBase) -> sp.MatrixBase:
        return sp.Matrix.vstack(self.encoding.query_lift(q), sp.ones(1, 1))

    def key_lift(self, k: sp.MatrixBase) -> sp.MatrixBase:
        return sp.Matrix.vstack(self.encoding.key_lift(k), sp.ones(1, 1))

    def maps(self, t: sp.Expr, s: sp.Expr) -> dict[str, sp.MatrixBase]:
        return {"score": sp.diag(self.encoding.moving.maps(t, s)["score"], self.added(t, s))}

    def bias_alone(self, t: sp.Expr, s: sp.Expr) -> dict[str, sp.MatrixBase]:
        return {"score": sp.ImmutableMatrix([[self.added(t, s)]])}
