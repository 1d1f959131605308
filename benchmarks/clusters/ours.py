"""The same programs as they are on one processor, on distributed arrays; or on threads where MESH is "threads".

mpirun -n 2 python benchmarks/clusters/ours.py PROGRAM SIZE REPEATS mesh

Where MESH is "halos", two times are printed: of halos that serve several sweeps, and of halos that are sent for each.
"""

import sys
import time

import numpy as np
import unisono as un

mesh = None if sys.argv[4] == "threads" else un.mesh("mpi")


def laplace(n):
    u, v = un.zeros((n, n), mesh=mesh), un.zeros((n, n), mesh=mesh)
    for a in (u, v):
        a[0, :] = 100
        a[:, 0] = a[:, -1] = 75

    def step():
        nonlocal u, v
        v[1:-1, 1:-1] = ((u[:-2, 1:-1] + u[2:, 1:-1]) + (u[1:-1, :-2] + u[1:-1, 2:])) / 4
        u, v = v, u

    return step


def wave(n):
    x = un.arange(n, mesh=mesh)[:, None] / n - 0.5
    y = np.arange(n)[None, :] / n - 0.5
    a = un.exp(-100 * (x * x + y * y))
    b, c = a.copy(), un.zeros((n, n), mesh=mesh)

    def step():
        nonlocal a, b, c
        lap = b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] - 4 * b[1:-1, 1:-1]
        c[1:-1, 1:-1] = 2 * b[1:-1, 1:-1] - a[1:-1, 1:-1] + 0.2 * lap
        a, b, c = b, c, a

    return step


def conjugate_gradient(n):
    """Of the five-point operator on an n x n table with zeros around it."""
    x, q, r = (un.zeros((n + 2, n + 2), mesh=mesh) for _ in range(3))
    r[1:-1, 1:-1] = 1
    p = r.copy()
    rho = (r * r).sum()

    def step():
        nonlocal rho, x, r, p
        q[1:-1, 1:-1] = 4 * p[1:-1, 1:-1] - p[:-2, 1:-1] - p[2:, 1:-1] - p[1:-1, :-2] - p[1:-1, 2:]
        alpha = rho / (p * q).sum()
        x += alpha * p
        r -= alpha * q
        new = (r * r).sum()
        p *= new / rho
        p += r
        rho = new

    return step


def sort(n):
    keys = un.asarray(np.random.default_rng(0).random(n), mesh=mesh)
    return lambda: un.sort(keys)


def fft2(n):
    x = un.asarray(np.random.default_rng(0).random((n, n)) + 0j, mesh=mesh)
    return lambda: un.fft.fft2(x)


def matmul(n):
    rng = np.random.default_rng(0)
    a, b = un.asarray(rng.random((n, n)), mesh=mesh), un.asarray(rng.random((n, n)), mesh=mesh)
    return lambda: a @ b


def run(step, repeats):
    for _ in range(repeats):
        made = step()
        if made is not None:
            un.eval(made)
    un.synchronize()
    if mesh:
        mesh.barrier()


def timed(step, repeats):
    un.synchronize()
    if mesh:
        mesh.barrier()
    start = time.perf_counter()
    run(step, repeats)
    return (time.perf_counter() - start) / repeats


def compare_halos(step, repeats):
    """Halos for several sweeps and for each in turn, so that the machine's noise meets both."""
    best = {True: np.inf, False: np.inf}
    for _ in range(10):
        for shares in best:
            mesh.shares_exchanges = shares
            run(step, repeats // 4)  # windows are recorded, kernels compiled
            best[shares] = min(best[shares], timed(step, repeats))
    if mesh.rank == 0:
        print(best[False], best[True])


def main():
    name, n, repeats = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    step = globals()[name](n)
    if sys.argv[4] == "halos":
        return compare_halos(step, repeats)
    run(step, 1)
    best = min(timed(step, repeats) for _ in range(3))
    if mesh is None or mesh.rank == 0:
        print(best)


if __name__ == "__main__":
    main()
