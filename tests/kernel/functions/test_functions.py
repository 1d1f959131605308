"""How functions are declared, called and passed: against the Python functions."""

import io
import json
import math

import numpy as np
import pytest
import unisono as un
from differential import result_or_error
from jit_devices import all_devices

SCALE = 3


def check(function, on, *args, **kwargs):
    got = result_or_error(un.jit(function, device=on), *args, **kwargs)
    want = result_or_error(function, *args, **kwargs)
    assert got == want and type(got) is type(want)


on_hosts = pytest.mark.parametrize("on", all_devices())


# ---- parameters
def with_defaults(a, b=2, *, c=10, d):
    return a + 10 * b + 100 * c + 1000 * d


def with_rest(first, *rest):
    s = first
    for i in range(len(rest)):
        s += rest[i] * (i + 1)
    return s, len(rest)


def rest_and_names(a, *rest, scale=2.0):
    return (a + sum(rest)) * scale


def optional(a, b=None):
    if b is None:
        return a * 2.0
    return a + b


def not_none(a, b=None):
    return a if b is not None else -a


@on_hosts
def test_parameters(on):
    check(with_defaults, on, 1, d=4)
    check(with_defaults, on, 1, 3, c=5, d=4)
    check(with_defaults, on, d=1, a=2)
    for args in [(1,), (1, 2), (1, 2, 3.5), (2.5, 1, 1, 1)]:
        check(with_rest, on, *args)
    check(rest_and_names, on, 1, 2, 3)
    check(rest_and_names, on, 1, 2.5, scale=3)
    check(optional, on, 3.0)
    check(optional, on, 3.0, 4.0)
    check(optional, on, 3.0, None)
    check(not_none, on, 3)
    check(not_none, on, 3, 4)


@un.jit
def callee(a, b=2, *rest, c=3):
    s = a * 100 + b * 10 + c
    for x in rest:
        s += x * 1000
    return s


def calls(t):
    return (
        callee(1),
        callee(1, c=7),
        callee(*t),
        callee(1, 2, 3, 4),
        callee(b=4, a=5),
        callee(1, *t),
    )


def starred_tuple(t):
    u = (1, *t, 4)
    return u, len(u)


@on_hosts
def test_calls_between_functions(on):
    check(calls, on, (5, 6))
    check(starred_tuple, on, (2, 3.5))


def test_wrong_calls_raise_type_error():
    f = un.jit(with_defaults)
    for args, names in [((), {}), ((1, 2, 3), {"d": 1}), ((1,), {}), ((1,), {"d": 1, "e": 2})]:
        with pytest.raises(TypeError):
            f(*args, **names)
        with pytest.raises(TypeError):
            with_defaults(*args, **names)


# ---- functions inside
def inner(x, n):
    k = 3

    def add(y, z=1):
        if y > 2:
            return y * k + x
        return y + z

    s = 0
    for i in range(n):
        s += add(i) + add(i, z=2)
    return s


def reads_late(n):
    k = 1

    def times(x):
        return x * k

    k = n
    return times(5)


def lambdas(x):
    square = lambda v: v * v  # noqa: E731
    return square(x) + (lambda a, b: a - b)(x, 2)


def recursive_inner(n):
    def fib(k):
        if k < 2:
            return k
        return fib(k - 1) + fib(k - 2)

    return fib(n)


def recursive_capturing(n, k):
    def power(m):
        return k * power(m - 1) if m > 0 else 1

    return power(n)


def inner_of_inner(x):
    def outer(y):
        def deepest(z):
            return x + y * z

        return deepest(2) + deepest(y)

    return outer(3) + outer(x)


def array_inside(a):
    def scale(i):
        a[i] *= 2
        return a[i]

    s = 0.0
    for i in range(a.shape[0]):
        s += scale(i)
    return s


