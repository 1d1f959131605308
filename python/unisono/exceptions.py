"""Exceptions and warnings of NumPy's ``exceptions`` that unisono raises."""


class AxisError(ValueError, IndexError):
    """An axis is out of bounds."""


class ComplexWarning(RuntimeWarning):
    """An imaginary part is discarded."""


class DTypePromotionError(TypeError):
    """Dtypes that have no common dtype."""


class VisibleDeprecationWarning(UserWarning):
    """For API changes that users must see."""


class RankWarning(RuntimeWarning):
    """A fit whose matrix has less than full rank."""


class TooHardError(RuntimeError):
    """A computation that was too hard."""


__all__ = [
    "AxisError",
    "ComplexWarning",
    "DTypePromotionError",
    "RankWarning",
    "TooHardError",
    "VisibleDeprecationWarning",
]
