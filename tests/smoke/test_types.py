"""Type checkers see the whole namespace: signatures agree with the functions, and mypy knows a program's types."""

import ast
import importlib
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest
import unisono as un

HOME = Path(__file__).resolve().parents[2] / "python/unisono"
SPACES = {
    "__init__": "unisono",
    "lib/stride_tricks": "unisono.lib.stride_tricks",
    **{f"{n}/__init__": f"unisono.{n}" for n in "linalg fft random testing".split()},
    **{n: f"unisono.{n}" for n in "memory emath".split()},
}


def stub(space):
    """Top-level definitions of a stub by name."""
    found = {}
    for node in ast.parse((HOME / f"{space}.pyi").read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, ast.AnnAssign):
            found[node.target.id] = node
        elif isinstance(node, ast.Assign):
            found[node.targets[0].id] = node
        elif isinstance(node, ast.ImportFrom):
            found |= {a.asname: node for a in node.names if a.asname}
    return found


@pytest.mark.parametrize("space", SPACES)
def test_every_public_name_has_a_type(space):
    module = importlib.import_module(SPACES[space])
    public = {n for n in dir(module) if not n.startswith("_")}
    if space != "__init__":
        public = {n for n in public if not inspect.ismodule(getattr(module, n))}
    assert public - set(stub(space)) == set()
    assert {n for n in stub(space) if not n.startswith("_")} - public == set()


def arguments(node):
    """Kind, name and whether there is a default, of the parameters of a stub's function."""
    a = node.args
    positional = a.posonlyargs + a.args
    optional = len(positional) - len(a.defaults)
    made = [
        ("positional only" if k < len(a.posonlyargs) else "any", p.arg, k >= optional)
        for k, p in enumerate(positional)
    ]
    made += [("*", a.vararg.arg, False)] if a.vararg else []
    made += [
        ("keyword only", p.arg, d is not None)
        for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)
    ]
    return made + ([("**", a.kwarg.arg, False)] if a.kwarg else [])


def parameters(function):
    """The same of a function."""
    kinds = {0: "positional only", 1: "any", 2: "*", 3: "keyword only", 4: "**"}
    return [
        (kinds[p.kind.value], p.name, p.default is not p.empty)
        for p in inspect.signature(function).parameters.values()
        if p.name != "_more"  # there for a message: nobody may give it
    ]


@pytest.mark.parametrize("space", SPACES)
def test_signatures_agree(space):
    module = importlib.import_module(SPACES[space])
    tried = 0
    for name, node in stub(space).items():
        if isinstance(node, ast.FunctionDef):
            assert arguments(node) == parameters(getattr(module, name)), name
            tried += 1
    assert tried > {"__init__": 250, "random/__init__": 40}.get(space, 1)


def test_signatures_of_the_arrays_methods_agree():
    (node,) = [
        n
        for n in ast.parse((HOME / "_engine.pyi").read_text()).body
        if getattr(n, "name", "") == "ndarray"
    ]
    tried = 0
    for method in node.body:
        if (
            isinstance(method, ast.FunctionDef)
            and not method.name.startswith("__")
            and not method.decorator_list
        ):
            found = parameters(getattr(un.ndarray, method.name))
            assert [a[1:] for a in arguments(method)] == [p[1:] for p in found], method.name
            tried += 1
    assert tried > 40


@pytest.mark.parametrize(
    "function", [un.add, un.sin, un.matmul, un.where, un.eval, un.ndarray.to_device]
)
def test_what_the_extension_defines_can_be_inspected(function):
    assert inspect.signature(function).parameters


def test_elementwise_functions_have_numpys_signature():
    assert str(inspect.signature(un.add)) == (
        "(x1, x2, /, out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True, signature=None)"
    )
    assert "out=(None, None)" in str(inspect.signature(un.modf))


