"""What Numba's CUDA has for kernels beyond their words: arguments, cooperative groups, shared memory of records."""

import enum
import math
import warnings

import numpy as np
import pytest
import unisono as un
from unisono import bool_, cuda, float32, int32, int64, uint64

RECORD = np.dtype([("x", "f4"), ("v", "i4", 2), ("c", "c8")])
COUNT, KIND = 4, un.from_dtype(RECORD)


@cuda.jit
def set_to_three(a):
    a[0] = 3


@pytest.mark.parametrize(("hint", "kept"), [(cuda.In, 0), (cuda.Out, 3), (cuda.InOut, 3)])
def test_hints_say_what_is_copied(chosen, hint, kept):
    host = np.zeros(1)
    set_to_three[1, 1](hint(host))
    assert host[0] == kept
    there = cuda.to_device(np.zeros(1))
    set_to_three[1, 1](hint(there))
    assert there.copy_to_host()[0] == (kept if str(there.device) == "cpu" else 3)


class Noted:
    def __init__(self):
        self.done = []

    def prepare_args(self, kind, value, stream=None, retr=None):
        retr.append(lambda: self.done.append(value))
        return kind, cuda.In(value) if isinstance(value, np.ndarray) else value


def test_extensions_prepare_arguments(chosen):
    noted = Noted()
    kernel = cuda.jit(extensions=[noted])(set_to_three.py_func)
    host = np.zeros(1)
    kernel[1, 1](host)
    assert host[0] == 0 and noted.done[0] is host
    kernel.extensions.clear()
    kernel[1, 1](host)
    assert host[0] == 3


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"target": "cuda"}, TypeError, "no keyword 'target'.*leave it out"),
        ({"parallel": True}, TypeError, "no keyword 'parallel'"),
        ({"argtypes": (int32,)}, TypeError, "no keyword 'argtypes'.*signature as first argument"),
        ({"wrong": 1}, TypeError, "unknown keyword 'wrong'"),
        ({"extensions": 3}, TypeError, "extensions is a list of objects"),
        ({"extensions": [3]}, TypeError, "extensions is a list of objects"),
        ({"link": 3}, TypeError, "a text, a path.*got int"),
    ],
)
def test_keywords_that_kernels_do_not_have(options, error, message):
    with pytest.raises(error, match=message):
        cuda.jit(**options)(set_to_three.py_func)


def test_negative_tasks():
    with pytest.raises(ValueError, match="Can't create ForAll with negative task count: -1"):
        set_to_three.forall(-1)


def test_arrays_like_others_keep_their_order(chosen):
    for like in (cuda.device_array_like, cuda.pinned_array_like):
        for given in (np.zeros((10, 12)), np.zeros((10, 12), order="F")):
            assert like(cuda.to_device(given)).strides == np.zeros_like(given).strides
        assert like(cuda.device_array((10, 12), order="F")[::2, ::2].T).shape == (6, 5)


def test_numbers_are_types():
    assert isinstance(un.types.complex64, un.types.Type) and not isinstance(3, un.types.Type)
    assert un.types.complex64.underlying_float is un.float32
    assert un.types.complex128.underlying_float is un.float64
    with pytest.raises(AttributeError, match="float32 has no attribute 'underlying_float'"):
        un.float32.underlying_float  # noqa: B018


# ---- atomics
@cuda.jit
def extremes(r, v):
    cuda.atomic.max(r, 0, v[cuda.grid(1)])
    cuda.atomic.min(r, 1, v[cuda.grid(1)])


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u4", "i8"])
def test_atomic_extremes_are_pythons(chosen, dtype):
    v = np.array([1, 3, 7, 5], dtype)
    if dtype[0] == "f":
        v[1] = np.nan
    there = cuda.to_device(v)
    for start, expected in ((2, [7, 1]), (np.nan, [np.nan, np.nan])):
        if start == start or dtype[0] == "f":
            r = cuda.to_device(np.full(2, start, dtype))
            extremes[1, 4](r, there)
            np.testing.assert_array_equal(r.copy_to_host(), np.array(expected, dtype))


def test_atomic_extremes_from_python():
    r = np.ones(1)
    assert cuda.atomic.max(r, 0, 5.0) == 1 and cuda.atomic.max(r, 0, np.nan) == 5 and r[0] == 5
    assert cuda.atomic.min(r, 0, 2.0) == 5 and cuda.atomic.min(r, 0, np.nan) == 2 and r[0] == 2


