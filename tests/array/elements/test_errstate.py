"""Floating-point errors against NumPy: which are seen, and what happens then."""

import io
import warnings

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere

OPERATIONS = {
    "zero": lambda xp, x, z: x / z,
    "zero by zero": lambda xp, x, z: z / z,
    "no error": lambda xp, x, z: x / x,
    "infinite": lambda xp, x, z: (x * 0 + float("inf")) / z,
    "overflow": lambda xp, x, z: (x * 0 + xp.finfo(x.dtype).max) * x,
    "overflow of a sum": lambda xp, x, z: (z + xp.finfo(x.dtype).max).sum(),
    "underflow": lambda xp, x, z: (x * 0 + xp.finfo(x.dtype).tiny) / x,
    "exact subnormal": lambda xp, x, z: (z + xp.finfo(x.dtype).tiny) * 0.5,
    "exp over": lambda xp, x, z: xp.exp(x * 1000),
    "exp under": lambda xp, x, z: xp.exp(x * -1000),
    "log of zero": lambda xp, x, z: xp.log(z),
    "log of negative": lambda xp, x, z: xp.log(-x),
    "log1p": lambda xp, x, z: xp.log1p(z - 1),
    "sqrt": lambda xp, x, z: xp.sqrt(-x),
    "arctanh": lambda xp, x, z: xp.arctanh(z + 1),
    "arccos": lambda xp, x, z: xp.arccos(x + 1),
    "power of zero": lambda xp, x, z: xp.power(z, -x),
    "power of negative": lambda xp, x, z: xp.power(-x, x * 0 + 0.5),
    "nan stays": lambda xp, x, z: xp.sqrt(x * float("nan")) + 1,
    "inf - inf": lambda xp, x, z: (x * 0 + float("inf")) - (x * 0 + float("inf")),
    "remainder": lambda xp, x, z: x % z,
    "floor_divide": lambda xp, x, z: x // z,
    "comparison": lambda xp, x, z: (x * float("nan")) < z,
}


def seen(xp, f, *arrays):
    """The kinds of errors that warnings name."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with xp.errstate(all="warn"):
            f(xp, *map(xp.asarray, arrays))
    return sorted(str(w.message).split(" encountered")[0] for w in caught)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_which_errors_are_seen(name, dtype):
    x, z = np.array([3.0, 2.0, 5.0], dtype), np.zeros(3, dtype)
    expected = sorted(set(seen(np, OPERATIONS[name], x, z)))
    assert sorted(set(seen(un, OPERATIONS[name], x, z))) == expected


def test_integers():
    x = np.arange(-2, 3)
    for f in (lambda xp, x: 7 // x, lambda xp, x: 7 % x, lambda xp, x: x // 1, lambda xp, x: 1 / x):
        assert seen(un, f, x) == seen(np, f, x)


@pytest.mark.parametrize("target", ["int8", "int32", "int64", "float32", "float16"])
@pytest.mark.parametrize("value", [1.5, -2.0, 1e30, np.nan, np.inf])
def test_casts(value, target):
    x = np.array([value, 1.0])

    def cast(xp, x):
        return x.astype(target)

    if value == 1e30 and target == "int8":
        return  # NumPy goes through int32 and sees nothing where it wraps
    assert seen(un, cast, x) == seen(np, cast, x)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8"])
def test_quotients_of_integers_overflow(dtype):
    x = np.asarray([np.iinfo(dtype).min, 3], dtype=dtype)
    for by in (1, 2, 0) if dtype == "uint8" else (-1, 1, -2, 0):

        def in_place(xp, x, y):
            x = x.copy()
            x //= y

        y = np.asarray([by, 1], dtype=dtype)
        for f in (lambda xp, x, y: x // y, lambda xp, x, y: x[0] // int(y[0]), in_place):
            assert seen(un, f, x, y) == seen(np, f, x, y), by


def test_in_place():
    with un.errstate(divide="raise"):
        a = un.asarray([1.0, 0.0])
        with pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
            a /= un.asarray([0.0, 1.0])
    with un.errstate(invalid="raise"):
        b = un.asarray([-4.0])
        with pytest.raises(FloatingPointError):
            un.sqrt(b, out=b)


def test_warnings_name_the_line_and_the_operation():
    with un.errstate(divide="warn"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        un.asarray([1.0]) / 0
    assert str(caught[0].message) == "divide by zero encountered in divide"
    assert caught[0].category is RuntimeWarning
    assert caught[0].filename == __file__


@pytest.mark.parametrize("xp", [np, un])
def test_call_print_and_log(xp, capsys):
    calls = []
    with xp.errstate(all="call", call=lambda text, flags: calls.append((text, flags & 8))):
        xp.sqrt(xp.asarray([-1.0]))
    assert calls == [("invalid value", 8)]
    log = io.StringIO()
    with xp.errstate(all="log", call=log):
        xp.log(xp.asarray([0.0]))
    assert log.getvalue() == "Warning: divide by zero encountered in log\n"
    with xp.errstate(all="print"):
        xp.log(xp.asarray([0.0]))
    if xp is un:  # NumPy prints past Python
        assert "divide by zero encountered in log" in capsys.readouterr().out


@pytest.mark.parametrize("xp", [np, un])
def test_states_nest_and_return(xp):
    before = xp.geterr()
    with xp.errstate(divide="raise"):
        assert xp.geterr()["divide"] == "raise"
        with xp.errstate(divide="ignore"):
            xp.asarray([1.0]) / 0
        with pytest.raises(FloatingPointError):
            xp.asarray([1.0]) / 0
    assert xp.geterr() == before
    old = xp.seterr(all="ignore")
    assert old == before
    xp.seterr(**old)
    with pytest.raises(ValueError):
        xp.seterr(all="nothing")
    with pytest.raises((TypeError, ValueError)), xp.errstate(call=3):
        pass

    @xp.errstate(invalid="raise")
    def f():
        return xp.sqrt(xp.asarray([-1.0]))

    with pytest.raises(FloatingPointError):
        f()


def test_nothing_is_looked_at_by_default():
    a = un.asarray([1.0, 2.0])
    before = un.stats()["flushes"]
    b = a / 0
    assert un.stats()["flushes"] == before
    assert un.isinf(b).all()
