"""Numba's words for types, blocks of Python, extensions and iterators, as its manual uses them."""

import subprocess
import sys
import time

import numpy as np
import pytest
import unisono as un
from unisono import errors, experimental, extending, types
from unisono.typed import Dict, List, Set


def test_types_write_signatures():
    @un.njit(types.Tuple((types.int64, types.float64))(types.int64))
    def pair(x):
        return x, x * 1.5

    @un.njit([types.float32(types.Array(types.float32, 1, "C")), un.float64[:](un.float64[:])])
    def first(a):
        return a[0] if a.itemsize == 4 else a

    @un.njit(types.unicode_type(types.ListType(types.unicode_type), types.boolean))
    def word(words, last):
        return words[-1] if last else words[0]

    assert pair(2) == (2, 3.0)
    assert first(np.ones(2, np.float32)) == 1 and first(np.ones(2)).tolist() == [1, 1]
    assert word(["a", "b"], True) == "b"
    with pytest.raises(un.CompileError, match="no signature takes"):
        pair("a")


def test_lists_of_numbers_have_signatures_and_change():
    @un.njit(types.void(types.List(types.int64)))
    def grow(items):
        items.append(len(items))

    @un.njit("float64(List(float64))")
    def total(items):
        s = 0.0
        for x in items:
            s += x
        return s

    items = [7]
    grow(items)
    assert items == [7, 1] and total([1.0, 2.5]) == 3.5


@pytest.mark.parametrize(
    "value, text",
    [
        (1, "int64"),
        (np.float32(2), "float32"),
        ("a", "unicode_type"),
        (None, "void"),
        (np.ones((2, 2), order="F"), "float64[::1, :]"),
        (un.ones((2, 2))[:, :1], "float64[:, :]"),
        ((1, 2.0), "Tuple((int64, float64))"),
        ({1: [2.0]}, "DictType(int64, ListType(float64))"),
        ({"a"}, "Set(unicode_type)"),
    ],
)
def test_typeof(value, text):
    made = un.typeof(value)
    assert (made.name if isinstance(made, un.DType) else str(made)) == text
    if value is not None:
        assert un.jit((made,))(lambda x: 1)(value) == 1


def test_typeof_refuses():
    with pytest.raises(TypeError, match=r"typeof: compiled functions take no such value; got \[\]"):
        un.typeof([])
    with pytest.raises(AttributeError, match="no types of constants"):
        types.IntegerLiteral  # noqa: B018


def test_records_have_types_and_elements_are_arguments():
    dtype = np.dtype([("a", "f8"), ("b", "i4"), ("c", "f4")])

    @un.njit(types.float64(un.from_dtype(dtype)[:]))
    def total(rows):
        s = 0.0
        for i in range(len(rows)):
            s += rows[i]["a"]
        return s

    @un.njit
    def change(row, k):
        row["b"] += k
        return row["a"] + row.c

    rows = np.ones(3, dtype)
    assert total(rows) == 3
    assert change(rows[1], 4) == 2 and rows["b"].tolist() == [1, 5, 1]


def test_objects_have_types():
    node_type = un.deferred_type()

    @experimental.jitclass([("data", un.int32), ("next", un.optional(node_type))])
    class Node:
        def __init__(self, data, next):
            self.data = data
            self.next = next

    node_type.define(Node.class_type.instance_type)

    @un.njit(un.int64(Node.class_type.instance_type))
    def data(node):
        return node.data

    list_of_two = Node(1, Node(2, None))
    assert list_of_two.next.data == 2 and data(list_of_two) == 1
    with pytest.raises(TypeError, match="the type is not told yet"):
        un.jit((un.deferred_type(),))(lambda x: 1)


def test_objmode():
    @un.njit
    def f(n):
        y = np.zeros(n)
        with un.objmode(y="float64[:]", s="unicode_type", t=types.float64):
            y = np.asarray(list(reversed(range(n))), float)
            s = str(n)
            t = time.perf_counter()
        return y, s, t > 0

    y, s, is_later = f(3)
    assert y.tolist() == [2, 1, 0] and s == "3" and is_later
    with pytest.raises(un.CompileError, match="the type 'odd'"):

        @un.njit
        def g():
            with un.objmode(y="odd"):
                y = 1
            return y

        g()


