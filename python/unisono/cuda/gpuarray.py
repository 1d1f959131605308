"""``pycuda.gpuarray``: arrays of the current device with PyCUDA's names; they are arrays of `unisono`."""

from __future__ import annotations

import operator

import numpy as np

import unisono as un

from .. import _engine
from .._arrays.lifted import OPERATORS, OTHERS, lift
from . import vec
from ._allocations import block_of, flat_of, found, memory_device, on_stream, size_of
from ._textures import dtype_to_array_format

_all = all  # names of functions below
__all__ = [
    "GPUArray", "all", "any", "arange", "concatenate", "dot", "empty", "empty_like", "if_positive", "logical_and",
    "logical_not", "logical_or", "max", "maximum", "min", "minimum", "multi_put", "multi_take", "ones", "ones_like",
    "reshape", "stack", "subset_dot", "subset_max", "subset_min", "subset_sum", "sum", "take", "to_gpu", "to_gpu_async",
    "transpose", "vec", "where", "zeros", "zeros_like",
]  # fmt: skip


def _lifted(result):
    """The result of a statement as a GPUArray."""
    if result is NotImplemented:
        return result
    if not isinstance(result, _engine._Array):
        result = un.asarray(result, device=memory_device())
    return result._as_type(GPUArray)


class GPUArray(_engine.ndarray):
    """An array of a device: a `unisono.ndarray` with PyCUDA's attributes, too.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype
    allocator : callable, optional
        Gives a `DeviceAllocation` for a number of bytes; by default the engine's memory.
    base : object, optional
        Without effect: memory is kept as long as it is used.
    gpudata : DeviceAllocation, array or int, optional
        The memory.
    strides : tuple of int, optional
        In bytes.
    order : {"C", "F"}

    Examples
    --------
    >>> import numpy as np
    >>> from unisono.cuda import gpuarray
    >>> a = gpuarray.to_gpu(np.arange(4, dtype=np.float32))
    >>> (2 * a + 1).get()
    array([1., 3., 5., 7.], dtype=float32)
    >>> type(a + a).__name__
    'GPUArray'
    """

    _lifts_itself = True

    def __new__(
        cls, shape, dtype=float, allocator=None, base=None, gpudata=None, strides=None, order="C"
    ):  # fmt: skip
        shape = _shape(shape)
        dtype = np.dtype(dtype)
        if gpudata is None and allocator is not None and size_of(shape):
            gpudata = allocator(size_of(shape) * dtype.itemsize)
        if gpudata is None:
            if strides is not None:
                order = "F" if len(shape) > 1 and strides[0] < strides[-1] else "C"
            return un.empty(shape, str(dtype), order=order, device=memory_device())._as_type(cls)
        block, offset = found(gpudata, "GPUArray: gpudata")
        flat = block.typed(dtype.name, offset)
        if strides is not None:
            from ..lib.stride_tricks import as_strided

            made = as_strided(flat, shape, strides)._as_type(cls)
        else:
            made = flat[: size_of(shape)].reshape(shape, order=order)._as_type(cls)
        made._block = block, offset
        return made

    @property
    def gpudata(self):
        """The memory, as a `DeviceAllocation`; the array's elements follow each other."""
        block, offset = self._memory()
        return block if offset == 0 else int(block) + offset

    @property
    def ptr(self):
        """The address of the memory."""
        block, offset = self._memory()
        return int(block) + offset

    def _memory(self):
        found = self.__dict__.get("_block")
        if found is None:
            found = self._block = block_of(self), 0
        return found

    @property
    def mem_size(self):
        """Number of elements."""
        return self.size

    allocator = None

    # ---- copies
    def get(self, ary=None, pagelocked=False, async_=False, stream=None, **ignored):
        """A NumPy array with a copy of the elements, or `ary` filled with them."""
        if ary is None:
            order = "F" if self.flags.f_contiguous and self.ndim > 1 else "C"
            ary = np.empty(tuple(self.shape), str(self.dtype), order)
        elif tuple(ary.shape) != tuple(self.shape) or ary.dtype != self.dtype:
            raise ValueError(
                f"get: the arrays differ; got one of {ary.dtype} and shape {tuple(ary.shape)}; expected {self.dtype} and "
                f"{tuple(self.shape)}"
            )
        ary[...] = self.to_device("cpu")
        return ary

    def get_async(self, stream=None, ary=None):
        """As `get`: it waits."""
        return self.get(ary)

    def set(self, ary, async_=False, stream=None, **ignored):
        """Copy an array of the same size and dtype into this one."""
        if ary.size != self.size or ary.dtype != self.dtype:
            raise ValueError(
                f"set: the arrays differ; got {ary.size} elements of {ary.dtype}; expected {self.size} of {self.dtype}"
            )
        given = ary if tuple(ary.shape) == tuple(self.shape) else ary.reshape(tuple(self.shape))
        with on_stream(stream):
            self[...] = given

    def set_async(self, ary, stream=None):
        """`set` behind what a stream was given."""
        self.set(ary, stream=stream)

    def fill(self, value, stream=None):
        """Set all elements; gives the array itself."""
        with on_stream(stream):
            self[...] = value
        return self

    # ---- statements
    def bind_to_texref(self, texref, allow_offset=False):
        """Let a texture read the elements; returns 0, the byte of the first one."""
        return texref.set_address(self.gpudata, self.nbytes, allow_offset)

    def bind_to_texref_ext(
        self, texref, channels=1, allow_double_hack=False, allow_complex_hack=False, allow_offset=False
    ):  # fmt: skip
        """`bind_to_texref`, for elements of this dtype."""
        texref.set_format(dtype_to_array_format(self.dtype), channels)
        return self.bind_to_texref(texref, allow_offset)

    def mul_add(self, selffac, other, otherfac, add_timer=None, stream=None, out=None):
        """``selffac * self + otherfac * other``."""
        with on_stream(stream):
            made = self * selffac + other * otherfac
            return _stored(made, out)

    def reverse(self, stream=None):
        """The elements from the last to the first."""
        return self[::-1].copy()

    def astype(self, dtype, stream=None, copy=True):
        """A copy as another dtype."""
        return _lifted(super().astype(str(np.dtype(dtype))))

    def copy(self, order="K"):
        """A copy, which keeps the order of the axes in memory."""
        is_f = (
            order in "KA"
            and self.ndim > 1
            and self.flags.f_contiguous
            and not self.flags.c_contiguous
        )
        return _lifted(super().copy("F" if is_f or order == "F" else "C"))

    def transpose(self, axes=None):
        """A view with the axes in another order."""
        return _lifted(super().transpose(axes) if axes is not None else super().transpose())

    def conj(self, out=None):
        """The complex conjugate."""
        made = _lifted(super().conj())
        if out is None:
            return made
        out[...] = made
        return out

    def __getitem__(self, index):
        # A number for each axis gives an array without axes, over the same memory.
        indices = index if isinstance(index, tuple) else (index,)
        if len(indices) == self.ndim and _all(isinstance(k, (int, np.integer)) for k in indices):
            index = (*indices, Ellipsis)
        return _lifted(super().__getitem__(index))

    def view(self, dtype=None):
        """The same memory as another dtype."""
        return _lifted(super().view(str(np.dtype(dtype or self.dtype))))

    def reshape(self, *shape, order="C"):
        """The same memory in another shape, whose axes follow each other in it by `order`."""
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        if order == "A":
            order = "F" if self.flags.f_contiguous and not self.flags.c_contiguous else "C"
        return _lifted(_engine.ndarray.reshape(flat_of(self), tuple(shape), order=order))

    def ravel(self):
        """The elements in the order of the memory."""
        return _lifted(flat_of(self))

    @property
    def real(self):
        """The real parts: a copy of complex arrays, as PyCUDA's."""
        made = super().real
        return _lifted(_engine.ndarray.copy(made) if self.dtype.kind == "c" else made)

    @property
    def imag(self):
        """The imaginary parts, a copy."""
        return _lifted(_engine.ndarray.copy(super().imag))

    def dot(self, other):
        """The sum of products, as an array without axes."""
        return dot(self, other)

    def __hash__(self):
        raise TypeError("GPUArray: arrays have no hash; got one as a key; use id()")


