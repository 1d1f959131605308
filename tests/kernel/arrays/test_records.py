"""Structured arrays in compiled functions: one body run by NumPy and compiled."""

import numpy as np
import pytest
import unisono as un

ALIGNED = np.dtype([("x", "f8"), ("n", "i4"), ("ok", "?")], align=True)
PACKED = np.dtype([("x", "f8"), ("n", "i4"), ("ok", "?"), ("h", "f4"), ("big", "u8")])
NESTED = np.dtype([("p", [("x", "f8"), ("y", "f8")]), ("v", "f8", (3,)), ("name", "S8")])


def filled(dtype, n=7):
    rng = np.random.default_rng(1)
    a = np.zeros(n, dtype)
    for name in dtype.names:
        if name in ("x", "h"):
            a[name] = rng.normal(size=n)
        elif name in ("n", "big"):
            a[name] = rng.integers(-50 if name == "n" else 0, 50, n)
        elif name == "ok":
            a[name] = rng.integers(0, 2, n) > 0
    return a


def both(body, make):
    """Run the body in Python and compiled, each on arguments of its own; results and arguments agree."""
    args, others = make(), make()
    expected, found = body(*args), un.jit(body)(*others)
    for a, b in zip(args, others, strict=True):
        if isinstance(a, np.ndarray):
            assert np.array_equal(a, b)
    if isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(np.asarray(found), expected)
    else:
        assert found == expected
    return found


@pytest.mark.parametrize("dtype", [ALIGNED, PACKED], ids=["aligned", "packed"])
class TestFields:
    def test_read(self, dtype):
        def body(a):
            s = 0.0
            for i in range(len(a)):
                if a[i]["ok"]:
                    s += a[i]["x"] * a[i]["n"] + a["x"][i]
            return s

        both(body, lambda: (filled(dtype),))

    def test_write(self, dtype):
        def body(a):
            for i in range(a.shape[0]):
                a[i]["x"] = 2 * a[i]["x"] + i
                a["n"][i] = i - 3
                a[i]["ok"] = i % 2 == 0
                a[i]["n"] += 5
                a["x"][-i] -= 0.5

        both(body, lambda: (filled(dtype),))

    def test_strided_and_reversed(self, dtype):
        def body(a):
            s = 0.0
            for i in range(a.size):
                a[i]["x"] += i
                s += a[i]["x"]
            return s

        both(body, lambda: (filled(dtype, 12)[::-2],))
        both(body, lambda: (filled(dtype, 12)[1::3],))

    def test_records_are_views(self, dtype):
        def body(a):
            r = a[2]
            r["x"] = 10.0
            for q in a:
                q["n"] = 3
            b = a[1:4]
            b[0]["x"] = -1.0
            return r["x"] + a[2]["x"] + a[1]["x"]

        both(body, lambda: (filled(dtype),))

    def test_whole_records(self, dtype):
        def body(a, b):
            for i in range(len(a)):
                a[i] = b[len(b) - 1 - i]
            a[0], a[1] = a[1], a[0]

        both(body, lambda: (filled(dtype), filled(dtype)[::-1].copy()))

    def test_bounds(self, dtype):
        @un.jit
        def f(a, i):
            return a[i]["x"]

        a = filled(dtype)
        assert f(a, -1) == a[-1]["x"]
        for i in (7, -8):
            with pytest.raises(IndexError, match="out of bounds"):
                f(a, i)

        @un.jit
        def record(a, i):
            r = a[i]
            return r["n"]

        assert record(a, -7) == a[0]["n"]
        with pytest.raises(IndexError, match="out of bounds"):
            record(a, 7)

    def test_the_array_itself_comes_back(self, dtype):
        @un.jit
        def same(a):
            a[0]["n"] = 1
            return a

        a = filled(dtype)
        assert same(a) is a


def test_attributes_name_fields():
    """Numba's spelling, and that of NumPy's recarray."""

    def body(a):
        for i in range(len(a)):
            a[i].x += a[i].n
        return a.x[2] + a[3].x

    found = un.jit(body)
    rec = filled(ALIGNED).view(np.recarray)
    other = filled(ALIGNED)
    assert body(rec) == found(other)
    assert rec.tobytes() == other.tobytes()
    assert found(filled(ALIGNED).view(np.recarray)) == found(filled(ALIGNED))


