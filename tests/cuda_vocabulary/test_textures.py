"""Textures of CUDA C text, bound with PyCUDA's calls."""

import numpy as np
import pytest
import unisono.cuda.driver as drv
from unisono.cuda import gpuarray
from unisono.cuda.compiler import SourceModule

TEXT = """
texture<float, 2> table;
texture<unsigned char, cudaTextureType1D, cudaReadModeElementType> bytes;
texture<unsigned char, 2, cudaReadModeNormalizedFloat> image;
texture<float, 1> row, other;
__device__ float twice(float x) { return 2 * tex2D(table, x, 0.5f); }
__global__ void read(float *out, const float *x, const float *y) {
    int i = threadIdx.x;
    out[i] = tex2D(table, x[i], y[i]);
}
__global__ void read_all(int *ints, float *normal, float *fetched, float *doubled) {
    int i = threadIdx.x;
    ints[i] = tex1D(bytes, i);
    normal[i] = tex2D(image, i % 2, i / 2);
    fetched[i] = tex1Dfetch(row, i - 1);
    doubled[i] = twice(i);
}
__global__ void unbound(float *out) { out[0] = tex1Dfetch(other, 0); }
"""


@pytest.fixture
def module(chosen):
    return SourceModule(TEXT)


def read(module, points):
    x, y = np.asarray(points, np.float32).T.copy()
    out = np.zeros(len(x), np.float32)
    texrefs = [module.get_texref("table")]
    launch = {"block": (len(x), 1, 1), "texrefs": texrefs}
    module.get_function("read")(drv.Out(out), drv.In(x), drv.In(y), **launch)
    return out.tolist()


def test_a_matrix_is_read_by_coordinates(module):
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    texref = module.get_texref("table")
    drv.matrix_to_texref(a, texref, order="C")
    points = [(0, 1), (1.5, 2.5), (-3, 0), (9, 9)]
    assert read(module, points) == [a[1, 0], a[2, 1], a[0, 0], a[2, 3]]
    texref.set_filter_mode(drv.filter_mode.LINEAR)
    assert read(module, [(0.5, 1), (2, 1.5)]) == [(a[0, 0] + a[1, 0]) / 2, (a[1, 1] + a[1, 2]) / 2]
    texref.set_filter_mode(drv.filter_mode.POINT)
    texref.set_address_mode(0, drv.address_mode.BORDER)
    assert read(module, [(-1, 1), (4, 1), (3, 7)]) == [0, 0, a[2, 3]]
    texref.set_flags(drv.TRSF_NORMALIZED_COORDINATES)
    texref.set_address_mode(0, drv.address_mode.WRAP)
    texref.set_address_mode(1, drv.address_mode.MIRROR)
    assert read(module, [(1.3, 0.5), (-0.1, 1.1)]) == [a[1, 1], a[2, 3]]
    drv.matrix_to_texref(a, texref, order="F")
    assert read(module, [(0, 0.9), (0.9, 0)]) == [a[0, 3], a[2, 0]]
    assert texref.get_address_mode(1) == drv.address_mode.CLAMP


def test_elements_of_other_types_and_memory_in_a_row(module):
    data = gpuarray.to_gpu(np.array([3, 250, 7, 9], np.uint8))
    data.bind_to_texref_ext(module.get_texref("bytes"))
    pixels = drv.np_to_array(np.array([[0, 255], [51, 102]], np.uint8), "C")
    assert pixels.get_descriptor().format == drv.array_format.UNSIGNED_INT8
    drv.bind_array_to_texref(pixels, module.get_texref("image"))
    row = gpuarray.to_gpu(np.arange(1, 3, dtype=np.float32))
    assert row.bind_to_texref(module.get_texref("row")) == 0
    rows, pitch = drv.mem_alloc_pitch(16, 2, 4)
    copy = drv.Memcpy2D()
    copy.set_src_host(np.arange(8, dtype=np.float32))
    copy.set_dst_device(rows)
    copy.dst_pitch, copy.width_in_bytes, copy.height = pitch, 16, 2
    copy(aligned=True)
    described = drv.ArrayDescriptor()
    described.width, described.height = 4, 2
    module.get_texref("table").set_address_2d(rows, described, pitch)
    assert read(module, [(3, 0), (1, 1)]) == [3, 5]

    def all_read():
        out = [np.zeros(4, d) for d in ("int32", "float32", "float32", "float32")]
        module.get_function("read_all")(*map(drv.Out, out), block=(4, 1, 1))
        return [x.tolist() for x in out]

    ints, normal, fetched, doubled = all_read()
    assert ints == [3, 250, 7, 9] and doubled == [0, 2, 4, 6]
    assert normal == (np.array([0, 255, 51, 102], np.float32) / np.float32(255)).tolist()
    assert fetched == [0, 1, 2, 0]
    row.fill(5)
    assert all_read()[2] == [0, 5, 5, 0]


def test_rectangles_are_copied_into_arrays(module):
    described = drv.ArrayDescriptor()
    described.width, described.height = 3, 2
    array = drv.Array(described)
    copy = drv.Memcpy2D()
    copy.set_src_host(np.arange(6, dtype=np.float32))
    copy.set_dst_array(array)
    copy.src_pitch, copy.width_in_bytes, copy.height = 12, 12, 2
    copy(aligned=True)
    drv.bind_array_to_texref(array, module.get_texref("table"))
    assert read(module, [(2, 0), (0, 1)]) == [2, 3]


def test_what_cannot_be_a_texture(module):
    with pytest.raises(drv.LogicError, match="texture 'other': no memory is bound to it"):
        module.get_function("unbound")(drv.Out(np.zeros(1, np.float32)), block=(1, 1, 1))
    for call, message in (
        (lambda: module.get_texref("t"), "the text has no texture 't'; got .'bytes', 'image'"),
        (lambda: drv.matrix_to_array(np.zeros(3, np.float32), "C"), "two axes; got 1"),
        (lambda: drv.np_to_array(np.zeros(3, np.float32), "K"), "'C' or 'F'; got 'K'"),
        (
            lambda: module.get_texref("row").set_format(drv.array_format.FLOAT, 4),
            "one channel; got 4",
        ),
    ):
        with pytest.raises(drv.LogicError, match=message):
            call()
    with pytest.raises(TypeError, match="textures have no float64"):
        drv.matrix_to_array(np.zeros((2, 2)), "C")
    with pytest.raises(drv.CompileError, match="a texture of int32 along 1 axes"):
        SourceModule("texture<int, 1> t;")
    with pytest.raises(ValueError, match="at most 16777216 elements along an axis"):
        wide = gpuarray.empty((1 << 24) + 1, np.uint8)
        wide.bind_to_texref_ext(module.get_texref("bytes"))
        module.get_texref("bytes").memory("cpu")