lift(
    GPUArray,
    [*OPERATORS, *OTHERS, *"squeeze conjugate take T any all sum max min".split()],
    lambda made, _: _lifted(made),
)


def _shape(shape):
    if isinstance(shape, np.ndarray):
        shape = shape.tolist()
    return (
        tuple(operator.index(n) for n in shape)
        if isinstance(shape, (tuple, list))
        else (operator.index(shape),)
    )


def _stored(made, out):
    if out is None:
        return made
    out[...] = made
    return out


# ---- creation
def to_gpu(ary, allocator=None):
    """Copy an array to the current device.

    Parameters
    ----------
    ary : numpy.ndarray
    allocator : callable, optional
        As of `GPUArray`.

    Returns
    -------
    GPUArray
        Of the array's shape, dtype and order.

    Examples
    --------
    >>> import numpy as np
    >>> from unisono.cuda import gpuarray
    >>> gpuarray.to_gpu(np.ones((2, 2))).get()
    array([[1., 1.],
           [1., 1.]])
    """
    ary = np.asarray(ary) if not isinstance(ary, _engine._Array) else ary
    order = "F" if ary.ndim > 1 and ary.flags.f_contiguous and not ary.flags.c_contiguous else "C"
    made = GPUArray(tuple(ary.shape), str(ary.dtype), allocator, order=order)
    made[...] = ary
    return made


