"""The rotary embedding of a transformers model replaced by ours, and put back.

Such a model has modules that form cos and sin from `inv_freq`, `rotary_emb(x, position_ids)`, and attention
layers that call the function `apply_rotary_pos_emb(q, k, cos, sin)` of their file. `patch` puts a module in
the place of the first, with float32 tables of half the width, and hooks the second: rows of ours go to our
kernel, everything else to the function that was there, so other models of the family stay as they are.

No family is known by name. What a model's own module and function do to a few numbers must be a rotation by
inv_freq · position in one of the two pairings; any other model is refused.
"""

from __future__ import annotations

import functools
import inspect
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from ..symbolic.errors import ExptxError
from ..symbolic.frequencies import Frequencies, frequencies
from .errors import BadChoice, BadDtype, NotPatched
from .modules import RotaryEmbedding
from .rotary import rotary_embedding, rotary_embedding_qk
from .validation import compute_dtype

_APPLY = "apply_rotary_pos_emb"
_TAKES, _MAY_TAKE = ["q", "k", "cos", "sin"], {"position_ids", "unsqueeze_dim"}
_ALL = "all"  # the layer type of a model that has only one
_TAIL = 4  # coordinates that do not turn, in a probe
_SAME = 2.0**-16  # float32 frequencies are that near to the exact ones of their rule, those of others are not


class Rows(NamedTuple):
    """What a patched model passes to its layers in the place of cos: rows of all tokens, and the pairing."""

    cos: Tensor
    sin: Tensor
    interleaved: bool


class PatchedRotary(nn.Module):
    """In the place of `original`: the same call, but (Rows, None) instead of full-width (cos, sin)."""

    def __init__(self, original: nn.Module, tables: Mapping[str, RotaryEmbedding]) -> None:
        super().__init__()
        self.original, self.tables = original, nn.ModuleDict(tables)
        self.config = original.config
        _hook(self)

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)  # a copy, or a pickle read in another process, needs the hook as well
        _hook(self)

    def forward(self, x: Tensor, position_ids: Tensor, layer_type: str | None = None) -> tuple[Rows, None]:
        """(Rows at the positions, None). x: only its dtype counts; position_ids: (batch or 1, time)."""
        rotary, dtype = cast("RotaryEmbedding", self.tables[layer_type or _ALL]), compute_dtype(x.dtype)
        formed = torch.float32 if rotary.angles == "hf" else dtype
        cos, sin = rotary.tables(position_ids, dtype=formed)
        return Rows(cos.to(dtype), sin.to(dtype), rotary.interleaved), None


@dataclass(frozen=True)
class Hook:
    """The function of a model's file that ours stands in for, ours, and the modules that need it."""

    file: ModuleType
    original: Callable
    ours: Callable
    users: weakref.WeakSet = field(default_factory=weakref.WeakSet)


_HOOKS: dict[str, Hook] = {}


def patch(model: nn.Module, *, angles: str = "exact") -> nn.Module:
    """The same model, its rotary embeddings computed by `rotary_embedding`; `unpatch` undoes it.

    model: a transformers model, or a part of one, whose layers call `apply_rotary_pos_emb(q, k, cos, sin)`:
    Llama, Mistral, Qwen, Gemma, Phi, GPT-NeoX and most others, in either pairing, also if heads turn in part.
    angles: "hf" for the float32 angles of transformers, bit for bit; "exact" for angles formed in float64
    from the exact frequencies of the config. Tables are float32 whatever the model is cast to afterwards;
    half precision is computed in float32 and rounded once. Weights, cache and config are not touched.
    NotPatched, naming the module, for a model that does anything else: frequencies that change with the
    length, positions on several axes, frequencies that are not those of the config, ready tables of sin and
    cos (GPT-J, CodeGen, RoFormer). Then nothing is changed.
    """
    if angles not in ("exact", "hf"):
        raise BadChoice(f"angles is {angles!r}; 'exact' or 'hf' works")
    _check_model(model)
    if next(_patched(model), None):
        raise NotPatched("model is patched already; unpatch(model) first")
    found = [(name, module) for name, module in model.named_modules() if name and _layer_types(module)]
    if not found:
        raise _none_found(model)
    with torch.device("cpu"):  # also where the model is being made on meta
        patched = {module: _replacement(model, name, module, angles) for name, module in found}
    for module, ready in patched.items():
        _exchange(model, module, PatchedRotary(module, ready))
    return model


