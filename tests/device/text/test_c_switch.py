"""``switch`` in kernels of C text: cases that end, and cases that go on with the next one."""

import numpy as np
import pytest
import unisono as un

TEXT = r"""
extern "C" __global__ void f(int* a) {
    int i = threadIdx.x, r = 0;
    switch (i) {
    case 0: case 1: r = 1; break;
    case 2: { int x = 2; r = x; }
    case 3: { int x = 10; r += x; break; }
    default: r += 100;
    case 9: r += 1000;
    case 10: r += 7;
    }
    a[i] = r;
    int q = i;
    switch (i % 4) { case 3: q += 3; case 2: q += 2; case 1: q += 1; }
    a[i + 16] = q;
}
"""


def test_cases_that_go_on(device):
    a = un.zeros(32, np.int32, device=device)
    un.RawKernel(TEXT, "f")((1,), (16,), (a,))
    first = {0: 1, 1: 1, 2: 12, 3: 10, 9: 1007, 10: 7}
    second = [i + sum(range(1, i % 4 + 1)) for i in range(16)]
    assert a.tolist() == [first.get(i, 1107) for i in range(16)] + second


def test_break_inside_of_a_case():
    text = "void f(int* a) { switch (a[0]) { case 1: if (a[1]) break; a[0] = 2; } }"
    with pytest.raises(un.CompileError, match="a break inside of a case is not translated"):
        un.RawKernel('extern "C" __global__ ' + text, "f")((1,), (1,), (un.zeros(2, np.int32),))
