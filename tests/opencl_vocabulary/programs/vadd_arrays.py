"""The five steps of a course on PyOpenCL with its arrays, as published: only the imports are others."""
# fmt: off

import numpy
import unisono.opencl as pyopencl
import unisono.opencl.array
LENGTH = 1024

platforms = pyopencl.get_platforms()
devices = platforms[0].get_devices()
ctx = pyopencl.Context((devices[0],))
queue = pyopencl.CommandQueue(ctx)

src = '''__kernel void vadd(__global const float *a,
    __global const float *b,
    __global float *c)
{
    int gid = get_global_id(0);
    c[gid] = a[gid] + b[gid];
}'''
prg = pyopencl.Program(ctx, src)
prg = prg.build()

h_a = numpy.random.random(LENGTH).astype(numpy.float32)
h_b = numpy.random.random(LENGTH).astype(numpy.float32)
h_c = numpy.empty((LENGTH,), dtype=numpy.float32)

d_a = pyopencl.array.to_device(queue, h_a)
d_b = pyopencl.array.to_device(queue, h_b)
d_c = pyopencl.array.empty(queue, (LENGTH,), dtype='float32')

kernel = prg.vadd
evt = kernel(queue, h_a.shape, (8,), d_a.data, d_b.data, d_c.data)
evt.wait()

h_c = d_c.get()
assert numpy.allclose(h_a + h_b, h_c)
