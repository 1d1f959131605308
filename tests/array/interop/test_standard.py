"""Special values where the array API standard and NumPy differ: the standard's."""

import numpy as np
import pytest
import unisono as un

inf = float("inf")


def same(ours, expected):
    """Equal, zeros of equal sign; the sign of NaN does not count."""
    ours, expected = np.asarray(ours), np.asarray(expected)
    signs = np.signbit(ours.real) == np.signbit(expected.real)
    return np.array_equal(ours, expected, equal_nan=True) and (signs | np.isnan(ours)).all()


DIVIDED = [
    (inf, 2.0, inf),
    (inf, -2.0, -inf),
    (-inf, 2.0, -inf),
    (-inf, -2.0, inf),
    (3.0, -inf, -0.0),
    (-3.0, inf, -0.0),
    (3.0, inf, 0.0),
    (-3.0, -inf, 0.0),
    (0.0, inf, 0.0),
    (inf, inf, np.nan),
    (7.0, 2.0, 3.0),
    (-7.0, 2.0, -4.0),
    (7.0, -2.0, -4.0),
    (1.0, 0.0, inf),
    (-1.0, 0.0, -inf),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floor_divide(dtype):
    x, y, expected = (np.array(column, dtype) for column in zip(*DIVIDED, strict=True))
    a, b = un.asarray(x), un.asarray(y)
    assert (a // b).dtype == dtype and same(a // b, expected)
    assert same(un.floor_divide(a, b), expected)
    c = un.array(x)
    c //= b
    assert same(c, expected)
    for one, two, result in zip(x, y, expected, strict=True):
        # A value, a scalar on either side, and out=.
        assert same(un.asarray([one])[0] // float(two), result)
        assert same(float(one) // un.asarray([two]), [result])
        out = un.empty(1, dtype)
        un.floor_divide(un.asarray([one]), two, out=out)
        assert same(out, [result])


def test_floor_divide_refuses_what_it_did():
    with pytest.raises(TypeError, match="floor_divide: cannot cast"):
        un.floor_divide(un.ones(3), 2.0, out=un.zeros(3, "int32"))
    with pytest.raises(ValueError, match="floor_divide"):
        un.floor_divide(un.ones(3), 2.0, out=un.zeros(4))
    frozen = un.broadcast_to(un.ones(1), (3,))
    with pytest.raises(ValueError, match="floor_divide: the output array is read-only"):
        un.floor_divide(un.ones(3), 2.0, out=frozen)


def test_complex_functions_at_infinity():
    for z, expected in (
        (complex(inf, 0), complex(inf, 0)),
        (complex(-inf, inf), complex(-1, 0)),
        (complex(-inf, np.nan), complex(-1, 0)),
    ):
        assert same(un.expm1(un.asarray([z])), [expected])
    assert same(un.tanh(un.asarray([complex(inf, 2.0), complex(-inf, 1.0)])), [1 + 0j, -1 + 0j])
    assert not np.signbit(np.asarray(un.tanh(un.asarray([complex(inf, 2.0)]))).imag).any()


def test_eigenvalues_are_complex():
    xp = un.eye(2).__array_namespace__()
    assert xp.linalg.eigvals(xp.eye(2)).dtype == xp.complex128
    made = xp.linalg.eig(xp.eye(2, dtype=xp.float32))
    assert made.eigenvalues.dtype == made.eigenvectors.dtype == xp.complex64
    assert xp.linalg.eigvals(xp.asarray([[0.0, 1], [-1, 0]])).imag.tolist() == [1, -1]
