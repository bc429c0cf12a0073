"""Laws of linear attention on its kernel: kept as it is, and broken by each of the classic mistakes."""

import pytest

torch = pytest.importorskip("torch")

from exptx.numeric.linear import decays, forms, states  # noqa: E402
from exptx.proofs.measures import recurrences, residual  # noqa: E402

BLOCKS = ("fade", "turn")
LAWS = [
    *((law, name) for law in ("recurrence", "gated-recurrence", "chunks") for name in BLOCKS),
    ("recurrence-any-size", None),
    ("chunks-any-size", None),
]


def measured(law, encoding=None, violation=False):
    return residual.MEASUREMENTS[law].run(encoding, violation)


@pytest.mark.parametrize(("law", "encoding"), LAWS)
def test_the_laws_hold_in_every_dtype(law, encoding):
    found = measured(law, encoding)
    assert found.as_expected, found
    assert found.explained
    assert set(found.ratios) == {"float64", "float32", "bfloat16", "float16"}


@pytest.mark.parametrize("law", ["add-then-decay", "chunk-border"])
def test_the_refuted_laws_fail_by_far(law):
    found = measured(law, violation=True)
    assert found.as_expected
    assert min(found.ratios.values()) > 20


def test_a_slide_has_no_such_kernel():
    assert measured("recurrence", "slide") is None
    assert not list(recurrences.each("slide", ("recurrent", "parallel"), ""))


def changed(monkeypatch, **fields):
    """Chunks whose decays are not what they should be."""
    halved = decays.halved

    def wrong(step):
        found = halved(step)
        return decays.Decays(
            **{name: fields.get(name, lambda x, _: x)(value, step) for name, value in vars(found).items()}
        )

    monkeypatch.setattr(forms, "halved", wrong)


CHUNKS = [("chunks", "fade"), ("chunks-any-size", None)]


@pytest.mark.parametrize(("law", "encoding"), CHUNKS)
def test_a_query_that_reads_the_state_one_step_early_is_seen(law, encoding, monkeypatch):
    changed(
        monkeypatch,
        from_start=lambda x, step: torch.cat((torch.ones_like(x[..., :1, :]), x[..., :-1, :]), -2),
    )
    assert not measured(law, encoding).as_expected


@pytest.mark.parametrize(("law", "encoding"), CHUNKS)
def test_a_key_that_fades_one_step_more_is_seen(law, encoding, monkeypatch):
    changed(monkeypatch, to_end=lambda x, step: x * step[..., -1:, :])
    assert not measured(law, encoding).as_expected


@pytest.mark.parametrize(("law", "encoding"), [*CHUNKS, ("recurrence", "fade"), ("gated-recurrence", "fade")])
def test_a_border_that_counts_a_step_twice_is_seen(law, encoding, monkeypatch):
    changed(
        monkeypatch,
        borders=lambda pairs, _: tuple((after * after[..., :1, :], before) for after, before in pairs),
    )
    assert not measured(law, encoding).as_expected


@pytest.mark.parametrize(
    ("law", "encoding"), [("recurrence", "fade"), ("chunks", "turn"), ("chunks-any-size", None)]
)
def test_a_token_that_is_added_before_its_decay_is_seen(law, encoding, monkeypatch):
    def early(state, factor, added):
        high, low = factor
        return (state + added) * (high if low is None else high + low)

    monkeypatch.setattr(forms, "carried", early)
    if encoding == "turn":  # no decay: before and after are one
        assert measured(law, encoding).as_expected
    else:
        assert not measured(law, encoding).as_expected


def test_a_border_between_chunks_that_is_right_breaks_the_refutation(monkeypatch):
    kind = states.StateMap
    monkeypatch.setattr(
        recurrences.numeric, "StateMap", lambda state, log_decay: kind(state, log_decay - recurrences.RATE)
    )
    assert not measured("chunk-border", violation=True).as_expected
