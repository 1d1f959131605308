"""Exceptions and warnings of NumPy's ``exceptions`` that unisono raises."""


class AxisError(ValueError, IndexError):
    """An axis that the array does not have."""


class ComplexWarning(RuntimeWarning):
    """An imaginary part is discarded."""


class DTypePromotionError(TypeError):
    """Dtypes without a common one."""


class VisibleDeprecationWarning(UserWarning):
    """For API changes that users must see."""


class RankWarning(RuntimeWarning):
    """A fit whose matrix has less than full rank."""


class TooHardError(RuntimeError):
    """A question that was given up."""


__all__ = [
    "AxisError",
    "ComplexWarning",
    "DTypePromotionError",
    "RankWarning",
    "TooHardError",
    "VisibleDeprecationWarning",
]
