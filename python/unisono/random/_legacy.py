"""NumPy's old random interface: RandomState, and the functions of the module that share one."""

import math
import operator
import types

from .. import _engine
from .._arrays.axes import as_operand as _as_operand
from .._loaded import loaded as _loaded
from . import _numpys_streams
from ._checks import (
    _INTEGERS,
    _is_number,
    _length_of_bytes,
    _name,
    _refuse_dtype,
    _refuse_more,
    _shape,
)
from ._generator import _Drawing
from ._seeds import MT19937, PCG64, BitGenerator, Philox
from ._seeds import drawn_bools as _drawn_bools


def _refuse_shape(what, other, shape):
    """`rand((2, 3))`: these two take extents, where all others take a shape."""
    if shape and isinstance(shape[0], (tuple, list)):
        extents = ", ".join(str(n) for n in shape[0])
        raise TypeError(
            f"{what}: takes extents one by one; got {shape[0]!r}; "
            f"write {what}({extents}), or {other}({shape[0]!r})"
        )


class RandomState(_Drawing):
    """NumPy's old generator.

    Parameters
    ----------
    seed : int, sequence of ints, BitGenerator, optional
        With a number, all methods give the numbers that NumPy's MT19937 gives for that seed. Without, they come
        from Philox, by all threads.

    Examples
    --------
    >>> import unisono as un
    >>> un.random.RandomState(0).randint(0, 1024, 4).tolist()
    [684, 559, 629, 192]
    """

    _takes_falling_ranges = True
    _is_old = True
    _own = ("uniform",)

    def __init__(self, seed=None):
        super().__init__(seed if isinstance(seed, BitGenerator) else Philox())
        if seed is not None and not isinstance(seed, BitGenerator):
            self.seed(seed)

    @property
    def _stream(self):
        return self.bit_generator._stream

    def seed(self, seed=None):
        """Reseed the generator; of the shared one, NumPy's too where it is loaded, from which libraries draw."""
        if self is _shared and (numpys := _loaded("numpy.random")):
            numpys.seed(seed)
        if seed is None:
            self.bit_generator = Philox()
            return
        if getattr(seed, "ndim", 0) and seed.size == 1:  # a number, to NumPy
            seed = seed.reshape(())[()]
        is_number = hasattr(seed, "__index__") and getattr(seed, "ndim", 0) == 0
        words = [operator.index(seed)] if is_number else _as_operand(seed).reshape(-1).tolist()
        if not words:
            raise ValueError("seed: Seed must be non-empty")
        if not all(isinstance(w, int) for w in words):
            raise TypeError(f"seed: expected integers; got {type(words[0]).__name__}")
        if not all(0 <= w < 2**32 for w in words):
            raise ValueError("seed: Seed must be between 0 and 2**32 - 1")
        self.bit_generator = MT19937(0)
        # A sequence of one is mixed as a sequence.
        self._stream.seed(words, not is_number)

    def get_state(self, legacy=True):
        """The state of the generator, as NumPy's: ('MT19937', key, position, has_gauss, gauss), or a dict of these."""
        if not isinstance(self.bit_generator, MT19937):
            return self.bit_generator.state
        *key, place = self._stream.state()
        key, (has_gauss, gauss) = _engine._array(key, "uint32", "cpu", None), self._stream.gauss()
        if legacy:
            return ("MT19937", key, place, has_gauss, gauss)
        state = {"bit_generator": "MT19937", "state": {"key": key, "pos": place}}
        return {**state, "has_gauss": has_gauss, "gauss": gauss}

    def set_state(self, state):
        """Restore a state returned by `get_state`, of this package or of NumPy."""
        if isinstance(state, dict) and state.get("bit_generator") == "MT19937":
            parts = state["state"]
            state = ("MT19937", parts["key"], parts["pos"], state["has_gauss"], state["gauss"])
        if isinstance(state, dict):
            self.bit_generator = PCG64() if state.get("bit_generator") == "PCG64" else Philox()
            self.bit_generator.state = state
            return
        if state[0] != "MT19937":
            raise ValueError(f"set_state: expected a state of MT19937; got {state[0]!r}")
        self.bit_generator = MT19937(0)
        self._stream.set_state([int(w) for w in state[1]] + [int(state[2])])
        if len(state) > 3:
            self._stream.set_gauss(bool(state[3]), float(state[4]))

    def random_sample(self, size=None):
        """Uniform numbers in [0, 1)."""
        return self.random(size)

    sample = ranf = random_sample

    def rand(self, *shape):
        """Uniform numbers in [0, 1); the arguments are the shape."""
        _refuse_shape("rand", "random", shape)
        if not shape and self._stream is not None:
            return self._stream.doubles(0.0, 1.0, (), "float64")
        return self.random(shape or None)

    def randn(self, *shape):
        """Normal numbers; the arguments are the shape."""
        _refuse_shape("randn", "standard_normal", shape)
        return self.standard_normal(shape or None)

    def randint(self, low, high=None, size=None, dtype="int64"):
        """Integers from `low` to `high` (excluded), or from 0 to `low`."""
        given = (low,) if high is None else (low, high)
        is_one = all(_is_number(v) and hasattr(v, "__index__") for v in given)
        if self._stream is None or not is_one:
            return self._integers(low, high, size, dtype)
        name = {"int": "int64"}.get(_name(dtype), _name(dtype))
        low, high = (
            (0, operator.index(low))
            if high is None
            else (operator.index(low), operator.index(high))
        )
        name = "bool" if name == "bool_" else name
        if name not in _INTEGERS:
            _refuse_dtype("randint", dtype, "an integer dtype")
        self._check_range(name, low, high - 1)
        if name == "bool":
            return _drawn_bools(self._stream, low, high - 1, _shape(size) or ())
        made = self._stream.integers(True, low, high - 1 - low, _shape(size) or (), name)
        return int(made) if size is None and name == "int64" else made  # Python's, as the others

    def _check_range(self, name, low, most):
        if low < _INTEGERS[name][0]:
            raise ValueError(f"randint: low is out of bounds for {name}; got {low}")
        if most > _INTEGERS[name][1]:
            raise ValueError(f"randint: high is out of bounds for {name}; got {most + 1}")
        if low > most:
            raise ValueError(f"randint: low >= high; got {low} and {most + 1}")

    def random_integers(self, low, high=None, size=None):
        """Integers from `low` to `high` (included), or from 1 to `low`."""
        low, high = (1, low) if high is None else (low, high)
        return self.randint(low, high + 1, size)

    def tomaxint(self, size=None):
        """Integers from 0 to the largest int64."""
        if self._stream is not None:
            return _numpys_streams.draw(self, "tomaxint", size)
        return self.randint(0, 2**63 - 1, size)

    def standard_normal(self, size=None, dtype="float64", out=None, *, device=None):
        """Normal numbers of mean 0 and deviation 1."""
        return self.normal(0.0, 1.0, size, device=device)

    def normal(self, loc=0.0, scale=1.0, size=None, *_more, device=None):
        """Normal numbers of mean `loc` and deviation `scale`."""
        if _more:
            _refuse_more("normal", size, _more)
        plain = isinstance(loc, (int, float)) and isinstance(scale, (int, float))
        if self._stream is None or not plain or scale < 0:
            return super().normal(loc, scale, size, device=device)
        self._require_host(device)
        return self._stream.legacy_normal(float(loc), float(scale), _shape(size) or ())

    def exponential(self, scale=1.0, size=None, *, device=None):
        """Exponential numbers of mean `scale`."""
        if self._stream is None or not isinstance(scale, (int, float)) or scale < 0:
            return super().exponential(scale, size, device=device)
        self._require_host(device)
        return self._stream.legacy_exponential(float(scale), _shape(size) or ())

    def standard_exponential(
        self, size=None, dtype="float64", method="zig", out=None, *, device=None
    ):
        """Exponential numbers of scale 1."""
        return self.exponential(1.0, size, device=device)

    def _permutations(self, count, n, device=None):
        if self._stream is None:
            return super()._permutations(count, n, device)
        self._require_host(device)
        made = _engine._empty((count, n), "int64", self._home)
        for k in range(count):
            made[k] = self._stream.permutation(True, n)
        return made

    def choice(self, a, size=None, replace=True, p=None):
        """Random sample of the elements of `a`, which has one axis, or of ``arange(a)``."""
        rows = isinstance(a, (list, tuple)) and a and isinstance(a[0], (list, tuple))
        if rows or getattr(a, "ndim", 0) > 1:
            raise ValueError("choice: a must be 1-dimensional; Generator.choice takes an axis")
        return super().choice(a, size, replace, p)

    def _pick(self, pool, n, p, device):
        if p is not None or self._stream is None:
            return super()._pick(pool, n, p, device)
        self._require_host(device)
        return self.randint(0, pool, n)

    def bytes(self, length):
        """`length` random bytes."""
        length = _length_of_bytes(length)
        words = self.randint(0, 2**32 - 1 + 1, math.ceil(length / 4))
        return b"".join(int(w).to_bytes(4, "little") for w in words.tolist())[:length]


