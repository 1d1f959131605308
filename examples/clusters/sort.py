"""Sorts a long vector that is spread over the ranks of the job, and looks values up in it.

mpirun -n 2 python examples/clusters/sort.py [ELEMENTS]
"""

import sys

import numpy as np
import unisono as un

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
mesh = un.mesh("mpi")

keys = un.empty(n, mesh=mesh)
part = keys.global_index[0]
# Each rank makes its own part: no rank ever holds all.
keys.local = np.modf(np.arange(part.start, part.stop) * 0.6180339887498949)[0]

ordered = un.sort(keys)
order = un.argsort(keys)
assert bool((ordered[1:] >= ordered[:-1]).all())
assert bool((keys[order] == ordered).all())
median, many = float(ordered[n // 2]), int((keys > 0.75).sum())
if mesh.rank == 0:
    print(f"{n} keys in order; the median is {median:.4f}, and {many} lie above 0.75")
