"""`unisono.opencl.array`: arrays of PyOpenCL on the engine's own."""

import numpy as np
import pytest
import unisono as un
import unisono.opencl as cl
import unisono.opencl.array as cla
from unisono.opencl import clmath, cltypes, tools
from unisono.opencl.clrandom import PhiloxGenerator, rand


@pytest.fixture
def send(queue):
    return lambda values, dtype=None: cla.to_device(queue, np.asarray(values, dtype))


def test_there_and_back_in_both_orders(queue):
    data = np.arange(6, dtype=np.int16).reshape(2, 3)
    for array in (data, np.asfortranarray(data), data.T):
        sent = cla.to_device(queue, array)
        assert sent.strides == array.strides and sent.dtype == array.dtype and sent.queue is queue
        assert sent.flags.f_contiguous == array.flags.f_contiguous
        back = sent.get()
        assert (back == array).all() and back.flags.writeable and back.strides == array.strides
        back[...] = 0
        assert (sent.get() == array).all()
    assert cla.to_device(queue, data[:, ::2]).get().tolist() == data[:, ::2].tolist()


def test_operators_give_numpys_values_and_dtypes(send):
    a, b = np.array([1, -2, 3], np.int32), np.array([0.5, 4, -1], np.float32)
    x, y = send(a), send(b)
    for function in (
        lambda p, q: p + q, lambda p, q: p - 2 * q, lambda p, q: p / q, lambda p, q: 1 / q, lambda p, q: q**2,
        lambda p, q: -p, lambda p, q: abs(p), lambda p, q: p & 3, lambda p, q: ~p, lambda p, q: q * np.float64(2),
    ):  # fmt: skip
        expected, got = function(a, b), function(x, y)
        assert isinstance(got, cla.Array) and got.dtype == expected.dtype
        assert np.allclose(got.get(), expected)
    assert (np.float32(2) * y).get().tolist() == [1, 8, -2]
    assert (x < y).dtype == np.int8 and (x < y).get().tolist() == [0, 1, 0]
    y += 1
    y[1:] = x[:2].astype(np.float32)
    assert y.get().tolist() == [1.5, 1, -2]


def test_statements_on_arrays_fuse(ctx, send):
    x = send(np.ones(1000), np.float32)
    un.synchronize()
    y = 2 * x + 1 - x
    assert un.stats()["pending_operations"] >= 3
    assert y.get().sum() == 2000


def test_data_is_memory_for_kernels_between_statements(queue, build, send):
    kernel = build("kernel void mul(int n, global const double *a, global double *b) {"
                   " int i = get_global_id(0); if (i < n) b[i] *= a[i]; }").mul  # fmt: skip
    a, b = send([1, 2, 3], float), send([1, 1, 1], float)
    b += 1
    kernel(queue, (3,), None, np.int32(3), a.data, b.data)
    b *= 10
    kernel(queue, (3,), None, 3, a, b)
    assert b.get().tolist() == [20, 80, 180]
    part = a[1:]
    assert part.offset == 8 and part.base_data.int_ptr == a.data.int_ptr
    with pytest.raises(cla.ArrayHasOffsetError, match="use base_data and offset"):
        part.data  # noqa: B018


def test_an_array_on_a_buffer_of_the_program(ctx, queue, to_buffer):
    data = np.arange(12, dtype=np.float32)
    buffer = to_buffer(data)
    x = cla.Array(queue, (2, 3), np.float32, data=buffer, offset=8, strides=(16, 4))
    assert x.get().tolist() == [[2, 3, 4], [6, 7, 8]]
    x += 100
    cl.enqueue_copy(queue, data, buffer)
    assert data.tolist() == [0, 1, 102, 103, 104, 5, 106, 107, 108, 9, 10, 11]


def test_other_queues_work_on_arrays(ctx, build):
    queue = cl.CommandQueue(ctx, properties=cl.command_queue_properties.PROFILING_ENABLE)
    x = cla.arange(queue, 1000, dtype=np.int32)
    event = build("kernel void up(global int *x) { x[get_global_id(0)] += 1; }").up(
        queue, (1000,), None, x.data
    )
    y = x * 2
    assert y.queue is queue and y.get().tolist() == list(range(2, 2002, 2))
    event.wait()
    assert event.profile.end >= event.profile.start


def test_what_arrays_refuse(queue, send):
    x = send([1, 2, 3], np.float32)
    for act, error, said in (
        (lambda: x.set(np.zeros(4, np.float32)), ValueError, "the array has 3 elements; got 4"),
        (lambda: x.set(np.zeros(3)), TypeError, "elements of float32; got float64"),
        (lambda: x.reshape(2, 2), ValueError, r"3 elements do not fit shape \(2, 2\)"),
        (lambda: bool(x), ValueError, "the truth of an array with several elements"),
        (lambda: cla.empty(queue, (2, -1), np.float32), ValueError, "no negative sizes"),
        (lambda: cla.empty(queue, 2.5, np.float32), ValueError, "a shape has integers; got 2.5"),
        (lambda: cla.to_device(queue, np.array([None])), RuntimeError, "Python's objects"),
        (lambda: {x: 1}, TypeError, "cannot be keys"),
        (lambda: x.with_queue(None).set(np.zeros(3, np.float32)), ValueError, "it has no queue"),
        (lambda: x + "3", TypeError, "unsupported operand"),
    ):
        with pytest.raises(error, match=said):
            act()


