"""The lines that a finding shows are Python: each runs, with `subject` for the callable."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from exptx.proofs import check
from matrix import entries
from mutant import Mutant

HERE = Path(__file__).parent
OTHER = ("call", "config-key", "bias-again", "slope-again")  # a command, or what builds an instance


def shown():
    """(row, code, text) of the findings of every broken kernel, table, slope and bias."""
    for place, entry in enumerate(entries()):
        if isinstance(entry, Mutant) and entry.level == "quick" and not entry.broken.claims.inplace:
            given = entry.broken
            if given.kind in ("rotary", "tables", "slopes", "bias") and given.claims.positions == "ids":
                for finding in check(given).findings:
                    if finding.code not in OTHER and given.claims.layout == "bhtd":
                        yield place, entry.row, finding.code, finding.reproduction


def test_every_reproduction_runs(tmp_path):
    cases = list(shown())
    lines = [f"import sys\nsys.path.insert(0, {str(HERE)!r})", "import torch", "from matrix import entries"]
    lines += ["FOUND = entries()", ""]
    assert len(cases) > 40
    for number, (place, row, code, text) in enumerate(cases):
        body = "\n".join(f"    {line}" for line in text.splitlines())
        both = f"    given = FOUND[{place}].broken\n    subject = given.apply\n"
        if entries()[place].broken.both:
            both += "    subject = lambda x, ids: given.apply(x, x, ids)[0]\n"
        lines += [f"def case_{number}():  # {row} {code}", f"{both}{body}", ""]
    lines += [f"case_{number}()" for number in range(len(cases))]
    script = tmp_path / "all.py"
    script.write_text("\n".join(lines))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