def to_gpu_async(ary, allocator=None, stream=None):
    """`to_gpu` behind what a stream was given."""
    with on_stream(stream):
        return to_gpu(ary, allocator)


def empty(shape, dtype=np.float64, allocator=None, order="C"):
    """A GPUArray whose elements are undefined."""
    return GPUArray(shape, dtype, allocator, order=order)


def zeros(shape, dtype=np.float64, allocator=None, order="C"):
    """A GPUArray of zeros."""
    return GPUArray(shape, dtype, allocator, order=order).fill(0)


def ones(shape, dtype=np.float64, allocator=None, order="C"):
    """A GPUArray of ones."""
    return GPUArray(shape, dtype, allocator, order=order).fill(1)


def empty_like(other_ary, dtype=None, order="K"):
    """A GPUArray of another array's shape and dtype; its elements are undefined."""
    if order in "AK":
        is_f = (
            other_ary.ndim > 1 and other_ary.flags.f_contiguous and not other_ary.flags.c_contiguous
        )
        order = "F" if is_f else "C"
    return GPUArray(
        tuple(other_ary.shape), str(dtype and np.dtype(dtype) or other_ary.dtype), order=order
    )


def zeros_like(other_ary, dtype=None, order="K"):
    """`empty_like`, filled with zeros."""
    return empty_like(other_ary, dtype, order).fill(0)


def ones_like(other_ary, dtype=None, order="K"):
    """`empty_like`, filled with ones."""
    return empty_like(other_ary, dtype, order).fill(1)


def arange(*args, **kwargs):
    """As NumPy's, on the current device.

    Examples
    --------
    >>> from unisono.cuda import gpuarray
    >>> gpuarray.arange(1, 4, dtype="float32").get()
    array([1., 2., 3.], dtype=float32)
    """
    kwargs.pop("stream", None)
    return to_gpu(np.arange(*args, **kwargs))


# ---- functions
def take(a, indices, out=None, stream=None):
    """The elements at indices."""
    with on_stream(stream):
        return _stored(_lifted(un.take(a, indices)), out)


def multi_take(arrays, indices, out=None, stream=None):
    """A list of `take` of arrays."""
    return [take(a, indices, None if out is None else out[k], stream) for k, a in enumerate(arrays)]


def multi_put(arrays, dest_indices, dest_shape=None, out=None, stream=None):
    """A list of arrays in which elements of the given ones stand at indices."""
    made = []
    with on_stream(stream):
        for k, a in enumerate(arrays):
            to = zeros(dest_shape or a.shape, str(a.dtype)) if out is None else out[k]
            to[dest_indices] = a
            made.append(to)
    return made


