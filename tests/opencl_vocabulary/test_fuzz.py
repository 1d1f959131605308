"""The object model of OpenCL's vocabulary survives calls with released, foreign and senseless arguments."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("seed", [1, 2])
def test_calls_return_or_raise(ctx, seed):
    program = Path(__file__).parent / "fuzz_calls.py"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", program, str(seed), "300"],
        capture_output=True,
        text=True,
        timeout=300,  # what hangs would hang for ever
    )
    assert done.returncode == 0, done.stderr[-2000:]
    returned, raised = (int(part.split()[0]) for part in done.stdout.strip().split(", "))
    assert returned > 30 and raised > 100 and returned + raised == 300


def test_handles_of_another_class_are_refused(ctx, queue, build):
    import unisono.opencl as cl

    event, program = cl.UserEvent(ctx), build("__kernel void f(__global int *x) {}")
    kernel = program.f
    for call in (
        lambda: cl.Kernel(event, "f"),
        lambda: cl.SVMAllocation(event, 16),
        lambda: cl.Sampler(event, False),
        lambda: cl.UserEvent(queue),
        lambda: cl.enqueue_nd_range_kernel(queue, event, (4,), None),
        lambda: cl.enqueue_copy(ctx, bytearray(4), kernel),
        lambda: kernel.get_work_group_info(cl.kernel_work_group_info.WORK_GROUP_SIZE, event),
        lambda: program.get_build_info(event, cl.program_build_info.STATUS),
        lambda: cl.enqueue_map_buffer(queue, event, 1, 0, (4,), "int32"),
        lambda: cl.get_supported_image_formats(queue, 1, cl.mem_object_type.IMAGE2D),
    ):
        with pytest.raises(TypeError, match="expected a "):
            call()
    with pytest.raises(TypeError, match="an argument has the wrong type"):
        event.set_status(1.5)
    with pytest.raises(cl.LogicError, match="is not built"):
        cl.Kernel(cl.Program(ctx, "__kernel void f() {}"), "f")
