"""Steps, clipped indices and the exact starts of buckets."""

import math

import pytest
import sympy as sp
from exptx.symbolic import BadInput
from exptx.symbolic.catalogue.steps import bucket_starts, clipped, levels, steps

u = sp.Symbol("u", real=True)


def test_a_step_begins_at_its_edge():
    table = steps(u, [1, 4], [5, 7, 9])
    found = [table.subs(u, gap) for gap in (-3, 0, sp.Rational(99, 100), 1, 3, 4, 50)]
    assert found == [5, 5, 5, 7, 7, 9, 9]


def test_a_clipped_index_counts_up_to_its_ends():
    table = clipped(u, 2, [10, 11, 12, 13, 14])
    assert [table.subs(u, gap) for gap in range(-5, 6)] == [10, 10, 10, 10, 11, 12, 13, 14, 14, 14, 14]


def test_the_starts_of_thirty_two_and_of_sixteen_buckets():
    large = (16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113)
    assert bucket_starts(32, 128) == (*range(16), *large)
    assert bucket_starts(16, 128) == (*range(8), 8, 12, 16, 23, 32, 46, 64, 91)


@pytest.mark.parametrize(("count", "most"), [(32, 128), (16, 128), (64, 1000), (7, 50), (2, 2), (10, 6)])
def test_starts_are_the_least_distances_by_logarithms(count, most):
    """By floats, which may miss a start only where the logarithm is whole up to rounding."""
    half = count // 2
    for bucket, start in enumerate(bucket_starts(count, most)):
        if bucket >= half:
            reached = [
                math.log(n / half) / math.log(most / half) * (count - half) for n in (start, start - 1 or 0.5)
            ]
            assert reached[0] > bucket - half - 1e-9
            assert reached[1] < bucket - half


def test_table_values_differ():
    assert levels(None, "values", "b", 2) == tuple(sp.symbols("b0 b1", real=True))
    with pytest.raises(BadInput, match="values are all equal"):
        levels([3, 3], "values", "b", 2)
    with pytest.raises(BadInput, match="values has 1 entries; 2 are needed"):
        levels([3], "values", "b", 2)
