"""A fused expression on ten million elements, and five operations on ten."""

import time

import numpy as np
from timing import best_of

SIZE = 10_000_000


def measure(name, who):
    if name == "small":
        return measure_small(who)
    return measure_large(who, enters=name == "asarray")


def measure_large(who, enters=False):
    rng = np.random.default_rng(0)
    x, y, z = (rng.random(SIZE) for _ in range(3))
    if who == "numpy":
        return best_of(lambda: x * y + z * 2 - x / 3)
    if who == "gcc":
        import compiled

        function, out = compiled.expression(), np.empty(SIZE)
        function(x, y, z, out)
        return best_of(lambda: function(x, y, z, out))
    if who == "drjit":
        return measure_drjit(x, y, z)
    if who in ("numba", "jax"):
        return (measure_numba if who == "numba" else measure_jax)(x, y, z)
    if who == "taichi":
        import taichi_peer

        return taichi_peer.expression(x, y, z, functions=False)
    import unisono as un

    inputs = [un.asarray(v) for v in (x, y, z)]

    def run():
        a, b, c = (un.asarray(v) for v in (x, y, z)) if enters else inputs
        r = a * b + c * 2 - a / 3
        un.eval(r)
        return r

    for _ in range(5):
        result = run()
    assert np.array_equal(np.asarray(result), x * y + z * 2 - x / 3)
    del result
    return best_of(run, 1, 15)


def measure_numba(x, y, z):
    import numba

    @numba.njit(parallel=True)
    def run(a, b, c):
        return a * b + c * 2 - a / 3

    run(x, y, z)
    return best_of(lambda: run(x, y, z))


def measure_jax(x, y, z):
    import jax

    jax.config.update("jax_enable_x64", True)
    run = jax.jit(lambda a, b, c: a * b + c * 2 - a / 3)
    a, b, c = (jax.numpy.asarray(v) for v in (x, y, z))
    run(a, b, c).block_until_ready()
    return best_of(lambda: run(a, b, c).block_until_ready())


def measure_drjit(x, y, z):
    import drjit as dr
    from drjit.llvm import Float64

    a, b, c = Float64(x), Float64(y), Float64(z)
    dr.eval(a, b, c)

    def run():
        r = a * b + c * 2 - a / 3
        dr.eval(r)
        dr.sync_thread()

    for _ in range(5):
        run()
    return best_of(run, 1, 15)


def measure_small(who, count=20_000):
    """Other inputs each time; every value is read and checked afterwards."""
    if who == "unisono":
        import unisono as module
    else:
        module = np
    rng = np.random.default_rng(0)
    raw = [rng.random(10) for _ in range(64)]
    inputs = [module.asarray(r.copy() if module is np else r) for r in raw]
    wanted = [float((((r + 1.0) * 2.0 - r) / 3.0 * r)[4]) for r in raw]

    def run():
        values = []
        for k in range(count):
            r = inputs[k & 63]
            values.append(float((((r + 1.0) * 2.0 - r) / 3.0 * r)[4]))
        return values

    run()
    best = float("inf")
    for _ in range(5):
        begin = time.perf_counter()
        values = run()
        best = min(best, time.perf_counter() - begin)
        assert all(v == wanted[k & 63] for k, v in enumerate(values))
    return best / count
