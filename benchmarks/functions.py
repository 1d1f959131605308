"""Mathematical functions in one fused expression on ten million elements."""

import numpy as np
from timing import best_of

SIZE = 10_000_000


def measure(name, who):
    rng = np.random.default_rng(0)
    x, y, z = (rng.uniform(-5, 5, SIZE) for _ in range(3))
    if who == "numpy":
        return best_of(lambda: by_numpy(x, y, z))
    if who == "numba":
        return measure_numba(x, y, z)
    if who == "jax":
        return measure_jax(x, y, z)
    if who == "taichi":
        import taichi_peer

        return taichi_peer.expression(x, y, z, functions=True)
    if who == "drjit":
        return measure_drjit(x, y, z)
    import unisono as un

    a, b, c = un.asarray(x), un.asarray(y), un.asarray(z)

    def run():
        r = un.sin(a) * 2 + un.exp(-b * b) - un.sqrt(un.abs(c))
        un.eval(r)
        return r

    for _ in range(5):
        result = run()
    # Two functions within 1 ULP each, three roundings, here and there: values up to 8.
    assert np.max(np.abs(np.asarray(result) - by_numpy(x, y, z))) <= 4e-15
    del result
    return best_of(run, 1, 15)


def by_numpy(x, y, z):
    return np.sin(x) * 2 + np.exp(-y * y) - np.sqrt(np.abs(z))


def measure_numba(x, y, z):
    import numba

    @numba.njit(parallel=True)
    def run(a, b, c):
        return np.sin(a) * 2 + np.exp(-b * b) - np.sqrt(np.abs(c))

    run(x, y, z)
    return best_of(lambda: run(x, y, z))


def measure_jax(x, y, z):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    run = jax.jit(lambda a, b, c: jnp.sin(a) * 2 + jnp.exp(-b * b) - jnp.sqrt(jnp.abs(c)))
    a, b, c = (jnp.asarray(v) for v in (x, y, z))
    run(a, b, c).block_until_ready()
    return best_of(lambda: run(a, b, c).block_until_ready())


def measure_drjit(x, y, z):
    import drjit as dr
    from drjit.llvm import Float64

    a, b, c = Float64(x), Float64(y), Float64(z)
    dr.eval(a, b, c)

    def run():
        r = dr.sin(a) * 2 + dr.exp(-b * b) - dr.sqrt(dr.abs(c))
        dr.eval(r)
        dr.sync_thread()

    for _ in range(5):
        run()
    return best_of(run, 1, 15)
