"""Laplace's equation with messages between neighbours, on ranks and on the threads of each.

mpirun -n 2 python examples/clusters/messages.py [SIZE] [loops|slices|threads] [DEVICE]

Each rank has SIZE / ranks rows and a row of each neighbour; no rank has the whole field. A sweep is done by compiled loops,
by slices of our arrays, or by compiled loops on all threads of a rank (hybrid: ranks share a node's processors out).
"""

import os
import random
import sys

import numpy as np
import unisono as un

eps = 1e-4


@un.jit
def loops(u, u_new, dim_y, dim_x):
    for y in range(1, dim_y - 1):
        for x in range(1, dim_x - 1):
            u_new[y, x] = ((u[y - 1, x] + u[y + 1, x]) + (u[y, x - 1] + u[y, x + 1])) / 4


def slices(u, u_new, dim_y, dim_x):
    u_new[1:-1, 1:-1] = ((u[0:-2, 1:-1] + u[2:, 1:-1]) + (u[1:-1, 0:-2] + u[1:-1, 2:])) / 4


@un.jit
def threads(u, u_new, dim_y, dim_x):
    for y in un.prange(1, dim_y - 1):
        for x in range(1, dim_x - 1):
            u_new[y, x] = ((u[y - 1, x] + u[y + 1, x]) + (u[y, x - 1] + u[y, x + 1])) / 4


def initialize(dim, comm, rank, size):
    """This rank's rows and those of its neighbours, before the first sweep; twice."""
    init_vals = None
    if rank == 0:
        top = random.random() * 100
        left = random.random() * 75
        right = random.random() * 50
        bottom = random.random() * 25
        init_vals = {"top": top, "left": left, "right": right, "bottom": bottom}
    init_vals = comm.bcast(obj=init_vals)
    u = np.zeros((dim // size, dim))
    if rank == 0:
        u = np.vstack((u, np.zeros(dim)))
        u[0, :] = init_vals["top"]
        u[:, 0] = init_vals["left"]
        u[:, -1] = init_vals["right"]
    elif rank == size - 1:
        u = np.vstack((np.zeros(dim), u))
        u[-1, :] = init_vals["bottom"]
        u[:, 0] = init_vals["left"]
        u[:, -1] = init_vals["right"]
    else:
        u = np.vstack((np.zeros(dim), u, np.zeros(dim)))
        u[:, 0] = init_vals["left"]
        u[:, -1] = init_vals["right"]

    u_new = np.copy(u)
    return u, u_new


def run(u, u_new, comm, rank, size, solve):
    """Sweep until no point grows by more than eps; returns the number of sweeps. The last is into `u_new`."""
    cont_vals = [True]
    iteration = 0
    while cont_vals[-1] == True:  # noqa: E712  (this list is sorted: True last unless all are False)
        if iteration % 2 == 0:
            if rank != 0:
                comm.Send(u[1], dest=(rank - 1))  # send top row to proc above
            if rank != size - 1:
                comm.Recv(u[-1], source=(rank + 1))  # recv boundary from proc below
            if rank != size - 1:
                comm.Send(u[-2], dest=(rank + 1))  # send bottom row to proc below
            if rank != 0:
                comm.Recv(u[0], source=(rank - 1))  # recv top row from proc above
            solve(u, u_new, u.shape[0], u.shape[1])
        else:
            if rank != 0:
                comm.Send(u_new[1], dest=(rank - 1))
            if rank != size - 1:
                comm.Recv(u_new[-1], source=(rank + 1))
            if rank != size - 1:
                comm.Send(u_new[-2], dest=(rank + 1))
            if rank != 0:
                comm.Recv(u_new[0], source=(rank - 1))
            solve(u_new, u, u.shape[0], u.shape[1])

        # test for convergence
        if iteration % 1000 == 0:
            cont = False
            if np.max(u_new - u) > eps:
                cont = True
            cont_vals = comm.allgather(cont)
            cont_vals.sort()
        iteration = iteration + 1
    return iteration


def main():
    dim = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    how = sys.argv[2] if len(sys.argv) > 2 else "slices"
    device = sys.argv[3] if len(sys.argv) > 3 else "cpu"
    solve = {"loops": loops, "slices": slices, "threads": threads}[how]
    comm = un.mpi.COMM_WORLD
    rank, size = comm.rank, comm.size
    if size < 2 or dim % size:
        sys.exit(
            f"messages: SIZE is a multiple of the number of ranks, which is 2 or more; got {dim} and {size}"
        )
    if how == "threads":
        un.set_num_threads(max(1, os.cpu_count() // size))
    random.seed(1)
    u, u_new = initialize(dim, comm, rank, size)
    u, u_new = un.asarray(u, device=device), un.asarray(u_new, device=device)
    iterations = run(u, u_new, comm, rank, size, solve)
    own = np.asarray(u_new.to_device("cpu"))[int(rank != 0) : len(u) - int(rank != size - 1)]
    parts = comm.gather(own)
    if rank == 0:
        field = np.concatenate(parts)
        print(f"{dim} x {dim} by {how}: {iterations} sweeps, sum of the field {field.sum():.6f}")


if __name__ == "__main__":
    main()
