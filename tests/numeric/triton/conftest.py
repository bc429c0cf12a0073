"""Triton's interpreter stands in for a GPU: kernels run on CPU tensors, tile after tile."""

import pytest


@pytest.fixture(autouse=True)
def _interpreter(monkeypatch, tmp_path_factory):
    """TRITON_INTERPRET=1, and what is compiled for GPUs is kept in a folder of this run."""
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "triton"))
