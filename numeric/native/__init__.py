"""Kernels in C99 for CPUs, compiled where they run: a program's own statements inside loops over tokens."""

from .call import Native, available, rotary, rotary_qk
from .memory import fresh

__all__ = ["Native", "available", "fresh", "rotary", "rotary_qk"]
