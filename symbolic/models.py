"""Models of word relations: rational matrices for letters, checked exactly, and a bounded search for them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import sympy as sp

from .errors import BadInput
from .free import WordPoly, exact_fraction

Matrix = tuple[tuple[Fraction, ...], ...]
Model = dict[str, Matrix]
Rule = tuple[WordPoly, WordPoly]
Rules = Sequence[Rule]
_RESTARTS = 12
_NODES = 1500
_PLAIN = [(1, 0, 0, 1), (0, 1, 0, 0), (1, 1, 0, 1), (0, -1, 1, 0), (2, 0, 0, 1), (0, 1, 1, 0), (1, 0, 0, 0)]
_MORE = [(0, 0, 0, 0), (1, 0, 1, 1), (1, 0, 0, -1), (2, 1, 1, 1), (0, 0, 1, 0), (2, 0, 0, 2), (1, 2, 3, 4)]
_SCALARS = [(2, 0, 0, 2), (1, 0, 0, 1), (3, 0, 0, 3), (-1, 0, 0, -1), (0, 0, 0, 0)]


def exact_model(given: Mapping[str, object], needed: Sequence[str]) -> Model:
    """Square rational matrices of one size for every needed letter; anything else is refused."""
    missing = [name for name in needed if name not in given]
    if missing:
        raise BadInput(f"model has no matrix for {', '.join(missing)}; give one for every letter")
    model = {name: _rows(given[name], name) for name in sorted(given)}
    size = len(next(iter(model.values()), ()))
    for name, rows in model.items():
        if len(rows) != size or any(len(row) != size for row in rows):
            raise BadInput(f"model[{name}] is not {size} x {size}; square matrices of one size work")
    return model


def model_tree(model: Model) -> dict:
    """{letter: [["1", "0"], ["0", "1"]]}"""
    return {name: [[str(x) for x in row] for row in rows] for name, rows in model.items()}


def value(poly: WordPoly, model: Model) -> Matrix:
    """The polynomial at the model."""
    size = len(next(iter(model.values())))
    total = scalar(Fraction(0), size)
    for word, c in poly.terms:
        product = scalar(c, size)
        for name in word:
            product = times(product, model[name])
        total = tuple(
            tuple(x + y for x, y in zip(r, s, strict=True)) for r, s in zip(total, product, strict=True)
        )
    return total


def times(a: Matrix, b: Matrix) -> Matrix:
    """a b"""
    columns = list(zip(*b, strict=True))
    zero = Fraction(0)
    return tuple(
        tuple(sum((x * y for x, y in zip(row, col, strict=True)), zero) for col in columns) for row in a
    )


def scalar(c: Fraction, size: int) -> Matrix:
    """c I"""
    return tuple(tuple(c if i == j else Fraction(0) for j in range(size)) for i in range(size))


def broken_rule(model: Model, central: frozenset[str], rules: Rules) -> str | None:
    """The first relation that the model does not satisfy, in words."""
    for left, right in rules:
        if value(left, model) != value(right, model):
            return f"the rule {left} = {right}"
    for name in sorted(central):
        for other, rows in model.items():
            if times(model[name], rows) != times(rows, model[name]):
                return f"that {name} commutes with {other}"
    return None


def separation(model: Model, sides: tuple[WordPoly, WordPoly]) -> tuple[tuple[int, int], Fraction] | None:
    """The first entry at which the sides differ, and lhs - rhs there."""
    if not model:
        return None
    left, right = value(sides[0], model), value(sides[1], model)
    for i, (r, s) in enumerate(zip(left, right, strict=True)):
        for j, (x, y) in enumerate(zip(r, s, strict=True)):
            if x != y:
                return (i, j), x - y
    return None


def search(names: Sequence[str], central: frozenset[str], rules: Rules, sides: tuple) -> Model | None:
    """A model among small integer 2 x 2 matrices, or None; deterministic, 12 restarts of 1500 trials."""
    for restart in range(_RESTARTS):
        rng = random.Random(restart)
        trials = _models(names, central, rules, rng)
        for _, model in zip(range(_NODES), trials, strict=False):
            if model and separation(model, sides):
                return model
    return None


def _models(names: Sequence[str], central: frozenset[str], rules: Rules, rng: random.Random) -> Iterator:
    """Yield None for every dead end and each model found, depth first; determined letters are computed."""
    pools = {name: _pool(name in central, rng) for name in names}
    order = sorted(names, key=lambda name: (_is_defined(name, rules), name))

    def extend(known: Model) -> Iterator:
        model = _completed(known, rules)
        if model is None or _violates(model, rules):
            yield None
            return
        free = [name for name in order if name not in model]
        if not free:
            yield None if broken_rule(model, central, rules) else model
            return
        for rows in pools[free[0]]:
            yield from extend({**model, free[0]: rows})

    yield from extend({})


def _pool(is_scalar: bool, rng: random.Random) -> list[Matrix]:
    flat = list(_SCALARS if is_scalar else _PLAIN + _MORE)
    rng.shuffle(flat)
    return [((Fraction(a), Fraction(b)), (Fraction(c), Fraction(d))) for a, b, c, d in flat]


def _is_defined(name: str, rules: Rules) -> bool:
    return any(left.word() == (name,) for left, _ in rules)


def _completed(model: Model, rules: Rules) -> Model | None:
    """Add the letters that a rule L -> p or a b -> 1 determines; None if an inverse does not exist."""
    model = dict(model)
    changed = True
    while changed:
        changed = False
        for left, right in rules:
            word = left.word() or ()
            if len(word) == 1 and word[0] not in model and right.letters <= model.keys() and model:
                model[word[0]] = value(right, model)
                changed = True
            unknown = [name for name in word if name not in model]
            if len(word) == 2 and len(unknown) == 1 and word[0] != word[1] and right.word() == ():
                inverse = _inverse(model[word[0] if word[1] == unknown[0] else word[1]])
                if inverse is None:
                    return None
                model[unknown[0]] = inverse
                changed = True
    return model


def _violates(model: Model, rules: Rules) -> bool:
    known = [(left, right) for left, right in rules if left.letters | right.letters <= model.keys()]
    return bool(model) and any(value(left, model) != value(right, model) for left, right in known)


def _inverse(rows: Matrix) -> Matrix | None:
    (a, b), (c, d) = rows
    det = a * d - b * c
    return ((d / det, -b / det), (-c / det, a / det)) if det else None


def _rows(given: object, name: str) -> Matrix:
    rows = given.tolist() if isinstance(given, sp.MatrixBase) else given
    if (
        not isinstance(rows, (list, tuple))
        or not all(isinstance(row, (list, tuple)) for row in rows)
        or not rows
    ):
        raise BadInput(f"model[{name}] is {given!r}; a square matrix of rationals works")
    return tuple(tuple(exact_fraction(x, f"model[{name}]") for x in row) for row in rows)
