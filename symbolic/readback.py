"""Emitted statements read back from their text, to prove that the text itself computes the closed form.

statement  = ["const" type] name "=" sum [";"]          one a line; the semicolon and the type in C only
sum        = ["-"] product {("+" | "-") product}
product    = atom {"*" atom}
atom       = name | "(" sum ")"

Nothing else is read, in particular nothing that C and Python understand differently.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import sympy as sp

from .errors import Unreadable
from .program import Program
from .verdict import Verdict

LANGUAGES = ("c", "torch", "triton")
_NAME = "[a-z][a-z0-9_]*"
_STATEMENT = {
    "c": re.compile(rf" *const [a-z_]+ (?P<name>{_NAME}) = (?P<sum>[^=;]+);"),
    "torch": re.compile(rf" *(?P<name>{_NAME}) = (?P<sum>[^=;]+)"),
}
_STATEMENT["triton"] = _STATEMENT["torch"]
_ASSIGNS = re.compile(r" *(?:const [a-z_]+ )?[yz][0-9]+ = ")
_TOKEN = re.compile(rf" *(?:(?P<name>{_NAME})|(?P<sign>[-+*()]))")


def verify_statements(text: str, language: str, program: Program) -> Verdict:
    """Whether the statements in `text` compute the closed form of the program, decided from the text alone.

    Of the program only the names of inputs, tables and outputs, the meaning of the tables and the closed form
    are used. Unreadable if the text is no list of statements of `language` ("c", "torch" or "triton"), uses a
    name before it is assigned, assigns one twice or never assigns an output.
    """
    known = {symbol.name: symbol for symbol in (*program.inputs, *(symbol for symbol, _ in program.tables))}
    assigned: list[tuple[sp.Symbol, sp.Expr]] = []
    for name, expr in read_statements(text, language, known):
        assigned.append((sp.Symbol(name, real=True), expr))
    missing = {*program.outputs} - {symbol for symbol, _ in assigned}
    if missing:
        raise Unreadable(f"the statements never assign {min(map(str, missing))}")
    return program.compare(program.value_of(assigned))


def statements_in(source: str) -> list[str]:
    """The statements of every run in the source of a whole function: lines that assign y0, z1, …"""
    groups: list[list[str]] = [[]]
    for line in source.splitlines():
        if _ASSIGNS.match(line):
            groups[-1].append(line)
        elif groups[-1]:
            groups.append([])
    return ["\n".join(group) for group in groups if group]


def read_statements(text: str, language: str, known: Mapping[str, sp.Symbol]) -> list[tuple[str, sp.Expr]]:
    """(name, right-hand side) of every line; known: what stands before the first one."""
    if language not in LANGUAGES:
        raise Unreadable(f"language is {language!r}; one of {', '.join(LANGUAGES)} works")
    names, found = dict(known), []
    for line in text.splitlines():
        statement = _STATEMENT[language].fullmatch(line)
        if statement is None:
            raise Unreadable(f"{line.strip()!r} is no statement in {language}")
        if statement["name"] in names:
            raise Unreadable(f"{line.strip()!r} gives {statement['name']} a second value")
        found.append((statement["name"], _Sum(line.strip(), statement["sum"], names).read()))
        names[statement["name"]] = sp.Symbol(statement["name"], real=True)
    return found


@dataclass
class _Sum:
    """A right-hand side, read from left to right."""

    line: str
    text: str
    names: Mapping[str, sp.Symbol]
    place: int = field(default=0)

    def read(self) -> sp.Expr:
        value = self.sum()
        if self.text[self.place :].strip():
            raise self.refusal()
        return value

    def sum(self) -> sp.Expr:
        value = -self.product() if self.take("-") else self.product()
        while sign := self.take("+", "-"):
            value = value + self.product() if sign == "+" else value - self.product()
        return value

    def product(self) -> sp.Expr:
        value = self.atom()
        while self.take("*"):
            value = value * self.atom()
        return value

    def atom(self) -> sp.Expr:
        if self.take("("):
            value = self.sum()
            if not self.take(")"):
                raise self.refusal()
            return value
        found = _TOKEN.match(self.text, self.place)
        if found is None or found["name"] is None:
            raise self.refusal()
        if found["name"] not in self.names:
            raise Unreadable(f"{self.line!r} uses {found['name']} before it has a value")
        self.place = found.end()
        return self.names[found["name"]]

    def take(self, *signs: str) -> str | None:
        """The next sign if it is one of these."""
        found = _TOKEN.match(self.text, self.place)
        if found is None or found["sign"] not in signs:
            return None
        self.place = found.end()
        return found["sign"]

    def refusal(self) -> Unreadable:
        rest = self.text[self.place :].strip()
        return Unreadable(f"{self.line!r} {f'is not read from {rest!r} on' if rest else 'ends too early'}")


__all__ = ["LANGUAGES", "read_statements", "statements_in", "verify_statements"]
