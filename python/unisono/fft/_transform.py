"""One Fourier transform along one axis: its operand, scale and call."""

import math
import operator

from .. import _engine
from .._numpy.products import _array
from . import _parts

_NORMS = ("backward", "ortho", "forward", None)


def _scale(n, norm, forward, what):
    if norm not in _NORMS:
        raise ValueError(
            f'{what}: Invalid norm value {norm!r}; should be "backward", "ortho" or "forward"'
        )
    if norm == "ortho":
        return 1 / math.sqrt(n)
    return 1 / n if (norm == "forward") == forward else 1.0


def _axis_of(x, axis, what):
    k = operator.index(axis)
    if not -x.ndim <= k < x.ndim:
        raise IndexError(f"{what}: axis {axis} is out of bounds for array of dimension {x.ndim}")
    return k % x.ndim


def _input(x):
    x = _array(x)
    if x.dtype.kind in "biu":
        return x.astype("float64")
    return x.astype("float32") if x.dtype.name == "float16" else x


def _transform(x, n, axis, norm, forward, kind, what):
    """One axis; kind 0 is complex, 1 real to spectrum, 2 spectrum to real."""
    x = _input(x)
    axis = _axis_of(x, axis, what)
    if n is None:
        n = 2 * (x.shape[axis] - 1) if kind == 2 else x.shape[axis]
    n = operator.index(n)
    if n < 1:
        raise ValueError(
            f"{what}: Invalid number of FFT data points ({n}) specified; expected at least 1"
        )
    if kind == 1 and x.dtype.kind == "c":
        raise TypeError(
            f"{what}: expected real numbers; got dtype {x.dtype}; take .real, or use fft"
        )
    scale = _scale(n, norm, forward, what)
    if _parts.suits(x, n):
        made = _parts.transform(x, n, forward, kind)
        made = made[: n // 2 + 1] if kind == 1 else made
        return made if scale == 1 else made * scale
    return _engine._fft(x, axis, n, scale, forward, kind, 1)


def _transform_together(x, s, axes, norm, forward, kind, what):
    """Up to three axes that follow each other; None where no library takes them so."""
    whole = [x.shape[k] for k in axes]
    if not 1 < len(axes) < 4 or axes != list(range(axes[0], axes[0] + len(axes))):
        return None
    if (
        x.mesh is not None
        or s[:-1] != whole[:-1]
        or min(s) < 1
        or (kind == 1 and x.dtype.kind == "c")
    ):
        return None
    scale = math.prod(_scale(n, norm, forward, what) for n in s)
    return _engine._fft(x, axes[-1], s[-1], scale, forward, kind, len(axes))
