"""Where Numba has what lets programs extend compiled code."""

from ._jit.intrinsic import intrinsic
from ._jit.numba_words import register_jitable
from ._jit.overload import overload, overload_attribute, overload_method

__all__ = ["intrinsic", "overload", "overload_attribute", "overload_method", "register_jitable"]
