"""A rotary kernel, examined: (x, position_ids) -> y, or (q, k, position_ids) -> (q, k)."""

from __future__ import annotations

from ..findings import Diagnosis, Finding
from ..identify.observe import places, planes_of_map
from ..say import Say
from ..subject import Subject
from .calls import opened
from .diagnosis import diagnosis
from .measured import measure


def examine(given: Subject, level: str, say: Say) -> Diagnosis:
    """Planes from unit vectors, then laws on random content. Failed where it cannot be called."""
    calls = opened(given)
    planes = planes_of_map(calls, places(given.claims.longest))
    if planes is None:
        cause = "a feature meets more than one other"
        found = Finding("planes", "unit vectors", None, None, cause, _show(given.claims.head_dim))
        return Diagnosis(given.name, given.kind, "mixes features beyond planes", (found,), (), ())
    if not planes.pairs:
        found = Finding("value", "every position", None, None, "nothing turns", _show(given.claims.head_dim))
        return Diagnosis(given.name, given.kind, "turns nothing", (found,), (), ())

    def reproduce(t: int, i: int, expected: tuple[float, float] | None = None) -> str:
        a, b = planes.pairs[i]
        should = "" if expected is None else f"  # {expected[0]:.9g}, ±{expected[1]:.9g}"
        return (
            f"x = torch.zeros(1, 1, 1, {planes.dim}); x[..., {a}] = 1\n"
            f"y = subject(x, torch.tensor([[{t}]]))\nprint(y[..., {a}], y[..., {b}]){should}"
        )

    outcomes = list(measure(calls, planes, level, say))
    return diagnosis(calls, planes, "turns", outcomes, reproduce)


def _show(dim: int) -> str:
    return (
        f"x, ids = torch.eye({dim})[:, None, None], torch.full(({dim}, 1), 3)\n"
        "y = subject(x, ids)[:, 0, 0]\n"
        "print(y, (y != 0).sum(-1))"
    )
