"""Packages of compiled functions: built here, imported and run in a process of its own."""

import os
import pickle
import subprocess
import sys
import zlib

import pytest
import unisono as un

FILE = '''
import math
import numpy as np
import unisono as un

scale = 3.0

@un.jit
def inner(x):
    return scale * x

@un.jit("float64(float64[:])")
def total(values):
    """Scaled values, summed."""
    s = 0.0
    for i in un.prange(len(values)):
        s += inner(values[i])
    return s

@un.jit(["int64(int64)", "float64(float64)"])
def twice(x):
    return 2 * x

@un.jit("int64(int64)")
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

@un.jit("float64(float64, float64)")
def power(x, k=2.0):
    return math.pow(x, k)

@un.jit("void(float64[:, :], int64[:])")
def gather(a, where):
    for i in range(where.shape[0]):
        a[i, 0] = a[where[i], 1]
'''

USE = """
import numpy as np, made
from made import total, twice, fibonacci
assert total(np.arange(5.0)) == 30.0
assert twice(4) == 8 and twice(1.5) == 3.0 and fibonacci(20) == 6765
assert made.power(3.0) == 9.0 and made.power(2.0, k=3.0) == 8.0
a = np.arange(6.0).reshape(3, 2)
made.gather(a, np.array([2, 1, 0]))
assert a[:, 0].tolist() == [5.0, 3.0, 1.0]
try:
    made.gather(a, np.array([7]))
    raise SystemExit("no IndexError")
except IndexError as error:
    assert "index 7 is out of bounds" in str(error)
try:
    total([[1.0]])
    raise SystemExit("no TypeError")
except (TypeError, made_error) as error:
    print(error)
assert total.__doc__ == "Scaled values, summed."
assert sorted(made.__all__) == ["fibonacci", "gather", "power", "total", "twice"]
maps = open("/proc/self/maps").read()
assert "libunisono_llvm" not in maps and "libLLVM" not in maps
print("fine")
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ahead")
    (folder / "kernels.py").write_text(FILE)
    command = [sys.executable, "-m", "unisono", "build", str(folder / "kernels.py"), "-n", "made"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(folder / "made")
    return folder


def run(folder, text, tmp_path):
    environment = {**os.environ, "UNISONO_CACHE_DIR": str(tmp_path / "empty")}
    environment["PYTHONPATH"] = f"{folder}:{environment.get('PYTHONPATH', '')}"
    return subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, env=environment
    )


def test_runs_without_a_compiler(package, tmp_path):
    text = USE.replace("made_error", "__import__('unisono').CompileError")
    done = run(package, text, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("fine\n")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"build": "another"}, "built with another unisono than this one"),
        ({"features": ["sse3", "avx9000"]}, "a processor that has avx9000, which this one lacks"),
    ],
)
def test_elsewhere(package, tmp_path, change, message):
    store = pickle.loads(zlib.decompress((package / "made" / "code.bin").read_bytes()))
    other = tmp_path / "made"
    other.mkdir()
    (other / "__init__.py").write_text((package / "made" / "__init__.py").read_text())
    (other / "code.bin").write_bytes(zlib.compress(pickle.dumps(store | change)))
    done = run(tmp_path, "import made", tmp_path)
    assert done.returncode == 1 and "ImportError: made: " in done.stderr
    assert message in done.stderr


def test_refused(tmp_path):
    @un.jit
    def f(x):
        return x

    with pytest.raises(TypeError, match="'f' has no signatures"):
        un.compile_module("m", [f], tmp_path)
    with pytest.raises(TypeError, match="'len' is not made by un.jit"):
        un.compile_module("m", [len], tmp_path)
    with pytest.raises(ValueError, match="must be an identifier"):
        un.compile_module("a-b", [f], tmp_path)
    with pytest.raises(ValueError, match="has no functions"):
        un.compile_module("m", {}, tmp_path)

    @un.jit("int64(int64)")
    def talks(x):
        if x > 0:
            with un.python():
                print(x)
        return x

    with pytest.raises(TypeError, match=r"'talks' runs a block of un.python\(\)"):
        un.compile_module("m", [talks], tmp_path)


def test_doc_string_and_constants(tmp_path):
    (tmp_path / "constants.py").write_text(
        '"""Of \\"\\"\\"gravity\\"\\"\\"."""\n'
        "import unisono as un\n"
        "G, NAMES, EMPTY, _hidden = 9.81, ('é', 1, (True, b'x')), (), 3\n"
        "ENDLESS, TABLE = float('inf'), [1]\n"
        '@un.jit("float64(float64)")\n'
        "def weight(m):\n"
        "    return m * G\n"
    )
    command = [sys.executable, "-m", "unisono", "build", str(tmp_path / "constants.py")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    code = (
        "import constants_compiled as c; assert c.weight(2) == 2 * c.G; "
        "print(ascii((c.__doc__, c.NAMES, c.EMPTY, c.__all__, hasattr(c, '_hidden'), hasattr(c, 'TABLE'))))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert shown.stdout.strip() == ascii(
        (
            'Of """gravity""".',
            ("é", 1, (True, b"x")),
            (),
            ["weight"],
            False,
            False,
        )
    ), shown.stderr


def test_build_says_what_it_leaves_out(tmp_path):
    (tmp_path / "several.py").write_text(
        "import unisono as un\n"
        '@un.jit("float64(float64)")\ndef half(x):\n    return x / 2\n'
        "@un.jit\ndef helper(x):\n    return x\n"
        "@un.vectorize\ndef more(x):\n    return x + 1\n"
        "@un.jitclass\nclass Box:\n    x: float\n    def __init__(self):\n        self.x = 1.0\n"
    )
    command = [sys.executable, "-m", "unisono", "build", str(tmp_path / "several.py")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0
    assert [line.split(": ")[1:3] for line in done.stderr.splitlines()] == [
        ["left out helper", "it has no signatures; write @un.jit(signature)"],
        ["left out more", "it has no signatures; write @un.vectorize([signature])"],
        ["left out Box", "it is made by un.jitclass; call it from a function that un.jit made with a signature"],
    ]  # fmt: skip


VECTORIZED = """
import unisono as un
@un.jit
def step(x):
    return x * 2 if x > 0 else -x
