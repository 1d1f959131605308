"""``switch`` in kernels of C text: cases that end, and cases that go on with the next one."""

import numpy as np
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


def test_a_branch_leaves_a_case(device):
    text = """extern "C" __global__ void f(int *o) {
        int i = threadIdx.x, s = 0;
        for (int j = 0; j < 10; j++) {
            switch (j % 4) {
                case 0: s += 1; break;
                case 1: if (i > 3) break; s += 2;
                case 2: { if (i == 2) continue; s += 3; break; }
                default: continue;
            }
            s += 10;
        }
        o[i] = s;
    }"""

    def expected(i):
        s = 0
        for j in range(10):
            if j % 4 == 3 or (i == 2 and j % 4 in (1, 2)):
                s += 2 * (j % 4 == 1)
                continue
            s += [1, 0 if i > 3 else 5, 3][j % 4] + 10
        return s

    o = un.zeros(8, np.int32, device=device)
    un.RawKernel(text, "f")((1,), (8,), (o,))
    assert o.tolist() == [expected(i) for i in range(8)]
