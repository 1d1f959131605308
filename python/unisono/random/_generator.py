"""The methods of NumPy's Generator over one of NumPy's own streams, or over Philox."""

import math

from .. import _engine
from .._arrays.creation import _as_operand, _float64
from ._checks import (
    _INTEGERS,
    _broadcast,
    _chance,
    _chance_above_0,
    _Check,
    _check_float,
    _is_number,
    _name,
    _not_negative,
    _one_less,
    _positive,
    _refuse_more,
    _shape,
)
from ._multivariate import Multivariate
from ._picking import Picking
from ._seeds import BitGenerator

_plain_types = (float, int)  # of parameters that need no conversion but float()


class Generator(Multivariate, Picking):
    """Random numbers of many distributions, drawn from a bit generator.

    Parameters
    ----------
    bit_generator : BitGenerator

    Notes
    -----
    ``rng.random(5)`` and five times ``rng.random()`` are the same. Over Philox that holds of every
    distribution: element k of what was drawn so far has its own numbers of the sequence.

    Examples
    --------
    >>> import unisono as un
    >>> rng = un.random.default_rng(7)
    >>> rng.random(3).shape, rng.integers(10, size=(2, 2)).dtype
    ((3,), dtype('int64'))
    """

    _takes_falling_ranges = False  # in `uniform`: NumPy's old generator does

    def __init__(self, bit_generator):
        if not isinstance(bit_generator, BitGenerator):
            raise TypeError(
                "Generator: expected a bit generator such as un.random.Philox(seed); "
                f"got {type(bit_generator).__name__}"
            )
        self.bit_generator = bit_generator

    def __repr__(self):
        return f"Generator({type(self.bit_generator).__name__})"

    def spawn(self, n_children):
        """Independent generators, for other parts of a program."""
        return [type(self)(b) for b in self.bit_generator.spawn(n_children)]

    def _draw(self, name, parameters, size, dtype="float64", check=None):
        """An array of the distribution; parameters broadcast to `size`, or give it."""
        shape = _shape(size)
        plain = []
        for p in parameters:
            if isinstance(p, (int, float)):
                plain.append(float(p))
            elif _is_number(p):
                plain.append(float(p))
            else:
                plain.append(_as_operand(p).astype("float64", copy=False))
        if check is not None:
            check(name, plain)
        if shape is None:
            shape = ()
            for p in plain:
                if not isinstance(p, float):
                    shape = _broadcast(shape, p.shape)
        stream = self.bit_generator._stream
        if stream is None:
            taken = self.bit_generator._take(math.prod(shape))
            return _engine._random(name, tuple(plain), shape, dtype, *taken)
        if name == "uniform" and all(isinstance(p, float) for p in plain):
            return stream.doubles(plain[0], plain[1] - plain[0], shape, dtype)
        return stream.draw(name, tuple(plain), shape, dtype)

    def _numbers(self, name, parameters, size):
        """As `_draw`, of floats that are checked, without a sequential stream."""
        bits = self.bit_generator
        shape = () if size is None else _shape(size)
        first = bits._next
        bits._next = first + math.prod(shape) & 0xFFFFFFFFFFFFFFFF
        return _engine._random(name, parameters, shape, _float64, bits._key, bits._number, first)

    def random(self, size=None, dtype="float64", out=None):
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
                return self._numbers("uniform", (0.0, 1.0), size)
            return stream.doubles(0.0, 1.0, () if size is None else _shape(size), dtype)
        return self._floats("uniform", (0.0, 1.0), size, dtype, out, "random")

    def _floats(self, name, parameters, size, dtype, out, what):
        _check_float(what, dtype)
        if out is None:
            return self._draw(name, parameters, size, dtype)
        if size is not None and _shape(size) != out.shape:
            raise ValueError(f"{what}: size {size} does not match out, whose shape is {out.shape}")
        out[...] = self._draw(name, parameters, out.shape, out.dtype)
        return out

    def integers(self, low, high=None, size=None, dtype="int64", endpoint=False):
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
        if high is None:
            low, high = 0, low
        name = _name(dtype)
        name = {"int": "int64", "bool_": "bool"}.get(name, name)
        if name not in _INTEGERS:
            raise TypeError(f"integers: Unsupported dtype {name!r}; expected an integer dtype")
        least, most = _INTEGERS[name]
        if not (_is_number(low) and _is_number(high)):
            return self._integer_arrays(low, high, size, name, endpoint)
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
            kind = "uint8" if name == "bool" else name
            made = self.bit_generator._stream.integers(False, low, high - low, shape, kind)
            return made.astype(name) if name == "bool" else made
        taken = self.bit_generator._take(math.prod(shape))
        if name == "bool":
            made = _engine._random_integers(low, high - low, shape, "uint8", *taken)
            return made.astype("bool")
        return _engine._random_integers(low, high - low, shape, name, *taken)

    def _integer_arrays(self, low, high, size, name, endpoint):
        import unisono as un

        if not endpoint:  # 2**64 itself is held by no dtype
            try:
                high = _as_operand(high)
            except OverflowError:
                high, endpoint = _one_less(high), True
        low, high = _as_operand(low), _as_operand(high)
        shape = _shape(size)
        if shape is None:
            shape = _broadcast(low.shape, high.shape)
        if low.size == 0 or high.size == 0:
            return un.zeros(shape, name)
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
        low = low.astype("uint64")
        span = high.astype("uint64") - low  # modulo 2**64
        if not endpoint:
            span = span - 1
        if int(span.max()) < 2**32:
            count = span.astype("float64") + 1
            drawn = un.floor(self.random(shape) * count).astype("uint64")
        else:
            drawn = self._wide_integers(span, shape)
        made = (low + drawn).astype("int64" if name[0] == "i" else "uint64")
        return made.astype(name)

    def _wide_integers(self, span, shape):
        """Numbers from 0 to `span`, uint64: as many random bits as that has, drawn again beyond it."""
        import unisono as un

        mask = span
        for shift in (1, 2, 4, 8, 16, 32):
            mask = mask | mask >> shift
        made = self.integers(0, 2**64 - 1, shape, "uint64", True) & mask
        while bool((made > span).any()):
            again = self.integers(0, 2**64 - 1, shape, "uint64", True) & mask
            made = un.where(made > span, again, made)
        return made

    def bytes(self, length):
        """`length` random bytes."""
        return self.integers(0, 256, length, "uint8").tobytes()

    def uniform(self, low=0.0, high=1.0, size=None, *_more):
        """Uniform numbers in [low, high)."""
        if _more:
            _refuse_more("uniform", size, _more)
        numbers = _is_number(low) and _is_number(high)
        if numbers and not math.isfinite(high - low):
            raise OverflowError("uniform: high - low range exceeds valid bounds")
        falls = high < low if numbers else bool((_as_operand(high) < low).any())
        if falls and not self._takes_falling_ranges:
            raise ValueError("uniform: high - low < 0")
        return self._draw("uniform", (low, high), size)

    def standard_normal(self, size=None, dtype="float64", out=None):
        """Normal numbers of mean 0 and deviation 1.

        Examples
        --------
        >>> import unisono as un
        >>> x = un.random.default_rng(0).standard_normal(10_000)
        >>> bool(abs(x.sum() / 10_000) < 0.05)
        True
        """
        if out is None and dtype == "float64":
            return self._plain("normal", (0.0, 1.0), size)
        return self._floats("normal", (0.0, 1.0), size, dtype, out, "standard_normal")

    def _plain(self, name, parameters, size):
        """Normal numbers of parameters that are checked."""
        stream = self.bit_generator._stream
        if stream is None:
            return self._numbers(name, parameters, size)
        return stream.draw(name, parameters, () if size is None else _shape(size), "float64")

    def standard_exponential(self, size=None, dtype="float64", method="zig", out=None):
        """Exponential numbers of scale 1; `method` is accepted for NumPy's sake."""
        if out is None and dtype == "float64":
            return self._plain("exponential", (1.0,), size)
        return self._floats("exponential", (1.0,), size, dtype, out, "standard_exponential")

    def standard_gamma(self, shape, size=None, dtype="float64", out=None):
        """Gamma numbers of scale 1."""
        _check_float("standard_gamma", dtype)
        made = self._draw(
            "gamma",
            (shape, 1.0),
            out.shape if out is not None else size,
            dtype,
            _Check("shape >= 0", _not_negative),
        )
        if out is None:
            return made
        out[...] = made
        return out

    def normal(self, loc=0.0, scale=1.0, size=None, *_more):
        """Normal numbers of mean `loc` and deviation `scale`."""
        if _more:
            _refuse_more("normal", size, _more)
        if type(loc) in _plain_types and type(scale) in _plain_types and scale >= 0:
            return self._plain("normal", (float(loc), float(scale)), size)
        return self._draw(
            "normal", (loc, scale), size, check=_Check("scale >= 0", None, _not_negative)
        )

    def exponential(self, scale=1.0, size=None):
        """Exponential numbers of mean `scale`."""
        if type(scale) in _plain_types and scale >= 0:
            return self._plain("exponential", (float(scale),), size)
        return self._draw("exponential", (scale,), size, check=_Check("scale >= 0", _not_negative))

    def gamma(self, shape, scale=1.0, size=None):
        """Gamma numbers of that shape and scale."""
        check = _Check("shape >= 0 and scale >= 0", _not_negative, _not_negative)
        return self._draw("gamma", (shape, scale), size, check=check)

    def beta(self, a, b, size=None):
        """Beta numbers."""
        return self._draw(
            "beta", (a, b), size, check=_Check("a > 0 and b > 0", _positive, _positive)
        )

    def chisquare(self, df, size=None):
        """Chi-square numbers of `df` degrees of freedom."""
        return self._draw("chisquare", (df,), size, check=_Check("df > 0", _positive))

    def noncentral_chisquare(self, df, nonc, size=None):
        """Chi-square numbers with noncentrality `nonc`."""
        check = _Check("df > 0 and nonc >= 0", _positive, _not_negative)
        return self._draw("noncentral_chisquare", (df, nonc), size, check=check)

    def f(self, dfnum, dfden, size=None):
        """F numbers: ratios of two chi-squares by their degrees of freedom."""
        check = _Check("dfnum > 0 and dfden > 0", _positive, _positive)
        return self._draw("f", (dfnum, dfden), size, check=check)

    def noncentral_f(self, dfnum, dfden, nonc, size=None):
        """F numbers with noncentrality `nonc`."""
        check = _Check("dfnum > 0, dfden > 0 and nonc >= 0", _positive, _positive, _not_negative)
        return self._draw("noncentral_f", (dfnum, dfden, nonc), size, check=check)

    def standard_t(self, df, size=None):
        """Student's t numbers of `df` degrees of freedom."""
        return self._draw("standard_t", (df,), size, check=_Check("df > 0", _positive))

    def standard_cauchy(self, size=None):
        """Cauchy numbers."""
        return self._draw("standard_cauchy", (), size)

    def laplace(self, loc=0.0, scale=1.0, size=None):
        """Laplace (double exponential) numbers."""
        return self._draw(
            "laplace", (loc, scale), size, check=_Check("scale >= 0", None, _not_negative)
        )

    def logistic(self, loc=0.0, scale=1.0, size=None):
        """Logistic numbers."""
        return self._draw(
            "logistic", (loc, scale), size, check=_Check("scale >= 0", None, _not_negative)
        )

    def gumbel(self, loc=0.0, scale=1.0, size=None):
        """Gumbel (extreme value) numbers."""
        return self._draw(
            "gumbel", (loc, scale), size, check=_Check("scale >= 0", None, _not_negative)
        )

    def lognormal(self, mean=0.0, sigma=1.0, size=None):
        """Numbers whose logarithms are normal."""
        return self._draw(
            "lognormal", (mean, sigma), size, check=_Check("sigma >= 0", None, _not_negative)
        )

    def rayleigh(self, scale=1.0, size=None):
        """Rayleigh numbers."""
        return self._draw("rayleigh", (scale,), size, check=_Check("scale >= 0", _not_negative))

    def weibull(self, a, size=None):
        """Weibull numbers of shape `a`."""
        return self._draw("weibull", (a,), size, check=_Check("a >= 0", _not_negative))

    def pareto(self, a, size=None):
        """Pareto II (Lomax) numbers of shape `a`."""
        return self._draw("pareto", (a,), size, check=_Check("a > 0", _positive))

    def power(self, a, size=None):
        """Numbers in [0, 1] with density ``a * x**(a - 1)``."""
        return self._draw("power", (a,), size, check=_Check("a > 0", _positive))

    def triangular(self, left, mode, right, size=None):
        """Triangular numbers in [left, right], densest at `mode`."""
        if all(_is_number(p) for p in (left, mode, right)):
            if not left <= mode <= right or left == right:
                raise ValueError(
                    f"triangular: expected left <= mode <= right and left < right; got {left}, {mode}, {right}"
                )
        elif bool(
            (
                (_as_operand(left) > mode)
                | (_as_operand(mode) > right)
                | (_as_operand(left) == right)
            ).any()
        ):
            raise ValueError(
                "triangular: expected left <= mode <= right and left < right everywhere"
            )
        return self._draw("triangular", (left, mode, right), size)

    def vonmises(self, mu, kappa, size=None):
        """Von Mises numbers in [-pi, pi]."""
        return self._draw(
            "vonmises", (mu, kappa), size, check=_Check("kappa >= 0", None, _not_negative)
        )

    def wald(self, mean, scale, size=None):
        """Wald (inverse Gaussian) numbers."""
        check = _Check("mean > 0 and scale > 0", _positive, _positive)
        return self._draw("wald", (mean, scale), size, check=check)

    def poisson(self, lam=1.0, size=None):
        """Poisson numbers of mean `lam`."""
        check = _Check("0 <= lam < 9.2e18", lambda x: (x >= 0) & (x < 9.2e18))
        return self._draw("poisson", (lam,), size, "int64", check)

    def binomial(self, n, p, size=None):
        """Successes among `n` trials of chance `p`."""
        check = _Check("n >= 0 and 0 <= p <= 1", _not_negative, _chance)
        return self._draw("binomial", (n, p), size, "int64", check)

    def negative_binomial(self, n, p, size=None):
        """Failures before `n` successes of chance `p`."""
        check = _Check("n > 0 and 0 < p <= 1", _positive, _chance_above_0)
        if _is_number(n) and _is_number(p) and n > 0 and p > 0:
            if (1 - p) / p * (n + 10 * n**0.5) >= 2**63:
                raise ValueError(f"negative_binomial: n too large or p too small; got {n} and {p}")
        return self._draw("negative_binomial", (n, p), size, "int64", check)

    def geometric(self, p, size=None):
        """Trials until the first success of chance `p`."""
        return self._draw("geometric", (p,), size, "int64", _Check("0 < p <= 1", _chance_above_0))

    def hypergeometric(self, ngood, nbad, nsample, size=None):
        """Good ones among `nsample` drawn from `ngood` good and `nbad` bad ones."""
        check = _Check("numbers >= 0", _not_negative, _not_negative, _not_negative)
        numbers = all(_is_number(p) for p in (ngood, nbad, nsample))
        if numbers and nsample > ngood + nbad:
            raise ValueError(
                f"hypergeometric: ngood + nbad < nsample; got {ngood}, {nbad} and {nsample}"
            )
        if not numbers and bool(
            (_as_operand(ngood) + _as_operand(nbad) < _as_operand(nsample)).any()
        ):
            raise ValueError("hypergeometric: ngood + nbad < nsample in some element")
        return self._draw("hypergeometric", (ngood, nbad, nsample), size, "int64", check)

    def logseries(self, p, size=None):
        """Logarithmic series numbers."""
        check = _Check("0 <= p < 1", lambda x: (x >= 0) & (x < 1))
        return self._draw("logseries", (p,), size, "int64", check)

    def zipf(self, a, size=None):
        """Zipf numbers of exponent `a`."""
        return self._draw("zipf", (a,), size, "int64", _Check("a > 1", lambda x: x > 1))
