"""Polynomials by their coefficients, highest power first, as NumPy's poly functions."""

import unisono as un

from .._arrays.axes import as_array, as_array_beside


def _coefficients(p, *others):
    p, *others = (x.coeffs if isinstance(x, poly1d) else x for x in (p, *others))
    return un.atleast_1d(as_array_beside(p, *others))


def _like(result, *given):
    return poly1d(result) if any(isinstance(g, poly1d) for g in given) else result


def polyval(p, x):
    """Value of a polynomial at `x`, by Horner's rule; `x` may be a polynomial.

    Parameters
    ----------
    p : array_like
        Coefficients, the highest first.
    x : array_like

    Returns
    -------
    ndarray of the shape of `x`

    Raises
    ------
    TypeError
        If `p` or `x` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.polyval([1, 0, 1], 3).item()
    10
    """
    p = _coefficients(p, x)
    if isinstance(x, poly1d):
        y = poly1d(p[:1])
        for k in range(1, p.shape[0]):
            y = y * x + p[k : k + 1]
        return y
    x = as_array_beside(x, p)
    x = x.astype(un.result_type(x.dtype, p.dtype), copy=False)
    y = un.zeros_like(x)
    for c in p.tolist():
        y = y * x + c
    return y


def polyadd(a1, a2):
    """Sum of two polynomials.

    Parameters
    ----------
    a1, a2 : array_like

    Returns
    -------
    ndarray of coefficients

    Raises
    ------
    TypeError
        If `a1` or `a2` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.polyadd([1, 2], [1]).tolist()
    [1, 3]
    """
    return _like(un.add(*_padded(a1, a2)), a1, a2)


def polysub(a1, a2):
    """Difference of two polynomials.

    Parameters
    ----------
    a1, a2 : array_like

    Returns
    -------
    ndarray of coefficients

    Raises
    ------
    TypeError
        If `a1` or `a2` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.polysub([1, 2], [1]).tolist()
    [1, 1]
    """
    return _like(un.subtract(*_padded(a1, a2)), a1, a2)


def _padded(a1, a2):
    """The coefficients of both, with zeros in front of the shorter one's."""
    both = _coefficients(a1, a2), _coefficients(a2, a1)
    n = max(x.shape[0] for x in both)
    return [un.pad(x, (n - x.shape[0], 0)) if x.shape[0] < n else x for x in both]


def polymul(a1, a2):
    """Product of two polynomials.

    Parameters
    ----------
    a1, a2 : array_like

    Returns
    -------
    ndarray of coefficients

    Raises
    ------
    TypeError
        If `a1` or `a2` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.polymul([1, 1], [1, -1]).tolist()
    [1, 0, -1]
    """
    one, two = _significant(_coefficients(a1, a2)), _significant(_coefficients(a2, a1))
    return _like(un.convolve(one, two), a1, a2)


def _significant(coefficients):
    """Coefficients without leading zeros; at least one is kept."""
    if coefficients.shape[0] == 0:
        return un.zeros(1, coefficients.dtype, device=coefficients.device)
    found = un.flatnonzero(coefficients)
    return coefficients[found[0].item() if found.shape[0] else -1 :]


def polydiv(u, v):
    """Quotient and remainder of two polynomials.

    Parameters
    ----------
    u, v : array_like

    Returns
    -------
    tuple of ndarray
        Quotient and remainder.

    Raises
    ------
    TypeError
        If `u` or `v` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> [p.tolist() for p in un.polydiv([1.0, 3.0, 2.0], [1.0, 1.0])]
    [[1.0, 2.0], [0.0]]
    """
    one, two = _coefficients(u, v) + 0.0, _coefficients(v, u) + 0.0
    m, n = one.shape[0] - 1, two.shape[0] - 1
    scale = 1.0 / two[0]
    dtype = un.result_type(one.dtype, two.dtype)
    quotient = un.zeros(max(m - n + 1, 1), dtype, device=one.device)
    rest = one.astype(quotient.dtype)
    for k in range(m - n + 1):
        d = scale * rest[k]
        quotient[k] = d
        rest[k : k + n + 1] -= d * two
    first = 0
    values = rest.tolist()
    while first < len(values) - 1 and abs(values[first]) <= 1e-8:  # as allclose has it
        first += 1
    return _like(quotient, u, v), _like(rest[first:], u, v)


def polyder(p, m=1):
    """Derivative of order m.

    Parameters
    ----------
    p : array_like
        Coefficients, the highest first.
    m : int, optional
        Order of the derivative.

    Returns
    -------
    ndarray of coefficients

    Raises
    ------
    ValueError
        If the order is negative.

    Examples
    --------
    >>> import unisono as un
    >>> un.polyder([1, 2, 3]).tolist()
    [2, 2]
    """
    m = int(m)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    made = _coefficients(p)
    for _ in range(m):
        n = made.shape[0] - 1
        made = made[:-1] * un.arange(n, 0, -1, device=made.device)
    return _like(made, p)


