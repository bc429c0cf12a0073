"""Owns the pictures of the report: what each one shows, its caption and its alternative text.

Numbers come from the encodings and frequencies of the symbolic room; only drawing happens in floats.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import cos, exp, log, pi, sin

import numpy as np

from .canvas import C1, C2, C3, C4, INK, LINE, SOFT, Picture, draw
from .curves import curves, plane_frequencies
from .precision import POSITIONS, WAYS, worst_errors


@dataclass(frozen=True)
class Gallery:
    """The three opening pictures, and the others, each beside its law."""

    triptych: tuple[Picture, ...]
    others: tuple[Picture, ...]

    def placed(self, laws: set[str]) -> Placed:
        by_law: dict[str, list[Picture]] = {}
        for picture in self.others:
            if picture.place in laws:
                by_law.setdefault(picture.place, []).append(picture)
        unplaced = tuple(picture for picture in self.others if picture.place not in laws)
        return Placed(self.triptych, by_law, unplaced)


@dataclass(frozen=True)
class Placed:
    """The gallery beside the laws of one report; `unplaced` pictures have no law there."""

    triptych: tuple[Picture, ...]
    by_law: Mapping[str, list[Picture]]
    unplaced: tuple[Picture, ...]


def gallery() -> Gallery:
    """Every picture of the report."""
    return Gallery((circle(), fade(), slide()), (lookup_table(), scores(), clocks(), precision()))


def _bare(axes) -> None:
    axes.set_axis_off()
    axes.set_aspect("equal")


def _arrow(axes, x: float, y: float, colour: str, alpha: float = 1.0, start=(0.0, 0.0)) -> None:
    style = {"arrowstyle": "-|>", "color": colour, "lw": 1.3, "alpha": alpha, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=(x, y), xytext=start, arrowprops=style)


def circle() -> Picture:
    """Orbit of (1, 0) under a turn."""

    def paint(figure) -> None:
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

    alt = "An arrow of constant length, turned by the same angle at each of five steps along a circle."
    svg = draw("circle", (2.6, 2.6), alt, paint)
    return Picture(
        "picture-circle", svg, "*Turn.* Complex eigenvalues: the arrow keeps its length. This is RoPE."
    )


def fade() -> Picture:
    """e^{-γt} with its half-lives."""
    rate = 0.1

    def paint(figure) -> None:
        axes = figure.subplots()
        gap = np.linspace(0, 32, 200)
        axes.plot(gap, np.exp(-rate * gap), color=C2)
        for n in range(1, 5):
            half = n * log(2) / rate
            axes.vlines(half, 0, exp(-rate * half), color=LINE, lw=1)
            axes.plot([half], [exp(-rate * half)], "o", color=C2, ms=3.5)
            axes.text(half + 0.7, exp(-rate * half) + 0.03, f"1/{2**n}", fontsize=10)
        axes.axhline(0, color=SOFT, lw=0.7)
        axes.set_xlim(0, 32)
        axes.set_ylim(0, 1.05)
        axes.set_yticks([])
        axes.set_xticks([])
        axes.spines["bottom"].set_visible(False)
        axes.spines["left"].set_color(SOFT)
        axes.set_box_aspect(1)

    alt = "A curve falling from one towards zero, with a mark at each half-life."
    svg = draw("fade", (2.6, 2.6), alt, paint)
    return Picture(
        "picture-fade", svg, "*Fade.* A negative real part: half is lost in each half-life. This is decay."
    )


def slide() -> Picture:
    """Orbit of (0, 1) under a slide."""

    def paint(figure) -> None:
        axes = figure.subplots()
        axes.plot([-0.6, 5.4], [1.6, 1.6], color=LINE, lw=1)
        axes.plot([-0.6, 5.4], [0, 0], color=SOFT, lw=0.7)
        for step in range(6):
            _arrow(axes, step, 1.6, C3, alpha=0.25 + 0.15 * step)
            axes.text(step, 1.82, str(step), ha="center", fontsize=10)
        axes.set_xlim(-0.7, 5.6)
        axes.set_ylim(-2.1, 3.9)
        _bare(axes)

    alt = "An arrow whose tip moves sideways along a line by the same distance at each of five steps."
    svg = draw("slide", (2.6, 2.6), alt, paint)
    return Picture(
        "picture-slide", svg, "*Slide.* A missing eigenvector: linear growth in the gap. This is ALiBi."
    )


def lookup_table(n: int = 6) -> Picture:
    """Which map serves which pair of positions."""

    def paint(figure) -> None:
        axes = figure.subplots()
        for t in range(n):
            for s in range(n):
                u = t - s
                colour, alpha = (C1, 0.12 + 0.13 * u) if u >= 0 else (C2, 0.05 + 0.05 * -u)
                axes.add_patch(_cell(s, t, colour, alpha))
                weight = {"color": INK if u >= 0 else SOFT, "fontsize": 10}
                axes.text(s, t, f"A({u})".replace("-", "−"), ha="center", va="center", **weight)
        axes.set_xlim(-0.55, n - 0.45)
        axes.set_ylim(n - 0.45, -0.55)
        axes.set_aspect("equal")
        axes.set_xticks(range(n), [f"s = {s}" for s in range(n)])
        axes.set_yticks(range(n), [f"t = {t}" for t in range(n)])
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)

    alt = f"A grid of {n} query by {n} key positions; cells on one diagonal carry the same map."
    caption = (
        f"Which map serves which pair. Every diagonal `t − s` holds one map, so {n} tokens need {2 * n - 1} maps "
        f"for {n * n} pairs; a causal mask removes the pale upper triangle and leaves {n}."
    )
    return Picture("picture-lookup", draw("lookup", (4.4, 4.2), alt, paint), caption, "bridge", "small")


def _cell(x: float, y: float, colour: str, alpha: float):
    from matplotlib.patches import Rectangle

    return Rectangle((x - 0.47, y - 0.47), 0.94, 0.94, facecolor=colour, alpha=alpha, lw=0)


def scores() -> Picture:
    """Score against gap, one panel an encoding."""

    def paint(figure) -> None:
        panels = figure.subplots(2, 3, sharex=True)
        for axes, curve in zip(panels.flat, curves(), strict=True):
            axes.axhline(0, color=LINE, lw=0.8)
            axes.plot(curve.gaps, curve.scores, color=C1)
            axes.set_title(curve.title, fontsize=11, loc="left")
            axes.margins(x=0)
        for axes in panels[1]:
            axes.set_xlabel("gap t − s")

    alt = "Six small plots of the score against the gap: constant, waves, decay, damped waves, a line, falling waves."
    caption = (
        "The score of one fixed query and key against their gap, from the encodings' own formulas: all eight planes"
        " `(1, 0)` at head dimension 16 and base 10000, rate `γ = 1/10`, slope `m = 1/16`. RoPE is not a fade: it rises"
        " again and again. Adding encodings adds their scores or multiplies their factors; nothing else is possible."
    )
    return Picture("picture-scores", draw("scores", (8.4, 4.4), alt, paint), caption, "complete-list")


def clocks(positions: tuple[int, ...] = (1, 10, 100, 1000)) -> Picture:
    """The planes of a head of 16 as dials."""
    frequencies = plane_frequencies(16)

    def paint(figure) -> None:
        panels = figure.subplots(len(positions), len(frequencies))
        for row, position in zip(panels, positions, strict=True):
            for k, (axes, w) in enumerate(zip(row, frequencies, strict=True)):
                _dial(axes, position * w)
                if position == positions[0]:
                    axes.set_title(f"{2 * pi / w:,.0f}" if w < 0.9 else f"{2 * pi / w:.2f}", fontsize=10)
                if k == 0:
                    axes.text(-1.5, 0, f"t = {position}", ha="right", va="center", fontsize=10)

    alt = "Eight clock dials at four positions: the first hand has gone round many times, the last has hardly moved."
    caption = (
        "A bank of clocks: the eight planes of RoPE at head dimension 16, base 10000; above each its period in"
        " tokens. A full disc has gone round at least once. At `t = 1000` the fast hands have wrapped many times and"
        " say where locally; the slow ones have not wrapped and say roughly where."
    )
    return Picture("picture-clocks", draw("clocks", (8.4, 4.4), alt, paint), caption, "frequencies")


def _dial(axes, angle: float) -> None:
    from matplotlib.patches import Circle, Wedge

    axes.add_patch(Circle((0, 0), 1, fill=False, edgecolor=SOFT, lw=0.8))
    swept = min(angle, 2 * pi) * 180 / pi
    axes.add_patch(Wedge((0, 0), 1, 90 - swept, 90, facecolor=C1, alpha=0.22, lw=0))
    axes.plot([0, 0.92 * sin(angle)], [0, 0.92 * cos(angle)], color=C1, lw=1.6)
    axes.set_xlim(-1.12, 1.12)
    axes.set_ylim(-1.12, 1.12)
    _bare(axes)


def precision() -> Picture:
    """Worst table error against position, log-log."""
    colours = dict(zip(WAYS, (C2, C4, C3), strict=True))

    def paint(figure) -> None:
        axes = figure.subplots()
        for way in WAYS:
            errors = worst_errors(way)
            axes.loglog(POSITIONS, errors, color=colours[way], marker="o", ms=2.2, lw=1.1)
            axes.annotate(
                way,
                (POSITIONS[-1], errors[-1]),
                (8, 0),
                textcoords="offset points",
                color=colours[way],
                va="center",
            )
        axes.set_xlabel("position")
        axes.set_ylabel("largest error of cos, sin")
        axes.grid(True, color=LINE, lw=0.5)
        axes.set_axisbelow(True)

    alt = "Error against position on log axes: bfloat16 angles fail at once, float32 grows in proportion, float64 stays flat."
    caption = (
        "How wrong the table is, by how the angle was formed: the largest error over the 64 planes of a head of 128,"
        " base 10000, against ball arithmetic at the exact frequencies, computed for this page. With float32 angles the"
        " error grows with the position; with float64 angles only the rounding of the table itself is left."
    )
    return Picture("picture-precision", draw("precision", (8.4, 3.8), alt, paint), caption, "rope-levels")
