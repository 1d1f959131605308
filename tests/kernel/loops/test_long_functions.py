"""Functions of many loops: the same results as the Python function's."""

import numpy as np
import pytest
import unisono as un

BLOCK = """
    for i in range({k}, n):
        s += a[i] * {k}.5
        count += 1
    while s > {k}.25 + n:
        s = s / 2 - 1
        if s < 0.5:
            break
    for i in range(n):
        if i == {k}:
            continue
        for j in range(2):
            b[i] = b[i] * 0.5 + s - j
        last = i
    if count % 2 == 0:
        for i in un.prange(n):
            c[i] = c[i] + b[i] * {k}
        flag = not flag
    else:
        for i in range(n):
            c[i] -= 1.0
        made = a[:n] * 2.0 + {k}
        for i in range(len(made)):
            s += made[i] * 0.125
"""


def compiled_and_plain(tmp_path, blocks, tail="    return s, count, last, flag"):
    text = "def long(a, b, c, n):\n    s = 1.0\n    count = 0\n    last = -1\n    flag = False"
    for k in range(blocks):
        text += BLOCK.format(k=k % 5)
    path = tmp_path / "long.py"
    path.write_text("import unisono as un\n\n\n" + text + tail + "\n")
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return un.jit(names["long"]), names["long"]


@pytest.mark.parametrize("blocks", [3, 16, 60])
def test_results_are_pythons(tmp_path, blocks):
    ours, plain = compiled_and_plain(tmp_path, blocks)
    given = [np.linspace(1, 2, 9), np.ones(9), np.zeros(9)]
    wanted = [x.copy() for x in given]
    assert ours(*given, 9) == plain(*wanted, 9)
    for x, y in zip(given, wanted, strict=True):
        assert x.tolist() == y.tolist()


def test_faults_and_returns_inside_of_loops(tmp_path):
    tail = """
    for i in range(n):
        if a[i] > 100.0:
            return s, count, i, flag
    for i in range(n + 1):
        c[i] = a[i]
    return s, count, last, flag"""
    ours, plain = compiled_and_plain(tmp_path, 16, tail)
    a = np.linspace(1, 2, 9)
    got, wanted = np.zeros(9), np.zeros(9)
    with pytest.raises(IndexError, match="index 9") as error:
        ours(a, np.ones(9), got, 9)
    with pytest.raises(IndexError):
        plain(a, np.ones(9), wanted, 9)
    assert got.tolist() == wanted.tolist()
    assert any("c[i] = a[i]" in note for note in error.value.__notes__)
    a[4] = 101.0
    assert ours(a, np.ones(9), np.zeros(9), 9) == plain(a, np.ones(9), np.zeros(9), 9)


CAUGHT = """
        t = t * 0.5 + a[{k}]
        for i in range(n):
            s += a[i] * {k}.5
        kept = a[1:] * s
        before = {k}
        b[at - {k}] = s + t
        for i in range(len(kept)):
            t += kept[i]
"""


@pytest.mark.parametrize("at", [9 + 33, 3, 1000])
def test_what_a_handler_sees_and_what_is_returned(tmp_path, at):
    """Variables and arrays as the fault left them, wherever the function was cut."""
    text = "def long(a, b, n, at):\n    s, t, before = 1.0, 2.0, -1\n    kept = a * 2\n    try:"
    for k in range(200):
        text += CAUGHT.replace("{k}", str(k % 9 if k < 180 else k)).replace("at - ", f"at - {k} - ")
    text += (
        "    except IndexError:\n        s = -s\n    return s, t, before, kept, a[:3] + before\n"
    )
    path = tmp_path / "caught.py"
    path.write_text(text)
    names = {}
    exec(compile(text, str(path), "exec"), names)
    wanted_b, b = np.zeros(1200), np.zeros(1200)
    a = np.linspace(0.001, 0.002, 9)
    wanted = names["long"](a, wanted_b, 9, at)
    got = un.jit(names["long"])(a, b, 9, at)
    assert got[:3] == wanted[:3]
    assert np.asarray(got[3]).tolist() == wanted[3].tolist()
    assert np.asarray(got[4]).tolist() == wanted[4].tolist()
    assert b.tolist() == wanted_b.tolist()
