"""Every named encoding: verdicts with checked witnesses, the paper's formula, wrong names refused."""

import inspect
import math
import re

import pytest
import sympy as sp
from exptx.symbolic.balls import enclose
from exptx.symbolic.catalogue import encoding, encodings
from exptx.symbolic.decide import Status, decide
from exptx.symbolic.errors import BadInput, ExptxError, WrongType

t, s, u = sp.symbols("t s u", real=True)
m, sigma, mu = sp.symbols("m sigma mu", positive=True)
HALF = sp.Rational(1, 2)

RELATIVE_MEMBERS = [
    ("nope", {"head_dim": 3}),
    ("rope", {"head_dim": 2}),
    ("rope", {"head_dim": 10, "rotary_dim": 6, "interleaved": True}),
    ("rope", {"head_dim": 4, "frequencies": [sp.Symbol("w", positive=True), 0]}),
    ("rope", {"head_dim": 4, "rope_theta": sp.Symbol("b", positive=True)}),
    ("decay", {"head_dim": 2, "gamma": sp.Rational(1, 10)}),
    ("decay", {"head_dim": 2, "gamma": -HALF}),
    ("damped_rope", {"head_dim": 4, "gamma": sp.log(2)}),
    ("alibi", {"num_heads": 8}),
    ("alibi", {"num_heads": 40, "head_dim": 8}),
    ("alibi", {"slope": -m, "head_dim": 2, "scale": sigma}),
    ("rotated_values_back", {"head_dim": 4}),
]
NOT_RELATIVE = [
    ("sinusoidal", {"head_dim": 4}),
    ("sinusoidal", {"head_dim": 16}),
    ("learned_absolute", {"head_dim": 3}),
    ("keys_only", {"head_dim": 8}),
    ("before_projection", {"head_dim": 2}),
    ("before_projection", {"head_dim": 2, "projection": [[1, 1], [0, 1]]}),
    ("mismatched_pairings", {"head_dim": 4}),
    ("mismatched_pairings", {"head_dim": 6}),
    ("same_side_boost", {}),
    ("same_side_boost", {"head_dim": 4, "rate": -mu}),
]
RELATIVE_OUTSIDE = [
    ("symmetric_distance", {"slope": HALF}),
    ("symmetric_distance", {"slope": m, "head_dim": 2, "scale": sigma}),
    ("step_table", {"edges": [1], "values": [0, 1], "head_dim": 2}),
    ("step_table", {"edges": [-2, 1, 4], "values": [1, m, 0, 0], "head_dim": 2}),
]


@pytest.mark.parametrize(("name", "parameters"), RELATIVE_MEMBERS)
def test_members_of_the_family_are_proved_relative_and_inside(name, parameters):
    member = encoding(name, **parameters)
    assert member.is_relative().status is Status.PROVED
    assert member.in_family().status is Status.PROVED


@pytest.mark.parametrize(("name", "parameters"), NOT_RELATIVE)
def test_negative_cases_are_refuted_at_two_pairs_of_equal_gap(name, parameters):
    """The witness is put into the scores by plain substitution."""
    negative = encoding(name, **parameters)
    assert negative.in_family().reason.startswith("it is not relative")
    for verdict in (negative.is_relative(), negative.in_family()):
        assert verdict.status is Status.REFUTED
        key, gap = verdict.witness[s], verdict.witness[u]
        rest = {x: value for x, value in verdict.witness.items() if x not in (s, u)}
        difference = negative.score(key + gap, key).subs(rest) - negative.score(gap, 0).subs(rest)
        assert abs(difference.n(30)) > sp.Rational(1, 1000)


@pytest.mark.parametrize("name", ["sinusoidal", "keys_only", "mismatched_pairings"])
def test_witness_positions_are_small_integers(name):
    witness = encoding(name, head_dim=4).is_relative().witness
    assert all(witness[x].is_Integer and abs(witness[x]) <= 3 for x in (s, u))


@pytest.mark.parametrize(("name", "parameters"), RELATIVE_OUTSIDE)
def test_biases_that_are_no_exponential_polynomial_are_relative_but_outside(name, parameters):
    outside = encoding(name, **parameters)
    relative = outside.is_relative()
    assert relative.status is Status.PROVED
    assert "gone" in relative.reason
    verdict = outside.in_family()
    assert verdict.status is Status.REFUTED
    assert "Theorem 8.5" in verdict.reason
    assert verdict.witness[u].is_Rational


