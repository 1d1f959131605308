"""What `explain` and `annotate` say of compiled functions."""

import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import unisono as un


@un.jit
def weight(d):
    return 1.0 / (1.0 + d * d)


@un.jit
def sweep(u, out):
    """Rows at once."""
    for y in un.prange(1, u.shape[0] - 1):
        for x in range(1, u.shape[1] - 1):
            out[y, x] = (u[y + 1, x] + u[y - 1, x]) / 2


@un.jit
def chosen(u, where):
    total = 0.0
    for k in range(len(where)):
        total += weight(u[where[k]])
    return total


@un.jit
def mixed(u):
    v = 2.0 * u + 1.0
    s = 1.0
    for i in range(len(v)):
        s *= v[i]
    return s


def line_of(text, source):
    """The notes below a source line."""
    _, _, behind = text.partition(source)
    notes = []
    for line in behind.splitlines()[1:]:
        if re.match(r" +\d+ \| ", line) or not line.startswith(" "):
            break
        notes.append(line.strip())
    return notes


@pytest.fixture(scope="module", autouse=True)
def compiled():
    u = np.random.default_rng(0).random((40, 40))
    sweep(u, u.copy())
    chosen(u[0].copy(), np.arange(5))
    mixed(u[0].copy())


def test_explain_tells_parallel_and_vector_loops():
    text = sweep.explain()
    assert text.startswith("sweep(u: float64 array of rank 2")
    outer = line_of(text, "for y in un.prange(1, u.shape[0] - 1):")
    assert any(n.startswith("parallel:") for n in outer)
    assert any("written, each element by one iteration: out" in n for n in outer)
    assert any(
        re.match(r"vectorised: \d+ elements at a time", n)
        for n in line_of(text, "for x in range(1, u.shape[1] - 1):")
    )
    inner = line_of(text, "out[y, x] =")
    assert any(n.startswith("hoisted: no test of 3 indices in the loop") for n in inner)


def test_explain_tells_tests_that_stay_and_what_is_inlined():
    notes = line_of(chosen.explain(), "total += weight(u[where[k]])")
    assert "tested: tested at each access: an index is read from an array" in notes
    assert "inlined: weight is part of this code" in notes


def test_explain_tells_why_a_loop_is_not_vectorised():
    text = mixed.explain()
    assert any(
        "array statement: loops of its own, 2 operations in it" in n
        for n in line_of(text, "v = 2.0")
    )
    assert any("memory: makes 1 array" in n for n in line_of(text, "v = 2.0"))
    kept = line_of(text, "for i in range(len(v)):") + line_of(text, "s *= v[i]")
    assert any("not vectorised: products of floats keep their order" in n for n in kept)


def test_terms_of_sums_are_vectorised():
    """Terms in vectors, which are added one by one: the bits are those of the loop."""

    @un.jit
    def roots(u):
        s = 0.0
        for i in range(len(u)):
            s += u[i] ** 3 + u[i] ** 1.7
        return s

    u = np.random.default_rng(0).uniform(0.5, 2, 1003)
    want = 0.0
    for x in np.asarray(un.array(u) ** 3 + un.array(u) ** 1.7):
        want += x
    assert roots(u) == want
    notes = line_of(roots.explain(), "for i in range(len(u)):")
    assert any(n.strip().startswith("vectorised") for n in notes)


class Page(HTMLParser):
    """Checks that tags nest, and collects classes of lines and references to other files."""

    void = {"meta", "link", "br", "img"}

    def __init__(self, text):
        super().__init__()
        self.open, self.classes, self.outside = [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in self.void:
            self.open.append(tag)
        if attrs.get("class", "").startswith("line "):
            self.classes.append(attrs["class"].split()[1])
        self.outside += [attrs[a] for a in ("src", "href") if a in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_annotate_writes_a_page_that_stands_alone(tmp_path):
    path = tmp_path / "page.html"
    text = chosen.annotate(path)
    assert path.read_text(encoding="utf-8") == text
    page = Page(text)
    assert page.outside == []
    # Decorator, def, and the body; then weight's three lines.
    assert len(page.classes) == 6 + 3
    assert page.classes[4] == "tested"
    assert "weight, called by it" in text
    assert "kernel IR" in text and "LLVM IR" in text and "machine code" in text
    assert "vdivsd" in text or "divsd" in text


def test_classes_follow_the_loops():
    classes = Page(sweep.annotate()).classes
    source = ["@", "def", "doc", "prange", "range", "store"]
    found = dict(zip(source, classes, strict=True))
    assert found["doc"] == "none" and found["prange"] == "once"
    assert found["range"] == found["store"] == "vector"
    assert Page(mixed.annotate()).classes[4:6] == ["scalar", "scalar"]


def test_notebooks_show_the_page():
    page = sweep.annotate()
    assert page._repr_html_().startswith("<style>") and "<body>" not in page._repr_html_()
    report = sweep.explain()
    assert repr(report) == str(report)
    assert 'class="unisono"' in report._repr_html_()


def test_source_text_is_escaped():
    @un.jit
    def less(a, b):
        return a < b & 7

    less(1, 2)
    assert "a &lt; b &amp;" in less.annotate()


def test_nothing_compiled_is_said():
    @un.jit
    def unused(x):
        return x

    with pytest.raises(
        ValueError, match="unused: nothing is compiled yet.*call the function first"
    ):
        unused.annotate()


def test_kernels_and_lambdas_have_pages():
    @un.kernel
    def double(a):
        i = un.global_id(0)
        a[i] *= 2

    a = np.ones(5)
    double[5](a)
    assert "a[i] *= 2" in re.sub(r"<[^>]*>", "", double.annotate())
    half = un.jit(lambda x: x / 2)
    assert half(3.0) == 1.5
    assert "page" not in half.explain()[:4] and "<html" in half.annotate()


def test_inspection_shows_code_of_each_specialisation():
    assert "define" in sweep.inspect_llvm() and "unisono_kernel" in sweep.inspect_llvm()
    assert "!dbg" not in sweep.inspect_llvm()
    assert "unisono_kernel:" in sweep.inspect_asm() and "ret" in sweep.inspect_asm()
    assert sweep.inspect_llvm().count("# sweep(") == len(sweep.signatures)


def heavy(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        s += math.sin(a[i]) * math.exp(a[i]) / (a[i] + 1.5) ** 0.3
    b[0] = s
    return s


def test_measured_time_of_lines():
    function = un.jit(heavy)
    a, b = np.linspace(0, 1, 200_000), np.zeros(1)
    page = function.annotate(profile=(a, b))
    assert b[0] == 0.0  # copies
    shares = {
        int(n): float(s) for n, s in re.findall(r'no">(\d+)</span>.*?([\d.]+)% of the time', page)
    }
    first = heavy.__code__.co_firstlineno
    assert shares and max(shares, key=shares.get) in (first + 2, first + 3)
    assert sum(shares.values()) <= 100.5
    assert "of the time" not in function.annotate()
    with pytest.raises(TypeError, match="profile takes a tuple"):
        function.annotate(profile=a)
