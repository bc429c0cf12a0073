"""Kernels in Triton for GPUs: a program's own statements inside tiles of tokens and heads."""

from .call import available, interpreted, rotary, rotary_qk

__all__ = ["available", "interpreted", "rotary", "rotary_qk"]
