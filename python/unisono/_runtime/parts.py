"""Functions of the ranks' parts of distributed arrays."""

import itertools
import math

import unisono as un

from .. import _engine


def tell_all(m, thing, what):
    """The objects of all ranks, in their order. Collective."""
    import pickle

    return [pickle.loads(text) for text in m._gather_texts(pickle.dumps(thing), what)]


def from_parts(m, part, axis, sizes):
    """The distributed array whose parts along `axis`, of these sizes, are the ranks' `part`; `axis` -1: all is equal."""
    shape = list(part.shape)
    if axis >= 0:
        shape[axis] = sum(sizes)
    entries = ((axis, m.size, _uneven(sizes)),) if axis >= 0 else ()
    made = m.empty(tuple(shape), part.dtype, entries)
    made.local = part
    return made


def _uneven(sizes):
    """Sizes of parts as the engine takes them: None where they are even."""
    n, parts = sum(sizes), len(sizes)
    even = [n * (k + 1) // parts - n * k // parts for k in range(parts)]
    return None if list(sizes) == even else tuple(sizes)


def by_parts(m, what, compute):
    """This rank's array, and shape, dtype and note of all ranks': `compute` returns an array and a note.

    An error of one rank is raised on all.
    """
    failure = made = None
    try:
        made, note = compute()
        told = (made.shape, str(made.dtype), note)
    except Exception as error:
        failure = error
        told = f"{type(error).__name__}: {error}"
    everyone = tell_all(m, told, what)
    if failure is not None:
        raise failure
    for rank, told in enumerate(everyone):
        if isinstance(told, str):
            raise RuntimeError(f"{what}: rank {rank} of {m.size} raised {told}")
    return made, everyone


def map_blocks(function, *arrays, **options):
    """Call a function on the ranks' parts of distributed arrays.

    Parameters
    ----------
    function : callable
        Takes arrays of the host, which it must not write to, and returns one: compiled functions, NumPy's, any other.
        It is called once on each rank, also with parts that are empty.
    *arrays : array_like
        The first distributed one says how its elements are spread; others have its extent along the axis that is split,
        and are brought to that layout. What is no distributed array is passed as it is.
    **options
        Further arguments of `function`.

    Returns
    -------
    ndarray
        Distributed: the results one behind the other, along the axis that is split; on a grid of ranks along each such
        axis. Numbers make a vector with one element for each rank. Without distributed arrays: what `function` returns.

    Raises
    ------
    ValueError
        If arrays do not fit, or results of two ranks do not.
    RuntimeError
        On all ranks, where `function` raises on one, which raises the original.

    Examples
    --------
    >>> import numpy as np
    >>> import unisono as un
    >>> x = un.asarray([[3.0, 1.0], [2.0, 4.0]], mesh=un.mesh("mpi"))
    >>> un.map_blocks(np.sort, x).tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    """
    name = f"map_blocks of {getattr(function, '__name__', 'a function')}"
    first = next((x for x in arrays if _is_spread(x)), None)
    if first is None:
        return function(*arrays, **options)
    m = first.device
    sides = _sides(first)
    if sides:
        return _map_grid(name, function, sides, first, arrays, options)
    axis, leader = _in_order(first)
    passed = [leader.local if x is first else _part_like(name, x, leader, axis) for x in arrays]
    made, everyone = by_parts(m, name, lambda: (_result(function(*passed, **options), axis), None))
    kinds = {
        (shape[:axis] + shape[axis + 1 :] if axis >= 0 else shape, dtype)
        for shape, dtype, _ in everyone
    }
    if len(kinds) > 1:
        results = ", ".join(f"{dtype} {shape} on rank {r}" for r, (shape, dtype, _) in enumerate(everyone))  # fmt: skip
        raise ValueError(
            f"{name}: results have one dtype, and one extent along each axis but {axis}; got {results}"
        )
    return from_parts(m, made, axis, [shape[axis] for shape, _, _ in everyone] if axis >= 0 else ())


def _is_spread(x):
    return isinstance(x, _engine._Array) and isinstance(x.device, _engine.Mesh)


def _in_order(x):
    """The axis that an array is split along (-1: none), and the array with its parts in the order of the ranks."""
    entries, ascends, owner, is_grid = _engine._mesh_split(x)
    if owner >= 0 or is_grid:
        x = x.to_layout("block")
        return 0 if x.ndim else -1, x
    if not entries:
        return -1, x
    axis = entries[0][0]
    if ascends:
        return axis, x
    return axis, x.to_layout(tuple("block" if k == axis else None for k in range(x.ndim)))


def _sides(x):
    """Of an array on a grid of ranks whose parts lie in their order: each split axis and its number of parts; else none."""
    entries, ascends, owner, is_grid = _engine._mesh_split(x)
    if not is_grid or owner >= 0 or not ascends or not entries:
        return ()
    if any(isinstance(sizes, int) for _, _, sizes in entries):  # dealt out
        return ()
    sides = tuple((axis, parts) for axis, parts, _ in entries)
    # Else several ranks have the same part.
    return sides if math.prod(parts for _, parts in sides) == x.device.size else ()


def _map_grid(name, function, sides, first, arrays, options):
    """`map_blocks` of parts that lie in a grid."""
    m, axes = first.device, [axis for axis, _ in sides]

    def local(x):
        if not _is_spread(x):
            return x
        if x.ndim <= axes[-1] or any(x.shape[k] != first.shape[k] for k in axes):
            raise ValueError(
                f"{name}: arrays have one extent along each of the axes {tuple(axes)}, which are split; got shapes "
                f"{tuple(first.shape)} and {tuple(x.shape)}"
            )
        layout = tuple(first.layout[k] if k in axes else None for k in range(x.ndim))
        return x.to_layout(layout).local

    passed = [local(x) for x in arrays]

    def compute():
        made = _result(function(*passed, **options), -1)
        return (made if made.ndim else made.reshape(1)), made.ndim

    made, everyone = by_parts(m, name, compute)
    if all(rank == 0 for _, _, rank in everyone):
        return from_parts(m, made, 0, [1] * m.size)
    shapes = [shape for shape, _, _ in everyone]
    sizes = {axis: [None] * parts for axis, parts in sides}
    fits = len({(len(shape), dtype) for shape, dtype, _ in everyone}) == 1 and made.ndim > axes[-1]
    if fits:
        for rank, shape in enumerate(shapes):
            for axis, parts in reversed(sides):
                rank, place = divmod(rank, parts)
                sizes[axis][place] = shape[axis]
        whole = [sum(sizes[k]) if k in sizes else n for k, n in enumerate(made.shape)]
        entries = tuple((axis, parts, _uneven(sizes[axis])) for axis, parts in sides)
        out = m.empty(tuple(whole), made.dtype, entries)
        fits = all(tell_all(m, tuple(out.local.shape) == tuple(made.shape), name))
    if not fits:
        results = ", ".join(f"{dtype} {shape} on rank {r}" for r, (shape, dtype, _) in enumerate(everyone))  # fmt: skip
        raise ValueError(
            f"{name}: results have one dtype, and extents that make a grid; got {results}"
        )
    out.local = made
    return out


def _part_like(name, x, first, axis):
    if not _is_spread(x):
        return x
    if axis >= 0 and (x.ndim <= axis or x.shape[axis] != first.shape[axis]):
        raise ValueError(
            f"{name}: arrays have one extent along axis {axis}, which is split; got shapes {tuple(first.shape)} and "
            f"{tuple(x.shape)}"
        )
    layout = first.layout
    if axis >= 0:
        layout = tuple(layout[axis] if k == axis else None for k in range(x.ndim))
    return x.to_layout(layout).local


def _result(made, axis):
    """What a function returned, as an array of the host that has the axis."""
    if not isinstance(made, _engine._Array):
        import numpy as np

        made = un.asarray(np.asarray(made), device="cpu")
    if axis >= 0 and made.ndim == 0:
        made = un.reshape(made, (1,) * (axis + 1))
    if axis >= made.ndim:
        raise ValueError(
            f"the result has no axis {axis}, along which arrays are split; got shape {tuple(made.shape)}"
        )
    return made


def stencil(name, compiled, args, relative, reach, border):
    """A stencil of distributed arrays: each rank computes its part from that and what lies around it.

    Parameters
    ----------
    name : str
    compiled : callable
        The stencil of the host's arrays.
    args : list
    relative : list of bool
        Which arguments are indexed relatively: they have one shape.
    reach : tuple of (int, int)
    border : str
        ``"constant"``, or a mode of `pad`.
    """
    spread = next((x for x, r in zip(args, relative, strict=True) if r and _is_spread(x)), None)
    m = next(x.device for x in args if _is_spread(x))
    axes, leader = ((), None) if spread is None else _split_axes(spread)
    if not axes:
        local = [x.to_layout("replicated").local if _is_spread(x) else x for x in args]
        return from_parts(m, compiled(*local), -1, ())
    beyond = {axis: (max(0, -reach[axis][0]), max(0, reach[axis][1])) for axis in axes}
    layout, entries, local = leader.layout, _engine._mesh_split(leader)[0], []
    for x, is_relative in zip(args, relative, strict=True):
        if not is_relative:
            local.append(x.to_layout("replicated").local if _is_spread(x) else x)
            continue
        x = x.to_layout(layout) if _is_spread(x) else un.asarray(x, mesh=m, layout=layout)
        own, window = _engine._mesh_window(x, [beyond.get(k, (0, 0)) for k in range(x.ndim)])
        is_continued = border != "constant" and x.size > 0
        if is_continued:
            window = _continued(x, window, own, beyond, border)
        inside = [slice(None)] * x.ndim
        for axis, (low, _) in beyond.items():
            begin, end = own[axis]
            before = low if is_continued else min(low, begin) if x.size else 0
            inside[axis] = slice(before, before + end - begin) if end > begin else slice(0, 0)
        local.append(window)

    def compute():
        made = compiled(*local)
        # Windows without an inside do not know the dtype of elements.
        extents = zip(local[relative.index(True)].shape, reach, strict=True)
        knows = all(n > max(0, -below) + max(0, above) for n, (below, above) in extents)
        return made[tuple(inside)], knows

    made, everyone = by_parts(m, name, compute)
    dtype = next((d for _, d, knows in everyone if knows), everyone[0][1])
    out = m.empty(leader.shape, dtype, entries)
    out.local = made.astype(dtype)
    return out


def _split_axes(x):
    """The axes that an array is split along, and the array with its parts in the order of the ranks."""
    sides = _sides(x)
    if sides:
        return tuple(axis for axis, _ in sides), x
    axis, x = _in_order(x)
    return (() if axis < 0 else (axis,)), x


def _continued(x, window, own, beyond, border):
    """A window continued beyond the ends of the axes that are split, one after the other."""
    is_empty = any(own[axis][0] == own[axis][1] for axis in beyond)
    spans = {
        axis: range(max(0, own[axis][0] - low), min(x.shape[axis], own[axis][1] + high))
        for axis, (low, high) in beyond.items()
    }

    def places(axis, indices):
        back = [_brought_back(k, x.shape[axis], border) for k in indices]
        return un.asarray(back, dtype=int, device="cpu")

    for axis, (low, high) in beyond.items():
        n, (begin, end) = x.shape[axis], own[axis]
        if low == high == 0:
            continue
        outside = places(axis, [*range(-low, 0), *range(n, n + high)])
        rows = un.take(x, outside, axis=axis).to_layout("replicated").local
        if is_empty:
            continue
        for other, span in spans.items():
            if other != axis:
                rows = un.take(rows, places(other, span), axis=other)

        def some(first, last, rows=rows, axis=axis):
            return rows[(slice(None),) * axis + (slice(first, last),)]

        head, tail = some(min(begin, low), low), some(low, low + max(0, end + high - n))
        window = un.concatenate([head, window, tail], axis=axis)
        spans[axis] = range(begin - low, end + high)
    return window


def _brought_back(k, n, border):
    if border == "edge":
        return min(max(k, 0), n - 1)
    if border == "wrap":
        return k % n
    if border == "reflect":
        return k if 0 <= k < n else -k if k < 0 else 2 * (n - 1) - k
    return k if 0 <= k < n else -k - 1 if k < 0 else 2 * n - 1 - k


def windows(x, window, axes):
    """Windows that slide along axes, as `sliding_window_view` makes them, but copied: each rank has those that begin in its part."""
    from .._arrays.strides import sliding_window_view

    reach = [sum(n - 1 for k, n in zip(axes, window, strict=True) if k == axis) for axis in range(x.ndim)]  # fmt: skip
    shape = (*(n - far for n, far in zip(x.shape, reach, strict=True)), *window)
    split, x = _split_axes(x)
    if 0 in shape:
        return x.device.empty(shape, x.dtype)
    if not split:
        return from_parts(x.device, sliding_window_view(x.local, window, axes), -1, ())
    beyond = [(0, reach[k]) if k in split else (0, 0) for k in range(x.ndim)]
    _, local = _engine._mesh_window(x, beyond)
    entries = []
    for axis, parts, sizes in _engine._mesh_split(x)[0]:
        n, last = x.shape[axis], x.shape[axis] - reach[axis]
        sizes = sizes or [n * (k + 1) // parts - n * k // parts for k in range(parts)]
        ends = [min(end, last) for end in itertools.accumulate(sizes, initial=0)]
        entries.append((axis, parts, _uneven([b - a for a, b in itertools.pairwise(ends)])))
    made = x.device.empty(shape, x.dtype, tuple(entries))
    if made.local.size:
        made.local = sliding_window_view(local, window, axes)
    return made


def loops_over_elements(function):
    """Whether a function has loops, which may be over elements."""
    import dis

    code = getattr(function, "__code__", None)
    return code is not None and any("JUMP_BACKWARD" in i.opname or i.opname == "FOR_ITER" for i in dis.get_instructions(code))  # fmt: skip


def scatter(m, x, root=0, layout=None):
    """Distribute an array that one rank has.

    Parameters
    ----------
    x : array_like or None
        On rank `root`; other ranks may give None.
    root : int
    layout : optional
        Of the result, as `un.zeros` takes it.

    Returns
    -------
    ndarray
        Distributed.

    Raises
    ------
    ValueError
        If there is no such rank.

    Examples
    --------
    >>> import unisono as un
    >>> m = un.mesh("mpi")
    >>> m.scatter([1.0, 2.0, 3.0] if m.rank == 0 else None).sum().item()
    6.0
    """
    _check_root(m, "scatter", root)

    def given():
        if m.rank != root:
            return un.zeros(0), None
        if x is None:
            raise TypeError("scatter: the root gives an array; got None")
        host = x.to_device("cpu") if _is_spread(x) else un.asarray(x, device="cpu")
        return host, None if host.ndim else host.item()

    host, everyone = by_parts(m, "scatter", given)
    shape, dtype, value = everyone[root]
    if not shape:
        return un.full((), value, dtype=dtype, mesh=m)
    part = host if m.rank == root else un.zeros((0, *shape[1:]), dtype=dtype)
    made = from_parts(m, part, 0, [shape[0] if r == root else 0 for r in range(m.size)])
    return made.to_layout("block" if layout is None else layout)


def gather(m, x, root=0):
    """All of a distributed array on one rank.

    Parameters
    ----------
    x : ndarray
        Distributed.
    root : int

    Returns
    -------
    ndarray or None
        An array of the host on rank `root`, None on the others.

    Raises
    ------
    TypeError
        If `x` is not distributed over this mesh.
    ValueError
        If there is no such rank.

    Examples
    --------
    >>> import unisono as un
    >>> m = un.mesh("mpi")
    >>> whole = m.gather(un.arange(4, mesh=m))
    >>> None if whole is None else whole.tolist()
    [0, 1, 2, 3]
    """
    _check_root(m, "gather", root)
    if not _is_spread(x) or x.device != m:
        raise TypeError(
            f"gather: expected an array that is distributed over this mesh; got {type(x).__name__}"
            f"{f' on {x.device}' if isinstance(x, _engine._Array) else ''}"
        )
    sizes = tuple(x.shape[0] if r == root else 0 for r in range(m.size)) if x.ndim else ()
    part = (x.to_layout((sizes, *(None,) * (x.ndim - 1))) if x.ndim else x).local
    return un.asarray(part, copy=True) if m.rank == root else None


def _check_root(m, what, root):
    if not 0 <= root < m.size:
        raise ValueError(f"{what}: root is a rank; got {root}; expected 0 to {m.size - 1}")
