"""The transpose of a matrix: each rank transposes its block and puts it where it belongs.

mpirun -n 2 python examples/clusters/global_arrays/transpose.py [ROWS] [COLUMNS]
"""

import sys

import numpy as np
from unisono import ga

rows = int(sys.argv[1]) if len(sys.argv) > 1 else 600
columns = int(sys.argv[2]) if len(sys.argv) > 2 else 400

g_a = ga.create(ga.C_INT, (rows, columns))
g_t = ga.create(ga.C_INT, (columns, rows))
if ga.nodeid() == 0:
    ga.put(g_a, np.arange(rows * columns, dtype=np.int32).reshape(rows, columns))
ga.sync()

lo, hi = ga.distribution(g_a)
if all(low < high for low, high in zip(lo, hi, strict=True)):
    block = ga.access(g_a)
    ga.put(g_t, block.T.copy(), lo[::-1], hi[::-1])
    ga.release(g_a)
ga.sync()

if ga.nodeid() == 0:
    wanted = np.arange(rows * columns).reshape(rows, columns).T
    print(f"{rows} x {columns}: transposed: {np.array_equal(ga.get(g_t), wanted)}")
ga.sync()
ga.destroy(g_a)
ga.destroy(g_t)
