"""The report in a headless Chromium: nothing complains, everything is drawn, and it fits the window."""

import json
import os
import re
import shutil
import subprocess
import zlib
from pathlib import Path
from time import process_time

import pytest
from exptx.proofs.measure import residuals
from exptx.proofs.prove import prove
from exptx.proofs.report.pages import write_report
from exptx.proofs.report.pictures import PAINTERS

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SHOTS = Path(__file__).parents[2] / "build" / "screenshots"
QUIET = (
    "--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--virtual-time-budget=10000",
    "--enable-logging=stderr",
)  # fmt: skip
PROBE = """<script>addEventListener("load", () => {
  const visible = (s) => s.getClientRects().length > 0;
  const boxes = [...document.querySelectorAll(".formula svg")].filter(visible);
  const background = () => getComputedStyle(document.body).backgroundColor;
  const before = background();
  document.getElementById("theme").click();
  const folded = [...document.querySelectorAll("details.case:not([open])")].pop();
  const link = document.createElement("a");
  if (folded) { link.href = "#" + folded.id; document.body.append(link); link.click(); }
  const outside = (box) => {
    const column = box.getBoundingClientRect();
    const pictures = [...box.querySelectorAll("svg")].filter(visible).map((s) => s.getBoundingClientRect());
    return pictures.some((p) => p.left < column.left - 1 || p.right > column.right + 1);
  };
  const wide = async () => {
    document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
    const all = [...document.querySelectorAll(".formula")];
    const marked = (box) => box.matches(".scrolls.more-right[tabindex]");
    const clipped = () => all.filter((box) => outside(box) && !marked(box)).length;
    // boxes are marked when the browser has measured them, which a busy machine puts off
    for (let i = 0; i < 5 || (i < 60 && clipped()); i++) await new Promise((next) => setTimeout(next, 100));
    return {
      formulas: all.length,
      undrawn: all.filter((box) => [...box.querySelectorAll("svg")].filter(visible).length !== 1).length,
      scrolling: all.filter(marked).length,
      clipped: clipped(),
    };
  };
  setTimeout(async () => { document.documentElement.dataset.seen = JSON.stringify({
    laws: [...document.querySelectorAll("[data-law]")].map((e) => e.id),
    proofs: [...document.querySelectorAll("[data-proof]")].map((e) => e.dataset.proof),
    drawn: boxes.length,
    empty: boxes.filter((s) => !(s.getBoundingClientRect().width > 2 && s.getBBox().width > 2)).length,
    pictures: [...document.querySelectorAll("figure svg")].filter((s) => s.getBBox().width > 50).length,
    overflow: document.documentElement.scrollWidth - innerWidth,
    themes: [before, background()],
    unfolded: !folded || folded.open,
    fetched: performance.getEntriesByType("resource").map((e) => e.name),
    ...await wide(),
  }); }, 500);
});</script>"""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine; apt-get install chromium"),
]


