"""`exptx inspect`: a page, a document or a file; one sentence and status 2 for what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CONFIGS = Path(__file__).resolve().parents[1] / "configs"


def inspect(*arguments):
    command = [sys.executable, "-c", "from exptx.proofs.cli import main; main()", "inspect"]
    return subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def test_a_page_for_a_person():
    done = inspect(CONFIGS / "llama-3.1-8b.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert "planes 0–28 kept, planes 29–34 blended, planes 35–63 divided" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 112


def test_one_document_for_a_program():
    done = inspect(CONFIGS / "gemma-3-27b.json", "--json", "--layer-type", "full_attention")
    found = json.loads(done.stdout)
    assert found["schema"] == "exptx-inspect/1"
    (group,) = found["groups"]
    assert (len(group["layers"]), group["rule"]) == (10, "linear")
    assert group["periods"][0] == pytest.approx(50.26548245743669)


def test_the_context_can_be_chosen():
    found = json.loads(inspect(CONFIGS / "internlm3-8b.json", "--json", "--context", "65536").stdout)
    assert found["groups"][0]["frequencies"][-1] == pytest.approx((5e7 * 7 ** (128 / 126)) ** (-126 / 128))


SIZES = {"rope_theta": 10000, "head_dim": 64}
MISTRAL = {**SIZES, "model_type": "mistral", "num_hidden_layers": 2}


@pytest.mark.parametrize(
    ("config", "options", "rows"),
    [
        (SIZES, ["--context", "4096"], {"in context": "4096 positions"}),
        ({**SIZES, "max_position_embeddings": 4096}, [], {"in context": "4096 positions"}),
        (
            {**SIZES, "max_position_embeddings": 4096},
            ["--context", "8192"],
            {"in training": "4096 positions", "in context": "8192 positions"},
        ),
        (
            {**MISTRAL, "max_position_embeddings": 4096, "sliding_window": 1024},
            [],
            {"in context": "the window of 1024 positions"},
        ),
    ],
)
def test_turns_are_counted_within_what_the_config_or_the_caller_says(config, options, rows, tmp_path):
    """Training has a row of its own where it is known and other than the context."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    lines = inspect(path, *options).stdout.splitlines()
    found = dict(line.split(": ", 1) for line in lines if line.startswith(("in training", "in context")))
    assert {key: words.split(" turn within ")[1] for key, words in found.items()} == rows


def test_a_share_of_the_head_is_followed_and_noted_where_the_model_is_unknown(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**SIZES, "rotary_pct": 0.25, "model_type": "mine"}))
    done = inspect(path, "--context", "4096")
    assert (done.returncode, done.stderr) == (0, "")
    assert "16 of the 64 features of a head turn" in done.stdout
    assert "rotary_pct:" in done.stdout.split("Keys that have other meanings elsewhere")[1]


def test_a_page_with_pictures(tmp_path):
    out = tmp_path / "page.html"
    done = inspect(CONFIGS / "gpt-oss-20b.json", "--html", out)
    assert (done.returncode, done.stderr) == (0, f"{out}\n")
    page = out.read_text()
    assert page.count("<svg") == 4
    assert "planes 0–8 kept" in page
    assert "http" not in page.replace("http://www.w3.org", "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nonsense", "is no JSON text"),
        ('{"model_type": "llama"}', "config has no head_dim"),
        ('{"model_type": "llama", "head_dim": true}', "head_dim is True; a whole number works"),
        ('{"model_type": "llama", "head_dim": -2}', "head_dim is -2; a whole number from 1"),
        ('{"head_dim": 64, "rope_theta": "1e4", "max_position_embeddings": 9}', "rope_theta is"),
        ('{"head_dim": 64, "rope_theta": NaN, "max_position_embeddings": 9}', "rope_theta is nan"),
        ('{"head_dim": 64, "rope_theta": 10000}', "give --context"),
        ('{"head_dim": 64, "rope_theta": 10000, "rope_ratio": 2}', "config has rope_ratio, unknown here"),
    ],
)
def test_nonsense_gets_one_sentence(text, words, tmp_path):
    path = tmp_path / "config.json"
    path.write_text(text)
    done = inspect(path)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_layer_type_that_is_not_there_is_refused_with_those_that_are():
    done = inspect(CONFIGS / "gemma-3-27b.json", "--layer-type", "global")
    assert done.returncode == 2
    assert "config has sliding_attention, full_attention" in done.stderr
