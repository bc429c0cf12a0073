"""A table, examined: (position_ids) -> (cos, sin)."""

from __future__ import annotations

from ..findings import Diagnosis
from ..identify.observe import places, planes_of_tables
from ..say import Say
from ..subject import Subject
from .calls import opened
from .diagnosis import diagnosis
from .table_laws import measure


def examine(given: Subject, level: str, say: Say) -> Diagnosis:
    """Planes from cos and sin. Failed where it cannot be called."""
    calls = opened(given)
    planes, width = planes_of_tables(calls, places(given.claims.longest))

    def reproduce(t: int, i: int, expected: tuple[float, float] | None = None) -> str:
        should = "" if expected is None else f"  # {expected[0]:.9g}, {expected[1]:.9g}"
        if calls.form != "cos and sin":
            return f"table = subject(torch.tensor([[{t}]]))\nprint(table[..., :], 'plane {i}'){should}"
        return f"cos, sin = subject(torch.tensor([[{t}]]))\nprint(cos[..., {i}], sin[..., {i}]){should}"

    say("rows and order of calls")
    told = given.claims.rotary
    free = told is None or not told.length_dependent
    outcomes = list(measure(calls, planes)) if free else []
    return diagnosis(calls, planes, f"tables of {width} for", outcomes, reproduce)
