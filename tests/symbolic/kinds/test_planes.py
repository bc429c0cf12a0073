"""A symbolic number of planes: the sum is the concrete score, and relativity goes by induction."""

import pytest
import sympy as sp
from exptx.symbolic.catalogue import encoding
from exptx.symbolic.decide import Status, decide
from exptx.symbolic.errors import BadInput, ExptxError, Unsupported

t, s = sp.symbols("t s", real=True)
n = sp.Symbol("n", integer=True, positive=True)


@pytest.mark.parametrize("interleaved", [True, False])
def test_the_sum_over_planes_at_a_number_is_the_concrete_score(interleaved):
    whole = encoding("rope", head_dim=2 * n, interleaved=interleaved)
    free = encoding("rope", head_dim=6, interleaved=interleaved).symbolic()[0]
    total = whole.score(t, s).subs(n, 3).doit()
    q, k = whole.content()
    names = {sp.IndexedBase("w", positive=True)[j]: sp.Symbol(f"w{j}", positive=True) for j in range(3)}
    for symbols, base in zip(free.content(), (q, k), strict=True):
        names |= {base[i]: symbol for i, symbol in enumerate(symbols)}
    assert decide(total.xreplace(names), free.score(t, s)).holds


@pytest.mark.parametrize("interleaved", [True, False])
def test_any_number_of_planes_is_relative_by_induction(interleaved):
    whole = encoding("rope", head_dim=2 * n, interleaved=interleaved)
    verdict = whole.is_relative()
    assert verdict.status is Status.PROVED
    assert "induction" in verdict.reason
    assert whole.in_family().status is Status.PROVED


def test_the_frequencies_of_a_symbolic_number_of_planes_are_those_of_the_base():
    whole = encoding("rope", head_dim=2 * n)
    j = next(x for x in whole.frequency.free_symbols if x != n)
    concrete = encoding("rope", head_dim=8)
    values = list(concrete.symbolic()[1].values())
    assert [whole.frequency.subs({n: 4, j: k}) for k in range(4)] == values


def test_the_sum_is_shown_as_a_sum():
    assert r"\sum" in encoding("rope", head_dim=2 * n).latex()


REFUSED = [
    (lambda: encoding("rope", head_dim=3 * n), BadInput, ["head_dim", "2*n"]),
    (lambda: encoding("rope", head_dim=2 * n, rotary_dim=2), BadInput, ["rotary_dim", "concrete head_dim"]),
    (
        lambda: encoding("rope", head_dim=2 * n).query_factor(t),
        Unsupported,
        ["no explicit matrices", "plane"],
    ),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSED)
def test_a_refusal_names_the_argument_and_what_would_work(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, ExptxError)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert "\n" not in str(caught.value)
