"""The transform of one long vector that is spread over ranks, in steps: no rank holds the whole.

The vector is a table of n1 rows and n2 columns. Its columns are transformed, multiplied by roots of unity, and then its
rows: element k1 + n1 * k2 of the transform stands in row k1 and column k2 (Bailey, "FFTs in external or hierarchical
memory", 1990). Lengths that are no product of such numbers are convolved with a chirp, by transforms of a power of two
(Bluestein, "A linear filtering approach to the computation of the discrete Fourier transform", 1970).
"""

import math

import unisono as un

from .. import _engine


def suits(x, n):
    """Whether the ranks transform a vector together; few elements are transformed by all alike."""
    size = 8 if x.dtype.name in ("float32", "complex64") else 16
    mesh = x.mesh
    return mesh is not None and mesh.size > 1 and x.ndim == 1 and n * size > _engine._alike_bytes


def transform(x, n, forward, kind):
    """The complex transform of n elements without a scale; of kind 2 the real one of half a spectrum."""
    given = x[: n // 2 + 1 if kind == 2 else n]
    single = x.dtype.name in ("float32", "complex64")
    table = un.zeros(n, "complex64" if single else "complex128", device=x.mesh)
    table[: given.shape[0]] = given
    if kind == 2:
        table[n // 2 + 1 :] = table[1 : (n + 1) // 2][::-1].conj()
    rows = _rows_of(n)
    made = _by_rows(table, rows, forward) if rows >= x.mesh.size else _by_chirp(table, forward)
    return made.real if kind == 2 else made


def _rows_of(n):
    return next(k for k in range(math.isqrt(n), 0, -1) if n % k == 0)


def _by_rows(x, rows, forward):
    n, dtype = x.shape[0], x.dtype
    columns = n // rows
    fft = un.fft.fft if forward else un.fft.ifft
    norm = "backward" if forward else "forward"
    table = fft(x.reshape(rows, columns), axis=0, norm=norm)
    one, other = (
        un.asarray(un.arange(k, device="cpu"), mesh=x.mesh, layout="replicated")
        for k in (rows, columns)
    )
    angle = (one[:, None] * other) * ((-2 if forward else 2) * math.pi / n)
    table = table * (un.cos(angle) + 1j * un.sin(angle)).astype(dtype)
    return fft(table, axis=1, norm=norm).T.reshape(n)


def _by_chirp(x, forward):
    n = x.shape[0]
    length = 1 << (2 * n - 2).bit_length()
    rows = _rows_of(length)

    def chirp(k, sign):
        angle = (k * k % (2 * n)) * (
            math.pi / n
        )  # squares of whole numbers, so that no digit is lost
        return un.cos(angle) + sign * 1j * un.sin(angle)

    with un.device(x.mesh):
        own = chirp(un.arange(n), -1 if forward else 1)
        padded = un.zeros(length, "complex128")
        padded[:n] = x * own
        place = un.arange(length)
        place = un.minimum(place, length - place)
        other = un.where(place < n, chirp(place, 1 if forward else -1), 0)
    product = _by_rows(padded, rows, True) * _by_rows(other, rows, True)
    made = _by_rows(product, rows, False)[:n] * own
    return (made / length).astype(x.dtype, copy=False)
