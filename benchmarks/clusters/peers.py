"""The programs with mpi4py and NumPy: each rank has its rows, and sends what others need.

mpirun -n 2 python benchmarks/clusters/peers.py PROGRAM SIZE REPEATS
"""

import sys
import time

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size


def rows(n):
    return n * rank // size, n * (rank + 1) // size


class Halo:
    """Rows of a table with one row of each neighbour beside them."""

    def __init__(self, n, m):
        self.begin, self.end = rows(n)
        self.data = np.zeros((self.end - self.begin + 2, m))
        self.up = rank - 1 if rank > 0 else MPI.PROC_NULL
        self.down = rank + 1 if rank + 1 < size else MPI.PROC_NULL

    def exchange(self):
        d = self.data
        comm.Sendrecv(d[1], self.up, recvbuf=d[-1], source=self.down)
        comm.Sendrecv(d[-2], self.down, recvbuf=d[0], source=self.up)


def laplace(n):
    u, v = Halo(n, n), Halo(n, n)
    for a in (u, v):
        if rank == 0:
            a.data[1] = 100
        a.data[:, 0] = a.data[:, -1] = 75
    # The first and the last row of the whole stay as they are.
    first, last = 1 + (rank == 0), u.data.shape[0] - 1 - (rank == size - 1)

    def step():
        nonlocal u, v
        u.exchange()
        x, y = u.data, v.data
        y[first:last, 1:-1] = (
            (x[first - 1 : last - 1, 1:-1] + x[first + 1 : last + 1, 1:-1])
            + (x[first:last, :-2] + x[first:last, 2:])
        ) / 4
        u, v = v, u

    return step


def wave(n):
    a, b, c = Halo(n, n), Halo(n, n), Halo(n, n)
    begin, end = rows(n)
    x = np.arange(begin, end)[:, None] / n - 0.5
    y = np.arange(n)[None, :] / n - 0.5
    a.data[1:-1] = b.data[1:-1] = np.exp(-100 * (x * x + y * y))
    first, last = 1 + (rank == 0), a.data.shape[0] - 1 - (rank == size - 1)

    def step():
        nonlocal a, b, c
        b.exchange()
        u, v, w = a.data, b.data, c.data
        lap = (
            v[first - 1 : last - 1, 1:-1]
            + v[first + 1 : last + 1, 1:-1]
            + v[first:last, :-2]
            + v[first:last, 2:]
            - 4 * v[first:last, 1:-1]
        )
        w[first:last, 1:-1] = 2 * v[first:last, 1:-1] - u[first:last, 1:-1] + 0.2 * lap
        a, b, c = b, c, a

    return step


def conjugate_gradient(n):
    """Of the five-point operator on an n x n table with zeros around it."""
    begin, end = rows(n)
    p = Halo(n, n)
    x = np.zeros((end - begin, n))
    r = np.ones((end - begin, n))
    p.data[1:-1] = r

    def dot(a, b):
        return comm.allreduce(float(np.vdot(a, b)))

    rho = dot(r, r)

    def step():
        nonlocal rho, x, r
        p.exchange()
        d = p.data
        q = 4 * d[1:-1]
        q -= d[:-2]
        q -= d[2:]
        q[:, 1:] -= d[1:-1, :-1]
        q[:, :-1] -= d[1:-1, 1:]
        alpha = rho / dot(d[1:-1], q)
        x += alpha * d[1:-1]
        r -= alpha * q
        new = dot(r, r)
        d[1:-1] *= new / rho
        d[1:-1] += r
        rho = new

    return step


def sort(n):
    begin, end = rows(n)
    keys = np.random.default_rng(rank).random(end - begin)

    def step():
        own = np.sort(keys)
        samples = own[np.linspace(0, len(own) - 1, 64).astype(int)]
        every = np.sort(np.concatenate(comm.allgather(samples)))
        cuts = np.searchsorted(own, every[[len(every) * r // size for r in range(1, size)]])
        counts = np.diff(np.concatenate([[0], cuts, [len(own)]]))
        theirs = np.empty(size, int)
        comm.Alltoall(counts, theirs)
        got = np.empty(theirs.sum())
        comm.Alltoallv((own, counts), (got, theirs))
        got.sort()
        return got

    return step


def fft2(n):
    begin, end = rows(n)
    x = np.random.default_rng(rank).random((end - begin, n)) + 0j

    def step():
        a = np.fft.fft(x, axis=1)
        out = np.concatenate(
            [a[:, r * n // size : (r + 1) * n // size].ravel() for r in range(size)]
        )
        got = np.empty_like(out)
        comm.Alltoall(out, got)  # equal parts
        b = got.reshape(n, -1)
        return np.fft.fft(b, axis=0)

    return step


def matmul(n):
    begin, end = rows(n)
    rng = np.random.default_rng(rank)
    a, b = rng.random((end - begin, n)), rng.random((end - begin, n))
    panel = np.empty_like(b)

    def step():
        c = np.zeros((end - begin, n))
        for r in range(size):
            panel[...] = b
            comm.Bcast(panel, r)
            c += a[:, r * n // size : (r + 1) * n // size] @ panel
        return c

    return step


def main():
    name, n, repeats = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    step = globals()[name](n)
    step()
    best = np.inf
    for _ in range(3):
        comm.Barrier()
        start = time.perf_counter()
        for _ in range(repeats):
            step()
        comm.Barrier()
        best = min(best, (time.perf_counter() - start) / repeats)
    if rank == 0:
        print(best)


if __name__ == "__main__":
    main()
