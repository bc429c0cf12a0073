"""The laws in the order in which the report tells them: a file a chapter, some chapters in two files."""

from . import (
    bounded,
    bridge,
    broken,
    chunks,
    clocks,
    complete_list,
    fade,
    fence,
    finite_state,
    frequencies,
    groups,
    levels,
    linear_attention,
    longer_contexts,
    one_parameter,
    order,
    outside,
    overflow,
    pairs,
    sizes,
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
    linear_attention,
    fence,
    complete_list,
)
# files that add laws to a chapter of STORY when they are imported
CONTINUED = (sizes, outside, chunks, overflow, finite_state)
CHAPTERS = tuple(module.CHAPTER for module in STORY)
