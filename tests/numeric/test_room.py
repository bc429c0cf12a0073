"""The room as a package: lazy names, a clear word without torch, and who may import whom."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from exptx import numeric

ROOM = Path(__file__).parents[2] / "numeric"
FAST = ["attend", "factors", "flow", "formula", "layout", "modules", "roots", "rotary", "softmax", "tables"]
FAST += [f"linear/{name}" for name in ("attention", "decays", "forms", "inputs", "states")]


def run(code, cwd=None):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=cwd, check=False)


def test_importing_the_room_imports_neither_torch_nor_sympy():
    done = run("import sys, exptx.numeric; print('torch' in sys.modules, 'sympy' in sys.modules)")
    assert done.stdout.split() == ["False", "False"], done.stderr


def test_without_torch_the_extra_is_named_in_one_sentence():
    hide = (
        "import importlib.util as u, sys\n"
        "find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'torch' else find(name, *rest)\n"
        "import exptx.numeric\n"
    )
    done = run(hide)
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode != 0
    assert last.endswith("exptx.numeric needs PyTorch, which is not installed: pip install 'exptx[torch]'")
    assert "MissingTorch" in last


def test_importing_the_folder_from_the_root_of_a_clone_names_the_package():
    done = run("import numeric", cwd=ROOM.parent)
    last = done.stderr.strip().splitlines()[-1]
    assert (
        last == "ImportError: this is a room of exptx, not a package of its own: write `import exptx.numeric`"
    )


def test_every_public_name_is_reachable_also_after_its_file_was_imported():
    import exptx.numeric as room

    for name in room.__all__:
        assert getattr(room, name) is not None
    assert callable(room.attention)
    assert callable(room.transport)
    assert not {path.stem for path in ROOM.glob("*.py")} & (set(room.__all__) - {"exact", "reference"})
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        room.__getattr__("no_such_name")


PUBLIC = [getattr(numeric, name) for name in numeric._HOME]
FUNCTIONS = [found for found in PUBLIC if inspect.isfunction(found)]
FUNCTIONS += [getattr(home, name) for home in (numeric.exact, numeric.reference) for name in home.__all__[:4]]


@pytest.mark.parametrize("found", PUBLIC + FUNCTIONS, ids=lambda found: found.__name__)
def test_help_is_complete_in_itself(found):
    assert not re.search(r"\b(above|earlier|this file)\b", inspect.getdoc(found))


@pytest.mark.parametrize("found", FUNCTIONS, ids=lambda found: f"{found.__module__}.{found.__name__}")
def test_help_of_a_function_speaks_of_every_argument_and_of_its_errors(found):
    words = inspect.getdoc(found)
    assert all(re.search(rf"\b{name}\b", words) for name in inspect.signature(found).parameters)
    assert any(error in words for error, home in numeric._HOME.items() if home == "errors")


def imported(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")
            yield from ("." * node.level + (node.module or "") + "." + alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("name", FAST)
def test_a_fast_path_never_imports_the_specification(name):
    assert not any(".reference" in found for found in imported(ROOM / f"{name}.py"))


def test_the_room_never_imports_proofs():
    for path in ROOM.rglob("*.py"):
        assert not any("proofs" in found for found in imported(path)), path.name


def test_only_layout_knows_feature_indices():
    """No other kernel file slices the last axis in halves or in steps of two."""
    for path in ROOM.glob("*.py"):
        if path.stem not in ("layout",):
            text = path.read_text(encoding="utf-8")
            assert "// 2 :" not in text.replace("]", " "), path.name
            assert "0::2" not in text, path.name