def polyint(p, m=1, k=None):
    """Antiderivative of order m, with the constants k.

    Parameters
    ----------
    p : array_like
        Coefficients, the highest first.
    m : int, optional
        Order of the antiderivative.
    k : number or sequence of numbers, optional
        Integration constants; 0 by default.

    Returns
    -------
    ndarray of coefficients

    Raises
    ------
    ValueError
        If the order is negative, or the number of constants is wrong.

    Examples
    --------
    >>> import unisono as un
    >>> un.polyint([2, 2]).tolist()
    [1.0, 2.0, 0.0]
    """
    m = int(m)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = [0.0] * m if k is None else as_array(k).ravel().tolist()
    if len(constants) == 1 and m > 1:
        constants = constants * m
    if len(constants) < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    made = _coefficients(p)
    for c in constants[:m]:
        factors = un.arange(made.shape[0], 0, -1, device=made.device)
        made = un.concatenate([made / factors, as_array_beside([c], made)])
    return _like(made, p)


def poly(seq_of_zeros):
    """Coefficients of the polynomial with these roots, or of a matrix's characteristic polynomial.

    Parameters
    ----------
    seq_of_zeros : array_like

    Returns
    -------
    ndarray of coefficients, the highest first

    Raises
    ------
    ValueError
        If the array is neither one-dimensional nor a square matrix.

    Examples
    --------
    >>> import unisono as un
    >>> un.poly([1, 2]).tolist()
    [1.0, -3.0, 2.0]
    """
    zeros = un.atleast_1d(as_array(seq_of_zeros))
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1] and zeros.shape[0]:
        zeros = un.linalg.eigvals(zeros)
    elif zeros.ndim != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    elif zeros.shape[0] == 0:
        return 1.0
    made = un.ones(1, _inexact(zeros.dtype), device=zeros.device)
    for z in zeros.tolist():
        made = un.convolve(made, as_array_beside([1, -z], made).astype(made.dtype))
    if made.dtype.kind == "c":
        positive = sorted((z for z in zeros.tolist() if z.imag > 0), key=lambda z: (z.real, z.imag))
        negative = sorted(
            (z.conjugate() for z in zeros.tolist() if z.imag < 0), key=lambda z: (z.real, z.imag)
        )
        if positive == negative:
            made = made.real.copy()
    return made


def _inexact(dtype):
    """The dtype that roots and their polynomials are computed in: float64 but for wide floats and complex numbers."""
    return dtype if dtype.kind in "fc" and dtype.itemsize > 2 else un.dtype("float64")


