"""() -> a model with the forward of transformers, examined by its logits: prefill, steps, padding, shifts.

The forward takes input_ids, attention_mask, position_ids, past_key_values and use_cache by name, and returns
an object with logits (batch, time, words) and past_key_values. Nothing bounds the rounding of a whole model:
what is allowed is measured, 16 times what float32 differs from float64 on the same text, largest entry
against largest entry. Another order of sums differs by a few of these; a misplaced token by thousands.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
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
Cause = str | Callable[[], str]
LENGTH, WORDS, MARGIN = 14, 16, 16.0
REACH = 1 << 15  # positions; models of tests and of pages are trained on fewer


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
            if "position_ids" in given:
                given["position_ids"] = given["position_ids"][:, start:]
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
    said = ["what a whole model should say: its parts are examined as rotary, bias, attention or decode"]
    if subject.claims.encoding is None:
        said.append("whether moved positions change anything: claim a relative encoding with --config")
    if subject.claims.dtype == "float32":
        said.append("what a cast does to it: claim the format with --dtype")
    return Diagnosis(subject.name, subject.kind, f"a {name}", findings, measured, tuple(said))


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
    """At which positions the last piece was read, or that kept keys have the base of a shorter text."""
    end, count = sum(sizes[: n + 1]), sizes[n]
    proper = torch.arange(end)
    guesses = {
        "one position too far": proper[-count:] + 1,
        "one position too few": proper[-count:] - 1,
        "from position 0 on": proper[:count],
    }
    for words, read in guesses.items():
        ids = torch.cat((proper[:-count], read))[None].expand(2, -1)
        try:
            wrong = model.logits(model.words[:, :end], position_ids=ids)[:, -1]
        except Failed:  # a model without position_ids
            break
        if float((wrong - found[:, end - 1]).abs().max()) <= model.allowed:
            return f"tokens after the prompt are read {words}"
    if length_dependent(model):
        return "kept keys were turned by the frequencies of a shorter text than the query was"
    return "unknown"


def _cause(model: Model, words: str) -> str:
    """The words, unless the frequencies themselves differ between the two calls."""
    if length_dependent(model):
        return "the frequencies follow the length of the text, and that of texts before it"
    return words


def length_dependent(model: Model) -> bool:
    """Whether frequencies follow the length: given more positions, a call turns the first ones otherwise.

    Asked of the rotary module itself, where a model of transformers has one.
    """
    for part in model.module.modules():
        if type(part).__name__.endswith("RotaryEmbedding") and hasattr(part, "inv_freq"):
            x, short = torch.zeros(1, 1, 1), torch.arange(2)[None]
            try:
                fresh = copy.deepcopy(part)
                before = called(fresh, x, short)[0][:, 1]
                after = called(fresh, x, torch.cat((short, torch.tensor([[4 * REACH]])), 1))[0][:, 1]
            except (Failed, TypeError, IndexError):  # called in another way
                return False
            return not torch.equal(before, after)
    return False


def masked(model: Model, words: Tensor, mask: Tensor) -> dict[str, Tensor]:
    """The mask; and, where no relative encoding is claimed and they are taken, positions without the pads.

    A relative encoding does not see a row moved by its pads, so a claimed one must manage by itself.
    """
    ids = (mask.cumsum(-1) - 1).clamp(min=0)
    if model.subject.claims.encoding is not None:
        return {"attention_mask": mask}
    try:
        model.logits(words[:, :2], position_ids=ids[:, :2])
    except Failed:  # a model without position_ids
        return {"attention_mask": mask}
    return {"attention_mask": mask, "position_ids": ids}


def padding(model: Model) -> Iterator[Outcome]:
    """Padding at the left, with its mask, in prefill and in steps after it: as without."""
    pad, first = 3, 8
    words = torch.cat((torch.zeros(2, pad, dtype=torch.long), model.words), 1)
    mask = torch.ones_like(words)
    mask[:, :pad] = 0
    right = model.whole[:, first - 1 :]
    more = masked(model, words, mask)
    whole = model.logits(words, **more)[:, pad + first - 1 :]
    cause = partial(_cause, model, "pads are counted as positions, or are seen")
    yield judged(model, "padding", "prefill with 3 pads at the left", whole, right, cause)
    sizes = (pad + first,) + (1,) * (LENGTH - first)
    found = model.steps(sizes, words, **more)[:, pad + first - 1 :]
    yield judged(model, "padding", "steps after a prompt with 3 pads at the left", found, right, cause)


def rows(model: Model) -> Iterator[Outcome]:
    """Rows of different lengths in one batch, the shorter padded at the left: each as alone, in steps."""
    short = model.words[1:, 4:]
    words = torch.cat((torch.zeros(1, 4, dtype=torch.long), short), 1)
    words = torch.cat((model.words[:1], words))
    mask = torch.ones_like(words)
    mask[1, :4] = 0
    sizes = (LENGTH - 3, 1, 1, 1)
    found = model.steps(sizes, words, **masked(model, words, mask))
    cause = partial(_cause, model, "a row takes its position from the others of the batch")
    yield judged(model, "batch", "the long row", found[:1, -3:], model.whole[:1, -3:], cause)
    alone = model.logits(short)[:, -3:]
    yield judged(model, "batch", "the short row, padded at the left", found[1:, -3:], alone, cause)


def shift(model: Model) -> Iterator[Outcome]:
    """position_ids that say what is implied; then all moved by 5, which a relative encoding does not see."""
    ids = torch.arange(LENGTH)[None].expand(2, -1)
    try:
        given = model.logits(model.words, position_ids=ids)
    except Failed:  # a model without position_ids
        return
    cause = partial(_cause, model, "position_ids are read otherwise than what is implied")
    yield judged(model, "positions", "position_ids 0, 1, …", given, model.whole, cause)
    if model.subject.claims.encoding is None:
        return  # learned positions are absolute, and nothing says that these are not
    apart = torch.where(ids < LENGTH // 2, ids, ids + 9)
    if float((model.logits(model.words, position_ids=apart) - model.whole).abs().max()) <= model.allowed:
        cause = "position_ids are taken and not read"
        yield Finding("positions", "position_ids with a gap", None, None, cause, _SHOW)
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


def judged(model: Model, code: str, where: str, found: Tensor, right: Tensor, cause: Cause) -> Outcome:
    """The largest difference against what is allowed."""
    off = float((found - right).abs().max())
    if not off <= model.allowed:
        return Finding(code, where, off, model.allowed, cause() if callable(cause) else cause, _SHOW)
    return Measured(CODES[code].law, off, model.allowed)


_SHOW = (
    "model = subject(); words = torch.randint(0, 16, (2, 14))\n"
    "first = model(input_ids=words[:, :6], use_cache=True)\n"
    "print(model(input_ids=words[:, 6:7], past_key_values=first.past_key_values).logits)"
)
