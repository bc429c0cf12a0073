"""What a notebook, a paper and a terminal show of an object: one formula, written three ways."""

from __future__ import annotations

from abc import ABC, abstractmethod
from html import escape

from sympy import Basic, MatrixBase

from .typeset import to_latex


class Shown(ABC):
    """Mixin: `formula` is what is shown; `__str__` gives the text for a terminal."""

    @property
    @abstractmethod
    def formula(self) -> Basic | MatrixBase:
        """The sympy object that stands for this one."""

    def latex(self) -> str:
        """LaTeX without delimiters."""
        return to_latex(self.formula)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def _repr_html_(self) -> str:
        return f'<pre class="exptx">{escape(str(self))}</pre>'
