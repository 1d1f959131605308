"""Engines under MPI that a script or a notebook drives: ranks compute, this process looks at what they have.

python examples/clusters/interactive.py [ENGINES]     (needs ipyparallel and mpirun)

In a notebook `un.cluster` makes cells that begin with %%px run on all engines.
"""

import sys

import unisono as un

with un.cluster(int(sys.argv[1]) if len(sys.argv) > 1 else 2) as c:
    c.push(n=200, top=100.0)
    c.execute("""
mesh = un.mesh("mpi")
u = un.zeros((n, n), mesh=mesh)
u[0] = top
u[:, 0], u[1:, -1] = 75, 50
v = u.copy()
""")

    def sweeps(count):
        # Runs on the engines, whose names it uses.
        global u, v
        for _ in range(count):
            v[1:-1, 1:-1] = ((u[:-2, 1:-1] + u[2:, 1:-1]) + (u[1:-1, :-2] + u[1:-1, 2:])) / 4
            u, v = v, u
        return float(u.sum())

    totals = c.apply(sweeps, 100)
    print(c["u"])  # what it is and where; the elements stay on the engines
    print("sum of the field:", f"{totals[0]:.6f}", "- the same on all ranks:", len({*totals}) == 1)
    print("a corner of the last rank's part:", c["u"].local(-1)[-2:, -2:].tolist())

    try:
        c.execute("if mesh.rank == mesh.size - 1:\n    1 / 0")
    except un.RemoteError as error:
        print(error)
        # c.debug(error.rank) would now ask for commands of pdb.
        print(c.debug(error.rank, commands=["p mesh.size"]))
