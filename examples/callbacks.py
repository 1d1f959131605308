"""C calls compiled Python: libc's qsort with a comparison written here.

Run: python examples/callbacks.py
"""

import ctypes

import numpy as np
import unisono as un


@un.cfunc("int32(CPointer(float64), CPointer(float64))")
def by_magnitude(a, b):
    x, y = abs(a[0]), abs(b[0])
    return int(x > y) - int(x < y)


def main():
    libc = ctypes.CDLL(None)
    values = np.array([3.0, -1.0, 2.0, -5.0, 0.5])
    libc.qsort(
        values.ctypes.data_as(ctypes.c_void_p),
        ctypes.c_size_t(values.size),
        ctypes.c_size_t(values.itemsize),
        by_magnitude.ctypes,
    )
    print(values)


if __name__ == "__main__":
    main()
