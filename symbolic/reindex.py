"""Finite sums and products relabelled by a bijection of their index set, of any size (`reindex` steps)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.concrete.expr_with_limits import ExprWithLimits
from sympy.core.function import AppliedUndef, UndefinedFunction

from .admit import admit_scalar, admit_together, check_symbol
from .balls import enclose
from .decide import Status, Verdict
from .errors import BadInput, SingularPoint, Unsupported, WrongType
from .tree import to_tree
from .walk import fold, free_symbols, text

_OPERATIONS = {"sum": (sp.Sum, sp.Add), "product": (sp.Product, sp.Mul)}
_INSTANCES = ((1, 2, 0), (1, 0), (2, 0, 1), (1, 0, 2), (1, 2, 3, 0))
_DRAWS = 6


class _NoInstance(Unsupported):
    """The formula has no value in this small instance."""


@dataclass(frozen=True)
class Reindex:
    """The claim `Σ_j body = Σ_j rhs` over a finite index set of any size, for every bijection p of it.

    index      the symbol j
    bijection  p, an undefined function of one argument: Function("p")
    body, rhs  formulas in j, p, other symbols and undefined functions of indices, such as w(i, j)*v(j)
    operation  "sum" or "product"

    Proved when rhs is body with p(j) for j. Refuted by a small index set, permutation and rational values of
    the functions for which the two differ; otherwise undecided. A row function such as softmax is not looked
    into: it stands as an undefined function, with what is known of it as a hypothesis.
    """

    index: sp.Symbol
    bijection: UndefinedFunction
    body: sp.Expr
    rhs: sp.Expr
    operation: str = "sum"

    def __post_init__(self) -> None:
        if not isinstance(self.index, sp.Symbol):
            raise WrongType(f"index is {self.index!r}; a symbol such as Symbol('j', real=True) works")
        check_symbol(self.index, "index")
        if not isinstance(self.bijection, UndefinedFunction):
            raise WrongType(
                f"bijection is {self.bijection!r}; an undefined function such as Function('p') works"
            )
        if self.operation not in _OPERATIONS:
            raise BadInput(f"operation is {self.operation!r}; 'sum' or 'product' works")
        for name in ("body", "rhs"):
            formula = admit_scalar(getattr(self, name), name)
            if formula.atoms(sp.Derivative, sp.Subs, ExprWithLimits, sp.Lambda):
                raise BadInput(f"{name} is {text(formula)}; one without derivatives, sums, integrals works")
            for call in formula.atoms(AppliedUndef):
                if call.func == self.bijection and len(call.args) != 1:
                    raise BadInput(f"{name} contains {text(call)}; the bijection takes one index")
            object.__setattr__(self, name, formula)
        admit_together((self.index, self.body, self.rhs), "the claim")

    @property
    def relabelled(self) -> sp.Expr:
        """body with p(j) for j."""
        return self.body.xreplace({self.index: self.bijection(self.index)})

    def tree(self) -> dict:
        """The claim as JSON: index, bijection, body, rhs, and operation where it is not a sum."""
        body, rhs = to_tree(self.body), to_tree(self.rhs)
        name = self.bijection.__name__
        if self.rhs == self.relabelled:  # the same formula; keep the order of body's terms and factors
            rhs = _replaced(body, ["sym", self.index.name], ["fn", name, ["sym", self.index.name]])
        found = {"kind": "reindex", "index": self.index.name, "bijection": name, "body": body, "rhs": rhs}
        return found if self.operation == "sum" else {**found, "operation": self.operation}

    def formula(self) -> tuple[sp.Expr, str, sp.Expr]:
        """(Σ_j body, "=", Σ_j rhs)"""
        over = (self.index, 1, sp.Symbol("n"))
        big = _OPERATIONS[self.operation][0]
        return big(self.body, over), "=", big(self.rhs, over)

    def outcome(self, verdict: Verdict) -> dict:
        """What a checker needs besides the claim."""
        return dict(verdict.certificate)

    def check(self) -> Verdict:
        """Compare with the relabelled body; try small instances when it differs."""
        if self.rhs == self.relabelled:
            return Verdict(
                Status.PROVED, f"the right side is the left side with {self.bijection}({self.index})"
            )
        try:
            for permutation in _INSTANCES:
                for draw in range(_DRAWS):
                    verdict = self._separated(_Instance(self.bijection, permutation, draw))
                    if verdict is not None:
                        return verdict
        except _NoInstance as error:
            return Verdict(Status.UNDECIDED, str(error))
        reason = f"the right side is not the left side with {self.bijection}({self.index}) for {self.index}"
        return Verdict(Status.UNDECIDED, f"{reason}, and no small instance tells them apart")

    def _separated(self, instance: _Instance) -> Verdict | None:
        point = instance.point(self.index, self.body, self.rhs)
        join = _OPERATIONS[self.operation][1]
        sides = [
            join(*(instance.value(side, {**point, self.index: sp.Integer(j)}) for j in range(instance.size)))
            for side in (self.body, self.rhs)
        ]
        try:
            gap = enclose(sides[0] - sides[1], digits=8)
        except (SingularPoint, ZeroDivisionError):
            return None
        if gap.lower <= 0 <= gap.upper:
            return None
        return Verdict(
            Status.REFUTED,
            f"for {self.bijection} = {list(instance.permutation)} the sides are {sp.N(gap.lower, 6)} apart",
            witness=point,
            gap=f"[{gap.lower}, {gap.upper}]",
            certificate={
                "permutation": list(instance.permutation),
                "functions": instance.tree(),
                "witness": {x.name: str(value) for x, value in point.items()},
                "gap": [str(gap.lower), str(gap.upper)],
            },
        )


class _Instance:
    """Indices 0 … size-1, a permutation of them, and rational values of functions, chosen when asked for."""

    def __init__(self, bijection: UndefinedFunction, permutation: tuple[int, ...], draw: int) -> None:
        self.bijection, self.permutation, self.draw = bijection, permutation, draw
        self.size = len(permutation)
        self.table: dict[tuple[str, tuple[Any, ...]], sp.Rational] = {}

    def point(self, index: sp.Symbol, *formulas: sp.Expr) -> dict[sp.Symbol, sp.Rational]:
        """Indices for the symbols that stand as arguments of functions, small rationals for the others."""
        calls = {call for formula in formulas for call in formula.atoms(AppliedUndef)}
        indices = {x for call in calls for x in call.args if x.is_Symbol}
        others = sorted(free_symbols(*formulas) - {index}, key=str)
        values = {x: sp.Rational(2 * k + self.draw + 3, k + 2) for k, x in enumerate(others)}
        chosen = {x: sp.Integer((k + self.draw) % self.size) for k, x in enumerate(others) if x in indices}
        return {**values, **chosen}

    def value(self, formula: sp.Expr, point: dict[sp.Symbol, sp.Rational]) -> sp.Expr:
        """The formula with numbers for all symbols and functions."""

        def visit(node: sp.Expr) -> sp.Expr:
            if isinstance(node, AppliedUndef):
                return self._call(node, tuple(memo[x] for x in node.args))
            return point.get(node, node) if not node.args else node.func(*(memo[x] for x in node.args))

        memo: dict[Any, sp.Expr] = {}
        return fold(formula, lambda node: node.args, visit, memo)

    def _call(self, node: AppliedUndef, arguments: tuple[sp.Expr, ...]) -> sp.Rational:
        if any(not isinstance(x, sp.Rational) for x in arguments):
            raise _NoInstance(f"{text(node)} has an argument that is no index; use functions of indices only")
        if node.func == self.bijection:
            if arguments[0] not in range(self.size):
                raise _NoInstance(f"{text(node)} leaves the index set; apply the bijection to indices only")
            return sp.Integer(self.permutation[int(arguments[0])])
        k = len(self.table) + self.draw
        return self.table.setdefault(
            (str(node.func), arguments), sp.Rational((k * k + 3 * k + 1) % 11 - 3, 1 + k % 3)
        )

    def tree(self) -> dict[str, list]:
        """{"f": [[["0", "2"], "5/3"], ...]}"""
        found: dict[str, list] = {}
        for (name, arguments), value in self.table.items():
            found.setdefault(name, []).append([[str(x) for x in arguments], str(value)])
        return found


def _replaced(tree: Any, old: list, new: list) -> Any:
    if tree == old:
        return new
    return [_replaced(part, old, new) for part in tree] if isinstance(tree, list) else tree


__all__ = ["Reindex"]
