"""printf and assert in kernels of C text."""

import contextlib
import io

import numpy as np
import pytest
import unisono as un


def test_printf(device):
    text = r"""#include <cstdio>
    extern "C" __global__ void k(const double *a) {
        int i = threadIdx.x;
        if (i == 3) printf("%d|%5.2f|%-5d|%05d|%+d|%x|%u|%c|" "%8.3e|%g|%s|%5s|%%\n", i, a[i], i, i, i, -1, 3u, 65 + i, a[i], a[i], "text", "ab");
        if (i > 5) printf("x");
    }"""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), un.device(device):
        un.RawKernel(text, "k")((1,), (8,), (un.arange(8.0, device=device),))
    line = "%d|%5.2f|%-5d|%05d|%+d|%x|%u|%c|%8.3e|%g|text|   ab|%%\n"
    assert out.getvalue() == line % (3, 3.0, 3, 3, 3, 2**32 - 1, 3, "D", 3.0, 3.0) + "xx"


def test_assert(device):
    text = """extern "C" __global__ void k(const double *a) { assert(a[threadIdx.x] < LIMIT); }"""
    a = un.arange(8.0, device=device)
    un.RawKernel(text, "k", options=("-DLIMIT=8",))((1,), (8,), (a,))
    with pytest.raises(AssertionError, match=r"assert in .*:1: .*assert\(a"):
        un.RawKernel(text, "k", options=("-DLIMIT=5",))((1,), (8,), (a,))
        un.synchronize()


def test_indices_as_values(device):
    text = """extern "C" __global__ void k(double *o) {
        const dim3 t = threadIdx, b = blockDim;
        o[t.x + b.x * t.y] = t.x + 10 * t.y + 100 * b.y + blockIdx.x;
    }"""
    o = un.zeros((3, 2), device=device)
    un.RawKernel(text, "k")((1,), (2, 3), (o,))
    assert np.array_equal(np.asarray(o), np.arange(2) + 10 * np.arange(3)[:, None] + 300)
