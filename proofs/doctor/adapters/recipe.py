"""One way of calling a kernel that takes tables: layout, order of arguments, form and shape of the tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..call import shown
from ..failed import Failed
from .forms import FORMS, SHAPES, Tables, back, laid


@dataclass(frozen=True)
class Recipe:
    """order: letters of the arguments: x, or q and k; c, s for two tables, f for one; p for position ids.

    With p the tables have a row for every position, and ids gather from them; without p they are gathered
    before. layout: of x. form, shape: of the tables, from FORMS and SHAPES.
    """

    order: str
    layout: str
    form: str
    shape: str

    @property
    def words(self) -> str:
        """What it is, for a sentence."""
        named = {
            "x": "x",
            "q": "q",
            "k": "k",
            "c": "cos",
            "s": "sin",
            "f": self.form,
            "p": "position_ids",
        }
        order = ", ".join(named[letter] for letter in self.order)
        forms = f", {self.form}" if "c" in self.order else ""
        return f"({order}) with x {self.layout}{forms}"

    def subject(self, apply: Callable[..., Any], waves: Tensor, longest: int) -> Callable[..., Any]:
        """(x, position_ids) -> y, or (q, k, position_ids) -> (q, k), by calls of `apply`.

        waves: float64 frequencies (r/2,). longest: rows of a table that the kernel gathers from.
        """

        def rotate(x: Tensor, position_ids: Tensor) -> Tensor:
            return self.rotated(apply, (x,), position_ids, waves, longest)[0]

        def rotate_both(q: Tensor, k: Tensor, position_ids: Tensor) -> tuple[Tensor, ...]:
            return self.rotated(apply, (q, k), position_ids, waves, longest)

        found = rotate_both if "q" in self.order else rotate
        found.__name__ = getattr(apply, "__name__", type(apply).__name__)
        return found

    def rotated(
        self, apply: Callable[..., Any], xs: tuple[Tensor, ...], ids: Tensor, waves: Tensor, longest: int
    ) -> tuple[Tensor, ...]:
        """One call; one a row of the batch where rows differ and the tables have no axis for them."""
        rows = ids[None] if ids.ndim == 1 else ids
        alone = self.layout == "thd" or ("p" not in self.order and "b" not in self.shape)
        differ = len(rows) > 1 and bool((rows != rows[:1]).any())
        batch = len(xs[0])
        if alone and batch > 1 and (differ or self.layout == "thd"):
            parts = [
                self._once(apply, tuple(x[b : b + 1] for x in xs), rows[b % len(rows)][None], waves, longest)
                for b in range(batch)
            ]
            return tuple(torch.cat(part) for part in zip(*parts, strict=True))
        return self._once(apply, xs, rows.expand(batch, -1), waves, longest)

    def _once(
        self, apply: Callable[..., Any], xs: tuple[Tensor, ...], ids: Tensor, waves: Tensor, longest: int
    ) -> tuple[Tensor, ...]:
        named: dict[str, Any] = dict(
            zip("xqk" if len(xs) == 1 else "qk", (laid(x, self.layout) for x in xs), strict=False)
        )
        rows = torch.arange(longest)[None] if "p" in self.order else ids
        tables = self._tables(rows, waves, xs[0].dtype)
        named |= dict(zip("cs" if len(tables) == 2 else "f", tables, strict=True))
        named["p"] = ids[0] if self.layout == "thd" else ids
        found = apply(*(named[letter] for letter in self.order))
        outputs = tuple(found) if isinstance(found, (tuple, list)) else (found,)
        if len(outputs) != len(xs) or not all(
            isinstance(y, Tensor) and y.ndim == len(self.layout) for y in outputs
        ):
            raise Failed(f"returned {shown(found)} for {self.words}")
        return tuple(back(y, self.layout) for y in outputs)

    def _tables(self, ids: Tensor, waves: Tensor, dtype: torch.dtype) -> Tables:
        angles = ids.to(torch.float64)[..., None] * waves
        return tuple(SHAPES[self.shape](table) for table in FORMS[self.form](angles, dtype))
