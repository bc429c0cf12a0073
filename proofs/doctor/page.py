"""The page of `exptx check --html`: verdicts, findings, residuals beside budgets, frequencies; one file."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from ..certificate import require_writable, write_atomically
from ..errors import MissingExtra
from ..report.canvas import C1, C2, SOFT, draw

Document = dict[str, Any]
STYLE = Path(__file__).resolve().parents[1] / "report" / "style.css"
_OWN = """main { margin: 0 auto; } h1 { max-width: none; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1rem; }
dt { font-weight: 600; } dd { margin: 0; } pre { overflow-x: auto; }
svg { width: 100%; max-width: 46rem; height: auto; } """


def write_page(targets: Sequence[str], found: Sequence[Document], out: Path) -> None:
    """Write the page to `out` by a rename. MissingExtra without matplotlib, Unwritable where it cannot go."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtra("--html needs matplotlib; run pip install 'exptx[report]'")
    require_writable(out.resolve().parent)
    write_atomically(out, page(targets, found).encode())


def page(targets: Sequence[str], found: Sequence[Document]) -> str:
    """The whole page as text, a section a subject."""
    wrong = sum(not document["ok"] for document in found)
    title = f"{len(found)} examined, {wrong} with findings" if len(found) > 1 else escape(targets[0])
    pairs = zip(targets, found, strict=True)
    body = "".join(_section(number, target, document) for number, (target, document) in enumerate(pairs, 1))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{STYLE.read_text()}{_OWN}</style></head><body><main><h1>{title}</h1>{body}</main></body></html>\n"
    )


def _section(number: int, target: str, document: Document) -> str:
    count = len(document["findings"])
    verdict = "nothing found" if not count else f"{count} finding{'s' * (count > 1)}"
    facts = [("subject", target), ("kind", document["kind"]), ("identity", document["identity"])]
    facts += [("verdict", verdict)] + [("unjudged", words) for words in document["unjudged"]]
    parts = [f"<section><h2>{escape(target)}</h2>{_facts(facts)}"]
    parts += [_finding(finding) for finding in document["findings"]]
    if document["measured"]:
        parts.append(_residuals(number, document["measured"]))
    if document["frequencies"]:
        parts.append(_frequencies(number, document["frequencies"]))
    return "".join([*parts, "</section>"])


def _facts(found: Sequence[tuple[str, str]]) -> str:
    return f"<dl>{''.join(f'<dt>{escape(name)}</dt><dd>{escape(text)}</dd>' for name, text in found)}</dl>"


def _finding(finding: Document) -> str:
    off = ""
    if finding["residual"] is not None:
        off = f"off by {finding['residual']:.3g}, allowed {finding['budget']:.3g}"
    rows = [
        ("where", finding["where"]), ("by", off), ("cause", finding["cause"]), ("so", finding["consequence"]),
        ("fix", finding["fix"]),
    ]  # fmt: skip
    shown = escape(finding["reproduction"])
    head = f"<h3>{escape(finding['code'])}: {escape(finding['law'])}</h3>"
    return f"{head}{_facts([row for row in rows if row[1]])}<pre>{shown}</pre>"


def _residuals(number: int, measured: Sequence[Document]) -> str:
    """Residual over budget of each law that holds, on a logarithmic axis; 1 is the limit."""
    shares = [(law["law"], law["residual"] / law["budget"] if law["budget"] else 0.0) for law in measured]
    floor = 1e-8

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        names = [name if len(name) < 64 else f"{name[:61]}…" for name, _ in shares]
        axes.barh(range(len(shares)), [max(share, floor) for _, share in shares], color=C1, height=0.6)
        axes.axvline(1.0, color=C2, linewidth=1, linestyle="--")
        axes.set(xscale="log", xlim=(floor, 3.0), xlabel="residual over what is allowed")
        axes.set_yticks(range(len(shares)), names)
        axes.invert_yaxis()

    worst = max(share for _, share in shares)
    alt = f"{len(shares)} laws hold; the largest residual is {worst:.2g} of what is allowed."
    return draw(f"residuals{number}", (7.2, 0.8 + 0.28 * len(shares)), alt, paint)


def _frequencies(number: int, frequencies: Sequence[Sequence[float]]) -> str:
    """Radians a position against the plane, with the error of each."""
    turning = [(i, w, e) for i, (w, e) in enumerate(frequencies) if w > 0 and math.isfinite(e)]
    if not turning:
        return ""

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        places, waves, errors = zip(*turning, strict=True)
        axes.errorbar(places, waves, yerr=errors, color=C1, ecolor=SOFT, marker=".", linewidth=0.8)
        axes.set(yscale="log", xlabel="plane", ylabel="radians a position")

    alt = f"Frequencies of {len(turning)} planes, from {turning[0][1]:.4g} to {turning[-1][1]:.4g} radians."
    return draw(f"frequencies{number}", (7.2, 3.2), alt, paint)
