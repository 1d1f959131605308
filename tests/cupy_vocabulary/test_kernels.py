"""Kernels of C text with CuPy's names: what a module tells of itself, and what texts ask of arrays and loops."""

import io
import pickle

import numpy as np
import pytest
import unisono.cupy as cp

ADD = r"""
enum class Tag { A, B };
template<typename T, int N> __global__ void add(T* x) {
    x[threadIdx.x] += N;
}
template<Tag t> __global__ void tagged(int* x) { x[threadIdx.x] = t == Tag::B; }
"""


@pytest.fixture(autouse=True)
def chosen(device):
    with cp.cuda.Device(device.name):
        yield device


def test_what_is_missing_is_the_driver_s_error(tmp_path):
    error = cp.cuda.driver.CUDADriverError
    with pytest.raises(
        error, match="no kernel 'absent'.*CUDA_ERROR_NOT_FOUND: named symbol not found"
    ):
        cp.RawModule(code=ADD).get_function("absent")
    with pytest.raises(error, match="CUDA_ERROR_FILE_NOT_FOUND"):
        cp.RawModule(path=str(tmp_path / "absent.cu"))
    (tmp_path / "binary.cubin").write_bytes(b"\x7fELF\xff\xfe")
    with pytest.raises(
        ValueError, match=r"binary.cubin is no text; .* give the source of the kernels"
    ):
        cp.RawModule(path=str(tmp_path / "binary.cubin"))
    with pytest.raises(ValueError, match="name_expressions are for nvrtc; got backend='nvcc'"):
        cp.RawModule(code=ADD, backend="nvcc", name_expressions=["add<int, 1>"])


def test_compiling_writes_warnings():
    log = io.StringIO()
    text = "\n__global__ void f(int* x) {\n int unused;\n x[0] = 1; }"
    cp.RawModule(code=text).compile(log_stream=log)
    assert '(3): warning: variable "unused" was declared but never referenced' in log.getvalue()
    log = io.StringIO()
    text = 'extern "C" __global__ void f(int* x) { int j = 3; x[0] = j; int k; }'
    cp.RawKernel(text, "f").compile(log_stream=log)
    assert log.getvalue().count("warning") == 1 and '"k"' in log.getvalue()


def test_pickles_keep_the_options_of_cupy():
    kernel = cp.RawKernel(ADD, "add<int, 2>", backend="nvcc", enable_cooperative_groups=True)
    again = pickle.loads(pickle.dumps(kernel))
    assert again.enable_cooperative_groups and again.backend == "nvcc"
    module = pickle.loads(pickle.dumps(cp.RawModule(code=ADD)))
    assert module.enable_cooperative_groups is False and module.backend == "nvrtc"


def test_template_arguments_are_constants_of_the_text():
    module = cp.RawModule(code=ADD)
    x = cp.zeros(4, np.float32)
    for name in ("add<float, (int)3>", "add<float,2+2>", "add<float, -(1)>"):
        module.get_function(name)((1,), (4,), (x,))
    assert x.tolist() == [6] * 4
    y = cp.zeros(2, np.int32)
    module.get_function("tagged<Tag::B>")((1,), (2,), (y,))
    assert y.tolist() == [1, 1]
    module.get_function("tagged<(Tag)0>")((1,), (2,), (y,))
    assert y.tolist() == [0, 0]


def test_texts_ask_for_layouts_of_raw_arrays_and_the_size_of_the_loop():
    ask = cp.ElementwiseKernel(
        "raw int32 x", "int64 y", "y = i < 2 ? x.shape()[i] : i < 4 ? x.strides()[i - 2] : x.size() + _ind.size()",
        "ask",
    )  # fmt: skip
    assert ask(cp.zeros((2, 3), np.int32), size=5).tolist() == [2, 3, 12, 4, 11]
    assert ask(cp.zeros((4, 5), np.int32), size=5).tolist() == [4, 5, 20, 4, 25]
    last = cp.ElementwiseKernel("raw T x", "T y", "y = x[x.shape()[0] - 1 - i]", "last")
    assert last(cp.arange(4), size=4).tolist() == [3, 2, 1, 0]


def test_codes_of_a_reduction():
    total = cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    assert total.cached_codes == {}
    total(cp.arange(3.0))
    assert "total_parts" in total.cached_code
    total(cp.arange(3))
    assert len(total.cached_codes) == 2
