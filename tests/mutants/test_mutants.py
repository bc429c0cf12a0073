"""The table of reports is whole; each is found for a reason that makes sense, and its twin passes."""

from __future__ import annotations

from collections import Counter

import pytest
from matrix import entries, names
from mutant import Inexpressible, Mutant, Trap

EXAMINED = [entry for entry in entries() if isinstance(entry, (Mutant, Trap))]


def test_every_report_stands_in_the_table_once():
    assert Counter(entry.row for entry in entries()) == Counter(names())


def test_every_report_has_a_public_link():
    assert not [entry.row for entry in entries() if not entry.links]
    assert all(link.startswith("https://github.com/") for entry in entries() for link in entry.links)


def test_what_cannot_be_expressed_says_why():
    assert all(len(entry.why.split()) > 5 for entry in entries() if isinstance(entry, Inexpressible))


@pytest.mark.parametrize("entry", EXAMINED, ids=lambda entry: entry.row)
def test_a_report_is_found_and_what_is_correct_passes(entry):
    if isinstance(entry, Mutant):
        assert not list(entry.missed())
    assert not list(entry.alarms())
