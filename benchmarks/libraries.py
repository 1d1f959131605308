"""Products of matrices, norms, Fourier transforms and random numbers."""

import numpy as np
from timing import best_of

SIZE = 10_000_000
NAMES = ("matmul", "norm", "fft", "rfft", "random", "normal")


def inputs(name):
    rng = np.random.default_rng(0)
    if name == "matmul":
        return rng.random((2048, 2048))
    if name == "fft":
        return rng.random(SIZE) + 1j * rng.random(SIZE)
    return rng.random(SIZE if name in ("norm", "rfft") else 1)


def does(xp, name, x):
    generator = xp.random.default_rng(0)
    return {
        "matmul": lambda: x @ x,
        "norm": lambda: xp.linalg.norm(x),
        "fft": lambda: xp.fft.fft(x),
        "rfft": lambda: xp.fft.rfft(x),
        "random": lambda: generator.random(SIZE),
        "normal": lambda: generator.standard_normal(SIZE),
    }[name]


def measure(name, who):
    x = inputs(name)
    if who == "numpy":
        return best_of(does(np, name, x), repeats=7)
    import unisono as un

    function = does(un, name, un.asarray(x))

    def run():
        result = function()
        un.eval(result)
        return result

    first = np.asarray(run())
    best = best_of(run, repeats=15)
    # NumPy's BLAS keeps a processor busy for a tenth of a second after a call: it is asked last.
    if name in ("random", "normal"):
        assert abs(first.mean() - (0.5 if name == "random" else 0)) < 0.01
    else:
        expected = does(np, name, x)()
        assert np.allclose(first, expected, rtol=1e-10, atol=1e-10 * abs(expected).max())
    return best
