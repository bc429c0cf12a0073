"""What a typed matrix, bias or encoding is: the documents behind `exptx classify`."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from exptx.proofs.classification import classification
from exptx.symbolic import BadInput, ExptxError, Unreadable, Unsupported, encodings


def classify(what, *assume, asked=None, **parameters):
    return classification(what, assume, asked or {}, parameters)


def test_a_turn_in_an_odd_basis_is_a_turn_with_an_exact_metric():
    found = classify("[[6,-15],[3,-6]]")
    assert (found["kind"], found["type"], found["metric"]) == ("matrix", "turn", "[[1, -2], [-2, 5]]")
    assert found["bound"] == "5.828427125"
    assert found["blocks"][0]["kernel_functions"] == ["cos(3·t)", "sin(3·t)"]
    assert found["check"]["status"] == "proved"


def test_a_bound_is_rounded_up():
    """√cond P = 3 + 2√2 = 5.82842712474619…"""
    assert float(classify("[[6,-15],[3,-6]]")["bound"]) > 5.82842712474619


def test_a_product_of_matrices_is_multiplied_out():
    assert classify("[[0,1],[1,0]]*[[-1,0],[0,-2]]*[[0,1],[1,0]]")["type"] == "fade ⊕ fade"


def test_roots_of_higher_degree_are_counted_and_enclosed():
    (block,) = classify("[[0,1,0],[0,0,1],[2,0,0]]")["blocks"]
    assert block["half_planes"] == {"left": 2, "axis": 0, "right": 1}
    assert "1.25992105" in block["eigenvalues"], "the cube root of 2"


def test_a_file_is_classified_like_its_literal(tmp_path):
    path = tmp_path / "m.json"
    path.write_text("[[6, -15], [3, -6]]")
    literal = classify("[[6, -15], [3, -6]]")
    assert classify(str(path)) == literal | {"read": str(path)}


def test_symbols_need_signs_and_get_them():
    with pytest.raises(Unsupported, match="discriminant"):
        classify("[[0, -w], [w, 0]]")
    assert classify("[[0, -w], [w, 0]]", "w > 0")["type"] == "turn"


@pytest.mark.parametrize(
    ("bias", "domain", "order"),
    [
        ("u**2*exp(-u/10)*cos(3*u)", "real", 6),
        ("-u", "real", 2),
        ("log(exp(-2*u))", "real", 2),
        ("sqrt(u^2)", "causal", 2),
        ("2^-u", "real", 1),
        ("cos(u)^4", "real", 5),
        ("3", "real", 1),
        ("min(u, 4)", "causal-integers", 5),
    ],
)
def test_a_bias_in_disguise_has_its_least_order(bias, domain, order):
    found = classify(bias, asked={"domain": domain})
    assert (found["order"], found["check"]["status"]) == (order, "proved")


@pytest.mark.parametrize("bias", ["log(1+u)", "exp(-u^2)", "abs(u)", "sqrt(1+u)"])
def test_what_is_no_generator_in_disguise_has_a_reason(bias):
    found = classify(bias)
    assert found["answer"] == "not realizable"
    assert found["reason"]
    assert found["witness"]


def test_two_pairs_of_positions_refute_an_encoding():
    found = classify("keys_only")
    assert found["region"] == "outside"
    assert found["answers"]["relative"]["pairs"] == ["(1, 1)", "(0, 0)"]


def test_a_block_of_size_three_has_three_kernels_a_phase():
    (block,) = classify("u**2*exp(-u/10)*cos(3*u)")["blocks"]
    assert len(block["kernel_functions"]) == 6
    assert block["kernel_functions"][-1] == "t²·e^(-t/10)·sin(3·t)"


def test_parameters_are_set_exactly_and_missing_ones_are_symbols():
    assert classify("rope", head_dim="8", interleaved="true")["parameters"]["head_dim"] == "8"
    assert classify("decay")["parameters"]["gamma"] == "gamma"
    assert classify("decay", gamma="0.1")["parameters"]["gamma"] == "1/10"


@pytest.mark.parametrize("name", encodings())
def test_every_catalogue_name_is_classified(name):
    found = classify(name)
    assert found["answers"]["relative"]["word"] in ("yes", "in its clock", "in its clocks", "no")
    assert found["region"] != "undecided"
    assert all(found[told] for told in ("published", "source", "danger"))


@pytest.mark.parametrize(
    ("what", "parameters", "error", "sentence"),
    [
        ("romee", {}, BadInput, "did you mean rope"),
        ("x + 1", {}, BadInput, "formula in the gap u"),
        ("[[1, 2]]", {}, BadInput, "not square"),
        ("2u", {}, Unreadable, "what, column 2"),
        ("u", {"head_dim": "4"}, BadInput, "--set is for the parameters"),
        ("rope", {"head_dimm": "4"}, BadInput, "head_dim"),
        ("step_table", {"edges": "2"}, BadInput, "a list .* --set edges"),
        ("rope", {"head_dim": "4x"}, Unreadable, "head_dim, column 2"),
        ("nothing.npy", {}, FileNotFoundError, "does not exist"),
        ("x\0", {}, Unreadable, r"U\+0000"),
        ("u" * 10_000, {}, Unreadable, "a name of 10000 letters"),
    ],
)
def test_what_is_nothing_is_refused_in_one_sentence(what, parameters, error, sentence):
    with pytest.raises(error, match=sentence):
        classify(what, **parameters)


def test_a_bias_is_counted_up_to_a_row_constant_where_that_is_asked():
    assert classify("-u")["order"] == 2
    found = classify("-u", asked={"modulo_row_constant": True})
    assert found["order"] == 1
    assert found["answer"].endswith("a constant per query not counted")


def test_a_bias_is_replaced_by_decays_within_a_tolerance_on_a_window():
    asked = {"domain": "causal", "tolerance": "1/1000", "window": "0, 64"}
    found = classify("-log(1+u)", asked=asked)
    assert len(found["decays"]) > 2
    for u in (0, 1, 10, 64):
        near = float(Fraction(found["constant"])) + sum(
            float(Fraction(weight)) * math.exp(-float(Fraction(rate)) * u) for weight, rate in found["decays"]
        )
        assert abs(near + math.log(1 + u)) < 1e-3


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"tolerance": "1/10"}, "tolerance and window belong together"),
        ({"tolerance": "1e-4", "window": "0, 1"}, "tolerance, column 2"),
        ({"tolerance": "1/10", "window": "5"}, "a pair"),
        ({"tolerance": "1/10", "window": "__import__('os')"}, "window"),
    ],
)
def test_a_tolerance_or_window_that_is_none_is_refused_in_one_sentence(asked, sentence):
    with pytest.raises(ExptxError, match=sentence):
        classify("-log(1+u)", asked=asked)


@pytest.mark.parametrize("what", ["rope", "[[0,1],[-1,0]]"])
def test_what_is_asked_of_a_bias_is_refused_for_anything_else(what):
    asked = (({"domain": "causal"}, "--domain"), ({"modulo_row_constant": True}, "--row-constant"))
    for given, option in asked:
        with pytest.raises(BadInput, match=f"{option} is for a bias"):
            classify(what, asked=given)


def test_a_refusal_that_asks_for_signs_says_how_to_give_them_here():
    with pytest.raises(Unsupported, match="--assume 'k > 0'"):
        classify("[[0,-a],[a,0]]")
    assert classify("[[0,-a],[a,0]]", "a > 0")["type"] == "turn"


@pytest.mark.parametrize(
    ("bias", "domain", "order", "where"),
    [
        ("u/u", "real", 1, ["u ≠ 0"]),
        ("u/u", "integers", 1, ["u ≠ 0"]),
        ("exp(log(u))", "real", 2, ["u > 0"]),
        ("exp(log(u))", "causal", 2, ["u ≠ 0"]),
        ("(u^(1/2))^2", "real", 2, ["u ≥ 0"]),
        ("(u^(1/2))^2", "causal", 2, []),
        ("(u^2 - 1)/(u - 1)", "real", 2, ["u - 1 ≠ 0"]),
        ("sin(5*u)/sin(u)", "real", 5, ["sin(u) ≠ 0"]),
        ("(2*u - 1)/(2*u - 1)", "integers", 1, []),
        ("(u - 1)/(u - 1)", "integers", 1, ["u - 1 ≠ 0"]),
        ("0*log(u) + u", "real", 2, ["u > 0"]),
        ("log(exp(-2*u))", "real", 2, []),
        ("sqrt(u)^2 + abs(u)", "real", 2, ["u ≥ 0"]),  # 2u wherever it has a value
        ("sqrt(1 - u)^2 + abs(u - 2)", "causal", 2, ["1 - u ≥ 0"]),
    ],
)
def test_an_answer_says_where_the_typed_bias_has_a_value(bias, domain, order, where):
    found = classify(bias, asked={"domain": domain})
    assert (found["order"], found["where"]) == (order, where)
    assert found["check"]["status"] == "proved"


def test_a_bias_without_any_value_is_refused():
    with pytest.raises(BadInput, match="has a real value nowhere"):
        classify("log(-1 - u^2)")


def test_entries_of_a_matrix_say_where_they_have_a_value():
    found = classify("[[x/x, 0], [0, log(y) - log(y)]]")
    assert (found["read"], found["where"]) == ("[[1, 0], [0, 0]]", ["x ≠ 0", "y > 0"])


@pytest.mark.parametrize(
    ("bias", "domain"),
    [
        ("0", "real"),
        ("2^(3*u) - 8^u", "real"),
        ("u - u", "causal"),
        ("sin(pi*u)", "integers"),
        ("sin(pi*u)", "causal-integers"),
    ],
)
def test_nothing_is_realised_by_nothing(bias, domain):
    found = classify(bias, asked={"domain": domain})
    assert found["answer"] == "realizable, order 0: the bias is 0, nothing needs to be realised"
    assert (found["order"], found["matrix"], found["check"]["status"]) == (0, "[]", "proved")


def test_a_frequency_of_unknown_sign_is_counted_without_it():
    found = classify("sin(a*u)*cos(b*u)", "a > 0", "b > 0")
    assert (found["order"], found["names"], found["where"]) == (4, {"ω₀": "|a - b|"}, ["a - b ≠ 0"])
    assert found["c"] == "[[0, sign(a - b)/2, 0, 1/2]]"
    assert classify("cos(w*u)")["where"] == ["w ≠ 0"]


def test_the_row_constant_has_a_place():
    found = classify("u + 5*exp(-u) + 3", asked={"modulo_row_constant": True})
    assert found["order"] == 2
    assert found["row_constant"].startswith("coordinate 1 of X, c and v, counted from 0")
    assert found["row_constant"].endswith("without it 2 coordinates are left")
    assert classify("exp(-u)", asked={"modulo_row_constant": True})["row_constant"] is None


@pytest.mark.parametrize("name", ["oo", "inf", "infinity", "zoo", "nan"])
def test_an_infinity_is_no_symbol(name):
    with pytest.raises(Unreadable, match=f"{name} is ambiguous; write a finite number"):
        classify(f"{name}*u")


def test_a_negative_base_and_e_are_written_as_they_are_typed():
    with pytest.raises(Unsupported, match=r"^\(-1\)\*\*u is not real"):
        classify("(-1)^u")
    assert classify("(-1)^u", asked={"domain": "integers"})["order"] == 1
    assert classify("exp(abs(u))")["witness"] == "at u = -1 the bias is e and not exp(-1)"


@pytest.mark.parametrize("name", ["liere", "comrope"])
@pytest.mark.parametrize("space", ["", " "])
def test_a_list_of_matrices_is_a_parameter(name, space):
    text = f"[{space}[[0,1],[-1,0]],{space}[[0,2],[-2,0]]]"
    assert classify(name, matrices=text)["read"].startswith(f"{name}(matrices=[[[0, 1], [-1, 0]], [[0, 2]")
    with pytest.raises(Unreadable, match=r"matrices\[1\], column 11: a sign is missing"):
        classify(name, matrices="[[[0,1],[-1,0]],[[0,2],[x y,0]]]")
    with pytest.raises(ExptxError, match="a list with one square matrix an axis works") as refused:
        classify(name, matrices="[[0,1],[-1,0]]")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "parameter", "value", "example"),
    [("kerple_log", "r1", "-1", "1"), ("kerple_log", "r1", "0", "1"), ("rope", "rope_theta", "0", "10000")],
)
def test_a_parameter_that_is_not_positive_gets_an_example_that_fits(name, parameter, value, example):
    with pytest.raises(BadInput, match=f"{parameter} is {value}; it must be positive, e.g. {example} "):
        classify(name, **{parameter: value})