def concatenate(arrays, axis=0, allocator=None):
    """One array of several along an axis."""
    return _lifted(un.concatenate(arrays, axis=axis))


def stack(arrays, axis=0, allocator=None):
    """One array of several along a new axis."""
    return _lifted(un.stack(arrays, axis=axis))


def transpose(a, axes=None):
    """A view with the axes in another order."""
    return _lifted(a).transpose(axes)


def reshape(a, *shape, order="C"):
    """As `GPUArray.reshape`."""
    return _lifted(a).reshape(*shape, order=order)


def if_positive(criterion, then_, else_, out=None, stream=None):
    """Elements of `then_` where the criterion is positive, of `else_` elsewhere."""
    if not tuple(criterion.shape) == tuple(then_.shape) == tuple(else_.shape):
        raise ValueError(
            f"if_positive: the shapes differ; got {tuple(criterion.shape)}, {tuple(then_.shape)} and {tuple(else_.shape)}"
        )
    if then_.dtype != else_.dtype:
        raise ValueError(
            f"if_positive: the dtypes differ; got {then_.dtype} and {else_.dtype}; convert one"
        )
    with on_stream(stream):
        return _stored(_lifted(un.where(un.asarray(criterion) > 0, then_, else_)), out)


def where(criterion, then_, else_, out=None, stream=None):
    """Elements of `then_` where the criterion is not zero, of `else_` elsewhere."""
    with on_stream(stream):
        return _stored(_lifted(un.where(criterion != 0, then_, else_)), out)


def _binary(function, name, doc):
    def made(a, b, out=None, stream=None, allocator=None):
        with on_stream(stream):
            return _stored(_lifted(function(a, b)), out)

    made.__name__ = made.__qualname__ = name
    made.__doc__ = doc
    return made


minimum = _binary(lambda a, b: un.minimum(a, b), "minimum", "The smaller of two elements each.")
maximum = _binary(lambda a, b: un.maximum(a, b), "maximum", "The larger of two elements each.")
logical_and = _binary(
    lambda a, b: un.logical_and(a, b), "logical_and", "Whether both elements are true."
)
logical_or = _binary(
    lambda a, b: un.logical_or(a, b), "logical_or", "Whether one of the elements is true."
)


def logical_not(x, /, out=None, *, allocator=None):
    """Whether an element is zero."""
    return _stored(_lifted(un.logical_not(x)), out)


# ---- reductions: arrays without axes
def sum(a, dtype=None, stream=None, allocator=None):
    """The sum of all elements, an array without axes.

    Examples
    --------
    >>> from unisono.cuda import gpuarray
    >>> int(gpuarray.sum(gpuarray.arange(5)).get())
    10
    """
    with on_stream(stream):
        return _lifted(un.sum(a, dtype=str(np.dtype(dtype or str(a.dtype)))))


def any(a, stream=None, allocator=None):
    """Whether an element is true, an array without axes."""
    return _lifted(un.any(a))


def all(a, stream=None, allocator=None):
    """Whether all elements are true, an array without axes."""
    return _lifted(un.all(a))


def dot(a, b, dtype=None, stream=None, allocator=None):
    """The sum of the products of elements, an array without axes."""
    with on_stream(stream):
        kind = str(np.dtype(dtype)) if dtype is not None else str(un.result_type(a, b))
        return _lifted(un.sum(a.reshape(-1) * b.reshape(-1), dtype=kind))


def max(a, stream=None):
    """The largest element, an array without axes."""
    return _lifted(un.max(a))


def min(a, stream=None):
    """The smallest element, an array without axes."""
    return _lifted(un.min(a))


def _of_subset(function, name):
    def made(subset, a, *rest, **options):
        options.pop("allocator", None)
        return function(_lifted(a)[subset], *(_lifted(r)[subset] for r in rest), **options)

    made.__name__ = made.__qualname__ = f"subset_{name}"
    made.__doc__ = f"`{name}` of the elements at the indices of `subset`."
    return made


subset_sum, subset_dot = _of_subset(sum, "sum"), _of_subset(dot, "dot")
subset_max, subset_min = _of_subset(max, "max"), _of_subset(min, "min")
