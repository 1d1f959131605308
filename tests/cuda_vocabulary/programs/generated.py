"""Code generated while the program runs: the text of a kernel is a template, filled in for each block size."""

import string

import numpy as np
import unisono.cuda.autoinit  # noqa: F401
from unisono.cuda import driver, gpuarray
from unisono.cuda.compiler import SourceModule

template = string.Template("""
    __global__ void add($type *target, $type *first, $type *second)
    {
      int idx = threadIdx.x + $block * $strides * blockIdx.x;
      $statements
    }
    """)

blocks = 33
for kind, dtype in (("float", np.float32), ("double", np.float64), ("int", np.int32)):
    for block in (32, 64):
        strides = 16
        statements = "\n      ".join(
            f"target[idx + {k * block}] = first[idx + {k * block}] + second[idx + {k * block}];"
            for k in range(strides)
        )
        text = template.substitute(type=kind, block=block, strides=strides, statements=statements)
        a = (np.random.rand(blocks * block * strides) * 100).astype(dtype)
        b = (np.random.rand(a.size) * 100).astype(dtype)
        sums = gpuarray.empty_like(gpuarray.to_gpu(a))
        add = SourceModule(text).get_function("add")
        add(sums, driver.In(a), driver.In(b), block=(block, 1, 1), grid=(blocks, 1))
        assert (sums.get() == a + b).all()
print("all sums are right")
