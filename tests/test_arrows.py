"""Which file may import which: proofs -> benchmarks -> numeric -> symbolic, no cycles, a light start.

The imports are read from the syntax trees: one inside a function or under TYPE_CHECKING counts as well.
"""

from __future__ import annotations

import ast
import graphlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BELOW = {
    "symbolic": {"symbolic"},
    "numeric": {"numeric", "symbolic"},
    "benchmarks": {"benchmarks", "numeric", "symbolic"},
    "proofs": {"proofs", "benchmarks", "numeric", "symbolic"},
}
OUTSIDE = {  # what a room may import besides the standard library
    "symbolic": {"sympy", "flint"},
    "numeric": {"torch", "flint", "sympy", "platformdirs", "triton"},
    "benchmarks": {"sympy", "torch"},
    "proofs": {
        "flint", "jinja2", "latex2mathml", "markupsafe", "matplotlib", "numpy", "pytest", "rich",
        "safetensors", "sympy", "torch", "typer", "typst",
    },
}  # fmt: skip
HEAVY = ("torch", "triton", "numpy", "sympy", "flint", "typer", "rich", "matplotlib", "jinja2", "typst")


@dataclass(frozen=True)
class Import:
    """What a file imports: a module of the tree ("symbolic.decide") or of somebody else ("sympy.core")."""

    target: str
    own: bool
    line: int
    runs: bool  # False under `if TYPE_CHECKING:`


def module_of(path: Path) -> str:
    """symbolic/catalogue/__init__.py -> "symbolic.catalogue"; the root's __init__.py -> ""."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def files() -> dict[str, Path]:
    """Every module of the rooms and the root, by its name below `exptx`."""
    paths = [ROOT / "__init__.py", *(p for room in BELOW for p in (ROOT / room).rglob("*.py"))]
    return {module_of(path): path for path in sorted(paths)}


def package_of(module: str) -> tuple[str, ...]:
    """The package that a relative import in `module` starts from."""
    parts = tuple(module.split(".")) if module else ()
    return parts if files()[module].name == "__init__.py" else parts[:-1]


def typing_only(tree: ast.Module) -> set[ast.AST]:
    """The nodes under `if TYPE_CHECKING:`."""
    guards = (n for n in ast.walk(tree) if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING")
    return {inner for guard in guards for statement in guard.body for inner in ast.walk(statement)}


def targets(module: str, node: ast.Import | ast.ImportFrom, runs: bool) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        yield from (Import(alias.name, False, node.lineno, runs) for alias in node.names)
    elif node.level == 0:
        yield Import(node.module or "", False, node.lineno, runs)
    else:
        package = package_of(module)
        base = (*package[: len(package) - node.level + 1], *(node.module.split(".") if node.module else ()))
        for alias in node.names:
            inner = ".".join((*base, alias.name))
            yield Import(inner if inner in files() else ".".join(base), True, node.lineno, runs)


@cache
def imports(module: str) -> tuple[Import, ...]:
    """Every import in the file of `module`, wherever it stands."""
    tree = ast.parse(files()[module].read_text())
    found = (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
    idle = typing_only(tree)
    return tuple(one for node in found for one in targets(module, node, node not in idle))


def place(module: str, one: Import) -> str:
    return f"{files()[module].relative_to(ROOT)}:{one.line} imports {one.target or 'the root'}"


def none(found: list[str], rule: str) -> None:
    """Fail with every place that breaks the rule, one a line."""
    assert not found, "\n".join([rule, *found])


def room(module: str) -> str:
    return module.partition(".")[0]


@pytest.mark.parametrize("name", BELOW)
def test_a_room_imports_only_rooms_below_it(name):
    uphill = [
        place(module, one)
        for module in files()
        if room(module) == name
        for one in imports(module)
        if one.own and one.target and room(one.target) not in BELOW[name]
    ]
    none(uphill, f"{name} may import {sorted(BELOW[name])}")


@pytest.mark.parametrize("name", BELOW)
def test_a_room_imports_no_library_but_its_own(name):
    foreign = [
        place(module, one)
        for module in files()
        if room(module) == name
        for one in imports(module)
        if not one.own
        and one.target.partition(".")[0] not in sys.stdlib_module_names
        and one.target.partition(".")[0] not in OUTSIDE[name]
    ]
    none(foreign, "inside a room exptx is imported relatively; other libraries are listed in OUTSIDE")


def test_every_relative_import_names_a_module_that_exists():
    lost = [place(m, one) for m in files() for one in imports(m) if one.own and one.target not in files()]
    none(lost, "imports of what is not there")


@pytest.mark.parametrize("name", BELOW)
def test_no_import_cycle_inside_a_room(name):
    graph = {
        module: {i.target for i in imports(module) if i.own and i.runs and room(i.target) == name} - {module}
        for module in files()
        if room(module) == name
    }
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail("import cycle: " + " <- ".join(error.args[1]))


def closure(module: str) -> set[str]:
    """The modules of the tree that importing `module` runs, at once or later: its packages' too."""
    reached, waiting = set(), [module]
    while waiting:
        here = waiting.pop()
        if here in reached:
            continue
        reached.add(here)
        parts = here.split(".")
        waiting.extend(".".join(parts[:n]) for n in range(len(parts)))
        waiting.extend(one.target for one in imports(here) if one.own)
    return reached


def test_the_specification_shares_no_program_and_no_kernel_with_the_fast_paths():
    reached = closure("numeric.reference")
    fast = {"emitted", "eager", "flow", "rotary", "ops", "native", "triton"}
    lowered = {
        "program",
        "lowering",
        "lowered",
        "emission",
        "readback",
        "emit_c",
        "emit_torch",
        "emit_triton",
    }
    assert not {f"numeric.{name}" for name in fast} & reached
    assert not {f"symbolic.{name}" for name in lowered} & reached


def test_the_checker_and_all_it_imports_are_standard_library_only():
    reached = closure("proofs.checker")
    none(
        [m for m in reached if room(m) not in {"", "proofs"}],
        "shares code with what it checks",
    )
    outside = [
        place(module, one)
        for module in reached
        for one in imports(module)
        if not one.own and one.target.partition(".")[0] not in sys.stdlib_module_names
    ]
    none(outside, "the checker needs only the standard library")


def loaded_by(statement: str) -> list[str]:
    """The heavy libraries and rooms that a fresh interpreter has loaded after `statement`."""
    probe = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, cwd=ROOT / "tests")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("statement", ["import exptx", "import exptx.symbolic", "import exptx.proofs"])
def test_importing_a_room_imports_nothing_heavy(statement):
    assert not {*HEAVY} & {*loaded_by(statement)}


def test_importing_the_checker_imports_neither_a_library_nor_the_room_it_checks():
    loaded = loaded_by("import exptx.proofs.checker")
    assert not {*HEAVY, "exptx.symbolic", "exptx.numeric"} & {*loaded}


@pytest.mark.parametrize("call", ["--help", "--version", "env"])
def test_the_command_line_starts_without_torch_and_sympy(call):
    statement = f"import sys\nfrom exptx.proofs.cli import app\napp([{call!r}], standalone_mode=False)"
    assert not {"torch", "sympy"} & {*loaded_by(statement)}


def test_proving_in_symbols_imports_no_torch():
    statement = "from exptx.symbolic import encoding\nassert encoding('rope', head_dim=4).is_relative().holds"
    assert "torch" not in loaded_by(statement)
