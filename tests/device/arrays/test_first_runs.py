"""First runs of statements on devices that share memory with the host: no compiler, the same bits."""

import os
import subprocess
import sys

import numpy as np
import pytest
import unisono as un


@pytest.fixture(autouse=True)
def placed_by_unisono(placement, monkeypatch):
    un._engine._set_setting("placement", "auto")
    monkeypatch.delenv("UNISONO_PLACEMENT")


@pytest.fixture
def shared(device):
    if device.kind != "cpu" or not device.name.startswith("opencl"):
        pytest.skip("a device whose memory the host shares is needed")
    return device


def compiled():
    return un.stats()["kernels_compiled"]


def in_rounds(f, rounds=7):
    """The results of each round, and how many kernels were compiled up to its end."""
    before = compiled()
    for _ in range(rounds):
        yield np.asarray(f()), compiled() - before


STATEMENTS = {
    "elements": lambda x, y: un.exp(x * 3.25) - y / (x + 17),
    "sum": lambda x, y: (x * y * 1.0625).sum(),
    "columns": lambda x, y: (x.reshape(10, -1) - 8.5).sum(axis=0),
    "both axes": lambda x, y: (x.reshape(8, 5, -1) * 7.75).max(axis=(1, 2)),
    "turned": lambda x, y: x.reshape(40, -1).T * 1.5625 + y.reshape(-1, 40),
    "integers": lambda x, y: (x.astype("int32") << 2) ^ 21,
    "halves": lambda x, y: x.astype("float16") * 2.75,
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_the_host_goes_first(shared, name):
    f = STATEMENTS[name]
    a, b = np.linspace(0, 5, 1000), np.linspace(3, 4, 1000)
    expected = np.asarray(f(un.asarray(a), un.asarray(b)))
    x, y = (un.asarray(v, device=shared) for v in (a, b))
    counts = []
    for result, count in in_rounds(lambda: f(x, y)):
        np.testing.assert_array_equal(result, expected)
        counts.append(count)
    assert counts[0] == 0 and counts[-1] > 0


def test_results_stay_on_the_device(shared):
    x = un.arange(500, device=shared) * 11 - 4
    before = un.stats()["bytes_copied"]
    un.eval(x)
    assert x.device == shared and un.stats()["bytes_copied"] == before


def test_statements_in_place(shared):
    a = np.arange(24.0).reshape(4, 6)
    x = un.asarray(a, device=shared)
    for _ in range(6):
        x[1:3, ::2] *= 1.375
        x[:, 3] = x[:, 2] - 0.59375
        a[1:3, ::2] *= 1.375
        a[:, 3] = a[:, 2] - 0.59375
    np.testing.assert_array_equal(np.asarray(x), a)


def test_kernels_that_run_before(shared):
    """The host waits for what the device does."""
    x = un.ones(1 << 18, device=shared)
    for k in range(12):
        x = x * 1.5 + k
        y = x - 2.5 * k
    expected = un.ones(1 << 18)
    for k in range(12):
        expected = expected * 1.5 + k
    np.testing.assert_array_equal(np.asarray(y), np.asarray(expected - 2.5 * 11))


@pytest.mark.parametrize("name", ["queue", "setting", "much"])
def test_the_device_goes_first(shared, name):
    f = {  # no other test runs these: their kernels are new
        "queue": lambda x: un.cbrt(x * 19) - un.expm1(0.75 / x),
        "setting": lambda x: un.cbrt(x + 19) / un.expm1(x - 0.75),
        "much": lambda x: un.hypot(x * x * x - 2.75, x),
    }[name]
    x = un.ones(6_000_000 if name == "much" else 100, device=shared)
    un.eval(x)
    before = compiled()
    if name == "queue":
        with un.device(shared, queue=un.Queue(shared)):
            un.eval(f(x))
    elif name == "setting":
        un._engine._set_setting("placement", "device")
        un.eval(f(x))
    else:
        un.eval(f(x))
    assert compiled() == before + 1


def test_the_bits_of_complex_functions_do_not_change(shared):
    z = un.asarray(np.linspace(0, 3, 50) + 1j, device=shared)
    first, *others = (np.asarray(un.exp(z) * 1.125) for _ in range(6))
    for other in others:
        np.testing.assert_array_equal(other, first)


def test_explain_says_who_computed(shared):
    x = un.ones(100, device=shared) * 23.25
    un.eval(x)
    assert "host, first runs" in un.explain(x)


def test_a_cold_process(shared, tmp_path):
    code = (
        "import unisono as un\n"
        f"x = un.ones(1000, device='{shared.name}')\n"
        "assert float((x * 3 + 1).sum()) == 4000\n"
        "assert un.stats()['kernels_compiled'] == 0\n"
    )
    environment = {**os.environ, "UNISONO_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
