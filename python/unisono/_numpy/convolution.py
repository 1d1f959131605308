"""Numerical functions that are composed of elementwise ones and reductions."""

import unisono as un

from .. import _engine
from .._arrays.ufunc import as_array


def _into(result, out):
    """The result, or its target after it was written there."""
    if out is None:
        return result
    target = out[0] if isinstance(out, tuple) else out
    return (
        un.add(result, 0, out=target, casting="same_kind")
        if result.dtype != "bool"
        else _assign(target, result)
    )


def _assign(target, result):
    target[...] = result
    return target


def _inexact(x):
    """`x` in a floating-point dtype."""
    x = as_array(x)
    return x if x.dtype.kind in "fc" else x.astype("float64")


_missing = object()


# Chebyshev coefficients of exp(-x) I0(x) on [0, 8] and of exp(-x) sqrt(x) I0(x) beyond, from the Cephes library.
_I0_SMALL = (
    -4.41534164647933937950e-18, 3.33079451882223809783e-17, -2.43127984654795469359e-16, 1.71539128555513303061e-15,
    -1.16853328779934516808e-14, 7.67618549860493561688e-14, -4.85644678311192946090e-13, 2.95505266312963983461e-12,
    -1.72682629144155570723e-11, 9.67580903537323691224e-11, -5.18979560163526290666e-10, 2.65982372468238665035e-9,
    -1.30002500998624804212e-8, 6.04699502254191894932e-8, -2.67079385394061173391e-7, 1.11738753912010371815e-6,
    -4.41673835845875056359e-6, 1.64484480707288970893e-5, -5.75419501008210370398e-5, 1.88502885095841655729e-4,
    -5.76375574538582365885e-4, 1.63947561694133579842e-3, -4.32430999505057594430e-3, 1.05464603945949983183e-2,
    -2.37374148058994688156e-2, 4.93052842396707084878e-2, -9.49010970480476444210e-2, 1.71620901522208775349e-1,
    -3.04682672343198398683e-1, 6.76795274409476084995e-1,
)  # fmt: skip
_I0_LARGE = (
    -7.23318048787475395456e-18, -4.83050448594418207126e-18, 4.46562142029675999901e-17, 3.46122286769746109310e-17,
    -2.82762398051658348494e-16, -3.42548561967721913462e-16, 1.77256013305652638360e-15, 3.81168066935262242075e-15,
    -9.55484669882830764870e-15, -4.15056934728722208663e-14, 1.54008621752140982691e-14, 3.85277838274214270114e-13,
    7.18012445138366623367e-13, -1.79417853150680611778e-12, -1.32158118404477131188e-11, -3.14991652796324136454e-11,
    1.18891471078464383424e-11, 4.94060238822496958910e-10, 3.39623202570838634515e-9, 2.26666899049817806459e-8,
    2.04891858946906374183e-7, 2.89137052083475648297e-6, 6.88975834691682398426e-5, 3.36911647825569408990e-3,
    8.04490411014108831608e-1,
)  # fmt: skip


@_engine._FastPath
def convolve(a, v, mode="full"):
    """Discrete convolution of two sequences: by products and sums of shifted slices.

    Parameters
    ----------
    a, v : array_like
    mode : str

    Returns
    -------
    ndarray of one axis

    Raises
    ------
    ValueError
        If an operand is empty or not one-dimensional, or the mode is unknown.

    Examples
    --------
    >>> import unisono as un
    >>> un.convolve([1, 2, 3], [1, 1]).tolist()
    [1, 3, 5, 3]
    """
    a, v = un.atleast_1d(as_array(a), as_array(v))
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError("object too deep for desired array")
    if a.shape[0] == 0 or v.shape[0] == 0:
        raise ValueError(f"{'a' if a.shape[0] == 0 else 'v'} cannot be empty")
    if v.shape[0] > a.shape[0]:
        a, v = v, a
    return _slide(a, v[::-1], mode)


