"""The methods of NumPy's Generator over one of NumPy's own streams, or over Philox."""

import math

from .. import _engine
from .._arrays.creation import _float64
from .._loaded import loaded as _loaded
from . import _numpys_streams
from ._checks import (
    _INTEGERS,
    _broadcast,
    _chance,
    _chance_above_0,
    _Check,
    _check_float,
    _is_number,
    _length_of_bytes,
    _name,
    _not_negative,
    _one_less,
    _positive,
    _refuse_dtype,
    _refuse_more,
    _shape,
)
from ._multivariate import Multivariate
from ._picking import Picking
from ._seeds import BitGenerator, KnownAsNumpys, drawn_bools, is_numpys

_plain_types = (float, int)  # of parameters that need no conversion but float()


class _Kind(type):
    """The class of generators: NumPy's count as instances, too, for libraries that are given one."""

    def __call__(cls, *args, **options):
        if args and is_numpys(args[0]) and cls.__module__.partition(".")[0] == "unisono":
            return getattr(_loaded("numpy.random"), cls.__name__)(args[0])  # NumPy's own over it
        return super().__call__(*args, **options)

    def __instancecheck__(cls, x):
        if super().__instancecheck__(x):
            return True
        is_derived = cls.__module__.partition(".")[0] != "unisono"
        theirs = getattr(_loaded("numpy.random"), cls.__name__, None)
        return theirs is not None and not is_derived and isinstance(x, theirs)


