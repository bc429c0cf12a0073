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
}