def correlate(a, v, mode="valid"):
    """Cross-correlation of two sequences; the second is conjugated.

    Parameters
    ----------
    a, v : array_like
    mode : str

    Returns
    -------
    ndarray of one axis

    Raises
    ------
    ValueError
        If an operand is empty or not one-dimensional, or the mode is unknown.

    Examples
    --------
    >>> import unisono as un
    >>> un.correlate([1, 2, 3], [0, 1, 0.5], "same").tolist()
    [2.0, 3.5, 3.0]
    """
    a, v = as_array(a), as_array(v)
    for name, x in (("a", a), ("v", v)):
        if x.ndim != 1:
            raise ValueError(
                f"correlate: operands have one axis; got {name} of shape {x.shape}; give sequences"
            )
    if a.shape[0] == 0 or v.shape[0] == 0:
        raise ValueError(f"{'a' if a.shape[0] == 0 else 'v'} cannot be empty")
    v = v.conj()
    if v.shape[0] > a.shape[0]:
        return _slide(v, a, mode)[::-1].copy()
    return _slide(a, v, mode)


def _slide(a, v, mode):
    """sum_k a[i + k] v[k], i from 1 - len(v) on; len(v) <= len(a)."""
    if isinstance(mode, int) and 0 <= mode <= 2:
        mode = ("valid", "same", "full")[mode]
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    n, m = a.shape[0], v.shape[0]
    dtype = un.result_type(a.dtype, v.dtype)
    lead = {"full": m - 1, "same": m // 2, "valid": 0}[mode]
    count = {"full": n + m - 1, "same": n, "valid": n - m + 1}[mode]
    is_real = dtype in ("float32", "float64")
    if m <= 32 and is_real and isinstance(a, _engine._Array) and a.device == v.device == "cpu":
        return _slide_together(a, v, dtype, lead, count)
    reaches_beyond = mode != "valid" and m > 1
    if reaches_beyond and v.dtype.kind in "fc" and not un.isfinite(v).all():
        return _slide_inside(a, v.astype(dtype, copy=False), lead, count)
    mesh = a.mesh or v.mesh
    if m > 32 and mesh is not None:
        return _slide_parts(mesh, a, v, lead, count, dtype)
    if m > 32:
        return _slide_together(a, v, dtype, lead, count)
    padded = _padded(a, lead, count + m - 1, dtype)
    made = padded[:count] * v[0] + 0  # sums start from zero, which -0 is not
    for k in range(1, m):
        made = made + padded[k : k + count] * v[k]
    return made.astype(dtype, copy=False)


def _slide_together(a, v, dtype, lead, count):
    return _engine._slide(a.astype(dtype, copy=False), v.astype(dtype, copy=False), lead, count)


def _slide_parts(mesh, a, v, lead, count, dtype):
    """`_slide` by parts of `v`, which all ranks get one after the other, over each rank's part of `a` and what follows it."""
    m, ranks = v.shape[0], mesh.size
    padded = _padded(un.asarray(a, mesh=mesh), lead, count + m - 1, dtype)
    made = un.zeros(count, dtype, mesh=mesh)
    sizes = [count * (r + 1) // ranks - count * r // ranks for r in range(ranks)]
    width = -(-m // ranks)
    for first in range(0, m, width):
        part = v[first : first + width].astype(dtype, copy=False)
        part = part if part.mesh is None else _engine._mesh_panel(part)
        beyond = part.shape[0] - 1
        layout = ((*sizes[:-1], sizes[-1] + beyond),)
        piece = padded[first : first + count + beyond].to_layout(layout)
        _, window = _engine._mesh_window(piece, [(0, beyond)])
        own = made.local
        if own.shape[0] > 0:
            made.local = own + _slide(window, part, "valid")
    return made


def _padded(a, lead, length, dtype):
    made = un.zeros(length, dtype, device=a.device)
    width = min(a.shape[0], length - lead)
    made[lead : lead + width] = a[:width]
    return made


def _slide_inside(a, v, lead, count):
    """`_slide` with weights that give NaN beside the zeros around `a`: these are left out."""
    from .products import _view

    n, m = a.shape[0], v.shape[0]
    windows = _view(_padded(a, lead, count + m - 1, v.dtype), (count, m), (1, 1))
    at = un.arange(count, device=a.device).reshape(-1, 1) + un.arange(m, device=a.device)
    return un.where((at >= lead) & (at < lead + n), windows * v, 0).sum(axis=1, dtype=v.dtype)
