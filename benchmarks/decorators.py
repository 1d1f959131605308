"""Scalar functions over arrays, stencils and calls of C, beside Numba's decorators and CFFI."""

import numpy as np
from timing import best_of

SIZE = 10_000_000
SUM = "double sumVec(double* v, int n) { double s = 0.0; for (int i = 0; i < n; i++) s += v[i]; return s; }"


def saxpy(a, x, y):
    return a * x + y


def escape(cr, ci):
    """Steps until z * z + c leaves the circle, at most 50."""
    zr, zi, steps = cr, ci, 0
    while steps < 50 and zr * zr + zi * zi <= 4.0:
        zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
        steps += 1
    return steps


def five(a):
    return 0.25 * (a[-1, 0] + a[1, 0] + a[0, -1] + a[0, 1])


def measure(name, who):
    return {
        "vectorize": measure_saxpy,
        "vectorize-fused": measure_fused,
        "vectorize-loop": measure_escape,
        "stencil": measure_stencil,
        "c-call": measure_c_call,
        "c-call-bound": lambda who: measure_c_call(who, True),
    }[name](who)


def operands():
    rng = np.random.default_rng(0)
    return rng.random(SIZE, "float32"), rng.random(SIZE, "float32")


def measure_saxpy(who):
    x, y = operands()
    signature = "float32(float32, float32, float32)"
    if who == "numba":
        import numba

        f, out = numba.vectorize([signature], target="parallel")(saxpy), np.empty_like(x)
        return best_of(lambda: f(np.float32(2), x, y, out=out))
    import unisono as un

    f = un.vectorize([signature])(saxpy)
    a, b, out = un.asarray(x), un.asarray(y), un.empty(SIZE, "float32")

    def run():
        f(2.0, a, b, out=out)
        un.eval(out)

    for _ in range(5):
        run()
    assert np.array_equal(np.asarray(out), np.float32(2) * x + y)
    return best_of(run, 1, 15)


def measure_fused(who):
    x, y = operands()
    signature = "float32(float32, float32, float32)"
    if who == "numba":
        import numba

        f = numba.vectorize([signature])(saxpy)

        @numba.njit(parallel=True)
        def numbas(x, y):
            return (np.sqrt(f(np.float32(2), x, y)) + x).sum()

        numbas(x, y)
        return best_of(lambda: numbas(x, y))
    import unisono as un

    f = un.vectorize([signature])(saxpy)
    a, b = un.asarray(x), un.asarray(y)

    def run():
        return (un.sqrt(f(2.0, a, b)) + a).sum().item()

    for _ in range(5):
        run()
    return best_of(run, 1, 15)


def measure_escape(who):
    c = np.meshgrid(np.linspace(-2, 1, 1000), np.linspace(-1.5, 1.5, 1000))
    signature = "int64(float64, float64)"
    if who == "numba":
        import numba

        f = numba.vectorize([signature], target="parallel")(escape)
        f(*c)
        return best_of(lambda: f(*c))
    import unisono as un

    f = un.vectorize([signature])(escape)
    a, b = un.asarray(c[0]), un.asarray(c[1])
    for _ in range(5):
        un.eval(f(a, b))
    return best_of(lambda: un.eval(f(a, b)), 1, 15)


def measure_stencil(who):
    a = np.random.default_rng(0).random((4000, 4000))
    out = np.empty_like(a)
    if who == "numba":
        import numba

        f = numba.stencil(five)

        @numba.njit(parallel=True)
        def run(a, out):
            f(a, out=out)

        run(a, out)
        return best_of(lambda: run(a, out))
    import unisono as un

    g = un.stencil(five)
    g(a, out=out)
    return best_of(lambda: g(a, out=out))


def measure_c_call(who, is_bound=False):
    x = np.arange(10.0)
    if who == "cffi":
        import tempfile

        import cffi

        ffi = cffi.FFI()
        ffi.cdef("double sumVec(double*, int);")
        with tempfile.TemporaryDirectory() as folder:
            ffi.set_source("_sums", SUM)
            library = ffi.compile(tmpdir=folder)
            lib = _imported("_sums", library).lib
        at = ffi.cast("double*", ffi.from_buffer(x))
        call = lib.sumVec
    else:
        import unisono as un

        call, at = un.c_module(SUM).sumVec, x

    def run():
        for _ in range(10_000):
            call(at, 10)

    if is_bound and who != "cffi":
        bound = call.bind(at)

        def run():
            for _ in range(10_000):
                bound(10)

    run()
    return best_of(run, 10_000)


def _imported(name, path):
    import importlib.util

    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
