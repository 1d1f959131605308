"""The picture of a plan, and what a notebook shows of arrays."""

import re
import xml.etree.ElementTree as xml
from html.parser import HTMLParser

import numpy as np
import pytest
import unisono as un


def chain():
    """Two kernels: the second needs the finished result of the first."""
    a = un.array(np.arange(12.0).reshape(3, 4))
    b = (a * 2 + un.sqrt(a)).sum(axis=1)
    return a, b / b.sum(keepdims=True)


def elements(html, tag):
    """Text of all elements of a name, in order."""
    found = []

    class Reader(HTMLParser):
        inside = 0

        def handle_starttag(self, name, attributes):
            if name == tag:
                self.inside += 1
                found.append("")

        def handle_endtag(self, name):
            self.inside -= name == tag

        def handle_data(self, text):
            if self.inside:
                found[-1] += text

    Reader().feed(html)
    return found


def edges(dot):
    return re.findall(r'"(\w+ \d+)" -> "(\w+ \d+)"', dot)


def test_the_text_says_where_inputs_come_from():
    _, x = chain()
    text = un.explain(x)
    assert "input 0 from array 1 : float64" in text
    assert re.search(r"input \d from kernel 1 : float64", text)


def test_dot_has_the_kernels_and_what_they_read():
    _, x = chain()
    dot = un.explain(x).to_dot()
    assert dot.startswith("digraph plan {") and dot.endswith("}")
    kernels = [k for k in un.explain(x).splitlines() if re.match(r"kernel \d+ over", k)]
    assert len(kernels) == len(re.findall(r'"kernel \d+" \[label=', dot))
    assert ("array 1", "kernel 1") in edges(dot)
    assert all((f"kernel {k}", f"kernel {k + 1}") in edges(dot) for k in range(1, len(kernels)))
    assert "mul" in dot and "sqrt" in dot and "reduce-add" in dot


def test_the_graph_is_the_programs():
    """Independent work is not joined; a library call is a box that reads and is read."""
    a, b = (un.array(np.arange(5.0) + k) for k in range(2))
    x = un.sort(a + b) * 2 + a
    graph = edges(un.explain(x).to_dot())
    assert graph.count(("array 1", "kernel 1")) == 1 and ("array 2", "kernel 1") in graph
    assert ("kernel 1", "kernel 2") in graph and ("kernel 2", "kernel 3") in graph
    assert ("array 1", "kernel 3") in graph and ("array 2", "kernel 3") not in graph
    assert "kernel 2: sort" in un.explain(x).to_dot()


def test_finished_work_has_its_picture_too():
    _, x = chain()
    pending = edges(un.explain(x).to_dot())
    un.eval(x)
    finished = un.explain(x)
    assert finished.startswith("computed") and edges(finished.to_dot()) == pending


def test_html_is_a_picture_and_the_text():
    _, x = chain()
    explanation = un.explain(x)
    html = explanation._repr_html_()
    (svg,) = re.findall(r"<svg.*</svg>", html, re.DOTALL)
    root = xml.fromstring(svg)
    boxes = [e for e in root.iter() if e.tag.endswith("rect")]
    paths = [e for e in root.iter() if e.tag.endswith("path") and "marker-end" in e.attrib]
    kernels = len(re.findall(r"(?m)^kernel \d+", explanation))
    assert len(boxes) == kernels + 1 and len(paths) == len(edges(explanation.to_dot()))
    assert elements(html, "pre") == [str(explanation)]
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for box in boxes:
        x0, y0, w, h = (float(box.attrib[k]) for k in ("x", "y", "width", "height"))
        assert 0 <= x0 and x0 + w <= width and 0 <= y0 and y0 + h <= height
    rows = sorted((float(b.attrib["y"]), float(b.attrib["height"])) for b in boxes)
    assert all(y + h < below for (y, h), (below, _) in zip(rows, rows[1:], strict=False))