def test_rotated_values_are_refuted_by_their_values_and_proved_when_turned_back():
    left = encoding("rotated_values", head_dim=4)
    verdict = left.is_relative()
    assert verdict.status is Status.REFUTED
    assert "output feature" in verdict.reason
    row, column = verdict.entry
    key, gap = verdict.witness[s], verdict.witness[u]
    difference = left.value_factor(key)[row, column] - left.value_factor(sp.S.Zero)[row, column]
    assert abs(difference.n(20)) > sp.Rational(1, 1000)
    assert gap is not None
    back = encoding("rotated_values_back", head_dim=4).symbolic()[0]
    moved = back.output_factor(t) * back.value_factor(s)
    assert decide(moved, back.output_factor(t - s)).holds
    assert back.value_factor(s) == encoding("rotated_values", head_dim=4).symbolic()[0].value_factor(s)


def test_rotated_values_have_the_scores_of_rope():
    for name in ("rotated_values", "rotated_values_back"):
        assert encoding(name, head_dim=4).score(t, s) == encoding("rope", head_dim=4).score(t, s)


def test_a_projection_that_commutes_with_the_rotation_is_harmless():
    """W = aI + bJ commutes with every rotation of the plane."""
    fine = encoding("before_projection", head_dim=2, projection=[[2, -3], [3, 2]])
    assert fine.is_relative().status is Status.PROVED


def test_the_same_boost_on_both_sides_gives_the_sum_of_the_positions():
    boost = encoding("same_side_boost", rate=mu)
    product = boost.query_factor(t).T * boost.key_factor(s)
    assert decide(product, boost.key_factor(t + s)).holds
    plane = sp.Matrix([[sp.cosh(mu * t), sp.sinh(mu * t)], [sp.sinh(mu * t), sp.cosh(mu * t)]])
    assert decide(boost.query_factor(t), plane).holds


def test_the_sinusoidal_table_is_sine_cosine_and_turns_by_itself():
    w0, w1, shift = sp.symbols("w0 w1 k", positive=True)
    absolute = encoding("sinusoidal", head_dim=4, frequencies=[w0, w1])
    table = absolute.query_factor(t)[:, -1]
    assert list(table) == [sp.sin(t * w0), sp.cos(t * w0), sp.sin(t * w1), sp.cos(t * w1)]

    def turn(angle):
        return sp.Matrix([[sp.cos(angle), -sp.sin(angle)], [sp.sin(angle), sp.cos(angle)]])

    rotated = sp.diag(turn(-shift * w0), turn(-shift * w1)) * table
    assert decide(absolute.query_factor(t + shift)[:, -1], rotated).holds


def test_the_product_of_two_sinusoidal_vectors_alone_is_relative():
    absolute = encoding("sinusoidal", head_dim=4)
    free = absolute.symbolic()[0]
    zero = [0] * 4
    assert decide(free.score(s + u, s, q=zero, k=zero), free.score(u, 0, q=zero, k=zero)).holds
    assert absolute.is_relative().status is Status.REFUTED


def test_a_step_table_has_the_value_of_its_bucket():
    table = encoding("step_table", edges=[1, 4], values=[5, 7, 9], head_dim=1)
    scores = [table.score(gap, 0, q=[0], k=[0]) for gap in (-3, 0, 1, 3, 4, 100)]
    assert scores == [5, 5, 7, 7, 9, 9]


def test_the_symmetric_distance_is_alibi_for_past_keys_and_its_mirror_image_for_future_ones():
    both = encoding("symmetric_distance", slope=HALF, head_dim=4)
    alibi = encoding("alibi", slope=HALF, head_dim=4)
    zero = {"q": [0] * 4, "k": [0] * 4}
    assert both.score(7, 2, **zero) == alibi.score(7, 2, **zero) == both.score(2, 7, **zero)
    assert both.score(2, 7, **zero) == -alibi.score(2, 7, **zero)


# ------------------------------------------------------------------------------------- slopes


def paper_slopes(heads):
    """The recursion of the paper's published code, kept as exponents of 2."""
    if math.log2(heads).is_integer():
        start = sp.Rational(-8, heads)
        return [start * (i + 1) for i in range(heads)]
    closest = 2 ** math.floor(math.log2(heads))
    return paper_slopes(closest) + paper_slopes(2 * closest)[0::2][: heads - closest]


