"""Sweeps of the Jacobi iteration by slices and by loops, ours and the peers'."""

import compiled
from timing import best_of


def slices(u, u_new):
    u_new[1:-1, 1:-1] = ((u[0:-2, 1:-1] + u[2:, 1:-1]) + (u[1:-1, 0:-2] + u[1:-1, 2:])) / 4


def in_place(u, same):
    u[1:-1, 1:-1] = ((u[0:-2, 1:-1] + u[2:, 1:-1]) + (u[1:-1, 0:-2] + u[1:-1, 2:])) / 4


def line(u, u_new):
    u_new[1:-1] = (u[:-2] + u[1:-1] + u[2:]) / 3


def loops(u, u_new):
    for y in range(1, u.shape[0] - 1):
        for x in range(1, u.shape[1] - 1):
            u_new[y, x] = (u[y + 1, x] + u[y - 1, x] + u[y, x + 1] + u[y, x - 1]) / 4


def field(module, n):
    u = module.zeros((n, n))
    u[0, :] = 100
    u[:, 0] = 75
    u[:, -1] = 50
    return u, u.copy()


def time_sweeps(step, u, v, wait=lambda: None):
    count = max(4, 64_000_000 // u.size) // 2 * 2

    def sweeps():
        a, b = u, v
        for _ in range(count):
            step(a, b)
            a, b = b, a
        wait()

    sweeps()
    return best_of(sweeps, count, 5)


def measure(name, who):
    kind, size = name.split("-", 1)
    if size.startswith("in-place"):
        return measure_in_place(int(size.removeprefix("in-place-")), who)
    n = 4000 if size == "slices" else int(size.removeprefix("slices-"))
    if kind == "jacobi":
        return measure_slices(n, who)
    if kind == "line":
        return measure_line(n, who)
    return measure_loops(n, who, parallel=kind == "prange")


def measure_slices(n, who):
    if who == "unisono":
        import numpy as np
        import unisono as un

        u, v = (un.asarray(a) for a in field(np, n))
        return time_sweeps(slices, u, v, un.synchronize)
    import numpy as np

    u, v = field(np, n)
    if who == "numpy":
        return time_sweeps(slices, u, v)
    if who == "numba":
        import numba

        @numba.njit(parallel=True)
        def step(u, u_new):
            for y in numba.prange(1, u.shape[0] - 1):
                for x in range(1, u.shape[1] - 1):
                    u_new[y, x] = ((u[y - 1, x] + u[y + 1, x]) + (u[y, x - 1] + u[y, x + 1])) / 4

        return time_sweeps(step, u, v)
    if who == "taichi":
        import taichi_peer

        return taichi_peer.jacobi(u, v)
    return measure_jax(u)


def measure_in_place(n, who):
    import numpy as np

    u = field(np, n)[0]
    if who == "numpy":
        return time_sweeps(in_place, u, u)
    if who == "numba":
        import numba

        return time_sweeps(numba.njit(parallel=True)(in_place), u, u)
    import unisono as un

    u = un.asarray(u)
    return time_sweeps(in_place, u, u, un.synchronize)


def measure_line(n, who):
    import numpy as np

    u = np.linspace(0, 1, n)
    if who == "numpy":
        return time_sweeps(line, u, u.copy())
    import unisono as un

    return time_sweeps(line, un.asarray(u), un.asarray(u.copy()), un.synchronize)


def measure_jax(u):
    import jax

    jax.config.update("jax_enable_x64", True)

    @jax.jit
    def step(u):
        inner = ((u[0:-2, 1:-1] + u[2:, 1:-1]) + (u[1:-1, 0:-2] + u[1:-1, 2:])) / 4
        return u.at[1:-1, 1:-1].set(inner)

    state = [step(jax.numpy.asarray(u)).block_until_ready()]

    def sweep():
        state[0] = step(state[0]).block_until_ready()

    return best_of(sweep, 1, 9)


def measure_loops(n, who, parallel):
    import numpy as np

    u, v = field(np, n)
    if who in ("gcc", "gfortran"):
        return time_sweeps(compiled.jacobi(who, parallel), u, v)
    import unisono as un

    if not parallel:
        return time_sweeps(un.jit(loops), u, v)

    @un.jit
    def parallel_loops(u, u_new):
        for y in un.prange(1, u.shape[0] - 1):
            for x in range(1, u.shape[1] - 1):
                u_new[y, x] = (u[y + 1, x] + u[y - 1, x] + u[y, x + 1] + u[y, x - 1]) / 4

    return time_sweeps(parallel_loops, u, v)
