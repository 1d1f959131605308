"""``cuda.reduce``, Numba's decorator that makes a reduction over an array of a function of two elements."""

from __future__ import annotations

import numpy as np

from .. import empty
from .._engine import _Array
from .devices import to_device
from .launches import jit
from .words import blockIdx, grid, gridsize, shared, syncthreads, threadIdx

_THREADS = 128


class Reduce:
    """A reduction of arrays of one axis by `functor`, which is associative and commutative; a decorator.

    Parameters
    ----------
    functor : function
        Of two elements; compiles in kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from unisono import cuda
    >>> @cuda.reduce
    ... def largest(a, b):
    ...     return max(a, b)
    >>> int(largest(np.array([3, 8, 5])))
    8
    >>> total = cuda.reduce(lambda a, b: a + b)
    >>> float(total(np.arange(5.0), init=1))
    11.0
    """

    def __init__(self, functor):
        self._functor = functor
        self._kernel = _kernel(jit(functor, device=True))

    def __call__(self, arr, size=None, res=None, init=0, stream=0):
        """The elements of `arr` combined.

        Parameters
        ----------
        arr : array of one axis
        size : int, optional
            How many of the elements count; all by default.
        res : array, optional
            Its first element gets the result, which is not returned then.
        init : number, default 0
            Is combined with the elements, too.
        stream : Stream, optional

        Returns
        -------
        number of the dtype of `arr`, or None
        """
        if arr.ndim != 1:
            raise TypeError(
                f"cuda.reduce: takes arrays of one axis; got one of {arr.ndim}; use a.ravel()"
            )
        arr = arr if size is None else arr[:size]
        dtype = np.dtype(str(arr.dtype))
        init = dtype.type(init)
        if arr.size == 0:
            return init
        if not isinstance(arr, _Array) or arr.device == "cpu":
            arr = to_device(arr, stream=stream)
        blocks = min(-(-arr.size // _THREADS), _THREADS)
        partials = empty(blocks, dtype, device=arr.device)
        self._kernel[blocks, _THREADS, stream](arr, partials, init, blocks == 1)
        if blocks > 1:
            last = empty(1, dtype, device=arr.device)
            self._kernel[1, _THREADS, stream](partials, last, init, True)
            partials = last
        if res is None:
            return partials.copy_to_host(stream=stream)[0]
        res[:1] = partials
        return None


def _kernel(combine):
    @jit
    def reduce_blocks(a, out, init, is_last):
        thread = threadIdx.x
        first = grid(1)
        values = shared.array(_THREADS, a.dtype)
        if first < a.size:
            value = a[first]
            for i in range(first + gridsize(1), a.size, gridsize(1)):
                value = combine(value, a[i])
            values[thread] = value
        syncthreads()
        present = a.size - blockIdx.x * _THREADS
        half = _THREADS // 2
        while half > 0:
            if thread < half and thread + half < present:
                values[thread] = combine(values[thread], values[thread + half])
            syncthreads()
            half //= 2
        if thread == 0:
            out[blockIdx.x] = combine(init, values[0]) if is_last else values[0]

    return reduce_blocks


reduce = Reduce
