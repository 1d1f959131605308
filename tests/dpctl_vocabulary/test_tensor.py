"""``dpctl.tensor``: queues and kinds of memory of arrays, operators, and functions of dpctl's own."""

import numpy as np
import pytest
import unisono as un
from unisono import dpctl
from unisono.dpctl import tensor as dpt
from unisono.dpctl.utils import ExecutionPlacementError


def test_arrays_tell_the_queue_and_the_memory_that_they_were_made_on(chosen):
    one, other = dpctl.SyclQueue(chosen), dpctl.SyclQueue(chosen)
    x = dpt.ones(3, sycl_queue=one)
    assert x.sycl_queue == one and (x + 1).sycl_queue == one and (1 - x).sycl_queue == one
    for made in (
        x[1:],
        -x,
        x * x,
        x < 2,
        dpt.sqrt(x),
        dpt.sum(x),
        dpt.zeros_like(x),
        x.astype("f4"),
    ):
        assert made.sycl_queue == one
    moved = x.to_device(other)
    assert moved.sycl_queue == other
    for call in (lambda: x + moved, lambda: dpt.add(x, moved), lambda: dpt.concat([x, moved])):
        with pytest.raises(ExecutionPlacementError):
            call()
    assert (dpt.ones(3) + dpt.ones(3)).sycl_queue == dpt.ones(2).sycl_queue
    if x.device.name == "cpu":
        shared, host = (dpt.ones(3, usm_type=kind) for kind in ("shared", "host"))
        assert (shared.usm_type, host.usm_type) == ("shared", "host")
        assert (shared + host).usm_type == "shared" and (host + dpt.ones(3)).usm_type == "device"
        assert dpt.zeros_like(host).usm_type == "host"
        assert dpt.asarray(host, usm_type="device").usm_type == "device"
        assert dpt.asarray(host) is host and dpt.asarray(host, copy=True) is not host


def test_numbers_of_ours_stand_in_front_of_arrays(chosen):
    x = dpt.asarray([True, False])
    yes = un.asarray([True]).all()
    two = un.asarray([2.0]).sum()
    assert (yes | x).get().tolist() == [True, True] and (yes ^ x).get().tolist() == [False, True]
    assert (two - x.astype("f8")).get().tolist() == [1, 2] and (
        two ** dpt.ones(2)
    ).get().tolist() == [2, 2]
    assert not dpt.any(x & False) and dpt.max(x) and dpt.all(x | True)  # names of builtins
    assert dpt.logical_and(1, x).get().tolist() == [True, False]
    assert all(isinstance(r, dpt.usm_ndarray) for r in (yes & x, two - x.astype("f8")))


def test_operators_in_place_cast_within_a_kind(chosen):
    x = dpt.ones(3, dtype="int8")
    x += dpt.ones(3, dtype="int64")
    x |= dpt.asarray([4, 0, 1], dtype="int32")
    assert x.dtype == "int8" and x.get().tolist() == [6, 2, 3]
    for name in ("__iadd__", "__imul__", "__ipow__", "__iand__"):
        with pytest.raises(ValueError):
            getattr(x, name)(dpt.ones(3))
    out = dpt.empty(3, dtype="float32")
    with pytest.raises(ValueError, match="Output array of type float64 is needed, got float32"):
        dpt.add(dpt.ones(3), 1, out=out)
    with pytest.raises(ValueError, match="inconsistent"):
        dpt.add(dpt.ones(4, dtype="float32"), 1, out=out)
    assert (
        dpt.add(dpt.ones(3, dtype="float32"), 1, out=out) is out and out.get().tolist() == [2] * 3
    )


def test_only_arrays_without_axes_are_numbers(chosen):
    assert float(dpt.sum(dpt.ones(3))) == 3 and int(dpt.asarray(2)) == 2 and bool(dpt.asarray(1))
    assert complex(dpt.asarray(1j)) == 1j and [10, 20][dpt.asarray(1)] == 20
    for kind in (bool, int, float, complex):
        with pytest.raises(TypeError, match="only 0-dimensional arrays"):
            kind(dpt.ones(1, dtype="int64"))