def unpatch(model: nn.Module) -> nn.Module:
    """The model as it was before `patch`; NotPatched if it was not patched."""
    _check_model(model)
    patched = list(_patched(model))
    if not patched:
        raise NotPatched("model is not patched; patch(model) does that")
    for module in patched:
        _exchange(model, module, module.original)
        _unhook(module)
    return model


def _check_model(model: object) -> None:
    """Refuse what has no modules."""
    if not isinstance(model, nn.Module):
        raise BadDtype(f"model is a {type(model).__name__}; a transformers model works")


def _patched(model: nn.Module) -> Iterator[PatchedRotary]:
    return (module for module in model.modules() if isinstance(module, PatchedRotary))


def _exchange(model: nn.Module, old: nn.Module, new: nn.Module) -> None:
    """`new` wherever a module of the model has the child `old`."""
    for parent in list(model.modules()):
        for name, child in parent._modules.items():
            if child is old and parent is not new:
                parent._modules[name] = new


def _hook(user: PatchedRotary) -> None:
    """Let the function of the model's file, from now on, know rows of ours."""
    name = type(user.original).__module__
    if name not in _HOOKS:
        file = sys.modules[name]
        _HOOKS[name] = Hook(file, getattr(file, _APPLY), _knowing_rows(getattr(file, _APPLY)))
        setattr(file, _APPLY, _HOOKS[name].ours)
    _HOOKS[name].users.add(user)


def _unhook(user: PatchedRotary) -> None:
    """Put the function back when the last module that needed ours is gone."""
    name = type(user.original).__module__
    hook = _HOOKS[name]
    hook.users.discard(user)
    if not hook.users:
        del _HOOKS[name]
        if getattr(hook.file, _APPLY) is hook.ours:
            setattr(hook.file, _APPLY, hook.original)


def _knowing_rows(original: Callable) -> Callable:
    """`original`, but for Rows, which our kernel takes."""
    place = list(inspect.signature(original).parameters).index("unsqueeze_dim") - len(_TAKES)

    @functools.wraps(original)
    def apply_rotary_pos_emb(q, k, cos, sin, *rest, **keywords):
        if not isinstance(cos, Rows):
            return original(q, k, cos, sin, *rest, **keywords)
        axis = rest[place] if len(rest) > place else keywords.get("unsqueeze_dim", 1)
        return rotary_embedding_qk(
            q,
            k,
            cos.cos,
            cos.sin,
            interleaved=cos.interleaved,
            layout="bhtd" if axis == 1 else "bthd",
            rotary_dim=2 * cos.cos.shape[-1],
        )

    return apply_rotary_pos_emb


def _layer_types(module: nn.Module) -> list[str]:
    """The layer types of a module that holds inv_freq, or <layer type>_inv_freq; none of any other module."""
    names = [name for name, _ in module.named_buffers(recurse=False) if name.endswith("inv_freq")]
    kinds = [name.removesuffix("inv_freq").removesuffix("_") for name in names if "original" not in name]
    return [kind or _ALL for kind in kinds]


def _buffer(module: nn.Module, kind: str, name: str) -> Any:
    return getattr(module, name if kind == _ALL else f"{kind}_{name}")


