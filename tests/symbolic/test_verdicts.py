"""The row of the map: which word stands for which verdicts, on encodings whose answers are known."""

import pytest
import sympy as sp
from exptx.symbolic.catalogue import encoding
from exptx.symbolic.verdict import Status, Verdict
from exptx.symbolic.verdicts import QUESTIONS, verdicts

m = sp.Symbol("m", positive=True)
ROWS = [  # group law, relative, in the family, bidirectional, bounded
    ("nope", {"head_dim": 2}, "yes yes yes yes yes"),
    ("rope", {"head_dim": 64}, "yes yes yes yes yes"),
    ("decay", {"head_dim": 2, "gamma": m}, "yes yes yes no forward-only"),
    ("decay", {"head_dim": 2, "gamma": -m}, "yes yes yes no no"),
    ("damped_rope", {"head_dim": 4, "gamma": m}, "yes yes yes no forward-only"),
    ("alibi", {"num_heads": 8, "head_dim": 4}, "yes yes yes no no"),
    ("alibi", {"slope": 0, "head_dim": 2}, "yes yes yes yes yes"),
    ("quadratic_bias", {"coefficient": m, "head_dim": 2}, "yes yes yes yes no"),
    ("symmetric_distance", {"slope": m, "head_dim": 2}, "no yes no yes no"),
    ("symmetric_distance", {"slope": -m, "head_dim": 2}, "no yes no no no"),
    ("kerple_log", {"r1": m, "r2": 1, "head_dim": 2}, "no yes no yes no"),
    ("kerple_power", {"r1": m, "power": 2, "head_dim": 2}, "yes yes yes yes no"),
    ("step_table", {"edges": (1,), "values": (m, 1), "head_dim": 2}, "no yes no yes yes"),
    ("t5", {"head_dim": 2, "num_buckets": 4, "max_distance": 8}, "no yes no yes yes"),
    ("shaw", {"head_dim": 2, "reach": 1}, "no yes no yes yes"),
    ("deberta", {"head_dim": 2, "reach": 1}, "no yes no yes yes"),
    ("swin", {"head_dim": 2, "window": 2}, "no yes no yes yes"),
    ("rerope", {"head_dim": 2, "window": 4}, "no yes no yes yes"),
    ("self_extend", {"head_dim": 2, "window": 4, "group": 2}, "no no no yes yes"),
    ("sinusoidal", {"head_dim": 2}, "no no no yes yes"),
    ("keys_only", {"head_dim": 2}, "no no no yes yes"),
    ("before_projection", {"head_dim": 2}, "no no no yes yes"),
    ("mismatched_pairings", {"head_dim": 4}, "no no no yes yes"),
    ("mismatched_table", {"head_dim": 4}, "no no no yes yes"),
    ("untied_gains", {"head_dim": 2, "query_gains": (2, 1)}, "no no no yes yes"),
    ("rotated_values", {"head_dim": 2}, "no no no yes yes"),
    ("fope", {"head_dim": 2, "frequencies": (1, 2)}, "no no no yes yes"),
    ("same_side_boost", {}, "no no no no no"),
    ("learned_absolute", {"head_dim": 2}, "no no no not-applicable not-applicable"),
    ("fire", {"head_dim": 2}, "no no no not-applicable not-applicable"),
    ("cope", {"head_dim": 2, "positions": 2}, "no no no not-applicable not-applicable"),
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


REASONS = [  # what is unbounded is named with its side, and what is not moved is not praised for its turns
    ("kerple_power", {"r1": 1, "power": 2}, "bounded", "the bias: no lower bound as u → ∞"),
    ("symmetric_distance", {"slope": -m}, "bounded", "the bias: no upper bound as u → ∞"),
    ("quadratic_bias", {"coefficient": 1}, "bidirectional", "the content is not moved; the bias: falls"),
    ("alibi", {"slope": 1}, "bidirectional", "the bias: no upper bound as u → -∞, where it grows like |u|"),
    ("same_side_boost", {}, "bounded", "the query factor: no upper bound as t → ∞"),
    ("kerple_log", {"r1": 1, "r2": 1}, "bidirectional", "the content is not moved; the bias: falls"),
]


@pytest.mark.parametrize(("name", "parameters", "question", "start"), REASONS)
def test_a_reason_names_the_part_and_the_side_it_speaks_of(name, parameters, question, start):
    answer = verdicts(encoding(name, **parameters)).answers()[question]
    assert answer.verdict.reason.startswith(start)


def test_forward_only_says_why_it_holds_forward_unless_that_is_said_already():
    fade = encoding("decay", head_dim=2, gamma=m)
    assert verdicts(fade).bounded.verdict.reason == fade.is_bounded().reason
    assert "; forward: for 0 ≤ β ≤ 2/|w|²" in verdicts(encoding("path", head_dim=2)).bounded.verdict.reason


def test_what_holds_along_clocks_is_said_only_where_it_fails_in_positions():
    """Gates of 1 are a member of the family in positions; a clock is no better answer than that."""
    still = verdicts(encoding("fox", head_dim=2, forget=(1, 1, 1)))
    assert {answer.word for answer in still.answers().values()} == {"yes"}
    assert verdicts(encoding("fox", head_dim=2)).relative.word == "in its clock"


@pytest.mark.parametrize(
    ("positions", "clocks", "word"),
    [
        (Status.PROVED, Status.PROVED, "yes"),
        (Status.PROVED, None, "yes"),
        (Status.REFUTED, Status.PROVED, "cocycle"),
        (Status.REFUTED, Status.UNDECIDED, "no"),
        (Status.REFUTED, Status.REFUTED, "no"),
        (Status.REFUTED, None, "no"),
        (Status.UNDECIDED, Status.PROVED, "undecided"),
    ],
)
def test_the_weaker_answer_stands_for_a_refuted_one_only(monkeypatch, positions, clocks, word):
    given = encoding("fox", head_dim=2)
    monkeypatch.setattr(type(given), "has_group_law", lambda self: Verdict(positions, "positions"))
    monkeypatch.setattr(type(given), "is_cocycle", lambda self: clocks and Verdict(clocks, "clocks"))
    answer = verdicts(given).group
    assert answer.word == word
    assert answer.verdict.reason == ("clocks" if word == "cocycle" else "positions")
