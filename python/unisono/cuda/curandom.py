"""``pycuda.curandom``: random numbers of the current device, by `unisono.random`.

The numbers are those of `unisono.random.Generator`, not cuRAND's: the same on every device for one seed. The classes
have cuRAND's names for programs that use them; all draw from the same generator.
"""

from __future__ import annotations

import numpy as np

import unisono as un

from ._allocations import memory_device, on_stream
from .gpuarray import _lifted

__all__ = [
    "MRG32k3aRandomNumberGenerator", "ScrambledSobol32RandomNumberGenerator", "ScrambledSobol64RandomNumberGenerator",
    "Sobol32RandomNumberGenerator", "Sobol64RandomNumberGenerator", "XORWOWRandomNumberGenerator", "get_curand_version",
    "rand", "seed_getter_unique", "seed_getter_uniform",
]  # fmt: skip


def get_curand_version():
    """Version of cuRAND whose names these are."""
    return (10, 0, 0)


def seed_getter_uniform(n):
    """`n` times one random seed."""
    return un.full(n, int(np.random.randint(0, 2**31 - 1)), "int32")


def seed_getter_unique(n):
    """`n` random seeds."""
    return un.asarray(np.random.randint(0, 2**31 - 1, n).astype(np.int32))


class XORWOWRandomNumberGenerator:
    """Draws random numbers on the current device.

    Parameters
    ----------
    seed_getter : callable, optional
        Gives an array of seeds for a count, of which the first one is used.
    offset : int
        Chooses another stream of numbers of the seed.

    Examples
    --------
    >>> from unisono.cuda.curandom import XORWOWRandomNumberGenerator, seed_getter_uniform
    >>> x = XORWOWRandomNumberGenerator(seed_getter_uniform).gen_uniform(1000, "float32")
    >>> bool((x.get() < 1).all())
    True
    """

    generators_per_block = 1

    def __init__(self, seed_getter=None, offset=0, **ignored):
        seed = None
        if callable(seed_getter):
            seed = [int(np.asarray(seed_getter(1)).reshape(-1)[0]) & 0xFFFFFFFF, int(offset)]
        self._generator = un.random.default_rng(seed)

    def _draw(self, method, shape, dtype, stream, *args):
        dtype = np.dtype(dtype)
        shape = shape if isinstance(shape, (tuple, list)) else (int(shape),)
        place = memory_device() if method in ("random", "standard_normal") else "cpu"
        with on_stream(stream), un.device(place):
            if method in ("random", "standard_normal"):
                if dtype.kind != "f":
                    if method != "random" or dtype.kind not in "iu":
                        raise NotImplementedError(
                            f"{type(self).__name__}: numbers of {dtype} are not drawn; use float32"
                        )
                    limits = np.iinfo(dtype)
                    made = self._generator.integers(
                        limits.min, limits.max, shape, str(dtype), endpoint=True
                    )
                else:
                    made = getattr(self._generator, method)(shape, str(dtype))
            else:
                made = getattr(self._generator, method)(*args, shape).astype(str(dtype))
            if made.device != memory_device():
                made = made.to_device(memory_device())
        return _lifted(made)

    def gen_uniform(self, shape, dtype, stream=None):
        """A new array of numbers from 0 to below 1, or of all values of an integer dtype."""
        return self._draw("random", shape, dtype, stream)

    def gen_normal(self, shape, dtype, stream=None):
        """A new array of normally distributed numbers."""
        return self._draw("standard_normal", shape, dtype, stream)

    def gen_log_normal(self, shape, dtype, mean, stddev, stream=None):
        """A new array of numbers whose logarithm is normally distributed."""
        return self._draw("lognormal", shape, dtype, stream, mean, stddev)

    def gen_poisson(self, shape, dtype, lambda_value, stream=None):
        """A new array of Poisson distributed numbers."""
        return self._draw("poisson", shape, dtype, stream, lambda_value)

    def fill_uniform(self, data, stream=None):
        """`gen_uniform` into an array."""
        data[...] = self.gen_uniform(tuple(data.shape), str(data.dtype), stream)

    def fill_normal(self, data, stream=None):
        """`gen_normal` into an array."""
        data[...] = self.gen_normal(tuple(data.shape), str(data.dtype), stream)

    def fill_log_normal(self, data, mean, stddev, stream=None):
        """`gen_log_normal` into an array."""
        data[...] = self.gen_log_normal(tuple(data.shape), str(data.dtype), mean, stddev, stream)

    def fill_poisson(self, data, lambda_value=None, stream=None):
        """`gen_poisson` into an array, whose elements are the rates where none is given."""
        if lambda_value is None:
            rates = np.asarray(data.get(), float)
            made = self._generator.poisson(rates, rates.shape).astype(str(data.dtype))
            data[...] = made.to_device(data.device)
            return
        data[...] = self.gen_poisson(tuple(data.shape), str(data.dtype), lambda_value, stream)


def _named(name):
    return type(
        name, (XORWOWRandomNumberGenerator,), {"__doc__": "As `XORWOWRandomNumberGenerator`."}
    )


MRG32k3aRandomNumberGenerator = _named("MRG32k3aRandomNumberGenerator")
Sobol32RandomNumberGenerator = _named("Sobol32RandomNumberGenerator")
Sobol64RandomNumberGenerator = _named("Sobol64RandomNumberGenerator")
ScrambledSobol32RandomNumberGenerator = _named("ScrambledSobol32RandomNumberGenerator")
ScrambledSobol64RandomNumberGenerator = _named("ScrambledSobol64RandomNumberGenerator")


_shared = []


def rand(shape, dtype=np.float32, stream=None):
    """A GPUArray of random numbers from 0 to below 1.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : {float32, float64}

    Examples
    --------
    >>> from unisono.cuda.curandom import rand
    >>> rand((2, 3)).shape
    (2, 3)
    """
    if not _shared:
        _shared.append(XORWOWRandomNumberGenerator())
    return _shared[0].gen_uniform(shape, dtype, stream)
