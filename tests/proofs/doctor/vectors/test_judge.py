"""Programs in other languages: what they make of the vectors is judged, by a C program and by numpy."""

from __future__ import annotations

import json
import math
import shutil
import struct
import subprocess
from decimal import Decimal

import numpy
import pytest
from exptx.proofs.cli import app
from exptx.proofs.doctor.spec import claims_of
from exptx.proofs.doctor.vectors.cases import CODES_OF, case_of, inputs_of
from exptx.proofs.doctor.vectors.judge import _cause, judge
from exptx.proofs.doctor.vectors.write import write
from exptx.proofs.errors import BadFile, UnknownPath, Unwritable
from safetensors.numpy import load_file, save_file
from typer.testing import CliRunner

SAID = {"base": 10000.0, "head_dim": 16, "pairing": "half", "longest": 512}
PROGRAM = r"""
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
/* argv: file, start of x, of positions, rows, tokens, features, step of a pair, offset of positions */
int main(int argc, char **argv) {
  FILE *in = fopen(argv[1], "rb");
  long x_at = atol(argv[2]), ids_at = atol(argv[3]);
  int rows = atoi(argv[4]), tokens = atoi(argv[5]), d = atoi(argv[6]), half = atoi(argv[7]);
  long offset = atol(argv[8]);
  float *x = malloc(sizeof(float) * rows * tokens * d);
  int64_t *ids = malloc(sizeof(int64_t) * tokens);
  fseek(in, x_at, SEEK_SET);
  if (fread(x, sizeof(float), rows * tokens * d, in) != (size_t)(rows * tokens * d)) return 1;
  fseek(in, ids_at, SEEK_SET);
  if (fread(ids, sizeof(int64_t), tokens, in) != (size_t)tokens) return 1;
  for (int r = 0; r < rows; r++) for (int t = 0; t < tokens; t++) for (int i = 0; i < d / 2; i++) {
    float *v = x + (r * tokens + t) * d;
    int a = half ? i : 2 * i, b = half ? i + d / 2 : 2 * i + 1;
    float angle = (ids[t] + offset) * (1.0f / powf(10000.0f, 2.0f * i / d));
    float c = cosf(angle), s = sinf(angle), x0 = v[a], x1 = v[b];
    v[a] = x0 * c - x1 * s; v[b] = x0 * s + x1 * c;
  }
  fwrite(x, sizeof(float), rows * tokens * d, stdout);
  return 0;
}
"""


def written(folder, **changed):
    options = {**SAID, **changed}
    claims, kind = claims_of(options)
    write(folder, kind or "rotary", claims, options, "0")
    return folder


def codes(folder):
    return {finding.code: finding.cause for finding in judge(folder).findings}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("c")
    (folder / "rope.c").write_text(PROGRAM)
    compiler = shutil.which("cc")
    assert compiler, "the tests of other languages need a C compiler"
    subprocess.run([compiler, "-O1", "-o", folder / "rope", folder / "rope.c", "-lm"], check=True)
    return folder / "rope"


def run_c(program, folder, half=1, offset=0):
    """The outputs of the C program, which is told where tensors lie in the file."""
    raw = (folder / "inputs.safetensors").read_bytes()
    (size,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + size])
    outputs = {}
    for case in json.loads((folder / "manifest.json").read_text())["cases"]:
        x, ids = (header[name] for name in case["inputs"])
        starts = [8 + size + entry["data_offsets"][0] for entry in (x, ids)]
        batch, heads, tokens, d = x["shape"]
        numbers = [*starts, batch * heads, tokens, d, half, offset]
        words = [program, folder / "inputs.safetensors", *map(str, numbers)]
        made = subprocess.run(words, capture_output=True, check=True).stdout
        outputs[case["output"]] = numpy.frombuffer(made, numpy.float32).reshape(x["shape"])
    save_file(outputs, folder / "outputs.safetensors")


def test_a_right_c_program_passes(program, tmp_path):
    folder = written(tmp_path / "v")
    run_c(program, folder)
    found = judge(folder)
    assert found.ok, found.findings
    assert len(found.measured) == 4


@pytest.mark.parametrize(
    ("fault", "code", "cause"),
    [({"half": 0}, "pairing", "interleaved"), ({"offset": 1}, "origin", "position + 1")],
)
def test_a_wrong_c_program_is_told_why(program, tmp_path, fault, code, cause):
    folder = written(tmp_path / "v")
    run_c(program, folder, **fault)
    assert cause in codes(folder)[code]


