"""Lists of exact numbers: what is taken, and the sentence that refuses the rest."""

import pytest
import sympy as sp
from exptx.symbolic import BadInput, WrongType
from exptx.symbolic.catalogue.columns import column, reals


def test_lists_tuples_and_columns_give_exact_numbers():
    assert column([1, sp.Rational(1, 2)], "x") == (1, sp.Rational(1, 2))
    assert column(sp.Matrix([1, sp.Symbol("y")]), "x", 2) == (1, sp.Symbol("y"))


def test_free_entries_are_real_and_numbered():
    assert [str(x) for x in reals("a", 2)] == ["a0", "a1"]
    assert all(x.is_real for x in reals("a", 2))


@pytest.mark.parametrize(
    ("given", "count", "error", "sentence"),
    [
        ([1, 2], 3, BadInput, "x has 2 entries; 3 are needed"),
        ([], None, WrongType, r"x is \[\]"),
        ("12", None, WrongType, "x is '12'"),
        (7, None, WrongType, "x is 7"),
        ([1, 0.5], None, WrongType, r"x\[1\] is .*, which is a float"),
    ],
)
def test_other_input_is_refused_in_one_sentence(given, count, error, sentence):
    with pytest.raises(error, match=sentence):
        column(given, "x", count)
