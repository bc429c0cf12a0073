"""Encodings whose score of a query and a key looks at the tokens between them.

    score(t, s) = rule(q, k, x, t, s),   x(l) the features of the token at position l, s < l <= t

Every token may be any token, so x is a column of opaque functions x0(l), x1(l), …. Relative would mean: the
score depends on q, k and t - s only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import sympy as sp

from ..encoding import column
from ..entries import GAP, KEY
from ..errors import BadInput, Unsupported
from ..separate import apart
from ..verdict import Status, Verdict
from .summed import Addable

Tokens = Callable[[sp.Expr], sp.MatrixBase]
Rule = Callable[[sp.MatrixBase, sp.MatrixBase, Tokens, sp.Expr, sp.Expr], sp.Expr]

NEAR = ((1, 1), (1, 2), (2, 1))  # pairs (s, u) with a token between, as `separate.POSITIONS`


def summed(term: Callable[[sp.Expr], sp.Expr], first: sp.Expr, last: sp.Expr) -> sp.Expr:
    """Σ term(l) over first <= l <= last, written out where both ends are whole numbers."""
    if first.is_Integer and last.is_Integer:
        return sp.Add(*(term(sp.Integer(position)) for position in range(first, last + 1)))
    index = sp.Symbol("l", integer=True)
    return sp.Sum(term(index), (index, first, last))


@dataclass(frozen=True, eq=False, repr=False)
class Contextual(Addable):
    """rule: the score from q and k, columns of shape (head_dim, 1), the tokens x, t and s, for t >= s.

    x(l) has shape (head_dim, 1).
    """

    rule: Rule
    trials: Sequence[tuple[int, int]] = field(default=NEAR, kw_only=True)

    @property
    def moves(self) -> bool:
        """Whether the rule does more to q and k than q·k: then it is no bias."""
        t, s = self.shown_positions()
        q, k = self.content()
        rest = sp.expand(self.rule(q, k, self.tokens, t, s) - q.dot(k))
        return rest.has(*q, *k)

    def tokens(self, position: sp.Expr) -> sp.ImmutableMatrix:
        """The column x0(l), x1(l), … of opaque functions, at l = position."""
        return sp.ImmutableMatrix(
            [sp.Function(f"x{i}", real=True)(position) for i in range(int(self.head_dim))]
        )

    def score(self, t: object, s: object, *, q: object = None, k: object = None) -> sp.Expr:
        """The unscaled score, for t >= s."""
        t, s = self.position(t, "t"), self.position(s, "s")
        if (t - s).is_negative:
            raise BadInput(f"t is {t} and s is {s}; {self.name} scores no key after its query, t >= s works")
        symbols = self.content()
        query, key = column(q, symbols[0], "q"), column(k, symbols[1], "k")
        return self.rule(query, key, self.tokens, t, s)

    def query_factor(self, t: sp.Expr) -> sp.ImmutableMatrix:
        """Refused: no factor of the query alone gives the score."""
        raise self._no_factor()

    def key_factor(self, s: sp.Expr) -> sp.ImmutableMatrix:
        """Refused: no factor of the key alone gives the score."""
        raise self._no_factor()

    def _no_factor(self) -> Unsupported:
        return Unsupported(
            f"the score of {self.name} depends on the tokens between key and query and is no product of a "
            "query factor and a key factor; .score(t, s) has it"
        )

    def is_relative(self) -> Verdict:
        """REFUTED by two position pairs of one gap with one q and k, told apart by balls; never proved.

        First with tokens that are all alike, so that only the positions differ, then with others. The witness
        has s, u, q0 …, k0 … and the features x0(l) … of the tokens.
        """
        for base, words in ((1, "every token between e0"), (-1, "the token at l between them (-1)^l e0")):
            for key, gap in self.trials:
                found = self._told_apart(sp.Integer(key), sp.Integer(gap), base, words)
                if found is not None:
                    return found
        return Verdict(Status.UNDECIDED, "no two position pairs of one gap were told apart")

    def _told_apart(self, s: sp.Integer, u: sp.Integer, base: int, words: str) -> Verdict | None:
        (q, k), size = self.content(), int(self.head_dim)
        unit = [1] + [0] * (size - 1)
        between = sorted({*range(int(s) + 1, int(s + u) + 1), *range(1, int(u) + 1)})
        tokens = {
            call: sp.Integer(base**position * entry)
            for position in between
            for call, entry in zip(self.tokens(sp.Integer(position)), unit, strict=True)
        }
        moved, fixed = (self.score(*pair, q=unit, k=unit) for pair in ((s + u, s), (u, sp.S.Zero)))
        found = apart((moved - fixed).xreplace(tokens))
        if found is None:
            return None
        values, difference = found
        given = f" with {', '.join(f'{x} = {value}' for x, value in values.items())}" if values else ""
        reason = (
            f"(t, s) = ({s + u}, {s}) and ({u}, 0) have the same gap, but the scores differ by {difference} "
            f"for q = k = e0 and {words}{given}"
        )
        content = dict(zip([*q, *k], map(sp.Integer, unit * 2), strict=True))
        return Verdict(
            Status.REFUTED, reason, {KEY: s, GAP: u, **content, **tokens, **values}, gap=difference
        )

    def in_family(self) -> Verdict:
        """REFUTED when not relative, as every member of the family is."""
        relative = self.is_relative()
        if relative.status is not Status.REFUTED:
            return relative
        return replace(relative, reason="it is not relative, and every member of the family is")

    def is_bidirectional(self) -> Verdict:
        """NOT_CHECKED: no formula in positions bounds it."""
        return self.is_bounded()

    def latex(self) -> str:
        """The score as LaTeX: written out for up to four features, else by what it depends on."""
        if self.head_dim in (1, 2, 3, 4):
            return super().latex()
        return r"\mathrm{score}(t, s) = f(q, k, x_{s+1}, \dots, x_t)"

    def is_bounded(self, domain: str = "real") -> Verdict:
        """NOT_CHECKED: no formula in positions bounds it."""
        return Verdict(Status.NOT_CHECKED, "the score is made of the tokens between, not of positions alone")
