"""What a process waits for on an OpenCL device that it has opened: its first kernel, its first statement."""

import json
import os
import subprocess
import sys
import tempfile

OURS = """
import time
import unisono as un

@un.kernel
def chain(x, out, n):
    i = un.global_id(0)
    s = x[i]
    for _ in range(n):
        s = s * 1.01 + 0.5
    out[i] = s

begin = time.perf_counter()
x, out = un.ones(4096, device="opencl"), un.zeros(4096, device="opencl")
un.eval(x, out)
un.synchronize()
opened = time.perf_counter()
y = x * 2.5 + 1
un.eval(y)
un.synchronize()
stated = time.perf_counter()
chain[4096](x, out, 3)
un.synchronize()
print([stated - opened, time.perf_counter() - stated])
"""

PYOPENCL = """
import os, sys, time
import numpy as np
import pyopencl as cl

TEXT = '''__kernel void chain(__global const double* x, __global double* out, int n) {
    int i = get_global_id(0);
    double s = x[i];
    for (int k = 0; k < n; k++) s = s * 1.01 + 0.5;
    out[i] = s;
}'''
kept = os.path.join(sys.argv[1], "program.bin")
context = cl.Context(cl.get_platforms()[0].get_devices()[:1])
queue = cl.CommandQueue(context)
values = np.ones(4096)
x, out = (cl.Buffer(context, cl.mem_flags.READ_WRITE, values.nbytes) for _ in range(2))
cl.enqueue_copy(queue, x, values)
queue.finish()
begin = time.perf_counter()
if os.path.exists(kept):
    with open(kept, "rb") as f:
        program = cl.Program(context, context.devices, [f.read()]).build()
else:
    program = cl.Program(context, TEXT).build(cache_dir=False)
program.chain(queue, values.shape, None, x, out, np.int32(3))
queue.finish()
print([0.0, time.perf_counter() - begin])
if not os.path.exists(kept):  # what a driver keeps of a kernel that ran is part of its binary
    with open(kept, "wb") as f:
        f.write(program.binaries[0])
"""


def measure(name, who):
    """Seconds in a process whose caches, and Python's bytecode, an earlier one has filled."""
    program = OURS if who == "unisono" else PYOPENCL
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o700)
        environment = {**os.environ, "UNISONO_CACHE_DIR": folder, "PYTHONPYCACHEPREFIX": folder}
        for _ in range(2):
            path = os.path.join(folder, "program.py")
            with open(path, "w") as f:
                f.write(program)
            done = subprocess.run(
                [sys.executable, path, folder],
                check=True,
                capture_output=True,
                text=True,
                env=environment,
            )
    return json.loads(done.stdout)[name == "start-device-kernel"]
