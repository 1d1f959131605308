"""Bools in memory of others whose bytes are neither 0 nor 1 mean True, as NumPy reads them."""

import numpy as np
import pytest
import unisono as un

BYTES = np.array([7, 0, 255, 1, 2, 0], "uint8")

OPERATIONS = [
    lambda xp, b: b + 1,
    lambda xp, b: xp.power(2, b),
    lambda xp, b: xp.sort(b),
    lambda xp, b: xp.argsort(b, stable=True),
    lambda xp, b: b.sum(),
    lambda xp, b: xp.where(b, 5, 6),
    lambda xp, b: xp.count_nonzero(b),
    lambda xp, b: b.astype("int64"),
    lambda xp, b: xp.logical_xor(b, b[::-1]),
    lambda xp, b: xp.arange(6)[b],
    lambda xp, b: xp.unique(b),
    lambda xp, b: b == True,  # noqa: E712
]


@pytest.mark.parametrize("f", OPERATIONS)
@pytest.mark.parametrize("step", [1, -1, 2])
@pytest.mark.parametrize("door", ["view", "asarray", "operand", "buffer"])
def test_odd_bytes_are_true(f, step, door):
    host = BYTES[::step] if step != 2 else np.repeat(BYTES, 2)[::2]
    theirs = f(np, host.view(bool).astype(bool) & True)
    if door == "view":
        b = un.asarray(host).view(bool)
    elif door == "asarray":
        b = un.asarray(host.view(bool))
    elif door == "buffer":
        b = un.asarray(memoryview(host.view(bool)))
    else:
        b = un.logical_or(host.view(bool), False)
    mine = f(un, b)
    assert np.array_equal(np.asarray(mine), theirs)


def test_no_byte_but_0_and_1_gets_in():
    for b in (
        un.asarray(BYTES.view(bool)),
        un.array(BYTES.view(bool)),
        un.asarray(BYTES).view(bool),
    ):
        assert np.asarray(b).view("uint8").tolist() == [1, 0, 1, 1, 1, 0]


def test_views_of_odd_bytes_are_read_only_copies():
    x = un.asarray(BYTES)
    with pytest.raises(ValueError, match="read-only"):
        x.view(bool)[0] = False
    clean = un.asarray([1, 0, 1], dtype="uint8")
    clean.view(bool)[0] = False
    assert clean.tolist() == [0, 0, 1]


def test_a_numpy_view_of_ours_with_odd_bytes_does_not_share():
    x = un.asarray([7, 0, 1], dtype="uint8")
    b = un.asarray(np.asarray(x).view(bool))
    assert (b + 1).tolist() == [2, 1, 2]


def test_dlpack_refuses_them():
    with pytest.raises(ValueError, match="neither 0 nor 1"):
        un.from_dlpack(BYTES.view(bool))
    assert un.from_dlpack(np.array([True, False])).tolist() == [True, False]


def test_mapped_files_of_bools_are_shared_and_not_read(tmp_path):
    path = tmp_path / "flags"
    path.write_bytes(bytes([7, 0, 1]))
    mapped = np.memmap(path, bool, "r+")
    x = un.asarray(mapped)
    mapped[1] = True
    assert un.nonzero(x)[0].tolist() == [0, 1, 2]
