"""Devices that are CPUs fetch the next leaf of a long sum while they add up one, past its end, too."""

import numpy as np
import pytest
import unisono as un

CPUS = [d.name for d in un.devices("opencl") if d.kind == "cpu"][:1]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("size", [512, 3 * 512 - 1, 200 * 512 + 33])
@pytest.mark.parametrize("name", CPUS)
def test_sums_have_the_bits_of_the_host(name, size, dtype):
    a, b = np.random.default_rng(size).random((2, 7, size)).astype(dtype)
    results = []
    for device in (name, "cpu"):
        x, y = un.asarray(a, device=device), un.asarray(b, device=device)
        every_second = x[:, ::2] - x[:, 1::2] if size % 2 == 0 else x
        made = [(x * y - x).sum(), (x * y - x).sum(axis=1), every_second.sum(axis=1), y[3:5].sum()]
        results.append([np.asarray(m) for m in made])
    for ours, host in zip(*results, strict=True):
        assert np.array_equal(ours, host)


@pytest.mark.parametrize("name", CPUS)
def test_lines_of_packed_rows_are_fetched(name, capfd):
    def code_of(x):
        capfd.readouterr()
        un._engine._set_setting("debug", "4")
        try:
            float((-abs(x)).sum())  # no other test's kernel
        finally:
            un._engine._set_setting("debug", "0")
        return capfd.readouterr().err

    x = un.asarray(np.ones(8192), device=name)
    un.eval(x)
    assert "un_prefetch(" in code_of(x)
    code = code_of(x[::2])
    assert "__kernel" in code and "un_prefetch(" not in code


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("size", [511, 512, 40 * 512 + 77])
@pytest.mark.parametrize("name", CPUS)
def test_extremes_have_the_bits_of_the_host(name, size, dtype):
    """NaNs keep their signs and payloads: the first of a lane counts."""
    a = (np.random.default_rng(size).random((4, size)) * 200).astype(dtype)
    if dtype.startswith("float"):
        bits = np.dtype(f"uint{8 * a.itemsize}")
        nan, sign = (
            np.array(np.nan, dtype).view(bits),
            bits.type(1) << bits.type(8 * a.itemsize - 1),
        )
        a[0] = np.where(np.arange(size) % 3, -0.0, 0.0)
        a[1, size // 2] = np.inf
        a[2].view(bits)[[5, size - 3, size - 2]] = nan | np.array([1, 2, 3], bits) | sign
        a[3, size // 3] = -np.inf
    results = []
    for device in (name, "cpu"):
        x = un.asarray(a, device=device)
        makes = (un.max, un.min)
        made = [f(v) for v in (x, x[1]) for f in makes] + [f(x, axis=1) for f in makes]
        results.append([np.asarray(m) for m in (*made, un.max(x + x, axis=1), un.max(x[:, ::2]))])
    for ours, host in zip(*results, strict=True):
        assert ours.tobytes() == host.tobytes()


@pytest.mark.parametrize("f", ["max", "sum"])
@pytest.mark.parametrize("name", CPUS)
def test_lanes_of_extremes_and_of_integers_are_kept_in_registers(name, f, capfd):
    """A loop over the lanes of a leaf has all its rows, so that compilers make vectors of them."""
    x = un.asarray(np.arange(8192), device=name)
    un.eval(x)
    capfd.readouterr()
    un._engine._set_setting("debug", "4")
    try:
        un.eval(getattr(un, f)((x ^ 5) - 77))  # no other test's kernel
    finally:
        un._engine._set_setting("debug", "0")
    code = capfd.readouterr().err
    loops = code.split("for (long lane = 0; lane < 32; ++lane) {")
    assert len(loops) == 2 and loops[1].split("}")[0].count("in0[") == 16


@pytest.mark.parametrize("f", ["max", "min", "sum", "prod"])
@pytest.mark.parametrize("rows", [0, 1, 8, 9, 16, 30, 300])
@pytest.mark.parametrize("name", CPUS)
def test_columns_of_few_leaves(name, rows, f, capfd):
    """No constant is chosen where the leaves are combined: that is slow on some processors."""
    a = np.random.default_rng(rows).random((rows, 70))
    if rows == 0 and f in ("max", "min"):
        pytest.skip("has no extreme")
    x = un.asarray(a, device=name)
    un.eval(x)
    capfd.readouterr()
    un._engine._set_setting("debug", "4")
    try:
        got = np.asarray(getattr(un, f)(x, axis=0).to_device("cpu"))
    finally:
        un._engine._set_setting("debug", "0")
    assert "depth == 0" not in capfd.readouterr().err
    assert np.array_equal(got, np.asarray(getattr(un, f)(un.asarray(a), axis=0)))
