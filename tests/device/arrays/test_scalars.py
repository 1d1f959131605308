"""Numbers beside arrays on a device, in every function of the namespace that NumPy gives them to."""

import functools
import inspect
import itertools
import warnings

import numpy as np
import pytest
import unisono as un

SCALARS = [2, 1.5, 2 + 1j, np.float32(1), np.int64(2), np.bool_(True)]
ARRAYS = {"float64": [0.5, 2, 3, 1], "int64": [1, 0, 2, 3]}
UFUNCS = [name for name in dir(np) if isinstance(getattr(np, name), np.ufunc)]
PAIRS = [
    n for n in UFUNCS if getattr(np, n).nin == 2 and isinstance(getattr(un, n, None), un.ufunc)
]
# What reads or writes files, changes settings, takes results where this test gives numbers, or is of the host's memory.
OTHERS = """frombuffer fromfile genfromtxt load loadtxt memmap save savetxt savez savez_compressed set_printoptions setbufsize seterr
seterrcall show_config show_runtime test info isneginf isposinf frompyfunc vectorize""".split()


def functions():
    """(module, name) of the functions, but for ufuncs, that take two arguments or more."""
    for module in ("", "linalg"):
        ours, theirs = (getattr(xp, module) if module else xp for xp in (un, np))
        for name in dir(theirs):
            f = getattr(theirs, name)
            if name.startswith("_") or name in OTHERS or name in UFUNCS or not hasattr(ours, name):
                continue
            if inspect.isroutine(f) or type(f).__name__ == "_ArrayFunctionDispatcher":
                yield module, name


def outcome(f, args):
    """(result, None) or (None, exception)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f(*args), None
        except Exception as error:
            return None, error


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_ufunc_of_an_array_and_a_number(device, name):
    if not device.has_float64:
        pytest.skip("has no float64")
    f, numpys = getattr(un, name), getattr(np, name)
    for (dtype, values), number, back in itertools.product(ARRAYS.items(), SCALARS, (False, True)):
        here = np.array(values, dtype)
        there = un.asarray(here, device=device)
        order = -1 if back else 1
        expected, error = outcome(numpys, (here, number)[::order])
        got, other = outcome(f, (there, number)[::order])
        case = f"{name} of {dtype} and {number!r}, {'number first' if back else 'array first'}"
        assert (error is None) == (other is None), f"{case}: {error!r}; {other!r}"
        if error is not None:
            continue
        for a, b in zip(
            *(r if isinstance(r, tuple) else (r,) for r in (got, expected)), strict=True
        ):
            assert a.device == device and a.dtype == b.dtype, case
            np.testing.assert_allclose(np.asarray(a), b, rtol=1e-5, err_msg=case)


def given(pattern, values, number, place):
    """Arguments: a new array where the pattern has an x, the number elsewhere."""
    return [place(np.array(values)) if c == "x" else number for c in pattern]


@pytest.mark.slow
@pytest.mark.parametrize("module, name", list(functions()))
def test_functions_take_numbers_beside_arrays_of_a_device(device, module, name):
    if device == "cpu" or not device.has_float64:
        pytest.skip("has one place, or no float64")
    f, numpys = (getattr(getattr(xp, module) if module else xp, name) for xp in (un, np))
    there = functools.partial(un.asarray, device=device)
    patterns = ("xs", "sx", "xss", "sxs", "xxs", "xsx", "sxx")
    for values in ([0.5, 2.0, 3.0, 1.0], [[1.0, 2.0], [4.0, 3.0]]):
        for pattern, number in itertools.product(patterns, (1, np.float32(1))):
            if outcome(numpys, given(pattern, values, number, np.asarray))[1] is not None:
                continue
            error = outcome(f, given(pattern, values, number, there))[1]
            assert not isinstance(error, un.DeviceError), (
                f"{name}: {pattern} with {number!r}: {error}"
            )
