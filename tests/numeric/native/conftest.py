"""What the tests of native kernels share: processors to compile for, and fresh processes to run in."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from exptx.numeric.native import build, plan


def processors():
    """The -march flags of vectors of every width that this machine runs."""
    if platform.machine() != "x86_64":
        return ["native"]
    found = Path("/proc/cpuinfo").read_text() if sys.platform == "linux" else ""
    return ["native", "x86-64", *["x86-64-v3"] * (" avx2 " in found and " f16c " in found)]


@pytest.fixture(params=processors())
def processor(request, monkeypatch):
    """Kernels of programs that are made now are compiled for this processor."""
    monkeypatch.setattr(build, "NATIVE", (f"-march={request.param}",))
    build.find_compiler.cache_clear()
    plan.function.cache_clear()
    yield request.param
    build.find_compiler.cache_clear()
    plan.function.cache_clear()


@pytest.fixture
def python(tmp_path):
    """Start code in a fresh process, whose kernels are cached under tmp_path unless `environment` differs."""

    def start(code, **environment):
        where = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), **environment}
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [sys.executable, "-c", code], stdout=pipe, stderr=pipe, text=True, env=where, cwd=tmp_path
        )

    return start


@pytest.fixture
def answer(python):
    """What code prints in a fresh process, which must end well and soon."""

    def wait(code, **environment):
        process = python(code, **environment)
        try:
            out, err = process.communicate(timeout=120)
        finally:
            process.kill()
        assert process.returncode == 0, err
        return out.strip()

    return wait