def test_sums_of_exponentials_do_not_overflow(chosen):
    x = np.array([[1000.0, 1000.5, -2.0], [0.0, -np.inf, 3.0]])
    a = dpt.asarray(x)
    with np.errstate(all="ignore"):
        expected = np.logaddexp.reduce(x, axis=1)
        running = np.logaddexp.accumulate(x, axis=1)
    np.testing.assert_allclose(dpt.logsumexp(a, axis=1).get(), expected)
    np.testing.assert_allclose(dpt.logsumexp(a).get(), np.logaddexp.reduce(x, axis=None))
    assert dpt.logsumexp(a, axis=1, keepdims=True).shape == (2, 1)
    assert dpt.logsumexp(dpt.empty((0,))).get() == -np.inf
    np.testing.assert_allclose(dpt.cumulative_logsumexp(a, axis=1).get(), running)
    first = dpt.cumulative_logsumexp(a, axis=1, include_initial=True).get()
    assert first.shape == (2, 4) and (first[:, 0] == -np.inf).all()
    big = dpt.asarray([[3e200, 4e200], [0.0, 0.0]])
    np.testing.assert_allclose(dpt.reduce_hypot(big, axis=1).get(), [5e200, 0])
    assert dpt.logsumexp(dpt.ones(4, dtype="int8"), dtype="float32").dtype == "float32"
    with pytest.raises(ValueError, match="no order"):
        dpt.logsumexp(dpt.ones(3, dtype="complex64"))


def test_indices_out_of_range_mean_the_nearest_element(chosen):
    x = dpt.arange(5)
    ind = dpt.asarray([-7, -1, 0, 9])
    assert dpt.take(x, ind).get().tolist() == [0, 4, 0, 4]
    assert dpt.take(x, ind, mode="clip").get().tolist() == [0, 0, 0, 4]
    y = dpt.reshape(dpt.arange(6), (2, 3))
    dpt.put(y, dpt.asarray([1]), dpt.asarray([[9, 9, 9]]), axis=0)
    dpt.put(y, dpt.asarray([-1]), 7, axis=1)
    assert y.get().tolist() == [[0, 1, 7], [9, 9, 7]]
    with pytest.raises(ValueError, match="an axis is needed"):
        dpt.put(y, dpt.asarray([0]), 1)
    with pytest.raises(ValueError, match="'wrap' or 'clip'"):
        dpt.take(x, ind, mode="raise")


def test_largest_elements_bounds_and_printing(chosen):
    x = dpt.asarray([[3, 1, 2], [5, 9, 4]])
    largest = dpt.top_k(x, 2, axis=1)
    assert largest.values.get().tolist() == [[3, 2], [9, 5]]
    assert largest.indices.get().tolist() == [[0, 2], [1, 0]]
    assert dpt.top_k(x, 1, mode="smallest").values.get().tolist() == [1]
    with pytest.raises(ValueError, match="'largest' or 'smallest'"):
        dpt.top_k(x, 1, mode="middle")
    assert dpt.clip(x, 2, 4).get().tolist() == [[3, 2, 2], [4, 4, 4]]
    with pytest.raises(ValueError, match="expected one that int64 can hold"):
        dpt.clip(x, dpt.asarray(1.5))
    before = dpt.get_print_options()
    with dpt.print_options(precision=2):
        assert dpt.get_print_options()["precision"] == 2
    assert dpt.get_print_options() == before
    assert dpt.__array_namespace_info__().capabilities()
    assert dpt.sort(dpt.asarray([3, 1, 2]), kind="radixsort").get().tolist() == [1, 2, 3]


def test_arrays_describe_their_memory(chosen):
    x = dpt.reshape(dpt.arange(6, dtype="int32"), (2, 3))
    told = x.T.__sycl_usm_array_interface__
    assert told["shape"] == (3, 2) and told["strides"] == (1, 3) and told["typestr"] == "<i4"
    assert told["syclobj"] == x.sycl_queue and x.__sycl_usm_array_interface__["strides"] is None
    assert told["data"] == (x._pointer, False)


