"""Structured arrays that compiled functions make and return, against NumPy."""

import numpy as np
import pytest
import unisono as un

ALIGNED = np.dtype([("a", "i4"), ("b", "f8"), ("v", "f4", (2, 2))], align=True)
PACKED = np.dtype([("a", "i4"), ("b", "f8"), ("v", "u1", (3,)), ("z", "c8")])
NESTED = np.dtype([("p", [("a", "f8"), ("y", "f4")]), ("b", "i8"), ("a", "?")])
TEXTS = np.dtype([("n", "U4"), ("b", "f8")])


def same(a, b):
    if isinstance(a, tuple) and not isinstance(a, np.void):
        return len(a) == len(b) and all(map(same, a, b))
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and a.dtype == b.dtype and repr(a.tolist()) == repr(b.tolist())


def agree(function, *args):
    copies = [a.copy() if hasattr(a, "copy") else a for a in args]
    expected = function(*args)
    found = un.jit(nopython=True)(function)(*copies)
    assert same(expected, found)
    assert same(args, tuple(copies))


def filled(dtype, n=5):
    x = np.zeros(n, dtype)
    x["b"] = [3, 1, 4, 0, 2][:n]
    if "a" in dtype.names:
        x["a"] = np.arange(n) % 2
    return x


def made(n):
    r = np.zeros(n, dtype=ALIGNED)
    for i in range(n):
        r["a"][i] = i
        r["b"][i] = i / 2
        r["v"][i, 0, 1] = i
    return r, r["b"].sum()


def packed(n):
    r = np.zeros((n, 2), PACKED)
    for i in range(n):
        for k in range(2):
            r[i, k]["a"] += i
            r[i, k]["b"] = i / (k + 2)
            r["v"][i, k, k] = i
        r[i, 1]["z"] = 1j * i
    return r, r[1], r[1:, 0], r[0, 1]


def nested(n):
    r = np.empty(n, NESTED)
    for i in range(n):
        r[i] = ((i, 2 * i), n - i, i > 1)
    r[0] = r[1]
    s = np.empty_like(r)
    s[:] = r
    r["p"]["y"] = 7
    r["a"] = r["b"] > 2
    return r, s, np.zeros_like(r), r.copy()


def bound_anew(n):
    r = np.zeros(2, dtype=NESTED)
    for i in range(n):
        s = np.zeros(i + 3, dtype=NESTED)
        s["b"][-1] = i
        r = s
    return r


def of_one_value(n):
    x = np.full(n, 7.75, ALIGNED)
    return np.ones(n, ALIGNED), np.ones((n, 2), PACKED), np.ones_like(x), np.full_like(x, -3), x


def of_one_value_in_parts(n):
    return np.full(n, 2, PACKED), np.ones(n, dtype=NESTED), np.full((2, n), -1.5, NESTED)


@pytest.mark.parametrize(
    "function",
    [made, packed, nested, bound_anew, of_one_value, of_one_value_in_parts],
)
def test_made_in_compiled_code(function):
    agree(function, 4)


PARTS = {
    "record": lambda r: r[1],
    "last": lambda r: r[-1],
    "slice": lambda r: r[1:3],
    "reversed": lambda r: r[::-2],
    "none": lambda r: r[5:],
    "records": lambda r: (r[0], r[3], r),
    "copy": lambda r: r.copy(),
    "mask": lambda r: r[r["b"] > 1],
    "places": lambda r: r[np.array([3, 1, 1])],
    "sorted": lambda r: r[np.argsort(r["b"])],
    "called": lambda r: r[int(np.abs(-2.0))],
}


@pytest.mark.parametrize("dtype", [ALIGNED, PACKED, NESTED], ids=["aligned", "packed", "nested"])
@pytest.mark.parametrize("part", PARTS)
def test_parts_of_an_argument(dtype, part):
    agree(PARTS[part], filled(dtype))
    agree(PARTS[part], np.lib.stride_tricks.as_strided(filled(dtype, 2), (5,), (0,)).copy())
    ours = un.jit(nopython=True)(PARTS[part])(un.asarray(filled(dtype)))
    assert same(PARTS[part](filled(dtype)), ours)


def test_elements_of_recarrays():
    x = filled(NESTED).view(np.recarray)
    record, part = un.jit(nopython=True)(lambda r: (r[2], r[1:]))(x)
    assert isinstance(record, np.record)
    assert same((record, part), (x[2], x[1:]))

    def chosen(r):
        large = r[r.b > 1]
        return large.b, large.p.y

    agree(chosen, x)


def test_parts_are_views_that_keep_the_memory():
    x = filled(PACKED)
    part = un.jit(lambda r: r[1:3])(x)
    record = un.jit(lambda r: r[4])(x)
    assert isinstance(part, un.ndarray)
    part["b"] = 9
    record["b"] = 8
    assert x["b"].tolist() == [3, 9, 9, 0, 8]
    part = un.jit(lambda r: r[1:3])(filled(PACKED))
    assert part["b"].tolist() == [1, 4]


def test_fields_of_text_go_along_with_views():
    x = filled(TEXTS)
    x["n"] = list("abcde")
    agree(lambda r: r[1:], x)
    agree(lambda r: r[r["b"] > 1]["b"], x)
    with pytest.raises(un.CompileError, match="its fields lie apart"):
        un.jit(lambda r: r[r["b"] > 1])(x)
    with pytest.raises(un.CompileError, match="not all of their fields are numbers"):
        un.jit(nopython=True)(lambda: np.zeros(2, TEXTS))()
    with pytest.raises(un.CompileError, match="makes no structured arrays"):
        un.jit(nopython=True)(lambda: np.arange(2, dtype=NESTED))()
    with pytest.raises(un.CompileError, match="give a number"):
        un.jit(nopython=True)(lambda: np.full(2, (1, 2, 3), NESTED))()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.array([1.5, 2.5], dtype=NESTED),
        lambda x: x.astype(NESTED),
        lambda x: np.arange(2, dtype=NESTED),
    ],
    ids=["array", "astype", "arange"],
)
def test_no_other_function_makes_them_of_another_dtype(function):
    with pytest.raises(un.CompileError):
        un.jit(function)(np.arange(3.0))


def test_passed_between_compiled_functions():
    @un.njit
    def make(n):
        r = np.zeros(n, dtype=NESTED)
        r["b"][0] = 7
        return r

    @un.njit
    def pick(r, i):
        return r[i]

    @un.njit
    def user(n, x):
        a = make(n)
        b = pick(a, 0)
        c = pick(x, 2)
        return a, b["b"], b, c["b"], c

    x = filled(NESTED)
    a, n, b, m, c = user(3, x)
    assert (a["b"].tolist(), n, b["b"], m, c["b"]) == ([7, 0, 0], 7, 7, 4, 4)


def test_an_argument_or_a_part_of_it():
    def first(r, k):
        if k > 2:
            return r
        return r[:k]

    agree(first, filled(NESTED), 3)
    agree(first, filled(NESTED), 1)
