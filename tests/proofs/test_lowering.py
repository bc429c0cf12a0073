"""What `exptx lower` makes of a name or a matrix: proved sources, and refusals of one sentence."""

from __future__ import annotations

import json

import pytest
import sympy as sp
from exptx.proofs import lowering as room
from exptx.proofs.lowering import FACTORS, LANGUAGES, lowering
from exptx.symbolic.errors import BadInput, ExptxError

NAMES = ("rope", "alibi", "decay", "damped_rope", "jordan_rope", "retnet", "mrope", "gla", "quadratic_bias")


@pytest.mark.parametrize("what", [*NAMES, "[[6, -15], [3, -6]]", "[[0, 1], [0, 0]]"])
@pytest.mark.parametrize("to", [None, *LANGUAGES])
def test_every_name_and_matrix_is_proved_in_every_language(what, to):
    found = lowering(what, (), to, None, {})
    assert found["check"]["status"] == "proved"
    assert found == json.loads(json.dumps(found)) == lowering(what, (), to, None, {})


def test_the_query_of_rope_is_the_rotation_that_everyone_runs():
    source = lowering("rope", (), "c", None, {"head_dim": "128"})["source"]
    assert "for (int i = 0; i < 64; ++i) {" in source
    assert "const float x1 = x[i + 64];" in source
    assert "const float y0 = x0 * c - x1 * s;" in source
    assert "const float y1 = x0 * s + x1 * c;" in source


def test_a_key_turns_as_a_query_does_and_the_flow_turns_back():
    steps = {
        factor: [program["steps"] for program in lowering("rope", (), None, factor, {})["programs"]]
        for factor in FACTORS
    }
    assert steps["query"] == steps["key"] == [[["y0", "x0 * c - x1 * s"], ["y1", "x0 * s + x1 * c"]]]
    assert steps["flow"] == [[["y0", "x0 * c + x1 * s"], ["y1", "x1 * c - x0 * s"]]]


def test_a_matrix_gives_its_flow_and_says_what_stands_before_and_after():
    source = lowering("[[6,-15],[3,-6]]", (), "torch", None, {})["source"]
    assert "y = exp(tX)·x" in source
    assert "before = [[1/3, -2/3], [0, 1/3]]" in source


def test_every_axis_has_a_function_of_its_own():
    source = lowering("axial", (), "c", None, {})["source"]
    assert source.count("void axial_0(") == source.count("void axial_1(") == 1
    assert "axis 1" in source


def test_a_matrix_of_a_file_is_lowered_and_its_name_cannot_end_a_comment(tmp_path):
    folder = tmp_path / "a*"
    folder.mkdir()
    path = folder / '"""x.json'
    path.write_text('[[0, "-1/2"], ["1/2", 0]]')
    source = lowering(str(path), (), "c", None, {})["source"]
    assert "the matrix in ___x.json" in source
    assert source.count("*/") == 1


@pytest.mark.parametrize("to", LANGUAGES)
def test_a_text_that_computes_something_else_is_not_proved(to, monkeypatch):
    source = LANGUAGES[to]
    wrong = lambda *given: source(*given).replace("x0 * s + x1 * c", "x0 * s - x1 * c")  # noqa: E731
    monkeypatch.setitem(room.LANGUAGES, to, wrong)
    check = lowering("rope", (), to, None, {})["check"]
    assert check["status"] == "refuted"
    assert "differ" in check["reason"]


@pytest.mark.parametrize(
    ("what", "options", "words"),
    [
        ("rop", {}, "'rop' is no catalogue name, no matrix and no .npy or .json file; did you mean rope"),
        ("exp(-u)", {}, "is no catalogue name, no matrix"),
        ("???", {}, "is no catalogue name, no matrix"),
        ("t5", {}, r"t5 has no exp\(tX\) to lower \(relative, but no exp\(uX\)\); .* such as rope"),
        ("keys_only", {}, r"keys_only has no exp\(tX\) to lower \(not relative\)"),
        ("rope", {"to": "rust"}, "--to is 'rust'; one of c, torch, triton works"),
        ("rope", {"factor": "value"}, "--factor is 'value'; one of flow, query, key works"),
        ("rope", {"parameters": {"head_dim": "5"}}, "which is odd.*exptx lower rope --set head_dim="),
        ("[[0]]", {"parameters": {"head_dim": "4"}}, "--set is for the parameters of a catalogue name"),
        ("[[0, 1], [0]]", {}, "a row of 1 entries"),
        ("[[0, -w], [w, 0]]", {}, "--assume 'k > 0'"),
        ("[[0, 1, 0], [0, 0, 1], [1, 1, 0]]", {}, "give no straight-line program"),
    ],
)
def test_what_cannot_be_lowered_is_refused_in_one_sentence(what, options, words):
    given = {"assume": (), "to": None, "factor": None, "parameters": {}} | options
    with pytest.raises(ExptxError, match=words):
        lowering(what, **given)


def test_a_typed_assumption_is_used():
    found = lowering("[[0, -w], [w, 0]]", ("w > 0",), "c", None, {})
    assert found["check"]["status"] == "proved"
    assert "ω = w" in found["source"]


def test_the_name_of_the_position_is_taken():
    with pytest.raises(BadInput, match="uses t, which is the position here"):
        lowering("[[0, -t], [t, 0]]", ("t > 0",), "c", None, {})


def test_the_tables_of_the_document_can_be_read_again():
    (program,) = lowering("decay", (), None, None, {})["programs"]
    assert program["tables"] == {"f": str(sp.exp(-sp.Symbol("gamma") * sp.Symbol("t")))}
    assert (program["products"], program["sums"]) == (1, 0)
