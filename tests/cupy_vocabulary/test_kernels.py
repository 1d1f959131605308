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
        ValueError, match=r"binary.cubin is not text; .* give the source of the kernels"
    ):
        cp.RawModule(path=str(tmp_path / "binary.cubin"))
    with pytest.raises(ValueError, match="name_expressions are for nvrtc; got backend='nvcc'"):
        cp.RawModule(code=ADD, backend="nvcc", name_expressions=["add<int, 1>"])


@pytest.mark.parametrize("grid, block", [((0,), (1,)), ((2, 0), (1,)), ((1,), (0,)), ((-1,), (1,))])
def test_launches_of_nothing_are_the_driver_s_error(grid, block):
    kernel = cp.RawKernel(ADD, "add<int, 1>")
    x = cp.zeros(1, "i4")
    what = "threads" if block == (0,) else "blocks"
    with pytest.raises(
        cp.cuda.driver.CUDADriverError, match=f"{what} are positive.*CUDA_ERROR_INVALID_VALUE"
    ):
        kernel(grid, block, (x,))
    assert x.tolist() == [0]


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
    of_numbers = ("add<float, (int)3>", "add<float,2+2>", "add<float, -(1)>")
    module = cp.RawModule(
        code=ADD, name_expressions=[*of_numbers, "tagged<Tag::B>", "tagged<(Tag)0>"]
    )
    x = cp.zeros(4, np.float32)
    for name in of_numbers:
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
    assert "void total(" in total.cached_code
    total(cp.arange(3))
    assert len(total.cached_codes) == 2


def texture(data, modes=(1, 1, 1), linear=False, **options):
    made, runtime = cp.cuda.texture, cp.cuda.runtime
    kind = made.ChannelFormatDescriptor(32, 0, 0, 0, runtime.cudaChannelFormatKindFloat)
    memory = made.CUDAarray(kind, *data.shape[::-1])
    memory.copy_from(data)
    back = np.zeros(data.shape, np.float32)
    memory.copy_to(back)
    np.testing.assert_array_equal(back, data.get())
    resource = made.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=memory)
    how = made.TextureDescriptor(modes, int(linear), runtime.cudaReadModeElementType, **options)
    return made.TextureObject(resource, how)


def test_textures_are_read_by_coordinates():
    read = [
        cp.ElementwiseKernel("T x, U t", "T y", "y = x + tex1D<T>(t, i)", "of_line"),
        cp.ElementwiseKernel("T x, U t, int32 w", "T y", "y = x + tex2D<T>(t, i % w, i / w)", "of_plane"),
        cp.ElementwiseKernel(
            "T x, U t, int32 w, int32 h", "T y", "y = x + tex3D<T>(t, i % w, i / w % h, i / (w * h))", "of_block"
        ),
    ]  # fmt: skip
    for axes, shape in enumerate([(5,), (4, 5), (3, 4, 5)]):
        data = cp.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        made = read[axes](data, texture(data), *shape[::-1][:axes])
        assert made.tolist() == (2 * data).tolist()


FETCH = """extern "C" __global__ void fetch(cudaTextureObject_t t, const float* x, float* y) {
    y[threadIdx.x] = tex1D<float>(t, x[threadIdx.x]);
}"""


@pytest.mark.parametrize(
    ("modes", "options", "expected"),
    [
        ((1,), {}, [10, 10, 20, 40, 40]),  # clamp
        ((3,), {"borderColors": (7,)}, [7, 10, 20, 40, 7]),
        ((0,), {}, [10, 10, 20, 40, 40]),  # wrap is for normalised coordinates
        ((0,), {"normalizedCoords": True}, [40, 10, 20, 40, 10]),
        ((2,), {"normalizedCoords": True}, [10, 10, 20, 40, 40]),
    ],
)
def test_coordinates_out_of_range(modes, options, expected):
    data = cp.asarray([10, 20, 30, 40], np.float32)
    x = cp.asarray([-0.5, 0, 1, 3, 4.2], np.float32)
    x = x / 4 if "normalizedCoords" in options else x
    y = cp.zeros(5, np.float32)
    cp.RawKernel(FETCH, "fetch")((1,), (5,), (texture(data, modes, **options), x, y))
    assert y.tolist() == expected


