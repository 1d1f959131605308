"""Wrong programs and their messages."""

import numpy as np
import pytest
import unisono as un


def test_shapes_that_do_not_broadcast():
    with pytest.raises(ValueError, match=r"add: shapes do not broadcast; got \(3,\) and \(4,\)"):
        un.zeros(3) + un.zeros(4)


def test_index_out_of_range():
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 1 with size 4"):
        un.zeros((3, 4))[0, 5]


def test_too_many_indices():
    with pytest.raises(IndexError, match="too many indices"):
        un.zeros(3)[0, 0]


def test_in_place_cast():
    with pytest.raises(TypeError, match="cannot cast the result from float64 to int64"):
        a = un.arange(3)
        a += 0.5


def test_bool_subtract():
    with pytest.raises(TypeError, match="subtract: not defined for dtype bool"):
        un.ones(3, dtype=bool) - un.ones(3, dtype=bool)


def test_unknown_device():
    with pytest.raises(un.DeviceError, match="there is no device 'gpu:7'.*present: "):
        un.zeros(3, device="gpu:7")


def test_allocation_beyond_memory():
    with pytest.raises(MemoryError, match="does not fit"):
        un.zeros((10**6, 10**6))


def test_ambiguous_truth():
    with pytest.raises(ValueError, match="truth value of an array with 2 elements is ambiguous"):
        bool(un.zeros(2))


def test_unknown_dtype():
    with pytest.raises(TypeError, match="'complex512' is not a dtype of this version"):
        un.zeros(2, dtype="complex512")


@pytest.mark.parametrize("name", "mean var std average nanmean nanvar argmax argmin prod".split())
def test_axis_errors_name_the_function_that_was_called(name):
    with pytest.raises(un.exceptions.AxisError, match=f"^{name}: axis 7 is out of bounds"):
        getattr(un, name)(un.ones((2, 3)), axis=7)


def test_exceptions_are_numpy_s_too():
    with pytest.raises(np.exceptions.AxisError):
        un.zeros(3).sum(axis=2)
    for name in un.exceptions.__all__:
        assert issubclass(getattr(un.exceptions, name), getattr(np.exceptions, name))
