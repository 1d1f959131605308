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
