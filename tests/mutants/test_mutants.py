"""The table of reports is whole, and a fixed sample of it is examined; `make mutants` examines all."""

from __future__ import annotations

from collections import Counter

import pytest
from matrix import entries, names
from mutant import Inexpressible, Mutant

SAMPLE = ()


def test_every_report_stands_in_the_table_once():
    assert Counter(entry.row for entry in entries()) == Counter(names())


def test_every_report_has_a_public_link():
    assert not [entry.row for entry in entries() if not entry.links]
    assert all(link.startswith("https://github.com/") for entry in entries() for link in entry.links)


def test_what_cannot_be_expressed_says_why():
    assert all(len(entry.why.split()) > 5 for entry in entries() if isinstance(entry, Inexpressible))


@pytest.mark.parametrize("row", SAMPLE)
def test_a_report_is_found_and_its_twin_passes(row):
    (entry,) = [one for one in entries() if one.row == row]
    assert not list(entry.alarms())
    assert isinstance(entry, Mutant)
    assert not list(entry.missed())
