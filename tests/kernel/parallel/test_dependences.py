"""What prange makes of dependences between iterations: proven ones are refused at their line, unknown ones reported."""

import re
import textwrap

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere

# The line that the message must point at is marked.
CARRIED = {
    "next_element": """
        for i in un.prange(len(a) - 1):
            a[i] = a[i + 1]  # here
    """,
    "two_back": """
        for i in un.prange(2, len(a)):
            a[i] = a[i - 2] * 2  # here
    """,
    "through_a_name": """
        for i in un.prange(1, len(a)):
            j = i - 1
            a[i] = a[j]  # here
    """,
    "same_element": """
        for i in un.prange(len(a)):
            a[0] = b[i]  # here
    """,
    "rows": """
        for y in un.prange(1, m.shape[0]):
            for x in range(m.shape[1]):
                m[y, x] = m[y - 1, x]  # here
    """,
    "columns": """
        for x in un.prange(m.shape[1] - 1):
            for y in range(m.shape[0]):
                m[y, x] = m[y, x + 1]  # here
    """,
    "two_writes": """
        for i in un.prange(len(a) - 1):
            a[i] = 1.0
            a[i + 1] = 2.0  # here
    """,
    "strided": """
        for i in un.prange(1, len(a) // 2):
            a[2 * i] = a[2 * i - 2]  # here
    """,
    "in_a_branch": """
        for i in un.prange(1, len(a)):
            if b[i] > 0:
                a[i] = a[i - 1]  # here
    """,
    "read_before": """
        for i in un.prange(1, len(a)):
            x = a[i - 1]
            a[i] = x  # here
    """,
    "scalar": """
        s = 0.0
        for i in un.prange(len(a)):
            a[i] = s  # here
            s = a[i] + 1
    """,
    "two_reductions": """
        s = 1.0
        for i in un.prange(len(a)):
            s += a[i]  # here
            s *= 2.0
    """,
    "inner_element": """
        for i in un.prange(len(a)):
            for k in range(3):
                a[k] = b[i]  # here
    """,
    "reversed": """
        for i in un.prange(len(a) - 1, 0, -1):
            a[i] = a[i - 1]  # here
    """,
}
INDEPENDENT = {
    "odd_and_even": """
        for i in un.prange(len(a) // 2):
            a[2 * i] = a[2 * i + 1]
    """,
    "own_row": """
        for y in un.prange(m.shape[0]):
            for x in range(1, m.shape[1]):
                m[y, x] = m[y, x - 1]
    """,
    "other_array": """
        for i in un.prange(1, len(a)):
            a[i] = b[i - 1]
    """,
}
UNKNOWN = {
    "scatter": """
        for i in un.prange(len(a)):
            a[w[i]] = b[i]  # here
    """,
    "product": """
        for i in un.prange(3):
            a[i * k] = b[i]  # here
    """,
}


def made(tmp_path, body):
    """The compiled function with this body, and the number of the marked line."""
    text = "def f(a, b, m, w, k):" + textwrap.indent(textwrap.dedent(body), "    ")
    path = tmp_path / "loop.py"
    path.write_text("import unisono as un\n\n\n" + text)
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    marked = [n for n, line in enumerate(path.read_text().splitlines(), 1) if "# here" in line]
    return un.jit(names["f"]), marked[0] if marked else None


def arguments():
    return np.ones(9), np.arange(9.0), np.ones((4, 5)), np.arange(9), 2


@pytest.mark.parametrize("name", CARRIED)
def test_a_proven_dependence_is_refused_at_its_line(tmp_path, name):
    f, line = made(tmp_path, CARRIED[name])
    with pytest.raises(un.CompileError) as error:
        f(*arguments())
    text = str(error.value)
    assert re.search(rf"loop\.py:{line}\b", text), text
    assert "what to do:" in text


@pytest.mark.parametrize("name", INDEPENDENT)
def test_independent_accesses_are_taken(tmp_path, name):
    f, _ = made(tmp_path, INDEPENDENT[name])
    ours, plain = arguments(), arguments()
    f(*ours)
    f.py_func(*plain)
    for x, y in zip(ours[:3], plain[:3], strict=True):
        assert x.tolist() == y.tolist()
    assert "not proven apart" not in f.parallel_report()


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_dependence_is_reported(tmp_path, name):
    f, line = made(tmp_path, UNKNOWN[name])
    f(*arguments())
    assert f"not proven apart, iterations may meet: a at line {line}" in f.parallel_report()


def test_a_cyclic_schedule_warns_of_false_sharing(tmp_path):
    body = """
        for i in un.prange(len(a), schedule="{schedule}", chunk={chunk}):
            a[i] = b[i]
    """
    f, _ = made(tmp_path, body.format(schedule="static", chunk=1))
    with pytest.warns(RuntimeWarning, match="threads write the same cache lines of 'a'"):
        f(*arguments())
    f, _ = made(tmp_path, body.format(schedule="static", chunk=64))
    f(*arguments())
