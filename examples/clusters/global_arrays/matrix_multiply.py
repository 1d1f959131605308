"""The product of two matrices: each rank gets the rows and columns that its block of the result needs.

mpirun -n 2 python examples/clusters/global_arrays/matrix_multiply.py [SIZE]
"""

import sys

import numpy as np
import unisono as un
from unisono import ga

n = int(sys.argv[1]) if len(sys.argv) > 1 else 400

g_a, g_b, g_c, g_d = (ga.create(ga.C_DBL, (n, n), name=name) for name in "abcd")
if ga.nodeid() == 0:
    values = np.arange(n * n, dtype=np.float64).reshape(n, n) % 7
    ga.put(g_a, values)
    ga.put(g_b, values - 3)
ga.sync()

(top, left), (bottom, right) = ga.distribution(g_c)
if top < bottom and left < right:
    panel = ga.get(g_a, (top, 0), (bottom, n))
    columns = ga.get(g_b, (0, left), (n, right))
    block = ga.access(g_c)
    block[...] = un.matmul(panel, columns)
    ga.release_update(g_c)
ga.sync()

# The library's own.
ga.gemm(False, False, n, n, n, 1, g_a, g_b, 0, g_d)
ga.add(g_c, g_d, g_d, beta=-1)
largest = abs(ga.select_elem_max(g_d)[0])
trace = float(np.trace(np.asarray(ga.get(g_c)))) if ga.nodeid() == 0 else 0
if ga.nodeid() == 0:
    print(
        f"{n} x {n}: trace of the product {trace:.0f}, largest difference from gemm {largest:.0f}"
    )
ga.sync()
for handle in (g_a, g_b, g_c, g_d):
    ga.destroy(handle)
