"""(config, seq_len) -> inv_freq, or (inv_freq, attention_factor), examined for one config or every rule."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from ....symbolic.configs.description import Rotary
from ....symbolic.configs.read import read_config
from ....symbolic.errors import ExptxError
from ...budget import single_angle_entry
from ..call import called, finite, shown
from ..failed import Failed
from ..findings import Diagnosis, Finding, Measured
from ..identify.explain import claimed, words_of
from ..say import Say
from ..subject import Subject
from .guesses import guesses
from .rules import CONFIGS
from .varied import varied

Config = Mapping[str, Any]
Outcome = Finding | Measured
OFFERED_BY_NONE = "no-such-rule"


def examine(subject: Subject, level: str, say: Say) -> Diagnosis:
    """Values at several lengths, the order of calls, every key, and a rule that does not exist."""
    claimed_config = subject.claims.config
    configs = {"claimed": claimed_config} if claimed_config else dict(CONFIGS)
    outcomes: list[Outcome] = []
    offered, refused = [], []
    for name, config in configs.items():
        say(f"frequencies, {name}")
        try:
            found = list(of_config(subject, config))
        except Failed as failed:
            if claimed_config:
                raise
            refused.append(f"{name} ({failed})")
            continue
        offered.append(name)
        outcomes += found
    if not offered:
        raise Failed(f"every rule was refused: {'; '.join(refused)}")
    outcomes += unknown_rule(subject, next(iter(configs.values())))
    findings = tuple(one for one in outcomes if isinstance(one, Finding))
    measured = tuple(one for one in outcomes if isinstance(one, Measured))
    said = [f"the rule {name}: not offered" for name in refused]
    if not claimed_config:
        said.append("the config it is for: claim it with --config")
    return Diagnosis(
        subject.name, subject.kind, _identity(subject, configs, offered), findings, measured, tuple(said)
    )


def of_config(subject: Subject, config: Config) -> Iterator[Outcome]:
    """One config: each layer type where the subject takes one, else its rotary layers."""
    for layer_type, encoding in types(subject, config):
        short = list(values(subject, config, layer_type, encoding))
        yield from short
        if not any(isinstance(one, Finding) for one in short):
            yield from keys(subject, config, layer_type, encoding)


def types(subject: Subject, config: Config) -> Iterator[tuple[str | None, Rotary]]:
    """(layer type, encoding)."""
    read = read_config(dict(config))
    if subject.arguments < 3:
        encoding = read.group().encoding
        assert isinstance(encoding, Rotary)
        yield None, encoding
        return
    for group in read.groups:
        if isinstance(group.encoding, Rotary) and group.kind is not None:
            yield group.kind, group.encoding


def asked(
    subject: Subject, config: Config, seq_len: int, layer_type: str | None = None
) -> tuple[Tensor, float | None]:
    """inv_freq in float64 without the planes that are held at 0, and the attention factor, if one comes."""
    more = () if layer_type is None else (layer_type,)
    found = called(subject.apply, dict(config), seq_len, *more)
    factor = None
    if isinstance(found, (tuple, list)):
        if len(found) != 2:
            raise Failed(f"returned {shown(found)}; inv_freq or (inv_freq, attention_factor) was expected")
        found, factor = found[0], float(found[1])
    waves = finite(found).to(torch.float64).flatten()
    return waves[waves != 0], factor


def lengths(encoding: Rotary) -> tuple[int, ...]:
    """A short text, the trained length, longer ones where the rule follows them, the short one again."""
    trained = encoding.trained_length or 4096
    return (
        (16, trained, trained + 1, 2 * trained, 4 * trained, 16)
        if encoding.length_dependent
        else (16, trained, 16)
    )


def values(subject: Subject, config: Config, layer_type: str | None, encoding: Rotary) -> Iterator[Outcome]:
    """Each length in turn; the first that is off."""
    worst: Measured | None = None
    first: Tensor | None = None
    for seq_len in lengths(encoding):
        waves, factor = asked(subject, config, seq_len, layer_type)
        if first is None:
            first = waves
        outcome = value(subject, config, layer_type, encoding, seq_len, waves)
        if isinstance(outcome, Measured):
            outcome = amplitude(encoding, seq_len, factor) or outcome
        elif seq_len == 16 and first is not waves and not torch.equal(first, waves):
            outcome = Finding(
                "frequency-state", "a short text after a long one", None, None,
                "what a long text made of the frequencies stays for short ones", _show(config, seq_len),
            )  # fmt: skip
        if isinstance(outcome, Finding):
            yield outcome
            return
        if worst is None or outcome.residual > worst.residual:
            worst = outcome
    if worst is not None:
        yield worst


def value(
    subject: Subject, config: Config, layer_type: str | None, encoding: Rotary, seq_len: int, waves: Tensor
) -> Outcome:
    """Relative error of each frequency against its float32 recipe's."""
    told = claimed(encoding, seq_len)
    where = f"{told.words}, a text of {seq_len}" + (f", {layer_type}" if layer_type else "")
    show = _show(config, seq_len)
    if len(waves) != len(told.waves):
        cause = _cause(encoding, seq_len, config, waves)
        said = f"{len(waves)} frequencies, claimed {len(told.waves)}"
        return Finding(
            "frequency", where, None, None, said if cause == "unknown" else f"{said}: {cause}", show
        )
    off = (waves / told.waves - 1).abs()
    allowed = told.errors + 2 * single_angle_entry(0.0)
    beyond = (off > allowed).nonzero()
    if len(beyond):
        i = int(beyond[0])
        cause = _cause(encoding, seq_len, config, waves)
        return Finding("frequency", f"{where}, plane {i}", float(off[i]), float(allowed[i]), cause, show)
    i = int((off / allowed).argmax())
    return Measured(f"frequencies are those of {told.words}", float(off[i]), float(allowed[i]))


