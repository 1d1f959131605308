"""NumPy's ``lib``: views by strides."""

from types import SimpleNamespace as _Namespace

from ._strides import as_strided, sliding_window_view

stride_tricks = _Namespace(as_strided=as_strided, sliding_window_view=sliding_window_view)
del as_strided, sliding_window_view

__all__ = ["stride_tricks"]
