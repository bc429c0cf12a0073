"""Every refusal of the numeric room, one class per cause; each message is one sentence."""

from ..symbolic.errors import ExptxError


class NumericError(ExptxError):
    """A refusal of the numeric room."""


class MissingTorch(NumericError, ImportError):
    """The extra `torch` is not installed."""


class BadTensor(NumericError, ValueError):
    """A tensor or number of the right kind whose shape, device or values make no sense here."""


class BadDtype(NumericError, TypeError):
    """A dtype or type that this argument does not take."""


class BadChoice(NumericError, ValueError):
    """An option that is none of the listed ones, or two options that contradict each other."""


class PositionOutOfRange(NumericError, IndexError):
    """A position that the table does not hold."""


class TooLarge(NumericError, OverflowError):
    """An angle or an exponent too large to be formed accurately; refused instead of being wrong."""


class NotRounded(NumericError, ArithmeticError):
    """A ball still straddles a rounding boundary at the highest precision that is tried."""


class NotBuilt(NumericError, NotImplementedError):
    """A path that is named but not built in this version."""


class NeedsGradient(NumericError, RuntimeError):
    """`out=` was given although a gradient is needed."""


class Unbounded(NumericError, ValueError):
    """An encoding that grows without bound over the pairs that would be visible."""


class NotLowered(NumericError, ValueError):
    """An encoding or generator that has no numeric form: free symbols, or factors outside attention."""


class NotPatched(NumericError, ValueError):
    """A model that `patch` does not know, or that is patched already, or that is not."""
