"""The CUDA driver of tests: it runs kernels, and refuses what no program may do."""

import ctypes
import os
import subprocess
import sys

import driver_of_tests
import pytest

pytestmark = pytest.mark.skipif(
    driver_of_tests.find() is None, reason="not the CUDA driver of tests"
)
SAFETY_NET = 120

HEAD = """
import ctypes as C
import driver_of_tests

driver = driver_of_tests.find()
L = driver.library
IR = b'''
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@tile = internal addrspace(3) global [256 x i64] undef, align 16
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier0()
define ptx_kernel void @reversed(ptr addrspace(1) %out, i64 %n) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %s = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %t64 = zext i32 %t to i64
  %p = getelementptr [256 x i64], ptr addrspace(3) @tile, i64 0, i64 %t64
  store i64 %t64, ptr addrspace(3) %p
  call void @llvm.nvvm.barrier0()
  %last = sub i32 %s, 1
  %r = sub i32 %last, %t
  %r64 = zext i32 %r to i64
  %q = getelementptr [256 x i64], ptr addrspace(3) @tile, i64 0, i64 %r64
  %v = load i64, ptr addrspace(3) %q
  %m = mul i32 %b, %s
  %g = add i32 %m, %t
  %g64 = zext i32 %g to i64
  %c = icmp ult i64 %g64, %n
  br i1 %c, label %yes, label %no
yes:
  %o = getelementptr i64, ptr addrspace(1) %out, i64 %g64
  store i64 %v, ptr addrspace(1) %o
  br label %no
no:
  ret void
}
define ptx_kernel void @doubled(ptr addrspace(1) %out, i64 %first) {
  %p = getelementptr float, ptr addrspace(1) %out, i64 %first
  %v = load <4 x float>, ptr addrspace(1) %p, align 16
  %s = fadd <4 x float> %v, %v
  store <4 x float> %s, ptr addrspace(1) %p, align 16
  ret void
}
'''
PTX = b".version 7.0\\n.target sm_80"
L.unisonoDriverTakesKernels(PTX, IR)


def made(function, *arguments, type=C.c_void_p):
    value = type()
    assert getattr(L, function)(C.byref(value), *arguments) == 0
    return value


assert L.cuInit(0) == 0
contexts = [made("cuDevicePrimaryCtxRetain", k) for k in range(2)]
L.cuCtxPushCurrent_v2(contexts[0])
module = made("cuModuleLoadDataEx", PTX, 0, None, None)
kernel = made("cuModuleGetFunction", module, b"reversed")
doubled = made("cuModuleGetFunction", module, b"doubled")
one, two = made("cuStreamCreate", 1), made("cuStreamCreate", 1)
memory = made("cuMemAlloc_v2", C.c_size_t(8000), type=C.c_uint64)
pinned = made("cuMemHostAlloc", C.c_size_t(8000), 0)
event = made("cuEventCreate", 2)


def launch(stream=one, n=1000, grid=(4, 1, 1), block=(256, 1, 1), at=memory, kernel=kernel):
    n = C.c_int64(n)
    pointers = [C.cast(C.pointer(v), C.c_void_p) for v in (at, n)]
    return L.cuLaunchKernel(
        kernel, *grid, *block, 0, stream, (C.c_void_p * 2)(*pointers), None
    )


class Node(C.Structure):
    _fields_ = [
        ("function", C.c_void_p), ("grid", C.c_uint * 3), ("block", C.c_uint * 3), ("shared", C.c_uint),
        ("parameters", C.c_void_p), ("extra", C.c_void_p),
    ]


kept = []


def node_of(n=1000, grid=(4, 1, 1), at=memory):
    n = C.c_int64(n)
    pointers = (C.c_void_p * 2)(*[C.cast(C.pointer(v), C.c_void_p) for v in (at, n)])
    kept.extend([n, pointers, at])
    return Node(kernel, grid, (256, 1, 1), 0, C.cast(pointers, C.c_void_p), None)


def graph_of(count):
    graph, nodes = made("cuGraphCreate", 0), []
    for k in range(count):
        before = (C.c_void_p * 1)(nodes[-1]) if nodes else None
        nodes.append(made("cuGraphAddKernelNode", graph, before, C.c_size_t(k > 0), C.byref(node_of())))
    return graph, nodes, made("cuGraphInstantiateWithFlags", graph, C.c_ulonglong(0))


def copy_out(stream=one, to=pinned, bytes=8000, begin=0):
    return L.cuMemcpyDtoHAsync_v2(
        to, C.c_uint64(memory.value + begin), C.c_size_t(bytes), stream
    )
"""


def run(program):
    tests = os.path.dirname(driver_of_tests.__file__)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {tests!r})\n" + HEAD + program],
        env={**os.environ, "UNISONO_TEST_CUDA_DEVICES": "2"},
        capture_output=True,
        text=True,
        timeout=SAFETY_NET,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_kernels_run_in_the_order_of_streams():
    program = """
assert launch() == 0 and copy_out() == 0 and L.cuEventRecord(event, one) == 0
assert L.cuStreamWaitEvent(two, event, 0) == 0 and launch(two) == 0
assert L.cuStreamSynchronize(two) == 0 and L.cuCtxSynchronize() == 0
found = list((C.c_int64 * 1000).from_address(pinned.value))
assert found == (list(range(255, -1, -1)) * 4)[:1000]
print(driver.count("launches"), driver.count("violations"))
"""
    assert run(program) == "2 0"