_shared = None


def _state():
    global _shared
    if _shared is None:
        _shared = RandomState()
    return _shared


def _function(name):
    def function(*args, **options):
        return getattr(_state(), name)(*args, **options)

    method = getattr(RandomState, name)
    function.__name__ = function.__qualname__ = name
    # Of a bound method, whose signature is without self; importing inspect would take milliseconds.
    function.__wrapped__ = types.MethodType(method, RandomState)
    function.__doc__ = _doc(name, method.__doc__, _parameters(method.__code__))
    return function


def _parameters(code):
    """Names of a method's parameters in the order of its signature, without self."""
    names, n = list(code.co_varnames), code.co_argcount
    only = names[n : n + code.co_kwonlyargcount]
    rest = names[n + len(only) :][: bool(code.co_flags & 4) + bool(code.co_flags & 8)]
    starred = rest[:1] if code.co_flags & 4 else []
    return names[1:n] + starred + only + rest[len(starred) :]


def _doc(name, summary, parameters):
    """Docstring of a function that draws from the shared generator."""
    if "Examples\n" in summary:
        return summary
    rows = [f"{p} : {_kinds.get(p, 'array_like')}" for p in parameters]
    sections = [summary.strip()]
    if rows:
        sections.append("Parameters\n----------\n" + "\n".join(rows))
    result, error = _others.get(
        name,
        ("ndarray, or a value without a size", "ValueError\n    A parameter outside its range."),
    )
    sections += [f"Returns\n-------\n{result}", f"Raises\n------\n{error}"]
    example = (
        _examples[name] if name in _others else f"un.random.{name}({_examples[name]}).shape\n(4,)"
    )
    sections.append(f"Examples\n--------\n>>> import unisono as un\n>>> {example}")
    return "\n\n".join(sections) + "\n"


