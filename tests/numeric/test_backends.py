"""The choice of a path: the fastest that runs, or the one asked for, and never another one in silence."""

import os
import subprocess
import sys
import warnings

import pytest
import torch
from exptx.numeric import BadChoice, NotBuilt, backends, native, rotary_embedding, rotary_table, triton
from exptx.symbolic import frequencies

X = torch.randn(1, 2, 3, 8, generator=torch.Generator().manual_seed(0))
TABLE = rotary_table(frequencies(10000, 8), torch.arange(3))
REASON = "no C compiler; install one"


@pytest.fixture
def no_compiler(monkeypatch):
    """A machine on which nothing can be compiled, and on which nothing has been said yet."""
    monkeypatch.setattr(native, "available", lambda: REASON)
    backends._found.cache_clear()
    yield
    backends._found.cache_clear()


def test_auto_is_native_on_a_cpu_that_can_compile():
    assert native.available() is None
    assert backends.chosen("auto", "cpu") == "native"


@pytest.mark.usefixtures("no_compiler")
def test_auto_without_a_compiler_runs_eager_and_says_why_once():
    with pytest.warns(RuntimeWarning, match=f"rotations on cpu run in eager PyTorch: {REASON}") as caught:
        first = rotary_embedding(X[:, :1], *TABLE, interleaved=True)
    assert caught[0].filename == __file__  # the line of the caller, not one of ours
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = rotary_embedding(X[:, :1], *TABLE, interleaved=True)
    assert torch.equal(first, again)
    assert torch.equal(first, rotary_embedding(X[:, :1], *TABLE, interleaved=True, impl="eager"))


def test_a_process_without_a_compiler_turns_all_the_same_and_says_so_once(tmp_path):
    """From nothing to the result: an empty PATH, no cache, the functions and the module."""
    code = """
import torch, warnings
from exptx.numeric import RotaryEmbedding, rotary_embedding, rotary_table
from exptx.symbolic import frequencies
waves, x = frequencies(10000, 8), torch.randn(1, 2, 3, 8)
table = rotary_table(waves, torch.arange(3))
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    turned = [rotary_embedding(x, *table), RotaryEmbedding(waves)(x, x, torch.arange(3))[0]]
assert all(torch.equal(y, rotary_embedding(x, *table, impl="eager")) for y in turned)
print(*[warning.message for warning in said], sep="\\n")
"""
    where = {**os.environ, "PATH": str(tmp_path), "CC": "", "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=where)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert line.startswith(
        "rotations on cpu run in eager PyTorch: neither cc, gcc nor clang is there; install"
    )


@pytest.mark.usefixtures("no_compiler")
def test_native_without_a_compiler_raises_and_says_what_to_install():
    with pytest.raises(NotBuilt, match=f"impl='native' cannot run here: {REASON}; impl='eager' works"):
        rotary_embedding(X[:, 1:], *TABLE, impl="native", inverse=True)


def test_auto_is_triton_on_a_gpu():
    assert triton.available() is None
    assert backends.chosen("auto", "cuda") == backends.chosen("triton", "cuda") == "triton"


def test_a_gpu_without_triton_runs_eager_and_says_why_once(monkeypatch):
    monkeypatch.setattr(triton, "available", lambda: "Triton is not installed (pip install triton)")
    backends._found.cache_clear()
    with pytest.warns(
        RuntimeWarning, match=r"rotations on cuda run in eager PyTorch: Triton is not installed"
    ):
        assert backends.chosen("auto", "cuda") == "eager"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert backends.chosen("auto", "cuda") == "eager"
    with pytest.raises(
        NotBuilt, match=r"impl='triton' cannot run here: Triton is not installed \(pip install"
    ):
        backends.chosen("triton", "cuda")
    backends._found.cache_clear()


def test_triton_turns_tensors_of_a_cpu_in_its_interpreter_only(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "0")
    with pytest.raises(
        BadChoice,
        match=r"runs on cuda but x is on cpu; impl='auto' or 'eager' works \(and TRITON_INTERPRET=1",
    ):
        rotary_embedding(X, *TABLE, impl="triton")
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    turned = rotary_embedding(X, *TABLE, impl="triton")
    assert torch.equal(turned, rotary_embedding(X, *TABLE, impl="native"))
    assert backends.chosen("auto", "cpu") == "native"
    with pytest.raises(BadChoice, match="impl='triton' runs on cuda but x is on mps"):
        backends.chosen("triton", "mps")


def test_a_path_of_another_device_is_refused_and_an_unknown_one_too():
    with pytest.raises(BadChoice, match="impl='native' runs on cpu but x is on cuda"):
        backends.chosen("native", "cuda")
    with pytest.raises(BadChoice, match="impl is 'fast'; one of 'auto', 'eager', 'native', 'triton' works"):
        backends.chosen("fast", "cpu")


def test_devices_without_a_compiled_path_run_eager_and_meta_has_shapes_for_all():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert backends.chosen("auto", "mps") == backends.chosen("auto", "meta") == "eager"
    table = [entry.to("meta") for entry in TABLE]
    for impl in ("eager", "native", "triton"):
        assert rotary_embedding(X.to("meta"), *table, impl=impl).shape == X.shape
