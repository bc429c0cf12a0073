"""SARIF 2.1.0: the parts that code hosts ask for, and the line at which an object is defined."""

from __future__ import annotations

from exptx.proofs import Claims, check, rope
from exptx.proofs.doctor.codes import CODES
from exptx.proofs.doctor.isolated import document
from exptx.proofs.doctor.sarif import sarif


def still(x, position_ids):
    return x.clone()


def test_a_finding_becomes_a_result_at_the_line_of_its_function(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("import torch\n\n\ndef still(x, position_ids):\n    return x\n")
    found = document(check(still, Claims(rope(10000.0, 64))))
    log = sarif([f"{path}:still"], [found], "1.2")
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("exptx", "1.2")
    assert [rule["id"] for rule in driver["rules"]] == list(CODES)
    (result,) = run["results"]
    assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "value"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == str(path)
    assert place["region"]["startLine"] == 4
    assert "nothing turns" in result["message"]["text"]
    assert result["partialFingerprints"]


def test_nothing_found_is_a_run_without_results():
    found = document(check(still, Claims(rope(10000.0, 64)), reasons={"value": "known"}))
    assert sarif(["a.b:still"], [found], "1")["runs"][0]["results"] == []
