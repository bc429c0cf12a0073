"""`prove`: what it returns, what it selects, and what it refuses."""

from __future__ import annotations

import pytest
from exptx.proofs import prove
from exptx.proofs.errors import UnknownLaw
from exptx.proofs.prove import Executed, status_of
from exptx.proofs.step import Cited, Identity, Source
from exptx.symbolic import Status, Verdict


def test_one_proof_per_id_in_story_order(proofs):
    ids = [p.id for p in proofs]
    assert len(set(ids)) == len(ids)
    assert (
        ids.index("clock-group")
        < ids.index("uniqueness")
        < ids.index("bridge")
        < ids.index("rope-plane")
        < ids.index("alibi-lift")
    )


def test_a_law_or_a_single_proof_can_be_asked_for():
    assert [p.id for p in prove(["plane-score"])] == ["plane-score"]
    assert [p.id for p in prove(["relative/rope"])] == ["relative/rope"]
    assert {p.id for p in prove(["relative", "in-family"], ["rope"])} == {"relative/rope", "in-family/rope"}


@pytest.mark.parametrize(
    ("laws", "encodings", "hint"), [(["rope-relativ"], None, "rope-relative"), (None, ["ropr"], "rope")]
)
def test_an_unknown_name_is_refused_with_what_is_near(laws, encodings, hint):
    with pytest.raises(UnknownLaw, match=hint):
        prove(laws, encodings)


def _executed(status, cited=False):
    step = Cited(name="c", lemma="l", source=Source("s")) if cited else Identity(name="i", lhs=1, rhs=1)
    return Executed(step, Verdict(status, ""))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([Status.PROVED, Status.PROVED], Status.PROVED),
        ([Status.PROVED, Status.NOT_CHECKED], Status.NOT_CHECKED),
        ([Status.NOT_CHECKED, Status.UNDECIDED], Status.UNDECIDED),
        ([Status.UNDECIDED, Status.REFUTED, Status.PROVED], Status.REFUTED),
    ],
)
def test_the_worst_step_decides(found, expected):
    assert status_of(_executed(s) for s in found) is expected


def test_citations_alone_prove_nothing():
    assert status_of([_executed(Status.PROVED, cited=True)]) is Status.NOT_CHECKED


def test_progress_sees_every_proof_as_it_is_finished():
    seen = []
    done = prove(["relative"], progress=seen.append)
    assert seen == done