def test_functions(queue, send):
    a = np.array([3, -1, 2, 5], np.int32)
    x, at = send(a), send([3, 0], np.int32)
    assert (
        cla.sum(x).get() == 9 and cla.max(x).get() == 5 and cla.min(x, slice=slice(2)).get() == -1
    )
    assert (
        cla.dot(x, x).get() == 39
        and cla.vdot(x, x).get() == 39
        and cla.subset_sum(at, x).get() == 8
    )
    assert cla.take(x, at).get().tolist() == [5, 3] and x[at].get().tolist() == [5, 3]
    assert cla.cumsum(x).get().tolist() == [3, 2, 4, 9] and cla.diff(x).get().tolist() == [-4, 3, 3]
    assert cla.maximum(x, 2).get().tolist() == [3, 2, 2, 5]
    assert cla.if_positive(x, x, 0 * x).get().tolist() == [3, 0, 2, 5]
    assert cla.concatenate([x, x[:1]]).get().tolist() == [3, -1, 2, 5, 3]
    assert cla.stack([x, x]).shape == (2, 4) and cla.hstack([x, x]).shape == (8,)
    assert (
        cla.logical_not(x - 3).get().tolist() == [1, 0, 0, 0]
        and cla.logical_and(x, 0).get().sum() == 0
    )
    assert x.any().get() == 1 and (x > 0).all().get() == 0
    assert (
        cla.zeros_like(x).get().tolist() == [0, 0, 0, 0]
        and cla.zeros(queue, 3, np.float32).get().sum() == 0
    )
    assert cla.arange(queue, 1, 7, 2, dtype=np.int64).get().tolist() == [1, 3, 5]
    assert (
        x.reverse().get().tolist() == [5, 2, -1, 3] and x.copy().fill(7).get().tolist() == [7] * 4
    )
    assert x.mul_add(2, x, 3).get().tolist() == [15, -5, 10, 25]
    made = cla.multi_put([x], send([4, 2, 0, 1], np.int32), dest_shape=(5,))[0]
    assert made.get().tolist() == [2, 5, -1, 0, 3]


def test_views(send):
    x = send(np.arange(24).reshape(2, 3, 4), np.float32)
    assert x.T.shape == (4, 3, 2) and x.reshape(6, -1).shape == (6, 4) and x.ravel().shape == (24,)
    assert x[:, 1:2].squeeze().get().tolist() == [[4, 5, 6, 7], [16, 17, 18, 19]]
    assert x.view(np.int64).shape == (2, 3, 2)
    x[0, 0] = 5
    assert x.ravel()[:4].get().tolist() == [5] * 4
    with pytest.raises(ValueError, match="use copy"):
        x.T.ravel()


def test_elements_that_are_vectors_or_structs(queue, build):
    x = cla.Array(queue, 5, cltypes.float4)
    x.fill(cltypes.make_float4(1, 2, 3, 4))
    x[1:3] = cltypes.filled_float4(7)
    build("kernel void f(global float4 *x) { x[get_global_id(0)].y = 9; }").f(
        queue, (5,), None, x.data
    )
    back = x.get()
    assert back["x"].tolist() == [1, 7, 7, 1, 1] and back["s1"].tolist() == [9] * 5
    with pytest.raises(NotImplementedError, match="use an ElementwiseKernel"):
        x + x
    pair = np.dtype([("a", np.int8), ("b", np.float64)])
    pair, text = tools.match_dtype_to_c_struct(queue.device, "unisono_pair", pair)
    assert pair.itemsize == 16 and pair.fields["b"][1] == 8 and "typedef struct" in text
    pair = tools.get_or_register_dtype("unisono_pair", pair)
    z = cla.zeros(queue, 3, pair)
    build(text + "kernel void g(global unisono_pair *z) { z[get_global_id(0)].b = 2; }").g(
        queue, (3,), None, z.data
    )
    assert z[cla.to_device(queue, np.array([2, 0], np.int32))].get()["b"].tolist() == [2, 2]
    assert z.get()["b"].tolist() == [2, 2, 2] and z.get()["a"].tolist() == [0, 0, 0]


def test_memory_pools(queue):
    pool = tools.MemoryPool(tools.ImmediateAllocator(queue))
    x = cla.arange(queue, 1000, dtype=np.float32, allocator=pool)
    assert x.get()[-1] == 999 and pool.active_blocks == 1 and x.allocator is pool
    address = x.data.int_ptr
    del x
    assert (pool.active_blocks, pool.held_blocks) == (0, 1)
    again = pool.allocate(4000)
    assert again.int_ptr == address and pool.held_blocks == 0
    again.release()
    with pytest.raises(cl.LogicError, match="it was released before"):
        again.release()
    pool.stop_holding()
    assert pool.managed_bytes == 0 and pool(0) is None