@un.vectorize(["int64(int64, int64)", "float64(float64, float64)"], identity=0)
def together(a, b):
    'Both.'
    return step(a) + b
@un.jit("float64(float64[:])")
def total(a):
    return together(a[0], 1.0) + together(a[1], 2.0)
"""


def test_vectorized_functions(tmp_path):
    (tmp_path / "elements.py").write_text(VECTORIZED)
    command = [sys.executable, "-m", "unisono", "build", str(tmp_path / "elements.py")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    code = """
import numpy as np
import unisono as un
from elements_compiled import together, total
a = np.array([[1.0, -2.0, 3.0]])
assert together(a, [[1], [2]]).tolist() == [[3.0, 3.0, 7.0], [4.0, 4.0, 8.0]]
assert together(3, 4) == 10 and together(3, 4).dtype == "int64"
assert together(un.arange(3), 1).tolist() == [1, 3, 5]
out = np.zeros((1, 3))
assert together(a, 0.0, out=out) is out and out.tolist() == [[2.0, 2.0, 6.0]]
assert together.types == ["ll->l", "dd->d"] and together.__doc__ == "Both."
try:
    together(1j, 2)
    raise SystemExit("no TypeError")
except TypeError as error:
    assert "no signature takes the operands" in str(error)
assert total(np.array([1.0, -1.0])) == 6.0
maps = open("/proc/self/maps").read()
assert "libunisono_llvm" not in maps and "libLLVM" not in maps
print(together.reduce([1.0, 2.0, 3.0]))
"""
    done = run(tmp_path, code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "11.0"


GENERALIZED = """
import unisono as un
@un.jit
def step(x):
    return x * 2 if x > 0 else -x
