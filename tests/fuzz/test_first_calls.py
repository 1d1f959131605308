"""Threads of a fresh process whose first calls meet: each imports what another is in the middle of importing."""

import subprocess
import sys

import pytest

program = """
import math, os, pickle, random, sys, threading, traceback

seed = int(sys.argv[1])
sys.setswitchinterval(1e-5)
import unisono as un


def loop():
    @un.njit
    def f(x):
        s = 0.0
        for v in x:
            s += max(v, math.sqrt(v))
        return s

    assert f(un.ones(10)) == 10


def elements():
    f = un.vectorize(lambda x, y: x * y + 1)
    assert f(un.arange(3.0), 2.0).tolist() == [1, 3, 5]


def rows():
    @un.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
    def f(x, r):
        for i in range(x.shape[0]):
            r[i] = x[i] * 2

    assert f(un.ones((2, 3))).sum() == 12


def containers():
    @un.njit
    def f(n):
        d = {}
        for i in range(n):
            d[i % 3] = d.get(i % 3, 0) + i
        return d

    assert f(9) == {0: 9, 1: 12, 2: 15}


def typed_list():
    from unisono.typed import List

    two = List([1.0, 2.0])
    assert un.njit(lambda x: x[0] + x[1])(two) == 3


def instances():
    @un.jitclass([("x", un.float64)])
    class Number:
        def __init__(self, x):
            self.x = x

        def twice(self):
            return self.x * 2

    assert Number(3.0).twice() == 6


def function_argument():
    apply = un.njit(lambda f, x: f(x) + 1)
    assert apply(abs, -2.0) == 3


def programs_of_opencl():
    import unisono.opencl as cl

    try:
        context = cl.create_some_context(interactive=False)
    except cl.Error:
        return
    cl.Program(context, "kernel void f(global float *x) { x[get_global_id(0)] = 1; }").build()
    with un.device("opencl"):
        assert un.ones(3).sum() == 3


def kernel():
    @un.kernel
    def f(x):
        x[un.global_id(0)] *= 2

    x = un.ones(8)
    f[8](x)
    assert x.sum() == 16


def stencil():
    assert un.stencil(lambda a: a[-1] + a[1])(un.ones(5)).sum() == 6


def numpys():
    import numpy as np

    assert np.sum(un.ones(3)) == 3 and type(np.add(un.ones(2), 1)) is un.ndarray


def text_of_c():
    assert un.c_module("double f(double x) { return x * 2; }").f(2.0) == 4


def vocabularies():
    import unisono.cuda
    import unisono.cupy
    import unisono.opencl

    assert unisono.cupy.ones(3).sum() == 3


def functions():
    assert un.fft.fft(un.ones(8))[0] == 8 and un.unique(un.asarray([1, 1, 2])).tolist() == [1, 2]
    assert un.random.default_rng(1).random(3).shape == (3,)
    assert un.ma.masked_array([1, 2], [0, 1]).sum() == 1
    assert un.einsum("ij,jk", un.ones((2, 3)), un.ones((3, 2))).tolist() == [[3, 3], [3, 3]]


def objects():
    assert repr(un.arange(3)) == "array([0, 1, 2])" and pickle.loads(pickle.dumps(un.arange(3))).sum() == 3
    try:
        un.ones(3) + un.ones(4)
    except ValueError:
        return
    raise AssertionError


calls = [loop, instances, function_argument, programs_of_opencl, elements, rows, containers, typed_list, kernel, stencil, numpys, text_of_c, vocabularies, functions, objects]
start, failed = threading.Barrier(6), []


def work(k):
    mine = random.Random(f"{seed} {k}").sample(calls, 8)
    start.wait()
    for call in mine:
        try:
            call()
        except BaseException:
            failed.append(traceback.format_exc())


threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
for t in threads:
    t.start()
for t in threads:
    t.join()
sys.exit("".join(failed[:1]) or 0)
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_first_calls_of_threads_meet(seed):
    made = subprocess.run(
        [sys.executable, "-c", program, str(seed)], capture_output=True, text=True, timeout=120
    )
    assert (made.returncode, made.stderr) == (0, "")
