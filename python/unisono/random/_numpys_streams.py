"""Streams as NumPy's code and compiled code draw from them.

Distributions that NumPy draws from the stream of a generator of ours: its numbers, and its place in the stream behind them.
"""

import collections
import functools
import threading

import unisono as un

_lock = threading.Lock()


def draw(generator, name, *args, **named):
    """Return what NumPy's method of that name draws from where the generator is; arrays are ours."""
    for a in args:
        if isinstance(a, un._engine._Array):
            generator._require_host(a.device)
    args = [a.to_numpy() if isinstance(a, un._engine._Array) else a for a in args]
    if generator._is_old:
        made = _draw_as_randomstate(generator, name, args, named)
    else:
        made = getattr(generator.bit_generator._numpys, name)(*args, **named)
    return made if type(made) in (int, float) else un.asarray(made, device="cpu")


@functools.cache
def _randomstate():
    import numpy

    return numpy.random.RandomState(0)


def _draw_as_randomstate(generator, name, args, named):
    """It keeps the second number of a pair of normal ones, which belongs to the state."""
    with _lock:
        theirs = _randomstate()
        theirs.set_state(generator.get_state())
        made = getattr(theirs, name)(*args, **named)
        generator.set_state(theirs.get_state())
    return made


# NumPy's names, by which compiled code finds the address (`numpy.random.BitGenerator.ctypes`).
_Interface = collections.namedtuple(
    "interface", "state_address state next_uint64 next_uint32 next_double bit_generator"
)


def interface_of(capsule):
    """What a capsule of NumPy's `bitgen_t` points to (numpy/random/bitgen.h), for ctypes."""
    import ctypes as c

    pointer_of = c.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = c.c_void_p, (c.py_object, c.c_char_p)
    address = pointer_of(capsule, b"BitGenerator")
    state, *functions = (c.c_void_p * 4).from_address(address)
    drawn = (c.c_uint64, c.c_uint32, c.c_double)
    made = [c.cast(f, c.CFUNCTYPE(t, c.c_void_p)) for f, t in zip(functions, drawn, strict=True)]
    return _Interface(state, c.c_void_p(state), *made, c.c_void_p(address))
