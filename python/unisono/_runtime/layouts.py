"""How distributed arrays are spread over the ranks of a mesh."""

import math
import operator


def parse(layout, shape, ranks):
    """`layout` as the engine takes it: None, or for each split axis the axis, its parts and their sizes.

    Sizes are None for even parts, and a number for blocks of so many that go round.

    Parameters
    ----------
    layout : {"block", "cyclic", "replicated"}, tuple or None
        ``"block"`` splits the first axis evenly, ``"cyclic"`` deals its indices out to one rank after the other. A
        tuple has an entry for each axis: None for one that is whole, ``"block"``, the number of even blocks, the sizes
        of the parts, ``"cyclic"``, or ``("cyclic", b)`` for blocks of b indices that are dealt out. Where several axes
        are split, the ranks are a grid, counted along the last of them first.
    shape : tuple of int
    ranks : int

    Raises
    ------
    ValueError
        If it is none of these, or does not fit the shape or the ranks.

    Examples
    --------
    >>> parse((None, "block"), (3, 8), 2)
    ((1, 2, None),)
    >>> parse(((1, 2), None), (3, 8), 2)
    ((0, 2, (1, 2)),)
    >>> parse(("block", "block"), (6, 8), 6)
    ((0, 3, None), (1, 2, None))
    >>> parse((("cyclic", 64), None), (1000, 8), 2)
    ((0, 2, 64),)
    """
    if layout is None or (layout == "block" and not isinstance(layout, tuple)):
        return None
    if isinstance(layout, str) and layout == "replicated":
        return ()
    if isinstance(layout, str) and layout == "cyclic":
        layout = ("cyclic", *(None,) * (len(shape) - 1)) if shape else ()
    if isinstance(layout, (str, bytes)) or not hasattr(layout, "__len__"):
        raise ValueError(
            f"layout: expected 'block', 'cyclic', 'replicated', or a tuple with an entry for each axis; got {layout!r}"
        )
    if len(layout) != len(shape):
        raise ValueError(
            f"layout: there is an entry for each axis; got {len(layout)} for an array of shape {tuple(shape)}"
        )
    entries = [_entry(layout, k, shape) for k, entry in enumerate(layout) if entry is not None]
    if len(entries) > 4:
        raise ValueError(f"layout: at most four axes can be split; got {layout!r}")
    fixed = math.prod(parts for _, parts, _ in entries if parts)
    free = [k for k, (_, parts, _) in enumerate(entries) if not parts]
    for k, parts in zip(free, _sides(ranks // max(1, fixed), len(free)), strict=True):
        entries[k] = (entries[k][0], parts, entries[k][2])
    total = math.prod(parts for _, parts, _ in entries)
    if entries and total != ranks:
        if len(entries) == 1 and isinstance(entries[0][2], tuple):
            axis, _, sizes = entries[0]
            raise ValueError(
                f"layout: the sizes of {ranks} parts add up to the extent of their axis; got {sizes} for axis {axis} "
                f"of shape {tuple(shape)}"
            )
        grid = " x ".join(str(parts) for _, parts, _ in entries)
        raise ValueError(
            f"layout: {grid} parts are for {total} ranks; got {ranks} ranks for {layout!r}"
        )
    return tuple(entries)


def _entry(layout, axis, shape):
    """Axis, number of parts (0: to be found) and their sizes, as `parse` gives them."""
    entry = layout[axis]
    if isinstance(entry, str) and entry == "block":
        return axis, 0, None
    if isinstance(entry, str) and entry == "cyclic":
        return axis, 0, 1
    if hasattr(entry, "__len__") and len(entry) == 2 and isinstance(entry[0], str):
        if entry[0] == "cyclic" and operator.index(entry[1]) >= 1:
            return axis, 0, operator.index(entry[1])
        raise ValueError(
            f"layout: blocks that are dealt out are ('cyclic', b) with at least one index each; got {entry!r}"
        )
    if isinstance(entry, (str, bytes)):
        raise ValueError(
            f"layout: an axis is split by 'block', 'cyclic', ('cyclic', b), a number of blocks, or the sizes of the "
            f"parts; got {entry!r}"
        )
    if not hasattr(entry, "__len__"):
        parts = operator.index(entry)
        if parts < 1:
            raise ValueError(f"layout: an axis has at least one part; got {parts} for axis {axis}")
        return axis, parts, None
    sizes = tuple(operator.index(n) for n in entry)
    if not sizes or min(sizes) < 0 or sum(sizes) != shape[axis]:
        raise ValueError(
            f"layout: the sizes of parts add up to the extent of their axis; got {sizes} for axis {axis} "
            f"of shape {tuple(shape)}"
        )
    return axis, len(sizes), sizes


def _sides(ranks, count):
    """The sides of a grid of ranks, as equal as can be, larger ones first."""
    sides = [1] * count
    factor, primes = 2, []
    while ranks > 1 and count:
        while ranks % factor == 0:
            primes.append(factor)
            ranks //= factor
        factor += 1
    for prime in reversed(primes):
        sides[sides.index(min(sides))] *= prime
    return sorted(sides, reverse=True)


def described(entries, owner, is_grid, ndim):
    """The layout of an array that the engine says is split so; the inverse of `parse`."""
    if not entries:
        return f"rank {owner}" if owner >= 0 else "some ranks" if is_grid else "replicated"
    made = [None] * ndim
    for axis, parts, sizes in entries:
        if isinstance(sizes, int):
            made[axis] = "cyclic" if sizes == 1 else ("cyclic", sizes)
        else:
            made[axis] = sizes if sizes is not None else parts if is_grid else "block"
    return tuple(made)