def roots(p):
    """Roots of a polynomial: eigenvalues of its companion matrix.

    Parameters
    ----------
    p : array_like
        Coefficients, the highest first.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If the array has several axes.

    Examples
    --------
    >>> import unisono as un
    >>> un.roots([1.0, 0.0, -4.0]).round(6).tolist()
    [-2.0, 2.0]
    """
    p = _coefficients(p)
    if p.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    used = un.flatnonzero(p)
    if used.size == 0:
        return un.empty(0, "float64", device=p.device)
    first, last = int(used[0]), int(used[-1])
    trailing = p.shape[0] - last - 1
    p = p[first : last + 1]
    p = p.astype(_inexact(p.dtype), copy=False)
    n = p.shape[0]
    found = un.empty(0, p.dtype, device=p.device)
    if n > 1:
        companion = un.eye(n - 1, k=-1, dtype=p.dtype, device=p.device)
        companion[0] = -p[1:] / p[0]
        found = un.linalg.eigvals(companion)
    return un.pad(found, (0, trailing)) if trailing else found


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """Least-squares fit of a polynomial of degree `deg`; see NumPy's ``polyfit``.

    Parameters
    ----------
    x, y : array_like
    deg : int or bool
    rcond : float, optional
    full : bool
        Also return residuals, rank and singular values.
    w : array_like, optional
        Weights.
    cov : bool
        Also return the covariance matrix.

    Returns
    -------
    ndarray of coefficients, or more if `full` or `cov`

    Raises
    ------
    TypeError
        If the data are empty or not one-dimensional.
    ValueError
        If the degree is negative.

    Examples
    --------
    >>> import unisono as un
    >>> un.polyfit([0, 1, 2], [1, 3, 5], 1).round(6).tolist()
    [2.0, 1.0]
    """
    x, y = as_array(x) + 0.0, as_array(y) + 0.0
    order = int(deg) + 1
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if x.size == 0:
        raise TypeError("expected non-empty vector for x")
    if y.ndim not in (1, 2):
        raise TypeError("expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise TypeError("expected x and y to have same length")
    rcond = x.shape[0] * un.finfo(x.dtype).eps if rcond is None else rcond
    left, right = un.vander(x, order), y
    if w is not None:
        w = as_array(w) + 0.0
        if w.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if w.shape[0] != y.shape[0]:
            raise TypeError("expected w and y to have the same length")
        left = left * w[:, None]
        right = right * (w[:, None] if right.ndim == 2 else w)
    scale = un.sqrt((left * left).sum(axis=0))
    left = left / scale
    found, residuals, rank, singular = un.linalg.lstsq(left, right, rcond)
    found = (found.T / scale).T
    if int(rank) != order and not full:
        import warnings

        warnings.warn("Polyfit may be poorly conditioned", un.exceptions.RankWarning, stacklevel=2)
    if full:
        return found, residuals, rank, singular, rcond
    if cov:
        base = un.linalg.inv(left.T @ left) / un.outer(scale, scale)
        if cov == "unscaled":
            factor = 1
        else:
            if x.shape[0] <= order:
                raise ValueError(
                    "the number of data points must exceed order to scale the covariance matrix"
                )
            factor = residuals / (x.shape[0] - order)
        return found, base * factor if y.ndim == 1 else base[:, :, None] * factor
    return found


class poly1d:
    """A polynomial with arithmetic, by its coefficients or its roots.

    Examples
    --------
    >>> import unisono as un
    >>> p = un.poly1d([1, 2, 3])
    >>> float(p(0.5)), (p * p).order
    (4.25, 4)
    """

    __hash__ = None

    def __init__(self, c_or_r, r=False, variable=None):
        if isinstance(c_or_r, poly1d):
            self.variable = c_or_r.variable if variable is None else variable
            self.coeffs = c_or_r.coeffs.copy()
            return
        c = poly(c_or_r) if r else c_or_r
        c = un.atleast_1d(as_array(c))
        if c.ndim > 1:
            raise ValueError("Polynomial must be 1d only.")
        self.coeffs = _significant(c)
        self.variable = getattr(c_or_r, "variable", "x") if variable is None else variable

    c = coef = coefficients = property(lambda self: self.coeffs)
    order = o = property(lambda self: self.coeffs.shape[0] - 1)
    roots = r = property(lambda self: roots(self.coeffs))

    def __call__(self, val):
        return polyval(self, val)

    def __len__(self):
        return self.order

    def __iter__(self):
        return iter(self.coeffs)

    def __getitem__(self, power):
        place = self.order - power
        if 0 <= place <= self.order and power >= 0:
            return self.coeffs[place]
        return un.zeros((), self.coeffs.dtype)[()]

    def __setitem__(self, power, value):
        if power < 0:
            raise ValueError("Does not support negative powers.")
        if power > self.order:
            self.coeffs = un.pad(self.coeffs, (power - self.order, 0))
        self.coeffs[self.order - power] = value

    def __array__(self, dtype=None, copy=None):
        return self.coeffs.__array__(dtype, copy)

    def __repr__(self):
        return f"poly1d({repr(self.coeffs)[6:-1]})"

    def __str__(self):
        from .polynomial_text import text_of

        return text_of(self.coeffs.tolist(), self.variable)

    def __eq__(self, other):
        if not isinstance(other, poly1d):
            return NotImplemented
        return un.array_equal(self.coeffs, other.coeffs)

    def __neg__(self):
        return poly1d(-self.coeffs)

    def __pos__(self):
        return self

    def __add__(self, other):
        return poly1d(polyadd(self.coeffs, other))

    __radd__ = __add__

    def __sub__(self, other):
        return poly1d(polysub(self.coeffs, other))

    def __rsub__(self, other):
        return poly1d(polysub(other, self.coeffs))

    def __mul__(self, other):
        if un.isscalar(other):
            return poly1d(self.coeffs * other)
        return poly1d(polymul(self.coeffs, other))

    __rmul__ = __mul__

    def __truediv__(self, other):
        if isinstance(other, poly1d):
            return polydiv(self, other)
        return poly1d(self.coeffs / other)

    def __pow__(self, n):
        if int(n) != n or n < 0:
            raise ValueError("Power to non-negative integers only.")
        made = as_array_beside([1], self.coeffs)
        for _ in range(int(n)):
            made = polymul(self.coeffs, made)
        return poly1d(made)

    def deriv(self, m=1):
        """Derivative of order m."""
        return poly1d(polyder(self.coeffs, m))

    def integ(self, m=1, k=0):
        """Antiderivative of order m."""
        return poly1d(polyint(self.coeffs, m, k))
