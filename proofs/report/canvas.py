"""Owns how a matplotlib figure becomes inline SVG: theme colours, prefixed ids, the same bytes each time."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from html import escape

INK, SOFT, LINE = "#010101", "#020202", "#030303"
C1, C2, C3, C4, C5, C6 = "#0a0001", "#0a0002", "#0a0003", "#0a0004", "#0a0005", "#0a0006"
"""Stand-ins that are replaced by the page's colours, so that pictures follow dark and light."""

_THEME = {
    INK: "--ink", SOFT: "--soft", LINE: "--line",
    C1: "--c1", C2: "--c2", C3: "--c3", C4: "--c4", C5: "--c5", C6: "--c6",
}  # fmt: skip
_STYLE = {
    "svg.fonttype": "none", "svg.hashsalt": "exptx", "figure.facecolor": "none", "axes.facecolor": "none",
    "savefig.facecolor": "none", "font.family": "serif", "font.size": 11, "text.color": INK,
    "axes.edgecolor": SOFT, "axes.labelcolor": INK, "xtick.color": SOFT, "ytick.color": SOFT,
    "xtick.labelcolor": INK, "ytick.labelcolor": INK, "axes.linewidth": 0.7, "lines.linewidth": 1.5,
    "axes.spines.top": False, "axes.spines.right": False, "xtick.labelsize": 9.5, "ytick.labelsize": 9.5,
    "axes.unicode_minus": True, "legend.frameon": False, "path.simplify": False,
}  # fmt: skip


def draw(name: str, size: tuple[float, float], alt: str, paint: Callable) -> str:
    """The SVG of `paint(figure)`; `size` in inches, `name` prefixes all ids, `alt` says what is seen."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        paint(figure)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return _inline(out.getvalue(), name, alt)


def _inline(svg: str, name: str, alt: str) -> str:
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    svg = re.sub(r'xlink:href="#([^"]+)"', rf'href="#{name}-\1"', svg)
    for stand_in, variable in _THEME.items():
        svg = svg.replace(stand_in, f"var({variable})")
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"font-family: [^;\"]*;? ?", "", svg)
    svg = re.sub(r"(\d+\.\d{2})\d+", r"\1", svg)
    view = re.findall(r'viewBox="[^"]+"', svg)[0]
    body = svg[svg.index(">") + 1 :]
    return f'<svg role="img" aria-label="{escape(alt)}" {view}>{body.strip()}'
