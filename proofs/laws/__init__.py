"""The laws in the order in which the report tells them: a file a chapter, some chapters in two files."""

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
    linear_attention,
    longer_contexts,
    one_parameter,
    order,
    outside,
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
CONTINUED = (sizes, outside)  # files that add laws to a chapter of STORY when they are imported
CHAPTERS = tuple(module.CHAPTER for module in STORY)
