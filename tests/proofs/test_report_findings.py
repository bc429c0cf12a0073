"""Sentences about witnesses: words, short numbers, no names that only the program knows."""

import re

import pytest
import sympy as sp
from exptx.proofs.prove import Executed
from exptx.proofs.report.findings import distance, element, finding, name, number
from exptx.proofs.report.prose import inline
from exptx.proofs.step import Apart, Cited, Enclosed, Exact, Identity, Source
from exptx.symbolic.finite import Finite
from exptx.symbolic.induction import Induction

t, s = sp.symbols("t s", real=True)


def executed(step):
    return Executed(step, step.check(frozenset()))


def said(step):
    return finding(executed(step))


@pytest.mark.parametrize(
    ("symbol", "printed"),
    [
        ("t", "t"),
        ("omega0", "ω_{0}"),
        ("tau_r", "τ_{r}"),
        ("W0_1", "W_{0,1}"),
        ("G0inv", "G_{0}⁻¹"),
        ("Fu", "F_{u}"),
    ],
)
def test_a_symbol_is_named_as_the_formulas_print_it(symbol, printed):
    assert name(symbol) == printed


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        ("4", "4"),
        ("-28/3", "-28/3"),
        ("0.4621171573", "0.46212"),
        ("1/100000000", "1·10^{-8}"),
        ("1234567/1000", "1234.6"),
    ],
)
def test_a_number_is_short(value, printed):
    assert number(sp.Rational(value)) == printed


@pytest.mark.parametrize(
    ("gap", "printed"),
    [
        (["-28/3", "-28/3"], "28/3"),
        (["2.9999999999", "3.0000000001"], "3"),
        (["-0.68051", "-0.68049", "3.06226", "3.06228"], "-0.6805 + 3.0623i"),
        (["-1", "1", "-2", "-2"], "2i"),
    ],
)
def test_a_distance_has_no_sign_and_a_complex_difference_is_written_with_i(gap, printed):
    assert distance(gap) == printed


def test_constants_that_differ_are_two_numbers():
    assert said(Identity(name="x", lhs=sp.Integer(2), rhs=sp.Integer(6))) == "The two numbers differ by `4`."
    two, four = sp.ImmutableMatrix([[0, 2]]), sp.ImmutableMatrix([[0, 4]])
    assert said(Identity(name="x", lhs=two, rhs=four)) == "The two matrices differ by `2` in row 1, column 2."


def test_a_witness_names_positions_first_and_signs_no_distance():
    found = said(
        Identity(
            name="x", lhs=sp.Symbol("gamma", positive=True) * t, rhs=sp.Symbol("gamma", positive=True) * t + 1
        )
    )
    assert re.fullmatch(r"At `t = [^`]+`, `γ = [^`]+` the two sides differ by `1`\.", found)


def test_a_long_witness_is_cut_short_and_says_so():
    many = sp.symbols("a0:20", real=True)
    found = said(Identity(name="x", lhs=sum(many), rhs=sum(many) + t))
    assert found.count("=") == 6
    assert "`t = " in found
    assert "… and 15 more in the certificate" in found


def test_an_entry_that_the_dots_of_the_formula_leave_out_is_called_that():
    tall = sp.ImmutableMatrix(12, 1, lambda i, j: t)
    changed = sp.ImmutableMatrix(12, 1, lambda i, j: t + (1 if i == 8 else 0))
    assert "in row 9, column 1 of the 12 × 1 matrices, among the dots" in said(
        Identity(name="x", lhs=tall, rhs=changed)
    )
    shown = sp.ImmutableMatrix(12, 1, lambda i, j: t + (1 if i == 11 else 0))
    assert said(Identity(name="x", lhs=tall, rhs=shown)).endswith("in row 12, column 1.")


def test_values_of_functions_are_told_at_numbers():
    b = sp.Function("b")
    found = said(Apart(name="x", lhs=b(t + s), rhs=b(t - s)))
    assert re.search(r"with `b\(-?[\d/]+\) = ", found)


def test_an_induction_that_fails_speaks_of_the_recursion_not_of_its_symbols():
    n, total = sp.Symbol("n", nonnegative=True), sp.Symbol("S1", real=True)
    step = Exact(
        name="x", of=Induction(index=n, start=0, state={total: (0, total + 1)}, claim={total: 2 * n})
    )
    found = said(step)
    assert found == "At `n = 1` the recursion and the claimed formula differ by `1`."


HOURS = tuple(f"h{i}" for i in range(3))


def hours(wrap):
    return tuple(
        tuple(f"h{(i + j) % 3}" if wrap or i + j < 3 else f"({i + j})" for j in range(3)) for i in range(3)
    )


def test_tables_are_refuted_in_words():
    open_ended = Exact(name="x", of=Finite(HOURS, hours(False), {"closure": True}))
    assert said(open_ended) == "`1 ∘ 2 = 3`, which is not among the elements."
    later = Exact(
        name="x", of=Finite(("now", "later"), (("now", "later"), ("later", "later")), {"inverses": True})
    )
    assert said(later) == "The element *later* has no inverse."


@pytest.mark.parametrize(("label", "printed"), [("h11", "11"), ("((3, 1, 2))", "312"), ("90°", "90°")])
def test_elements_of_tables_are_read_as_they_are_meant(label, printed):
    assert element(label) == printed


def test_an_enclosure_says_the_value_and_both_ends_as_decimals():
    seven = Enclosed(name="x", expr=sp.log(2) / (sp.log(2) / 7), lower="71/10", upper="36/5")
    assert said(seven) == "The value is 7, not between 7.1 and 7.2."
    pi = Enclosed(name="x", expr=sp.pi, lower="125663/40000", upper="25133/8000")
    assert said(pi) == "Enclosed by a ball that lies between 3.141575 and 3.141625."


def test_no_finding_of_the_laws_shows_a_name_or_a_number_of_the_program(proofs):
    trials = [x.executed for proof in proofs for x in (*proof.perturbations, *proof.siblings)]
    steps = [step for proof in proofs for step in proof.steps]
    for each in (*steps, *trials):
        if each.kind == "cited":
            continue
        text = re.sub(r"<[^>]+>", "", inline(finding(each)))
        assert not re.search(r"_|\*|\be-\d|inv\b|\]j|\b(?:omega|gamma|tau)\b", text), text
        assert each.kind == "enclosed" or not re.search(r"\d\.\d{9}", text), text
        assert not re.search(r"(?<![\w)])-\d", text), text


def test_a_citation_is_told_as_it_is():
    cited = Cited(name="x", lemma="y", source=Source("Hall"), needs=("real",))
    assert "needs the hypothesis “real”" in said(cited)
