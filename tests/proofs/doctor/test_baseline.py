"""A file of known findings: each needs a code that exists and a reason, and may be for one subject."""

from __future__ import annotations

import json

import pytest
from exptx.proofs import Claims, check, rope
from exptx.proofs.doctor.baseline import reasons
from exptx.proofs.errors import BadFile


def still(x, position_ids):
    return x.clone()


def written(tmp_path, found):
    path = tmp_path / "known.json"
    path.write_text(json.dumps(found))
    return path


def test_entries_are_for_all_or_for_one_subject(tmp_path):
    known = [
        {"code": "value", "reason": "by design"},
        {"code": "norm", "reason": "old table", "subject": "b.py:f"},
    ]
    path = written(tmp_path, {"known": known})
    assert reasons(path, "a.py:f") == {"value": "by design"}
    assert reasons(path, "b.py:f") == {"value": "by design", "norm": "old table"}


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({}, "no list"),
        ({"known": [{"code": "valeu", "reason": "x"}]}, "exptx explain lists"),
        ({"known": [{"code": "value", "reason": " "}]}, "without a reason"),
        ({"known": [{"code": "value", "reason": "x", "until": 3}]}, "an object of code, reason"),
    ],
)
def test_what_is_no_baseline_is_refused(tmp_path, found, words):
    with pytest.raises(BadFile, match=words):
        reasons(written(tmp_path, found), "a.py:f")


def test_a_known_finding_is_accepted_and_a_stale_one_is_found():
    claims = Claims(rope(10000.0, 64))
    known = check(still, claims, reasons={"value": "by design"})
    assert known.ok
    assert [finding.code for finding in known.expected] == ["value"]
    (stale,) = check(still, claims, reasons={"value": "by design", "norm": "old"}).findings
    assert (stale.code, stale.where) == ("expected", "norm")
