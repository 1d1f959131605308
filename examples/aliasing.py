"""Views share memory, overlapping assignments behave as NumPy's, and values are snapshots."""

import numpy as np
import unisono as un

a = un.arange(8)
evens = a[::2]  # a view: no memory of its own
evens += 100
print("through the view:", a)

b = un.arange(8)
b[1:] += b[:-1]  # source and target overlap: as if the source had been copied first
print("overlapping:", b)

x = un.arange(4)
first = x[0]  # a full index gives a value, a snapshot
x[0], x[3] = x[3], x[0]
print("swapped:", x, "and the snapshot is still", first)

shared = np.zeros(3)
un.asarray(shared, copy=False)[:] = 5  # memory of NumPy's: complete when the statement ends
print("NumPy sees it:", shared)
