"""Change of basis between encodings: the intertwiner as a map of weight rows, or the reason for none."""

import pytest
import sympy as sp
from exptx.symbolic.catalogue import encoding
from exptx.symbolic.decide import Status, decide
from exptx.symbolic.equivalent import Inequivalent, Intertwiner, equivalent, interleaved_row
from exptx.symbolic.errors import BadInput, ExptxError, WrongType

t, s = sp.symbols("t s", real=True)
HALF = sp.Rational(1, 2)
v, w = sp.symbols("v w", positive=True)


def rope(head_dim, **parameters):
    return encoding("rope", head_dim=head_dim, **parameters)


EQUIVALENT = {
    "pairings": (rope(8, interleaved=True), rope(8)),
    "pairings, partial": (rope(8, rotary_dim=4, interleaved=True), rope(8, rotary_dim=4)),
    "clockwise": (rope(2, frequencies=[w]), rope(2, frequencies=[-w])),
    "planes in another order": (rope(4, frequencies=[v, w]), rope(4, frequencies=[w, v])),
    "damped": (
        encoding("decay", head_dim=4, gamma=v) + rope(4),
        encoding("damped_rope", head_dim=4, gamma=v, interleaved=True),
    ),
    "biases": (
        rope(4) + encoding("alibi", slope=v, head_dim=4),
        encoding("alibi", slope=v, head_dim=4) + rope(4, interleaved=True),
    ),
}


@pytest.mark.parametrize("case", EQUIVALENT)
def test_the_intertwiner_is_absorbed_by_the_weights(case):
    """b scores (S⁻ᵀ q, S k) as a scores (q, k): checked on the scores, not on the generators."""
    a, b = EQUIVALENT[case]
    found = equivalent(a, b)
    assert isinstance(found, Intertwiner)
    assert found.verdict.status is Status.PROVED
    q, k = a.content()
    for query, key in ((5, 2), (0, 3)):
        moved = b.score(query, key, q=list(found.query_matrix * q), k=list(found.key_matrix * k))
        assert sp.expand(moved - a.score(query, key)) == 0


@pytest.mark.parametrize("head_dim", [2, 4, 16, 128])
def test_interleaved_becomes_half_split_by_reordering_rows(head_dim):
    """Half-split row i is interleaved row 2i, and row i + d/2 is row 2i + 1, in W_q and W_k alike."""
    found = equivalent(rope(head_dim, interleaved=True), rope(head_dim))
    expected = tuple(range(0, head_dim, 2)) + tuple(range(1, head_dim, 2))
    assert found.query_rows == found.key_rows == expected
    assert set(found.signs) == {1}
    assert expected == tuple(interleaved_row(i, head_dim // 2) for i in range(head_dim))


def test_the_way_back_is_the_inverse_permutation():
    there = equivalent(rope(8, interleaved=True), rope(8)).key_rows
    back = equivalent(rope(8), rope(8, interleaved=True)).key_rows
    assert [there[i] for i in back] == list(range(8))


def test_clockwise_and_counter_clockwise_differ_by_a_reflection():
    found = equivalent(rope(2, frequencies=[w]), rope(2, frequencies=[-w]))
    assert found.matrix == sp.diag(1, -1)
    assert found.signs == (1, -1)
    assert found.key_rows == (0, 1)


def test_every_encoding_is_equivalent_to_itself_by_the_identity():
    for one in (rope(6), encoding("nope", head_dim=2), encoding("alibi", slope=HALF, head_dim=2)):
        assert equivalent(one, one).matrix == sp.eye(one.head_dim)


def test_a_wrong_intertwiner_is_refuted_by_the_same_decision():
    a, b = (rope(4, interleaved=kind).symbolic()[0].generators[0].matrix for kind in (True, False))
    good = equivalent(rope(4, interleaved=True), rope(4)).matrix
    wrong = good * sp.diag(1, -1, 1, 1)
    assert decide(good * a, b * good).holds
    assert not decide(wrong * a, b * wrong).holds


INEQUIVALENT = {
    "base": (rope(4), rope(4, rope_theta=500_000), ["block 1", "1/100"]),
    "symbols": (rope(2, frequencies=[w]), rope(2, frequencies=[v]), ["block 0", "frequency=w"]),
    "no turn": (rope(4), encoding("nope", head_dim=4), ["block 0", "frequency=1"]),
    "partial": (rope(8), rope(8, rotary_dim=4), ["block 1", "1/10"]),
    "size": (rope(8), rope(4), ["head_dim is 8 and 4"]),
    "fade": (encoding("decay", head_dim=2, gamma=v), encoding("nope", head_dim=2), ["block 0"]),
    "sign of a bias": (
        encoding("alibi", slope=HALF, head_dim=2),
        encoding("alibi", slope=-HALF, head_dim=2),
        ["biases differ"],
    ),
    "irrational biases": (
        encoding("alibi", num_heads=40, head_dim=2).heads[32],
        encoding("alibi", num_heads=40, head_dim=2).heads[34],
        ["biases differ"],
    ),
    "bias or none": (
        encoding("alibi", slope=HALF, head_dim=2),
        encoding("nope", head_dim=2),
        ["biases differ"],
    ),
    "scale": (
        encoding("alibi", slope=0, head_dim=2, scale=v),
        encoding("nope", head_dim=2),
        ["scales are v and"],
    ),
    "values": (encoding("rotated_values_back", head_dim=2), rope(2), ["values"]),
}


@pytest.mark.parametrize("case", INEQUIVALENT)
def test_different_invariants_are_named(case):
    a, b, words = INEQUIVALENT[case]
    for left, right in ((a, b), (b, a)):
        found = equivalent(left, right)
        assert isinstance(found, Inequivalent)
    assert all(word in equivalent(a, b).reason for word in words), equivalent(a, b).reason


REFUSED = [
    (lambda: equivalent(rope(4), 3), WrongType, ["b is a int", "Encoding"]),
    (
        lambda: equivalent(encoding("keys_only", head_dim=4), rope(4)),
        BadInput,
        ["a is keys_only", "no generator"],
    ),
    (
        lambda: equivalent(rope(4), encoding("alibi", num_heads=2, head_dim=4)),
        BadInput,
        ["2 heads", "b.heads[0]"],
    ),
    (
        lambda: equivalent(rope(4), rope(2 * sp.Symbol("n", integer=True, positive=True))),
        BadInput,
        ["b is rope"],
    ),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSED)
def test_what_has_no_generator_is_refused_with_a_sentence(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, ExptxError)
    assert all(word in str(caught.value) for word in words), str(caught.value)
