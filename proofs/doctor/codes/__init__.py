"""Every code of the doctor, in one table; a file an area. Codes are stable: tools and baselines keep them."""

from .biases import CODES as BIASES
from .caches import CODES as CACHES
from .code import Code
from .frequencies import CODES as FREQUENCIES
from .matrices import CODES as MATRICES
from .recurrences import CODES as RECURRENCES
from .rotary import CODES as ROTARY

CODES: dict[str, Code] = {**ROTARY, **FREQUENCIES, **BIASES, **CACHES, **RECURRENCES, **MATRICES}
