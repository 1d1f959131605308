"""Work given to a device's queue: one launch, and many small statements."""

import statistics
import time

ITEMS = 4096
STATEMENTS = 1000
SUBMISSIONS = 300

TEXT = """
__kernel void chain(__global double* x, __global double* out, long n)
{
    long i = get_global_id(0);
    double s = x[i];
    for (long k = 0; k < n; k++)
        s = s * 1.0000001 + 0.5;
    out[i] = s;
}
__kernel void statement(__global double* x, __global double* out)
{
    long i = get_global_id(0);
    out[i] = x[i] * 0.5 + 1.0;
}
"""


def measure(name, who):
    submit, wait, statements = unisono() if who == "unisono" else pyopencl()
    if name == "queue-statements":
        return min(timed(statements, wait) for _ in range(7)) / STATEMENTS
    submit()
    wait()
    if name == "queue-launch":
        return min(timed(submit, wait) for _ in range(100))
    spent = [timed(submit) for _ in range(SUBMISSIONS)]
    wait()
    return statistics.median(spent)


def timed(*steps):
    begin = time.perf_counter()
    for step in steps:
        step()
    return time.perf_counter() - begin


def unisono():
    import unisono as un

    @un.kernel
    def chain(x, out, n):
        i = un.global_id(0)
        s = x[i]
        for _ in range(n):
            s = s * 1.0000001 + 0.5
        out[i] = s

    queue = un.Queue("opencl")
    arrays = [un.ones(ITEMS, device=queue.device), un.zeros(ITEMS, device=queue.device)]

    def submit():
        with un.device(queue=queue):
            chain[ITEMS](*arrays, 10)
        queue.record()

    def statements():
        a, b = arrays
        with un.device(queue=queue):
            for _ in range(STATEMENTS):
                b[...] = a * 0.5 + 1.0
                a, b = b, a

    return submit, queue.synchronize, statements


def pyopencl():
    import numpy as np
    import pyopencl as cl

    context = cl.Context(cl.get_platforms()[0].get_devices()[:1])
    queue = cl.CommandQueue(context)
    program = cl.Program(context, TEXT).build()
    chain, statement = cl.Kernel(program, "chain"), cl.Kernel(program, "statement")
    arrays = [cl.Buffer(context, cl.mem_flags.READ_WRITE, 8 * ITEMS) for _ in range(2)]
    n = np.int64(10)

    def submit():
        chain(queue, (ITEMS,), None, *arrays, n)
        queue.flush()

    def statements():
        a, b = arrays
        for _ in range(STATEMENTS):
            statement(queue, (ITEMS,), None, a, b)
            a, b = b, a

    return submit, queue.finish, statements
