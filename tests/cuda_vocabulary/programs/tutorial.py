"""The program of PyCUDA's tutorial: a kernel that doubles a matrix, in four ways."""

import numpy
import unisono.cuda.autoinit
import unisono.cuda.driver as cuda
from unisono.cuda import gpuarray
from unisono.cuda.compiler import SourceModule

a = numpy.random.randn(4, 4)

a = a.astype(numpy.float32)

a_gpu = cuda.mem_alloc(a.size * a.dtype.itemsize)

cuda.memcpy_htod(a_gpu, a)

mod = SourceModule("""
    __global__ void doublify(float *a)
    {
      int idx = threadIdx.x + threadIdx.y*4;
      a[idx] *= 2;
    }
    """)

func = mod.get_function("doublify")
func(a_gpu, block=(4, 4, 1), grid=(1, 1), shared=0)

a_doubled = numpy.empty_like(a)
cuda.memcpy_dtoh(a_doubled, a_gpu)
assert (a_doubled == 2 * a).all()

# alternate kernel invocation -------------------------------------------------

func(cuda.InOut(a), block=(4, 4, 1))
assert (a == a_doubled).all()

# prepared ----------------------------------------------------------------------

func.prepare("P")
func.prepared_call((1, 1), (4, 4, 1), a_gpu)
cuda.memcpy_dtoh(a, a_gpu)
assert (a == 2 * a_doubled).all()

# arrays -----------------------------------------------------------------------

a_gpu = gpuarray.to_gpu(numpy.random.randn(4, 4).astype(numpy.float32))
a_doubled = (2 * a_gpu).get()
assert (a_doubled == 2 * a_gpu.get()).all()
print("doubled on", unisono.cuda.autoinit.device.name())
