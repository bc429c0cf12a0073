"""Several instances of one implementation: they share nothing, and every key of a config counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch

from ....symbolic.configs.description import Rotary
from ....symbolic.configs.read import read_config
from ....symbolic.errors import ExptxError
from ..failed import Failed
from ..frequencies.varied import varied
from ..identify.observe import Planes, planes_of_map
from .calls import Calls
from .judge import explained, values
from .trial import Outcome, Trial, broken

Config = Mapping[str, Any]


def instances(given: Trial) -> Outcome | None:
    """Two instances of different base, called in turn: the first as before, the second another."""
    config = given.calls.subject.claims.config
    if given.calls.subject.make is None or config is None:
        return None
    one = built(given, config)
    x, ids = given.x[:, :, :4].contiguous(), given.ids[:, 1:5].contiguous()
    before = one.rotate(x, ids).clone()
    other = built(given, dict(varied(config))["rope_theta"])
    second = other.rotate(x, ids).clone()
    dim = given.planes.dim
    if not torch.equal(one.rotate(x, ids), before):
        cause = "an instance changes when another is built or called: they share a table"
        return broken("instances", "the call after the other's", cause, dim)
    if torch.equal(second, before):
        cause = (
            "an instance of another base turns like the first: they share a table, or the base is not read"
        )
        return broken("instances", "the first call of the second", cause, dim)
    return None


def keys(given: Trial) -> Outcome | None:
    """A config with one key changed gives the frequencies of that config; the first key that does not."""
    subject = given.calls.subject
    config = subject.claims.config
    if subject.make is None or config is None:
        return None
    for name, changed in varied(config):
        try:
            encoding = read_config(changed).group().encoding
        except ExptxError:  # not every change of every config is one
            continue
        if isinstance(encoding, Rotary) and encoding != subject.claims.encoding:
            wrong = _wrong(given, changed, encoding)
            if wrong is not None:
                cause = f"{name} is changed and {wrong}"
                return broken("config-key", f"the config with another {name}", cause, given.planes.dim)
    return None


def _wrong(given: Trial, config: Config, encoding: Rotary) -> str | None:
    """What an instance of a config does instead of its encoding."""
    calls = built(given, config)
    claims = replace(calls.subject.claims, encoding=encoding, head_dim=encoding.head_dim, config=config)
    calls = replace(calls, subject=replace(calls.subject, claims=claims))
    planes = planes_of_map(calls, given.planes.positions)
    if planes is None or not planes.pairs:
        return "nothing turns any more"
    found = list(values(planes, claims, explained(planes, claims), lambda *_: ""))
    if not found:
        return None
    same = _same(planes, given.planes)
    return "has no effect" if same else f"the result is not that of the config: {found[0].cause}"


def _same(one: Planes, other: Planes) -> bool:
    return one.pairs == other.pairs and torch.equal(one.cos, other.cos) and torch.equal(one.sin, other.sin)


def built(given: Trial, config: Config) -> Calls:
    """The calls of an instance of a config; Failed where it cannot be built."""
    subject = given.calls.subject
    assert subject.make is not None
    try:
        apply = subject.make(config)
    except Exception as error:
        raise Failed(f"building an instance raised {type(error).__name__}: {error}") from error
    return replace(given.calls, subject=replace(subject, apply=apply))