def test_strides_are_in_elements(chosen):
    x = dpt.reshape(dpt.arange(24, dtype="f4", device=chosen), (2, 3, 4))
    assert (
        x.strides == (12, 4, 1)
        and x.T.strides == (1, 4, 12)
        and x[:, ::-1, ::2].strides == (12, -4, 2)
    )
    assert x.T.flags.f_contiguous and not x.T.flags.c_contiguous
    assert np.array_equal(dpt.asnumpy(dpt.diagonal(x)), np.arange(24).reshape(2, 3, 4).diagonal())
    assert dpt.empty_like(x.T).strides == (1, 4, 12) and un.einsum(
        "iij->ij", x[:, :2]
    ).tolist() == [[0, 1, 2, 3], [16, 17, 18, 19]]
    number = dpt.asarray(1, device=chosen)
    assert number.strides == () and number.flags.c_contiguous
    given = dpt.usm_ndarray(
        (3, 2), "i4", strides=(1, 3), buffer_ctor_kwargs={"queue": x.sycl_queue}
    )
    given[...] = dpt.reshape(dpt.arange(6, dtype="i4", device=chosen), (3, 2))
    assert given.strides == (1, 3) and given.tolist() == [[0, 1], [2, 3], [4, 5]]
    again = dpt.usm_ndarray((3,), "i4", buffer=given, strides=(-2,), offset=5)
    assert again.tolist() == [5, 1, 2] and again.usm_type == given.usm_type
    one = dpt.usm_ndarray((5,), "i4", strides=(0,), buffer_ctor_kwargs={"queue": x.sycl_queue})
    one[0] = 7
    assert one.tolist() == [7] * 5
    for strides, offset in (((1, 1), 0), ({"no": 1}, 0), ((-2,), 3), ((3,), 0)):
        with pytest.raises(ValueError, match="strides are integers|the memory is too small"):
            dpt.usm_ndarray((3,), "i4", buffer=given, strides=strides, offset=offset)


def test_what_dpctl_stores_and_orders(chosen):
    x = dpt.zeros(3, dtype="i4", device=chosen)
    x[1:] = 2 + 5j
    assert x.tolist() == [0, 2, 2]
    z = dpt.full((2, 2), 1 + 2j, dtype="c8", device=chosen)
    assert dpt.imag(z).flags.c_contiguous and not z.imag.flags.c_contiguous
    dpt.real(z)[...] = 7
    assert z.tolist() == [[1 + 2j] * 2] * 2
    assert dpt.where(z.real > 0, z, 0, order="F").flags.f_contiguous
    assert dpt.matmul(z, z, order="F").flags.fnc
    assert dpt.reciprocal(dpt.asarray([2, 4], dtype="i4", device=chosen)).tolist() == [0.5, 0.25]
    number = dpt.asarray(4, dtype="i4", device=chosen)
    assert dpt.sort(number) == 4 and dpt.argsort(number) == 0
    assert dpt.sort(
        dpt.asarray([3, 1, 2], device=chosen), kind="radixsort", descending=True
    ).tolist() == [3, 2, 1]
    with pytest.raises(ValueError, match="kind is 'stable'.*got 'quick'"):
        dpt.sort(x, kind="quick")
    with pytest.raises(ValueError, match="only 0-dimensional arrays"):
        int(x)
    with pytest.raises(TypeError, match="only 0-dimensional arrays"):
        int(x[:1])
    with pytest.raises(ValueError, match="'shared' needs a copy"):
        dpt.asarray(dpt.ones(2, usm_type="host"), usm_type="shared", copy=False)


@pytest.mark.parametrize("name", ["reciprocal", "rsqrt", "proj", "sqrt", "negative"])
def test_results_tell_the_queue_of_the_argument(name):
    queue = dpctl.SyclQueue()
    x = dpt.linspace(1, 4, num=4, dtype="c8" if name == "proj" else "f4", sycl_queue=queue)
    result = getattr(dpt, name)(x)
    assert result.sycl_queue == queue and (result + x).sycl_queue == queue
    assert getattr(dpt, name)(x, order="F").sycl_queue == queue
