"""Codes of frequencies as a function of a config and a length, and of several axes."""

from .code import Code

CODES: dict[str, Code] = {
    "frequency": Code(
        "frequencies are those of the config, at every length of text",
        "a model sees other distances than it was trained with; it worsens with the length of text",
        "form them by the rule, base, width and lengths that the config names",
    ),
    "frequency-state": Code(
        "a short text after a long one is read as one before it",
        "answers depend on what was served earlier",
        "form the frequencies from the length at hand, and keep none of a longer text",
    ),
    "unknown-rule": Code(
        "a rope_type that does not exist is refused",
        "a config with a new rule, or a typing error, runs with the wrong frequencies",
        "raise for every rope_type that has no branch of its own",
    ),
    "axis": Code(
        "every axis turns its own planes at the claimed rates",
        "images and clips are read in another geometry; text cannot show it",
        "give each plane the coordinate of the axis that owns it, and count coordinates from 0",
    ),
    "grid": Code(
        "the coordinates of a token act one after the other",
        "places in an image coincide, or depend on what else is there",
        "form the angle of a plane from the coordinate of its own axis alone",
    ),
}
