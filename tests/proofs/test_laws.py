"""What every law must satisfy, and the facts the story promises, law by law."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import sympy as sp
from exptx.proofs.errors import MalformedLaw
from exptx.proofs.law import Law
from exptx.proofs.laws import CHAPTERS
from exptx.proofs.prove import run
from exptx.proofs.step import Cited, Enclosed, Exact, Identity, conclusive
from exptx.symbolic import Status

EXPECTED_REFUTED = {
    "causal-mask-sees-order", "positive-integers", "all-matrices", "squaring-homomorphism", "broken-identity",
    "broken-composition", "broken-inverse", "broken-continuity", "bridge-without-squareness",
    "change-of-basis-qk-norm", "decay-needs-causal-mask", "cosine-only", "alibi-sign", "distance-outside",
    "growth-forbidden", "axes-of-space", "gates-order", "one-clock-always", "inclusive-is-exclusive",
    "ordered-in-clocks", "every-gate-undone",
    "add-then-decay", "gates-one-sum", "chunk-border", "state-rank-less",
    "nonlinear-outside", "score-map-outside", "content-position-outside",
    "determinant-refutes", "same-size",
    "fading-distance", "distance-backwards", "clipped-everywhere", "window-decides", "row-constant-always",
    "positive-determinant",
    "bridge-without-invertibility", "composing-identity", "invariant-slide", "half-plane",
    "eigenvalues-not-enough",
    "alternating-line",
    "cached-keys", "two-ramps", "p-rope-is-partial-rotary", "every-length/dynamic_ntk",
    "every-length/longrope_switching",
    *(f"{law}/{name}" for law in ("relative", "in-family") for name in (
        "sinusoidal", "learned_absolute", "keys_only", "before_projection", "mismatched_pairings",
        "mismatched_table", "untied_gains", "fope", "same_side_boost", "rotated_values")),
    "in-family/symmetric_distance", "in-family/step_table",
}  # fmt: skip


def test_every_proof_comes_out_as_expected_with_all_its_teeth(proofs):
    wrong = {
        p.id: [p.status, [(t.change, t.status) for t in (*p.perturbations, *p.siblings)]]
        for p in proofs
        if not p.as_expected
    }
    assert not wrong


def test_the_refuted_laws_are_exactly_these(proofs):
    assert {p.id for p in proofs if p.status is Status.REFUTED} == EXPECTED_REFUTED


def test_only_the_citation_is_not_checked(proofs):
    assert {p.id for p in proofs if p.status is Status.NOT_CHECKED} == {"discontinuous-solutions"}


def test_every_refutation_has_its_evidence(proofs):
    """A witness point, a separating model, a true limit, an exception in a table, or the enclosed value."""
    for proof in proofs:
        executed = [e for e in proof.steps if e.status is Status.REFUTED]
        executed += [t.executed for t in proof.perturbations]
        for found in executed:
            evidence = found.step.outcome(found.verdict)
            assert isinstance(found.step, Enclosed) or any(evidence.values()), (proof.id, found.name)


def test_proved_laws_have_two_perturbations_and_refuted_ones_a_sibling(proofs):
    for proof in proofs:
        if proof.expected is Status.PROVED:
            assert len(proof.perturbations) >= 2, proof.id
        if proof.expected is Status.REFUTED:
            assert proof.siblings, proof.id


def test_perturbations_differ_from_their_step_and_from_each_other(proofs):
    for proof in proofs:
        claims = {e.name: e.step.claim() for e in proof.steps}
        trials = [t.executed.step.claim() for t in (*proof.perturbations, *proof.siblings)]
        for trial, changed in zip((*proof.perturbations, *proof.siblings), trials, strict=True):
            assert changed != claims[trial.of], (proof.id, trial.change)
        assert all(a != b for i, a in enumerate(trials) for b in trials[:i]), proof.id


def test_dropping_a_needed_hypothesis_gives_not_checked(proofs):
    tried = 0
    for proof in proofs:
        for step in proof.law_object.steps:
            for need in step.needs if isinstance(step, Cited) else ():
                kept = tuple(h for h in proof.hypotheses if h.name != need)
                stated = frozenset(h.name for h in kept)
                assert step.check(stated).status is Status.NOT_CHECKED, (proof.id, step.name)
                tried += 1
    assert tried >= 10


def test_renamings_stay_proved(proofs):
    tried = 0
    for proof in proofs:
        for renaming in proof.law_object.renamings:
            for step in proof.law_object.steps:
                if isinstance(step, Identity):
                    swapped = {old: sp.sympify(new) for old, new in renaming.substitution.items()}
                    sides = (
                        side.xreplace(swapped) if hasattr(side, "xreplace") else side
                        for side in (step.lhs, step.rhs)
                    )
                    lhs, rhs = sides
                    assert replace(step, lhs=lhs, rhs=rhs).check(frozenset()).status is Status.PROVED
                    tried += 1
    assert tried >= 6


def test_rests_on_names_existing_proofs_without_circles(by_id):
    seen: dict[str, int] = {}

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name in by_id, f"{path[-1]} rests on {name}, which does not exist"
        assert name not in path, f"circle: {path}"
        if name not in seen:
            seen[name] = 1
            for below in by_id[name].rests_on:
                visit(below, (*path, name))

    for name in by_id:
        visit(name, ())


def test_anchors_are_unique_and_stable(proofs):
    anchors = [p.anchor for p in proofs]
    assert len(set(anchors)) == len(anchors)
    assert {"rope-relative", "relative--rope", "bounded--turn", "alibi-logit"} <= set(anchors)


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda c: c.id)
def test_every_chapter_has_laws_with_sources_or_steps(chapter):
    assert chapter.entries
    assert chapter.intro.endswith(".")


def test_statements_end_with_a_full_stop_and_quantify(proofs):
    for proof in proofs:
        assert proof.statement.rstrip().endswith((".", "….")), proof.id
        assert proof.statement.count("`") % 2 == 0, proof.id


def test_all_planes_sizes_and_tokens_are_inductions(by_id):
    """No sentence "and so on": what holds for all n is decided as a step from n to n + 1."""
    for name in (
        "rope-relative",
        "rope-length",
        "axes-mixed",
        "mrope-is-rope",
        "all-sizes",
        "group-law-all-sizes",
        "bounded-all-sizes",
        "odd-dimension",
        "levels",
        "alibi-logit",
        "lookup-table",
        "worked-example",
        "gates-telescope/turn",
        "clocks-cocycle",
        "inclusive-exclusive",
        "recurrence/turn",
        "gated-recurrence/fade",
        "gates-after/slide",
        "chunks/slide",
    ):
        kinds = {e.kind for e in by_id[name].steps if e.goal}
        assert "induction" in kinds, name


def test_identities_are_not_settled_by_their_own_notation(proofs):
    """The two sides are different trees; the exceptions say that a matrix of numbers is itself."""
    same = {
        (p.id, e.name)
        for p in proofs
        for e in p.steps
        if type(e.step) is Identity and e.step.claim()["lhs"] == e.step.claim()["rhs"]
    }
    assert {name for name, _ in same} <= {
        "flow/hold",
        "kernel-functions/hold",
        "in-family/nope",
        "relative/nope",
    }


def test_every_link_leads_to_a_law(proofs):
    anchors = {p.anchor for p in proofs} | {p.law for p in proofs}
    for proof in proofs:
        for text in (proof.statement, proof.comment, *(h.text for h in proof.hypotheses)):
            assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= anchors, proof.id


def test_enclosed_numbers_are_not_called_proved_for_all(by_id):
    assert all(e.kind == "enclosed" for e in by_id["decay-table"].steps)
    assert "enclosed" in by_id["decay-table"].steps[0].reason


def test_a_wrong_number_is_refuted(by_id):
    step = next(e.step for e in by_id["worked-example"].steps if "query at 5" in e.name)
    assert (
        replace(step, lower="5.5431010613049434", upper="5.5431010613049435").check(frozenset()).status
        is Status.REFUTED
    )


def test_a_law_without_goal_perturbation_or_sibling_is_malformed():
    goal = Identity(name="a", goal=True, lhs=sp.S.One, rhs=sp.S.One)
    base = {"id": "x", "title": "x", "statement": "x."}
    with pytest.raises(MalformedLaw, match="at least two perturbations"):
        Law(**base, steps=(goal,))
    with pytest.raises(MalformedLaw, match="no step is marked goal"):
        Law(**base, steps=(replace(goal, goal=False),))
    with pytest.raises(MalformedLaw, match="true sibling"):
        Law(**base, steps=(goal,), expected=Status.REFUTED)
    with pytest.raises(MalformedLaw, match="does not exist"):
        Law(**base, steps=(goal,), perturbations=(replace(goal.but("b", rhs=sp.S.Zero), of="other"),) * 2)


def test_a_law_whose_perturbation_holds_is_not_as_expected():
    goal = Identity(name="a", goal=True, lhs=sp.S.One, rhs=sp.S.One)
    toothless = (goal.but("one", lhs=sp.Integer(2), rhs=sp.Integer(2)), goal.but("two", rhs=sp.S.Zero))
    proof = run(CHAPTERS[0], Law(id="x", title="x", statement="x.", steps=(goal,), perturbations=toothless))
    assert proof.status is Status.PROVED
    assert not proof.as_expected


def test_exact_steps_and_citations_are_told_apart(proofs):
    for proof in proofs:
        for found in proof.steps:
            assert conclusive(found.step) is (found.kind != "cited")
            assert isinstance(found.step, Exact) is (
                found.kind in {"sign", "limit", "words", "induction", "reindex", "finite", "homomorphism"}
            )
