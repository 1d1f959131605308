"""Kernels that are made of C expressions: elementwise, reductions, scans and what is built of them."""

import numpy as np
import pytest
import unisono.opencl as cl
import unisono.opencl.array as cla
from unisono.opencl.algorithm import (
    KeyValueSorter,
    ListOfListsBuilder,
    RadixSort,
    copy_if,
    partition,
    remove_if,
    unique,
)
from unisono.opencl.bitonic_sort import BitonicSort
from unisono.opencl.elementwise import ElementwiseKernel
from unisono.opencl.reduction import ReductionKernel
from unisono.opencl.scan import ExclusiveScanKernel, GenericScanKernel, InclusiveScanKernel
from unisono.opencl.tools import ScalarArg, VectorArg


@pytest.fixture
def send(queue):
    return lambda values, dtype=None: cla.to_device(queue, np.asarray(values, dtype))


def test_elementwise(ctx, queue, send):
    kernel = ElementwiseKernel(
        ctx, "float a, float *x, float b, float *y, float *z", "z[i] = a*x[i] + b*y[i]"
    )
    x, y = send(np.arange(50), np.float32), send(np.ones(50), np.float32)
    z = cla.empty_like(x)
    kernel(5, x, 6, y, z).wait()
    assert (z.get() == 5 * np.arange(50) + 6).all()
    kernel(1, x[1:], 0, y[1:], z[:-1])
    assert (z.get()[:-1] == np.arange(1, 50)).all()
    kernel(0, x, -1, y, z, slice=slice(40, 2, -3))
    expected = np.append(np.arange(1, 50), 251)
    expected[40:2:-3] = -1
    assert (z.get() == expected).all()
    with pytest.raises(TypeError, match="argument 'x' has elements of float32; got float64"):
        kernel(5, x.astype(np.float64), 6, y, z)
    with pytest.raises(TypeError, match="expected 5 arguments: float a, .*; got 2"):
        kernel(5, x)
    with pytest.raises(RuntimeError, match="argument 'x' is not contiguous"):
        kernel(5, send(np.ones(100), np.float32)[::2], 6, y, z)
    with pytest.raises(cl.RuntimeError, match="BUILD_PROGRAM_FAILURE"):
        ElementwiseKernel(ctx, "float *x", "x[i] = nothing")(x)
    with pytest.raises(ValueError, match="unknown C type 'flaot' in 'flaot \\*x'"):
        ElementwiseKernel(ctx, "flaot *x", "x[i] = 1")


def test_elementwise_of_complex_numbers(ctx, queue, send):
    kernel = ElementwiseKernel(
        ctx, "cfloat_t *z, cfloat_t *x, cfloat_t a",
        "z[i] = cfloat_fma(x[i], a, cfloat_divide(cfloat_exp(x[i]), cfloat_conj(a)))",
    )  # fmt: skip
    x = send([1 + 2j, -0.5 + 1j], np.complex64)
    z, a = cla.empty_like(x), np.complex64(2 - 1j)
    kernel(z, x, a)
    host = x.get()
    assert np.allclose(z.get(), host * a + np.exp(host) / np.conj(a))


def test_short_reductions_of_a_cpu_are_one_launch(ctx, queue, monkeypatch):
    from unisono.opencl._objects.kernels import Kernel

    if not queue.device.type & cl.device_type.CPU:
        pytest.skip("parts are combined by a second launch")
    launches, launch = [], Kernel._launch

    def counted(kernel, *args, **options):
        launches.append(kernel.function_name)
        return launch(kernel, *args, **options)

    total = ReductionKernel(ctx, np.int32, "0", "a+b", "x[i]", "__global int *x", name="total")
    x = cla.arange(queue, 5000, dtype=np.int32)
    out = cla.zeros(queue, 4, np.int32)
    monkeypatch.setattr(Kernel, "_launch", counted)
    total(x, slice=slice(0, 2048), out=out, out_offset=2)
    total(x, slice=slice(7, 7), out=out[1:], out_offset=2)
    assert out.get().tolist() == [0, 0, 2047 * 1024, 0] and launches == ["total_parts"] * 2
    assert total(x[1:3]).get() == 3
    total(x, out=out[1:], out_offset=0)
    assert launches[3:] == ["total_parts", "total_all"]
    assert out.get().tolist() == [0, 4999 * 2500, 2047 * 1024, 0]


