"""The row of the map: which word stands for which verdicts, on encodings whose answers are known."""

import pytest
import sympy as sp
from exptx.symbolic.catalogue import encoding
from exptx.symbolic.verdict import Status
from exptx.symbolic.verdicts import QUESTIONS, verdicts

m = sp.Symbol("m", positive=True)
ROWS = [  # group law, relative, in the family, bidirectional, bounded
    ("nope", {"head_dim": 2}, "yes yes yes yes yes"),
    ("rope", {"head_dim": 64}, "yes yes yes yes yes"),
    ("decay", {"head_dim": 2, "gamma": m}, "yes yes yes no forward-only"),
    ("decay", {"head_dim": 2, "gamma": -m}, "yes yes yes no no"),
    ("damped_rope", {"head_dim": 4, "gamma": m}, "yes yes yes no forward-only"),
    ("alibi", {"num_heads": 8, "head_dim": 4}, "yes yes yes no no"),
    ("symmetric_distance", {"slope": m, "head_dim": 2}, "no yes no yes not-applicable"),
    ("symmetric_distance", {"slope": -m, "head_dim": 2}, "no yes no no not-applicable"),
    ("step_table", {"edges": (1,), "values": (m, 1), "head_dim": 2}, "no yes no yes not-applicable"),
    ("sinusoidal", {"head_dim": 2}, "no no no yes not-applicable"),
    ("same_side_boost", {}, "no no no no not-applicable"),
]


@pytest.mark.parametrize(("name", "parameters", "words"), ROWS)
def test_the_row_of_an_encoding_has_the_words_of_its_verdicts(name, parameters, words):
    row = verdicts(encoding(name, **parameters))
    assert [answer.word.replace(" ", "-") for answer in row.answers().values()] == words.split()
    assert list(row.answers()) == list(QUESTIONS)


def test_every_answer_carries_the_verdict_it_stands_for():
    for answer in verdicts(encoding("decay", head_dim=2, gamma=m)).answers().values():
        refuted = answer.verdict.status is Status.REFUTED
        assert refuted == (answer.word in ("no", "forward only"))
        assert answer.verdict.reason
