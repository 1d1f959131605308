"""Arrays and numbers print as NumPy's, for all dtypes and options, without NumPy."""

import random
import subprocess
import sys

import numpy as np
import pytest
import unisono as un

DTYPES = [
    name
    for name in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
    if hasattr(un, name)
]
OPTIONS = {
    "precision": [0, 1, 3, 8, 17],
    "threshold": [0, 5, 20, 100, 1000],
    "edgeitems": [0, 1, 2, 3, 5],
    "linewidth": [10, 40, 75, 120, 10**6],
    "suppress": [True, False],
    "nanstr": ["nan", "not a number"],
    "infstr": ["inf", "oo", "infinity"],
    "sign": ["-", "+", " "],
    "floatmode": ["fixed", "unique", "maxprec", "maxprec_equal"],
}
FORMATTERS = [lambda v: f"<{v}>", lambda v: "two\nlines", lambda v: f"{v.real:.1f}"]


def reals(rng, n):
    """Numbers of one of the kinds that print differently."""
    kind = rng.integers(8)
    if kind == 0:
        return rng.standard_normal(n) * 10.0 ** rng.integers(-8, 8, n)
    if kind == 1:
        return np.round(rng.uniform(-5, 5, n), rng.integers(4))
    if kind == 2:
        return rng.integers(-1000, 1000, n) * 1.0
    if kind == 3:
        return rng.choice([0, -0.0, np.inf, -np.inf, np.nan, 1, 0.5, 1e-5, 123456], n)
    if kind == 4:
        return 10.0 ** rng.integers(-5, 10, n)
    if kind == 5:
        return rng.uniform(0, 1, n) * 10.0 ** rng.integers(-310, 300)
    if kind == 6:
        return rng.choice([np.nan, 1.5, 2.25, np.inf], n)
    return rng.integers(-3, 4, n) / 8


def some_array(rng, dtype):
    extents = [0, 1, 2, 3, 4, 5, 7, 9, 20, 57]
    shape = tuple(int(n) for n in rng.choice(extents, rng.integers(5)))
    while np.prod(shape) > 2000:
        shape = shape[1:]
    n = int(np.prod(shape))
    if dtype == "bool":
        made = rng.random(n) < 0.5
    elif dtype[0] in "iu":
        info = np.iinfo(dtype)
        low, high = (info.min, info.max) if rng.random() < 0.4 else (max(info.min, -20), 100)
        made = rng.integers(low, high, n, dtype=dtype, endpoint=True)
    elif dtype[0] == "c":
        made = np.empty(n, "complex128")
        made.real, made.imag = reals(rng, n), reals(rng, n)
    else:
        made = reals(rng, n)
    with np.errstate(all="ignore"):
        return made.astype(dtype).reshape(shape)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", range(3))
def test_arrays_print_as_numpys(dtype, seed):
    rng = np.random.default_rng([seed, DTYPES.index(dtype)])
    for _ in range(60):
        a = some_array(rng, dtype)
        x = un.array(a) if a.ndim else un.array(a[None])[0]
        options = {k: v[rng.integers(len(v))] for k, v in OPTIONS.items() if rng.random() < 0.25}
        if rng.random() < 0.1:
            key = ["all", "int", "float_kind", "complex_kind", "int_kind", "bool"][rng.integers(6)]
            options["formatter"] = {key: FORMATTERS[rng.integers(3)]}
        call = {
            "separator": [" ", ", ", ",", "  ;  "][rng.integers(4)],
            "prefix": "abc"[: rng.integers(4)],
        }
        call |= {"suffix": "xyz"[: rng.integers(4)], "max_line_width": [None, 30][rng.integers(2)]}
        with np.printoptions(**options), un.printoptions(**options):
            assert str(x) == str(a if a.ndim else a[()]), (a, options)
            assert un.array2string(x, **call) == np.array2string(a, **call), (a, options, call)
            if a.ndim:
                assert repr(x) == repr(a), (a, options)


