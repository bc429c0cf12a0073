"""The README keeps its word: its programs print what it shows; commands, options, files and targets exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from exptx.proofs.cli import app
from typer.main import get_command

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
PROGRAMS = [(code, BLOCKS[i + 1]) for i, (language, code) in enumerate(BLOCKS[:-1]) if language == "python"]
COMMANDS = [
    (code, BLOCKS[i + 1][1])
    for i, (language, code) in enumerate(BLOCKS[:-1])
    if language == "sh" and BLOCKS[i + 1][0] == "text"
]
SHELL = [
    shlex.split(line, comments=True)
    for language, text in BLOCKS
    if language == "sh"
    for line in text.splitlines()
]


def test_the_readme_shows_programs_with_their_output():
    assert len(PROGRAMS) >= 2
    assert {language for _, (language, _) in PROGRAMS} == {"text"}


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_a_program_prints_what_the_readme_shows(number, tmp_path):
    code, (_, shown) = PROGRAMS[number]
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == shown


@pytest.mark.parametrize("number", range(len(COMMANDS)))
def test_a_command_prints_what_the_readme_shows(number, tmp_path):
    code, shown = COMMANDS[number]
    (words,) = [shlex.split(line) for line in code.splitlines()]
    assert words[0] == "exptx"
    command = [sys.executable, "-c", "from exptx.proofs.cli import main; main()", *words[1:]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout == shown


def test_the_first_program_is_six_lines():
    code, _ = PROGRAMS[0]
    assert len([line for line in code.splitlines() if line]) == 6


def test_every_command_and_option_exists():
    commands = get_command(app).commands
    shown = [words for words in SHELL if words and words[0] == "exptx"]
    assert {words[1] for words in shown} == set(commands), "the README shows every command, and no other"
    for _, name, *rest in shown:
        options = {option for parameter in commands[name].params for option in parameter.opts}
        assert {word for word in rest if word.startswith("--")} <= options


def test_every_make_target_exists():
    targets = set(re.findall(r"^(\w+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    shown = {words[1] for words in SHELL if words and words[0] == "make"}
    assert shown == {"report", "test"}
    assert shown <= targets


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_every_file_named_exists(name):
    text = (ROOT / name).read_text()
    linked = set(re.findall(r"\]\((?!http)([^)#]+)\)", text))
    folders = {path.name for path in ROOT.iterdir()} - {"build"}
    quoted = {q for q in re.findall(r"`([\w./-]+)`", text) if "/" in q and q.split("/")[0] in folders}
    assert not [path for path in sorted(linked | quoted) if not (ROOT / path).exists()]
