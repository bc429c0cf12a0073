"""Positional encodings for attention as `exp(tX)`: derived, proved, run and checked.

Three rooms, which depend on one another in one direction only:

- `exptx.symbolic`: exact mathematics (generators, encodings, `decide`);
- `exptx.numeric`: torch kernels and modules (needs the extra `torch`);
- `exptx.proofs`: laws, proofs, certificates, the report and the command line.
"""

__version__ = "0.1.0"
