"""The walk over a sympy tree that asks a dialect for every construct; `typeset` is its face."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp
from flint import fmpz
from sympy.core.relational import Relational
from sympy.matrices.expressions import (
    BlockMatrix,
    Identity,
    Inverse,
    KroneckerProduct,
    MatAdd,
    MatMul,
    MatPow,
    MatrixSymbol,
    Transpose,
    ZeroMatrix,
)
from sympy.printing.conventions import split_super_sub
from sympy.tensor.indexed import Indexed

from ..matexp import MatExp
from .arrange import MOST_DIGITS, cut, is_exp, kept, negated, operand, shared_operator, sorted_factors, terms
from .dialects import ADD, ATOM, MUL, OPERATOR, POW, Dialect, Piece, Typst


class Writer:
    """The walk. `piece` dispatches on the class of the node; every method returns a Piece."""

    def __init__(self, dialect: Dialect) -> None:
        self.out = dialect
        self.inline = False  # inside exponents a fraction is written on one line

    def raised(self, base: str, exponent: sp.Expr) -> str:
        outer, self.inline = self.inline, True
        text = self.out.power(base, self.text(exponent))
        self.inline = outer
        return text

    def piece(self, node: sp.Basic | sp.MatrixBase) -> Piece:
        for kind, method in _METHODS:
            if isinstance(node, kind):
                return method(self, node)
        return self.call(type(node).__name__, node.args)

    def text(self, node: sp.Basic) -> str:
        return self.piece(node).text

    def grouped(self, node: sp.Basic, level: int) -> str:
        return self.out.group(self.piece(node), level)

    def call(self, name: str, args: tuple[sp.Basic, ...]) -> Piece:
        inside = self.out.parentheses(", ".join(map(self.text, args)))
        return Piece(self.out.function(name) + inside, ATOM)

    # numbers and names

    def integer(self, node: sp.Integer) -> Piece:
        size = self.whole(abs(int(node)))
        return size if node >= 0 else Piece("-" + size.text, ADD)

    def rational(self, node: sp.Rational) -> Piece:
        sign = "-" if node < 0 else ""
        above, below = self.whole(abs(int(node.p))), self.whole(int(node.q))
        return Piece(sign + self.out.slashed(above, below).text, ADD if sign else MUL)

    def whole(self, number: int) -> Piece:
        """The digits of a natural number; of a very long one the first, the last and their count."""
        written = fmpz(number).str()  # Python refuses to write more than 4300 digits
        if len(written) <= MOST_DIGITS:
            return Piece(written)
        return Piece(self.out.long_number(*cut(written)), MUL)

    def constant(self, node: sp.Expr) -> Piece:
        names = {sp.pi: "pi", sp.E: "e", sp.I: "i", sp.oo: "oo"}
        if node is sp.S.NegativeInfinity:
            return Piece("-" + self.out.word("oo"), ADD)
        return Piece(self.out.word(names[node]))

    def symbol(self, node: sp.Symbol | MatrixSymbol) -> Piece:
        return Piece(self.out.name(*split_super_sub(str(node.name))))

    def indexed(self, node: Indexed) -> Piece:
        base = self.out.name(*split_super_sub(str(node.base.label)))
        return Piece(self.out.subscript(base, ", ".join(map(self.text, node.indices))))

    # sums, products, powers

    def add(self, node: sp.Add | MatAdd) -> Piece:
        signed = [self.signed(term) for term in terms(node)]
        first = next((i for i, (negative, _) in enumerate(signed) if not negative), 0)
        signed.insert(0, signed.pop(first))
        text = ("-" if signed[0][0] else "") + signed[0][1]
        for negative, term in signed[1:]:
            text += (" - " if negative else " + ") + term
        return Piece(text, ADD)

    def signed(self, term: sp.Expr) -> tuple[bool, str]:
        """Whether a term of a sum carries a minus, and its text without it."""
        if isinstance(term, (sp.Mul, MatMul)) and term.args[0].is_Rational and term.args[0] < 0:
            return True, self.grouped(negated(term), OPERATOR)
        if term.is_Rational and term < 0:
            return True, self.text(-term)
        return False, self.grouped(term, OPERATOR)

    def mul(self, node: sp.Mul) -> Piece:
        if node.args[0].is_Rational and node.args[0] < 0:
            return Piece("-" + self.grouped(negated(node), OPERATOR), ADD)
        commuting, ordered = node.args_cnc(warn=False)
        above, below, trailing = sorted_factors(commuting)
        if below and not above:  # sin(x)/x, ln(2)/γ: a function may stand above the bar, an exponential not
            above = [f for f in trailing if not is_exp(f)]
            trailing = [f for f in trailing if is_exp(f)]
        parts = [self.fraction(above, below)] if below else [self.piece(f) for f in above]
        return self.chain(parts + [self.piece(f) for f in trailing + ordered])

    def fraction(self, above: list[sp.Expr], below: list[sp.Expr]) -> Piece:
        top = self.chain([self.piece(f) for f in above])
        bar = self.out.slashed if self.inline else self.out.fraction
        return bar(top, self.chain([self.piece(f) for f in below]))

    def chain(self, parts: list[Piece]) -> Piece:
        """Factors side by side, 1 where there are none; a dot where two numbers would run together."""
        if not parts:
            return Piece("1")
        if len(parts) == 1:
            return parts[0]
        text = self.out.group(parts[0], MUL)
        for part in parts[1:]:
            factor = self.out.group(part, MUL)
            text += (self.out.dot if factor[0].isdigit() else self.out.times) + factor
        return Piece(text, MUL)

    def power(self, node: sp.Pow) -> Piece:
        base, exponent = node.args
        if exponent.is_Rational and exponent < 0 and (exponent.is_Integer or exponent.q == 2):
            return self.fraction([], [sp.Pow(base, -exponent, evaluate=False) if exponent != -1 else base])
        if exponent.is_Rational and exponent.p == 1:
            return Piece(self.out.root(self.piece(base), exponent.q), POW)
        if isinstance(base, _NAMED) and exponent.is_Integer:  # cos²(x) rather than cos(x)²
            head = self.out.power(self.out.function(_title(base)), self.text(exponent))
            return Piece(head + self.space + self.out.parentheses(self.text(base.args[0])), ATOM)
        return Piece(self.raised(self.grouped(base, ATOM), exponent), POW)

    @property
    def space(self) -> str:
        return " " if isinstance(self.out, Typst) else ""

    def exponential(self, node: sp.exp) -> Piece:
        return Piece(self.raised(self.out.word("e"), node.args[0]), POW)

    # functions and operators

    def named(self, node: sp.Function) -> Piece:
        return self.call(_title(node), node.args)

    def opaque(self, node: sp.Function) -> Piece:
        head = self.out.name(*split_super_sub(str(node.func)))
        space = "" if head.endswith('"') else self.space
        return Piece(head + space + self.out.parentheses(", ".join(map(self.text, node.args))))

    def absolute(self, node: sp.Abs) -> Piece:
        return Piece(self.out.absolute(self.text(node.args[0])))

    def factorial(self, node: sp.Function) -> Piece:
        return Piece(self.grouped(node.args[0], ATOM) + "!", POW)

    def derivative(self, node: sp.Derivative) -> Piece:
        return self.apply_derivative(self.piece(node.expr), node.variable_count)

    def apply_derivative(self, body: Piece, counts: sp.Tuple) -> Piece:
        variables = [(self.text(x), int(k)) for x, k in counts]
        return self.out.derivative(sum(k for _, k in variables), variables, body)

    def subs(self, node: sp.Subs) -> Piece:
        return self.apply_subs(self.piece(node.expr), node)

    def apply_subs(self, body: Piece, node: sp.Subs) -> Piece:
        values = zip(node.variables, node.point, strict=True)
        return self.out.at(body, [f"{self.text(x)} = {self.text(value)}" for x, value in values])

    def big(self, node: sp.Sum | sp.Product) -> Piece:
        index, lower, upper = node.limits[0]
        inner = node.func(node.function, *node.limits[1:]) if node.limits[1:] else node.function
        sign = "sum" if isinstance(node, sp.Sum) else "product"
        return self.out.big(
            sign, f"{self.text(index)} = {self.text(lower)}", self.text(upper), self.piece(inner)
        )

    def root_sum(self, node: sp.RootSum) -> Piece:
        polynomial, function, _ = node.args
        return self.out.big("sum", f"{self.text(polynomial)} = 0", "", self.piece(function.expr))

    def limit(self, node: sp.Limit) -> Piece:
        body, variable, end, _ = node.args
        lower = f"{self.text(variable)} {self.out.word('to')} {self.text(end)}"
        return self.out.big("limit", lower, "", self.piece(body))

    def relation(self, node: Relational) -> Piece:
        sign = {"==": "=", "!=": "!="}.get(node.rel_op, node.rel_op)
        return Piece(f"{self.text(node.lhs)} {self.out.word(sign)} {self.text(node.rhs)}", -1)

    def boolean(self, node: sp.And | sp.Or) -> Piece:
        word = self.out.word("and" if isinstance(node, sp.And) else "or")
        return Piece(f" {word} ".join(self.grouped(arg, -1) for arg in node.args), -2)

    def piecewise(self, node: sp.Piecewise) -> Piece:
        when = [self.out.word("otherwise") if c == sp.true else self.text(c) for _, c in node.args]
        return Piece(self.out.cases([(self.text(v), w) for (v, _), w in zip(node.args, when, strict=True)]))

    def listing(self, node: sp.Tuple) -> Piece:
        return Piece(self.out.parentheses(", ".join(map(self.text, node.args))))

    # matrices

    def matrix(self, node: sp.MatrixBase) -> Piece:
        shared = shared_operator(node)
        if isinstance(shared, sp.Derivative):
            return self.apply_derivative(self.matrix(node.applyfunc(operand)), shared.variable_count)
        if isinstance(shared, sp.Subs):
            return self.apply_subs(self.matrix(node.applyfunc(operand)), shared)
        return Piece(self.out.matrix(self.cells(node)))

    def cells(self, node: sp.MatrixBase | BlockMatrix) -> list[list[str]]:
        """The entries as text; long rows and columns are cut short with dots."""
        word = self.out.word
        entries = node.blocks if isinstance(node, BlockMatrix) else node
        rows, columns = kept(entries.shape[0]), kept(entries.shape[1])

        def cell(i: int | None, j: int | None) -> str:
            if i is None:
                return word("down") if j is not None else word("diagonal")
            return word("across") if j is None else self.text(entries[i, j])

        return [[cell(i, j) for j in columns] for i in rows]

    def block_matrix(self, node: BlockMatrix) -> Piece:
        return Piece(self.out.matrix(self.cells(node)))

    def mat_mul(self, node: MatMul) -> Piece:
        factors = list(node.args)
        if factors[0].is_Rational and factors[0] < 0:
            return Piece("-" + self.grouped(negated(node), OPERATOR), ADD)
        return self.chain([self.piece(f) for f in factors])

    def kronecker(self, node: KroneckerProduct) -> Piece:
        sign = f" {self.out.word('kron')} "
        return Piece(sign.join(self.grouped(f, POW) for f in node.args), MUL)

    def transpose(self, node: Transpose) -> Piece:
        return Piece(self.out.power(self.grouped(node.arg, ATOM), self.out.word("transpose")), POW)

    def mat_pow(self, node: MatPow | Inverse) -> Piece:
        return Piece(self.out.power(self.grouped(node.base, ATOM), self.text(node.exp)), POW)

    def mat_exp(self, node: MatExp) -> Piece:
        return self.call("exp", node.args)

    def determinant(self, node: sp.Determinant) -> Piece:
        """det and the matrix in its own brackets."""
        return Piece(f"{self.out.function('det')} {self.text(node.args[0])}", MUL)

    def identity(self, node: Identity) -> Piece:
        return Piece(self.out.subscript("I", self.text(node.args[0])))

    def zero(self, _node: ZeroMatrix) -> Piece:
        return Piece("0")

    def trivial(self, node: sp.UnevaluatedExpr) -> Piece:
        return self.piece(node.args[0])

    def truth(self, node: sp.Basic) -> Piece:
        return Piece(self.out.function(str(node).lower()))


_NAMED = (sp.sin, sp.cos, sp.tan, sp.sinh, sp.cosh, sp.tanh, sp.log)
_METHODS: list[tuple[type | tuple[type, ...], Callable[[Writer, object], Piece]]] = [
    (sp.Integer, Writer.integer),
    (sp.Rational, Writer.rational),
    ((type(sp.pi), type(sp.E), type(sp.I), type(sp.oo), type(-sp.oo)), Writer.constant),
    (sp.MatrixBase, Writer.matrix),
    (BlockMatrix, Writer.block_matrix),
    ((sp.Symbol, MatrixSymbol), Writer.symbol),
    (Indexed, Writer.indexed),
    ((sp.Add, MatAdd), Writer.add),
    (sp.Mul, Writer.mul),
    (sp.exp, Writer.exponential),
    (sp.Pow, Writer.power),
    (MatMul, Writer.mat_mul),
    (MatExp, Writer.mat_exp),
    (KroneckerProduct, Writer.kronecker),
    (Transpose, Writer.transpose),
    ((MatPow, Inverse), Writer.mat_pow),
    (sp.Determinant, Writer.determinant),
    (Identity, Writer.identity),
    (ZeroMatrix, Writer.zero),
    (_NAMED, Writer.named),
    (sp.Abs, Writer.absolute),
    (sp.factorial, Writer.factorial),
    (sp.core.function.AppliedUndef, Writer.opaque),
    (sp.Derivative, Writer.derivative),
    (sp.Subs, Writer.subs),
    ((sp.Sum, sp.Product), Writer.big),
    (sp.RootSum, Writer.root_sum),
    (sp.Limit, Writer.limit),
    (Relational, Writer.relation),
    ((sp.And, sp.Or), Writer.boolean),
    (sp.Piecewise, Writer.piecewise),
    (sp.Tuple, Writer.listing),
    (sp.UnevaluatedExpr, Writer.trivial),
    ((type(sp.true), type(sp.false)), Writer.truth),
]


def _title(node: sp.Function) -> str:
    return "ln" if isinstance(node, sp.log) else node.func.__name__
