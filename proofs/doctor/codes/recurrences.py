"""Codes of recurrences."""

from .code import Code

CODES: dict[str, Code] = {
    "recurrence": Code(
        "the form gives what the recurrence gives: a state that decays, takes in its token, and is read",
        "training and decoding, in different forms, are different models",
        "give every factor of a decay its place: to the end of the chunk, over it, and from its start",
    ),
    "strong-decay": Code(
        "a strong decay gives small numbers, and no others",
        "losses become NaN once a gate closes",
        "form decays between tokens from differences of logarithms, and mask before exp",
    ),
    "reset": Code(
        "a gate of -200 forgets all before its token",
        "packed texts leak into each other, or become NaN",
        "cut the state there, or clamp cumulative gates before they are subtracted",
    ),
    "hold": Code(
        "a gate of 0 holds the state as it is",
        "pads, and tokens that should leave no trace, change what follows",
        "multiply by e^0 = 1 exactly",
    ),
    "recurrence-gradient": Code(
        "gradients are finite, and those of the recurrence",
        "training stops, or follows another model",
        "mask before exp, and differentiate the factors that the forward pass uses",
    ),
}
