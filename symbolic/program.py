"""A straight-line program: what remains of a closed form y = M(t) x when all that depends on t is in tables.

    c = cos(ω·t), s = sin(ω·t)        tables: a number for every position
    y0 = x0*c - x1*s                  steps: sums of products, evaluated from left to right
    y1 = x0*s + x1*c

The kernels are emitted from it. It keeps the closed form that it came from, so it can be checked by itself.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import sympy as sp
from sympy.matrices.expressions import MatMul

from .decide import Verdict, decide
from .errors import BadInput
from .typeset import to_text


@dataclass(frozen=True)
class Term:
    """± a product of symbols: `factors` in the order in which they are multiplied."""

    sign: int
    factors: tuple[sp.Symbol, ...]

    def __post_init__(self) -> None:
        if self.sign not in (1, -1) or not self.factors:
            raise BadInput(f"term is ({self.sign}, {self.factors}); ±1 times symbols works")

    def __str__(self) -> str:
        return " * ".join(factor.name for factor in self.factors)


@dataclass(frozen=True)
class Step:
    """symbol = ± term ± term …, added from left to right."""

    symbol: sp.Symbol
    terms: tuple[Term, ...]

    @property
    def expr(self) -> sp.Expr:
        """The right-hand side."""
        return sp.Add(*(term.sign * sp.Mul(*term.factors) for term in self.terms))

    @property
    def written(self) -> str:
        """The right-hand side with + - * only, as C and Python read it: `x0 * c - x1 * s`."""
        first, *rest = self.terms
        head = str(first) if first.sign > 0 else f"-{first}"
        return head + "".join(f" {'+' if term.sign > 0 else '-'} {term}" for term in rest)


@dataclass(frozen=True)
class Operations:
    """How many products and sums (differences included) a program takes."""

    products: int
    sums: int


@dataclass(frozen=True, repr=False)
class Program:
    """y = M(t) x as steps over inputs and tables.

    name: a name in C and Python, e.g. "damped_turn"; inputs: x0, x1, … the features; tables: (symbol, exact
    expression in the position and the rates); steps: each over inputs, tables and earlier steps; outputs: y0,
    y1, …, each the symbol of a step; closed_form: M(t), of shape (len(outputs),
    len(inputs)); position: the symbol t.
    """

    name: str
    inputs: tuple[sp.Symbol, ...]
    tables: tuple[tuple[sp.Symbol, sp.Expr], ...]
    steps: tuple[Step, ...]
    outputs: tuple[sp.Symbol, ...]
    closed_form: sp.ImmutableMatrix
    position: sp.Symbol

    def __post_init__(self) -> None:
        self._refuse_odd_names()
        if self.closed_form.shape != (len(self.outputs), len(self.inputs)):
            raise BadInput(
                f"closed_form has shape {self.closed_form.shape}; ({len(self.outputs)}, {len(self.inputs)}), "
                "outputs by inputs, works"
            )
        known = [*self.inputs, *(symbol for symbol, _ in self.tables)]
        for step in self.steps:
            unknown = {factor for term in step.terms for factor in term.factors} - {*known}
            if unknown:
                raise BadInput(f"step {step.symbol} uses {min(map(str, unknown))} before it is computed")
            known.append(step.symbol)
        if not {*self.outputs} <= {step.symbol for step in self.steps}:
            raise BadInput("an output is computed by no step")

    def _refuse_odd_names(self) -> None:
        """Names are plain words, one for each thing: emitted text holds nothing else."""
        tables = [symbol for symbol, _ in self.tables]
        names = [symbol.name for symbol in (*self.inputs, *tables, *(step.symbol for step in self.steps))]
        for name in (self.name, *names):
            if not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name) or keyword.iskeyword(name):
                raise BadInput(f"a name is {name[:70]!r}; a plain lower-case word such as x0 works")
        if len({*names}) < len(names):
            raise BadInput(f"one name stands for two things among {', '.join(names)}")

    @property
    def shape(self) -> str:
        """The kind of block in words: "damped turn"."""
        return " ".join(w for w in self.name.split("_") if w not in ("mirrored", "transposed", "inverse"))

    def value(self) -> sp.ImmutableMatrix:
        """The outputs as formulas in the inputs, the position and the rates: a column."""
        return self.value_of((step.symbol, step.expr) for step in self.steps)

    def value_of(self, assignments: Iterable[tuple[sp.Symbol, sp.Expr]]) -> sp.ImmutableMatrix:
        """The outputs after these assignments in order, by the meaning of this program's tables."""
        found: dict[sp.Basic, sp.Expr] = dict(self.tables) | self._fresh
        for symbol, expr in assignments:
            found[symbol] = expr.xreplace(found)
        return sp.ImmutableMatrix([found[output] for output in self.outputs])

    def verify(self) -> Verdict:
        """Whether the steps put back together equal M(t) x, decided exactly."""
        return self.compare(self.value())

    def compare(self, outputs: sp.ImmutableMatrix) -> Verdict:
        """Whether a column of outputs equals M(t) x, decided exactly."""
        x = sp.ImmutableMatrix([self._fresh[symbol] for symbol in self.inputs])
        return decide(outputs, MatMul(self.closed_form, x, evaluate=False))

    @cached_property
    def _fresh(self) -> dict[sp.Symbol, sp.Symbol]:
        """Inputs as they enter formulas: another symbol where a rate has the name of an input."""
        taken = {symbol.name for symbol in self.closed_form.free_symbols | {self.position}}
        return {x: sp.Symbol(f"{x}_in", real=True) if x.name in taken else x for x in self.inputs}

    def operations(self) -> Operations:
        """Products and sums over all steps."""
        terms = [term for step in self.steps for term in step.terms]
        return Operations(sum(len(term.factors) - 1 for term in terms), len(terms) - len(self.steps))

    def roundings(self) -> int:
        """n with |computed y - y| <= γ_n Σ|M_ij||x_j|, γ_n = n u/(1 - n u): factors (1 + δ) on any one path.

        Every table entry, product and sum rounds once at most. A fused multiply-add leaves out one of the
        roundings, so the bound holds whether or not a compiler contracts.
        Source: Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, lemma 3.1.
        """
        depth = dict.fromkeys(self.inputs, 0) | {symbol: 1 for symbol, _ in self.tables}
        for step in self.steps:
            count = len(step.terms)
            depth[step.symbol] = max(
                sum(depth[factor] + 1 for factor in term.factors) - 1 + count - max(i, 1)
                for i, term in enumerate(step.terms)
            )
        return max(depth[output] for output in self.outputs)

    def __str__(self) -> str:
        lines = [f"{symbol} = {to_text(value)}" for symbol, value in self.tables]
        lines += [f"{step.symbol} = {step.written.replace(' * ', '·')}" for step in self.steps]
        return "\n".join([f"{self.name}: {', '.join(map(str, self.outputs))}", *(f"  {x}" for x in lines)])

    def __repr__(self) -> str:
        return f"<Program {self.name}: {len(self.steps)} steps>"


__all__ = ["Operations", "Program", "Step", "Term"]
