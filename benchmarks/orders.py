"""Sorting, counting and reducing ten million elements."""

import numpy as np
from timing import best_of

SIZE = 10_000_000


def inputs(name):
    rng = np.random.default_rng(0)
    if name == "unique-distinct":
        return rng.permutation(SIZE).astype("int32")
    if name == "unique":
        return rng.integers(0, 1000, SIZE).astype("int32")
    return rng.random(SIZE)


def numpy_does(name, x):
    return {
        "sum": lambda: x.sum(),
        "argmax": lambda: x.argmax(),
        "cumsum": lambda: np.cumsum(x),
        "sort": lambda: np.sort(x),
        "argsort": lambda: np.argsort(x),
        "top-100": lambda: np.sort(np.partition(x, SIZE - 100)[SIZE - 100 :])[::-1],
        "unique": lambda: np.unique(x),
        "unique-distinct": lambda: np.unique(x),
        "histogram": lambda: np.histogram(x, 100)[0],
    }[name]


def ours_does(name, x):
    import unisono as un

    a = un.asarray(x)
    return {
        "sum": lambda: a.sum(),
        "argmax": lambda: a.argmax(),
        "cumsum": lambda: un.cumsum(a),
        "sort": lambda: un.sort(a),
        "argsort": lambda: un.argsort(a),
        "top-100": lambda: un.top_k(a, 100)[0],
        "unique": lambda: un.unique(a),
        "unique-distinct": lambda: un.unique(a),
        "histogram": lambda: un.histogram(a, 100)[0],
    }[name]


def measure(name, who):
    x = inputs(name)
    if who == "numpy":
        repeats = 1 if name == "unique-distinct" else 7
        return best_of(numpy_does(name, x), repeats=repeats)
    import unisono as un

    function = ours_does(name, x)

    def run():
        result = function()
        un.eval(result)
        return result

    first = np.asarray(run())
    run()
    best = best_of(run, repeats=15)
    # NumPy's BLAS keeps a processor busy for a tenth of a second after a call: it is asked last.
    check(name, x, first)
    return best


def check(name, x, result):
    """The result of the first run, against NumPy's or by what it means."""
    if name == "argsort":
        assert np.array_equal(x[result], np.sort(x))
    elif name == "unique-distinct":
        assert np.array_equal(result, np.arange(SIZE))
    elif name in ("sum", "cumsum"):
        assert np.allclose(result, numpy_does(name, x)(), rtol=1e-10)
    else:
        assert np.array_equal(result, numpy_does(name, x)())
