"""Fused statements, sums and Jacobi's sweeps on an OpenCL device: ours, PyOpenCL's kernels, and ours on the host."""

import time

import numpy as np

N = 10**7
GRID, SWEEPS = 2000, 20


def measure(name, who):
    work = (pyopencl if who == "pyopencl" else unisono)(
        name.removeprefix("opencl-"), "cpu" if who == "host" else "opencl"
    )
    work()  # compiles
    best = float("inf")
    for _ in range(7):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return best


def data():
    rng = np.random.default_rng(5)
    return [rng.random(N) for _ in range(3)]


def start_grid():
    grid = np.zeros((GRID, GRID))
    grid[0] = 1.0
    return grid


def unisono(kind, device):
    import unisono as un

    if kind == "jacobi":
        grids = [un.asarray(start_grid(), device=device)]

        def sweep():
            u = grids[0]
            for _ in range(SWEEPS):
                u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
            un.eval(u)
            un.synchronize()

        return sweep
    a, b, c = (un.asarray(x, device=device) for x in data())

    def elementwise():
        un.eval(a * b + c * 2 - a / 3)
        un.synchronize()

    return elementwise if kind == "elementwise" else lambda: float(a.sum())


def pyopencl(kind, _):
    import pyopencl as cl
    import pyopencl.array
    import pyopencl.elementwise
    import pyopencl.reduction

    context = cl.Context(cl.get_platforms()[0].get_devices())
    queue = cl.CommandQueue(context)

    def there(x):
        return pyopencl.array.to_device(queue, x)

    if kind == "jacobi":
        text = """
            __kernel void sweep(__global const double *u, __global double *v, long n) {
                long j = get_global_id(0) + 1, i = get_global_id(1) + 1, k = i * n + j;
                v[k] = 0.25 * (u[k + n] + u[k - n] + u[k + 1] + u[k - 1]);
            }"""
        kernel = cl.Kernel(cl.Program(context, text).build(), "sweep")
        u, v = there(start_grid()), there(start_grid())

        def sweep():
            one, two = u, v
            for _ in range(SWEEPS):
                kernel(queue, (GRID - 2, GRID - 2), None, one.data, two.data, np.int64(GRID))
                one, two = two, one
            queue.finish()

        return sweep
    a, b, c = (there(x) for x in data())
    if kind == "sum":
        total = pyopencl.reduction.ReductionKernel(
            context, np.float64, "0", "a + b", "x[i]", "__global const double *x"
        )
        return lambda: float(total(a, queue=queue).get())
    out = pyopencl.array.empty_like(a)
    fused = pyopencl.elementwise.ElementwiseKernel(
        context, "double *o, double *a, double *b, double *c", "o[i] = a[i]*b[i] + c[i]*2 - a[i]/3"
    )

    def elementwise():
        fused(out, a, b, c)
        queue.finish()

    return elementwise
