"""() -> a model with the forward of transformers, examined by its logits: prefill, steps, padding, shifts.

The forward takes input_ids, attention_mask, position_ids, past_key_values and use_cache by name, and returns
an object with logits (batch, time, words) and past_key_values. Nothing bounds the rounding of a whole model:
what is allowed is measured, 16 times what float32 differs from float64 on the same text, largest entry
against largest entry. Another order of sums differs by a few of these; a misplaced token by thousands.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from ...budget import ORACLE
from ..call import called, finite
from ..codes import CODES
from ..failed import Failed
from ..findings import Diagnosis, Finding, Measured
from ..say import Say
from ..subject import Subject

Outcome = Finding | Measured
LENGTH, WORDS, MARGIN = 14, 16, 16.0


@dataclass(frozen=True)
class Model:
    """A model in eval mode, a text of two rows of words below WORDS, and what its logits may be off by."""

    subject: Subject
    module: nn.Module
    words: Tensor
    whole: Tensor
    allowed: float

    def logits(self, words: Tensor, **more: Any) -> Tensor:
        """(batch, time, words), float64."""
        return finite(called(self.module, input_ids=words, **more).logits).double()

    def steps(self, sizes: tuple[int, ...], words: Tensor, **more: Any) -> Tensor:
        """Logits of a text read in pieces, side by side; more: mask, by name, of the whole text."""
        cache, parts, start = None, [], 0
        for count in sizes:
            given = {key: value[:, : start + count] for key, value in more.items()}
            found = called(
                self.module,
                input_ids=words[:, start : start + count],
                past_key_values=cache,
                use_cache=True,
                **given,
            )
            parts.append(finite(found.logits).double())
            cache, start = found.past_key_values, start + count
        return torch.cat(parts, 1)


def called_by_name(module: nn.Module, words: Tensor) -> Tensor:
    """Logits of one call."""
    return finite(called(module, input_ids=words).logits)


def opened(subject: Subject) -> Model:
    """The model built, and measured against its own float64 copy; Failed where one of them cannot run."""
    module = called(subject.apply)
    if not isinstance(module, nn.Module):
        raise Failed(f"returned a {type(module).__name__}; an nn.Module was expected")
    module = module.eval()
    words = torch.randint(0, WORDS, (2, LENGTH), generator=torch.Generator().manual_seed(7))
    whole = called_by_name(module, words).double()
    exact = called_by_name(copy.deepcopy(module).double(), words).double()
    allowed = MARGIN * float((whole - exact).abs().max()) + ORACLE
    return Model(subject, module, words, whole, allowed)


def examine(subject: Subject, level: str, say: Say) -> Diagnosis:
    """Every law; one whose call fails is a finding under its own code."""
    model = opened(subject)
    outcomes: list[Outcome] = []
    for code, law in LAWS:
        say(code)
        try:
            outcomes += law(model)
        except Failed as failed:
            outcomes.append(Finding(code, "the call that this law needs", None, None, str(failed), _SHOW))
    findings = tuple(one for one in outcomes if isinstance(one, Finding))
    measured = tuple(one for one in outcomes if isinstance(one, Measured))
    name = type(model.module).__name__
    said = ("what a whole model should say: its parts are examined as rotary, bias, attention or decode",)
    return Diagnosis(subject.name, subject.kind, f"a {name}", findings, measured, said)


def decode(model: Model) -> Iterator[Outcome]:
    """One prefill of the text so far, its last token, against prefill and steps, and against chunks."""
    for sizes in ((6,) + (1,) * 8, (4, 7, 3)):
        found = model.steps(sizes, model.words)
        for n in range(1, len(sizes)):
            end = sum(sizes[: n + 1])
            right = model.logits(model.words[:, :end])[:, -1]
            where = f"pieces of {', '.join(map(str, sizes[: n + 1]))} tokens"
            one = judged(
                model, "decode", where, found[:, end - 1], right, _decode_cause(model, sizes, n, found)
            )
            if isinstance(one, Finding) or n == len(sizes) - 1:
                yield one
                break


def _decode_cause(model: Model, sizes: tuple[int, ...], n: int, found: Tensor) -> str:
    """What position the last token was read at, or whether kept keys belong to a shorter text."""
    end = sum(sizes[: n + 1])
    for moved, words in (
        (1, "one position too far"),
        (-1, "one position too few"),
        (-(end - 1), "at position 0"),
    ):
        ids = torch.arange(end)[None].expand(2, -1).clone()
        ids[:, end - sizes[n] :] += moved
        try:
            wrong = model.logits(model.words[:, :end], position_ids=ids)[:, -1]
        except Failed:  # a model without position_ids
            break
        if float((wrong - found[:, end - 1]).abs().max()) <= model.allowed:
            return f"tokens after the prompt are read {words}"
    return "unknown"


def padding(model: Model) -> Iterator[Outcome]:
    """Padding at the left, with its mask, in prefill and in steps after it: as without."""
    pad, first = 3, 8
    words = torch.cat((torch.zeros(2, pad, dtype=torch.long), model.words), 1)
    mask = torch.ones_like(words)
    mask[:, :pad] = 0
    right = model.whole[:, first - 1 :]
    whole = model.logits(words, attention_mask=mask)[:, pad + first - 1 :]
    cause = "pads are counted as positions, or are seen"
    yield judged(model, "padding", "prefill with 3 pads at the left", whole, right, cause)
    sizes = (pad + first,) + (1,) * (LENGTH - first)
    found = model.steps(sizes, words, attention_mask=mask)[:, pad + first - 1 :]
    yield judged(model, "padding", "steps after a prompt with 3 pads at the left", found, right, cause)


def rows(model: Model) -> Iterator[Outcome]:
    """Rows of different lengths in one batch, the shorter padded at the left: each as alone, in steps."""
    short = model.words[1:, 4:]
    words = torch.cat((torch.zeros(1, 4, dtype=torch.long), short), 1)
    words = torch.cat((model.words[:1], words))
    mask = torch.ones_like(words)
    mask[1, :4] = 0
    sizes = (LENGTH - 3, 1, 1, 1)
    found = model.steps(sizes, words, attention_mask=mask)
    cause = "a row takes its position from the others of the batch"
    yield judged(model, "batch", "the long row", found[:1, -3:], model.whole[:1, -3:], cause)
    alone = model.logits(short)[:, -3:]
    yield judged(model, "batch", "the short row, padded at the left", found[1:, -3:], alone, cause)


def shift(model: Model) -> Iterator[Outcome]:
    """All positions moved by 5: the same logits, where position_ids are taken; an encoding is relative."""
    ids = torch.arange(LENGTH)[None].expand(2, -1)
    given = model.logits(model.words, position_ids=ids)
    cause = "position_ids that say what is implied change the result"
    yield judged(model, "positions", "position_ids 0, 1, …", given, model.whole, cause)
    moved = model.logits(model.words, position_ids=ids + 5)
    yield judged(
        model, "relative", "position_ids 5, 6, …", moved, model.whole, "positions are absolute somewhere"
    )


def order(model: Model) -> Iterator[Outcome]:
    """A short text, a long one, the short one again."""
    before = model.logits(model.words[:, :4])
    try:
        model.logits(model.words.repeat(1, 3))
    except Failed:  # a model of fewer positions
        return
    after = model.logits(model.words[:, :4])
    if not torch.equal(before, after):
        cause = "a long text changes the next short one"
        off = float((before - after).abs().max())
        yield Finding("purity", "a short text after a long one", off, 0.0, cause, _SHOW)


def cast(model: Model) -> Iterator[Outcome]:
    """Cast to the claimed narrow format and back: buffers as before, but for what float32 cannot tell."""
    name = model.subject.claims.dtype
    if name not in ("bfloat16", "float16"):
        return
    there = copy.deepcopy(model.module).to(getattr(torch, name)).float()
    before = dict(model.module.named_buffers())
    for key, after in there.named_buffers():
        if after.is_floating_point() and not torch.equal(after, before[key].float()):
            cause = f"the buffer {key} is rounded to {name} by the cast, and stays so"
            off = float((after - before[key]).abs().max())
            yield Finding("module-cast", key, off, 0.0, cause, f"print(subject().to(torch.{name}).float())")
            return


LAWS = (
    ("decode", decode),
    ("padding", padding),
    ("batch", rows),
    ("positions", shift),
    ("purity", order),
    ("module-cast", cast),
)


def judged(model: Model, code: str, where: str, found: Tensor, right: Tensor, cause: str) -> Outcome:
    """The largest difference against what is allowed."""
    off = float((found - right).abs().max())
    if not off <= model.allowed:
        rule = getattr(getattr(model.module, "config", None), "rope_parameters", None)
        if isinstance(rule, dict) and rule.get("rope_type") == "dynamic":
            cause = "the base follows the length of the text, so that two calls of different length disagree"
        return Finding(code, where, off, model.allowed, cause, _SHOW)
    return Measured(CODES[code].law, off, model.allowed)


_SHOW = (
    "model = subject(); words = torch.randint(0, 16, (2, 14))\n"
    "first = model(input_ids=words[:, :6], use_cache=True)\n"
    "print(model(input_ids=words[:, 6:7], past_key_values=first.past_key_values).logits)"
)
