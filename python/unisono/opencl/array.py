"""`pyopencl.array`: arrays on a device and functions of them, by the engine's own.

`Array` computes with statements that fuse, on the device's own queue or the one that the array is given.
"""

import operator

import numpy as np

from .. import _engine
from ._arrays import (
    Array,
    ArrayHasOffsetError,
    InconsistentOpenCLQueueWarning,
    is_computed,
    on_queue,
    operand,
    to_shape,
)
from ._objects.queues import CommandQueue
from .cltypes import vec_type_to_scalar_and_count


class DoubleDowncastWarning(UserWarning):
    """Never issued. Defined so that filters may name it."""


class _SameAsTransfer:
    """Stands for an argument that was not given."""


class vec:
    """The vector types, which are in `cltypes`."""

    def __getattr__(self, name):
        from . import cltypes

        return getattr(cltypes, name)


vec = vec()


def _un(name):
    import unisono

    return getattr(unisono, name)


def _compute(queue, like, name, *args, **options):
    """A function of unisono on arrays, as an Array."""
    values = [a._value() if isinstance(a, Array) else a for a in args]
    made = on_queue(queue or like.queue, _un(name), *values, **options)
    return like._like(made, queue)


def to_device(queue, ary, allocator=None, async_=None, array_queue=_SameAsTransfer):
    """A copy of an array of the host on the device.

    Parameters
    ----------
    queue : CommandQueue
    ary : numpy.ndarray
    allocator : callable, optional
        As for `Array`.
    array_queue : CommandQueue or None, optional
        On which the array computes, by default `queue`.

    Returns
    -------
    Array

    Raises
    ------
    RuntimeError
        If the elements are Python's objects.
    """
    ary = np.asarray(ary)
    if ary.dtype == object:
        raise RuntimeError(
            "to_device: elements are numbers, vectors or structs; got Python's objects"
        )
    if not isinstance(queue, CommandQueue):
        raise TypeError(f"to_device: expected a CommandQueue; got {type(queue).__name__}")
    name = queue.context._engine_name
    if allocator is None and name and is_computed(ary.dtype) and ary.size and ary.dtype.isnative:
        order = "F" if ary.flags.f_contiguous and not ary.flags.c_contiguous else "C"
        source = np.ascontiguousarray(ary.T if order == "F" else ary)
        x = on_queue(
            queue,
            _engine._asarray,
            source.reshape(ary.shape[::-1] if order == "F" else ary.shape),
            None,
            name,
            True,
        )
        made = Array._of(x.T if order == "F" else x, queue, queue.context)
    else:
        order = "F" if ary.flags.f_contiguous and not ary.flags.c_contiguous else "C"
        # NumPy's newbyteorder forgets the second names of fields, such as those of vectors.
        dtype = ary.dtype if ary.dtype.isnative else ary.dtype.newbyteorder("=")
        made = Array(queue, ary.shape, dtype, order, allocator)
        made.set(ary.astype(made.dtype, copy=False), queue)
    return made if array_queue is _SameAsTransfer else made.with_queue(array_queue)


def empty(queue, shape, dtype, order="C", allocator=None):
    """An array with anything in it."""
    return Array(queue, shape, dtype, order, allocator)


def zeros(queue, shape, dtype, order="C", allocator=None):
    """An array of zeros."""
    dtype, name = np.dtype(dtype), queue.context._engine_name
    if allocator is None and name and is_computed(dtype) and order == "C":
        x = on_queue(queue, _engine._full, to_shape(shape), 0, str(dtype), name)
        return Array._of(x, queue, queue.context)
    made = Array(queue, shape, dtype, order, allocator)
    return made.fill(np.zeros((), dtype)[()])


def empty_like(ary, queue=None, allocator=None):
    """An array with anything in it, of the shape, dtype and order of another."""
    order = "F" if ary.flags.f_contiguous and not ary.flags.c_contiguous else "C"
    return Array(
        queue or ary.queue or ary.context, ary.shape, ary.dtype, order, allocator or ary.allocator
    )


