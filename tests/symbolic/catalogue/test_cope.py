"""CoPE: a position is a sum of gates, its table is read between whole numbers, tokens tell pairs apart."""

import mpmath
import pytest
import sympy as sp
from exptx.symbolic import BadInput, Unsupported, encoding

x0, e0 = (sp.Function(name, real=True) for name in ("x0", "e0"))


def placed(gates, table, positions=5):
    """What the table gives one feature when the keys from s = 0 to t have these gates."""
    key, *others = [sp.log(gate / (1 - gate)) for gate in gates]
    given = encoding("cope", head_dim=1, positions=positions)
    score = given.score(len(others), 0, q=[1], k=[key]) - key
    tokens = {x0(sp.Integer(n + 1)): value for n, value in enumerate(others)}
    return score.subs(tokens).subs({e0(sp.Integer(n)): value for n, value in enumerate(table)})


def test_gates_of_two_tenths_seven_tenths_and_nine_tenths_make_position_one_and_eight_tenths():
    """A table e(n) = n shows the position itself."""
    gates = [sp.Rational(n, 10) for n in (2, 7, 9)]
    assert placed(gates, range(6)).simplify() == sp.Rational(9, 5)


@pytest.mark.parametrize(("count", "value"), [(1, 9), (2, 12), (3, 10), (4, 8), (6, 4), (7, 4), (9, 4)])
def test_the_table_is_linear_between_its_rows_and_clipped_at_the_last(count, value):
    """Gates of one half: positions 1/2, 1, 3/2, …; the rows are 6, 12, 8, 4, the last at 3."""
    assert placed([sp.S.Half] * count, [6, 12, 8, 4], positions=3) == value


def test_two_pairs_of_one_gap_are_told_apart_by_the_tokens_between(told_apart, row):
    given = encoding("cope", head_dim=2, positions=3)

    def score(t, s, q, k, at):
        def dot(a, b):
            return sum(x * y for x, y in zip(a, b, strict=True))

        keys = [k, *([at[f"x{i}({n})"] for i in range(2)] for n in range(s + 1, t + 1))]
        p = min(mpmath.mpf(3), sum(1 / (1 + mpmath.exp(-dot(q, key))) for key in keys))
        below = int(mpmath.floor(p))
        rows = [[at.get(f"e{i}({n})", 0) for i in range(2)] for n in (below, below + 1)]
        return dot(q, k) + (1 - p + below) * dot(q, rows[0]) + (p - below) * dot(q, rows[1])

    assert told_apart(given, score) > mpmath.mpf(1) / 10
    assert row(given) == ["no", "no", "no", "not-applicable", "not-applicable"]


def test_keys_after_the_query_and_factors_are_refused():
    given = encoding("cope", head_dim=2)
    with pytest.raises(BadInput, match="t is 0 and s is 1; cope scores no key after its query"):
        given.score(0, 1)
    with pytest.raises(Unsupported, match="depends on the tokens between key and query"):
        given.key_factor(sp.S.One)
    with pytest.raises(BadInput, match="positions is 0; a whole number from 1"):
        encoding("cope", head_dim=2, positions=0)