@on_hosts
def test_functions_inside(on):
    check(inner, on, 2, 6)
    check(inner, on, 2.5, 4)
    check(reads_late, on, 7)
    check(lambdas, on, 3)
    check(lambdas, on, 1.5)
    check(recursive_inner, on, 10)
    check(recursive_capturing, on, 4, 3)
    check(inner_of_inner, on, 4)
    a, b = np.arange(4.0), np.arange(4.0)
    assert un.jit(array_inside, device=on)(a) == array_inside(b)
    assert np.array_equal(a, b)


# ---- functions as values
@un.jit
def apply(f, x, times):
    for _ in range(times):
        x = f(x)
    return x


@un.jit
def plus_one(x):
    return x + 1


@un.jit
def double(x):
    return 2 * x


def passes_lambda(x, n):
    k = 2
    return apply(lambda v: v * k + 1, x, n)


def passes_builtins(x):
    f = math.sqrt
    g = abs
    return f(x) + g(-x)


def chooses(x):
    f, g = plus_one, double
    return f(x) + g(x)


def test_functions_as_arguments():
    assert apply(plus_one, 1, 5) == 6
    assert apply(double, 1, 5) == 32
    assert apply(plus_one, 1.5, 2) == 3.5
    assert len(apply.signatures) == 3
    assert apply(math.sqrt, 16.0, 2) == 2.0
    with pytest.raises(TypeError, match="a function"):
        apply(json.dumps, 1.0, 1)


@on_hosts
def test_functions_as_values(on):
    assert un.jit(passes_lambda, device=on)(1, 4) == 31
    check(passes_builtins, on, 2.25)
    check(chooses, on, 5)


def test_lambdas():
    cube, other = un.jit(lambda x: x**3), un.jit(lambda x: x * SCALE)
    assert (cube(3), other(4)) == (27, 12)
    power = [un.jit(lambda x, n=n: x**n) for n in (1, 2)]
    assert [f(5) for f in power] == [5, 25]


def make_adder(k):
    @un.jit
    def add(x):
        return x + k

    return add


def test_closures_are_by_value_and_part_of_the_key():
    one, ten = make_adder(1), make_adder(10.5)
    assert (one(2), ten(2)) == (3, 12.5)


def test_globals_are_part_of_the_key():
    global SCALE
    f = un.jit(lambda x: x * SCALE)
    assert f(2) == 6
    SCALE = 5
    try:
        assert f(2) == 10
    finally:
        SCALE = 3


def test_static_methods():
    class Holder:
        @staticmethod
        @un.jit
        def twice(x):
            return 2 * x

    assert Holder.twice(4) == 8 and Holder().twice(4) == 8


# ---- Numba's names
def total(a, n):
    s = 0.0
    for i in range(n):
        s += a[i]
    return s


SIGNATURES = [
    "float64(float64[:], int64)",
    "f8(f8[::1], i8)",
    "(float64[:], int64)",
    un.float64(un.float64[:], un.int64),
    (un.float64[:], un.int64),
    ["float64(float64[:], int64)", "float32(float32[:], int64)"],
]


@pytest.mark.parametrize("signature", SIGNATURES, ids=range(len(SIGNATURES)))
def test_eager_signatures(signature):
    f = un.njit(signature)(total)
    assert len(f.signatures) == (2 if isinstance(signature, list) else 1)
    a = np.arange(5.0)
    assert f(a, 3) == 3.0
    assert f(a, True) == 0.0
    with pytest.raises(TypeError, match="no signature takes"):
        f(a.astype(np.int32), 3)
    with pytest.raises(TypeError, match="no signature takes"):
        f(a, 3.5)


def test_numbers_are_converted_to_the_signature():
    half = un.jit("float64(float64)")(lambda x: x / 2)
    assert half(3) == 1.5 and isinstance(half(4), float)
    whole = un.jit("int64(int64)")(lambda x: x * 2)
    assert whole(True) == 2 and type(whole(True)) is int
    narrow = un.jit("int32(int32, int32)")(lambda x, y: x * y)
    assert narrow(2**20, 2**12) == 0
    mixed = un.jit(["int64(int64)", "float64(float64)"])(lambda x: x + 1)
    assert type(mixed(1)) is int and type(mixed(1.0)) is float