@pytest.mark.parametrize("heads", [1, 2, 3, 6, 8, 12, 16, 20, 40, 71])
def test_alibi_slopes_are_those_of_the_paper(heads):
    slopes = [head.parameters["slope"] for head in encoding("alibi", num_heads=heads).heads]
    assert slopes == [sp.Integer(2) ** exponent for exponent in paper_slopes(heads)]


GOLDEN = [
    (8, 0, "0.5"),
    (8, 7, "0.00390625"),
    (6, 4, "0.5"),
    (6, 5, "0.125"),
    (12, 8, "0.707106781187"),
    (12, 11, "0.0883883476483"),
    (40, 0, "0.840896415254"),
    (40, 1, "0.707106781187"),
    (40, 39, "0.272626933166"),
    (71, 70, "0.569394317378"),
]


@pytest.mark.parametrize(("heads", "head", "decimal"), GOLDEN)
def test_alibi_slopes_lie_where_the_decimals_say(heads, head, decimal):
    found = enclose(encoding("alibi", num_heads=heads).heads[head].parameters["slope"], 20)
    assert abs(found.lower - sp.Rational(decimal)) < sp.Rational(1, 10**12)


# ----------------------------------------------------------------------------------- registry


def test_the_listing_names_every_encoding_with_its_keywords():
    listing, words = encodings(), inspect.getdoc(encoding)
    for name, keywords in listing.items():
        shown = re.search(rf"^{name}\((.*)\)$", words, re.M)
        written = re.sub(r"=\([^)]*\)", "", shown[1])  # a default may be a tuple
        assert [part.split("=")[0] for part in written.split(", ")] == list(keywords)
    assert listing["rope"] == ("head_dim", "rope_theta", "rotary_dim", "interleaved", "frequencies")
    assert listing["decay"] == ("head_dim", "gamma")
    assert list(listing) == sorted(listing)


REFUSED = [
    (lambda: encoding("rop", head_dim=4), BadInput, ["'rop'", "did you mean", "'rope'"]),
    (lambda: encoding("zzz"), BadInput, ["'zzz'", "known", "step_table"]),
    (lambda: encoding(3), WrongType, ["name is a int"]),
    (lambda: encoding("rope", head_dims=4), BadInput, ["'head_dims'", "'head_dim'"]),
    (lambda: encoding("rope"), BadInput, ["rope needs head_dim"]),
    (lambda: encoding("decay", head_dim=4), BadInput, ["decay needs gamma"]),
    (lambda: encoding("mismatched_pairings", head_dim=2), BadInput, ["head_dim is 2", "at least 4"]),
    (
        lambda: encoding("before_projection", head_dim=4, projection=[[1]]),
        BadInput,
        ["1 x 1", "head_dim is 4"],
    ),
    (lambda: encoding("same_side_boost", rate=0), BadInput, ["rate is 0"]),
    (lambda: encoding("same_side_boost", rate=1.0), WrongType, ["rate", "float"]),
    (lambda: encoding("symmetric_distance", slope=0), BadInput, ["slope is 0"]),
    (lambda: encoding("step_table", edges=[2, 1], values=[0, 1, 2]), BadInput, ["edges", "increasing"]),
    (lambda: encoding("step_table", edges=[1], values=[0]), BadInput, ["values has 1", "1 edges"]),
    (lambda: encoding("step_table", edges=[1], values=[2, 2]), BadInput, ["values are all equal"]),
    (lambda: encoding("step_table", edges=[], values=[2]), WrongType, ["edges is []"]),
    (lambda: encoding("step_table", edges=[1], values=[0, 0.5]), WrongType, ["values[1]", "float"]),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSED)
def test_a_refusal_names_the_argument_and_what_would_work(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, ExptxError)
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize("name", ["head_dim", "num_heads"])
@pytest.mark.parametrize("number", [2**20, 10**5000], ids=["million", "monster"])
def test_sizes_that_would_exhaust_the_machine_are_refused_at_once(name, number):
    which = {"head_dim": "rope", "num_heads": "alibi"}[name]
    with pytest.raises(BadInput, match=f"{name} is .*; a whole number from . to 1024 works"):
        encoding(which, **{name: number})
