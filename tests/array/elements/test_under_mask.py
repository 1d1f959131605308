"""`z[m] = f(z[m], c[m])`: one kernel over all elements, with the results of picking them."""

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere

SIZE = 20000  # small statements run at once, and pick


def arrays(module, share):
    """z, c and a mask that takes that share of the elements."""
    random = np.random.default_rng(3)
    z, c = random.standard_normal((2, SIZE))
    return module.array(z), module.array(c), module.array(random.random(SIZE) < share)


def same(a, b):
    a, b = np.asarray(a), np.asarray(b)
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    assert a.tobytes() == b.tobytes()


def power(module, z, c, m):
    z[m] = z[m] * z[m] + c[m]
    return z


def in_place(module, z, c, m):
    z[m] *= 2
    part = z[m]
    part += 1
    part *= c[m]
    z[m] = part
    return z


def where(module, z, c, m):
    k = z[m] * c[m]
    z[m] = module.where(k > 0, k, -k)
    return z, k


def twice(module, z, c, m):
    c[z > 0] = module.sqrt(z[z > 0]) - c[z > 0]
    return c


def source_changes(module, z, c, m):
    part = z[m]
    z[m] = 1.0
    c[m] = part * 3
    z[m] = part - c[m]
    return z, c


def mask_changes(module, z, c, m):
    m[:2] = True, False
    part = z[m] * 2
    m[:2] = False, True
    z[m] = part
    return z


def other_arrays(module, z, c, m):
    part = z[m]
    z[m] = part * module.arange(len(part)) + part.sum() * 0 + part[::-1]
    return z


def planes(module, z, c, m):
    z, m = z.reshape(100, -1), m.reshape(100, -1)
    z.T[m.T] = z.T[m.T] - 1
    z[:, ::2][m[:, ::2]] = z[:, ::2][m[:, ::2]] * 5
    return z


def single(module, z, c, m):
    z = z.astype("float32")
    z[m] = z[m] * c[m]
    z[m] = z[m] + module.float32(0.5)
    return z


PROGRAMS = [
    power,
    in_place,
    where,
    twice,
    source_changes,
    mask_changes,
    other_arrays,
    planes,
    single,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.6, 1.0])
def test_as_numpy(program, share):
    expected, made = (program(module, *arrays(module, share)) for module in (np, un))
    if isinstance(expected, tuple):
        for a, b in zip(made, expected, strict=True):
            same(a, b)
    else:
        same(made, expected)


def test_one_kernel_and_no_memory():
    z, c, m = arrays(un, 0.5)
    un.eval()
    before = un.stats()
    power(un, z, c, m)
    un.eval()
    after = un.stats()
    assert after["kernels_launched"] - before["kernels_launched"] == 1
    # Only how many elements are set in each block of the mask.
    assert after["bytes_allocated"] - before["bytes_allocated"] < SIZE // 100


def test_few_elements_are_picked():
    z, c, m = arrays(un, 0.01)
    un.eval(z, c, m)
    before = un.stats()["bytes_read"]
    power(un, z, c, m)
    un.eval()
    assert un.stats()["bytes_read"] - before < z.nbytes


def test_errors_of_elements_left_out_are_not_seen():
    x = un.array(np.linspace(0, 1, SIZE))
    with un.errstate(all="raise"):
        x[x > 0] = 1 / x[x > 0]
    assert np.isfinite(np.asarray(x)).all()