def test_results_are_declared():
    f = un.jit("float64(int64)")(lambda n: n)
    assert f(3) == 3.0 and type(f(3)) is float

    @un.jit("int64(int64)")
    def down(n):
        return down(n - 1) + 1 if n > 0 else 0

    assert down(5) == 5


@pytest.mark.parametrize(
    "text", ["float65(int64)", "float64[", "float64[1:]", "f(x)(y)", "int64[:](3)"]
)
def test_wrong_signatures(text):
    with pytest.raises(TypeError, match="type|signature"):
        un.jit(text)(total)


def test_contiguous_signature_refuses_other_strides():
    f = un.jit("float64(float64[::1], int64)")(total)
    a = np.arange(6.0)
    assert f(a, 2) == 1.0
    with pytest.raises(TypeError, match="no signature takes"):
        f(a[::2], 2)


def test_options_of_numba():
    options = dict(nopython=True, cache=True, parallel=True, nogil=True, inline="always")
    assert un.jit(**options)(total)(np.ones(3), 3) == 3.0
    assert un.njit(fastmath=True, boundscheck=False)(total)(np.ones(3), 3) == 3.0
    assert un.jit(nopython=False, forceobj=False)(total)(np.ones(3), 3) == 3.0
    with pytest.raises(ValueError, match="forceobj is True or False"):
        un.jit(forceobj="yes")
    with pytest.raises(TypeError, match="unknown keyword 'nopytohn'"):
        un.jit(nopytohn=True)
    with pytest.raises(ValueError, match="'python' or 'numpy'"):
        un.jit(error_model="c")


def divides(x, y):
    return x / y, x // y, x % y


@on_hosts
def test_error_model(on):
    check(divides, on, 1.0, 0.0)
    check(divides, on, 1, 0)
    f = un.jit(divides, device=on, error_model="numpy")
    q, d, m = f(1.0, 0.0)
    assert q == math.inf and d == math.inf and m != m
    assert f(1, 0) == (math.inf, 0, 0)
    assert f(7, 2) == divides(7, 2)


def gathers(a, at):
    s = 0.0
    for i in range(at.shape[0]):
        s += a[at[i]]
    return s


@on_hosts
def test_unchecked_gathers_keep_negative_indices(on):
    a, at = np.arange(5.0), np.array([0, -1, 4, -5])
    assert un.jit(gathers, device=on, boundscheck=False)(a, at) == gathers(a, at)


def test_serial_prange():
    def f(a):
        for i in un.prange(1, a.shape[0]):
            a[i] = i

    g = un.jit(parallel=False)(f)
    a = np.zeros(5)
    g(a)
    assert a.tolist() == [0, 1, 2, 3, 4]
    assert "prange" not in g.parallel_report()


# ---- annotations
def annotated(a: "float64[:]", n: int, scale: float = 1) -> float:  # noqa: F821
    s: float = 0
    k: un.int32 = 1
    for i in range(n):
        s += a[i]
        k += 1
    return s * scale


def test_annotations():
    f = un.jit(annotated)
    assert f(np.arange(4.0), 4, 2) == 12.0
    assert type(f(np.arange(4.0), 0, 2)) is float
    with pytest.raises(TypeError, match="parameter 'a' is declared as float64 array of rank 1"):
        f(np.arange(4), 4)
    with pytest.raises(TypeError, match="parameter 'n' is declared as int"):
        f(np.arange(4.0), 2.5)


def maybe(x: int | None = None) -> float:
    if x is None:
        return 0
    return x


def test_optional_annotations():
    f = un.jit(maybe)
    assert (f(), f(3)) == (0.0, 3.0)
    with pytest.raises(TypeError, match="int or None"):
        f(2.5)


def test_annotations_that_are_no_types_say_nothing():
    def f(x: "anything", y: print) -> "a text":  # noqa: F722, F821
        return x + y

    assert un.jit(f)(1, 2) == 3


