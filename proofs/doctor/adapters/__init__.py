"""Kernels with the signatures of known libraries, made into subjects; and one found by trying."""
