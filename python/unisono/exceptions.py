"""Exceptions and warnings of NumPy's ``exceptions`` that unisono raises.

Each is made when it is first raised or named: where NumPy is installed it derives from NumPy's own, whose import is heavy.
"""

_made = {
    "AxisError": ("An axis is out of bounds.", (ValueError, IndexError)),
    "ComplexWarning": ("An imaginary part is discarded.", (RuntimeWarning,)),
    "DTypePromotionError": ("Dtypes that have no common dtype.", (TypeError,)),
    "RankWarning": ("A fit whose matrix has less than full rank.", (RuntimeWarning,)),
    "TooHardError": ("A computation that was too hard.", (RuntimeError,)),
    "VisibleDeprecationWarning": ("For API changes that users must see.", (UserWarning,)),
}
__all__ = sorted(_made)


def __getattr__(name):
    if name not in _made:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    doc, bases = _made[name]
    try:
        from numpy import exceptions

        bases = (getattr(exceptions, name),)
    except ImportError:
        pass
    made = type(name, bases, {"__doc__": doc, "__module__": __name__})
    return globals().setdefault(name, made)  # another thread may have been quicker


def __dir__():
    return __all__
