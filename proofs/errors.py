"""Every refusal of this room, a class per cause."""

from ..symbolic.errors import ExptxError


class ProofsError(ExptxError):
    """A refusal of the proofs room."""


class MalformedLaw(ProofsError, ValueError):
    """A law contradicts itself: no goal, no perturbation, a hypothesis nobody stated. This is our bug."""


class UnknownLaw(ProofsError, LookupError):
    """A law, encoding or proof id that does not exist."""


class Unwritable(ProofsError, OSError):
    """A folder or file that cannot be written."""


class MissingExtra(ProofsError, ImportError):
    """Something needs an optional dependency that is not installed."""


class UnknownPath(ProofsError, FileNotFoundError):
    """A file or folder to read that does not exist."""


class BadFile(ProofsError, ValueError):
    """A file that exists but does not hold what its name promises, or more than is read."""


class Stopped(ProofsError, TimeoutError):
    """A task that reached its limit on time or memory, or whose process ended without an answer."""


class BadClaim(ProofsError, ValueError):
    """Something to examine, or a claim about it, that cannot be examined."""
