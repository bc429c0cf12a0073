"""The table of reports is whole; each is found for a reason that makes sense, and its twin passes."""

from __future__ import annotations

from collections import Counter

import pytest
from matrix import entries, names
from mutant import Inexpressible, Mutant, Trap
from second import SECOND, examined

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


MISSED = {
    "without_stride_slopes": "slopes of a rule of its own, where no encoding is claimed",
    "Shared_decode": "a cache that is changed in place, as caches of models are",
}


@pytest.mark.parametrize("case", SECOND, ids=lambda case: case.name)
def test_the_second_set_is_judged_rightly_but_for_what_is_known_to_be_missed(case):
    assert bool(list(examined(case))) == (case.name in MISSED)


def test_names_of_the_second_set_are_unique_and_the_missed_are_among_them():
    counted = Counter(case.name for case in SECOND)
    assert set(counted.values()) == {1}
    assert set(MISSED) <= set(counted)
