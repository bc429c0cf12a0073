"""The proof report: one self-contained page, drawn from the proofs and read in any browser, offline.

`write_report` is the only door; it needs the extra `report` (jinja2, matplotlib, typst, latex2mathml).
"""

from .pages import write_report

__all__ = ["write_report"]
