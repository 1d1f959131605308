"""Two devices of a kind: copies, queues and faults from one to the other."""

import os
import subprocess
import sys

import pytest
import unisono as un

SAFETY_NET = 120

PROGRAM = """
import sys
import numpy as np
import unisono as un

names = [d.name for d in un.devices(sys.argv[1])]
if len(names) < 2:
    print("one device")
    sys.exit()
one, two = names[:2]


@un.kernel
def gather(a, k, out):
    i = un.global_id(0)
    out[i] = a[k[i]]


def values_go_to_and_fro(order):
    first, second = un.Queue(one, order=order), un.Queue(two, order=order)
    x, expected = un.asarray(np.arange(10000.0), device=one), np.arange(10000.0)
    for step in range(30):
        with un.device(queue=first):
            x = x * 0.5 + 1
        y = x.to_device(two)
        with un.device(queue=second):
            y -= 2
        if step % 3 == 0:
            first.wait_for(second.record())
            second.wait_for(first.record())
        x = y.to_device(one)
        expected = expected * 0.5 + 1 - 2
    np.testing.assert_array_equal(np.asarray(x.to_device("cpu")), expected)


def a_late_fault_travels():
    a = un.asarray(np.arange(10.0), device=one)
    out = un.zeros(2, device=one)
    gather[2](a, un.asarray(np.array([1, 99]), device=one), out)
    z = out.to_device(two) + 1
    try:
        np.asarray(z.to_device("cpu"))
    except IndexError as error:
        assert "index 99 is out of bounds" in str(error), error
    else:
        raise AssertionError("no error")


def a_queue_works_for_its_own_device():
    queue = un.Queue(one)
    with un.device(queue=queue):
        assert un.zeros(1).device == one
        x = un.ones(4, device=two) + 1
    queue.synchronize()
    assert float(x.to_device("cpu").sum()) == 8


values_go_to_and_fro("in")
values_go_to_and_fro("out")
a_late_fault_travels()
a_queue_works_for_its_own_device()
un.synchronize()
print("done")
"""


@pytest.mark.parametrize("kind", ["opencl", "cuda"])
def test_two_devices(tmp_path, kind):
    if not un.devices(kind):
        pytest.skip("no such device")
    program = tmp_path / "two_devices.py"
    program.write_text(PROGRAM)
    run = subprocess.run(
        [sys.executable, str(program), kind],
        # Two of PoCL, each on all cores; two of the CUDA driver of tests.
        env={
            **os.environ,
            "POCL_DEVICES": "pthread pthread",
            "UNISONO_TEST_CUDA_DEVICES": "2",
        },
        capture_output=True,
        text=True,
        timeout=SAFETY_NET,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    if run.stdout.strip() == "one device":
        pytest.skip("another driver")
    assert run.stdout.strip() == "done"
