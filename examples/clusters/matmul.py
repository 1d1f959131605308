"""Multiplies matrices that are spread over the ranks of the job, and solves with the product.

mpirun -n 2 python examples/clusters/matmul.py [SIZE]
"""

import sys

import unisono as un

n = int(sys.argv[1]) if len(sys.argv) > 1 else 300
mesh = un.mesh("mpi")

i = un.arange(n, mesh=mesh)
a = 1.0 / (1 + un.abs(i[:, None] - i))  # each rank makes its rows
b = a @ a.T  # panels of a go from rank to rank
x = un.linalg.solve(b, un.ones(n, mesh=mesh))
error = float(un.abs(b @ x - 1).max())
norm = float(un.linalg.norm(b))
if mesh.rank == 0:
    print(f"{n} x {n}: norm of the product {norm:.6f}, largest error of the solution {error:.1e}")