def test_graphs_run_their_nodes_in_order_and_are_updated():
    program = """
graph, nodes, exec = graph_of(3)
other = made("cuMemAlloc_v2", C.c_size_t(8000), type=C.c_uint64)
assert L.cuGraphExecKernelNodeSetParams(exec, nodes[2], C.byref(node_of(n=10, at=other))) == 0
assert L.cuGraphLaunch(exec, one) == 0 and copy_out() == 0 and L.cuStreamSynchronize(one) == 0
assert list((C.c_int64 * 1000).from_address(pinned.value)) == (list(range(255, -1, -1)) * 4)[:1000]
assert list((C.c_int64 * 10).from_address(other.value)) == list(range(255, 245, -1))
print(driver.count("launches"), driver.count("graphs"), driver.count("violations"))
assert L.cuGraphExecDestroy(exec) == 0 and L.cuGraphDestroy(graph) == 0
print(driver.count("graphs"))
"""
    assert run(program) == "3 2 0\n0"


REFUSED = {
    "a graph's kernel beyond its end": (
        "g, n, e = graph_of(2); L.cuGraphExecKernelNodeSetParams(e, n[1], C.byref(node_of(n=1001)));"
        "L.cuGraphLaunch(e, one); L.cuCtxSynchronize()",
        "wrote above its last byte",
    ),
    "a graph of memory that is freed": (
        "g, n, e = graph_of(2); L.cuMemFreeAsync(memory, one); L.cuGraphLaunch(e, one)",
        "points to no memory",
    ),
    "a graph of a module that is unloaded": (
        "g, n, e = graph_of(2); L.cuModuleUnload(module); L.cuGraphLaunch(e, one)",
        "a module that is unloaded",
    ),
    "a graph beside another stream": (
        "g, n, e = graph_of(2); launch(two); L.cuGraphLaunch(e, one)",
        "is not ordered with reversed",
    ),
    "a graph that is destroyed in use": (
        "g, n, e = graph_of(200); L.cuGraphLaunch(e, one); L.cuGraphExecDestroy(e)",
        "a launch of the graph runs",
    ),
    "a node of another graph": (
        "g, n, e = graph_of(1); h, m, f = graph_of(1);"
        "L.cuGraphExecKernelNodeSetParams(e, m[0], C.byref(node_of()))",
        "not of the graph",
    ),
    "a node of too many blocks": (
        "g, n, e = graph_of(1); L.cuGraphExecKernelNodeSetParams(e, n[0], C.byref(node_of(grid=(1, 65536, 1))))",
        "too many blocks",
    ),
    "unordered streams": ("launch(); copy_out(two)", "is not ordered with reversed"),
    "a waiting stream too late": (
        "L.cuEventRecord(event, one); L.cuStreamWaitEvent(two, event, 0); launch(); launch(two)",
        "is not ordered with reversed",
    ),
    "freed in use": (
        "launch(); L.cuMemFreeAsync(memory, two)",
        "the end of memory on stream",
    ),
    "used behind its end": ("L.cuMemFreeAsync(memory, one); launch()", "points to no memory"),
    "freed twice": ("L.cuMemFree_v2(memory); L.cuMemFree_v2(memory)", "not allocated"),
    "a vector that is not aligned": (
        "launch(n=4, grid=(1, 1, 1), block=(1, 1, 1), kernel=doubled); L.cuCtxSynchronize();"
        "assert driver.count('violations') == 0;"
        "launch(n=6, grid=(1, 1, 1), block=(1, 1, 1), kernel=doubled); L.cuCtxSynchronize()",
        "doubled accesses 16 bytes at once at an address that is 8 beyond a multiple",
    ),
    "beyond its end": ("launch(n=1001); L.cuCtxSynchronize()", "wrote above its last byte"),
    "a copy beyond its end": ("copy_out(bytes=8001)", "the target is not pinned"),
    "host memory that is not pinned": (
        "copy_out(to=C.create_string_buffer(8000))",
        "the target is not pinned",
    ),
    "a grid of too many rows": ("launch(grid=(1, 65536, 1))", "too many blocks"),
    "a block of too many threads": ("launch(block=(1024, 2, 1))", "too many threads"),
    "an empty grid": ("launch(grid=(0, 1, 1))", "a size is 0"),
    "no context": ("L.cuCtxPopCurrent_v2(None); launch()", "no context is current"),
    "another device's context": (
        "L.cuCtxPushCurrent_v2(contexts[1]); launch()",
        "do not belong together",
    ),
    "another device's memory": (
        "L.cuCtxPushCurrent_v2(contexts[1]);"
        "other = made('cuMemAlloc_v2', C.c_size_t(8000), type=C.c_uint64);"
        "L.cuCtxPopCurrent_v2(None); launch(at=other)",
        "memory of another device",
    ),
    "a module that is unloaded in use": (
        "[launch() for _ in range(200)]; L.cuModuleUnload(module)",
        "a kernel of the module runs",
    ),
    "an event that was never recorded": (
        "L.cuStreamWaitEvent(one, event, 0)",
        "was never recorded",
    ),
    "PTX that nobody made": (
        "L.cuModuleLoadDataEx(C.byref(C.c_void_p()), PTX + b' ', 0, None, None)",
        "whose IR nobody gave",
    ),
    "ranges that overlap": (
        "L.cuMemcpyDtoDAsync_v2(C.c_uint64(memory.value + 8), memory, C.c_size_t(100), one)",
        "the ranges overlap",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_program_may_do_is_refused(name):
    program, message = REFUSED[name]
    text = run(program + "\nprint(driver.count('violations'), driver.last_violation())")
    assert text.startswith("1 ") and message in text


def test_the_driver_is_found():
    assert isinstance(driver_of_tests.find().library, ctypes.CDLL)