PROGRAM = """
import unisono as un

x = un.linspace(0, 1, 5)
reveal_type(x)
reveal_type(x.shape)
reveal_type(x + 1)
reveal_type(x > 0)
reveal_type(un.sin(x) * x.sum(axis=0))
reveal_type(x[1:, None].T)
reveal_type(un.allclose(x, x))
reveal_type(un.linalg.norm(x))
reveal_type(un.random.default_rng(0))
reveal_type(un.meshgrid(x, x))
reveal_type(un.stats()["flushes"])
reveal_type(un.float32)
un.zeros((2, 3), dtype=un.int8, device="cpu")
un.concatenate([x, [1.0, 2.0]], axis=0)
with un.printoptions(precision=3), un.eager():
    print(x)
"""
WRONG = """
import unisono as un
un.zeros("three")
un.linspace(0)
un.ones(3).sum(axes=1)
un.no_such_name
un.array2string([1], separator=2)
x = un.ones(3)
x.shape = 3
"""


def checked(text, folder):
    """mypy's lines on a program."""
    pytest.importorskip("mypy")
    (folder / "program.py").write_text(text)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--cache-dir",
            str(folder / "cache"),
            "program.py",
        ],
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(HOME.parent)},
        capture_output=True,
        text=True,
    )
    return [line for line in done.stdout.splitlines() if line.startswith("program.py")], done


@pytest.mark.slow
def test_mypy_knows_the_types_of_a_program(tmp_path):
    lines, done = checked(PROGRAM, tmp_path)
    assert "error" not in done.stdout, done.stdout
    shown = [
        line.split('"')[1].replace("builtins.", "").replace("unisono._engine.", "")
        for line in lines
    ]
    assert shown == [
        "ndarray", "tuple[int, ...]", "ndarray", "ndarray", "ndarray", "ndarray", "bool", "ndarray",
        "unisono.random.Generator", "tuple[ndarray, ...]", "int", "unisono.dtype",
    ], shown  # fmt: skip


DECORATORS = """
import unisono as un

@un.stencil
def near(a: un.ndarray) -> un.ndarray:
    return a[-1] + a[1]

@un.stencil(neighborhood=((-1, 1),))
def around(a: un.ndarray) -> un.ndarray:
    return a[-1] + a[1]

@un.vectorize
def plain(a: float) -> float:
    return a + 1

@un.vectorize(["float64(float64)"])
def typed(a: float) -> float:
    return a + 1

@un.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
def copied(a: un.ndarray, out: un.ndarray) -> None:
    out[:] = a

x = un.linspace(0, 1, 5)
reveal_type(near(x))
reveal_type(around(x))
reveal_type(un.where(x > 0))
reveal_type(un.where(x > 0, x, 0.0))
print(plain(x), typed(x), copied(x))
"""


@pytest.mark.slow
def test_mypy_takes_decorators_with_and_without_arguments(tmp_path):
    lines, done = checked(DECORATORS, tmp_path)
    assert "error" not in done.stdout, done.stdout
    shown = [line.split('"')[1].replace("unisono._engine.", "") for line in lines]
    assert shown == ["ndarray", "ndarray", "tuple[ndarray, ...]", "ndarray"]


OPENCL = """
import numpy as np
import unisono.opencl as cl
import unisono.opencl.array
from unisono.opencl import clmath
from unisono.opencl.elementwise import ElementwiseKernel
from unisono.opencl.tools import ImmediateAllocator, MemoryPool

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
names: list[str] = [device.name for device in context.devices]
program = cl.Program(context, "kernel void f(global float *x) {}").build(["-cl-std=CL1.2"])
kernel: cl.Kernel = program.f
buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 16)
event = kernel(queue, (4,), None, buffer)
event.wait()
x = cl.array.to_device(queue, np.arange(4.0), allocator=MemoryPool(ImmediateAllocator(queue)))
y = clmath.sin(2 * x + 1)[1:]
ElementwiseKernel(context, "float *x", "x[i] *= 2")(x)
try:
    queue.finish()
except cl.RuntimeError as error:
    code: int = error.code
reveal_type(y)
reveal_type(y.get())
reveal_type(context.devices[0].max_work_group_size)
reveal_type(cl.enqueue_copy(queue, np.zeros(4, np.float32), buffer, wait_for=[event]))
queue.no_such_name()
cl.CommandQueue("context")
kernel("queue", (4,), None, buffer)
buffer.size = 3
"""


