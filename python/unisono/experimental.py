"""Where Numba has `jitclass`."""

from ._jit.jitclass import jitclass

__all__ = ["jitclass"]
