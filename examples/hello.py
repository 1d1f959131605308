"""First steps: arrays, arithmetic, slices, and back to NumPy."""

import numpy as np
import unisono as un

x = un.linspace(0, 1, 5)
y = 2 * x + 1
print("y =", y)  # printing is what computes it
print("sum of y =", float(y.sum()))

grid = un.zeros((3, 4), dtype=un.int64)
grid[1:, ::2] = 7
print("grid =")
print(grid)

print("as NumPy:", type(np.asarray(grid)).__name__, np.asarray(grid).dtype)
print("from NumPy:", un.sqrt(un.array(np.array([1.0, 4.0, 9.0]))))
