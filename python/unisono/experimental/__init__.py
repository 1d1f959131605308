"""Where Numba has `jitclass` and `structref`."""

from .._jit.jitclass import jitclass
from . import structref

__all__ = ["jitclass", "structref"]
