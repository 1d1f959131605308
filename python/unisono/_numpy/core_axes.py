"""The keyword ``axes=`` of matmul, matvec, vecmat and vecdot: which axes of operands and result hold their matrices and vectors."""

import operator

import unisono as un

from .. import exceptions
from .._arrays.axes import as_operand, store


def _entry(entry, count, what):
    """The `count` axes that an entry of ``axes=`` names: a tuple, or one integer for vectors."""
    entry = tuple(map(operator.index, entry if isinstance(entry, tuple) else (entry,)))
    if len(entry) != count:
        raise exceptions.AxisError(f"{what}: axes: expected {count} axes in an entry; got {entry}")
    return entry


def along(what, product, operands, axes, counts, out=None):
    """`product` of the operands, whose core axes are moved to the end before it, and the result's moved back.

    Parameters
    ----------
    what : str
        Name of the function, for messages.
    product : callable
        Takes operands whose core axes are the last ones; leaves those of the result at the end.
    operands : sequence of array_like
    axes : list of tuple
        Core axes of each operand and of the result; the result's may be left out where it has none.
    counts : sequence of int
        Number of core axes of each operand and of the result.
    out : ndarray, optional

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError, ValueError
        If `axes` is no list of the right length, or an entry holds anything but integers.
    AxisError
        If an entry names another number of axes, or one that is out of bounds.
    """
    if not isinstance(axes, list):
        raise TypeError(f"{what}: axes must be a list; got {type(axes).__name__}")
    if len(axes) != len(counts) and not (len(axes) == len(operands) and counts[-1] == 0):
        raise ValueError(
            f"{what}: axes must be a list with an entry for each of {len(operands)} operands and the result; "
            f"got {len(axes)} entries"
        )
    axes = [_entry(a, n, what) for a, n in zip(axes, counts, strict=False)]
    moved = [
        un.moveaxis(x, entry, range(-len(entry), 0))
        for x, entry in zip(operands, axes, strict=False)
    ]
    result = product(*moved)
    if counts[-1]:
        result = un.moveaxis(result, range(-counts[-1], 0), axes[-1])
    return store(what, result, out)


def matmul(x1, x2, /, out=None, *, axes=None, dtype=None, casting="same_kind", **others):
    """What `un.matmul` does with keywords other than ``out=``."""
    for name in others:
        raise TypeError(
            f"matmul: unexpected keyword '{name}'; expected out=, axes=, dtype= or casting="
        )
    operands = [as_operand(x) for x in (x1, x2)]
    if dtype is not None:
        operands = [x.astype(dtype, casting=casting, copy=False) for x in operands]
    if axes is None and out is not None and casting != "same_kind":
        return store("matmul", un.matmul(*operands).astype(out.dtype, casting=casting), out)
    if axes is None:
        return un.matmul(*operands, out=out)
    counts = [min(x.ndim, 2) for x in operands]
    return along("matmul", un.matmul, operands, axes, (*counts, sum(counts) - 2), out)