def test_fields_are_arrays():
    def body(a):
        a["x"][1:] = a["x"][1:] + a["n"][:-1]
        a["x"] = a["x"] * 2
        return a["x"].sum() + (a["x"] * a["n"]).max()

    a, b = filled(ALIGNED), filled(ALIGNED)
    assert un.jit(body)(a) == body(b)
    assert a.tobytes() == b.tobytes()


def test_fields_in_pieces_are_read_and_assigned_as_arrays():
    def body(a):
        return (a["x"] + 1) * a["n"]

    def write(a):
        a["big"] = 3
        a["x"] = a["x"][::-1] + a["n"]

    both(body, lambda: (filled(PACKED),))
    both(write, lambda: (filled(PACKED),))


def test_a_field_comes_back_as_a_view():
    a = filled(ALIGNED)

    @un.jit
    def whole(a):
        return a["n"]

    @un.jit
    def part(a):
        return a["n"][2:4]

    for found, wanted in ((whole(a), a["n"]), (part(a), a["n"][2:4])):
        np.testing.assert_array_equal(np.asarray(found), wanted)
        found[0] = 17
        assert wanted[0] == 17


def test_nested_and_arrays_in_records():
    def body(a):
        s = 0.0
        for i in range(len(a)):
            a[i]["p"]["x"] = i
            a["p"][i]["y"] = 2 * a[i]["p"]["x"]
            for k in range(3):
                a[i]["v"][k] = i + k
            a["v"][i, 1] += 1
            s += a["p"]["y"][i] + a[i]["v"].sum()
        return s

    both(body, lambda: (np.zeros(5, NESTED),))


def test_two_axes():
    def body(a):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j]["x"] = i * 10 + j
                a["n"][i, j] = a.ndim

    both(body, lambda: (np.zeros((3, 4), ALIGNED),))
    both(body, lambda: (np.zeros((3, 4), PACKED).T,))


def test_prange():
    def body(a):
        total = 0.0
        for i in un.prange(len(a)):
            a[i]["x"] = i * 0.5
            a[i]["n"] = i
            total += a[i]["x"]
        return total

    a = np.zeros(1000, PACKED)
    un.jit(body)(a)
    np.testing.assert_array_equal(a["n"], np.arange(1000))
    np.testing.assert_array_equal(a["x"], np.arange(1000) * 0.5)

    @un.jit
    def carried(a):
        for i in un.prange(1, len(a)):
            a[i]["x"] = a[i - 1]["x"]

    with pytest.raises(un.CompileError, match="reads what another one writes"):
        carried(a)

    @un.jit
    def same(a):
        for i in un.prange(1, len(a)):
            a["x"][0] = i

    with pytest.raises(un.CompileError, match="write the same element"):
        same(a)

    @un.jit
    def apart(a):
        for i in un.prange(1, len(a)):
            a[i]["x"] = a[i - 1]["n"]

    apart(a)
    np.testing.assert_array_equal(a["x"][1:], np.arange(999))


def test_kernels_take_records():
    @un.kernel
    def scale(a, f):
        i = un.global_id(0)
        a[i]["x"] = a[i]["x"] * f

    a = filled(ALIGNED)
    before = a["x"].copy()
    scale[len(a)](a, 3.0)
    np.testing.assert_array_equal(a["x"], before * 3)


def test_passed_on():
    @un.jit
    def add(a, i, x):
        a[i]["x"] += x

    @un.jit
    def add_to(r, x):
        r["x"] += x

    @un.jit
    def f(a):
        for i in range(len(a)):
            add(a, i, 1.0)
            add_to(a[i], 2.0)

    a = filled(PACKED)
    b = a.copy()
    f(a)
    b["x"] = b["x"] + 1 + 2
    np.testing.assert_array_equal(a["x"], b["x"])


def test_read_only():
    @un.jit
    def f(a):
        a[0]["x"] = 1

    a = filled(ALIGNED)
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        f(a)


