"""The document of an encoding: regions follow from the answers, pairs have one gap, scores are exact."""

import pytest
import sympy as sp
from exptx.proofs.charted import REGIONS, encoding_document, exact_score, pairs, region
from exptx.symbolic.catalogue import encoding, entries
from exptx.symbolic.verdict import Status, Verdict
from exptx.symbolic.verdicts import Answer, Verdicts

s, u = sp.symbols("s u", real=True)


def row(group, relative, family):
    """A row with these words; the verdicts behind them do not matter for the region."""
    answers = [Answer(word, Verdict(Status.PROVED, "")) for word in (group, relative, family, "no", "no")]
    return Verdicts(*answers)


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (("yes", "yes", "yes"), "inside"),
        (("cocycle", "in its clock", "in its clock"), "clocks"),
        (("cocycle", "in its clocks", "in its clocks"), "clocks"),
        (("cocycle", "no", "no"), "ordered"),
        (("no", "yes", "no"), "relative"),
        (("no", "no", "no"), "outside"),
        (("undecided", "yes", "undecided"), "undecided"),
    ],
)
def test_the_region_follows_from_the_answers(words, where):
    assert region(row(*words)) == where
    assert where in REGIONS


def refuted(**witness):
    values = {sp.Symbol(name, real=True): sp.Integer(value) for name, value in witness.items()}
    return Verdict(Status.REFUTED, "", witness=values)


def test_the_pairs_of_a_witness_have_its_gap():
    assert pairs(refuted(s=2, u=1)) == ["(3, 2)", "(1, 0)"]
    assert pairs(refuted(s0=1, s1=0, u0=2, u1=-1)) == ["((3, -1), (1, 0))", "((2, -1), (0, 0))"]


def test_what_is_not_refuted_or_has_no_positions_has_no_pairs():
    assert pairs(refuted(u=3)) == []
    assert pairs(Verdict(Status.PROVED, "")) == []


def test_the_score_is_written_out_for_few_features_only():
    t = sp.Symbol("t", real=True)
    words, score = exact_score(encoding("alibi", slope=2, head_dim=1))
    assert words == "score(t, s)"
    assert sp.expand(score - (sp.Symbol("q0", real=True) * sp.Symbol("k0", real=True) - 2 * (t - s))) == 0
    assert exact_score(encoding("rope", head_dim=6)) is None


def test_the_document_keeps_what_is_published_apart_from_what_is_computed():
    entry = entries()["decay"]
    found = encoding_document(entry, entry.shown())
    assert found["published"] == entry.published
    assert found["answers"]["bounded"]["word"] == "forward only"
    assert found["generators"][0]["type"] == "fade (4 times)"
