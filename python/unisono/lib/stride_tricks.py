"""Views that are made from strides, and windows that slide."""

from .._arrays.strides import as_strided, sliding_window_view

__all__ = ["as_strided", "sliding_window_view"]
