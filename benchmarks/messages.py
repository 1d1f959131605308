"""Messages and windows of unisono.mpi beside mpi4py's: mpirun -n 2 PYTHON benchmarks/messages.py.

Prints the best time of a call, ours and mpi4py's, and their ratio. A message goes there and back.
"""

import time

import numpy as np
import unisono as un
from mpi4py import MPI

theirs, ours = MPI.COMM_WORLD, un.mpi.COMM_WORLD
rank = theirs.rank
ROUNDS = 60  # of both in turn, so that the machine's noise meets both; the best one of each counts


def compare(name, mine, base, repeats):
    """Shortest times of a call of both, over rounds that all ranks begin together."""
    best = [float("inf")] * 2
    for round_ in range(ROUNDS):
        for which in (0, 1) if round_ % 2 else (1, 0):
            theirs.Barrier()
            start = time.perf_counter()
            (mine, base)[which](repeats)
            if round_ > 0:  # the first one warms up
                best[which] = min(best[which], (time.perf_counter() - start) / repeats)
    a, b = best
    if rank == 0:
        print(f"{name:40} {a * 1e6:10.2f} us {b * 1e6:10.2f} us {a / b:6.2f}", flush=True)


def there_and_back(send, receive, sent, received):
    """A message from rank 0 to rank 1 and back."""
    other = 1 - rank

    def run(repeats):
        for _ in range(repeats):
            if rank == 0:
                send(sent, other)
                receive(received, other)
            else:
                receive(received, other)
                send(sent, other)

    return run


def from_rank_0(call):
    """Calls that rank 0 makes."""

    def run(repeats):
        if rank == 0:
            for _ in range(repeats):
                call()

    return run


def messages(n, repeats):
    x, u = np.zeros(n), un.asarray(np.zeros(n))
    base = there_and_back(theirs.Send, theirs.Recv, x, x)
    mine = there_and_back(ours.Send, ours.Recv, u, u)
    compare(f"message of {8 * n} bytes", mine, base, repeats)
    mine = there_and_back(ours.Send, ours.Recv, x, x)
    compare("  ours with NumPy's memory", mine, base, repeats)


def objects(repeats):
    thing = {"a": 1}
    base = there_and_back(theirs.send, lambda _, source: theirs.recv(source=source), thing, None)
    mine = there_and_back(ours.send, lambda _, source: ours.recv(source=source), thing, None)
    compare("object", mine, base, repeats)


def one_sided(n, repeats):
    x, u = np.ones(n), un.asarray(np.ones(n))
    for share in (True, False):
        mine = un.mpi.window(n, share=share)
        allocate = MPI.Win.Allocate_shared if share else MPI.Win.Allocate
        raw = allocate(8 * n, 8, comm=theirs)
        raw.Lock_all()

        def put(raw=raw):
            raw.Put(x, 1)
            raw.Flush_local(1)

        def get(raw=raw):
            raw.Get(x, 1)
            raw.Flush(1)

        def accumulate(raw=raw):
            raw.Accumulate(x, 1)
            raw.Flush_local(1)

        where = "shared" if share else "apart"
        for base in (put, get, accumulate):
            call = getattr(mine, base.__name__)
            compare(
                f"{base.__name__} of {8 * n} bytes, {where}",
                from_rank_0(lambda call=call: call(u, 1)),
                from_rank_0(base),
                repeats,
            )
        raw.Unlock_all()
        raw.Free()
        mine.free()


if __name__ == "__main__":
    if rank == 0:
        print(f"{'':40} {'unisono':>13} {'mpi4py':>13}  ratio")
    messages(1, 1000)
    messages(1_000_000, 5)
    objects(500)
    one_sided(1, 1000)
    one_sided(1_000_000, 4)