def zeros_like(ary):
    """An array of zeros, of the shape, dtype and order of another."""
    return empty_like(ary).fill(np.zeros((), ary.dtype)[()])


def arange(queue, *args, **kwargs):
    """Numbers from `start` on, as numpy.arange: `dtype` has to be given.

    Parameters
    ----------
    queue : CommandQueue
    start, stop, step : number
    dtype : dtype
    allocator : callable, optional

    Returns
    -------
    Array
    """
    if len(args) > 5:
        raise TypeError("arange: expected at most start, stop, step and dtype")
    dtype, allocator = kwargs.pop("dtype", None), kwargs.pop("allocator", None)
    args = list(args)
    if args and not isinstance(args[-1], (int, float, np.number)):
        dtype = args.pop()
    start, stop, step = (
        kwargs.pop("start", None),
        kwargs.pop("stop", None),
        kwargs.pop("step", None),
    )
    if kwargs:
        raise TypeError(f"arange: unknown arguments: {', '.join(kwargs)}")
    if len(args) == 1 and stop is None:
        stop = args[0]
    else:
        start, stop, step = [*args, *[start, stop, step][len(args) :]][:3]
    start, step = 0 if start is None else start, 1 if step is None else step
    if stop is None or dtype is None:
        raise TypeError("arange: stop and dtype have to be given")
    made = on_queue(
        queue,
        lambda: _un("arange")(start, stop, step, device=queue.context._engine_name).astype(
            str(np.dtype(dtype))
        ),
    )
    made = Array._of(made, queue, queue.context, allocator)
    if allocator is None:
        return made
    other = Array(queue, made.shape, made.dtype, allocator=allocator)
    other[...] = made
    return other


def take(a, indices, out=None, queue=None, wait_for=None):
    """Elements of an array of one axis at positions."""
    if a._x is None and a.size:
        from .elementwise import ElementwiseKernel
        from .tools import dtype_to_c_struct, dtype_to_ctype

        kind = dtype_to_ctype(a.dtype)
        is_struct = a.dtype not in vec_type_to_scalar_and_count
        kernel = ElementwiseKernel(
            a.context,
            f"{kind} *z, {kind} *x, {dtype_to_ctype(indices.dtype)} *at",
            "z[i] = x[at[i]]",
            name="take",
            preamble=dtype_to_c_struct(a.context.devices[0], a.dtype) if is_struct else "",
        )
        made = Array(queue or a.queue, indices.shape, a.dtype) if out is None else out
        kernel(made, a, indices, queue=queue or a.queue)
        return made
    made = _compute(queue, a, "take", a, indices)
    return _into(out, made)


def _into(out, made):
    if out is None:
        return made
    out[...] = made.astype(out.dtype) if made.dtype != out.dtype else made
    return out


def multi_take(arrays, indices, out=None, queue=None):
    """The same positions of several arrays."""
    outs = out or [None] * len(arrays)
    return [take(a, indices, o, queue) for a, o in zip(arrays, outs, strict=True)]


def multi_take_put(
    arrays, dest_indices, src_indices, dest_shape=None, out=None, queue=None, src_offsets=None
):
    """For several arrays: elements at `src_indices`, put at `dest_indices`."""
    made = []
    for k, a in enumerate(arrays):
        dest = Array(queue or a.queue, dest_shape, a.dtype) if out is None else out[k]
        at = src_indices if src_offsets is None else src_indices + src_offsets[k]
        dest[dest_indices] = a[at]
        made.append(dest)
    return made


def multi_put(
    arrays, dest_indices, dest_shape=None, out=None, queue=None, wait_for=None, use_fill=None
):
    """For several arrays: their elements, put at `dest_indices`; where `use_fill` says so, their first element.

    As for `numpy.put`, elements repeat where there are fewer of them than indices, and those behind are left out.
    """
    made = []
    fills = [False] * len(arrays) if use_fill is None else [bool(f) for f in _host(use_fill)]
    for k, a in enumerate(arrays):
        dest = zeros(queue or a.queue, dest_shape, a.dtype) if out is None else out[k]
        dest[dest_indices] = a[0] if fills[k] else _repeated(a, dest_indices.size)
        made.append(dest)
    return made


