"""A loop compiled from its Python source, once for each combination of argument types."""

from numpy import arange
from unisono import jit


@jit
def sum2d(arr):
    M, N = arr.shape
    result = 0.0
    for i in range(M):
        for j in range(N):
            result += arr[i, j]
    return result


a = arange(9).reshape(3, 3)
print(sum2d(a))