def test_names_from_the_program_are_escaped():
    _, x = chain()
    code = compile("y = x + 1", "<a & b>.py", "exec")
    names = {"x": x}
    exec(code, names)
    html = un.explain(names["y"])._repr_html_()
    assert "<a & b>" not in html and "&lt;a &amp; b&gt;" in html
    xml.fromstring(re.findall(r"<svg.*</svg>", html, re.DOTALL)[0])


def test_a_value_and_idle_memory_have_no_picture():
    for x in (un.arange(3)[1], un.asarray(np.ones(3))):
        explanation = un.explain(x)
        assert "<svg" not in explanation._repr_html_()
        assert explanation.to_dot().splitlines()[0] == "digraph plan {"


def test_html_of_a_matrix():
    x = un.arange(6, dtype="float32").reshape(2, 3) / 4
    html = x._repr_html_()
    assert "array of shape (2, 3), float32, on cpu" in html
    assert elements(html, "td") == ["0.", "0.25", "0.5", "0.75", "1.", "1.25"]
    assert elements(html, "th") == ["", "0", "1", "2", "0", "1"]


@pytest.mark.parametrize("shape", [(100, 50), (100,), (3, 200)])
def test_html_shows_the_corners(shape):
    x = un.arange(int(np.prod(shape))).reshape(shape)
    cells = elements(x._repr_html_(), "td")
    numbers = [int(c) for c in cells if c not in "…⋮"]
    a = np.asarray(x)
    for k, n in enumerate(shape):
        if n > 6:
            a = np.take(a, [0, 1, 2, n - 3, n - 2, n - 1], axis=k)
    assert numbers == a.ravel().tolist() and "…" in cells


def test_html_of_many_axes_shows_the_first_and_the_last_plane():
    html = un.arange(24).reshape(2, 3, 2, 2)._repr_html_()
    assert elements(html, "caption") == ["[0, 0, :, :]", "[1, 2, :, :]"]
    assert elements(html, "td") == ["0", "1", "2", "3", "20", "21", "22", "23"]


@pytest.mark.parametrize(
    "x, shown",
    [(un.arange(3)[1], "1"), (un.zeros((0, 3)), None), (un.asarray([1 + 2j])[0], "(1+2j)")],
)
def test_html_of_values_and_of_nothing(x, shown):
    html = x._repr_html_()
    assert "<table" not in html and elements(html, "code") == ([shown] if shown else [])
    assert f"shape {tuple(x.shape)}" in html


def test_html_uses_the_print_options():
    x = un.asarray([1 / 3, 2.0])
    with un.printoptions(precision=2):
        assert elements(x._repr_html_(), "td") == ["0.33", "2."]
    with un.printoptions(formatter={"float": lambda v: f"<{v:.1f}>"}):
        assert elements(x._repr_html_(), "td") == ["<0.3>", "<2.0>"]


def test_stats_count_kernels_compiles_and_bytes():
    n = 100_000
    x = un.array(np.ones(n))
    before = un.stats()
    un.eval(x * 2 + 1)
    after = un.stats()
    gained = {k: after[k] - before[k] for k in after}
    assert gained["kernels_launched"] == 1
    assert gained["bytes_read"] == gained["bytes_written"] == 8 * n
    assert 8 * n <= gained["bytes_allocated"] <= 10 * n
    assert gained["bytes_copied"] == 0
    before = un.stats()["bytes_copied"]
    un.asarray(np.frombuffer(bytes(17), "uint8")[1:].view("float64"))
    assert un.stats()["bytes_copied"] - before == 16


def test_statements_that_look_at_data_say_why():
    x = un.asarray(np.arange(8000.0))

    def reason():
        return un.flush_log()[-1]["reason"]

    un.unique(x + 1)
    assert reason() == "the shape of a result depends on data"
    x[x * 2 > 5000]
    assert reason() == "the shape of a result depends on data"
    x[un.arange(8000) % 7]
    assert reason() == "a statement checks its data"
    m = x[:6400].reshape(80, 80) + un.eye(80) * 1e6
    un.linalg.inv(m)
    assert reason() == "a statement checks its data"
    flushes = un.stats()["flushes"]
    un.linalg.qr(m)  # cannot fail: it waits until it is wanted
    assert un.stats()["flushes"] == flushes
