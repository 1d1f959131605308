"""The number pi by random points: ranks draw theirs in pieces that they take from a shared counter.

mpirun -n 2 python examples/clusters/global_arrays/pi.py [POINTS]
"""

import sys

import unisono as un
from unisono import ga

points = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
piece = 10_000
pieces = -(-points // piece)

counter = ga.create(ga.C_INT, (1,), name="next piece")
inside = ga.create(ga.C_LONG, (1,), name="points inside")
ga.zero(counter)
ga.zero(inside)

# Each piece has a stream of its own: the result is the same whoever draws it.
taken = ga.read_inc(counter, [0])
while taken < pieces:
    count = min(piece, points - taken * piece)
    x = un.random.Generator(un.random.Philox(taken)).random((2, count))
    hits = int(((x * x).sum(axis=0) < 1).sum())
    ga.acc(inside, [hits], (0,), (1,))
    taken = ga.read_inc(counter, [0])
ga.sync()

if ga.nodeid() == 0:
    total = int(ga.get(inside)[0])
    print(f"{points} points, {total} inside: pi is about {4 * total / points:.4f}")
ga.sync()
ga.destroy(counter)
ga.destroy(inside)