def _cause(encoding: Rotary, seq_len: int, config: Config, waves: Tensor) -> str:
    """The first known mistake that gives these frequencies."""
    for words, wrong in guesses(encoding, seq_len, config):
        turning = wrong[wrong != 0]
        if len(turning) == len(waves) and bool(((waves / turning - 1).abs() < _SAME).all()):
            return words
    if len(waves) and abs(float(waves[0]) - 1) > _SAME and encoding.rule == "default":
        return f"the first frequency is {float(waves[0]):.6g}, and base^0 is 1"
    return "unknown"


_SAME = 2.0**-12  # of guesses: far above any float32 recipe, far below what mistakes change


def amplitude(encoding: Rotary, seq_len: int, factor: float | None) -> Finding | None:
    """The attention factor, where one is returned."""
    if factor is None:
        return None
    told = float(encoding.frequencies(seq_len).attention_factor)
    allowed = told * 2 * single_angle_entry(0.0)
    if abs(factor - told) <= allowed:
        return None
    given = encoding.parameters
    cause = "unknown"
    if given.get("mscale_all_dim"):
        growth = 0.1 * float(given["mscale_all_dim"]) * math.log(float(given["factor"])) + 1
        if abs(factor - growth) <= 1e-6 * growth:
            cause = "it is the growth by mscale_all_dim, where the ratio of both growths is due"
    elif abs(factor - 1) <= allowed:
        cause = "it is not applied"
    return Finding(
        "amplitude", f"a text of {seq_len}", abs(factor - told), allowed, cause, "subject(config, 16)"
    )


def keys(subject: Subject, config: Config, layer_type: str | None, encoding: Rotary) -> Iterator[Finding]:
    """Every key of the config changed once; the first whose change is not followed."""
    for name, changed in varied(config):
        try:
            found = dict(types(subject, changed)).get(layer_type)
        except ExptxError:  # not every change of every config is one
            continue
        if found is None or found == encoding:
            continue
        seq_len = 2 * (encoding.trained_length or 4096)
        try:
            waves, factor = asked(subject, changed, seq_len, layer_type)
        except Failed as failed:
            yield Finding("config-key", f"another {name}", None, None, str(failed), _show(changed, seq_len))
            return
        outcome = value(subject, changed, layer_type, found, seq_len, waves)
        if isinstance(outcome, Measured):
            outcome = amplitude(found, seq_len, factor)
        if isinstance(outcome, Finding):
            cause = f"{name} is changed and the result is not that of the new config: {outcome.cause}"
            yield Finding(
                "config-key", f"another {name}", outcome.residual, outcome.budget, cause, outcome.reproduction
            )
            return


def unknown_rule(subject: Subject, config: Config) -> list[Finding]:
    """A rope_type that nobody has is refused."""
    nested = "rope_scaling" if config.get("rope_scaling") else "rope_parameters"
    inner = dict(config.get(nested) or {})
    if any(isinstance(part, Mapping) for part in inner.values()):
        return []
    wrong = {**config, nested: {**inner, "rope_type": OFFERED_BY_NONE}}
    more = () if subject.arguments < 3 else (None,)
    try:
        taken, _ = asked(subject, wrong, 16, *more)
    except Failed:
        return []
    if torch.equal(taken, asked(subject, config, 16, *more)[0]):
        return []  # rope_type is not read: a function of this rule alone
    cause = f"rope_type {OFFERED_BY_NONE!r} is taken for another rule, without a word"
    return [Finding("unknown-rule", "a rope_type that does not exist", None, None, cause, _show(wrong, 16))]


def _identity(subject: Subject, configs: Mapping[str, Config], offered: list[str]) -> str:
    if "claimed" in configs:
        told = [words_of(encoding) for _, encoding in types(subject, configs["claimed"])]
        return f"frequencies of a config: {'; '.join(told)}"
    return f"frequencies by the rules {', '.join(offered)}"


def _show(config: Config, seq_len: int) -> str:
    return f"config = {dict(config)!r}\nprint(subject(config, {seq_len}))"