def test_functions_of_clmath(send):
    x = send([0.25, 0.5, 0.75], np.float32)
    host = x.get()
    for name in "sin cos tan asin exp log sqrt fabs floor cbrt log1p tanh".split():
        expected = getattr(np, {"asin": "arcsin"}.get(name, name))(host)
        assert np.allclose(getattr(clmath, name)(x).get(), expected), name
    assert np.allclose(clmath.rsqrt(x).get(), 1 / np.sqrt(host)) and np.allclose(
        clmath.sinpi(x).get()[1], 1
    )
    assert np.allclose(clmath.atan2(x, 2 * x).get(), np.arctan2(host, 2 * host))
    fraction, whole = clmath.modf(x * 5)
    assert np.allclose(fraction.get() + whole.get(), host * 5)
    with pytest.raises(TypeError, match="sin: expected an Array; got float"):
        clmath.sin(0.5)


def test_exponents_are_integers(send):
    significand, exponent = clmath.frexp(send(np.array([0.1, 3, -8], np.float32)))
    assert significand.dtype == np.float32 and exponent.dtype == np.int32
    assert exponent.get().tolist() == [-3, 2, 4]
    assert (
        clmath.ldexp(significand, exponent).get().tolist()
        == np.array([0.1, 3, -8], np.float32).tolist()
    )


def test_random_numbers(queue):
    x = rand(queue, (1000,), np.float32)
    assert (
        0 <= x.get().min() < 0.05
        and 0.95 < x.get().max() < 1
        and (x.get() != rand(queue, 1000, np.float32).get()).any()
    )
    first, second = (
        PhiloxGenerator(queue.context, seed=5).uniform(queue, 9, np.int32, 3, 8).get()
        for _ in range(2)
    )
    assert (first == second).all() and set(first) <= set(range(3, 8))
    drawn = PhiloxGenerator(queue.context, seed=5).normal(queue, 10000, np.float64, 10, 3).get()
    vectors = PhiloxGenerator(queue.context, seed=5).uniform(queue, 100, cltypes.float3, 2, 3).get()
    assert vectors.dtype == cltypes.float3 and 2 <= vectors["z"].min() < vectors["z"].max() <= 3
    assert abs(drawn.mean() - 10) < 0.2 and abs(drawn.std() - 3) < 0.2


def test_results_lie_in_the_allocators_shared_virtual_memory(ctx):
    from unisono.opencl.characterize import has_coarse_grain_buffer_svm
    from unisono.opencl.tools import SVMAllocator, SVMPool

    first, second = cl.CommandQueue(ctx), cl.CommandQueue(ctx)
    if not has_coarse_grain_buffer_svm(ctx.devices[0]):
        pytest.skip("no shared virtual memory")
    for make in (SVMAllocator(ctx, queue=first), SVMPool(SVMAllocator(ctx, queue=first))):
        x = cl.array.arange(first, 9, dtype=np.float32, allocator=make)
        y = 2 * x + 1
        part = y[1:3]
        part.fill(0)
        assert x.data._queue == y.data._queue == first and y.allocator is make
        assert y.get().tolist() == [1, 0, 0, 7, 9, 11, 13, 15, 17]
        with pytest.warns(cl.array.InconsistentOpenCLQueueWarning, match="another queue"):
            y.with_queue(second)
        with pytest.warns(cl.array.InconsistentOpenCLQueueWarning):
            cl.array.empty(second, 9, np.float32, allocator=make)
        y.data.unbind_from_queue()
        y.with_queue(second)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_multi_put_repeats_as_numpys_put(queue, send, n):
    places = np.array([4, 0, 3], np.int32)
    arrays = [np.arange(n, dtype=np.float32) + 1 + k for k in range(2)]
    made = cl.array.multi_put([send(a) for a in arrays], send(places), dest_shape=(6,))
    for a, got in zip(arrays, made, strict=True):
        expected = np.zeros(6, np.float32)
        np.put(expected, places, a)
        assert got.get().tolist() == expected.tolist()


def test_arrays_of_unisono_are_operands(ctx, queue, send):
    ours = un.asarray(np.arange(4, dtype=np.float32), device=ctx._engine_name)
    theirs = send(np.arange(4, dtype=np.float32) + 1)
    for made in (ours + theirs, theirs + ours):
        assert type(made) is cl.array.Array and made.get().tolist() == [1, 3, 5, 7]
    assert (ours - theirs).get().tolist() == [-1] * 4 and (theirs - ours).get().tolist() == [1] * 4
    assert (theirs * un.float32(2)).get().tolist() == [2, 4, 6, 8]
    assert (theirs > ours).get().tolist() == [1] * 4
    theirs += ours
    assert theirs.get().tolist() == [1, 3, 5, 7]
    with pytest.raises(un.DeviceError, match="different devices"):
        theirs + un.arange(4)


def test_vectors_keep_both_names_of_their_fields(queue):
    points = np.zeros(3, cltypes.float4)
    points["x"] = [1, 2, 3]
    got = cla.to_device(queue, points).get()
    assert got["x"].tolist() == got["s0"].tolist() == [1, 2, 3] and got.dtype == points.dtype
