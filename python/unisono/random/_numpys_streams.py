"""Distributions that NumPy draws from the stream of a generator of ours: its numbers, and its place in the stream behind them."""

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
    made = un.asarray(made, device="cpu")
    return made if made.ndim else made[()]


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