def test_textures_interpolate():
    data = cp.asarray([10, 20, 40], np.float32)
    x = cp.asarray([0.5, 1.0, 1.25, 2.5, 9], np.float32)
    y = cp.zeros(5, np.float32)
    cp.RawKernel(FETCH, "fetch")((1,), (5,), (texture(data, linear=True), x, y))
    assert y.tolist() == [10, 15, 17.5, 40, 40]
    plane = texture(cp.asarray([[0, 1], [2, 3]], np.float32), linear=True)
    mean = cp.ElementwiseKernel("T x, U t", "T y", "y = tex2D<T>(t, x, x)", "mean")
    assert mean(cp.asarray([1, 0.5, 1.5], np.float32), plane).tolist() == [1.5, 0, 3]
    block = texture(cp.arange(8, dtype=np.float32).reshape(2, 2, 2), linear=True)
    mean = cp.ElementwiseKernel("T x, U t", "T y", "y = tex3D<T>(t, x, x, x)", "mean")
    assert mean(cp.asarray([1, 0.5, 1.5], np.float32), block).tolist() == [3.5, 0, 7]


def test_textures_that_are_not_there():
    made, runtime = cp.cuda.texture, cp.cuda.runtime
    with pytest.raises(ValueError, match="textures have one channel of float32; got"):
        made.ChannelFormatDescriptor(8, 8, 8, 8, runtime.cudaChannelFormatKindUnsigned)
    with pytest.raises(ValueError, match="textures are made of a CUDAarray; got type 2"):
        made.ResourceDescriptor(runtime.cudaResourceTypeLinear, arr=cp.zeros(3))
    memory = made.CUDAarray(made.ChannelFormatDescriptor(32, 0, 0, 0, 2), 4)
    with pytest.raises(
        ValueError, match=r"copy_from: the texture has float32 of shape \(4,\); got"
    ):
        memory.copy_from(cp.zeros(4))


def test_raw_arrays_are_indexed_by_an_integer_an_axis():
    x = cp.arange(24, dtype=np.int32).reshape(2, 3, 4)
    copied = cp.ElementwiseKernel(
        "raw T x", "T y", "ptrdiff_t idx[] = {i / 12, i / 4 % 3, i % 4}; y = x[idx]", "copied"
    )
    for a in (x, x[::-1, :, ::-1], x.T.copy().T):
        assert copied(a, cp.empty_like(x)).tolist() == a.tolist()
    written = cp.ElementwiseKernel(
        "T x", "raw T y", "int at[2] = {0, 0}; at[0] = i % 2; at[1] = i / 2; y[at] = x", "written"
    )
    y = cp.zeros((2, 3))
    written(cp.arange(6.0), y)
    assert y.tolist() == [[0, 2, 4], [1, 3, 5]]
    plain = cp.ElementwiseKernel("raw T x", "T y", "int k[] = {1, 0}; y = x[k[i]]", "plain")
    assert plain(cp.asarray([5.0, 7.0]), cp.zeros(2)).tolist() == [7, 5]


def test_constant_memory_as_an_array():
    code = """extern "C" { __constant__ float factors[8];
    __global__ void scale(float* x) { x[threadIdx.x] *= factors[threadIdx.x]; } }"""
    module = cp.RawModule(code=code)
    factors = cp.ndarray((2, 3), cp.float32, module.get_global("factors"), offset=8)
    factors[...] = cp.arange(6).reshape(2, 3)
    x = cp.ones(8, dtype=cp.float32)
    module.get_function("scale")((1,), (8,), (x,))
    assert x.tolist() == [0, 0, 0, 1, 2, 3, 4, 5]


def test_arrays_in_column_major_order_are_pointers():
    code = 'extern "C" __global__ void f(float* x) { x[threadIdx.x] = threadIdx.x; }'
    x = cp.zeros((2, 1, 3), dtype=cp.float32, order="F")
    cp.RawKernel(code, "f")((1,), (6,), (x,))
    assert x.tolist() == [[[0, 2, 4]], [[1, 3, 5]]]
    with pytest.raises(ValueError, match="do not follow each other"):
        cp.RawKernel(code, "f")((1,), (6,), (cp.zeros((4, 4), dtype=cp.float32)[:, ::2],))


def test_structs_with_arrays_by_value():
    code = """struct five {
        double value[5];
        __device__ const double& operator[](size_t i) const { return value[i]; }
    };
    extern "C" __global__ void f(five b, double* x) { x[threadIdx.x] = b[threadIdx.x] + b.value[0]; }"""
    five = np.dtype([("value", "f8", 5)])
    x = cp.zeros(5)
    for b in (np.arange(1.0, 6).view(five), np.arange(1.0, 6).view(five)[0]):
        cp.RawKernel(code, "f")((1,), (5,), (b, x))
        assert x.tolist() == [2, 3, 4, 5, 6]
