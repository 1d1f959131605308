"""Fractions and exponents of floats: NumPy's bits, for any bits, on every executor and device."""

import numpy as np
import pytest
import unisono as un
from device_arrays import with_queues

# Each names one place that computes: an executor of the host, or a device.
PLACES = ["block", "cpu", "interp", *with_queues()]


@pytest.fixture(params=PLACES)
def place(request):
    if request.param in ("block", "cpu", "interp"):
        un._engine._set_setting("executor", request.param)
        yield "cpu"
        un._engine._set_setting("executor", "auto")
    else:
        yield request.param


def numbers(dtype):
    """All kinds of a float, and random bits."""
    info = np.finfo(dtype)
    some = [0.0, 0.5, 1.0, 3.0, info.max, info.tiny, info.smallest_subnormal, np.inf, np.nan]
    some += [np.nextafter(dtype(v), dtype(0)) for v in (0.5, 1.0, 2.0, float(info.tiny))]
    some += [np.nextafter(dtype(v), dtype(4)) for v in (0.5, 1.0, 2.0, float(info.tiny))]
    bits = np.random.default_rng(4).integers(0, 2**64, 3000, np.uint64).view(dtype)
    made = np.concatenate([np.asarray(some, dtype), -np.asarray(some, dtype), bits])
    return made[np.isnan(made) | (abs(made) >= 0)]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_frexp_is_numpys(place, dtype):
    x = numbers(dtype)
    if dtype == np.float64 and not un.zeros(1, device=place).device.has_float64:
        pytest.skip("no float64")
    fraction, exponent = un.frexp(un.asarray(x, device=place))
    with np.errstate(invalid="ignore"):
        expected = np.frexp(x)
    fraction, exponent = (np.asarray(a.to_device("cpu")) for a in (fraction, exponent))
    assert (fraction.dtype, exponent.dtype) == (x.dtype, np.int32)
    plain = ~np.isnan(x)
    bits = f"u{x.itemsize}"
    np.testing.assert_array_equal(fraction[plain].view(bits), expected[0][plain].view(bits))
    assert np.isnan(fraction[~plain]).all()
    finite = np.isfinite(x)
    np.testing.assert_array_equal(exponent[finite], expected[1][finite])
    assert (exponent[~finite] == 0).all()


def test_frexp_is_one_kernel_with_what_stands_around_it():
    x = un.asarray(np.random.default_rng(1).normal(size=2000))
    un.eval(x)
    before = un.stats()["kernels_launched"]
    fraction, exponent = un.frexp(x * 3)
    made = fraction * 2 + exponent
    un.eval(made)
    assert un.stats()["kernels_launched"] - before == 1
