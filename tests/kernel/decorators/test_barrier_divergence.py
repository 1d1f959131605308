"""Barriers that some work-items of a group miss are errors in the interpreter, and on the CPU where that is asked for."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import unisono as un
from unisono import cuda

N = 37


@cuda.jit
def behind_return(x, y):
    i = cuda.grid(1)
    if i >= x.size:
        return
    y[i] = x[i]
    cuda.syncthreads()  # behind a return
    y[i] += 1


@un.kernel
def in_branch(x):
    i = un.local_id(0)
    if x[i] > 2:
        x[i] = 0
        un.barrier()  # in a branch
    x[i] += 1


@un.kernel
def in_both(x):
    i = un.local_id(0)
    if i < 3:
        x[un.global_id(0)] = 1
        un.barrier()  # in one branch
    else:
        x[un.global_id(0)] = 2
        un.barrier()  # in the other


@un.kernel
def nested(x):
    j, i = un.global_id(0), un.local_id(1)
    if i > 0:
        if i < 3:
            x[j, i] = i
            un.barrier()  # in a nested branch


@un.kernel
def in_loop(x, n):
    i = un.local_id(0)
    for k in range(n):
        if x[i] >= k:
            x[i] += 1
            un.barrier()  # in a branch of a loop


@un.kernel
def uniform(x, flag, n):
    tile = un.local_array(8, un.float64)
    i = un.local_id(0)
    tile[i] = x[un.global_id(0)]
    if flag[0] > 0:  # of an element, which is the same for all
        un.barrier()
        for _ in range(n):
            x[un.global_id(0)] += tile[7 - i]
            un.barrier()
    if flag[1] > 0:
        un.barrier()
    else:
        x[un.global_id(0)] += 100
        un.barrier()


@un.kernel
def left_by_all(x, n):
    i = un.local_id(0)
    for k in range(4):
        if k == n:
            return
        if i < 8:
            x[i] += 1
            un.barrier()


C = r"""
extern "C" __global__ void reduced(const int *x, int *sums, int n) {
    __shared__ int part[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    part[threadIdx.x] = x[i];
    __syncthreads();
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}
extern "C" __global__ void turns(int *x) {
    for (int k = 0; k < threadIdx.x; ++k) {
        x[threadIdx.x] += k;
        __syncthreads();
    }
}
extern "C" __global__ void warps(int *x) {
    int v = x[threadIdx.x];
    if (threadIdx.x < 16) v += __shfl_down_sync(0xffff, v, 1, 16);
    if (threadIdx.x < 16) __syncwarp();
    x[threadIdx.x] = v;
}"""
CL = r"""
__kernel void half_of(__global int *x) {
    if (get_local_id(0) % 2 == 0) {
        x[get_global_id(0)] = 7;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}"""


def line_of(function, comment):
    code = function.py_func.__code__
    with open(code.co_filename) as f:
        lines = f.read().splitlines()
    return next(k for k, text in enumerate(lines, 1) if text.endswith("# " + comment))


def missed(name, line, reached, ended, elsewhere):
    return (
        f"{name}: the barrier in line {line} is not reached by all work-items of the group; got {reached} that reach "
        f"it, {ended} that have ended and {elsewhere} that are elsewhere; expected all {reached + ended + elsewhere}, or "
        "none; move it out of the condition or in front of the return, and let the condition guard the rest alone"
    )


def refused(launch, *arguments):
    with pytest.raises(RuntimeError) as raised:
        launch(*arguments)
        un.synchronize()
    return str(raised.value)


def cpu(kernel):
    return un.kernel(kernel.py_func, boundscheck=True)


@pytest.fixture(params=["interp", "cpu"])
def checking(request):
    """A kernel that checks its barriers, and the device of its arrays."""
    if request.param == "interp":
        return (lambda kernel: kernel), "interp"
    return cpu, "cpu"


def test_behind_a_return():
    x, y = un.zeros(N, device="interp"), un.zeros(N, device="interp")
    line = line_of(behind_return, "behind a return")
    assert refused(behind_return[3, 16], x, y) == missed("behind_return", line, 5, 11, 0)
    checked = cuda.jit(behind_return.py_func, boundscheck=True)
    with un.device("cpu"):  # where kernels on arrays of the host run
        message = refused(checked[3, 16], un.zeros(N), un.zeros(N))
        assert message == missed("behind_return", line, 5, 11, 0)
        y = un.zeros(N)
        behind_return[3, 16](un.ones(N), y)  # without the check
        assert y.tolist() == [2] * N


def test_in_a_branch(checking):
    of, device = checking
    x = un.array(np.arange(8.0), device=device)
    line = line_of(in_branch, "in a branch")
    assert refused(of(in_branch)[8, 8], x) == missed("in_branch", line, 5, 0, 3)
    for same in (np.zeros(8), np.full(8, 3.0)):  # none, and all
        x = un.array(same, device=device)
        of(in_branch)[8, 8](x)
        assert x.tolist() == [1] * 8


def test_in_both_branches(checking):
    of, device = checking
    line = line_of(in_both, "in one branch")
    x = un.zeros(8, device=device)
    assert refused(of(in_both)[8, 8], x) == missed("in_both", line, 3, 0, 5)
    of(in_both)[8, 2](x)  # each group goes one way
    assert x.tolist() == [1] * 8


def test_in_a_nested_branch(checking):
    of, device = checking
    line = line_of(nested, "in a nested branch")
    x = un.zeros((2, 4), device=device)
    assert refused(of(nested)[(2, 4), (2, 4)], x) == missed("nested", line, 4, 4, 0)
    x = un.zeros((2, 1), device=device)
    of(nested)[(2, 1), (1, 1)](x)  # groups of one work-item, which does not reach it
    assert x.tolist() == [[0], [0]]


def test_in_a_branch_of_a_loop(checking):
    of, device = checking
    line = line_of(in_loop, "in a branch of a loop")
    x = un.array(np.array([0.0, 1, 1]), device=device)
    of(in_loop)[3, 3](x, 1)
    x = un.array(np.array([0.0, -1, 1]), device=device)
    assert refused(of(in_loop)[3, 3], x, 2) == missed("in_loop", line, 2, 0, 1)


def test_where_all_go_the_same_way(checking):
    of, device = checking
    for flags in ([1, 0], [0, 1]):
        x = un.array(np.arange(16.0), device=device)
        of(uniform)[16, 8](x, un.array(flags, device=device), 2)
        expected = np.arange(16.0).reshape(2, 8)
        expected = expected + 2 * expected[:, ::-1] + 100 if flags[0] else expected
        assert x.tolist() == expected.ravel().tolist()


def test_a_return_of_all_in_a_loop(checking):
    of, device = checking
    x = un.zeros(8, device=device)
    of(left_by_all)[8, 8](x, 2)
    assert x.tolist() == [2] * 8


def test_in_text():
    kernel = un.RawModule(code=C).get_function("reduced")
    x = un.zeros(N, "i4", device="interp")
    message = refused(kernel, (3,), (16,), (x, un.zeros(3, "i4", device="interp"), N))
    assert message == missed("reduced", 7, 5, 11, 0)
    half_of = un.RawKernel(CL, "half_of")
    message = refused(half_of, (2,), (4,), (un.zeros(8, "i4", device="interp"),))
    assert message == missed("half_of", 5, 2, 2, 0)
    warps = un.RawModule(code=C).get_function("warps")
    x = un.ones(32, "i4", device="interp")
    warps((1,), (32,), (x,))
    assert x.tolist() == [2] * 16 + [1] * 16


@pytest.mark.parametrize("place", ["interp", "cpu"])
def test_loops_with_other_numbers_of_turns_are_refused_everywhere(place):
    kernel = un.RawModule(code=C).get_function("turns")
    with pytest.raises(un.CompileError) as raised:
        kernel((1,), (4,), (un.zeros(4, "i4", device=place),))
    assert "turns: a barrier that not every work-item of the group may reach" in str(raised.value)
    assert "this condition may differ between work-items" in str(raised.value)


def test_by_the_setting(tmp_path):
    program = textwrap.dedent(
        f"""
        import unisono as un
        kernel = un.RawModule(code={C!r}).get_function("reduced")
        try:
            kernel((3,), (16,), (un.zeros({N}, "i4"), un.zeros(3, "i4"), {N}))
            un.synchronize()
            print("no error")
        except RuntimeError as error:
            print(error)
        """
    )
    for value, expected in (("1", missed("reduced", 7, 5, 11, 0)), ("0", "no error")):
        environment = {**os.environ, "UNISONO_BOUNDSCHECK": value}
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.stdout.strip() == expected, done.stderr
