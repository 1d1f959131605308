"""Devices: choosing them, what they tell, and their parts."""

import os
import subprocess
import sys

import numpy as np
import pytest
import unisono as un

OPENCL = [d.name for d in un.devices("opencl")]
needs_opencl = pytest.mark.skipif(not OPENCL, reason="no OpenCL device")
SAFETY_NET = 120


def test_filters_fall_back():
    everything = un.devices()
    assert un.devices("cuda:99, cpu") == un.devices("cpu") and everything[0].name == "cpu"
    assert un.devices("nothing, of, that, kind") == []
    assert un.devices(lambda d: d.kind == "cpu") == [d for d in everything if d.kind == "cpu"]
    with pytest.raises(TypeError, match="devices: expected text such as 'gpu,cpu'"):
        un.devices(3)


def test_names_fall_back_wherever_a_device_is_named():
    x = un.ones(3, device="cuda:99, nonsense, cpu")
    assert x.device == "cpu"
    with un.device("cuda:99,cpu"):
        assert un.zeros(2).device == "cpu"
    with pytest.raises(un.DeviceError, match="there is no device 'cuda:99,nonsense'"):
        un.ones(3, device="cuda:99,nonsense")


@needs_opencl
def test_the_variable_falls_back():
    code = "import unisono as un; print(un.ones(3).device)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=SAFETY_NET,
        env={**os.environ, "UNISONO_DEVICE": "cuda:99,opencl"},
    )
    assert done.stdout.strip() == OPENCL[0], done.stderr


def test_every_device_tells_what_it_is():
    for d in un.devices():
        assert d.kind in d.aspects and ("fp64" in d.aspects) == d.has_float64
        assert len(d.max_work_item_sizes) == 3 and d.parent is None
        assert all(isinstance(key, str) for key in d.properties)


@needs_opencl
@pytest.mark.parametrize("name", OPENCL)
def test_drivers_tell_their_properties(name):
    (d,) = un.devices(name)
    told = d.properties
    assert told["max_compute_units"] == d.compute_units
    assert told["global_mem_size"] == d.memory_bytes
    assert tuple(told["max_work_item_sizes"][:3]) == d.max_work_item_sizes
    assert isinstance(told["extensions"], list) and isinstance(told["available"], bool)
    assert told["version"].startswith("OpenCL ")
    assert ("cl_khr_fp64" in told["extensions"]) == d.has_float64


@needs_opencl
def test_parts_are_devices():
    whole = next((d for d in un.devices("opencl") if "sub_devices" in d.aspects), None)
    if whole is None:
        pytest.skip("no device that can be divided")
    parts = whole.create_sub_devices(1)
    assert len(parts) == whole.compute_units
    assert all(p.compute_units == 1 and p.parent == whole for p in parts)
    assert len({p.name for p in parts}) == len(parts)
    assert whole.create_sub_devices([1] * len(parts)) == parts
    first, last = parts[0], parts[-1]
    x = un.arange(1000, device=first) * 2
    y = x.to_device(last.name) + 1
    assert x.device == first and y.device == last
    np.testing.assert_array_equal(np.asarray(y.to_device("cpu")), np.arange(1000) * 2 + 1)
    assert [p for p in parts if p in un.devices()] == []
    q = un.Queue(last)
    with un.device(last, queue=q):
        z = un.ones(5) + 1
    q.synchronize()
    assert z.device == last
    with pytest.raises(un.DeviceError, match="x is on|different devices|" + first.name):
        x + y


@needs_opencl
def test_divisions_that_cannot_be_are_refused():
    (d,) = un.devices(OPENCL[0])
    more = d.compute_units + 1
    for wrong in (0, -1, more, [more], [], [1, -1]):
        with pytest.raises(
            ValueError, match=f"has {d.compute_units} compute units; got partition="
        ):
            d.create_sub_devices(wrong)
    with pytest.raises(TypeError, match="neither a number of compute units nor a list"):
        d.create_sub_devices("numa")
    with pytest.raises(un.DeviceError, match="device 'cpu' cannot be divided"):
        un.devices()[0].create_sub_devices(1)


def listing(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "unisono", "devices", *arguments],
        capture_output=True,
        text=True,
        timeout=SAFETY_NET,
    )


def test_the_command_lists_devices():
    done = listing()
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == [d.name for d in un.devices()]
    assert "max_work_group_size" not in done.stdout


def test_the_command_tells_all_that_drivers_tell():
    done = listing(*OPENCL[:1] or ["cpu"], "--all")
    assert done.returncode == 0 and "compute units" in done.stdout
    if OPENCL:
        assert done.stdout.startswith(OPENCL[0]) and "max_mem_alloc_size" in done.stdout


def test_the_command_says_that_nothing_matches():
    done = listing("cuda:99")
    assert done.returncode == 1 and done.stdout == ""
    assert "none matches; got 'cuda:99'; present: cpu" in done.stderr
