"""``cupy.exceptions``: NumPy's, from which those that are raised derive."""

from numpy.exceptions import (
    AxisError,
    ComplexWarning,
    DTypePromotionError,
    RankWarning,
    TooHardError,
    VisibleDeprecationWarning,
)

__all__ = [
    "AxisError",
    "ComplexWarning",
    "DTypePromotionError",
    "RankWarning",
    "TooHardError",
    "VisibleDeprecationWarning",
]