def test_reductions(ctx, queue, send):
    dot = ReductionKernel(
        ctx,
        np.float32,
        neutral="0",
        reduce_expr="a+b",
        map_expr="z*x[i]*y[i]",
        arguments="float z, float *x, float *y",
    )
    n = 100_000
    x = cla.arange(queue, n, dtype=np.float32) / n
    assert dot(2, x, x).get() == pytest.approx(
        2 * (np.arange(n) / n) @ (np.arange(n) / n), rel=1e-3
    )
    assert dot(1, x[:0], x[:0]).get() == 0
    total = ReductionKernel(ctx, np.int32, "0", "a+b", map_expr="i", arguments=[])
    assert total(range=slice(2000), queue=queue).get() == 1999000
    out = send([0, 0], np.int32)
    result, event = total(range=slice(1, 10, 2), queue=queue, out=out[1:], return_event=True)
    event.wait()
    assert out.get().tolist() == [0, 25]


@pytest.mark.parametrize("n", [1, 2, 63, 64, 1000, 100_003])
def test_scans(ctx, queue, n):
    host = np.random.default_rng(0).integers(0, 10, n).astype(np.int32)
    x = cla.to_device(queue, host)
    expected = np.cumsum(host, dtype=np.int32)
    InclusiveScanKernel(ctx, np.int32, "a+b", "0")(x)
    assert (x.get() == expected).all()
    x = cla.to_device(queue, host)
    ExclusiveScanKernel(ctx, np.int32, "a+b", "0")(x)
    assert (x.get() == expected - host).all()


@pytest.mark.parametrize("n", [500, 5000])
def test_segmented_scans(ctx, queue, n):
    rng = np.random.default_rng(1)
    host, starts = rng.integers(0, 10, n).astype(np.int32), (rng.random(n) < 0.01).astype(np.int8)
    scan = GenericScanKernel(
        ctx, np.int32, "int *ary, char *starts, int *out, int *before", "ary[i]",
        "across_seg_boundary ? b : (a + b)", neutral="0", is_segment_start_expr="starts[i]",
        output_statement="out[i] = item; before[i] = prev_item;",
    )  # fmt: skip
    x = cla.to_device(queue, host)
    out, before = cla.empty_like(x), cla.empty_like(x)
    scan(x, cla.to_device(queue, starts), out, before)
    sums, total = [], 0
    for value, start in zip(host, starts, strict=True):
        total = value + (0 if start else total)
        sums.append(total)
    assert out.get().tolist() == sums
    assert before.get().tolist() == [0 if s or not k else sums[k - 1] for k, s in enumerate(starts)]


@pytest.mark.parametrize("n", [100, 10_000])
def test_scans_read_all_before_they_write(ctx, queue, send, n):
    difference = GenericScanKernel(
        ctx, np.int64, "long *x, long *last", "x[i] - (i > 0 ? before : 0)", "a + b", "7",
        "x[i] = prev_item; last[i] = last_item;", input_fetch_exprs=[("before", "x", -1)],
    )  # fmt: skip
    host = np.random.default_rng(3).integers(0, 100, n)
    x, last = send(host, np.int64), send(np.zeros(n), np.int64)
    difference(x, last)
    assert x.get().tolist() == [7, *host[:-1]]
    assert (last.get() == host[-1]).all()