def _repeated(a, count):
    """The first elements, from the begin again where there are fewer."""
    if a.size == count or not a.size:
        return a
    if a.size > count:
        return a.ravel()[:count]
    return take(a.ravel(), arange(a.queue, count, dtype=np.int64) % a.size)


def _host(x):
    return x.get() if isinstance(x, Array) else np.asarray(x)


def concatenate(arrays, axis=0, queue=None, allocator=None):
    """Arrays one behind the other along an axis."""
    if not arrays:
        raise ValueError("concatenate: expected an array at least")
    first = arrays[0]
    made = on_queue(queue or first.queue, _un("concatenate"), [a._value() for a in arrays], axis)
    return first._like(made, queue)


def hstack(arrays, queue=None):
    """Arrays beside each other, along the second axis (the first of arrays that have one)."""
    if not arrays:
        raise ValueError("hstack: expected an array at least")
    return concatenate(arrays, 0 if arrays[0].ndim <= 1 else 1, queue)


def stack(arrays, axis=0, queue=None):
    """Arrays one behind the other along a new axis."""
    if not arrays:
        raise ValueError("stack: expected an array at least")
    first = arrays[0]
    if len({a.shape for a in arrays}) > 1:
        raise ValueError(f"stack: arrays have one shape; got {[a.shape for a in arrays]}")
    return first._like(
        on_queue(queue or first.queue, _un("stack"), [a._value() for a in arrays], axis), queue
    )


def transpose(a, axes=None):
    """As ``a.transpose(axes)``."""
    return a.transpose(axes)


def reshape(a, shape):
    """As ``a.reshape(shape)``."""
    return a.reshape(shape)


def as_strided(ary, shape=None, strides=None):
    """The same memory with another shape and other strides."""
    from ..lib.stride_tricks import as_strided as strided

    x = strided(
        ary._value(),
        ary.shape if shape is None else shape,
        ary.strides if strides is None else strides,
    )
    return ary._like(x)


def diff(array, queue=None, allocator=None):
    """Differences of neighbours of an array of one axis."""
    if array.ndim != 1:
        raise ValueError(f"diff: expected one axis; got shape {array.shape}")
    return array[1:] - array[:-1]


def if_positive(criterion, then_, else_, out=None, queue=None):
    """Elements of `then_` where `criterion` is above 0, else of `else_`."""
    for value in (then_, else_):
        if (
            isinstance(value, Array)
            and isinstance(criterion, Array)
            and value.shape not in (criterion.shape, ())
        ):
            raise ValueError(f"if_positive: shapes differ; got {criterion.shape} and {value.shape}")
    if isinstance(then_, Array) and isinstance(else_, Array) and then_.dtype != else_.dtype:
        raise ValueError(f"if_positive: dtypes differ; got {then_.dtype} and {else_.dtype}")
    if not isinstance(criterion, Array):
        made = then_ if criterion > 0 else else_
        return _into(out, made if not isinstance(made, Array) else made.copy())
    made = _compute(queue, criterion, "where", criterion > 0, operand(then_), operand(else_))
    return _into(out, made)


def _pairwise(name, a, b, out, queue):
    first = a if isinstance(a, Array) else b
    if not isinstance(first, Array):
        return getattr(np, name)(a, b)
    return _into(out, _compute(queue, first, name, operand(a), operand(b)))


def maximum(a, b, out=None, queue=None):
    """The greater ones of pairs of elements."""
    return _pairwise("maximum", a, b, out, queue)


def minimum(a, b, out=None, queue=None):
    """The smaller ones of pairs of elements."""
    return _pairwise("minimum", a, b, out, queue)


