"""Rotary frequencies on several axes: by how much each plane turns for every coordinate of a position.

    angle of plane j at p = p_0 w_0j + … + p_{n-1} w_{n-1,j}

M-RoPE shares the planes of one table out among axes, axial tables have planes for each, mixed ones turn every
plane with all coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import sympy as sp

from .encoding import Encoding
from .errors import BadInput, WrongType
from .exact import whole
from .kinds.axes import AxesEncoding
from .scaling import Frequencies
from .walk import shown

LAYOUTS = ("chunked", "interleaved")


@dataclass(frozen=True)
class AxisFrequencies:
    """`exact[a][j]`: radians by which plane j turns a unit of coordinate a, of any sign; 0 where it does not.

    `attention_factor` and `longest` are as in Frequencies, `longest` for every coordinate. `text`: whether
    tokens with equal coordinates are those of a sequence, at one number; so it is for sections of one table.
    """

    exact: tuple[tuple[sp.Expr, ...], ...]
    attention_factor: sp.Expr = sp.S.One
    text: bool = False
    longest: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not self.exact or len({len(rates) for rates in self.exact}) != 1:
            raise BadInput(
                "exact has no axes, or axes with different numbers of planes; a rate a plane works"
            )

    @property
    def axes(self) -> int:
        """The number of coordinates of a position."""
        return len(self.exact)

    def __len__(self) -> int:
        """The number of planes."""
        return len(self.exact[0])


def sectioned(frequencies: Frequencies, sections: Sequence[int], layout: str = "chunked") -> AxisFrequencies:
    """M-RoPE: plane i of a table turns with the one axis that owns it, by any rule, its amplitude included.

    sections: how many planes each axis owns, all planes together; time, height, width in Qwen-VL. layout
    "chunked": axis after axis (Qwen2-VL); "interleaved", for three axes: the second if i % 3 = 1 and
    i < 3·sections[1], the third if i % 3 = 2 and i < 3·sections[2], else the first (Qwen3-VL). Positions with
    equal coordinates are those of text and give the table itself. BadInput for sections that do not fit.
    """
    if not isinstance(frequencies, Frequencies):
        raise WrongType(f"frequencies is {shown(frequencies)}; frequencies(10000, 128), say, works")
    owner = owners(sections, len(frequencies), layout)
    rates = tuple(
        tuple(w if a == mine else sp.S.Zero for w, mine in zip(frequencies, owner, strict=True))
        for a in range(len(sections))
    )
    return AxisFrequencies(rates, frequencies.attention_factor, True, frequencies.longest)


def owners(sections: object, planes: int, layout: str = "chunked") -> list[int]:
    """The axis of every plane."""
    if layout not in LAYOUTS:
        raise BadInput(f"layout is {shown(layout)}; 'chunked' or 'interleaved' works")
    if isinstance(sections, str) or not isinstance(sections, Sequence):
        raise WrongType(f"sections is {shown(sections)}; three numbers of planes work, e.g. (16, 24, 24)")
    given = tuple(whole(x, f"sections[{i}]", 0) for i, x in enumerate(sections))
    if sum(given) != planes or not given:
        raise BadInput(f"sections is {given}; numbers that add up to the {planes} planes work")
    if layout == "chunked":
        return [axis for axis, count in enumerate(given) for _ in range(count)]
    if len(given) != 3:
        raise BadInput(f"sections is {given}; the layout 'interleaved' is for three axes")
    owner = [i % 3 if i < 3 * given[i % 3] else 0 for i in range(planes)]
    if tuple(map(owner.count, range(3))) != given:
        raise BadInput(
            f"sections is {given}; interleaved, height and width own {owner.count(1)} and {owner.count(2)} "
            f"of {planes} planes; at most a third each works"
        )
    return owner


def axis_frequencies(encoding: Encoding) -> AxisFrequencies:
    """The rates of an encoding whose axes turn planes: axial, rope_3d, rope_mixed, mrope.

    Planes in the order of their first feature. Unsupported encodings (axes that do more than turn disjoint
    planes, or planes of neither pairing) raise BadInput.
    """
    return _lowered(encoding)[0]


def is_interleaved(encoding: Encoding) -> bool:
    """Whether the planes of such an encoding are (2k, 2k+1), and not (k, k + pairs)."""
    return _lowered(encoding)[1]


def _lowered(encoding: Encoding) -> tuple[AxisFrequencies, bool]:
    axes = encoding.axes if isinstance(encoding, AxesEncoding) else None
    if axes is None or (planes := axes.planes) is None:
        raise BadInput(
            f"encoding {encoding.name} does not turn planes by coordinates; axial, rope_3d, rope_mixed and "
            "mrope do"
        )
    size = encoding.head_dim
    pairings = {
        False: [(k, k + size // 2) for k in range(size // 2)],
        True: [(2 * k, 2 * k + 1) for k in range(size // 2)],
    }
    for interleaved, pairs in pairings.items():
        if set(planes) <= set(pairs):
            still = (sp.S.Zero,) * len(axes)
            rates = [tuple(-x for x in planes.get(pair, still)) for pair in pairs]
            text = encoding.name == "mrope"
            return AxisFrequencies(tuple(zip(*rates, strict=True)), text=text), interleaved
    raise BadInput(f"encoding {encoding.name} turns planes of neither pairing")