def test_register_jitable():
    @extending.register_jitable
    def inner(x):
        return x + 1

    @un.register_jitable(inline="always")
    def twice(x):
        return 2 * inner(x)

    assert un.njit(lambda x: twice(x))(1) == 4
    assert twice(1) == 4 and not hasattr(twice, "py_func")


def squeezed(x):
    raise NotImplementedError


@extending.overload(squeezed)
def _squeezed(x):
    if isinstance(x, types.Float):
        return lambda x: 1.0
    if isinstance(x, types.Array):

        def whole(x):
            return x.sum()

        return whole
    if isinstance(x, types.Boolean):
        return lambda x: "bool"
    if isinstance(x, (types.Integer, types.UnicodeType)):
        return lambda x: "int or text"
    return lambda x: "else"


def test_overloads_ask_for_kinds_of_types():
    f = un.njit(lambda x: squeezed(x))
    values = [2.5, np.ones(3), True, 7, "a", (1,)]
    assert [f(v) for v in values] == [1.0, 3.0, "bool", "int or text", "int or text", "else"]


def test_the_library_keeps_its_own_builtins(tmp_path):
    path = tmp_path / "own.py"
    path.write_text("""
import numpy as np, unisono as un
@un.overload(len)
def _len(x):
    if isinstance(x, float):
        return lambda x: 7
print(un.jit(lambda x: (len(x), np.random.rand(2, 3).shape))(2.5))
""")
    assert subprocess.check_output([sys.executable, path], text=True) == "(7, (2, 3))\n"


@un.overload_method(types.Array, "plus")
def _plus(a, n=1):
    def work(a, n=1):
        return a + n

    return work


@un.overload_method(types.UnicodeType, "plus")
def _plus_text(s, n=1):
    return s + "!" * n


@un.overload_attribute(types.Array, "squared_size")
def _squared_size(a):
    return lambda a: a.size * a.size


def test_members():
    @un.njit
    def f(a, s):
        return a.plus().sum() + a.plus(2)[0] + a.squared_size, s.plus(2)

    assert f(np.ones(3), "a") == (6 + 3 + 9, "a!!")
    with pytest.raises(un.CompileError, match="method 'plus'"):
        un.njit(lambda x: x.plus())(1.0)
    with pytest.raises(TypeError, match="members belong to a kind of types"):
        un.overload_method(float, "x")


@un.jitclass([("squared_size", un.types.int64)])
class _Square:
    def __init__(self, side):
        self.squared_size = side
        self.squared_size *= side


def test_a_field_may_have_the_name_of_a_member():
    @un.njit
    def f(a, side):
        square = _Square(side)
        square.squared_size += 1
        return square.squared_size, a.squared_size

    assert f(np.ones(2), 3) == (10, 4)


def test_loops():
    @un.njit
    def f(a, b):
        s = 0.0
        for x in un.literal_unroll((1, 2.5)):
            s += x
        for x in np.nditer(a):
            s += x.item() + x
        for x, y in np.nditer((a, b)):
            s += x * y
        for i in un.pndindex(a.shape):
            s += a[i]
        return s

    a, b = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    assert f(a, b) == f.py_func(a, b) - 0.0
    assert "parallel" in f.parallel_report()


def test_chunks_and_threads():
    @un.njit
    def total(n):
        before = un.get_parallel_chunksize()
        s = 0
        with un.parallel_chunksize(8):
            for i in un.prange(n):
                s += i
        un.set_parallel_chunksize(before)
        return s, un.get_num_threads()

    threads = un.get_num_threads()
    with un.parallel_chunksize(4):
        assert un.get_parallel_chunksize() == 4
        assert total(100) == (4950, threads)
    assert un.get_parallel_chunksize() == 0
    un.set_num_threads(1)
    try:
        assert total(100) == (4950, 1)
    finally:
        un.set_num_threads(threads)
    with pytest.raises(ValueError, match="at least 0"):
        un.set_parallel_chunksize(-1)
    assert un.threading_layer() == "tbb"