def test_a_short_scan_is_one_launch_on_a_cpu(ctx, queue, send, monkeypatch):
    from unisono.opencl._objects import kernels

    seen, launch = [], kernels._launch_kernel

    def counted(event, queue, kernel, *args):
        seen.append(kernel.function_name)
        return launch(event, queue, kernel, *args)

    monkeypatch.setattr(kernels, "_launch_kernel", counted)
    scan = InclusiveScanKernel(ctx, np.int32, "a+b", "0")
    x, is_cpu = send(np.ones(4096), np.int32), queue.device.type & cl.device_type.CPU
    scan(x)
    assert seen == ["scan_alone"] if is_cpu else ["scan_pieces", "scan_totals", "scan_write"]
    assert x.get().tolist() == list(range(1, 4097))
    seen.clear()
    x = send(np.ones(4097), np.int32)
    scan(x)
    assert seen == ["scan_pieces", "scan_totals", "scan_write"]
    assert x.get().tolist() == list(range(1, 4098))


def test_scans_and_sums_on_a_queue_out_of_order(ctx):
    mode = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    queue = cl.CommandQueue(ctx, properties=mode)
    x = cla.to_device(queue, np.ones(50_000, np.int32))
    queue.finish()
    scan = GenericScanKernel(ctx, np.int32, "int *x", "x[i]", "a+b", "0", "x[i] = item")
    scan(x).wait()
    assert x.get().tolist() == list(range(1, 50_001))
    total = ReductionKernel(ctx, np.int64, "0", "a+b", map_expr="x[i]", arguments="int *x")
    result, event = total(x, return_event=True)
    event.wait()
    assert result.get() == 50_000 * 50_001 // 2


def test_parts_of_arrays(queue, send):
    host = np.random.default_rng(2).integers(0, 1000, 20_000)
    x = send(host, np.int64)
    limit = [("limit", np.int64(300))]
    for function, mask in ((copy_if, host > 300), (remove_if, host <= 300)):
        out, count, _ = function(x, "ary[i] > limit", extra_args=limit)
        assert (out.get()[: int(count.get())] == host[mask]).all()
    yes, no, count, _ = partition(x, "ary[i] > limit", extra_args=limit)
    n = int(count.get())
    assert (yes.get()[:n] == host[host > 300]).all() and (
        no.get()[: len(host) - n] == host[host <= 300]
    ).all()
    out, count, _ = unique(send(np.sort(host), np.int64))
    assert (out.get()[: int(count.get())] == np.unique(host)).all()


def test_sorts(ctx, queue, send):
    host = np.random.default_rng(3).integers(0, 2**16, 3000).astype(np.int32)
    sort = RadixSort(ctx, "int *ary, int *at", "ary[i]", ["ary", "at"], key_dtype=np.int32)
    (x, at), _ = sort(send(host), cla.arange(queue, 3000, dtype=np.int32), key_bits=16)
    assert (x.get() == np.sort(host)).all() and (at.get() == np.argsort(host, kind="stable")).all()
    keys = send(host % 10)
    starts, values, _ = KeyValueSorter(ctx)(queue, keys, send(host), 10, np.int32)
    for key in range(10):
        begin, end = starts.get()[key : key + 2]
        assert (values.get()[begin:end] == host[host % 10 == key]).all()
    x, at = send(host), cla.arange(queue, 3000, dtype=np.int32)
    x, _ = BitonicSort(ctx)(x, at)
    assert (x.get() == np.sort(host)).all() and (host[at.get()] == np.sort(host)).all()
    with pytest.raises(ValueError, match="'other' is sorted, but is not an argument"):
        RadixSort(ctx, "int *ary", "ary[i]", ["other"])


def test_the_short_way_sees_what_changed_since_the_last_call(ctx, queue, send):
    axpb = ElementwiseKernel(ctx, "float *x, float a, int b", "x[i] = a * x[i] + b")
    x, y = send(np.ones(4, np.float32)), send(np.ones(6, np.float32))
    for _ in range(3):
        axpb(x, 2, np.int32(1))
    axpb(x, np.float32(0.5), 1)
    assert x.get().tolist() == [8.5] * 4
    axpb(y, 2.0, 1)
    axpb(x[1:3], 0, 7)
    assert x.get().tolist() == [8.5, 7, 7, 8.5] and y.get().tolist() == [3] * 6
    with pytest.raises(cl.LogicError, match="an integer"):
        axpb(x, 2.0, 1.5)
    with pytest.raises(TypeError, match="expected 3 arguments"):
        axpb(x, 2.0)
    with pytest.raises(TypeError, match="float64"):
        axpb(send(np.ones(4)), 2.0, 1)
    x2 = cl.array.to_device(queue, np.ones((2, 3), np.float32))
    axpb(x2, 2.0, 1)
    with pytest.raises(RuntimeError, match="not contiguous"):
        axpb(x2[:, 1:], 2.0, 1)
    event = cl.UserEvent(ctx)
    x.add_event(event)
    event.set_status(0)
    axpb(x, 0, 1)
    assert x.get().tolist() == [1] * 4


