"""How a kernel that takes tables wants to be called, found by calling it with exact ones."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from ...errors import BadClaim
from ..subject import required
from .forms import FORMS, LAYOUTS, SHAPES
from .recipe import Recipe

BATCH, HEADS, TIME, ROWS = 2, 3, 5, 11  # all different: an index by head, or by row, does not pass for time
ORDERS = {  # by the number of required arguments; two tables (c, s) or one (f)
    2: ("xf", "fx"),
    3: ("xcs", "xsc", "csx", "scx", "qkf", "fqk", "xfp", "xpf", "pxf"),
    4: ("qkcs", "qksc", "csqk", "xcsp", "xscp", "xpcs", "qkfp", "pqkf"),
    5: ("qkcsp", "qkscp", "qkpcs", "pqkcs"),
}
NEAR = 2.0**-5  # a wrong way of calling differs by the order of 1, a right one in bfloat16 by some 2^-8
NAMED = {"c": "cos", "s": "sin", "f": "freqs", "p": "pos", "q": "q", "k": "k", "x": "x"}


def recipes(apply: Callable[..., Any]) -> Iterator[Recipe]:
    """Every way of calling it with its number of required arguments; those that its names suggest first."""
    orders = ORDERS.get(required(apply), ())
    names = list(inspect.signature(getattr(apply, "forward", apply)).parameters)

    def agreeing(order: str) -> int:
        return -sum(NAMED[a] in name for a, name in zip(order, names, strict=False))

    for order in sorted(orders, key=agreeing):
        for form in FORMS:
            if ("c" in order) != form.startswith("cos and sin"):
                continue
            for shape in SHAPES:
                for layout in LAYOUTS:
                    if "p" not in order or shape == "tn":
                        yield Recipe(order, layout, form, shape)


def find(apply: Callable[..., Any], rotary_dim: int, head_dim: int) -> Recipe:
    """The way that turns planes by the angle of the token's position; BadClaim for none, or for several.

    Ways of the same effect on every input that is tried count as one.
    """
    g = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, BATCH, HEADS, TIME, head_dim, generator=g)
    ids = torch.stack([torch.randperm(ROWS, generator=g)[:TIME] for _ in range(BATCH)])
    waves = 1.7 ** -torch.arange(rotary_dim // 2, dtype=torch.float64)  # far apart: no two planes look alike
    fits: list[tuple[Recipe, Tensor]] = []
    tried = 0
    for recipe in recipes(apply):
        tried += 1
        xs = (q, k) if "q" in recipe.order else (q,)
        try:
            with torch.no_grad():
                ys = recipe.rotated(apply, tuple(x.clone() for x in xs), ids, waves, ROWS)
        except Exception:  # a wrong call may raise anything; that it raises is the answer
            continue
        if all(y.shape == x.shape and turned(x, y, ids, waves) for x, y in zip(xs, ys, strict=True)):
            fits.append((recipe, ys[0]))
    return _single(apply, fits, tried)


def turned(x: Tensor, y: Tensor, ids: Tensor, waves: Tensor) -> bool:
    """Whether y is x turned by ids · waves, in either pairing and either direction; the rest as it was."""
    r = 2 * len(waves)
    angles = ids.to(torch.float64)[:, None, :, None] * waves
    x, y = x.to(torch.float64), y.to(torch.float64)
    if not torch.allclose(y[..., r:], x[..., r:], atol=NEAR):
        return False
    for a, b in ((slice(0, r // 2), slice(r // 2, r)), (slice(0, r, 2), slice(1, r, 2))):
        z = torch.complex(x[..., a], x[..., b])
        found = torch.complex(y[..., a], y[..., b])
        for sign in (1, -1):
            if (
                found - z * torch.polar(torch.ones_like(angles), sign * angles)
            ).abs().max() < NEAR * z.abs().max():
                return True
    return False


def _single(apply: Callable[..., Any], fits: list[tuple[Recipe, Tensor]], tried: int) -> Recipe:
    name = getattr(apply, "__name__", type(apply).__name__)
    if not fits:
        raise BadClaim(
            f"{name} turns planes by the position in none of {tried} ways of calling it ({required(apply)} "
            f"required arguments; layouts {', '.join(LAYOUTS)}; {'; '.join(FORMS)}); tell me its signature "
            "with --adapter, or wrap it in (x, position_ids)"
        )
    first, y = fits[0]
    others = [recipe for recipe, z in fits[1:] if (z - y).abs().max() > NEAR]
    if others:
        raise BadClaim(
            f"{name} can be called as {first.words} and as {others[0].words}, with different results; "
            "tell me which with --adapter"
        )
    return first
