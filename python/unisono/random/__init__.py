"""Random numbers with the methods of NumPy's Generator.

``un.random.default_rng(seed)`` draws NumPy's numbers (see `PCG64` for which distributions), the same for
any number of threads. The old names (`rand`, `randint`, `seed`, `RandomState`...) are there too, and after
``seed(n)`` give NumPy's numbers. In ``Generator(Philox(seed))`` each number follows from seed, stream
and element index alone.
"""

from ._generator import Generator, _Drawing
from ._legacy import *  # noqa: F403
from ._legacy import RandomState as RandomState
from ._legacy import _names
from ._seeds import MT19937 as MT19937
from ._seeds import PCG64 as PCG64
from ._seeds import BitGenerator
from ._seeds import CuRand as CuRand
from ._seeds import Philox as Philox
from ._seeds import SeedSequence as SeedSequence
from ._seeds import is_numpys as _is_numpys


def default_rng(seed=None):
    """A Generator over PCG64, as NumPy's function of that name.

    Parameters
    ----------
    seed : int, sequence of ints, SeedSequence, BitGenerator or Generator, optional
        The same seed gives the same numbers, those of NumPy; None takes one from the operating
        system. A bit generator is taken as it is: ``default_rng(Philox(5))``; so is a generator, also one of NumPy's.

    Returns
    -------
    Generator

    Raises
    ------
    TypeError
        If `seed` is of another type.

    Examples
    --------
    >>> import unisono as un
    >>> a, b = un.random.default_rng(5), un.random.default_rng(5)
    >>> bool((a.random(9) == b.random(9)).all())
    True
    >>> float(un.random.default_rng(0).random())
    0.6369616873214543
    """
    if isinstance(seed, (Generator, RandomState)) and not issubclass(type(seed), _Drawing):
        import numpy  # whose generator it is

        return numpy.random.default_rng(seed)
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, RandomState):  # draws on from its stream
        return Generator(seed.bit_generator)
    is_made = isinstance(seed, BitGenerator) or _is_numpys(seed)
    return Generator(seed if is_made else PCG64(seed))


_numpys = ("PCG64DXSM", "SFC64")
_numpys_text = """NumPy's own {0}; a generator over it is NumPy's, too, and so are the arrays that it draws.

    Parameters
    ----------
    seed : int, sequence of int, or SeedSequence, optional

    Raises
    ------
    ValueError
        If the seed is negative.

    Examples
    --------
    >>> import unisono as un
    >>> rng = un.random.Generator(un.random.{0}(5))
    >>> rng.random(3).shape
    (3,)
    """


def __dir__():
    return sorted({*globals(), *_numpys})


def _with_our_seeds(kind):
    """A bit generator of NumPy's that takes seed sequences of ours."""
    import numpy

    def __init__(self, seed=None):
        if isinstance(seed, SeedSequence):
            of_numpy = numpy.random.SeedSequence
            seed = of_numpy(seed.entropy, spawn_key=seed.spawn_key, pool_size=seed.pool_size)
        kind.__init__(self, seed)

    text = _numpys_text.format(kind.__name__)
    made = type(
        kind.__name__, (kind,), {"__init__": __init__, "__module__": __name__, "__doc__": text}
    )
    globals()[kind.__name__] = made
    return made


def __getattr__(name):
    if name == "mtrand":  # NumPy's module of the old interface
        from importlib import import_module

        return import_module(".mtrand", __name__)
    if name in _numpys:  # NumPy's own, as is a generator over them
        import numpy

        return _with_our_seeds(getattr(numpy.random, name))
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


__all__ = [
    *(
        "BitGenerator CuRand Generator MT19937 PCG64 Philox RandomState SeedSequence default_rng".split()
    ),
    *_names,
]
