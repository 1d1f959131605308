"""`un.profile`: spans of kernels, calls, launches, copies and compilations; the trace file, the table and pstats."""

import cProfile
import json
import pstats
import subprocess
import sys
import threading

import numpy as np
import pytest
import unisono as un
from device_arrays import with_queues


@un.jit
def total(x):
    s = 0.0
    for i in range(x.size):
        s += x[i]
    return s


def line_of(text):
    with open(__file__) as file:
        return next(k for k, line in enumerate(file, 1) if line.rstrip().endswith("# " + text))


def of_kind(p, kind):
    return [s for s in p.spans if s.kind == kind]


def test_spans_name_the_work_and_its_lines():
    a = un.asarray(np.linspace(0, 1, 40000).reshape(200, 200))
    with un.profile() as p:
        b = un.tanh(a * 2 + 1)  # the kernel
        un.sort(b, axis=0).sum().item()
        total(b.ravel())
    kernel = of_kind(p, "kernel")[0]
    assert kernel.name == "mul add tanh (200, 200)"
    assert (kernel.file, kernel.line) == (__file__, line_of("the kernel"))
    assert kernel.bytes == 2 * a.nbytes and kernel.duration > 0 and kernel.device == ""
    assert kernel.lane == threading.current_thread().name
    assert [s.name for s in of_kind(p, "call")] == ["sort"]
    assert [s.name for s in of_kind(p, "launch")] == ["total"]
    assert of_kind(p, "launch")[0].line == total.py_func.__code__.co_firstlineno
    assert any(s.name == "compile total" for s in of_kind(p, "compile"))
    flushes = of_kind(p, "flush")
    assert any(f.begin <= kernel.begin and kernel.duration <= f.duration for f in flushes)


def test_work_of_before_and_after_is_not_seen_and_pending_work_is():
    a = un.asarray(np.arange(1000.0))
    early = a + 1
    with un.profile() as p:
        late = a * 3
    np.asarray(late), np.asarray(early), np.asarray(a - 1)
    assert [s.name for s in of_kind(p, "kernel")] == ["mul (1000,)"]


def test_small_statements_are_seen_and_quick_ones_come_back():
    x = un.asarray(np.arange(4.0))

    def loop():
        before = un.stats()["flushes"]
        for _ in range(50):
            x[...] = x + 1
            x.item(0)
        return un.stats()["flushes"] - before

    loop()
    quick = loop()
    with un.profile() as p:
        loop()
    assert sum(s.name.startswith("add") for s in of_kind(p, "kernel")) == 50
    assert loop() == quick


def test_threads_have_lanes():
    def work():
        np.asarray(un.asarray(np.arange(1000.0)) + 1)

    with un.profile() as p:
        thread = threading.Thread(target=work, name="another")
        thread.start()
        work()
        thread.join(0.0)
        while thread.is_alive():
            thread.join(1.0)
        lanes = {s.lane for s in p.spans}
    assert not lanes  # complete once the block has ended
    assert len({s.lane for s in of_kind(p, "kernel")}) == 2


def test_the_trace_is_chromes(tmp_path, monkeypatch):
    path = tmp_path / "trace.json"
    a = un.asarray(np.arange(1000.0))
    with un.profile(path):
        np.asarray(a * 2)
    events = json.loads(path.read_text())["traceEvents"]
    names = [e for e in events if e["ph"] == "M"]
    assert {e["args"]["name"] for e in names} >= {"rank 0"}
    (kernel,) = [e for e in events if e.get("cat") == "kernel"]
    assert kernel["ph"] == "X" and kernel["dur"] > 0 and kernel["args"]["bytes"] == 16000
    assert kernel["args"]["line"].startswith(__file__)
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "1")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    with un.profile(path):
        np.asarray(a * 2)
    assert json.loads((tmp_path / "trace.1.json").read_text())["traceEvents"][0]["pid"] == 1


def test_table_picture_and_pstats(capsys):
    a = un.asarray(np.arange(1000.0))
    with cProfile.Profile() as c, un.profile() as p:
        for _ in range(3):
            np.asarray(un.sqrt(a))
    assert "kernel sqrt (1000,), test_profile.py:" in str(p)
    ((kind, name, _, _, _, calls, seconds, size),) = [r for r in p.rows() if r[0] == "kernel"]
    assert (kind, name, calls, size) == ("kernel", "sqrt (1000,)", 3, 48000) and seconds > 0
    picture = p._repr_html_()
    assert picture.startswith("<svg") and "kernel sqrt (1000,)" in picture
    pstats.Stats(c, p).print_stats("sqrt")
    assert "<kernel sqrt (1000,)>" in capsys.readouterr().out


def test_one_profile_at_a_time_and_errors_end_it():
    with un.profile(), pytest.raises(ValueError, match="another profile is running"):
        un.profile().__enter__()
    with pytest.raises(ZeroDivisionError), un.profile() as p:
        np.asarray(un.asarray(np.arange(1000.0)) * 2)
        raise ZeroDivisionError
    assert of_kind(p, "kernel")
    with un.profile():
        pass


@pytest.mark.skipif(not with_queues(), reason="no device with queues")
@pytest.mark.parametrize("name", with_queues())
def test_queues_of_devices_have_lanes(name):
    x = un.asarray(np.arange(30000.0), device=name)
    second = un.Queue(name)

    @un.kernel
    def double(x):
        x[un.global_id(0)] *= 2

    np.asarray(un.sqrt(x) * 7)  # compiled, for the device
    double[x.size](x)
    un.synchronize()
    with un.profile() as p, un.device(queue=second):
        y = un.sqrt(x) * 7
        double[x.size](y)
        np.asarray(y)
    on_device = [s for s in p.spans if s.device]
    assert {s.device for s in on_device} == {
        x.device.name if hasattr(x.device, "name") else str(x.device)
    }
    kernels = [s for s in on_device if s.kind == "kernel"]
    assert any("sqrt" in s.name for s in kernels) and all(s.duration > 0 for s in kernels)
    assert [s.name for s in on_device if s.kind == "launch"] == ["double"]
    assert of_kind(p, "submit") and any(s.bytes == y.nbytes for s in of_kind(p, "copy"))


@pytest.mark.skipif(not with_queues(), reason="no device with queues")
def test_a_child_of_fork_profiles_anew():
    program = f"""
import os, unisono as un
x = un.ones(1000, device="{with_queues()[0]}")
with un.profile():
    float((x * 2 + 1).sum())
    child = os.fork()
    if child == 0:
        with un.profile() as p:
            float((un.ones(10) + 1).sum())
        os._exit(0 if p.spans else 1)
    assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=120)
