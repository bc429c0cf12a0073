"""Walking sympy trees: iterative folds, so that depth never becomes a Python traceback."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

import sympy as sp
from flint import fmpz
from sympy.core.function import AppliedUndef
from sympy.printing.str import StrPrinter

from .errors import Unsupported

Value = TypeVar("Value")
_SYMPY = sp.Basic | sp.MatrixBase
MAX_DEPTH = 200  # sympy itself recurses when it prints, compares or differentiates


def fold(
    root: Any,
    children: Callable[[Any], Iterable[Any]],
    visit: Callable[[Any], Value],
    memo: dict[Hashable, Value],
) -> Value:
    """Values of all nodes below `root`, children first; `visit` finds theirs in `memo`."""
    stack = [root]
    while stack:
        node = stack[-1]
        if node in memo:
            stack.pop()
            continue
        pending = [child for child in children(node) if child not in memo]
        if pending:
            stack.extend(pending)
        else:
            memo[node] = visit(node)
            stack.pop()
    return memo[root]


def text(expression: Any, limit: int = 90) -> str:
    """A short name for a subexpression in a message."""
    try:
        words = _Names().doprint(expression) if isinstance(expression, _SYMPY) else str(expression)
    except (RecursionError, ValueError):  # Python writes no numbers of more than 4300 digits
        if isinstance(expression, sp.Integer | int):
            return f"a number of {len(fmpz(abs(int(expression))).str())} digits"
        return "a very large expression"
    return words if len(words) <= limit else words[: limit - 1] + "…"


class _Names(StrPrinter):
    """sympy's own writing, with e as it is typed."""

    def _print_Exp1(self, _node: sp.Expr) -> str:
        return "e"


def shown(value: object, limit: int = 60) -> str:
    """What a caller gave, on one line as Python writes it, cut if it is long, safe if it is monstrous."""
    try:
        words = " ".join(repr(value).split())
    except (RecursionError, ValueError):
        return "something too large to print"
    return words if len(words) <= limit else words[: limit - 1] + "…"


def check_depth(root: sp.Basic) -> None:
    """depth(root) <= MAX_DEPTH, counted level by level on distinct nodes."""
    level, depth = [root], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise Unsupported(
                f"too large for the exact procedure: the expression is nested more than {MAX_DEPTH} deep; "
                "introduce free symbols for inner parts"
            )
        distinct = {id(child): child for node in level for child in node.args if child.args}
        level = list(distinct.values())


def free_symbols(*roots: sp.Basic) -> set[sp.Symbol]:
    """Symbols that a value depends on; variables bound by Subs are not among them."""
    memo: dict[Hashable, frozenset[sp.Symbol]] = {}

    def visit(node: Any) -> frozenset[sp.Symbol]:
        if isinstance(node, sp.Symbol):
            return frozenset([node])
        if isinstance(node, sp.Subs):
            body, variables, point = node.args
            return (memo.get(body, frozenset()) - set(variables)) | memo.get(point, frozenset())
        return frozenset().union(*(memo[child] for child in _compound(node)))

    return set().union(*(fold(root, _compound, visit, memo) for root in roots))


def _compound(node: Any) -> Iterable[Any]:
    """The distinct arguments that are no numbers."""
    return {id(a): a for a in node.args if a.args or isinstance(a, sp.Symbol)}.values()


def all_atoms(*roots: sp.Basic) -> tuple[set[sp.Symbol], bool]:
    """Every symbol, bound ones included, and whether π occurs."""
    symbols: set[sp.Symbol] = set()
    has_pi, seen, stack = False, set(), list(roots)
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, sp.Symbol):
            symbols.add(node)
        has_pi = has_pi or node is sp.S.Pi
        stack.extend(node.args)
    return symbols, has_pi


def applications(*roots: sp.Basic) -> bool:
    """Whether an undefined function is applied somewhere."""
    seen, stack = set(), list(roots)
    while stack:
        node = stack.pop()
        if isinstance(node, AppliedUndef):
            return True
        if id(node) not in seen:
            seen.add(id(node))
            stack.extend(node.args)
    return False
