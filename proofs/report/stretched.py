"""Owns how the pictures of longer contexts are painted: on the left frequencies, on the right scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from .canvas import C1, C2, C3, C4, LINE, SOFT
from .stretches import STRETCHES, Band, band, cached_scores, plane_scores, ratios, stretch

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (C4, C3, C2, C1)  # the last table has the first colour
OLD = SOFT


def painter(name: str) -> Callable[[Figure], None]:
    """Ratio of new to old frequency by plane; the score before and after by gap."""

    def paint(figure: Figure) -> None:
        left, right = figure.subplots(1, 2, width_ratios=(1, 1.25))
        _paint_ratios(left, name)
        _paint_scores(right, name)

    return paint


def _paint_ratios(axes: Axes, name: str) -> None:
    """w'_k/w_k, with the level 1/s where the rule has it."""
    rule = stretch(name)
    colours = COLOURS[-len(rule.tables) :]
    if rule.divided:
        axes.axhline(1 / rule.factor, color=LINE, lw=0.9, dashes=(4, 3))
        axes.text(1, 1 / rule.factor - 0.02, f"1/{rule.factor}", color=SOFT, fontsize=9.5, va="top")
    for place, ((label, table), colour) in enumerate(zip(rule.tables.items(), colours, strict=True)):
        axes.plot(ratios(rule.plain, table), color=colour, lw=1.6)
        if label:
            axes.text(
                0.98, 0.9 - 0.1 * place, label, color=colour, transform=axes.transAxes, ha="right", va="top"
            )
    axes.set_ylim(0, 1.04)
    axes.set_xlim(0, len(rule.plain) - 1)
    axes.set_xticks(range(0, len(rule.plain), 20))
    axes.set_yticks((0, 0.5, 1))
    axes.set_xlabel("plane k")
    axes.set_title("frequency, new over old", fontsize=11, loc="left")


def _paint_scores(axes: Axes, name: str) -> None:
    """The score before and after, up to the new length; a line at the old one."""
    rule = stretch(name)
    longest, table = rule.factor * rule.first, list(rule.tables.values())[-1]
    bands = {"before": band(plane_scores(rule.plain, longest)), "after": band(plane_scores(table, longest))}
    _paint_bands(axes, bands, (OLD, C1))
    axes.axvline(rule.first, color=LINE, lw=0.9, dashes=(4, 3))
    axes.text(rule.first, 1, " L₀", transform=axes.get_xaxis_transform(), color=SOFT, fontsize=9.5, va="top")


def paint_cached(figure: Figure) -> None:
    """Scores of one query by gap, with all keys turned at its length and with keys of their own lengths."""
    shown = cached_scores()
    names = ("all keys turned at this length", "cached keys, each turned at its own")
    bands = dict(zip(names, map(band, (shown.fresh, shown.cached)), strict=True))
    _paint_bands(figure.subplots(), bands, (C1, C2))


def _paint_bands(axes: Axes, bands: Mapping[str, Band], colours: Sequence[str]) -> None:
    """Lowest to highest score and the middle between, on a log axis of gaps; names above, at the right."""
    axes.axhline(0, color=LINE, lw=0.8)
    for place, ((name, shown), colour) in enumerate(zip(bands.items(), colours, strict=True)):
        axes.fill_between(shown.gaps, shown.low, shown.high, color=colour, alpha=0.33, lw=0)
        axes.plot(shown.gaps, (shown.low + shown.high) / 2, color=colour, lw=1.1)
        x = 1 - (len(bands) - 1 - place) * (0.045 + 0.013 * len(list(bands)[-1]))
        axes.text(x, 1.03, name, color=colour, transform=axes.transAxes, ha="right", fontsize=11)
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.locator_params(axis="y", nbins=4)
    axes.set_xlim(1, shown.gaps[-1])
    axes.set_xlabel("gap t − s")
    axes.set_title("score a plane", fontsize=11, loc="left")


PAINTERS = {name: (painter(name), (8.4, 2.9)) for name in STRETCHES} | {"cached": (paint_cached, (8.4, 2.9))}
"""How each picture is painted, and its size in inches."""
