"""The rules that a file can be held to: sizes, docstrings, forbidden calls, public names, mirrored tests."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("symbolic", "numeric", "benchmarks", "proofs")
SOURCES = [
    ROOT / "__init__.py",
    *sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py")),
]
TESTS = sorted((ROOT / "tests").rglob("*.py"))
EVERY = [*SOURCES, *TESTS]
FILE_LINES, FUNCTION_LINES = 400, 50

FORBIDDEN_CALLS = {
    "eval": "runs text",
    "exec": "runs text",
    "compile": "turns text into code",
    "__import__": "imports by text; importlib.import_module is visible",
    "sympify": "sympy's sympify evaluates strings",
    "parse_expr": "evaluates strings",
    "S": "sympy.S(x) is sympify",
    "lambdify": "runs text",
}
FORBIDDEN_MODULES = {"pickle", "marshal", "shelve", "dill"}
ALLOWED_CALLS = {  # (file, call) -> why no text from outside can reach it
    (
        "numeric/emitted.py",
        "compile",
    ): "source that the symbolic room wrote, from symbols named by plain words",
    ("numeric/emitted.py", "exec"): "that source, compiled",
    ("proofs/report/curves.py", "lambdify"): "draws scores of the catalogue's own encodings",
}

MIRROR_ALLOWANCE = {  # tests of more than one file of a room -> what they are about
    "numeric/test_room.py": "the room as a package",
    "numeric/test_textbook.py": "two listings as textbooks print them",
    "proofs/test_browser.py": "the written report, opened in Chromium",
    "symbolic/test_rule_properties.py": "scaling and ramps: what every rule owes its planes",
}


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), filename=str(path))


def none(found: Iterable[str], rule: str) -> None:
    """Fail with every place that breaks the rule, one a line."""
    places = list(found)
    assert not places, "\n".join([rule, *places])


def test_the_rooms_hold_files():
    assert len(SOURCES) > 30
    assert all((ROOT / room / "__init__.py") in SOURCES for room in ROOMS)


def test_every_file_says_what_it_owns():
    none((named(path) for path in EVERY if not ast.get_docstring(tree_of(path))), "no docstring")


def test_every_file_fits_on_a_few_pages():
    lines = {named(path): len(path.read_text().splitlines()) for path in EVERY}
    none((f"{name}: {n}" for name, n in lines.items() if n > FILE_LINES), f"over {FILE_LINES} lines")


def test_every_function_fits_on_one_page():
    lines = {
        f"{named(path)}:{node.lineno} {node.name}": node.end_lineno - node.lineno + 1
        for path in EVERY
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    none((f"{name}: {n}" for name, n in lines.items() if n > FUNCTION_LINES), f"over {FUNCTION_LINES} lines")


def called(node: ast.Call) -> str | None:
    """The bare name of a call: "eval" for eval(x), "sympify" for sp.sympify(x), None for re.compile(x)."""
    if isinstance(node.func, ast.Name):
        return node.func.id
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        return node.func.attr if node.func.value.id in {"sp", "sympy", "builtins"} else None
    return None


def harmless(call: ast.Call) -> bool:
    """S(2) is given a number; sympify(x, strict=True) refuses text."""
    number = (
        len(call.args) == 1 and isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, int)
    )
    strict = any(k.arg == "strict" and ast.unparse(k.value) == "True" for k in call.keywords)
    return number or (called(call) == "sympify" and strict)


def test_nothing_runs_text():
    calls = ((path, n) for path in SOURCES for n in ast.walk(tree_of(path)) if isinstance(n, ast.Call))
    found = (
        f"{named(path)}:{call.lineno} {name}: {FORBIDDEN_CALLS[name]}"
        for path, call in calls
        if (name := called(call)) in FORBIDDEN_CALLS
        and not harmless(call)
        and (named(path), name) not in ALLOWED_CALLS
    )
    none(found, "calls that can run text")


def test_nothing_is_unpickled():
    imported = {
        (named(path), alias.name if isinstance(node, ast.Import) else node.module)
        for path in SOURCES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    none((f"{path}: {module}" for path, module in imported if module in FORBIDDEN_MODULES), "unsafe formats")


def test_what_the_type_checker_is_told_to_ignore_has_a_reason():
    lines = ((path, line) for path in SOURCES for line in path.read_text().splitlines())
    none(
        [named(path) for path, line in lines if "# pyrefly: ignore" in line and "] - " not in line],
        "tells the type checker to ignore something, without a reason behind the kind: [kind] - reason",
    )


def test_nothing_is_left_to_be_done():
    found = (
        f"{named(path)}:{number} {line.strip()}"
        for path in SOURCES
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(r"\b(TODO|FIXME|XXX|HACK)\b|raise NotImplementedError", line)
    )
    none(found, "left to be done (an abstract method is marked with abc.abstractmethod)")


def installed_rooms() -> list[str]:
    return [room for room in ROOMS if room not in ("numeric", "benchmarks") or find_spec("torch")]


@pytest.mark.parametrize("room", installed_rooms())
def test_every_public_name_resolves_and_no_file_hides_it(room):
    module = importlib.import_module(f"exptx.{room}")
    assert module.__all__ == sorted(module.__all__)
    for path in sorted((ROOT / room).glob("*.py")):
        importlib.import_module(f"exptx.{room}.{path.stem}" if path.stem != "__init__" else f"exptx.{room}")
    for name in module.__all__:
        home = module._HOME.get(name)
        if home is not None:
            expected = getattr(importlib.import_module(f"exptx.{room}.{home}"), name)
            assert getattr(module, name) is expected, f"{name} is not {room}.{home}.{name}"
        else:
            assert getattr(module, name)


@pytest.mark.parametrize("room", installed_rooms())
def test_an_unknown_name_is_an_attribute_error(room):
    module = importlib.import_module(f"exptx.{room}")
    with pytest.raises(AttributeError, match="no_such_name"):
        getattr(module, "no_such_name")  # noqa: B009
    assert set(module.__all__) <= set(dir(module))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imported_from_the_clone_as_a_package_of_its_own_names_the_right_one(room):
    done = subprocess.run([sys.executable, "-c", f"import {room}"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0
    assert f"exptx.{room}" in done.stderr.splitlines()[-1]


def mirrored(test: Path) -> bool:
    """Whether test_<name>.py or test_<name>_<topic>.py stands where <name>.py or the folder <name> does."""
    words = test.stem.removeprefix("test_").split("_")
    names = ("_".join(words[:n]) for n in range(1, len(words) + 1))
    homes = [ROOT / test.parent / name for name in names]
    return any(home.is_dir() or home.with_suffix(".py").exists() for home in homes)


def test_every_test_file_mirrors_a_source_file():
    inside = (path.relative_to(ROOT / "tests") for path in TESTS if path.name != "conftest.py")
    owed = (p for p in inside if p.parts[0] in ROOMS and p.as_posix() not in MIRROR_ALLOWANCE)
    none((str(test) for test in owed if not mirrored(test)), "mirror no file; list them in MIRROR_ALLOWANCE")


def test_every_allowance_is_used():
    assert not [name for name in MIRROR_ALLOWANCE if not (ROOT / "tests" / name).exists()]
    assert not [name for name, _ in ALLOWED_CALLS if not (ROOT / name).exists()]
