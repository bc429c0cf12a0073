"""Codes of matrix exponentials."""

from .code import Code

CODES: dict[str, Code] = {
    "matrix-exp": Code(
        "the exponential is that of ball arithmetic, within the rounding of scaling and squaring",
        "transport by it is off, and no longer obeys the group law",
        "check the coefficients of the series, the scaling, and what is done with equal eigenvalues",
    ),
    "batch-exp": Code(
        "entries of a batch are as exact as alone",
        "a result depends on what else is in the batch",
        "choose order and scaling for each matrix, or for the largest",
    ),
}
