"""Random numbers in kernels with the names of ``numba.cuda.random``: one xoroshiro128+ generator for each thread.

Numbers are those of Numba's for a seed. States are an array of uint64 of two columns, where Numba has records of `s0` and
`s1`, since arrays of devices have no records.
"""

from __future__ import annotations

import math

import numpy as np

from .. import jit as _compiled
from .devices import to_device
from .launches import jit

__all__ = [
    "create_xoroshiro128p_states",
    "init_xoroshiro128p_states",
    "xoroshiro128p_jump",
    "xoroshiro128p_next",
    "xoroshiro128p_normal_float32",
    "xoroshiro128p_normal_float64",
    "xoroshiro128p_uniform_float32",
    "xoroshiro128p_uniform_float64",
]

_GOLDEN, _MIX = 0x9E3779B97F4A7C15, (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_JUMPS = (np.uint64(0xBEAC0467EBA5FACB), np.uint64(0xD86B048B86AA9922))
_TO_UNIT = 1.0 / 2**53
_TWO_PI, _TWO_PI32, _MINUS_TWO = 2 * math.pi, np.float32(2 * math.pi), np.float32(-2)


@jit(device=True)
def xoroshiro128p_next(states, index):
    """Next 64 random bits of generator `index` (inside of a kernel).

    Returns
    -------
    uint64
    """
    s0 = states[index, 0]
    s1 = states[index, 1]
    bits = s0 + s1
    s1 ^= s0
    states[index, 0] = ((s0 << np.uint64(55)) | (s0 >> np.uint64(9))) ^ s1 ^ (s1 << np.uint64(14))
    states[index, 1] = (s1 << np.uint64(36)) | (s1 >> np.uint64(28))
    return bits


@jit(device=True)
def xoroshiro128p_jump(states, index):
    """Advance generator `index` by 2**64 numbers (inside of a kernel)."""
    s0 = np.uint64(0)
    s1 = np.uint64(0)
    for word in range(2):
        jumps = _JUMPS[0] if word == 0 else _JUMPS[1]
        for bit in range(64):
            if jumps & (np.uint64(1) << np.uint64(bit)):
                s0 ^= states[index, 0]
                s1 ^= states[index, 1]
            xoroshiro128p_next(states, index)
    states[index, 0] = s0
    states[index, 1] = s1


@jit(device=True)
def xoroshiro128p_uniform_float64(states, index):
    """Next number in [0, 1) of generator `index`, of dtype float64 (inside of a kernel)."""
    return (xoroshiro128p_next(states, index) >> np.uint64(11)) * _TO_UNIT


@jit(device=True)
def xoroshiro128p_uniform_float32(states, index):
    """Next number in [0, 1] of generator `index`, of dtype float32 (inside of a kernel).

    Examples
    --------
    >>> from unisono import cuda
    >>> from unisono.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32
    >>> @cuda.jit
    ... def draw(states, out):
    ...     i = cuda.grid(1)
    ...     out[i] = xoroshiro128p_uniform_float32(states, i)
    >>> out = cuda.device_array(3, "float32")
    >>> draw[1, 3](create_xoroshiro128p_states(3, seed=1), out)
    >>> bool((out.copy_to_host() > 0).all())
    True
    """
    return np.float32((xoroshiro128p_next(states, index) >> np.uint64(11)) * _TO_UNIT)


@jit(device=True)
def xoroshiro128p_normal_float32(states, index):
    """Next number of the standard normal distribution, of dtype float32 (inside of a kernel)."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return np.sqrt(_MINUS_TWO * np.log(u1)) * np.cos(_TWO_PI32 * u2)


@jit(device=True)
def xoroshiro128p_normal_float64(states, index):
    """Next number of the standard normal distribution, of dtype float64 (inside of a kernel).

    It is made of two uniform numbers of float32, as Numba's.
    """
    u1 = np.float64(xoroshiro128p_uniform_float32(states, index))
    u2 = np.float64(xoroshiro128p_uniform_float32(states, index))
    return math.sqrt(-2.0 * math.log(u1)) * math.cos(_TWO_PI * u2)


@_compiled
def _fill(states, z, jumps):
    states[0, 0] = z
    states[0, 1] = z
    for _ in range(jumps):
        xoroshiro128p_jump(states, 0)
    for i in range(1, states.shape[0]):
        states[i, 0] = states[i - 1, 0]
        states[i, 1] = states[i - 1, 1]
        xoroshiro128p_jump(states, i)


def _made(n, seed, subsequence_start):
    states = np.empty((n, 2), np.uint64)
    if n:
        z = (int(seed) + _GOLDEN) % 2**64
        z = (z ^ (z >> 30)) * _MIX[0] % 2**64
        z = (z ^ (z >> 27)) * _MIX[1] % 2**64
        _fill(states, np.uint64(z ^ (z >> 31)), int(subsequence_start))
    return states


def create_xoroshiro128p_states(n, seed, subsequence_start=0, stream=0):
    """States of `n` generators on the current device, each 2**64 numbers behind the one before.

    Parameters
    ----------
    n : int
    seed : int
        The first 64 bits count.
    subsequence_start : int, default 0
        Number of the first generator among those of the seed.
    stream : Stream, optional

    Returns
    -------
    ndarray of uint64, shape (n, 2)
    """
    return to_device(_made(int(n), seed, subsequence_start), stream=stream)


def init_xoroshiro128p_states(states, seed, subsequence_start=0, stream=0):
    """Write new states into `states`, an array of `create_xoroshiro128p_states`; see there."""
    states.copy_to_device(_made(len(states), seed, subsequence_start), stream=stream)
