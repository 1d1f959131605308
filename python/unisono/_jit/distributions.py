"""Distributions of random numbers that compiled code draws, made from one table for np.random and for Generators.

What draws one number is the engine's; here are NumPy's parameters, their tests, and the loops over elements.
"""

from __future__ import annotations

import numpy as np

from . import jit
from .text import compile_text

_TESTS = {
    "not_negative": ("x >= 0", "{0} < 0"),
    "positive": ("x > 0", "{0} <= 0"),
    "chance": ("(x >= 0) & (x <= 1)", "{0} < 0, {0} > 1 or {0} is NaN"),
    "chance_above_0": ("(x > 0) & (x <= 1)", "{0} <= 0, {0} > 1 or {0} contains NaNs"),
    "chance_below_1": ("(x >= 0) & (x < 1)", "{0} < 0, {0} >= 1 or {0} is NaN"),
    "above_1": ("x > 1", "{0} <= 1 or {0} is NaN"),
    "mean": ("x >= 0", "{0} < 0 or {0} is NaN"),
}

# Name, parameters, their tests ("-" for none), whether whole numbers are drawn.
rows = (
    ("beta", "a, b", "positive positive", False),
    ("gamma", "shape, scale=1.0", "not_negative not_negative", False),
    ("chisquare", "df", "positive", False),
    ("noncentral_chisquare", "df, nonc", "positive not_negative", False),
    ("f", "dfnum, dfden", "positive positive", False),
    ("noncentral_f", "dfnum, dfden, nonc", "positive positive not_negative", False),
    ("standard_t", "df", "positive", False),
    ("wald", "mean, scale", "positive positive", False),
    ("vonmises", "mu, kappa", "- not_negative", False),
    ("poisson", "lam=1.0", "mean", True),
    ("binomial", "n, p", "not_negative chance", True),
    ("negative_binomial", "n, p", "positive chance_above_0", True),
    ("geometric", "p", "chance_above_0", True),
    ("logseries", "p", "chance_below_1", True),
    ("zipf", "a", "above_1", True),
    ("hypergeometric", "ngood, nbad, nsample", "not_negative not_negative not_negative", True),
)


def _test(name, parameter):
    """Lines that raise where the parameter, a number or an array, is not what the test wants."""
    condition, message = _TESTS[name]
    condition = condition.replace("x", parameter)
    return [
        f"    if isinstance({parameter}, np.ndarray):",
        f"        good = np.all({condition})",
        "    else:",
        f"        good = {condition}",
        "    if not good:",
        f"        raise ValueError({message.format(parameter)!r})",
    ]


@jit
def filled(draw, dtype, size):
    """An array of what ``draw()`` gives, or one of it."""
    if size is None:
        return draw()
    else:
        made = np.empty(size, dtype)
        flat = made.reshape(-1)
        for i in range(made.size):
            flat[i] = draw()
        return made


@jit
def _spread(value, like):
    made = np.empty(like.shape)
    made[...] = value
    return made.reshape(-1)


@jit
def filled_by(draw, a, b, c, dtype, size):
    """As `filled`, of ``draw(a, b, c)`` for parameters that broadcast."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) or isinstance(c, np.ndarray):
        if size is None:
            made = np.empty((a + b + c).shape, dtype)
        else:
            made = np.empty(size, dtype)
        x = _spread(a, made)
        y = _spread(b, made)
        z = _spread(c, made)
        flat = made.reshape(-1)
        for i in range(made.size):
            flat[i] = draw(float(x[i]), float(y[i]), float(z[i]))
        return made
    else:
        x = float(a)
        y = float(b)
        z = float(c)
        return filled(lambda: draw(x, y, z), dtype, size)


def implementations(table, form, first="", before="", bound=()):
    """Compiled functions by name, of rows as above: `form(name, count, is_whole)` writes what draws one number of a, b, c."""
    scope = {"np": np, "filled_by": filled_by} | dict(bound)
    made = {}
    for name, parameters, tests, is_whole in table:
        names = [p.partition("=")[0] for p in parameters.split(", ")]
        called, used = form(name, len(names), is_whole)
        lines = [f"def {name}({first}{parameters}, size=None):", *before.splitlines()]
        for parameter, test in zip(names, tests.split(), strict=True):
            if test != "-":
                lines += _test(test, parameter)
        if name == "hypergeometric":
            lines += ["    if np.any(ngood + nbad < nsample):"]
            lines += ["        raise ValueError('ngood + nbad < nsample')"]
        given = ", ".join(names + ["0.0"] * (3 - len(names)))
        dtype = "np.int64" if is_whole else "np.float64"
        lines.append(f"    return filled_by(lambda a, b, c: {called}, {given}, {dtype}, size)")
        made[name] = compile_text("\n".join(lines) + "\n", name, scope | used)
    return made


@jit
def _counts(binomial, n, pvals):
    d = len(pvals)
    made = np.zeros(d, np.int64)
    left = n
    share = 1.0
    for j in range(d - 1):
        made[j] = binomial(left, pvals[j] / share)
        left -= made[j]
        if left <= 0:
            break
        share -= pvals[j]
        if share <= 0:
            break
    if left > 0:
        made[d - 1] = left
    return made


@jit
def multinomial_by(binomial, n, pvals, size):
    """Rows of how often each of n falls to which chance; ``binomial(n, p)`` draws a number."""
    p = np.asarray(pvals) * 1.0
    if n < 0:
        raise ValueError("n < 0")
    if np.sum(p[:-1]) > 1.0 + 1e-12:
        raise ValueError("sum(pvals[:-1]) > 1.0")
    if size is None:
        return _counts(binomial, n, p)
    else:
        rows = np.empty(size, np.int8).size
        made = np.empty((rows, len(p)), np.int64)
        for i in range(rows):
            made[i] = _counts(binomial, n, p)
        return made.reshape(np.empty(size, np.int8).shape + (len(p),))


@jit
def dirichlet_by(gamma, alpha, size):
    """Rows that sum up to 1; ``gamma(shape)`` draws a number."""
    a = np.asarray(alpha) * 1.0
    if not np.all(a > 0):
        raise ValueError("alpha < 0")
    k = len(a)
    rows = 1 if size is None else np.empty(size, np.int8).size
    made = np.empty((rows, k))
    for i in range(rows):
        total = 0.0
        for j in range(k):
            made[i, j] = gamma(a[j])
            total += made[i, j]
        scale = 1 / total
        for j in range(k):
            made[i, j] = made[i, j] * scale
    if size is None:
        return made[0]
    else:
        return made.reshape(np.empty(size, np.int8).shape + (k,))