class _Drawing(Multivariate, Picking, KnownAsNumpys, metaclass=_Kind):
    """What `Generator` and `RandomState` have in common; neither is an instance of the other, by which libraries tell them."""

    _takes_falling_ranges = False  # in `uniform`: NumPy's old generator does
    _is_old = False
    _own = ("uniform", "normal", "exponential")  # of a sequential stream, drawn as NumPy does

    def __init__(self, bit_generator):
        if not isinstance(bit_generator, BitGenerator):
            raise TypeError(
                "Generator: expected a bit generator such as un.random.Philox(seed); "
                f"got {type(bit_generator).__name__}"
            )
        self.bit_generator = bit_generator

    @property
    def _bit_generator(self):  # NumPy's name; SciPy spawns generators by it
        return self.bit_generator

    # What NumPy asks of bit generators: `numpy.random.default_rng(rng)`, as in SciPy's ``rng=``, draws on from here.
    capsule = property(lambda self: self.bit_generator.capsule)
    lock = property(lambda self: self.bit_generator.lock)
    _seed_seq = property(lambda self: self.bit_generator._seed_seq)

    def __repr__(self):
        return f"{type(self).__name__}({type(self.bit_generator).__name__})"

    def _require_host(self, device):
        """Refuse devices for bit generators that draw one number after the other."""
        if device is not None and str(device) != "cpu":
            raise _engine.UnsupportedError(
                f"random: {type(self.bit_generator).__name__} draws one number after the other, on the "
                f"host; got device={str(device)!r}; use un.random.Generator(un.random.Philox(seed)), or "
                ".to_device(...)"
            )

    def _operand(self, x):
        """`x` as an array; lists become arrays of the place where numbers are drawn, those of objects NumPy's."""
        if isinstance(x, _engine._Array):
            return x
        try:
            return _engine._array(x, None, self._home, None)
        except TypeError:
            import unisono

            return unisono.asarray(x)

    @property
    def _home(self):
        """Where numbers are drawn that no array and no keyword gives a place; None: as `un.zeros`."""
        return "cpu" if self.bit_generator._stream is not None else None

    def _operands(self, *values):
        """Arrays; numbers stay, since they go wherever arrays lie."""
        return [v if isinstance(v, (int, float)) else self._operand(v) for v in values]

    def _draw(self, name, parameters, size, dtype="float64", check=None, device=None):
        """An array of the distribution; parameters broadcast to `size`, or give it."""
        stream = self.bit_generator._stream
        if stream is not None and name not in self._own and dtype in ("float64", "int64"):
            self._require_host(device)
            return _numpys_streams.draw(self, name, *parameters, size=size)
        shape = _shape(size)
        plain = []
        for p in parameters:
            if isinstance(p, (int, float)):
                plain.append(float(p))
            elif _is_number(p):
                plain.append(float(p))
            else:
                plain.append(self._operand(p).astype("float64", copy=False))
        if check is not None:
            check(name, plain)
        if shape is None:
            shape = ()
            for p in plain:
                if not isinstance(p, float):
                    shape = _broadcast(shape, p.shape)
        if stream is None:
            taken = self.bit_generator._take(math.prod(shape))
            return _engine._random(name, tuple(plain), shape, dtype, *taken, device)
        self._require_host(device)
        if name == "uniform" and all(isinstance(p, float) for p in plain):
            return stream.doubles(plain[0], plain[1] - plain[0], shape, dtype)
        if name in self._own and _name(dtype) == "float64" or name == "uniform":
            return stream.draw(name, tuple(plain), shape, dtype)
        shapes = parameters[:1] if name == "gamma" else ()
        return _numpys_streams.draw(self, f"standard_{name}", *shapes, size=shape, dtype="float32")

    def _numbers(self, name, parameters, size, device=None):
        """As `_draw`, of floats that are checked, without a sequential stream."""
        bits = self.bit_generator
        shape = () if size is None else _shape(size)
        first = bits._next
        bits._next = first + math.prod(shape) & 0xFFFFFFFFFFFFFFFF
        return _engine._random(
            name, parameters, shape, _float64, bits._key, bits._number, first, device
        )

    def random(self, size=None, dtype="float64", out=None, *, device=None):
        """Uniform numbers in [0, 1).

        Parameters
        ----------
        size : int or tuple of ints, optional
            Shape of the result; None gives one number.
        dtype : dtype
            float64 (53 random bits) or float32 (24).
        out : ndarray, optional

        Returns
        -------
        ndarray

        Raises
        ------
        ValueError
            If an extent is negative, or `out` has another shape.

        Examples
        --------
        >>> import unisono as un
        >>> x = un.random.default_rng(0).random(1000)
        >>> bool((x >= 0).all()), bool((x < 1).all())
        (True, True)
        """
        if out is None and dtype == "float64":
            stream = self.bit_generator._stream
            if stream is None:
                return self._numbers("uniform", (0.0, 1.0), size, device)
            self._require_host(device)
            return stream.doubles(0.0, 1.0, () if size is None else _shape(size), dtype)
        return self._floats("uniform", (0.0, 1.0), size, dtype, out, "random", device=device)

    def _floats(self, name, parameters, size, dtype, out, what, device=None):
        _check_float(what, dtype)
        if out is None:
            return self._draw(name, parameters, size, dtype, device=device)
        if size is not None and _shape(size) != out.shape:
            raise ValueError(f"{what}: size {size} does not match out, whose shape is {out.shape}")
        # Filled as it lies.
        flat = out.T if out.flags.f_contiguous and not out.flags.c_contiguous else out
        flat[...] = self._draw(name, parameters, flat.shape, out.dtype, device=out.device)
        return out

    def _integers(self, low, high=None, size=None, dtype="int64", endpoint=False, *, device=None):
        if high is None:
            low, high = 0, low
        name = _name(dtype)
        name = {"int": "int64", "bool_": "bool"}.get(name, name)
        if name not in _INTEGERS:
            _refuse_dtype("integers", dtype, "an integer dtype")
        least, most = _INTEGERS[name]
        if not (_is_number(low) and _is_number(high)):
            return self._integer_arrays(low, high, size, name, endpoint, device=device)
        low, high = (
            int(v) if hasattr(v, "dtype") and v.dtype.kind in "iu" else v for v in (low, high)
        )  # large ones are no floats
        low, high = math.ceil(low), math.floor(high) if endpoint else math.ceil(high) - 1
        if low < least:
            raise ValueError(f"integers: low is out of bounds for {name}; got {low}")
        if high > most:
            raise ValueError(
                f"integers: high is out of bounds for {name}; got {high + (not endpoint)}"
            )
        shape = _shape(size) or ()
        if low > high and 0 not in shape:
            raise ValueError(f"integers: low >= high; got {low} and {high + (not endpoint)}")
        high = max(low, high)
        if self.bit_generator._stream is not None:
            self._require_host(device)
            if name == "bool":
                return drawn_bools(self.bit_generator._stream, low, high, shape)
            return self.bit_generator._stream.integers(False, low, high - low, shape, name)
        taken = self.bit_generator._take(math.prod(shape))
        if name == "bool":
            made = _engine._random_integers(low, high - low, shape, "uint8", *taken, device)
            return made.astype("bool")
        return _engine._random_integers(low, high - low, shape, name, *taken, device)

    def _integer_arrays(self, low, high, size, name, endpoint, device=None):
        import unisono as un

        arrays = [v for v in (low, high) if isinstance(v, _engine._Array)]
        device = arrays[0].device if arrays else device or self._home
        if not endpoint:  # 2**64 itself is held by no dtype
            try:
                high = self._operand(high)
            except OverflowError:
                high, endpoint = _one_less(high), True
        low, high = (un.asarray(v, device=device) for v in (low, high))
        shape = _shape(size)
        if shape is None:
            shape = _broadcast(low.shape, high.shape)
        if low.size == 0 or high.size == 0:
            return un.zeros(shape, name, device=device)
        if low.dtype.kind == "f":
            low = un.ceil(low).astype("int64")
        if high.dtype.kind == "f":
            high = un.floor(high).astype("int64")
        least, most = _INTEGERS[name]
        if int(low.min()) < least:
            raise ValueError(f"integers: low is out of bounds for {name}")
        if int(high.max()) > most + (not endpoint):
            raise ValueError(f"integers: high is out of bounds for {name}")
        if not bool((low <= high if endpoint else low < high).all()):
            raise ValueError("integers: low >= high in some element")
        if self.bit_generator._stream is not None:
            self._require_host(device)
            if self._is_old:
                return _numpys_streams.draw(self, "randint", low, high + int(endpoint), shape, name)
            return _numpys_streams.draw(self, "integers", low, high, shape, name, endpoint)
        low = low.astype("uint64")
        span = high.astype("uint64") - low  # modulo 2**64
        if not endpoint:
            span = span - 1
        if int(span.max()) < 2**32:
            count = span.astype("float64") + 1
            drawn = un.floor(self.random(shape, device=device) * count).astype("uint64")
        else:
            drawn = self._wide_integers(span, shape, device)
        made = (low + drawn).astype("int64" if name[0] == "i" else "uint64")
        return made.astype(name)

    def _wide_integers(self, span, shape, device):
        """Numbers from 0 to `span`, uint64: as many random bits as that has, drawn again beyond it."""
        import unisono as un

        mask = span
        for shift in (1, 2, 4, 8, 16, 32):
            mask = mask | mask >> shift
        made = self._integers(0, 2**64 - 1, shape, "uint64", True, device=device) & mask
        while bool((made > span).any()):
            again = self._integers(0, 2**64 - 1, shape, "uint64", True, device=device) & mask
            made = un.where(made > span, again, made)
        return made

    def bytes(self, length):
        """`length` random bytes."""
        return self._integers(0, 256, _length_of_bytes(length), "uint8").tobytes()

    def uniform(self, low=0.0, high=1.0, size=None, *_more, device=None):
        """Uniform numbers in [low, high)."""
        if _more:
            _refuse_more("uniform", size, _more)
        numbers = _is_number(low) and _is_number(high)
        if numbers and not math.isfinite(high - low):
            raise OverflowError("uniform: high - low range exceeds valid bounds")
        if not numbers:
            low, high = self._operands(low, high)
        falls = high < low if numbers else bool((high < low).any())
        if falls and not self._takes_falling_ranges:
            raise ValueError("uniform: high - low < 0")
        return self._draw("uniform", (low, high), size, device=device)

    def standard_normal(self, size=None, dtype="float64", out=None, *, device=None):
        """Normal numbers of mean 0 and deviation 1.

        Examples
        --------
        >>> import unisono as un
        >>> x = un.random.default_rng(0).standard_normal(10_000)
        >>> bool(abs(x.sum() / 10_000) < 0.05)
        True
        """
        if out is None and dtype == "float64":
            return self._plain("normal", (0.0, 1.0), size, device=device)
        return self._floats(
            "normal", (0.0, 1.0), size, dtype, out, "standard_normal", device=device
        )

    def _plain(self, name, parameters, size, device=None):
        """Normal numbers of parameters that are checked."""
        stream = self.bit_generator._stream
        if stream is None:
            return self._numbers(name, parameters, size, device)
        self._require_host(device)
        return stream.draw(name, parameters, () if size is None else _shape(size), "float64")

    def standard_exponential(
        self, size=None, dtype="float64", method="zig", out=None, *, device=None
    ):
        """Exponential numbers of scale 1; `method` is accepted for NumPy's sake."""
        if out is None and dtype == "float64":
            return self._plain("exponential", (1.0,), size, device=device)
        return self._floats(
            "exponential", (1.0,), size, dtype, out, "standard_exponential", device=device
        )

    def standard_gamma(self, shape, size=None, dtype="float64", out=None, *, device=None):
        """Gamma numbers of scale 1."""
        _check_float("standard_gamma", dtype)
        made = self._draw(
            "gamma",
            (shape, 1.0),
            out.shape if out is not None else size,
            dtype,
            _Check("shape >= 0", _not_negative),
            device=device,
        )
        if out is None:
            return made
        out[...] = made
        return out

    def normal(self, loc=0.0, scale=1.0, size=None, *_more, device=None):
        """Normal numbers of mean `loc` and deviation `scale`."""
        if _more:
            _refuse_more("normal", size, _more)
        if type(loc) in _plain_types and type(scale) in _plain_types and scale >= 0:
            return self._plain("normal", (float(loc), float(scale)), size, device=device)
        return self._draw(
            "normal",
            (loc, scale),
            size,
            check=_Check("scale >= 0", None, _not_negative),
            device=device,
        )

    def exponential(self, scale=1.0, size=None, *, device=None):
        """Exponential numbers of mean `scale`."""
        if type(scale) in _plain_types and scale >= 0:
            return self._plain("exponential", (float(scale),), size, device=device)
        return self._draw(
            "exponential", (scale,), size, check=_Check("scale >= 0", _not_negative), device=device
        )

    def gamma(self, shape, scale=1.0, size=None, *, device=None):
        """Gamma numbers of that shape and scale."""
        check = _Check("shape >= 0 and scale >= 0", _not_negative, _not_negative)
        return self._draw("gamma", (shape, scale), size, check=check, device=device)

    def beta(self, a, b, size=None, *, device=None):
        """Beta numbers."""
        return self._draw(
            "beta",
            (a, b),
            size,
            check=_Check("a > 0 and b > 0", _positive, _positive),
            device=device,
        )

    def chisquare(self, df, size=None, *, device=None):
        """Chi-square numbers of `df` degrees of freedom."""
        return self._draw(
            "chisquare", (df,), size, check=_Check("df > 0", _positive), device=device
        )

    def noncentral_chisquare(self, df, nonc, size=None, *, device=None):
        """Chi-square numbers with noncentrality `nonc`."""
        check = _Check("df > 0 and nonc >= 0", _positive, _not_negative)
        return self._draw("noncentral_chisquare", (df, nonc), size, check=check, device=device)

    def f(self, dfnum, dfden, size=None, *, device=None):
        """F numbers: ratios of two chi-squares by their degrees of freedom."""
        check = _Check("dfnum > 0 and dfden > 0", _positive, _positive)
        return self._draw("f", (dfnum, dfden), size, check=check, device=device)

    def noncentral_f(self, dfnum, dfden, nonc, size=None, *, device=None):
        """F numbers with noncentrality `nonc`."""
        check = _Check("dfnum > 0, dfden > 0 and nonc >= 0", _positive, _positive, _not_negative)
        return self._draw("noncentral_f", (dfnum, dfden, nonc), size, check=check, device=device)

    def standard_t(self, df, size=None, *, device=None):
        """Student's t numbers of `df` degrees of freedom."""
        return self._draw(
            "standard_t", (df,), size, check=_Check("df > 0", _positive), device=device
        )

    def standard_cauchy(self, size=None, *, device=None):
        """Cauchy numbers."""
        return self._draw("standard_cauchy", (), size, device=device)

    def laplace(self, loc=0.0, scale=1.0, size=None, *, device=None):
        """Laplace (double exponential) numbers."""
        return self._draw(
            "laplace",
            (loc, scale),
            size,
            check=_Check("scale >= 0", None, _not_negative),
            device=device,
        )

    def logistic(self, loc=0.0, scale=1.0, size=None, *, device=None):
        """Logistic numbers."""
        return self._draw(
            "logistic",
            (loc, scale),
            size,
            check=_Check("scale >= 0", None, _not_negative),
            device=device,
        )

    def gumbel(self, loc=0.0, scale=1.0, size=None, *, device=None):
        """Gumbel (extreme value) numbers."""
        return self._draw(
            "gumbel",
            (loc, scale),
            size,
            check=_Check("scale >= 0", None, _not_negative),
            device=device,
        )

    def lognormal(self, mean=0.0, sigma=1.0, size=None, *, device=None):
        """Numbers whose logarithms are normal."""
        return self._draw(
            "lognormal",
            (mean, sigma),
            size,
            check=_Check("sigma >= 0", None, _not_negative),
            device=device,
        )

    def rayleigh(self, scale=1.0, size=None, *, device=None):
        """Rayleigh numbers."""
        return self._draw(
            "rayleigh", (scale,), size, check=_Check("scale >= 0", _not_negative), device=device
        )

    def weibull(self, a, size=None, *, device=None):
        """Weibull numbers of shape `a`."""
        return self._draw(
            "weibull", (a,), size, check=_Check("a >= 0", _not_negative), device=device
        )

    def pareto(self, a, size=None, *, device=None):
        """Pareto II (Lomax) numbers of shape `a`."""
        return self._draw("pareto", (a,), size, check=_Check("a > 0", _positive), device=device)

    def power(self, a, size=None, *, device=None):
        """Numbers in [0, 1] with density ``a * x**(a - 1)``."""
        return self._draw("power", (a,), size, check=_Check("a > 0", _positive), device=device)

    def triangular(self, left, mode, right, size=None, *, device=None):
        """Triangular numbers in [left, right], densest at `mode`."""
        if all(_is_number(p) for p in (left, mode, right)):
            if not left <= mode <= right or left == right:
                raise ValueError(
                    f"triangular: expected left <= mode <= right and left < right; got {left}, {mode}, {right}"
                )
        else:
            left, mode, right = self._operands(left, mode, right)
            bad = [left > mode, mode > right, left == right]
            if any(b if isinstance(b, bool) else bool(b.any()) for b in bad):
                raise ValueError(
                    "triangular: expected left <= mode <= right and left < right everywhere"
                )
        return self._draw("triangular", (left, mode, right), size, device=device)

    def vonmises(self, mu, kappa, size=None, *, device=None):
        """Von Mises numbers in [-pi, pi]."""
        return self._draw(
            "vonmises",
            (mu, kappa),
            size,
            check=_Check("kappa >= 0", None, _not_negative),
            device=device,
        )

    def wald(self, mean, scale, size=None, *, device=None):
        """Wald (inverse Gaussian) numbers."""
        check = _Check("mean > 0 and scale > 0", _positive, _positive)
        return self._draw("wald", (mean, scale), size, check=check, device=device)

    def poisson(self, lam=1.0, size=None, *, device=None):
        """Poisson numbers of mean `lam`."""
        check = _Check("0 <= lam < 9.2e18", lambda x: (x >= 0) & (x < 9.2e18))
        return self._draw("poisson", (lam,), size, "int64", check, device=device)

    def binomial(self, n, p, size=None, *, device=None):
        """Successes among `n` trials of chance `p`."""
        check = _Check("n >= 0 and 0 <= p <= 1", _not_negative, _chance)
        return self._draw("binomial", (n, p), size, "int64", check, device=device)

    def negative_binomial(self, n, p, size=None, *, device=None):
        """Failures before `n` successes of chance `p`."""
        check = _Check("n > 0 and 0 < p <= 1", _positive, _chance_above_0)
        if _is_number(n) and _is_number(p) and n > 0 and p > 0:
            if (1 - p) / p * (n + 10 * n**0.5) >= 2**63:
                raise ValueError(f"negative_binomial: n too large or p too small; got {n} and {p}")
        return self._draw("negative_binomial", (n, p), size, "int64", check, device=device)

    def geometric(self, p, size=None, *, device=None):
        """Trials until the first success of chance `p`."""
        return self._draw(
            "geometric", (p,), size, "int64", _Check("0 < p <= 1", _chance_above_0), device=device
        )

    def hypergeometric(self, ngood, nbad, nsample, size=None, *, device=None):
        """Good ones among `nsample` drawn from `ngood` good and `nbad` bad ones."""
        check = _Check("numbers >= 0", _not_negative, _not_negative, _not_negative)
        numbers = all(_is_number(p) for p in (ngood, nbad, nsample))
        if numbers and nsample > ngood + nbad:
            raise ValueError(
                f"hypergeometric: ngood + nbad < nsample; got {ngood}, {nbad} and {nsample}"
            )
        if not numbers:
            ngood, nbad, nsample = self._operands(ngood, nbad, nsample)
            if bool((ngood + nbad < nsample).any()):
                raise ValueError("hypergeometric: ngood + nbad < nsample in some element")
        return self._draw(
            "hypergeometric", (ngood, nbad, nsample), size, "int64", check, device=device
        )

    def logseries(self, p, size=None, *, device=None):
        """Logarithmic series numbers."""
        check = _Check("0 <= p < 1", lambda x: (x >= 0) & (x < 1))
        return self._draw("logseries", (p,), size, "int64", check, device=device)

    def zipf(self, a, size=None, *, device=None):
        """Zipf numbers of exponent `a`."""
        return self._draw(
            "zipf", (a,), size, "int64", _Check("a > 1", lambda x: x > 1), device=device
        )


