"""Exceptions and warnings by Numba's names, for programs that catch them."""

from __future__ import annotations

from ._engine import CompileError, UnsupportedError

__all__ = [
    "LoweringError", "NumbaDebugInfoWarning", "NumbaDeprecationWarning", "NumbaError", "NumbaExperimentalFeatureWarning",
    "NumbaPendingDeprecationWarning", "NumbaPerformanceWarning", "NumbaTypeError", "NumbaTypeSafetyWarning",
    "NumbaValueError", "NumbaWarning", "TypingError", "UnsupportedBytecodeError", "UnsupportedError",
]  # fmt: skip

# CompileError is a TypeError; arguments that compiled code does not take raise TypeError itself.
NumbaError = TypingError = NumbaTypeError = TypeError
LoweringError = UnsupportedBytecodeError = CompileError
NumbaValueError = ValueError


class NumbaWarning(RuntimeWarning):
    """Never issued; defined so that filters may name them."""


class NumbaPerformanceWarning(NumbaWarning):
    """As `NumbaWarning`."""


class NumbaDeprecationWarning(NumbaWarning):
    """As `NumbaWarning`."""


class NumbaPendingDeprecationWarning(NumbaWarning):
    """As `NumbaWarning`."""


class NumbaExperimentalFeatureWarning(NumbaWarning):
    """As `NumbaWarning`."""


class NumbaTypeSafetyWarning(NumbaWarning):
    """As `NumbaWarning`."""


class NumbaDebugInfoWarning(NumbaWarning):
    """As `NumbaWarning`."""
