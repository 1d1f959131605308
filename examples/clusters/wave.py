"""A nonlinear wave, u_tt = u_xx + u_yy - u**3, on as many ranks as the job has.

mpirun -n 2 python examples/clusters/wave.py [SIZE] [STEPS]
"""

import sys

import numpy as np
import unisono as un

n = int(sys.argv[1]) if len(sys.argv) > 1 else 200
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 300
mesh = un.mesh("mpi")
h = 1 / (n - 1)
dt = 0.5 * h

x = un.arange(n, mesh=mesh)[:, None] * h - 0.5
y = np.arange(n)[None, :] * h - 0.5  # the same on all ranks
before = un.exp(-200 * (x * x + y * y))
before[0] = before[-1] = before[:, 0] = before[:, -1] = 0
now, after = before.copy(), before.copy()


def energy(u, v):
    """Of the state between two time steps."""
    velocity = (v - u) / dt
    dx, dy = (v[1:] - v[:-1]) / h, (v[:, 1:] - v[:, :-1]) / h
    total = (velocity**2).sum() / 2 + ((dx**2).sum() + (dy**2).sum()) / 2 + (v**4).sum() / 4
    return float(total) * h * h


start = energy(before, now)
for _ in range(steps):
    u = now[1:-1, 1:-1]
    lap = (now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:] - 4 * u) / (h * h)
    after[1:-1, 1:-1] = 2 * u - before[1:-1, 1:-1] + dt * dt * (lap - u * u * u)
    before, now, after = now, after, before
end = energy(before, now)
if mesh.rank == 0:
    print(f"{n} x {n}, {steps} steps: energy {start:.6f} at the start, {end:.6f} at the end")