def _replacement(model: nn.Module, name: str, module: nn.Module, angles: str) -> dict[str, RotaryEmbedding]:
    """Our tables for every layer type of a module, after making sure that they are its own."""
    apply = getattr(sys.modules[type(module).__module__], _APPLY, None)
    if not callable(apply):
        raise _refusal(name, module, f"its file has no function {_APPLY}(q, k, cos, sin)")
    names = list(inspect.signature(apply).parameters)
    if names[:4] != _TAKES or not {"unsqueeze_dim"} <= {*names[4:]} <= _MAY_TAKE:
        raise _refusal(name, module, f"its {_APPLY} takes ({', '.join(names)}) instead of (q, k, cos, sin)")
    if (called := _called(model, module)) != [_APPLY]:
        words = ", ".join(called) or "none of that kind"
        raise _refusal(name, module, f"of functions named rotary its layers call {words}, not just {_APPLY}")
    pristine = _pristine(name, module)
    made = {}
    for kind in _layer_types(module):
        _check_fixed(name, module, kind)
        _check_frequencies(name, module, pristine, kind)
        interleaved = _pairing(name, pristine, apply, kind)
        waves, scaling = _buffer(pristine, kind, "inv_freq"), _buffer(pristine, kind, "attention_scaling")
        given = {"interleaved": interleaved, "angles": angles}
        if angles == "exact":
            made[kind] = RotaryEmbedding(_exact(name, pristine, kind), **given)
        else:
            made[kind] = RotaryEmbedding(waves, attention_scaling=scaling, **given)
    return made


def _called(model: nn.Module, rotary: nn.Module) -> list[str]:
    """The functions with rotary in their name that layers from the file of the rotary module call."""
    file = type(rotary).__module__
    layers = {type(module) for module in model.modules() if type(module).__module__ == file}
    codes = [getattr(inspect.unwrap(layer.forward), "__code__", None) for layer in layers]
    names = {name for code in codes if code for name in code.co_names if "rotary" in name}
    return sorted(name for name in names if callable(getattr(sys.modules[file], name, None)))


def _refusal(name: str, module: nn.Module, why: str) -> NotPatched:
    return NotPatched(f"model.{name} ({type(module).__name__}) is left as it is: {why}")


def _none_found(model: nn.Module) -> NotPatched:
    """The refusal of a model without inv_freq, which may turn by other means."""
    for name, module in model.named_modules():
        words = (type(module).__name__, *vars(type(module)))
        if name and any("rotary" in word.lower() for word in words):
            tables = ", ".join(key for key, _ in module.named_buffers(recurse=False))
            ready = f"ready ({tables})" if tables else "ready"
            return _refusal(
                name,
                module,
                f"its sin and cos come {ready}; models work that form them from a buffer inv_freq, as Llama "
                "does",
            )
    return NotPatched(
        "model has no module with a buffer inv_freq, nor other rotary positions; a transformers model with "
        "RoPE works, such as Llama"
    )


def _pristine(name: str, module: nn.Module) -> nn.Module:
    """Such a module as its config makes it: in float32, on the CPU, whatever has been done to the model."""
    try:
        return type(module)(module.config)
    except Exception as error:  # whatever a constructor that we do not know may raise
        raise _refusal(name, module, "it cannot be made again from its config alone") from error


def _check_fixed(name: str, module: nn.Module, kind: str) -> None:
    rule = getattr(module, "rope_type", "default")
    rule = rule.get(kind, "default") if isinstance(rule, Mapping) else str(rule)
    if "dynamic" in rule or rule == "longrope":
        raise _refusal(
            name, module, f"rope_type {rule!r} changes its frequencies with the length of the text"
        )


def _check_frequencies(name: str, module: nn.Module, pristine: nn.Module, kind: str) -> None:
    """The model's own numbers, where it has numbers, are those of its config, rounded at most."""
    own, known = _buffer(module, kind, "inv_freq"), _buffer(pristine, kind, "inv_freq")
    if own.is_meta or (own.shape == known.shape and torch.equal(own.cpu(), known.to(own.dtype))):
        return
    raise _refusal(
        name,
        module,
        "inv_freq is not what its config gives: it was never initialised, or changed by hand",
    )


