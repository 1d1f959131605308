"""Poisson's equation on a square by conjugate gradients, on as many ranks as the job has.

    python examples/clusters/conjugate_gradient.py [SIZE]
    mpirun -n 2 python examples/clusters/conjugate_gradient.py [SIZE]

The program is that of one processor: slices find their halos, and sums have the same bits on any number of ranks.
"""

import sys

import unisono as un

n = int(sys.argv[1]) if len(sys.argv) > 1 else 200
mesh = un.mesh("mpi")


def laplacian(p):
    """Five-point operator with zeros around the table."""
    q = 4 * p
    q[1:] -= p[:-1]
    q[:-1] -= p[1:]
    q[:, 1:] -= p[:, :-1]
    q[:, :-1] -= p[:, 1:]
    return q


b = un.ones((n, n), mesh=mesh) / (n + 1) ** 2
x = un.zeros((n, n), mesh=mesh)
r = b.copy()
p = r.copy()
rho = (r * r).sum()
steps = 0
while float(rho) > 1e-20:
    q = laplacian(p)
    alpha = rho / (p * q).sum()
    x += alpha * p
    r -= alpha * q
    new = (r * r).sum()
    p *= new / rho
    p += r
    rho = new
    steps += 1

middle = float(x[n // 2, n // 2])
rest = float(un.abs(laplacian(x) - b).max())
if mesh.rank == 0:
    print(f"{n} x {n}: {steps} steps, {middle:.6f} in the middle, largest residual {rest:.1e}")
