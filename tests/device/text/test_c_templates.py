"""Kernels of C++ text: questions about types, defaults of template parameters, and files that are included."""

import numpy as np
import pytest
import unisono as un
from unisono import cuda
from unisono.cuda.devices import current_device

TRAITS = r"""
#include <type_traits>
template <typename T, typename = typename std::enable_if<std::is_integral<T>::value>::type>
__global__ void shift(T* a, int n) {
    if (threadIdx.x < n) a[threadIdx.x] += 100;
}
template <typename T, int N = 2 + 1> __device__ T times(T x) {
    if (std::is_floating_point_v<T> && !std::is_same<T, float>::value) return x * 2 * N;
    return x * N;
}
template <typename T, typename S = std::conditional_t<std::is_same_v<T, float>, double, int>>
__global__ void sums(T* a, S b) {
    typename std::make_unsigned<int>::type k = -1;
    a[0] = times(a[0]) + b + (k > 0);
}
template <typename T, int N = 4 * 2> struct Pair { T x[N]; };
__global__ void sizes(int* a) { a[0] = sizeof(Pair<float>); a[1] = sizeof(Pair<double, 1>); }
"""


def test_types_answer_and_parameters_have_defaults(device):
    module = un.RawModule(code=TRAITS, name_expressions=["shift<int>", "shift<float>"])
    x = un.arange(5, dtype=un.int32, device=device)
    module.get_function("shift<int>")((1,), (5,), (x, 3))
    assert x.tolist() == [100, 101, 102, 3, 4]
    for word, dtype, b, expected in (
        ("float", un.float32, 1.5, 23.5),
        ("double", un.float64, 2, 45),
        ("int", un.int32, 3, 25),
    ):
        y = un.full(1, 7, dtype=dtype, device=device)
        un.RawKernel(TRAITS, f"sums<{word}>")((1,), (1,), (y, b))
        assert y.tolist() == [expected]
    bytes_ = un.zeros(2, un.int32, device=device)
    un.RawKernel(TRAITS, "sizes")((1,), (1,), (bytes_,))
    assert bytes_.tolist() == [32, 8]


def test_an_instance_that_the_text_excludes():
    module = un.RawModule(code=TRAITS, name_expressions=["shift<float>"])
    with pytest.raises(
        un.CompileError, match="Error in parsing name expression 'shift<float>'.*enable_if"
    ):
        module.get_function("shift<float>")
    with pytest.raises(un.CompileError, match="'shift' has 2 parameters; got 3"):
        un.RawKernel(TRAITS, "shift<int, int, int>")((1,), (1,), (un.zeros(1, un.int32), 1))


def test_only_instances_that_were_asked_for():
    for names in ([], ["shift<int>"]):
        module = un.RawModule(code=TRAITS, name_expressions=names)
        with pytest.raises(
            un.CompileError, match="no instance.*shift<long>.*named symbol not found"
        ):
            module.get_function("shift< long >")


KERNEL = 'extern "C" __global__ void f(int* a) { a[0] = VALUE + OTHER; }'


def test_files_are_included(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "value.h").write_text(
        '#include "inner/other.h"\n#ifdef BIG\n#define VALUE 20\n#else\n#define VALUE 2\n#endif\n'
    )
    (tmp_path / "inner" / "other.h").write_text(
        '#pragma once\n#include "again.h"  // beside this file\n#define OTHER (TEN + 1)\n'
    )
    (tmp_path / "inner" / "again.h").write_text(
        "#ifndef AGAIN\n#define AGAIN\n#include <other.h>\n#define TEN 10\n#endif\n"
    )
    text = '#include <value.h>\n#include "value.h"\n' + KERNEL
    (tmp_path / "f.cu").write_text(text)
    inner = str(tmp_path / "inner")
    for module in (
        un.RawModule(path=str(tmp_path / "f.cu"), options=(f"-I{inner}",)),
        un.RawModule(code=text, options=(f"--include-path={inner}", "-I", str(tmp_path), "-DBIG")),
    ):
        x = un.zeros(1, un.int32)
        module.get_function("f")((1,), (1,), (x,))
        assert x.tolist() == [31 if module.options[-1] == "-DBIG" else 13]


def test_a_file_that_is_not_there(tmp_path):
    text = '#include "absent.h"\n#define VALUE 1\n#define OTHER 2\n' + KERNEL
    with pytest.raises(
        un.CompileError, match=r'cannot open source file "absent.h"(.|\n)*:1:1(.|\n)*-Ifolder'
    ):
        un.RawModule(code=text).get_function("f")
    with pytest.warns(DeprecationWarning, match="jitify=True is deprecated"):
        module = un.RawModule(code=text, jitify=True)
    x = un.zeros(1, un.int32)
    module.get_function("f")((1,), (1,), (x,))
    assert x.tolist() == [3]
    with pytest.warns(DeprecationWarning, match="Avoid passing jitify=False"):
        un.RawKernel(text, "f", jitify=False)
    (tmp_path / "round.h").write_text('#include "round.h"\n')
    with pytest.raises(un.CompileError, match='"round.h" includes itself'):
        un.RawModule(code='#include "round.h"\n' + KERNEL, options=(f"-I{tmp_path}",)).get_function(
            "f"
        )


RESOURCES = r"""
__constant__ float c[4];
__constant__ double unused[4];
extern "C" __global__ void f(float* x, int n) {
    __shared__ float s[32];
    float own[8];
    for (int i = 0; i < 8; i++) own[i] = x[i] * c[i & 3];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[31 - threadIdx.x] + own[n];
}"""


def test_what_a_kernel_takes():
    kernel = un.RawKernel(RESOURCES, "f")
    assert kernel.shared_size_bytes == 128 and kernel.local_size_bytes == 32
    assert kernel.const_size_bytes == 16 and 4 < kernel.num_regs < 100
    is_cuda = current_device().name.startswith("cuda")
    assert kernel.attributes["shared_size_bytes"] == 128
    assert (kernel.binary_version > 0) == (kernel.ptx_version > 0) == is_cuda
    plain = un.RawKernel(KERNEL.replace("VALUE + OTHER", "1"), "f")
    assert plain.attributes["local_size_bytes"] == 0


def test_what_a_kernel_of_python_takes():
    @cuda.jit
    def f(x, y):
        shared, own = cuda.shared.array(10, np.int64), cuda.local.array(3, np.float32)
        i = cuda.grid(1)
        shared[i] = own[i % 3] = i
        x[i] = y * shared[i] + own[2]

    x = un.zeros(4)
    f[1, 4](x, 2.0)
    assert set(f.get_shared_mem_per_block().values()) == {80}
    assert f.get_local_mem_per_thread(f.signatures[0]) == 12
    assert f.get_regs_per_thread(f.signatures[0]) > 4

    @cuda.jit("void(float32[::1])")
    def g(x):
        x[0] = 1

    assert g.get_shared_mem_per_block() == 0 < g.get_regs_per_thread()
