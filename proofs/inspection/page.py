"""The page of `exptx inspect --html`: the same facts with a picture of each spectrum, in one file."""

from __future__ import annotations

import importlib.util
from html import escape
from pathlib import Path
from typing import Any

from ..certificate import require_writable, write_atomically
from ..errors import MissingExtra
from ..report.canvas import C1, C2, C3, C4, SOFT, draw
from .lines import head, notes, rows

Document = dict[str, Any]
STYLE = Path(__file__).resolve().parents[1] / "report" / "style.css"
_OWN = """main { margin: 0 auto; } h1 { max-width: none; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1rem; }
dt { font-weight: 600; } dd { margin: 0; }
svg { width: 100%; max-width: 46rem; height: auto; } """


def write_page(document: Document, name: str, out: Path) -> None:
    """Write the page to `out` by a rename. MissingExtra without matplotlib, Unwritable where it cannot go."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtra("--html needs matplotlib; run pip install 'exptx[report]'")
    require_writable(out.resolve().parent)
    write_atomically(out, page(document, name).encode())


def page(document: Document, name: str) -> str:
    """The whole page as text."""
    title = escape(head(document, name))
    body = [f"<h1>{title}</h1>"]
    for number, group in enumerate(document["groups"], 1):
        body.append(f"<section>{_facts(list(rows(group)))}")
        if group["encoding"] == "rotary":
            body += [_periods(group, number, document["context"]), _ratios(group, number)]
        body.append("</section>")
    if document["notes"]:
        body.append(f"<section><h2>Keys</h2>{_facts(notes(document))}</section>")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{STYLE.read_text()}{_OWN}</style></head><body><main>{''.join(body)}</main></body></html>\n"
    )


def _facts(found: list[tuple[str, Any]]) -> str:
    told = [(name, text) for name, text in found if text]
    return f"<dl>{''.join(f'<dt>{escape(name)}</dt><dd>{escape(text)}</dd>' for name, text in told)}</dl>"


def _periods(group: Document, number: int, context: int) -> str:
    """Periods against the plane, with the lengths that they are to be compared with."""
    turning = [(k, period) for k, period in enumerate(group["periods"]) if period is not None]
    base, size = group["rope_theta"], 2 * len(group["periods"])

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        plain = [6.283185307179586 * base ** (2 * k / size) for k, _ in turning]
        axes.plot([k for k, _ in turning], plain, color=SOFT, linewidth=0.8, label="base alone")
        axes.plot([k for k, _ in turning], [p for _, p in turning], color=C1, marker=".", label="this rule")
        window = group["window"] if group["reach"] < context else None
        lengths = [
            (context, C2, "context"),
            (group["trained_length"], C3, "training"),
            (window, C4, "window"),
        ]
        for length, colour, label in lengths:
            if length is not None:
                axes.axhline(length, color=colour, linewidth=1, linestyle="--", label=f"{label}, {length}")
        axes.set(yscale="log", xlabel="plane", ylabel="positions a turn")
        axes.legend()

    alt = f"Periods of {len(turning)} planes, from {turning[0][1]:.4g} to {turning[-1][1]:.4g} positions."
    return draw(f"periods{number}", (7.2, 3.6), alt, paint)


def _ratios(group: Document, number: int) -> str:
    """What the rule made of each frequency; nothing where it is the plain table."""
    if group["rule"] in ("default", "proportional"):
        return ""
    base, size = group["rope_theta"], 2 * len(group["frequencies"])
    ratios = [w / base ** (-2 * k / size) for k, w in enumerate(group["frequencies"])]

    def paint(figure: Any) -> None:
        axes = figure.subplots()
        axes.plot(range(len(ratios)), ratios, color=C1, marker=".")
        axes.set(xlabel="plane", ylabel="frequency over that of the base", ylim=(0, 1.05 * max(ratios)))

    alt = f"The rule {group['rule']} multiplies frequencies by {max(ratios):.4g} to {min(ratios):.4g}."
    return draw(f"ratios{number}", (7.2, 2.8), alt, paint)
