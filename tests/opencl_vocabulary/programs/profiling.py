"""The steps of a lecture on PyOpenCL: platforms, contexts, queues and times; only the import is another."""
# fmt: off

import numpy as np
import unisono.opencl as cl
platforms_list = cl.get_platforms()
devices_list = platforms_list[0].get_devices()
context = cl.Context(devices=devices_list)
context = cl.create_some_context(interactive=True)
queue = cl.CommandQueue(context,
                        properties=cl.command_queue_properties.PROFILING_ENABLE)

# names that the slides leave open
grid_size, workgroup_size = 4096, 64
mf = cl.mem_flags
a_buffer, b_buffer = (cl.Buffer(context, mf.COPY_HOST_PTR, hostbuf=np.full(grid_size, v, np.float32)) for v in (2, 3))
c_buffer = cl.Buffer(context, mf.WRITE_ONLY, 4 * grid_size)
prg = cl.Program(context, """__kernel void mul(__global const float *a, __global const float *b, __global float *c)
{ int i = get_global_id(0); c[i] = a[i] * b[i]; }""").build()

event = prg.mul(queue, (grid_size,), (workgroup_size,), a_buffer, b_buffer, c_buffer)

event.wait()
elapsed = (event.profile.end - event.profile.start)*1e-3 # convert from [ns] to [us]
print(f"GPU kernel time: {int(elapsed)} us")

timing_s = 1e-9*(event.profile.end - event.profile.start)
c = np.empty(grid_size, np.float32)
cl.enqueue_copy(queue, c, c_buffer)
assert (c == 6).all() and timing_s > 0
