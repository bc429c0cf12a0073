"""Frequencies on several axes: which axis turns which plane, against the sections written out by hand."""

import pytest
import sympy as sp
from exptx.symbolic import (
    AxisFrequencies,
    BadInput,
    WrongType,
    axis_frequencies,
    encoding,
    frequencies,
    sectioned,
)
from exptx.symbolic.ramps import yarn
from exptx.symbolic.scaling import rotary
from exptx.symbolic.sections import is_interleaved


def letters(found):
    """The axis of every plane, as a letter; a plane is turned by one axis alone."""
    owners = [[a for a, w in enumerate(rates) if w] for rates in zip(*found.exact, strict=True)]
    assert all(len(owner) == 1 for owner in owners)
    return "".join("thw"[a] for (a,) in owners)


def test_chunked_sections_follow_one_another_and_interleaved_ones_alternate():
    table = rotary(10_000, 8)
    assert letters(sectioned(table, (2, 1, 1))) == "tthw"
    assert letters(sectioned(table, (2, 1, 1), "interleaved")) == "thwt"
    long = rotary(1_000_000, 128)
    assert letters(sectioned(long, (16, 24, 24))) == 16 * "t" + 24 * "h" + 24 * "w"
    assert letters(sectioned(long, (24, 20, 20), "interleaved")) == 20 * "thw" + 4 * "t"


@pytest.mark.parametrize("layout", ["chunked", "interleaved"])
def test_on_text_the_sections_add_up_to_the_table(layout):
    table = yarn(10_000, 16, 4, 2048)
    found = sectioned(table, (4, 2, 2), layout)
    assert tuple(map(sum, zip(*found.exact, strict=True))) == table.exact
    assert found.attention_factor == table.attention_factor
    assert found.text


def test_encodings_on_axes_give_their_rates_and_their_pairing():
    known = {
        ("mrope", False): sectioned(rotary(1_000_000, 12), (2, 2, 2)),
        ("axial", True): AxisFrequencies(((1, sp.Rational(1, 10), 0, 0), (0, 0, 1, sp.Rational(1, 10)))),
        ("rope_mixed", True): AxisFrequencies(((1, -2), (0, sp.Rational(1, 3)))),
    }
    given = {
        "mrope": {"head_dim": 12, "sections": (2, 2, 2)},
        "axial": {"head_dim": 8},
        "rope_mixed": {"head_dim": 4, "fx": [1, -2], "fy": [0, sp.Rational(1, 3)]},
    }
    for (name, interleaved), rates in known.items():
        found = encoding(name, **given[name])
        assert axis_frequencies(found) == rates
        assert is_interleaved(found) is interleaved
    halved = encoding("axial", head_dim=8, interleaved=False)
    assert axis_frequencies(halved) == known["axial", True]
    assert not is_interleaved(halved)


def test_a_plane_that_no_axis_turns_stays():
    found = axis_frequencies(encoding("rope_mixed", head_dim=6, fx=[1, 0, 2], fy=[0, 0, 1]))
    assert found.exact == ((1, 0, 2), (0, 0, 1))


TABLE = frequencies(10_000, 8)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: sectioned(TABLE, (2, 1)), BadInput, "sections is (2, 1); numbers that add up to the 4"),
        (lambda: sectioned(TABLE, (2, 2), "interleaved"), BadInput, "'interleaved' is for three axes"),
        (lambda: sectioned(TABLE, (0, 2, 2), "interleaved"), BadInput, "height and width own 1 and 1 of 4"),
        (lambda: sectioned(TABLE, (2, 1, 1), "mixed"), BadInput, "layout is 'mixed'"),
        (lambda: sectioned(TABLE, "211"), WrongType, "sections is '211'"),
        (lambda: sectioned(10_000, (2, 1, 1)), WrongType, "frequencies is 10000"),
        (lambda: axis_frequencies(encoding("rope", head_dim=4)), BadInput, "encoding rope does not turn"),
        (lambda: axis_frequencies(encoding("alibi", head_dim=4, slope=1)), BadInput, "does not turn planes"),
        (lambda: AxisFrequencies(()), BadInput, "exact has no axes"),
        (lambda: AxisFrequencies(((1,), (1, 2))), BadInput, "different numbers of planes"),
    ],
)
def test_sections_that_do_not_fit_are_refused_in_one_sentence(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