def chromium(page, profile, *options, width=1280, height=1200):
    """Run headless Chromium on one file; its standard output and the console messages of the page."""
    command = [CHROMIUM, *QUIET, f"--user-data-dir={profile}", f"--window-size={width},{height}", *options]
    if os.geteuid() == 0:
        command.append("--no-sandbox")
    done = subprocess.run([*command, page.as_uri()], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, re.findall(r"CONSOLE.*", done.stderr)


def seen(page, profile, **window):
    """What the probe saw in the page, and the console messages."""
    probed = page.with_name(f"probed-{window.get('width', 0)}.html")
    probed.write_text(page.read_text("utf-8").replace("</body>", PROBE + "</body>"), "utf-8")
    dom, console = chromium(probed, profile, "--dump-dom", **window)
    found = re.search(r'<html[^>]* data-seen="([^"]*)"', dom)
    assert found, "the probe did not run"
    return json.loads(found[1].replace("&quot;", '"').replace("&amp;", "&")), console


@pytest.fixture(scope="module")
def proofs():
    return prove()


@pytest.fixture(scope="module")
def report(proofs, tmp_path_factory):
    measured = residuals(proofs)
    started = process_time()
    written = write_report(proofs, measured, tmp_path_factory.mktemp("report"))
    return written, process_time() - started


def test_the_page_costs_less_than_fifteen_seconds_of_processor_time_with_every_formula_typeset(report):
    written, seconds = report
    assert seconds < 15
    assert written.failures == ()


@pytest.mark.parametrize("width", [1440, 1280, 820, 500])
def test_nothing_complains_and_everything_is_drawn(report, proofs, tmp_path, width):
    page, console = seen(report[0].index, tmp_path, width=width)
    assert console == []
    assert page["proofs"] == [proof.id for proof in proofs]
    assert page["laws"] == list(dict.fromkeys(proof.law for proof in proofs))
    assert page["drawn"] > len(page["laws"])
    assert page["empty"] == 0
    assert page["pictures"] == len(PAINTERS)
    assert page["overflow"] <= 0
    assert page["themes"][0] != page["themes"][1]
    assert page["unfolded"]
    assert page["fetched"] == []
    assert page["undrawn"] == 0
    assert page["clipped"] == 0
    assert page["scrolling"] < page["formulas"] / 30


def test_a_page_that_complains_is_noticed(tmp_path):
    page = tmp_path / "bad.html"
    page.write_text("<!DOCTYPE html><title>bad</title><script>undefinedName()</script>", "utf-8")
    _, console = chromium(page, tmp_path / "profile", "--dump-dom")
    assert any("undefinedName" in line for line in console)


@pytest.mark.parametrize(("name", "width"), [("wide", 1440), ("narrow", 500)])
def test_a_screenshot_is_kept(report, tmp_path, name, width):
    SHOTS.mkdir(parents=True, exist_ok=True)
    shot = SHOTS / f"report-{name}.png"
    shot.unlink(missing_ok=True)
    chromium(report[0].index, tmp_path, f"--screenshot={shot}", width=width, height=6000)
    assert shot.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert shot.stat().st_size > 100_000


def printed_scales(pdf):
    """How far Chromium shrunk each page, from the transformations at its head; 1 is not at all."""
    head = re.compile(rb"\s*\.23999999 0 0 -\.23999999 [\d. ]+cm\b.{,80}?\s([\d.]+) 0 0 [\d.]+ ", re.DOTALL)
    scales = []
    for stream in re.finditer(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL):
        try:
            found = head.match(zlib.decompress(stream[1]))
        except zlib.error:
            continue
        scales += [float(found[1]) / 3.125] if found else []
    return scales


def test_text_is_printed_at_its_size(report, tmp_path):
    printed = tmp_path / "report.pdf"
    chromium(report[0].index, tmp_path / "profile", f"--print-to-pdf={printed}", "--no-pdf-header-footer")
    scales = printed_scales(printed.read_bytes())
    assert len(scales) > 10
    assert min(scales) == pytest.approx(1)


def test_a_page_that_is_too_wide_to_print_is_noticed(tmp_path):
    page, printed = tmp_path / "wide.html", tmp_path / "wide.pdf"
    page.write_text('<!DOCTYPE html><title>wide</title><p style="width: 60em">wide</p>', "utf-8")
    chromium(page, tmp_path / "profile", f"--print-to-pdf={printed}", "--no-pdf-header-footer")
    (scale,) = printed_scales(printed.read_bytes())
    assert scale < 0.9


def test_no_contents_are_printed(report):
    style = (Path(__file__).parents[2] / "proofs" / "report" / "style.css").read_text("utf-8")
    assert re.search(r"@media print \{.*nav, [^{]*\{ display: none; \}", style, re.DOTALL)
    assert "<nav" in report[0].index.read_text("utf-8")
