"""Every law that speaks of kernels, measured through `exptx.numeric`: worst residual beside its budget."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec

from ..symbolic.decide import Status
from .measures.residual import MEASUREMENTS, Residual
from .prove import Proof

PARTS = ("turn", "flows", "bases", "frequency", "carried", "coordinates", "attention", "recurrences")


class Residuals(dict[str, Residual]):
    """Residuals by proof id; `reason` says why nothing was measured and is empty otherwise."""

    reason: str = ""


def residuals(proofs: Iterable[Proof], progress: Callable[[str], None] | None = None) -> Residuals:
    """Measure every law among `proofs` that speaks of kernels; the others are absent.

    progress: called with each proof id after its measurement. Without torch the result is empty and its
    `reason` says so. A residual of a refuted law is a violation: it must exceed its budget.
    """
    found = Residuals()
    if find_spec("torch") is None:
        found.reason = "not measured: torch is not installed; pip install 'exptx[torch]'"
        return found
    for part in PARTS:
        import_module(f".measures.{part}", __package__)
    with _one_thread():
        for proof in proofs:
            if proof.law not in MEASUREMENTS:
                continue
            residual = MEASUREMENTS[proof.law].run(proof.encoding, proof.expected is Status.REFUTED)
            if residual is not None:
                found[proof.id] = residual
            if progress is not None:
                progress(proof.id)
    return found


@contextmanager
def _one_thread() -> Generator[None]:
    """Thousands of tiny kernels: threads would only wait for one another. The caller's setting comes back."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


__all__ = ["Residual", "Residuals", "residuals"]
