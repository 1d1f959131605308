"""Arrays of records on every device, against NumPy."""

import numpy as np
import pytest
import unisono as un

PACKED = np.dtype([("i", "i4"), ("x", "f8")])
ALIGNED = np.dtype([("c", "i1"), ("x", "f8"), ("v", "f4", 3)], align=True)


def records(dtype, n=6):
    made = np.zeros(n, dtype)
    for k, name in enumerate(dtype.names):
        field = made[name]
        field[...] = np.arange(field.size).reshape(field.shape) % 7 + k
    return made


def same(ours, theirs, device):
    assert ours.device == device and ours.dtype == theirs.dtype and ours.shape == theirs.shape
    assert (np.asarray(ours) == theirs).all()


@pytest.mark.parametrize("dtype", [PACKED, ALIGNED], ids=["packed", "aligned"])
def test_fields_are_views(device, dtype):
    b = records(dtype)
    a = un.asarray(b, device=device)
    same(a, b, device)
    a["x"] += 2
    b["x"] += 2
    a[::2]["x"][1:] = 9
    b[::2]["x"][1:] = 9
    assert a["x"].device == device
    same(a, b, device)


@pytest.mark.parametrize("dtype", [PACKED, ALIGNED], ids=["packed", "aligned"])
def test_whole_records(device, dtype):
    b = records(dtype)
    a = un.asarray(b, device=device)
    for change in (
        lambda r: r.__setitem__(1, r[4]),
        lambda r: r.__setitem__(slice(None, None, -2), r[:3].copy()),
        lambda r: r.__setitem__([0, 5], r[1].copy()),
        lambda r: r.fill(r[2].copy()) if r.size == 1 else r[:1].fill(r[2].copy()),
        lambda r: r.sort(order="x"),
    ):
        change(a)
        change(b)
        same(a, b, device)
    same(a[[4, 0]], b[[4, 0]], device)
    same(a.reshape(2, 3).T.copy(), b.reshape(2, 3).T.copy(), device)
    assert (a == a).all() and (a == a).device == device
    assert a["x"].tolist() == b["x"].tolist()


def test_views_of_other_dtypes_share_the_memory(device):
    b = records(np.dtype("i8,i8"))
    a = un.asarray(b, device=device)
    numbers = a.view("i8")
    assert type(numbers) is un.ndarray and numbers.device == device
    numbers[::2] = -1
    b["f0"] = -1
    same(a, b, device)
    a.reshape(3, 2)[1]["f1"] = 5
    b.reshape(3, 2)[1]["f1"] = 5
    same(a, b, device)


def test_fields_of_text_and_dates(device):
    b = np.array([("ab", "2020-01-01"), ("c", "2021-02-03")], [("t", "S2"), ("d", "M8[D]")])
    a = un.asarray(b, device=device)
    a["d"][0] = np.datetime64("2022-03-04")
    b["d"][0] = np.datetime64("2022-03-04")
    same(a, b, device)


def test_making_moving_and_read_only(device):
    for made in (
        un.zeros(3, dtype=PACKED, device=device),
        un.empty(3, dtype=PACKED, device=device),
        un.full(3, (1, 2.5), dtype=PACKED, device=device),
        un.array([(1, 2.0)], dtype=PACKED, device=device),
    ):
        assert made.device == device and made.dtype == PACKED
    b = records(PACKED)
    a = un.asarray(b, device=device)
    same(a.to_device("cpu"), b, un.devices()[0])
    same(a[1:].to_device("cpu").to_device(device), b[1:], device)
    assert a.to_device(device) is a
    a.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        a[0] = (1, 2)
    assert not a[1:].flags.writeable


def test_compiled_functions_refuse_records_of_devices(device):
    if device.name == "cpu":
        pytest.skip("they take those of the host")
    with pytest.raises(un.errors.UnsupportedError, match=r"read and written on the host"):
        un.jit(lambda r: r[0]["i"])(un.zeros(3, dtype=PACKED, device=device))


def test_raw_kernels_write_into_records_of_the_device(device):
    code = """__kernel void k(__global struct s { int i; int j; float x; } *r) {
        r[get_global_id(0)].i += get_global_id(0); r[get_global_id(0)].x *= 2; }"""
    b = records(np.dtype([("i", "i4"), ("j", "i4"), ("x", "f4")]))
    a = un.asarray(b, device=device)
    un.RawKernel(code, "k")((6,), (1,), (a,))
    b["i"] += np.arange(6, dtype="i4")
    b["x"] *= 2
    same(a, b, device)