def some_number(rng, dtype):
    """A float: of any bits, short, a power of two, or one where the layout changes."""
    kind = rng.randrange(5)
    bits = np.dtype(dtype).itemsize * 8
    if kind == 0:
        return np.array(rng.getrandbits(bits - 1), f"u{bits // 8}").view(dtype)[()]
    with np.errstate(all="ignore"):
        if kind == 1:
            return np.array(rng.uniform(-2, 2) * 10.0 ** rng.randrange(-12, 12)).astype(dtype)[()]
        if kind == 2:
            return np.array(round(rng.uniform(-2, 2), rng.randrange(6))).astype(dtype)[()]
        if kind == 3:
            return np.array(2.0 ** rng.randrange(-40, 40)).astype(dtype)[()]
        edges = [
            0.0,
            -0.0,
            np.inf,
            -np.inf,
            np.nan,
            0.5,
            2.5,
            9.5,
            99.5,
            0.95,
            5e-9,
            1e16,
            1e-4,
            1e6,
            1e3,
        ]
        return np.array(rng.choice(edges)).astype(dtype)[()]


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.startswith("float")])
def test_numbers_print_as_numpys(dtype):
    rng = random.Random(dtype)
    for _ in range(1500):
        number = some_number(rng, dtype)
        x = un.array(np.array([number]))[0]
        assert str(x) == str(number)
        precision = rng.choice([None, 0, 1, 2, 5, 8, 17, 30])
        options = {
            "precision": precision,
            "unique": precision is None or rng.random() < 0.7,
            "trim": rng.choice("k.0-"),
            "sign": rng.random() < 0.3,
            "pad_left": rng.choice([None, 3, 6]),
            "min_digits": rng.choice([None, 0, 1]) if precision else None,
        }
        places = {
            "pad_right": rng.choice([None, 0, 4]),
            "fractional": precision == 0 or rng.random() < 0.7,
        }
        assert un.format_float_positional(x, **options, **places) == np.format_float_positional(
            number, **options, **places
        ), (number, options, places)
        digits = rng.choice([None, 1, 3, 6])
        assert un.format_float_scientific(
            x, **options, exp_digits=digits
        ) == np.format_float_scientific(number, **options, exp_digits=digits), (number, options)


@pytest.mark.parametrize(
    "value", [1 + 2j, -0.0 + 1j, 0.1j, complex("nan+infj"), 1e20 - 1e-7j, -1.5 + 0j]
)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers_print_as_numpys(value, dtype):
    number = np.dtype(dtype).type(value)
    ours = un.array(np.array([number]))[0]
    assert str(ours) == str(number) and repr(ours) == repr(number).replace("np.", "un.")


@pytest.mark.parametrize(
    "options",
    [
        {"floatmode": "other"},
        {"sign": "*"},
        {"threshold": "many"},
        {"threshold": float("nan")},
        {"precision": 1.5},
        {"precision": -1},
    ],
)
def test_wrong_options_raise_as_numpys(options):
    for xp in (np, un):
        with pytest.raises((ValueError, TypeError)) as caught:
            with xp.printoptions(**options):
                str(xp.asarray([1.5]))
        if xp is np:
            expected = caught.type
    assert caught.type is expected


@pytest.mark.parametrize("version", ["1.13", "1.21", "1.25"])
def test_old_ways_of_printing_are_numpys(version):
    texts = []
    for xp in (np, un):
        x = xp.asarray([1.0, -2.5e-9])
        with xp.printoptions(legacy=version) as options:
            assert options["legacy"] == version
            z = xp.asarray([[1 + 2j], [3]])
            texts.append((repr(x), str(x[None]), repr(z), repr(x[1]), str(x.astype("float32")[0])))
            texts[-1] += (xp.array2string(x, precision=2, separator=","),)
        assert xp.get_printoptions()["legacy"] is False
    assert texts[0] == texts[1]
    assert repr(un.ones(2)) == "array([1., 1.])"


def test_an_array_on_a_device_says_so(device):
    text = repr(un.ones(3, dtype="float32", device=device))
    expected = "" if device == "cpu" else f", device='{device}'"
    assert text == f"array([1., 1., 1.], dtype=float32{expected})"


def test_options_are_a_threads_own():
    import threading

    seen = []
    with un.printoptions(precision=2):
        thread = threading.Thread(target=lambda: seen.append(un.get_printoptions()["precision"]))
        thread.start()
        thread.join()
    assert seen == [8]


def test_printing_does_not_import_numpy():
    program = """
import sys, unisono as un
x = un.arange(2000) / 7
print(x, repr(x), x.astype("float32")[:5], x[3], un.format_float_positional(x[1]), (x * 1j)[:2])
assert "numpy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float16", "float64", "complex64"])
def test_arrays_without_axes_print_as_arrays_and_values_as_numbers(dtype):
    for number in (0, 1, 1 / 3, 1e4):
        h = np.asarray(number).astype(dtype)
        x = un.asarray(h)
        assert repr(x) == repr(h) and str(x) == str(h)
        assert repr(x[()]).startswith(f"un.{dtype}(")


def test_options_hold_for_numpys_arrays_too():
    x = np.asarray([1 / 3])
    before = repr(x)
    with un.printoptions(precision=2):
        assert repr(x) == "array([0.33])"
    assert repr(x) == before
    un.set_printoptions(precision=3, formatter={"float": "<{:.1f}>".format})
    try:
        assert repr(x) == repr(un.asarray(x)) == "array([<0.3>])"
    finally:
        un.set_printoptions(precision=8)
    assert repr(x) == before
