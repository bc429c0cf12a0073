"""The laws in the order in which the report tells them: a file a chapter."""

from . import (
    bounded,
    bridge,
    clocks,
    complete_list,
    fade,
    fence,
    frequencies,
    groups,
    one_parameter,
    order,
    slide,
    turn,
)

CHAPTERS = tuple(
    module.CHAPTER
    for module in (
        order,
        groups,
        one_parameter,
        bridge,
        fade,
        turn,
        frequencies,
        slide,
        bounded,
        clocks,
        fence,
        complete_list,
    )
)