def test_expected_values_are_exact(tmp_path):
    folder = written(tmp_path / "v")
    manifest = json.loads((folder / "manifest.json").read_text())
    told = manifest["decimals"]["cos, position 1, plane 0"]
    assert Decimal(told).quantize(Decimal("1e-25")) == Decimal("0.5403023058681397174009366")
    expected = load_file(folder / "expected.safetensors")
    inputs = load_file(folder / "inputs.safetensors")
    x, ids = inputs["far/x"].astype(float), inputs["far/position_ids"]
    for t, i in ((0, 0), (3, 7)):
        angle = int(ids[t]) * 10000.0 ** (-i / 8)
        y = x[0, 1, t, i] * math.cos(angle) - x[0, 1, t, i + 8] * math.sin(angle)
        assert abs(expected["far/out"][0, 1, t, i] - y) < 1e-12


@pytest.mark.parametrize(
    ("kind", "said", "spoil", "code"),
    [
        ("slopes", {"alibi": 12}, lambda y: y[::-1].copy(), "slope-value"),
        ("bias", {"alibi": 8}, lambda y: -y, "bias-sign"),
        ("tables", SAID, lambda y: y[::-1].copy(), "value"),
        ("inv_freq", SAID, lambda y: y * 1.001, "frequency"),
    ],
)
def test_other_kinds_pass_as_they_are_and_fail_when_spoilt(tmp_path, kind, said, spoil, code):
    claims, _ = claims_of(said)
    write(tmp_path / "v", kind, claims, said, "0")
    right = load_file(tmp_path / "v" / "expected.safetensors")
    outputs = {name: y for name, y in right.items() if not name.endswith(".rounded")}
    save_file(outputs, tmp_path / "v" / "outputs.safetensors")
    assert judge(tmp_path / "v").ok
    save_file({name: spoil(y) for name, y in outputs.items()}, tmp_path / "v" / "outputs.safetensors")
    assert code in codes(tmp_path / "v")


def test_missing_and_misshapen_outputs_are_findings(tmp_path):
    folder = written(tmp_path / "v")
    save_file({"start/out": numpy.zeros((2, 2), numpy.float32)}, folder / "outputs.safetensors")
    found = judge(folder)
    assert {finding.code for finding in found.findings} == {"call"}
    assert any("shape (2, 2)" in finding.cause for finding in found.findings)


def test_what_is_no_folder_of_vectors_is_refused(tmp_path):
    with pytest.raises(UnknownPath):
        judge(tmp_path)
    folder = written(tmp_path / "v")
    with pytest.raises(UnknownPath, match=r"outputs\.safetensors does not exist"):
        judge(folder)
    (folder / "outputs.safetensors").write_bytes(b"no tensors")
    with pytest.raises(BadFile, match="no safetensors file"):
        judge(folder)
    with pytest.raises(Unwritable, match="not an empty folder"):
        written(folder)


def test_the_command_line_writes_and_judges(tmp_path):
    run = CliRunner()
    made = run.invoke(app, ["vectors", "--out", str(tmp_path / "v"), "--base", "10000", "--head-dim", "8"])
    assert made.exit_code == 0, made.output
    right = load_file(tmp_path / "v" / "expected.safetensors")
    save_file(right, tmp_path / "v" / "outputs.safetensors")
    judged = run.invoke(app, ["check", "--outputs", str(tmp_path / "v")])
    assert judged.exit_code == 0, judged.output
    assert "nothing found" in judged.stdout


def test_one_vector_is_printed_with_its_published_values():
    shown = CliRunner().invoke(app, ["vectors", "--one"]).stdout
    for value in ("-1.142639", "1.922075", "2.959850", "4.029799", "-1.984110", "1.959900", "2.462377"):
        assert value in shown


@pytest.mark.parametrize("kind", ["rotary", "slopes", "bias"])
def test_a_mistake_is_only_named_where_it_differs_from_what_is_right(tmp_path, kind):
    said = {**SAID, "heads": 8} if kind == "rotary" else {"alibi": 8}
    claims, _ = claims_of(said)
    for name, given in inputs_of(kind, claims).items():
        case = case_of(kind, claims, name, given)
        beyond = case.expected + 1.5 * case.allowed
        code, cause = _cause(case, beyond)
        assert (code, cause) == (CODES_OF[kind], "unknown"), name


def test_a_broken_manifest_is_refused_in_a_sentence(tmp_path):
    folder = written(tmp_path / "v")
    save_file({}, folder / "outputs.safetensors")
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({**manifest, "cases": [1]}))
    with pytest.raises(BadFile, match="lacks kind, claims or cases"):
        judge(folder)
    path.write_text(json.dumps(manifest))
    save_file({"start/x": numpy.zeros(3)}, folder / "inputs.safetensors")
    with pytest.raises(BadFile, match="does not hold the inputs"):
        judge(folder)


def test_an_output_in_another_format_is_a_finding(tmp_path):
    folder = written(tmp_path / "v")
    right = load_file(folder / "expected.safetensors")
    save_file({name: y.astype(numpy.float16) for name, y in right.items()}, folder / "outputs.safetensors")
    assert "claimed float32" in codes(folder)["dtype"]
