"""The transform of one long vector that is spread over ranks, in four steps: no rank holds the whole.

The vector is a table of n1 rows and n2 columns. Its columns are transformed, multiplied by roots of unity, and then its
rows: element k1 + n1 * k2 of the transform stands in row k1 and column k2 (Bailey, "FFTs in external or hierarchical
memory", 1990).
"""

import math

import unisono as un

# Shorter vectors are transformed by all ranks alike.
_least = 1 << 20


def rows_of(x, n):
    """Rows of the table, or 0 where all ranks transform the vector alike."""
    mesh = x.mesh
    if mesh is None or mesh.size == 1 or x.shape != (n,) or n < _least:
        return 0
    rows = next(k for k in range(math.isqrt(n), 0, -1) if n % k == 0)
    return rows if rows >= mesh.size else 0


def transform(x, rows, forward):
    """The complex transform without a scale."""
    n = x.shape[0]
    columns = n // rows
    fft = un.fft.fft if forward else un.fft.ifft
    norm = "backward" if forward else "forward"
    dtype = "complex64" if x.dtype.name in ("float32", "complex64") else "complex128"
    table = fft(x.astype(dtype).reshape(rows, columns), axis=0, norm=norm)
    with un.device(x.mesh):
        turn = un.arange(rows)[:, None] * un.arange(columns)[None, :]
    angle = turn * ((-2 if forward else 2) * math.pi / n)
    table = table * (un.cos(angle) + 1j * un.sin(angle)).astype(dtype)
    return fft(table, axis=1, norm=norm).T.reshape(n)