def test_containers_of_given_types():
    @un.njit
    def f():
        d = Dict.empty(key_type=types.unicode_type, value_type=types.float64[:])
        d["x"] = np.arange(3.0)
        items = List.empty_list(types.int64)
        items.append(3)
        s = Set.empty(types.int64)
        s.add(4)
        return d["x"].sum(), items, s

    assert f() == (3.0, [3], {4})


def test_flat_flags_views_and_slices():
    @un.njit
    def f(a):
        a.flat[2] = 9.0
        a.flat[-1] += 1
        flags = a.flags.c_contiguous, a.T.flags.contiguous, a.T.flags.f_contiguous
        bits = np.float32(2.5).view(np.int32), np.int64(-1).view(np.uint64), a[0, 1].item()
        return a.flat[2], a.T.flat[1], flags, bits, a[slice(1, 2), slice(None, 2)]

    def plain(a):
        a[0, 2] = 9.0
        a[1, 2] += 1
        return 9.0, a[1, 0], (True, False, True), (0x40200000, 2**64 - 1, a[0, 1]), a[1:2, :2]

    a, b = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3)
    got, expected = f(a), plain(b)
    assert got[:4] == expected[:4] and a.tolist() == b.tolist()
    assert got[4].tolist() == expected[4].tolist()
    with pytest.raises(IndexError, match="out of bounds"):
        un.njit(lambda a: a.flat[6])(a)
    with pytest.raises(un.CompileError, match="a dtype of its own size"):
        un.njit(lambda x: np.float32(x).view(np.int64))(1.0)


def test_errors_are_caught_by_their_names():
    f = un.njit(lambda x: x + undefined)  # noqa: F821
    with pytest.raises(errors.TypingError):
        f(1)
    with pytest.raises(errors.NumbaError):
        un.njit(lambda x: x)(object())
    assert issubclass(errors.NumbaPerformanceWarning, Warning)


def inc(x):
    return x + 1


def test_jit_module():
    scope = {"__name__": "some_module", "un": un, "inc": inc}
    exec("def own(x): return x\nun.jit_module(error_model='numpy')", scope)
    assert hasattr(scope["own"], "py_func") and not hasattr(scope["inc"], "py_func")


def test_options_that_say_nothing():
    un.njit(no_cpython_wrapper=True, no_rewrites=True, pipeline_class=None, target="cpu")(lambda: 1)


def test_object_mode_is_the_interpreter():
    @un.jit(nopython=False, forceobj=True, parallel=True, fastmath=True)
    def kinds(*things):
        return {i: type(things[i]).__name__ for i in un.prange(len(things))}

    assert kinds(1, object()) == {0: "int", 1: "object"}
    assert un.jit(kinds, forceobj=True) is kinds
    assert un.njit(lambda x: kinds(x) and 1, forceobj=True)(2) == 1


def test_diagnostics(capsys):
    @un.njit(parallel=True)
    def f(x):
        s = 0.0
        for i in un.prange(len(x)):
            s += x[i]
        return s

    f(np.ones(3))
    f.parallel_diagnostics(level=4)
    assert "prange" in capsys.readouterr().out
    assert f.nopython_signatures == f.signatures


@pytest.mark.parametrize(
    "name, way_out",
    [("generated_jit", "un.overload"), ("pycc", "compile_module"), ("gdb_init", "debug=True")],
)
def test_what_is_not_there_names_the_way_out(name, way_out):
    with pytest.raises(AttributeError, match=way_out):
        getattr(un, name)


def test_literally_is_the_value():
    @un.njit
    def f(x, n):
        return x[: un.literally(n)].sum()

    assert f(np.arange(5.0), 3) == 3.0 and un.literally(3) == 3


