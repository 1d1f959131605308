"""An array whose blocks have sizes of one's own: later ranks get more rows, and each fills what it owns.

mpirun -n 2 python examples/clusters/global_arrays/irregular.py
"""

import numpy as np
from unisono import ga

rank, ranks = ga.nodeid(), ga.nnodes()
sizes = [4 * (k + 1) for k in range(ranks)]  # rows of each rank
starts = [sum(sizes[:k]) for k in range(ranks)]
shape = (sum(sizes), 5)

# For each axis the number of blocks; then where the blocks of each axis start.
g_a = ga.create_irreg(ga.C_INT, shape, (ranks, 1), [*starts, 0])
(top, _), (bottom, _) = ga.distribution(g_a)
block = ga.access(g_a)
block[...] = rank
ga.release_update(g_a)
ga.sync()

# Rows across the border of two blocks, from wherever they are.
owners = [np.asarray(ga.get(g_a, (row, 0), (row + 1, 5))).ravel()[0] for row in range(shape[0])]
wanted = [k for k in range(ranks) for _ in range(sizes[k])]
right = owners == wanted and bottom - top == sizes[rank]
everywhere = bool(ga.gop_min(np.array([int(right)], np.int32))[0])
if rank == 0:
    print(f"blocks of 4, 8, ... rows belong to ranks 0, 1, ...: {everywhere}")
ga.sync()
ga.destroy(g_a)
