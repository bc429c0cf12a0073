"""Measured laws: within their budgets on the kernels as they are, and not on kernels that were broken."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import cycle

import pytest

torch = pytest.importorskip("torch")

from exptx.numeric import attend, eager, flow, rerotation, rotary, tables  # noqa: E402
from exptx.numeric.biases import attention as biased  # noqa: E402
from exptx.numeric.layout import join_pairs, split_pairs  # noqa: E402
from exptx.numeric.rounding import unit_roundoff  # noqa: E402
from exptx.proofs import budget, measure  # noqa: E402
from exptx.proofs.measures import attended, attention, residual, rotated  # noqa: E402
from exptx.symbolic import Status, encoding  # noqa: E402

NO_KERNEL = {"clock-group", "integers-group", "uniqueness", "bridge", "complete-list", "learned_absolute"}
TURN = ("rope-plane", "rope-relative", "rope-length", "plane-score", "levels", "half-split")


@pytest.fixture(scope="module")
def measured(proofs):
    return measure.residuals(proofs)


@pytest.fixture
def remeasure(by_id):
    """The residual of one proof, measured now."""
    return lambda name: measure.residuals([by_id[name]])[name]


def test_every_measured_law_is_as_expected(measured):
    assert measured.reason == ""
    assert not {name: (r.ratios, r.where) for name, r in measured.items() if not r.as_expected}


def test_every_ratio_far_below_one_is_explained(measured):
    assert not {name: r.ratios for name, r in measured.items() if not r.explained}


def test_the_worst_is_the_ratio_of_a_value_and_a_budget_in_the_dtype_it_names(measured):
    for name, r in measured.items():
        assert r.ratio == max(r.ratios.values())
        assert r.ratio == (r.value / r.budget if r.value else 0.0), name
        assert r.where.split(",")[0] in r.ratios
        assert 0 <= r.value < math.inf
        assert 0 <= r.budget < math.inf


def test_violations_are_those_of_refuted_laws_and_dwarf_their_budgets(measured, by_id):
    for name, r in measured.items():
        assert r.violation is (by_id[name].status is Status.REFUTED)
        assert not r.violation or min(r.ratios.values()) > 20


def test_laws_that_speak_of_kernels_are_measured_in_every_dtype(measured, by_id):
    laws = {"relative", "in-family", "flow", "bounded", *TURN}
    wanted = [name for name in by_id if name.split("/")[0] in laws]
    absent = {"learned_absolute", "grape_a_qk", "transformer_xl", "pope"}
    assert {name.partition("/")[2] for name in wanted if name not in measured} == absent
    for name in wanted:
        if name in measured:
            assert set(measured[name].ratios) == {"float64", "float32", "bfloat16", "float16"}, name


def test_laws_that_do_not_are_absent(measured, by_id):
    assert not {name for name in measured if set(name.split("/")) & NO_KERNEL}
    assert 100 < len(measured) < len(by_id)


def test_a_measurement_repeats_itself_and_changes_nothing(by_id):
    state, threads, kind = torch.random.get_rng_state(), torch.get_num_threads(), torch.get_default_dtype()
    laws = [by_id[name] for name in ("rope-relative", "flow/turn", "relative/rope", "full-turn-table")]
    first, second = (measure.residuals(laws) for _ in range(2))
    for name in first:
        assert (first[name].ratios, first[name].where) == (second[name].ratios, second[name].where)
    assert torch.equal(state, torch.random.get_rng_state())
    assert (threads, kind) == (torch.get_num_threads(), torch.get_default_dtype())


def test_without_torch_nothing_is_measured_and_the_reason_is_given(by_id, monkeypatch):
    monkeypatch.setattr(measure, "find_spec", lambda name: None)
    found = measure.residuals(by_id.values())
    assert found == {}
    assert "torch is not installed" in found.reason


def test_progress_hears_of_every_measured_proof(by_id):
    heard = []
    measure.residuals([by_id["turn-flow"], by_id["clock-group"], by_id["cosine-only"]], heard.append)
    assert heard == ["turn-flow", "cosine-only"]


@pytest.fixture
def in_place_of_turned(monkeypatch):
    """Rotations run in eager PyTorch, with another arithmetic."""

    def use(broken):
        monkeypatch.setattr(rotary.direct, "turned", lambda *given: None)
        monkeypatch.setattr(rotary, "chosen", lambda impl, device: "eager")
        monkeypatch.setattr(eager, "turned", broken)

    return use


@pytest.mark.parametrize("name", [*TURN, "rotated-values", "sinusoidal-shift"])
def test_a_deleted_minus_sign_is_seen(name, remeasure, in_place_of_turned):
    def plus(x, cos, sin, interleaved, inverse):
        x0, x1 = split_pairs(x.to(cos.dtype), interleaved)
        return join_pairs(x0 * cos + x1 * sin, x0 * sin + x1 * cos, interleaved).to(x.dtype)

    in_place_of_turned(plus)
    assert not remeasure(name).as_expected


def test_the_wrong_direction_is_seen_by_the_pinned_sign_and_passes_the_relative_laws(
    remeasure, in_place_of_turned
):
    turned = eager.turned
    in_place_of_turned(lambda *given: turned(*given[:-1], not given[-1]))
    assert not remeasure("plane-score").as_expected
    assert not remeasure("levels").as_expected
    assert remeasure("rope-relative").as_expected
    assert remeasure("rope-length").as_expected


def test_keys_carried_over_the_wrong_way_are_seen(remeasure, monkeypatch):
    carry = rerotation.rerotation_table
    monkeypatch.setattr(rerotation, "rerotation_table", lambda old, new, ids, **o: carry(new, old, ids, **o))
    assert not remeasure("rerotation").as_expected


def test_a_coordinate_that_is_lost_is_seen(remeasure, monkeypatch):
    whole = tables.exact_angles

    def first_axis(waves, ids):
        return whole(waves[:1], ids[:1]) if waves.ndim == 2 else whole(waves, ids)

    monkeypatch.setattr(tables, "exact_angles", first_axis)
    assert not remeasure("mrope-worked-example").as_expected
    assert not remeasure("mrope-is-rope").as_expected


def test_a_wrong_pairing_is_seen_by_the_permutation_and_passes_the_relative_laws(
    remeasure, in_place_of_turned
):
    turned = eager.turned
    in_place_of_turned(lambda x, cos, sin, *ways: turned(x, cos, sin, False, ways[-1]))
    assert not remeasure("half-split").as_expected
    assert remeasure("rope-relative").as_expected


@pytest.mark.parametrize("which", range(4))
def test_eight_roundoffs_on_one_coefficient_are_seen_in_every_dtype(which, remeasure, in_place_of_turned):
    def scaled(x, cos, sin, interleaved, inverse):
        off = [1.0] * 4
        off[which] += 8 * unit_roundoff(x.dtype)
        x0, x1 = split_pairs(x.to(cos.dtype), interleaved)
        first = x0 * (cos * off[0]) - x1 * (sin * off[1])
        return join_pairs(first, x0 * (sin * off[2]) + x1 * (cos * off[3]), interleaved).to(x.dtype)

    in_place_of_turned(scaled)
    assert min(remeasure("levels").ratios.values()) > 1


@pytest.mark.parametrize("name", ["flow/fade", "group-law/damped-turn", "decay-table", "half-life"])
def test_growth_in_place_of_a_fade_is_seen(name, remeasure, monkeypatch):
    fade = flow._fade
    monkeypatch.setattr(
        flow, "_fade", lambda decays, time, dtype: fade(tuple(-d for d in decays), time, dtype)
    )
    if name.startswith("group-law"):  # a growth obeys the group law too, but is another group
        assert not remeasure("flow/damped-turn").as_expected
    assert not remeasure(name).as_expected


@pytest.mark.parametrize(
    "name", ["flow/slide-3", "group-law/slide-3", "kernel-functions/slide-3", "all-sizes"]
)
def test_a_dropped_factorial_is_seen(name, remeasure, monkeypatch):
    shape_program = flow.shape_program

    def without(size, **kind):
        program = shape_program(size, **kind)
        return replace(
            program, tables=tuple((name, value.as_coeff_Mul()[1]) for name, value in program.tables)
        )

    monkeypatch.setattr(flow, "shape_program", without)
    assert not remeasure(name).as_expected


def test_a_rewarded_distance_is_seen(remeasure, monkeypatch):
    slopes = biased._check_slopes
    monkeypatch.setattr(biased, "_check_slopes", lambda *given: -slopes(*given))
    assert not remeasure("alibi-logit").as_expected


def test_a_key_that_is_not_turned_is_seen(remeasure, monkeypatch):
    turn, calls = attend.turn, cycle((1, 0))  # the query first, then the key

    def only_queries(x, batch, ids, transpose, layout):
        return turn(x, batch, next(calls) * ids, transpose, layout)

    monkeypatch.setattr(attend, "turn", only_queries)
    for name in ("relative/rope", "in-family/rope", "relative/damped_rope"):
        assert not remeasure(name).as_expected


@pytest.mark.parametrize(
    "name", ["relative/keys_only", "relative/sinusoidal", "relative/mismatched_pairings"]
)
def test_a_violation_that_does_not_happen_is_not_as_expected(name, remeasure, monkeypatch):
    rope = encoding("rope", head_dim=4)
    monkeypatch.setattr(attention, "attend", lambda given, found, causal=True: _plain(given, rope))
    assert not remeasure(name).as_expected


def _plain(given, found):
    from exptx.numeric import attention as kernel

    return kernel(given.q, given.k, given.v, found, position_ids=given.ids).double()


def test_keys_ahead_that_are_not_refused_are_not_as_expected(remeasure, monkeypatch):
    monkeypatch.setattr(attend, "_refuse_unbounded", lambda *given: None)
    assert not remeasure("decay-needs-causal-mask").as_expected


def test_nan_is_the_worst_and_never_as_expected():
    def cases():
        good = torch.tensor([1.0])
        yield residual.Case(good, 2 * good, "float64", "first")
        yield residual.Case(torch.tensor([0.1, math.nan]), 2 * good, "float32", "second")
        yield residual.Case(good, 2 * good, "float32", "third")

    for violation in (False, True):
        found = residual.Measurement(cases, "", "").run(None, violation)
        assert math.isnan(found.ratio)
        assert found.where == "float32, second"
        assert not found.as_expected


def test_no_error_within_no_budget_is_fine_and_an_error_is_not():
    zero, one = torch.zeros(1), torch.ones(1)
    assert residual.Case(zero, zero, "float64", "").worst() == (0.0, 0.0, 0.0)
    assert residual.Case(one, zero, "float64", "").worst()[0] == math.inf


def test_a_small_ratio_without_a_reason_stays_unexplained():
    silent, told = (residual.Measurement(lambda: (), small, "") for small in ("", "roundings cancel"))
    assert silent.explain({"float64": 0.01, "float32": 0.5}) == ""
    assert told.explain({"float64": 0.01, "float32": 0.5}) == "In float64 roundings cancel."
    assert told.explain({"float64": 0.01, "float32": 0.0}) == ""


def test_a_law_is_measured_once():
    with pytest.raises(ValueError, match="law rope-plane is measured twice"):
        residual.measures("rope-plane")(lambda: ())


def test_the_exact_output_is_the_softmax_of_the_law():
    """Two keys with logits 0 and ln 3: weights 1/4 and 3/4."""
    q, k = (torch.tensor([[[[0.0], [x]]]], dtype=torch.float64) for x in (math.log(3), 1.0))
    given = attended.Heads(q, k, torch.tensor([[[[8.0], [4.0]]]]).double(), torch.tensor([0, 1]))
    found = attended.exact_output(given, encoding("nope", head_dim=1))
    assert found.flatten().tolist() == pytest.approx([8.0, 5.0], rel=1e-15)


def test_a_product_in_fractions_is_rounded_once():
    matrix = torch.tensor([[2.0**60, 1.0, -(2.0**60)]], dtype=torch.float64)
    assert rotated.exact_product(matrix, torch.ones(1, 3).double()).item() == 1.0


def test_the_budget_of_attention_covers_every_change_of_logits_it_is_told():
    """Weights moved by e^{±r}, normalised again: the output stays inside, and the bound is not idle."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(50, 6, generator=generator, dtype=torch.float64)[:, None]
    v = torch.randn(50, 6, 3, generator=generator, dtype=torch.float64)
    p, r = logits.softmax(-1), torch.full((50, 1, 6), 1e-3, dtype=torch.float64)
    gaps = logits.amax(-1, keepdim=True) - logits
    bound = budget.attended(p, gaps, v, r, torch.float64)
    signs = torch.randint(0, 2, (200, 50, 1, 6), generator=generator) * 2 - 1
    worst = max(((logits + r * s).softmax(-1) @ v - p @ v).abs().div(bound).max() for s in signs)
    assert 0.5 < worst <= 1
