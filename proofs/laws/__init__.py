"""The laws in the order in which the report tells them: a file a chapter."""

from . import (
    bounded,
    bridge,
    broken,
    clocks,
    complete_list,
    fade,
    fence,
    frequencies,
    groups,
    levels,
    longer_contexts,
    one_parameter,
    order,
    pairs,
    slide,
    turn,
    uniqueness,
)

STORY = (
    order,
    groups,
    one_parameter,
    broken,
    uniqueness,
    bridge,
    fade,
    turn,
    pairs,
    levels,
    frequencies,
    longer_contexts,
    slide,
    bounded,
    clocks,
    fence,
    complete_list,
)
CHAPTERS = tuple(module.CHAPTER for module in STORY)