@un.guvectorize(["void(int64[:], int64, int64[:])", "void(float64[:], float64, float64[:])"], "(n),()->(n)")
def stepped(x, k, out):
    'Each.'
    for i in range(len(x)):
        out[i] = step(x[i]) + k
@un.guvectorize(["void(float64[:,:], float64[:], float64[:])"], "(m,n),(n)->()")
def form(a, x, out):
    out[0] = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[0] += a[i, j] * x[j]
@un.guvectorize("(n)->()")
def later(x, out):
    out[0] = x[0]
@un.jit("float64(float64[:], float64[:])")
def both(x, out):
    stepped(x, 1.0, out)
    return out[0]
"""


def test_generalized_functions(tmp_path):
    (tmp_path / "items.py").write_text(GENERALIZED)
    command = [sys.executable, "-m", "unisono", "build", str(tmp_path / "items.py")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "left out later: it has no signatures;" in done.stderr
    code = """
import numpy as np
import unisono as un
from items_compiled import both, form, stepped
x = np.array([[1.0, -2.0, 3.0], [0.5, 0.0, -1.0]])
assert stepped(x, [[1.0], [2.0]])[0].tolist() == [[3.0, 3.0, 7.0], [2.0, 1.0, 2.0]]
assert stepped(np.array([1, -1]), 5).tolist() == [7, 6] and stepped(np.array([1]), 5).dtype == "int64"
out = np.zeros(3)
assert stepped(x[0, ::-1], 0.0, out=out) is out and out.tolist() == [6.0, 2.0, 2.0]
assert stepped(x.T, 0.0, axes=[(0,), (), (0,)]).shape == (3, 2)
a = np.arange(12.0).reshape(2, 2, 3)
assert form(a, np.ones(3)).tolist() == [15.0, 51.0] and form(a[0], [1.0, 0.0, 0.0]) == 3.0
assert stepped.signature == "(n),()->(n)" and stepped.__doc__ == "Each." and form.types == ["dd->d"]
try:
    stepped(np.array([1j]), 2)
    raise SystemExit("no TypeError")
except TypeError as error:
    assert "no signature takes the operands" in str(error)
assert both(x[0], out) == 3.0
maps = open("/proc/self/maps").read()
assert "libunisono_llvm" not in maps and "libLLVM" not in maps
"""
    done = run(tmp_path, code, tmp_path)
    assert done.returncode == 0, done.stderr


COMPLEX = """
import math
import numpy as np
import unisono as un
@un.vectorize(["float64(float64, float64)", "complex128(complex128, complex128)"])
def product(x, y):
    return x * y + 1
@un.guvectorize(["void(complex64[:], complex64, complex64[:])"], "(n),()->(n)")
def scaled(x, k, out):
    for i in range(len(x)):
        out[i] = x[i] * k
@un.jit("complex128(complex128)")
def square(z):
    return z * z
@un.jit("float64(int64)")
def drawn(n):
    np.random.seed(n)
    return np.random.gamma(2.0, 1.0) + np.random.poisson(3.0) + math.erf(0.5)
"""


def test_complex_numbers_and_functions_inside_of_functions(tmp_path):
    (tmp_path / "waves.py").write_text(COMPLEX)
    command = [sys.executable, "-m", "unisono", "build", str(tmp_path / "waves.py")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and "left out" not in done.stderr, done.stderr
    code = """
import math
import numpy as np
from waves_compiled import drawn, product, scaled, square
z = np.array([1j, 2.0])
assert product(z, 2).tolist() == [1 + 2j, 5.0] and product(np.ones(2), 2.0).dtype == "float64"
w, k = z.astype("complex64"), np.complex64(2j)
assert scaled(w, k).tolist() == [-2.0, 4j] and scaled(w, k).dtype == "complex64"
assert square(1 + 2j) == -3 + 4j
np.random.seed(3)
assert math.isclose(drawn(3), np.random.gamma(2.0, 1.0) + np.random.poisson(3.0) + math.erf(0.5))
"""
    done = run(tmp_path, code, tmp_path)
    assert done.returncode == 0, done.stderr