# ---- cooperative groups
@cuda.jit
def rows(m, places):
    column = cuda.grid(1)
    g = cuda.cg.this_grid()
    places[column, 0] = cuda.threadIdx.x
    places[column, 1] = cuda.blockIdx.x
    places[column, 2] = cuda.blockDim.x
    places[column, 3] = cuda.gridDim.x
    for row in range(1, m.shape[0]):
        m[row, column] = m[row - 1, m.shape[1] - column - 1] + 1
        g.sync()


def test_the_grid_meets(chosen):
    m, places = cuda.to_device(np.zeros((5, 8), np.int32)), cuda.to_device(np.zeros((8, 4), int))
    rows[2, 4](m, places)
    assert m.copy_to_host().tolist() == [[k] * 8 for k in range(5)]
    assert places.copy_to_host().tolist() == [[k % 4, k // 4, 4, 2] for k in range(8)]
    rows[4, 2](m, places)
    assert places.copy_to_host().tolist() == [[k % 2, k // 2, 2, 4] for k in range(8)]
    assert rows.cooperative and not set_to_three.cooperative
    assert rows.max_cooperative_grid_blocks(4) == rows.max_cooperative_grid_blocks((2, 2)) > 0


def test_a_large_grid_meets(chosen):
    m, places = (
        cuda.to_device(np.zeros((4, 16384), np.int32)),
        cuda.to_device(np.zeros((16384, 4), int)),
    )
    rows[128, 128](m, places)
    assert (m.copy_to_host() == np.arange(4)[:, None]).all()
    assert places.copy_to_host()[-1].tolist() == [127, 127, 128, 128]


@cuda.jit(device=True)
def asks():
    return cuda.threadIdx.x


def test_what_cooperative_kernels_cannot():
    @cuda.jit
    def shares(a):
        cuda.cg.this_grid().sync()
        s = cuda.shared.array(4, float32)
        s[0] = a[0]

    @cuda.jit
    def calls(a):
        cuda.cg.this_grid().sync()
        a[0] = asks()

    with pytest.raises(
        un.CompileError, match="blocks share no memory in a kernel that synchronises the grid"
    ):
        shares[1, 1](np.zeros(1))
    with pytest.raises(un.CompileError, match="got 'threadIdx' in asks"):
        calls[1, 1](np.zeros(1))
    with pytest.raises(RuntimeError, match="only defined inside of a kernel"):
        cuda.cg.this_grid()


# ---- arrays of kernels
@cuda.jit
def of_records(a, out):
    s = cuda.shared.array(COUNT, RECORD)
    v = cuda.shared.array((2, 2), cuda.float32x2)
    mine = cuda.local.array(2, KIND)
    i = cuda.threadIdx.x
    mine[1].x = a[i]
    mine[1].v[0] = i
    mine[1].v[1] = 2 * i
    mine[1].c = a[i] * 2j
    s[i] = mine[1]
    v[i // 2, i % 2] = cuda.float2(i, a[i])
    cuda.syncthreads()
    k = 3 - i
    w = cuda.float2(v[k // 2, k % 2])
    out[i] = s[k].x + s[k].v[1] + s[k].c.imag + w.x * 100 + w.y * 1000


def test_shared_and_local_arrays_of_records(chosen):
    a, out = cuda.to_device(np.arange(4, dtype="f4")), cuda.to_device(np.zeros(4, "f4"))
    of_records[1, 4](a, out)
    k = np.arange(3, -1, -1)
    assert out.copy_to_host().tolist() == (k + 2 * k + 2 * k + 100 * k + 1000 * k).tolist()


def test_records_through_shared_memory():
    @cuda.jit
    def turned(a, out):
        s = cuda.shared.array(COUNT, RECORD)
        i = cuda.threadIdx.x
        s[i] = a[i]
        cuda.syncthreads()
        out[i] = s[3 - i]

    cuda.select_device("cpu")
    a = np.zeros(4, RECORD)
    a["x"], a["v"], a["c"] = [1, 2, 3, 4], np.arange(8).reshape(4, 2), [1j, 2, 3j, 4]
    out = cuda.device_array_like(a)
    turned[1, 4](a, out)
    cuda.close()
    assert np.array_equal(out.copy_to_host(), a[::-1])
    assert out.copy_to_host(np.zeros(4, RECORD))["x"].tolist() == [4, 3, 2, 1]
    out.copy_to_device(a)
    assert np.array_equal(out.copy_to_host(), a)
    with pytest.raises(ValueError, match="fields of other shapes"):
        turned[1, 4](np.zeros(4, [("x", "f4"), ("v", "i4", 3), ("c", "c8")]), out)


def test_local_arrays_of_records_by_our_words(device):
    @un.kernel(device=device)
    def f(a, out):
        s = un.local_array(4, RECORD)
        i = un.local_id(0)
        s[i].x = a[i]
        un.barrier()
        out[i] = s[3 - i].x

    a, out = un.arange(4, dtype=un.float32, device=device), un.zeros(4, un.float32, device=device)
    f[4, 4](a, out)
    assert out.tolist() == [3, 2, 1, 0]


@pytest.mark.parametrize("shape", ["0, 4", "-1", "2.5", "n"])
def test_shapes_of_arrays_of_records(shape):
    scope = {"cuda": cuda, "RECORD": RECORD}
    text = f"def f(o, n):\n    s = cuda.shared.array(({shape}), RECORD)\n    o[0] = s[0].x\n"
    exec(text, scope)
    with pytest.raises(un.CompileError, match="must be positive constants"):
        cuda.jit(scope["f"])[1, 1](np.zeros(1), 3)


@pytest.mark.parametrize("kind", ["i4,f8", "S4", "U2", "M8[s]"])
def test_records_that_have_no_arrays_of_kernels(kind):
    nested = np.dtype([("p", kind)])

    @cuda.jit
    def f(o):
        s = cuda.shared.array(4, nested)
        o[0] = len(s)

    with pytest.raises(un.CompileError, match="got field 'p'.*an array for each of its fields"):
        f[1, 1](np.zeros(1))


@cuda.jit
def of_one_memory(a, out):
    x = cuda.shared.array(0, float32)
    y = cuda.shared.array(0, dtype=float32)[4:]
    z = cuda.shared.array(shape=0, dtype=float32)
    i = cuda.threadIdx.x
    x[i] = a[i]
    y[i] = -a[i]
    cuda.syncthreads()
    out[i] = z[7 - i] + z[i] * 10


def test_dynamic_shared_arrays_are_one_memory(chosen):
    a, out = cuda.to_device(np.arange(1, 5, dtype="f4")), cuda.to_device(np.zeros(4, "f4"))
    of_one_memory[1, 4, 0, 32](a, out)
    assert out.copy_to_host().tolist() == [6, 17, 28, 39]


def test_dynamic_shared_arrays_of_several_dtypes():
    @cuda.jit
    def f(out):
        x = cuda.shared.array(0, float32)
        y = cuda.shared.array(0, int32)
        out[0] = x[0] + y[0]

    with pytest.raises(un.CompileError, match="one memory of one dtype; got float32 and int32"):
        f[1, 1, 0, 32](np.zeros(1))


def test_a_dynamic_shared_array_of_records(chosen):
    @cuda.jit
    def f(out):
        s = cuda.shared.array(0, RECORD)
        s[cuda.threadIdx.x].x = cuda.threadIdx.x
        out[cuda.threadIdx.x] = s[cuda.threadIdx.x].x + len(s)

    out = cuda.to_device(np.zeros(4, "f4"))
    f[1, 4, 0, 4 * RECORD.itemsize](out)
    assert out.copy_to_host().tolist() == [4, 5, 6, 7]


@cuda.jit
def special(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[0, i] = math.erf(x[i])
        out[1, i] = math.erfc(x[i])
        out[2, i] = math.gamma(x[i])
        out[3, i] = math.lgamma(x[i])
        out[4, i] = math.remainder(x[i], 1.5)


def test_special_functions(chosen):
    x = np.concatenate([np.random.default_rng(4).uniform(-5, 5, 100), [1.0, 3.5, 0.1, 30.0]])
    out = cuda.to_device(np.zeros((5, x.size)))
    special[4, 32](cuda.to_device(x), out)
    out = out.copy_to_host()
    functions = (math.erf, math.erfc, math.gamma, math.lgamma, lambda v: math.remainder(v, 1.5))
    for got, f in zip(out, functions, strict=True):
        np.testing.assert_allclose(got, [f(v) for v in x], rtol=1e-14, atol=1e-15)


@un.jit
def log_gamma(x):
    return math.lgamma(x)


@cuda.jit(device=True)
def by_a_function(x):
    return math.erf(x) + math.erfc(x) + math.gamma(x) + log_gamma(x) + math.remainder(x, 1.5)


@cuda.jit
def special_by_a_function(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[0, i] = by_a_function(x[i])
        out[1, i] = (
            math.erf(x[i])
            + math.erfc(x[i])
            + math.gamma(x[i])
            + math.lgamma(x[i])
            + math.remainder(x[i], 1.5)
        )


def test_special_functions_in_functions_that_kernels_call(chosen):
    x = np.array([0.5, 2.5, 30.0, -1.0, -2.5])
    out = cuda.to_device(np.zeros((2, 5)))
    special_by_a_function[1, 8](cuda.to_device(x), out)
    np.testing.assert_array_equal(*out.copy_to_host())
    with pytest.raises(ValueError, match="math domain error"):  # outside of kernels, as Python's
        log_gamma(-1.0)


@cuda.jit
def at_poles(out):
    out[0] = math.gamma(-1.0)
    out[1] = math.gamma(0.0)
    out[2] = math.lgamma(-2.0)
    out[3] = math.erf(math.inf)


def test_special_functions_do_not_raise(chosen):
    out = cuda.to_device(np.zeros(4))
    at_poles[1, 1](out)
    np.testing.assert_array_equal(out.copy_to_host(), [np.nan, np.inf, np.inf, 1.0])


@cuda.jit
def steps_of_rows(x, y, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = np.sqrt(x[i]) + y
        np.add(out[i], 1, out[i])
        np.multiply(out[i], out[i], out=out[i])


def test_threads_compute_with_rows(chosen):
    x, y, out = np.arange(12.0).reshape(3, 4), np.arange(4.0), np.zeros((3, 4))
    steps_of_rows[2, 2](x, y, out)
    np.testing.assert_array_equal(out, (np.sqrt(x) + y + 1) ** 2)


@cuda.jit
def shifts(x):
    x[1:] = x[:-1] * 2


def test_rows_that_overlap_what_they_are_computed_from_are_refused(chosen):
    with pytest.raises(ValueError, match="shares its memory elsewhere"):
        shifts[1, 1](np.arange(4.0))
        cuda.synchronize()


def sine(x, out):
    np.sin(x, out)


def radians(x, out):
    np.deg2rad(x, out)


def negation(x, out):
    np.logical_not(x, out=out)


@pytest.mark.parametrize("function", [sine, radians, negation])
def test_ufuncs_take_where_their_result_goes(chosen, function):
    x = np.arange(4.0)
    out, expected = (np.zeros(4, bool if function is negation else float) for _ in range(2))
    cuda.jit(function)[1, 1](x, out)
    function(x, expected)
    np.testing.assert_allclose(out, expected, rtol=1e-15)


def differs(a, b, out):
    np.less(a, b, out)


@pytest.mark.parametrize("a", [-1, 0, 1])
@pytest.mark.parametrize("b", [0, 1, 2**63 - 1])
def test_signed_and_unsigned_integers_compare_by_value(chosen, a, b):
    out = np.zeros(1, bool)
    cuda.jit((int64, uint64, bool_[:]))(differs)[1, 1](np.int64(a), np.uint64(b), out)
    assert out[0] == (a < b)
    cuda.jit((uint64, int64, bool_[:]))(differs)[1, 1](np.uint64(b), np.int64(a), out)
    assert out[0] == (b < a)


def test_numbas_methods_of_arrays(chosen):
    x = cuda.to_device(np.arange(10.0))
    assert [part.copy_to_host().tolist() for part in x.split(4)] == [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9],
    ]
    with pytest.raises(ValueError, match=r"split: got an array of 2 axes; expected one"):
        x.reshape(2, 5).split(2)
    with pytest.raises(ValueError, match=r"split: got sections of 0 elements; expected at least 1"):
        x.split(0)
    assert x.bind(cuda.stream()) is x
    square = cuda.to_device(np.zeros((3, 3)))
    assert square.is_c_contiguous() and not square.is_f_contiguous()
    assert square.T.is_f_contiguous() and not square.T.is_c_contiguous()
    assert not x[::2].is_c_contiguous()
    with cuda.defer_cleanup():
        del x
    assert cuda.is_float16_supported()
    assert not cuda.current_context().can_access_peer(0)


def test_numbas_own_type_objects_are_dtypes(chosen):
    kind = type("Float", (), {"__module__": "numba.core.types.scalars", "name": "float32"})
    its_float32 = kind()

    @cuda.jit
    def f(o):
        s = cuda.shared.array(4, dtype=its_float32)
        i = cuda.threadIdx.x
        s[i] = i + 0.1
        cuda.syncthreads()
        o[i] = s[3 - i] + its_float32(0.5)

    o = cuda.to_device(np.zeros(4))
    f[1, 4](o)
    assert o.copy_to_host().tolist() == [
        float(np.float32(i + 0.1) + np.float32(0.5)) for i in (3, 2, 1, 0)
    ]


def test_memory_of_the_context(chosen):
    memory = cuda.current_context().get_memory_info()
    assert memory == (memory.free, memory.total) and 0 < memory.free <= memory.total
    assert cuda.current_context().device.name == cuda.get_current_device().name


@cuda.jit
def inverse(x):
    return 1 / x


@cuda.jit
def calls_a_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = inverse(x[i])


def test_kernels_without_a_launch_are_functions_of_others(chosen):
    x, out = np.arange(1.0, 6), np.zeros(5)
    calls_a_kernel[2, 4](x, out)
    assert out.tolist() == (1 / x).tolist()
    with pytest.raises(ValueError, match="inverse: launch configuration was not specified"):
        inverse(3.0)


@cuda.jit
def conjugates(a, bits):
    i = cuda.grid(1)
    a[i] = a[i].conjugate() * (a[i] + 1).conj()
    bits[i] = a[i].real.view(np.int64)


def test_methods_of_elements(chosen):
    a = np.array([1 + 2j, -3j])
    bits = np.zeros(2, np.int64)
    expected = a.conj() * (a + 1).conj()
    conjugates[1, 2](a, bits)
    assert a.tolist() == expected.tolist() and bits.tolist() == a.real.view("i8").tolist()


class Code(enum.IntEnum):
    fine = 2
    lost = 404


def test_members_of_enums_have_constant_names(chosen):
    @cuda.jit
    def coded(x, out):
        i = cuda.grid(1)
        out[i] = Code["lost"] if x[i] == Code.fine else Code["fine"]
        if Code["fine"] == Code["lost"]:
            out[i] = -1

    out = np.zeros(3, np.int64)
    coded[1, 3](np.array([2, 404, 7]), out)
    assert out.tolist() == [404, 2, 2]


def digits(x):
    return len(str(x))


def test_text_in_elementwise_functions_runs_on_the_host():
    for device in un.devices():
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            counted = un.vectorize("int64(int64)", target=device.name)(digits)
            assert counted(np.array([2, 404, 50])).tolist() == [1, 3, 2]
        assert any("runs on the host" in str(w.message) for w in told) == (device.name != "cpu")


@cuda.jit
def parts(z, y):
    i = cuda.grid(1)
    if i < z.size:
        y[i] = z.real[i] + 10 * z.imag[i]
        z.real[i] = i
        z.imag[i] += 2
        z.imag[i] *= z.real[i]


@cuda.jit
def complex_part(z):
    z.real[0] = z[0]


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_parts_of_complex_elements(chosen, dtype):
    given = (np.arange(6) + 1j * np.arange(6)[::-1]).astype(dtype)
    z, y = cuda.to_device(given), cuda.to_device(np.zeros(6))
    parts[2, 4](z, y)
    np.testing.assert_array_equal(y.copy_to_host(), given.real + 10 * given.imag)
    i = np.arange(6)
    np.testing.assert_array_equal(z.copy_to_host(), i + 1j * (given.imag + 2) * i)
    with pytest.raises(
        un.CompileError, match="the part of a complex number must be a number; got complex"
    ):
        complex_part[1, 1](z)