def _pairing(name: str, pristine: nn.Module, apply: Callable, kind: str) -> bool:
    """Whether planes are interleaved, as the model's own code shows on a few numbers."""
    waves, scaling = _buffer(pristine, kind, "inv_freq"), _buffer(pristine, kind, "attention_scaling")
    layer = {} if kind == _ALL else {"layer_type": kind}
    ids, width = torch.tensor([[0, 1, 5]]), 2 * len(waves)
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2, 1, 2, 3, width + _TAIL, generator=generator, dtype=torch.float32)
    try:
        known = pristine(x, ids, **layer)
        axes = pristine(x, torch.stack((ids, ids + 1, ids + 2)), **layer)
        whole = apply(*x[..., :width], *known)
    except Exception as error:  # whatever code that we do not know may raise
        raise _refusal(name, pristine, "its tables do not come from (x, position_ids) alone") from error
    if axes[0].shape[:1] != (3,):
        raise _refusal(name, pristine, "positions stand on several axes")
    angle = ids.float()[..., None] * waves
    table = angle.cos() * scaling, angle.sin() * scaling
    pairings = [pairing for pairing in (False, True) if _agrees(x[..., :width], table, pairing, whole)]
    if not pairings:
        raise _refusal(
            name, pristine, f"with its {_APPLY} it is no rotation by inv_freq · position in planes"
        )
    try:
        partly = apply(*x, *known)
    except Exception:  # heads of this model never turn in part
        return pairings[0]
    if not _agrees(x, table, pairings[0], partly):
        raise _refusal(name, pristine, f"its {_APPLY} turns others than the first coordinates")
    return pairings[0]


def _agrees(x: Tensor, table: tuple[Tensor, Tensor], interleaved: bool, got: tuple[Tensor, ...]) -> bool:
    """Whether `got` are the heads x rotated by the table, to rounding.

    Either side is two products and a sum, each rounded by at most 2^-24 of (|x0| + |x1|) · amplitude.
    """
    cos, sin = table
    options = {"interleaved": interleaved, "rotary_dim": 2 * cos.shape[-1], "impl": "eager"}
    bound = 2 * 3 * 2.0**-24 * 2 * float(x.abs().max()) * float(torch.hypot(cos, sin).max())
    return all(
        a.shape == b.shape and bool((a - rotary_embedding(b, cos, sin, **options)).abs().max() <= bound)
        for a, b in zip(got, x, strict=True)
    )


def _exact(name: str, pristine: nn.Module, kind: str) -> Frequencies:
    """The exact frequencies of the config, after comparing them with the model's."""
    waves, scaling = _buffer(pristine, kind, "inv_freq"), _buffer(pristine, kind, "attention_scaling")
    config: Any = pristine.config
    known = getattr(config, "rope_parameters", None) or {"rope_theta": getattr(config, "rope_theta", None)}
    given = dict(known if kind == _ALL else known[kind])
    if given.get("rope_type", "default") != "proportional":
        given.pop("partial_rotary_factor", None)  # it is in the number of frequencies
    length = getattr(pristine.config, "max_position_embeddings", None)
    try:
        found = frequencies(given, 2 * len(waves), max_position_embeddings=length)
    except ExptxError as error:
        raise _refusal(
            name, pristine, f"its exact frequencies are not known ({error}); angles='hf' works"
        ) from error
    near = torch.tensor([float(w) for w in found.exact], dtype=torch.float64)
    same = ((near - waves).abs() <= _SAME * near).all()
    if not same or abs(float(found.attention_factor) - scaling) > _SAME * scaling:
        raise _refusal(
            name, pristine, "its frequencies are not those of its rope_parameters; angles='hf' works"
        )
    return found


__all__ = ["PatchedRotary", "Rows", "patch", "unpatch"]