def _logical(name, out, queue, *args):
    first = next((a for a in args if isinstance(a, Array)), None)
    if first is None:
        return np.int8(getattr(np, name)(*args))
    truths = [a._value() != 0 if isinstance(a, Array) else bool(a) for a in args]
    made = on_queue(queue or first.queue, {"logical_and": operator.and_, "logical_or": operator.or_,
                                           "logical_not": operator.invert}[name], *truths)  # fmt: skip
    return _into(out, first._like(made.astype("int8"), queue))


def logical_and(x1, x2, /, out=None, queue=None):
    """Whether both elements are not zero, as int8."""
    return _logical("logical_and", out, queue, x1, x2)


def logical_or(x1, x2, /, out=None, queue=None):
    """Whether one of the elements is not zero, as int8."""
    return _logical("logical_or", out, queue, x1, x2)


def logical_not(x, /, out=None, queue=None):
    """Whether the element is zero, as int8."""
    return _logical("logical_not", out, queue, x)


def _part(a, slice):
    return a if slice is None else a.reshape(-1)[slice]


def sum(a, dtype=None, queue=None, slice=None, initial=np._NoValue):
    """Sum of all elements, an Array without axes."""
    a = _part(a, slice)
    dtype = np.dtype(a.dtype if dtype is None else dtype)
    made = _compute(queue, a, "sum", a, dtype=str(dtype))
    return made if initial is np._NoValue else made + dtype.type(initial)


def any(a, queue=None, wait_for=None):
    """Whether an element is not zero, as an int8."""
    return a.any(queue)


def all(a, queue=None, wait_for=None):
    """Whether no element is zero, as an int8."""
    return a.all(queue)


def _extreme(name):
    def f(a, queue=None, initial=np._NoValue, slice=None):
        part = _part(a, slice)
        if not part.size:
            if initial is np._NoValue:
                raise ValueError(f"{name}: an array without elements has none; pass initial=")
            return part._like(
                on_queue(
                    queue or a.queue,
                    _engine._full,
                    (),
                    initial,
                    str(a.dtype),
                    a._value().device.name,
                )
            )
        made = _compute(queue, part, name, part)
        if initial is np._NoValue:
            return made
        return _pairwise({"min": "minimum", "max": "maximum"}[name], made, initial, None, queue)

    f.__name__ = name
    f.__doc__ = f"The {'smallest' if name == 'min' else 'greatest'} element, an Array without axes."
    return f


min, max = _extreme("min"), _extreme("max")


def dot(a, b, dtype=None, queue=None, slice=None):
    """Sum of the products of pairs of elements, an Array without axes."""
    a, b = _part(a, slice), _part(b, slice)
    dtype = np.dtype(np.result_type(a.dtype, b.dtype) if dtype is None else dtype)
    return sum(a * b, dtype, queue)


def vdot(a, b, dtype=None, queue=None, slice=None):
    """As `dot`, of the conjugates of `a`."""
    return dot(a.conj(), b, dtype, queue, slice)


def subset_sum(subset, a, dtype=None, queue=None, slice=None):
    """Sum of the elements at positions."""
    return sum(take(a, _part(subset, slice), queue=queue), dtype, queue)


def subset_dot(subset, a, b, dtype=None, queue=None, slice=None):
    """As `dot`, of the elements at positions."""
    at = _part(subset, slice)
    return dot(take(a, at, queue=queue), take(b, at, queue=queue), dtype, queue)


def subset_min(subset, a, queue=None, slice=None):
    """The smallest one of the elements at positions."""
    return min(take(a, _part(subset, slice), queue=queue), queue)


def subset_max(subset, a, queue=None, slice=None):
    """The greatest one of the elements at positions."""
    return max(take(a, _part(subset, slice), queue=queue), queue)


def cumsum(a, output_dtype=None, queue=None, wait_for=None, return_event=False):
    """Sums of the elements up to each one, of an array of one axis."""
    dtype = np.dtype(a.dtype if output_dtype is None else output_dtype)
    made = _compute(queue, a, "cumsum", a, dtype=str(dtype))
    if return_event:
        from ._objects.queues import enqueue_marker

        return enqueue_marker(queue or a.queue), made
    return made
