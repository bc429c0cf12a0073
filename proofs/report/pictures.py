"""Owns the pictures of the report: how each one is painted; what is said of them stands in `pictures.toml`.

Numbers come from the encodings and frequencies of the symbolic room; only drawing happens in floats.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import cos, exp, log, pi, sin
from typing import TYPE_CHECKING

import numpy as np

from . import stretched
from .canvas import C1, C2, C3, C4, INK, LINE, SOFT, draw
from .curves import curves, plane_frequencies
from .precision import POSITIONS, WAYS, worst_errors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Picture:
    """One inline picture; `place` is the id of the law it stands beside, empty for the opening."""

    id: str
    svg: str
    caption: str
    place: str
    shape: str


@dataclass(frozen=True)
class Gallery:
    """Three opening pictures, others beside their laws, and those whose law is not in this report."""

    triptych: tuple[Picture, ...]
    by_law: Mapping[str, list[Picture]]
    unplaced: tuple[Picture, ...]


def gallery(laws: set[str]) -> Gallery:
    """Every picture, placed beside the laws of one report."""
    words = tomllib.loads(files(__name__.rpartition(".")[0]).joinpath("pictures.toml").read_text("utf-8"))
    pictures = [_picture(name, words[name]) for name in PAINTERS]
    by_law: dict[str, list[Picture]] = {}
    for picture in pictures:
        if picture.place in laws:
            by_law.setdefault(picture.place, []).append(picture)
    opening = tuple(picture for picture in pictures if not picture.place)
    return Gallery(opening, by_law, tuple(p for p in pictures if p.place and p.place not in laws))


def _picture(name: str, words: Mapping[str, str]) -> Picture:
    svg = drawn(name, words["alt"])
    return Picture(f"picture-{name}", svg, words["caption"], words.get("place", ""), words.get("shape", ""))


@cache
def drawn(name: str, alt: str) -> str:
    """The SVG of one picture; it depends on nothing else, so a process paints it once."""
    paint, size = PAINTERS[name]
    return draw(name, size, alt, paint)


def _bare(axes: Axes) -> None:
    axes.set_axis_off()
    axes.set_aspect("equal")


def _arrow(axes: Axes, x: float, y: float, colour: str, alpha: float) -> None:
    style = {"arrowstyle": "-|>", "color": colour, "lw": 1.3, "alpha": alpha, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=(x, y), xytext=(0, 0), arrowprops=style)


def paint_circle(figure: Figure) -> None:
    """Orbit of (1, 0) under a turn."""
    axes = figure.subplots()
    angle = np.linspace(0, 2 * pi, 200)
    axes.plot(np.cos(angle), np.sin(angle), color=LINE, lw=1)
    for step in range(6):
        a = step * pi / 7
        _arrow(axes, cos(a), sin(a), C1, alpha=0.25 + 0.15 * step)
        axes.text(1.16 * cos(a), 1.16 * sin(a), str(step), ha="center", va="center", fontsize=10)
    axes.set_xlim(-1.32, 1.32)
    axes.set_ylim(-1.32, 1.32)
    _bare(axes)


def paint_fade(figure: Figure, rate: float = 0.1) -> None:
    """exp(-γt) with its half-lives."""
    axes = figure.subplots()
    gap = np.linspace(0, 32, 200)
    axes.plot(gap, np.exp(-rate * gap), color=C2)
    for n in range(1, 5):
        half, left = n * log(2) / rate, 1 / 2**n
        axes.vlines(half, 0, left, color=LINE, lw=1)
        axes.plot([half], [exp(-rate * half)], "o", color=C2, ms=3.5)
        axes.text(half + 0.7, left + 0.03, f"1/{2**n}", fontsize=10)
    axes.axhline(0, color=SOFT, lw=0.7)
    axes.set_xlim(0, 32)
    axes.set_ylim(0, 1.05)
    axes.set_yticks([])
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.set_box_aspect(1)


def paint_slide(figure: Figure) -> None:
    """Orbit of (0, 1) under a slide."""
    axes = figure.subplots()
    axes.plot([-0.6, 5.4], [1.6, 1.6], color=LINE, lw=1)
    axes.plot([-0.6, 5.4], [0, 0], color=SOFT, lw=0.7)
    for step in range(6):
        _arrow(axes, step, 1.6, C3, alpha=0.25 + 0.15 * step)
        axes.text(step, 1.82, str(step), ha="center", fontsize=10)
    axes.set_xlim(-0.7, 5.6)
    axes.set_ylim(-2.1, 3.9)
    _bare(axes)


def paint_lookup(figure: Figure, n: int = 6) -> None:
    """Which map serves which pair of positions."""
    axes = figure.subplots()
    for t in range(n):
        for s in range(n):
            _cell(axes, s, t)
    axes.set_xlim(-0.55, n - 0.45)
    axes.set_ylim(n - 0.45, -0.55)
    axes.set_aspect("equal")
    axes.set_xticks(range(n), [f"s = {s}" for s in range(n)])
    axes.set_yticks(range(n), [f"t = {t}" for t in range(n)])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _cell(axes: Axes, s: int, t: int) -> None:
    from matplotlib.patches import Rectangle

    u = t - s
    colour, alpha, ink = (C1, 0.12 + 0.1 * u, INK) if u >= 0 else (C2, 0.05 - 0.04 * u, SOFT)
    axes.add_patch(Rectangle((s - 0.47, t - 0.47), 0.94, 0.94, facecolor=colour, alpha=alpha, lw=0))
    axes.text(s, t, f"A({u})".replace("-", "−"), ha="center", va="center", color=ink, fontsize=10)


def paint_scores(figure: Figure) -> None:
    """Score against gap, one panel an encoding."""
    panels = figure.subplots(2, 3, sharex=True)
    for axes, curve in zip(panels.flat, curves(), strict=True):
        axes.axhline(0, color=LINE, lw=0.8)
        axes.plot(curve.gaps, curve.scores, color=C1)
        axes.set_title(curve.title, fontsize=11, loc="left")
        axes.margins(x=0)
    for axes in panels[1]:
        axes.set_xlabel("gap t − s")


def paint_clocks(figure: Figure, positions: tuple[int, ...] = (1, 10, 100, 1000)) -> None:
    """The planes of a head of 16 as dials, a row a position."""
    axes = figure.subplots()
    frequencies = plane_frequencies(16)
    for k, w in enumerate(frequencies):
        period = 2 * pi / w
        axes.text(
            2.5 * k, 1.3, f"{period:,.0f}" if period > 10 else f"{period:.2f}", ha="center", fontsize=10
        )
        for row, position in enumerate(positions):
            _dial(axes, 2.5 * k, -2.5 * row, position * w)
    for row, position in enumerate(positions):
        axes.text(-1.6, -2.5 * row, f"t = {position}", ha="right", va="center", fontsize=10)
    axes.set_xlim(-3.4, 2.5 * len(frequencies) - 1.3)
    axes.set_ylim(-2.5 * len(positions) + 1.4, 2)
    _bare(axes)


def _dial(axes: Axes, x: float, y: float, angle: float) -> None:
    from matplotlib.patches import Circle, Wedge

    axes.add_patch(Circle((x, y), 1, fill=False, edgecolor=SOFT, lw=0.8))
    swept = min(angle, 2 * pi) * 180 / pi
    axes.add_patch(Wedge((x, y), 1, 90 - swept, 90, facecolor=C1, alpha=0.22, lw=0))
    axes.plot([x, x + 0.92 * sin(angle)], [y, y + 0.92 * cos(angle)], color=C1, lw=1.6)


def paint_precision(figure: Figure) -> None:
    """Worst table error against position, log-log."""
    axes = figure.subplots()
    label = {"textcoords": "offset points", "va": "center"}
    for way, colour in zip(WAYS, (C2, C4, C3), strict=True):
        errors = worst_errors(way)
        axes.loglog(POSITIONS, errors, color=colour, marker="o", ms=2.2, lw=1.1)
        axes.annotate(way, (POSITIONS[-1], errors[-1]), (8, 0), color=colour, **label)
    axes.set_xlabel("position")
    axes.set_ylabel("largest error of cos, sin")
    axes.grid(True, color=LINE, lw=0.5)
    axes.set_axisbelow(True)


PAINTERS: dict[str, tuple[Callable[[Figure], None], tuple[float, float]]] = {
    "circle": (paint_circle, (2.6, 2.6)),
    "fade": (paint_fade, (2.6, 2.6)),
    "slide": (paint_slide, (2.6, 2.6)),
    "lookup": (paint_lookup, (4.4, 4.2)),
    "scores": (paint_scores, (8.4, 4.4)),
    "clocks": (paint_clocks, (8.4, 4.4)),
    "precision": (paint_precision, (8.4, 3.8)),
    **stretched.PAINTERS,
}
"""How each picture is painted, and its size in inches; in the order of the page."""
