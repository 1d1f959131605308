"""Messages in compiled code, ours beside numba-mpi's: mpirun -n 2 PYTHON benchmarks/clusters/compiled_messages.py [peer].

Prints the best time of a message of 8 bytes, and of 8 MB, that goes there and back, in microseconds one way. With
`peer` it is numba-mpi's, in a Python that has it; Numba and this package do not share a process here.
"""

import sys
import time

import numpy as np

ROUNDS = 9


def ours():
    import unisono as un

    comm = un.mpi.COMM_WORLD

    @un.jit
    def there_and_back(x, n):
        for _ in range(n):
            if comm.rank == 0:
                comm.Send(x, 1, 0)
                comm.Recv(x, 1, 0)
            else:
                comm.Recv(x, 0, 0)
                comm.Send(x, 0, 0)

    return comm.rank, comm.Barrier, there_and_back


def peer():
    import numba
    import numba_mpi

    @numba.njit
    def there_and_back(x, n):
        for _ in range(n):
            if numba_mpi.rank() == 0:
                numba_mpi.send(x, 1, 0)
                numba_mpi.recv(x, 1, 0)
            else:
                numba_mpi.recv(x, 0, 0)
                numba_mpi.send(x, 0, 0)

    return numba_mpi.rank(), numba_mpi.barrier, there_and_back


if __name__ == "__main__":
    who = peer if "peer" in sys.argv[1:] else ours
    rank, barrier, run = who()
    for size, repeats in ((1, 20_000), (1_000_000, 40)):
        x = np.zeros(size)
        run(x, 10)
        best = float("inf")
        for _ in range(ROUNDS):
            barrier()
            start = time.perf_counter()
            run(x, repeats)
            best = min(best, time.perf_counter() - start)
        if rank == 0:
            name = "numba-mpi" if who is peer else "unisono"
            print(f"{name:10} {8 * size:10} bytes {best / repeats / 2 * 1e6:10.3f} us", flush=True)