def test_refused():
    @un.jit
    def text(a):
        return a[0]["name"]

    with pytest.raises(un.CompileError, match=r"its elements are of the dtype \|S8"):
        text(np.zeros(2, NESTED))

    @un.jit
    def missing(a):
        return a[0]["z"]

    with pytest.raises(un.CompileError, match="no field 'z' in a structured array of rank 1"):
        missing(filled(ALIGNED))
    swapped = np.dtype([("x", ">f8")])

    @un.jit
    def odd(a):
        return a[0]["x"]

    with pytest.raises(un.CompileError, match="byte order"):
        odd(np.zeros(2, swapped))


UNALIGNED = np.dtype([("a", "u1"), ("x", "f8"), ("y", "i4")])


def _assigns_a_slice(r):
    r["x"][1:] = 9


def _assigns_all(r):
    r["x"][...] = r["x"][::-1]


def _assigns_through_a_name(r):
    c = r["x"]
    c[0] = 9


def _augments_a_slice(r):
    r["x"][1:] += 1


def _assigns_a_part_of_a_part(r):
    r["x"][1:][0] = 7


def _fills(r):
    r["x"].fill(3)


def _copies_into(r):
    np.copyto(r["x"], np.ones(4))


def _sorts(r):
    r["x"].sort()


def _stores(c):
    c[0] = 5


def _calls(r):
    _stores(r["x"])


def _adds_into(r):
    np.add(r["x"], 1, r["x"])


@pytest.mark.parametrize(
    "function",
    [
        _assigns_a_slice,
        _assigns_all,
        _assigns_through_a_name,
        _augments_a_slice,
        _assigns_a_part_of_a_part,
        _fills,
        _copies_into,
        _sorts,
        _calls,
        _adds_into,
    ],
)
def test_numbers_that_are_not_aligned_are_not_lost(function):
    """They are read into copies: what would write into one is refused."""
    r = np.zeros(4, UNALIGNED)
    with pytest.raises((un.CompileError, ValueError), match="read-only|takes 2 arguments"):
        un.jit(function)(r)


def test_fill_of_an_expression():
    @un.jit
    def f(a):
        b = a.real
        b.fill(2.0)
        return a

    assert f(np.zeros(2, complex)).tolist() == [2.0, 2.0]


# ---- complex fields
WITH_COMPLEX = {
    "aligned": np.dtype([("b", "i4"), ("c", "c8"), ("d", "c16")], align=True),
    "in pieces": np.dtype([("b", "f4"), ("c", "c8"), ("d", "c16"), ("x", "i2")]),
    "in halves": np.dtype([("x", "f8"), ("c", "c8"), ("d", "c16")]),
    "in arrays": np.dtype([("b", "i4"), ("c", "c8"), ("d", "c16"), ("v", "f4", 3)], align=True),
}


@pytest.mark.parametrize("dtype", WITH_COMPLEX.values(), ids=WITH_COMPLEX)
def test_complex_fields(dtype):
    def body(a):
        total = 0j
        for i in range(len(a)):
            a[i]["c"] = a[i]["c"] * 2 + 1j
            a[i]["d"] = a[i]["d"] * 1j - 2
            total += a[i]["d"] + a[i]["c"]
        a[2] = a[0]
        return total

    def make():
        a = np.zeros(3, dtype)
        a["c"], a["d"] = [1 + 1j, 2, -3j], [0.5, 1j, 4 - 1j]
        return (a,)

    both(body, make)


@pytest.mark.parametrize("dtype", WITH_COMPLEX.values(), ids=WITH_COMPLEX)
def test_kernels_copy_records(dtype):
    @un.kernel
    def f(a, z):
        a[1] = a[0]
        z[0] = a[1].c + a[1].d

    a, z = np.zeros(2, dtype), np.zeros(1, complex)
    a[0]["c"], a[0]["d"] = 1 + 1j, 2j
    if "v" in dtype.names:
        a[0]["v"] = 1, 2, 3
    f[1](a, z)
    assert a[1] == a[0] and z[0] == 1 + 3j