_kinds = {
    "size": "int or tuple of int, optional", "dtype": "dtype", "out": "ndarray, optional", "shape": "int, one an axis",
    "legacy": "bool", "length": "int", "replace": "bool", "axis": "int", "shuffle": "bool", "method": "str", "seed": "int or sequence of int, optional",
    "state": "tuple or dict", "check_valid": "str", "tol": "float",
}  # fmt: skip
_others = {
    "bytes": ("bytes", "ValueError\n    A negative length."),
    "get_state": ("tuple", "TypeError\n    An argument that is not known."),
    "set_state": ("None", "ValueError\n    No state of that generator."),
    "seed": ("None", "ValueError\n    A negative seed."),
    "shuffle": ("None", "TypeError\n    `x` cannot be changed."),
    "multivariate_normal": ("ndarray, of the size and the number of means", "ValueError\n    A covariance of another shape."),
    "multinomial": ("ndarray, of the size and the number of chances", "ValueError\n    Chances that do not sum to 1."),
    "dirichlet": ("ndarray, of the size and the number of parameters", "ValueError\n    A parameter outside its range."),
}  # fmt: skip
# Arguments with which an example draws four; for others the whole example.
_examples = {
    "beta": "2, 3, size=4", "binomial": "10, 0.5, size=4", "chisquare": "2, size=4", "choice": "3, size=4",
    "exponential": "size=4", "f": "2, 3, size=4", "gamma": "2, size=4", "geometric": "0.5, size=4", "gumbel": "size=4",
    "hypergeometric": "5, 5, 3, size=4", "laplace": "size=4", "logistic": "size=4", "lognormal": "size=4",
    "logseries": "0.5, size=4", "negative_binomial": "3, 0.5, size=4", "noncentral_chisquare": "2, 1, size=4",
    "noncentral_f": "2, 3, 1, size=4", "normal": "size=4", "pareto": "3, size=4", "permutation": "4",
    "poisson": "3, size=4", "power": "3, size=4", "rand": "4", "randint": "0, 5, size=4", "randn": "4", "random": "4",
    "random_integers": "5, size=4", "random_sample": "4", "ranf": "4", "rayleigh": "size=4", "sample": "4",
    "standard_cauchy": "size=4", "standard_exponential": "size=4", "standard_gamma": "2, size=4",
    "standard_normal": "size=4", "standard_t": "3, size=4", "triangular": "0, 1, 2, size=4", "uniform": "size=4",
    "vonmises": "0, 1, size=4", "wald": "1, 1, size=4", "weibull": "2, size=4", "zipf": "3, size=4",
    "bytes": "len(un.random.bytes(3))\n3",
    "get_state": "un.random.seed(1)\n>>> un.random.get_state()[0]\n'MT19937'",
    "set_state": "state = un.random.get_state()\n>>> un.random.set_state(state)",
    "seed": "un.random.seed(1)\n>>> float(un.random.rand())\n0.417022004702574",
    "shuffle": "x = un.arange(4)\n>>> un.random.shuffle(x)\n>>> int(x.sum())\n6",
    "multivariate_normal": "un.random.multivariate_normal([0, 0], [[1, 0], [0, 1]], size=4).shape\n(4, 2)",
    "multinomial": "un.random.multinomial(10, [0.5, 0.5], size=4).shape\n(4, 2)",
    "dirichlet": "un.random.dirichlet([1, 2], size=4).shape\n(4, 2)",
}  # fmt: skip


_names = """beta binomial bytes chisquare choice dirichlet exponential f gamma geometric get_state gumbel
    hypergeometric laplace logistic lognormal logseries multinomial multivariate_normal negative_binomial
    noncentral_chisquare noncentral_f normal pareto permutation poisson power rand randint randn random
    random_integers random_sample ranf rayleigh sample seed set_state shuffle standard_cauchy
    standard_exponential standard_gamma standard_normal standard_t triangular uniform vonmises wald weibull
    zipf""".split()
globals().update({name: _function(name) for name in _names})
