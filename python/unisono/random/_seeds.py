"""Seeds: NumPy's SeedSequence, and the bit generators that it feeds."""

import functools
import math
import operator
import os
import sys
import threading

from .. import _engine
from .._loaded import loaded
from . import _numpys_streams
from ._checks import _shape

_M32, _M128 = 0xFFFFFFFF, (1 << 128) - 1


def _words(value):
    """32-bit words of an integer or of a sequence of integers, the lowest first."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple, range)):
        return [w for v in value for w in _words(v)]
    value = operator.index(value)
    if value < 0:
        raise ValueError(f"seed: expected non-negative integers; got {value}")
    words = [value & _M32]
    while value := value >> 32:
        words.append(value & _M32)
    return words


class SeedSequence:
    """Turns a seed into well mixed words, exactly as NumPy's class of that name.

    Parameters
    ----------
    entropy : int or sequence of ints, optional
        The seed; from the operating system by default.
    spawn_key : sequence of ints
        Tells the children of one seed apart.
    pool_size : int
        Number of 32-bit words that are mixed.

    Examples
    --------
    >>> import unisono as un
    >>> un.random.SeedSequence(42).generate_state(2).tolist()
    [3444837047, 2669555309]
    """

    def __init__(self, entropy=None, *, spawn_key=(), pool_size=4, n_children_spawned=0):
        self.entropy = int.from_bytes(os.urandom(16), "little") if entropy is None else entropy
        self.spawn_key = tuple(spawn_key)
        self.pool_size = pool_size
        self.n_children_spawned = n_children_spawned
        words = _words(self.entropy)
        spawned = [w for key in self.spawn_key for w in _words(key)]
        if spawned and len(words) < pool_size:
            words += [0] * (pool_size - len(words))
        self._pool = self._mix(words + spawned)

    def __repr__(self):
        return f"SeedSequence(entropy={self.entropy}, spawn_key={self.spawn_key})"

    def _mix(self, words):
        constant = 0x43B0D7E5

        def hashed(value):
            nonlocal constant
            value ^= constant
            constant = constant * 0x931E8875 & _M32
            value = value * constant & _M32
            return value ^ value >> 16

        def mixed(x, y):
            value = (0xCA01F9DD * x - 0x4973F715 * y) & _M32
            return value ^ value >> 16

        n = self.pool_size
        pool = [hashed(words[k] if k < len(words) else 0) for k in range(n)]
        for k in range(n):
            for to in range(n):
                if k != to:
                    pool[to] = mixed(pool[to], hashed(pool[k]))
        for word in words[n:]:
            for to in range(n):
                pool[to] = mixed(pool[to], hashed(word))
        return pool

    def generate_state(self, n_words, dtype="uint32"):
        """`n_words` words of 32 or 64 bits, as an array of uint32 or uint64."""
        wide = str(getattr(dtype, "__name__", dtype)) == "uint64"
        words = self._words(n_words, wide)
        return _engine._array(words, "uint64" if wide else "uint32", "cpu", None)

    def _words(self, n_words, wide=False):
        constant, words = 0x8B51F9DD, []
        for k in range(n_words * (2 if wide else 1)):
            value = self._pool[k % self.pool_size] ^ constant
            constant = constant * 0x58F38DED & _M32
            value = value * constant & _M32
            words.append(value ^ value >> 16)
        if wide:
            words = [low | high << 32 for low, high in zip(words[::2], words[1::2], strict=True)]
        return words

    def spawn(self, n_children):
        """`n_children` sequences that are independent of this one and of each other."""
        first = self.n_children_spawned
        self.n_children_spawned += n_children
        return [
            SeedSequence(self.entropy, spawn_key=(*self.spawn_key, k), pool_size=self.pool_size)
            for k in range(first, first + n_children)
        ]


def _state_of(sequence, n_words, wide=False):
    """Words of a seed sequence as Python's numbers; NumPy's and those of a program give arrays of them."""
    if isinstance(sequence, SeedSequence):
        return sequence._words(n_words, wide)
    import numpy

    return sequence.generate_state(n_words, numpy.uint64 if wide else numpy.uint32).tolist()


class KnownAsNumpys:
    """Mixin: `isinstance` takes an instance for one of NumPy's class of the same name.

    Libraries over NumPy choose by it what to do with a generator, as scipy.stats with ``random_state=``.
    It stands apart from the methods, whose `super()` has a `__class__` of its own.
    """

    @property
    def __class__(self):
        kind = type(self)
        if kind.__module__.partition(".")[0] != "unisono":  # a derived class is itself
            return kind
        return getattr(sys.modules.get("numpy.random"), kind.__name__, kind)

    def __reduce__(self):
        return _made_again, (type(self),), self.__getstate__()


def _made_again(kind):
    return kind.__new__(kind)


class BitGenerator(KnownAsNumpys):
    """Base class of bit generators, made from a seed or a SeedSequence.

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
    >>> isinstance(un.random.Philox(1), un.random.BitGenerator)
    True
    """

    _stream = None  # of those that draw one number after the other

    def __init__(self, seed=None):
        self.seed_seq = seed if hasattr(seed, "generate_state") else SeedSequence(seed)

    @property
    def capsule(self):
        """What NumPy's generators draw from: ``numpy.random.Generator(un.random.PCG64(3))``."""
        if self._stream is None:
            raise AttributeError(
                f"{type(self).__name__}: NumPy and compiled code cannot draw from it; use PCG64 or MT19937"
            )
        return self._stream.capsule()

    @functools.cached_property
    def ctypes(self):
        """Addresses of the stream and of the functions that draw from it, as NumPy's: for compiled code."""
        return _numpys_streams.interface_of(self.capsule)

    @property
    def _seed_seq(self):  # NumPy's name; SciPy spawns generators by it
        return self.seed_seq

    @functools.cached_property
    def lock(self):
        """Held by NumPy while it draws."""
        return threading.Lock()

    @functools.cached_property
    def _numpys(self):
        """NumPy's generator, which draws what is not drawn here."""
        import numpy

        return numpy.random.Generator(self)

    def __getstate__(self):
        parts = {k: v for k, v in self.__dict__.items() if k not in ("lock", "_numpys", "ctypes")}
        if self._stream is not None:
            parts["_stream"] = self.state
        return parts

    def __setstate__(self, parts):
        stream = parts.pop("_stream", None)
        self.__dict__.update(parts)
        if stream is not None:
            self._stream = _engine._BitStream(type(self).__name__.lower())
            self.state = stream

    def spawn(self, n_children):
        """Independent bit generators of the same kind."""
        return [type(self)(child) for child in self.seed_seq.spawn(n_children)]

    def _raw(self, size, output, bits):
        """Numbers as the stream gives them, of so many bits, or None where they are only passed over."""
        drawn = self._stream.integers(False, 0, 2**bits - 1, _shape(size) or (), f"uint{bits}")
        if not output:
            return None
        return int(drawn) if size is None else drawn.astype("uint64", copy=False)

    def _moved(self, state):
        """A bit generator of the kind and the seed, in another state."""
        made = type(self)(self.seed_seq)
        made.state = state
        return made