class Generator(_Drawing):
    """Random numbers of many distributions, drawn from a bit generator.

    Parameters
    ----------
    bit_generator : BitGenerator

    Notes
    -----
    Arrays are drawn on the device that the keyword `device` names, by default where arrays among the
    parameters lie, else where `un.zeros` makes its arrays. That goes over Philox, whose numbers are the
    same on every device; other bit generators draw one number after the other, on the host.

    ``rng.random(5)`` and five times ``rng.random()`` are the same. Over Philox that holds of every
    distribution: element k of what was drawn so far has its own numbers of the sequence.

    Examples
    --------
    >>> import unisono as un
    >>> rng = un.random.default_rng(7)
    >>> rng.random(3).shape, rng.integers(10, size=(2, 2)).dtype
    ((3,), dtype('int64'))
    """

    def integers(self, low, high=None, size=None, dtype="int64", endpoint=False, *, device=None):
        """Integers from `low` to `high` (excluded), or from 0 to `low`.

        Parameters
        ----------
        low, high : int or array_like of ints
        size : int or tuple of ints, optional
        dtype : dtype
        endpoint : bool
            Include `high` in the range.

        Returns
        -------
        ndarray

        Examples
        --------
        >>> import unisono as un
        >>> bool((un.random.default_rng(0).integers(1, 7, 100) <= 6).all())
        True
        """
        return self._integers(low, high, size, dtype, endpoint, device=device)

    def spawn(self, n_children):
        """Independent generators, for other parts of a program."""
        return [type(self)(b) for b in self.bit_generator.spawn(n_children)]
