"""How distributed arrays are spread over the ranks of a mesh."""

import operator


def parse(layout, shape, ranks):
    """`layout` as the engine takes it: None, or an axis (-1: every rank has all) and the sizes of the parts.

    Parameters
    ----------
    layout : {"block", "replicated"}, tuple or None
        ``"block"`` splits the first axis evenly. A tuple has an entry for each axis: None for one that is whole, and for
        one axis ``"block"`` or the sizes of the ranks' parts.
    shape : tuple of int
    ranks : int

    Raises
    ------
    ValueError
        If it is none of these, or does not fit the shape.

    Examples
    --------
    >>> parse((None, "block"), (3, 8), 2)
    (1, None)
    >>> parse(((1, 2), None), (3, 8), 2)
    (0, (1, 2))
    """
    if layout is None or (layout == "block" and not isinstance(layout, tuple)):
        return None
    if isinstance(layout, str) and layout == "replicated":
        return -1, None
    if isinstance(layout, (str, bytes)) or not hasattr(layout, "__len__"):
        raise ValueError(
            f"layout: expected 'block', 'replicated', or a tuple with an entry for each axis; got {layout!r}"
        )
    if len(layout) != len(shape):
        raise ValueError(
            f"layout: there is an entry for each axis; got {len(layout)} for an array of shape {tuple(shape)}"
        )
    split = [k for k, entry in enumerate(layout) if entry is not None]
    if not split:
        return -1, None
    if len(split) > 1:
        raise ValueError(f"layout: at most one axis can be split; got {layout!r}")
    axis = split[0]
    if isinstance(layout[axis], str):
        if layout[axis] != "block":
            raise ValueError(
                f"layout: an axis is split by 'block' or by the sizes of the parts; got {layout[axis]!r}"
            )
        return axis, None
    sizes = tuple(operator.index(n) for n in layout[axis])
    if len(sizes) != ranks or min(sizes) < 0 or sum(sizes) != shape[axis]:
        raise ValueError(
            f"layout: the sizes of {ranks} parts add up to the extent of their axis; got {sizes} for axis {axis} "
            f"of shape {tuple(shape)}"
        )
    return axis, sizes


def described(axis, sizes, ndim):
    """The layout of an array that the engine says is split so; the inverse of `parse`."""
    if axis < 0:
        return "replicated" if sizes is None else f"rank {sizes}"
    return tuple(
        None if k != axis else "block" if sizes is None else tuple(sizes) for k in range(ndim)
    )