@pytest.mark.slow
def test_mypy_knows_the_types_of_a_program_of_opencl(tmp_path):
    lines, done = checked(OPENCL, tmp_path)
    wrong = [int(line.split(":")[1]) for line in lines if ": error:" in line]
    assert wrong == [28, 29, 30, 31], done.stdout
    shown = [line.split('"')[1] for line in lines if ": note: Revealed" in line]
    assert shown == [
        "unisono.opencl.array.Array", "numpy.ndarray[Any, Any]", "int", "unisono.opencl.Event"
    ], shown  # fmt: skip


@pytest.mark.slow
def test_mypy_finds_wrong_calls(tmp_path):
    lines, done = checked(WRONG, tmp_path)
    wrong = {int(line.split(":")[1]) for line in lines if ": error:" in line}
    assert wrong == {3, 4, 5, 6, 7, 9}, done.stdout


DECORATED = """
import unisono as un

@un.jit
def scaled(x: un.ArrayLike, n: int = 3) -> float:
    return 1.0

@un.njit(fastmath=True)
def norm(x: un.ndarray) -> float:
    return 1.0

@un.jit("float64(float64)")
def half(x: float) -> float:
    return x / 2

@un.kernel
def double(a: un.ndarray, b: un.ndarray) -> None:
    b[un.global_id(0)] = 2 * a[un.global_id(0)]

class Shape:
    @un.jit
    def area(self, x: float) -> float:
        return x

@un.jitclass([("x", un.float64)])
class Point:
    def __init__(self, x: float) -> None:
        self.x = x

x = un.ones(3)
reveal_type(scaled([1.0], n=2))
reveal_type(scaled.py_func(x))
reveal_type(norm(x))
reveal_type(half(1.0))
reveal_type(double[3](x, x))
reveal_type(Shape().area(1.0))
reveal_type(Point(1.0).x)
reveal_type(un.sin(x))
reveal_type(un.add(x, 1, out=x))
reveal_type(un.modf(x))
reveal_type(un.divmod(x, 2))
reveal_type(un.unique(x))
reveal_type(un.unique(x, return_counts=True))
reveal_type(un.unique_counts(x).counts)
reveal_type(un.histogram(x))
reveal_type(un.histogramdd([x, x]))
reveal_type(un.linalg.svd(x).U)
reveal_type(un.linalg.svd(x, compute_uv=False))
reveal_type(un.linalg.qr(x).Q)
reveal_type(un.linalg.qr(x, "r"))
"""
REVEALED = [
    *"float float float float None float float ndarray ndarray".split(),
    "tuple[ndarray, ndarray]", "tuple[ndarray, ndarray]", "ndarray", "tuple[ndarray, ...]", "ndarray",
    "tuple[ndarray, ndarray]", "tuple[ndarray, list[ndarray]]", *["ndarray"] * 4,
]  # fmt: skip
WRONGLY_CALLED = """
scaled("a", "b")
scaled(3, m=1)
norm()
double[3](x)
half("x")
Shape().area("x")
"""


@pytest.mark.slow
def test_decorators_keep_signatures_and_functions_have_exact_results(tmp_path):
    lines, done = checked(DECORATED, tmp_path)
    assert "error" not in done.stdout, done.stdout
    shown = [
        line.split('"')[1].replace("builtins.", "").replace("unisono._engine.", "")
        for line in lines
    ]
    assert shown == REVEALED, shown


@pytest.mark.slow
def test_wrong_calls_of_decorated_functions_are_found(tmp_path):
    lines, done = checked(DECORATED + WRONGLY_CALLED, tmp_path)
    first = DECORATED.count("\n") + 2
    wrong = {int(line.split(":")[1]) - first for line in lines if ": error:" in line}
    assert wrong == set(range(6)), done.stdout


def test_annotations_by_the_name_of_array_like_values_work():
    @un.jit
    def total(x: un.ArrayLike) -> float:
        s = 0.0
        for v in x:
            s += v
        return s

    assert total(un.ones(3)) == 3.0
