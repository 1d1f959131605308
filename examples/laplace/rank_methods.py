"""Methods that run on all ranks of an MPI job: distributed arrays, messages, messages with threads, global arrays."""

import os

import numpy as np
import unisono as un
from unisono import ga

from . import problem
from .method import Method
from .numpy_slices import solve


class DistributedSlices(Method):
    """The statement of numpy_slices.py on arrays distributed over the ranks of a mesh."""

    name = "slices"
    step = staticmethod(solve)

    def __init__(self, comm):
        self.mesh = un.mesh("mpi")

    def place(self, u):
        placed = un.zeros(u.shape, dtype=u.dtype.name, mesh=self.mesh)
        placed[0, :] = problem.TOP
        placed[:, 0] = problem.LEFT
        placed[:, -1] = problem.RIGHT
        return placed

    def wait(self):
        un.synchronize()
        self.mesh.barrier()

    def field(self):
        return np.asarray(self.u)  # all ranks gather


class Messages(Method):
    """Each rank has its rows and a row of each neighbour, which it sends and receives itself."""

    name = "messages, slices"
    solve = staticmethod(solve)

    def __init__(self, comm):
        self.comm = comm
        self.above = comm.rank - 1 if comm.rank > 0 else un.mpi.PROC_NULL
        self.below = comm.rank + 1 if comm.rank < comm.size - 1 else un.mpi.PROC_NULL

    def place(self, u):
        first, last = (k * len(u) // self.comm.size for k in (self.comm.rank, self.comm.rank + 1))
        first, last = max(first - 1, 0), min(last + 1, len(u))
        rows = un.zeros((last - first, u.shape[1]), dtype=u.dtype.name)
        if first == 0:
            rows[0, :] = problem.TOP
        rows[:, 0] = problem.LEFT
        rows[:, -1] = problem.RIGHT
        return rows

    def step(self, u, u_new):
        self.comm.Sendrecv(u[1], self.above, 0, u[-1], self.below, 0)
        self.comm.Sendrecv(u[-2], self.below, 1, u[0], self.above, 1)
        self.solve(u, u_new)

    def wait(self):
        un.eval(self.u, self.u_new)
        self.comm.barrier()

    def change(self):
        return self.comm.allreduce(super().change(), op=un.mpi.MAX)

    def field(self):
        own = self.u[int(self.comm.rank > 0) :]
        if self.comm.rank < self.comm.size - 1:
            own = own[:-1]
        parts = self.comm.gather(np.asarray(own))
        return None if parts is None else np.concatenate(parts)


@un.jit
def solve_in_parallel(u, u_new):
    for y in un.prange(1, u.shape[0] - 1):
        for x in range(1, u.shape[1] - 1):
            u_new[y, x] = ((u[y - 1, x] + u[y + 1, x]) + (u[y, x - 1] + u[y, x + 1])) / 4


class MessagesAndThreads(Messages):
    """The same with compiled loops on the threads of each rank, which share the node's processors out."""

    solve = staticmethod(solve_in_parallel)

    def __init__(self, comm):
        super().__init__(comm)
        threads = max(1, os.cpu_count() // comm.size)
        un.set_num_threads(threads)
        self.name = f"messages, un.prange on {threads} thread{'s' * (threads > 1)} each"


class GlobalArrays(Method):
    """One global array by rows, from which each rank gets its neighbours' rows."""

    name = "global arrays"

    def __init__(self, comm):
        self.comm = comm

    def start(self, u):
        self.g = ga.create({4: ga.C_FLOAT, 8: ga.C_DBL}[u.itemsize], u.shape, chunk=(0, u.shape[1]))
        if self.comm.rank == 0:
            ga.put(self.g, u)
        ga.sync()
        self.last = None

    def sweep(self, count):
        (first, _), (end, width) = ga.distribution(self.g)
        height = ga.inquire(self.g)[1][0]
        above, below = max(first - 1, 0), min(end + 1, height)
        for _ in range(count):
            ga.sync()
            u = ga.get(self.g, (above, 0), (below, width))
            ga.sync()
            mine = ga.access(self.g)
            self.last = np.array(mine)
            skip = 1 - (first - above)
            inner = mine[skip : len(mine) - 1 + (below - end), 1:-1]
            inner[...] = ((u[0:-2, 1:-1] + u[2:, 1:-1]) + (u[1:-1, 0:-2] + u[1:-1, 2:])) / 4
            ga.release_update(self.g)
        ga.sync()

    def change(self):
        mine = np.asarray(ga.access(self.g))
        return self.comm.allreduce(float((mine - self.last).max()), op=un.mpi.MAX)

    def field(self):
        ga.sync()
        return np.array(ga.get(self.g))

    def close(self):
        ga.destroy(self.g)


METHODS = (DistributedSlices, Messages, MessagesAndThreads, GlobalArrays)
