"""Calls run in the interpreter, which finds races, where their arrays lie there."""

import numpy as np
import pytest
import unisono as un

MEET = "touch the same element"


@un.kernel
def all_to_first(x):
    x[0] = un.global_id(0)


@un.kernel
def from_neighbours(x):
    i = un.global_id(0)
    x[i] = x[(i + 1) % 8] + 1


@un.kernel
def without_barrier(x):
    tile = un.local_array(8, un.float64)
    i = un.local_id(0)
    tile[i] = i
    x[i] = tile[7 - i]


@un.jit
def stored_at(x, places):
    for i in un.prange(places.shape[0]):
        x[places[i]] = i


def test_arrays_of_the_interpreter():
    x = un.zeros(8, device="interp")
    for kernel in (all_to_first, from_neighbours):
        with pytest.raises(ValueError, match=MEET):
            kernel[8](x)
            un.synchronize()
    with pytest.raises(ValueError, match="is read before it is written"):
        without_barrier[8, 8](x)
        un.synchronize()
    with pytest.raises(ValueError, match=MEET):
        stored_at(x, un.zeros(8, un.int64, device="interp"))


def test_a_block_of_the_interpreter():
    with un.device("interp"):
        for x in (un.zeros(8), np.zeros(8)):
            with pytest.raises(ValueError, match=MEET):
                from_neighbours[8](x)
                un.synchronize()
            with pytest.raises(ValueError, match=MEET):
                stored_at(x, np.zeros(8, np.int64))


def test_calls_on_the_host_before_and_after():
    @un.jit
    def doubled(x):
        for i in un.prange(x.shape[0]):
            x[i] *= 2

    on_host, on_interpreter = un.ones(4), un.ones(4, device="interp")
    for _ in range(3):
        doubled(on_host)
        doubled(on_interpreter)
    assert on_host.tolist() == on_interpreter.tolist() == [8] * 4
    assert str(on_interpreter.device) == "interp"


def test_a_function_of_the_cpu_stays_there():
    @un.kernel(device="cpu")
    def first(x):
        x[0] = un.global_id(0)

    x = un.zeros(1, device="interp")
    first[8](x)
    assert 0 <= float(x[0]) < 8