def test_type_variables_that_only_checkers_know_say_nothing():
    @un.jit
    def scaled(a: "F", d: "T") -> "F":  # noqa: F821 (NumPy's code of complex64 is not meant)
        return a * d

    assert scaled(np.ones(2), 3.0).tolist() == [3.0, 3.0]


# ---- looking inside
def test_inspection():
    f = un.jit(total)
    f(np.ones(3), 3)
    text = io.StringIO()
    f.inspect_types(text)
    assert "def total" in text.getvalue() and "s: float64" in text.getvalue()
    assert f.py_func is total and "define" in f.inspect_llvm()
    before = f.signatures
    f.recompile()
    assert f.signatures == before and f(np.ones(3), 2) == 2.0


def test_recompile_sees_new_globals():
    global SCALE
    f = un.jit(lambda x: x * SCALE)
    assert f(1) == 3
    f.recompile()
    assert f(1) == 3 and len(f.signatures) == 1


def test_functions_of_exec_and_of_cells():
    import linecache

    text = "def from_cell(x):\n    return x + 41\n"
    linecache.cache["<cell 1>"] = (len(text), None, text.splitlines(True), "<cell 1>")
    scope = {}
    exec(compile(text, "<cell 1>", "exec"), scope)
    assert un.jit(scope["from_cell"])(1) == 42


def test_machine_code_can_be_read():
    f = un.jit(total)
    f(np.ones(3), 3)
    assert "ret" in f.inspect_asm()


def test_the_code_of_one_signature():
    f = un.jit(lambda x: x + 1)
    f(1)
    f(1.5)
    both = f.inspect_llvm()
    assert list(both.keys()) == f.signatures == ["<lambda>(x: int)", "<lambda>(x: float)"]
    assert [text for _, text in both.items()] == list(both.values())
    assert f.inspect_llvm(f.signatures[1]) == both[f.signatures[1]] and both[0] == "#"
    assert "fadd" in both[f.signatures[1]] and "fadd" not in f.inspect_llvm(f.signatures[0])
    assert "ret" in f.inspect_asm(f.signatures[0]) and "x + 1" in f.inspect_ir(f.signatures[0])
    with pytest.raises(ValueError, match=r"expected one of .*'<lambda>\(x: int\)'.*; got 'x'"):
        f.inspect_asm("x")


def test_fastmath_changes_how_sums_are_ordered():
    a = np.random.default_rng(3).normal(size=10_001)
    plain, fast = un.jit(total), un.jit(fastmath=True)(total)
    assert plain(a, a.size) == total(a, a.size)
    assert np.isclose(fast(a, a.size), total(a, a.size), rtol=1e-10)
    assert " fast" not in plain.inspect_llvm() and "reassoc" in fast.inspect_llvm()


def test_jit_can_be_disabled(tmp_path):
    import os
    import subprocess
    import sys

    program = tmp_path / "p.py"
    program.write_text("import unisono as un\nf = un.jit(lambda x: x)\nprint(type(f).__name__)\n")
    env = {**os.environ, "UNISONO_DISABLE_JIT": "1"}
    made = subprocess.run([sys.executable, program], env=env, capture_output=True, text=True)
    assert made.stdout == "function\n", made.stderr


# ---- imports inside
def importing(x):
    import math
    import os.path as somewhere  # noqa: F401
    from math import cos as c
    from math import pi

    def inner(y):
        from math import tan

        return tan(y) + c(pi)

    return math.sin(x) + c(x) + inner(x)


def importing_late(x):
    if x > 0:
        import numpy as xp
    else:
        import numpy as xp
    return float(xp.sqrt(abs(x)) * xp.ones(2)[1])


def import_assigned(n):
    from math import floor

    floor = n + 1  # noqa: F811
    return floor


@on_hosts
def test_imports_inside(on):
    check(importing, on, 0.5)
    check(importing_late, on, 4.0)
    with pytest.raises(un.CompileError, match="this import is not supported"):
        un.jit(import_assigned, device=on)(2)
