"""The encoding that does nothing has the row of no positions at all."""

import sympy as sp
from exptx.symbolic import encoding
from exptx.symbolic.kinds.still import Still
from exptx.symbolic.verdicts import verdicts


def test_its_answers_and_scores_are_those_of_no_positions():
    still, nope = Still("still", {}, 3), encoding("nope", head_dim=3)
    t, s = sp.symbols("t s", real=True)
    assert still.score(t, s) == nope.score(t, s)
    words = [[answer.word for answer in verdicts(one).answers().values()] for one in (still, nope)]
    assert words[0] == words[1] == ["yes"] * 5
    assert not still.moves
