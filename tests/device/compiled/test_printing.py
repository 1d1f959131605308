"""print in kernels and parallel loops that run on devices."""

import contextlib
import io

import numpy as np
import pytest
import unisono as un


def printed(call, *args):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        call(*args)
    return out.getvalue()


def test_work_items_print(device):
    @un.kernel(device=device.name)
    def f(a, n):
        i = un.global_id(0)
        held = un.local_array(4, np.float64)
        held[un.local_id(0)] = a[i]
        un.barrier()
        if i % 3 == 2:
            print("item", i, n, held[3 - un.local_id(0)], f"{a[i]:.3f} {{}}", a[i] > 2, sep="|")

    a = un.arange(8.0, device=device)
    lines = printed(f[8, 4], a, un.float32(0.1)).splitlines()
    assert sorted(lines) == ["item|2|0.1|1.0|2.000 {}|False", "item|5|0.1|6.0|5.000 {}|True"]


def test_a_kernel_that_does_nothing_but_print(device):
    @un.kernel(device=device.name)
    def f(n):
        print(n, end=";")

    assert printed(f[3], 7) == "7;7;7;"


def test_lines_of_loops_come_between_those_around(device):
    @un.jit(device=device.name)
    def f(a, b):
        print("begin", a.size)
        for step in range(2):
            for i in un.prange(a.size):
                if a[i] == 1:
                    print("loop", step, i)
                b[i] = a[i] + step
            print("behind", step)

    a = un.arange(4.0, device=device)
    expected = "begin 4\nloop 0 1\nbehind 0\nloop 1 1\nbehind 1\n"
    assert printed(f, a, un.zeros_like(a)) == expected


def test_lines_before_a_fault_are_printed(device):
    @un.jit(device=device.name)
    def f(a):
        for i in un.prange(a.size):
            if i == 1:
                print("at", i)
        for i in un.prange(a.size):
            a[i + 1] = 0
        print("not here")

    def fails():
        with pytest.raises(IndexError):
            f(un.zeros(4, device=device))

    assert printed(fails) == "at 1\n"


def test_lines_without_room_are_counted(device):
    @un.kernel(device=device.name)
    def f(a):
        i = un.global_id(0)
        print(i, a[i])

    n = 1 << 16
    a = un.zeros(n, dtype=un.int32, device=device)
    out = io.StringIO()
    if device.name == "cpu":
        assert len(printed(f[n], a).splitlines()) == n
        return
    with contextlib.redirect_stdout(out):
        with pytest.warns(RuntimeWarning, match=r"f: (\d+) lines of print were lost") as told:
            f[n](a)
        f[4](a)
    shown = out.getvalue().splitlines()
    lost = int(str(told[0].message).split()[1])
    assert lost > 0
    assert len(shown) == n - lost + 4
    assert len(set(shown[:-4])) == n - lost
    assert sorted(shown[-4:]) == ["0 0", "1 0", "2 0", "3 0"]


def test_an_output_that_fails_raises(device):
    class Full(io.StringIO):
        def write(self, text):
            raise OSError("no space")

    @un.kernel(device=device.name)
    def f(a):
        if a[un.global_id(0)] == 1:
            print("x")

    with contextlib.redirect_stdout(Full()), pytest.raises(OSError, match="no space"):
        f[4](un.arange(4.0, device=device))
    assert printed(f[4], un.arange(4.0, device=device)) == "x\n"


def test_device_functions_print(device):
    @un.jit
    def tell(x):
        print(f"[{x:5.1f}]")
        return x + 1

    @un.kernel(device=device.name)
    def f(a):
        i = un.global_id(0)
        if i == 2:
            a[i] = tell(a[i])

    a = un.arange(4.0, device=device)
    assert printed(f[4], a) == "[  2.0]\n"
    assert float(a[2]) == 3.0