@pytest.mark.parametrize("n", [1, 255, 256, 1000, 100_003])
def test_elements_are_shared_out_in_both_ways(ctx, queue, send, n):
    x = np.arange(n, dtype=np.float32)
    leave = ElementwiseKernel(ctx, "float *x", "if (i % 2) PYOPENCL_ELWISE_CONTINUE; x[i] = -x[i]")
    loop = ElementwiseKernel(ctx, "float *x", "if (i % 2) continue; x[i] = -x[i]")
    ends = ElementwiseKernel(
        ctx, "float *x", "x[i] += k", loop_prep="float k = 2", after_loop="k = 0"
    )
    expected = np.where(np.arange(n) % 2, x, -x)
    for kernel in (leave, loop):
        y = send(x)
        kernel(y)
        np.testing.assert_array_equal(y.get(), expected)
    ends(y)
    ends(y, range=slice(0, n, 2))
    np.testing.assert_array_equal(y.get(), expected + np.where(np.arange(n) % 2, 2, 4))
    kernel = leave.get_kernel()[0]  # works with any number of work-items
    y = send(x)
    kernel(queue, (1,), (1,), y.base_data, y.offset, n)
    np.testing.assert_array_equal(y.get(), expected)


def test_lists_of_lists(ctx, queue, send):
    text = """
void generate(LIST_ARG_DECL USER_ARG_DECL index_type i) {
    for (int j = 0; j < (int) sizes[i]; ++j) { APPEND_first(factor * j); APPEND_second(i + 0.5f); }
    if (i == 3) APPEND_third(7);
}
"""
    kinds = [("first", np.int32), ("second", np.float32), ("third", np.int64)]
    arguments = [VectorArg(np.float32, "sizes", with_offset=True), ScalarArg(np.int32, "factor")]
    build = ListOfListsBuilder(
        ctx, kinds, text, arguments, count_sharing={"second": "first"}, eliminate_empty_output_lists=["third"],
        preamble="/* lists */",
    )  # fmt: skip
    host = np.arange(12) % 5
    sizes = send(np.append([9, 9], host), np.float32)[2:]
    result, event = build(queue, 12, sizes, 10)
    event.wait()
    first, second, third = (result[name] for name, _ in kinds)
    assert first.count == second.count == host.sum() and third.count == 1
    assert first.starts.get().tolist() == [0, *np.cumsum(host)]
    assert first.lists.get().tolist() == [10 * j for n in host for j in range(n)]
    assert second.starts is first.starts
    assert second.lists.get().tolist() == [i + 0.5 for i, n in enumerate(host) for _ in range(n)]
    assert third.num_nonempty_lists == 1 and third.nonempty_indices.get().tolist() == [3]
    assert third.starts.get().tolist() == [0, 1] and third.lists.get().tolist() == [7]
    empty, _ = build(queue, 12, send(np.zeros(12), np.float32), 1, omit_lists=["third"])
    assert sorted(empty) == ["first", "second"] and empty["first"].count == 0
    none, _ = build(queue, 0, sizes, 1)
    assert none["first"].starts.get().tolist() == [0] and none["third"].num_nonempty_lists == 0
    with pytest.raises(ValueError, match="omit_lists names lists; got 'fifth'; the lists are"):
        build(queue, 12, sizes, 1, omit_lists=["fifth"])
    with pytest.raises(ValueError, match="'first' shares the count of 'second', which shares one"):
        ListOfListsBuilder(
            ctx, kinds, text, arguments, count_sharing={"first": "second", "second": "third"}
        )