def test_parts_of_arrays():
    @un.njit
    def f(m):
        c = m.reshape(2, 3, 2)
        return np.vsplit(m, 2), np.hsplit(m, [1, 3]), np.dsplit(c, 2), np.hsplit(m[0], 3)

    m = np.arange(12.0).reshape(2, 6)
    for got, expected in zip(f(m), f.py_func(m), strict=True):
        assert [p.tolist() for p in got] == [p.tolist() for p in expected]
    with pytest.raises(ValueError, match="2 or more dimensions"):
        un.njit(lambda a: np.vsplit(a, 2))(m[0])


def test_settings_by_numbas_names():
    config = un.config
    assert config.NUMBA_NUM_THREADS == un.get_num_threads() <= config.NUMBA_DEFAULT_NUM_THREADS
    assert config.DISABLE_JIT is False and isinstance(config.CACHE_DIR, str)
    assert config.THREADING_LAYER in config.THREADING_LAYER_PRIORITY
    config.THREADING_LAYER_PRIORITY = ["omp", "tbb"]
    assert config.THREADING_LAYER == un.threading_layer()
    config.THREADING_LAYER = "omp"
    assert config.THREADING_LAYER == un.threading_layer()
    try:
        config.DISABLE_JIT = True
        assert un.njit(len) is len and un.njit(cache=True)(len) is len
    finally:
        config.DISABLE_JIT = 0
    assert un.njit(lambda x: x + 1)(1) == 2 and config.DISABLE_JIT is False
    assert un.njit(lambda: un.config.NUMBA_NUM_THREADS)() == un.get_num_threads()
    for wrong in (lambda: config.NOTHING, lambda: setattr(config, "NOTHING", 1)):
        with pytest.raises(AttributeError, match="docs/settings.md"):
            wrong()
    with pytest.raises(ValueError, match="expected one of"):
        config.THREADING_LAYER = "pthreads"
    with pytest.raises(AttributeError):
        config.CACHE_DIR = "/tmp"


def test_is_jitted():
    f = un.njit(lambda x: x)
    assert un.extending.is_jitted(f) and not un.extending.is_jitted(f.py_func)


_MODULE_OF_ANOTHER_THREAD = """
import importlib.util
import sys
import unisono as un

spec = importlib.util.find_spec("unisono.cuda.warps")
spec._initializing = True
sys.modules[spec.name] = importlib.util.module_from_spec(spec)

@un.njit
def largest(x):
    return max(x[0], x[1])

print(largest(un.array([1.0, 3.0])))
"""


def test_words_of_a_module_that_another_thread_is_importing():
    """In a process of its own: what is imported meanwhile keeps the module that is not whole."""
    command = [sys.executable, "-c", _MODULE_OF_ANOTHER_THREAD]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "3.0\n", done.stderr


def test_sets_of_a_type_start_empty():
    for item_type in (un.types.intp, un.types.unicode_type, un.float64, str):
        assert Set(item_type) == set()
    assert Set("ab") == {"a", "b"}


def test_containers_of_arrays_whose_elements_lie_side_by_side():
    types = un.types

    @un.njit(types.void(types.float32[:, ::1], types.ListType(types.float32[::1]), types.int64))
    def rows(x, found, n):
        if n > 0:
            found.append(x[n - 1])
            rows(x, found, n - 1)

    @un.njit(types.float64(types.float64[::1]))
    def first(x):
        return x[0]

    @un.njit(types.float64(types.DictType(types.int64, types.float64[::1])))
    def total(d):
        s = 0.0
        for k in d:
            s += first(d[k])
        return s

    x = np.arange(6, dtype="f4").reshape(3, 2)
    found = un.typed.List([np.zeros(2, "f4")])
    rows(x, found, 3)
    assert [r.tolist() for r in found] == [[0, 0], [4, 5], [2, 3], [0, 1]]
    d = un.typed.Dict()
    d[1], d[2] = np.array([2.0, 3.0]), np.array([5.0])
    assert total(d) == 7.0