def is_numpys(x):
    """Whether it is a bit generator of NumPy's own."""
    theirs = loaded("numpy.random")
    return theirs is not None and issubclass(type(x), theirs.BitGenerator)


def drawn_bools(stream, low, high, shape):
    """Truth values from `low` to `high` (included), as NumPy draws them: bit after bit of a word of 32."""
    n = math.prod(shape)
    if low == high:
        made = _engine._empty(shape, "bool", "cpu")
        made[...] = low
        return made
    words = stream.integers(False, 0, _M32, (-(-n // 32),), "uint32")
    bits = words.reshape(-1, 1) >> _engine._iota(32, "cpu").astype("uint32") & 1
    made = bits.reshape(-1)[:n].reshape(shape).astype("bool")
    return made if shape else made[()]


class Philox(BitGenerator):
    """Philox4x32-10: the value of each element follows from seed, stream and its index alone.

    So the numbers are the same for any number of threads, in any order of evaluation. They are not
    those of NumPy's generator of that name, which counts otherwise.

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
    >>> a, b = (un.random.Generator(un.random.Philox(5)).random(4) for _ in range(2))
    >>> un.array_equal(a, b)
    True
    """

    def __init__(self, seed=None):
        super().__init__(seed)
        words = _state_of(self.seed_seq, 3)
        self._key = words[0] | words[1] << 32
        self._number = words[2]
        self._next = 0

    @property
    def state(self):
        """Key, stream and the index of the next element."""
        return {
            "bit_generator": type(self).__name__,
            "state": {"key": self._key, "stream": self._number, "next": self._next},
        }

    @state.setter
    def state(self, value):
        if value.get("bit_generator") != type(self).__name__:
            raise ValueError(
                f"state: expected that of a {type(self).__name__} generator; got {value.get('bit_generator')!r}"
            )
        parts = value["state"]
        self._key, self._number, self._next = parts["key"], parts["stream"], parts["next"]

    def _take(self, n):
        """Key of the next `n` elements, which later ones do not meet."""
        first = self._next
        self._next = first + n & 0xFFFFFFFFFFFFFFFF
        return self._key, self._number, first


class CuRand(Philox):
    """NVIDIA's cuRAND, which draws its own uniform and normal numbers on CUDA devices that have it.

    Other generators give the same numbers on every device; this one is for programs that are to have cuRAND's.

    Parameters
    ----------
    seed : int, sequence of int, or SeedSequence, optional
    kind : {"philox", "xorwow", "mrg32k3a"}
        Which of cuRAND's generators.

    Raises
    ------
    ValueError
        If the seed is negative, or there is no generator of that kind.

    Notes
    -----
    Uniform numbers lie in (0, 1], as cuRAND draws them. What is drawn follows from the seed and how many numbers were
    drawn before, but ``rng.random(5)`` and five times ``rng.random()`` differ.

    Examples
    --------
    >>> import unisono as un
    >>> un.random.Generator(un.random.CuRand(5))
    Generator(CuRand)
    """

    _kinds = ("philox", "xorwow", "mrg32k3a")

    def __init__(self, seed=None, kind="philox"):
        super().__init__(seed)
        if kind not in self._kinds:
            raise ValueError(
                f"CuRand: kind must be one of {', '.join(map(repr, self._kinds))}; got {kind!r}"
            )
        self._number = 1 + self._kinds.index(kind) << 32  # the engine's number of the generator

    def spawn(self, n_children):
        """Independent bit generators of the same kind."""
        kind = self._kinds[(self._number >> 32) - 1]
        return [type(self)(child, kind) for child in self.seed_seq.spawn(n_children)]


class PCG64(BitGenerator):
    """NumPy's PCG64, bit for bit.

    A Generator over it gives NumPy's numbers: those of `random`, `integers`, `uniform`, `shuffle`, `permutation`,
    `standard_normal`, `normal`, `standard_exponential` and `exponential` are drawn here, other distributions by NumPy
    from the same stream. `random` and `uniform` are filled by all threads, each of which jumps ahead to its part.

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
    >>> float(un.random.Generator(un.random.PCG64(0)).random())
    0.6369616873214543
    """

    def __init__(self, seed=None):
        super().__init__(seed)
        self._stream = _engine._BitStream("pcg64")
        self._stream.set_state(_state_of(self.seed_seq, 4, True))

    @property
    def state(self):
        """State and increment as 128-bit numbers, and a half that is left."""
        w = self._stream.state()
        return {
            "bit_generator": "PCG64",
            "state": {"state": w[0] << 64 | w[1], "inc": w[2] << 64 | w[3]},
            "has_uint32": w[4],
            "uinteger": w[5],
        }

    @state.setter
    def state(self, value):
        parts = [value["state"]["state"], value["state"]["inc"]]
        words = [w for p in parts for w in (p >> 64, p & (1 << 64) - 1)]
        self._stream.set_state([*words, value["has_uint32"], value["uinteger"]])

    def random_raw(self, size=None, output=True):
        """Return the next numbers of 64 bits: an int, or an array of uint64."""
        return self._raw(size, output, 64)

    def advance(self, delta):
        """Pass over `delta` numbers in a step, and return the bit generator."""
        state = self.state
        now, add = state["state"]["state"], state["state"]["inc"]
        # F. Brown, "Random number generation with arbitrary strides", 1994: the step doubled for each bit of delta.
        factor, delta = 0x2360ED051FC65DA44385DF649FCCF645, int(delta) & _M128
        while delta:
            if delta & 1:
                now = now * factor + add & _M128
            add, factor, delta = (factor + 1) * add & _M128, factor * factor & _M128, delta >> 1
        inc = state["state"]["inc"]
        self.state = {**state, "state": {"state": now, "inc": inc}, "has_uint32": 0, "uinteger": 0}
        return self

    def jumped(self, jumps=1):
        """Return a bit generator that is 2**128 / 1.618... numbers ahead, so many times."""
        return self._moved(self.state).advance(0x9E3779B97F4A7C15F39CC0605CEDC835 * int(jumps))


class MT19937(BitGenerator):
    """NumPy's MT19937 (Mersenne twister), bit for bit: one number after the other, on one thread.

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
    >>> un.random.Generator(un.random.MT19937(0)).random(2).shape
    (2,)
    """

    def __init__(self, seed=None):
        super().__init__(seed)
        self._stream = _engine._BitStream("mt19937")
        words = _state_of(self.seed_seq, 624)
        self._stream.set_state([0x80000000, *words[1:], 623])

    @property
    def state(self):
        """Key and position."""
        *key, place = self._stream.state()
        return {"bit_generator": "MT19937", "state": {"key": key, "pos": place}}

    @state.setter
    def state(self, value):
        parts = value["state"]
        self._stream.set_state([int(w) for w in parts["key"]] + [int(parts["pos"])])

    def random_raw(self, size=None, output=True):
        """Return the next numbers of 32 bits: an int, or an array of uint64."""
        return self._raw(size, output, 32)

    def jumped(self, jumps=1):
        """Return a bit generator that is 2**128 numbers ahead, so many times (NumPy's polynomials)."""
        import numpy

        theirs = numpy.random.MT19937(0)
        theirs.state = self.state
        return self._moved(theirs.jumped(jumps).state)
