"""`pyopencl.clrandom`: random numbers on the device, from the engine's streams."""

import itertools

import numpy as np

from ._arrays import Array, on_queue, to_shape
from ._objects.c_types import dtype_to_ctype  # noqa: F401

_seeds = itertools.count()


class Random123GeneratorBase:
    """Draws numbers; each object has a stream of its own.

    Parameters
    ----------
    context : Context
    key, counter : list of int, optional
        Choose the stream.
    seed : int, optional
        Chooses the stream, if `key` is not given; by default a new one each time.
    """

    def __init__(self, context, key=None, counter=None, seed=None):
        import unisono

        if key is not None and seed is not None:
            raise TypeError(f"{type(self).__name__}: expected key or seed; got both")
        self.context = context
        if key is not None:
            seed = [int(k) & 0xFFFFFFFF for k in key] + [int(c) & 0xFFFFFFFF for c in counter or ()]
        elif seed is None:
            seed = [np.random.SeedSequence().entropy & 0xFFFFFFFFFFFF, next(_seeds)]
        else:
            seed = [int(seed) & 0xFFFFFFFFFFFFFFFF]
        number = 0
        for part in [*seed, self._salt]:
            number = (number * 0x9E3779B97F4A7C15 + part + 1) % (1 << 64)
        self._generator = unisono.random.Generator(unisono.random.Philox(number))

    _salt = 0

    def _draw(self, shape, dtype, a, b, normal):
        dtype = np.dtype(dtype)
        device, g = self.context._engine_name, self._generator
        if normal:
            kind = str(dtype) if dtype.kind == "f" else None
            if kind is None:
                raise TypeError(f"normal: expected a floating-point dtype; got {dtype}")
            return g.normal(a, b, shape, device=device).astype(kind)
        if dtype.kind == "f":
            drawn = g.random(
                shape, dtype=str(dtype) if dtype.itemsize > 2 else "float32", device=device
            )
            drawn = drawn.astype(str(dtype))
            return drawn if (a, b) == (0, 1) else dtype.type(a) + dtype.type(b - a) * drawn
        if dtype.kind in "iu":
            return g.integers(int(a), int(b), shape, dtype=str(dtype), device=device)
        raise TypeError(f"uniform: expected numbers; got {dtype}")

    def fill_uniform(self, ary, a=0, b=1, queue=None):
        """Set an array to numbers from `a` to `b`; the event of that."""
        return self._fill(ary, a, b, queue, False)

    def fill_normal(self, ary, mu=0, sigma=1, queue=None):
        """Set an array to normally distributed numbers; the event of that."""
        return self._fill(ary, mu, sigma, queue, True)

    def _fill(self, ary, a, b, queue, normal):
        from ._objects.queues import enqueue_marker

        ary[...] = self._make(queue or ary.queue, ary.shape, ary.dtype, a, b, normal)
        return enqueue_marker(queue or ary.queue)

    def uniform(self, queue, shape, dtype, a=0, b=1):
        """An array of numbers from `a` to `b`: of integers, without `b`."""
        return self._make(queue, shape, dtype, a, b, False)

    def normal(self, queue, shape, dtype, mu=0, sigma=1):
        """An array of normally distributed numbers."""
        return self._make(queue, shape, dtype, mu, sigma, True)

    def _make(self, queue, shape, dtype, a, b, normal):
        from .cltypes import vec_type_to_scalar_and_count

        dtype, shape = np.dtype(dtype), to_shape(shape)
        if dtype in vec_type_to_scalar_and_count:
            scalar, _ = vec_type_to_scalar_and_count[dtype]
            parts = self._make(
                queue, (*shape, dtype.itemsize // scalar.itemsize), scalar, a, b, normal
            )
            return Array(queue, shape, dtype, data=parts.base_data, offset=parts.offset)
        return Array._of(
            on_queue(queue, self._draw, to_shape(shape), dtype, a, b, normal), queue, self.context
        )


class PhiloxGenerator(Random123GeneratorBase):
    """The engine's streams of Philox."""


class ThreefryGenerator(Random123GeneratorBase):
    """The engine's streams of Philox, too, with keys of their own."""

    _salt = 0x7F


_generators = {}


def _generator_of(context):
    if context not in _generators:
        _generators[context] = PhiloxGenerator(context)
    return _generators[context]


def fill_rand(result, queue=None, a=0, b=1):
    """Set an array to numbers from `a` to `b`."""
    _generator_of(result.context).fill_uniform(result, a, b, queue)


def rand(queue, shape, dtype, luxury=None, a=0, b=1):
    """An array of numbers from `a` to `b`: of integers, without `b`."""
    if luxury is not None:
        import warnings

        warnings.warn("rand: luxury has no meaning", stacklevel=2)
    return _generator_of(queue.context).uniform(queue, shape, dtype, a, b)
