"""Calls of OpenCL's vocabulary with valid, released, foreign and senseless arguments: `python fuzz_calls.py SEED COUNT`.

Whatever they are given, calls return or raise an exception with a message; a crash ends the process, which the test sees.
Prints how many calls returned and how many raised.
"""

import faulthandler
import os
import random
import sys

import numpy as np
import unisono.opencl as cl
import unisono.opencl.array as cl_array

TEXT = """
__kernel void scale(__global float *x, float f) { if (x) x[0] *= f; }
__kernel void part(__global float *x, __local float *t) { if (x) x[0] += 1; }
"""
# Kernels use the first element only: what the driver does beyond the end of memory is not the vocabulary's.
# Left out: ranges of 2**40 work-items, at which PoCL 3.1 ends the process, and copies of images.
# What a caller gets wrong; whatever else comes out is an error of the vocabulary's own.
EXPECTED = (
    cl.Error,
    TypeError,
    ValueError,
    MemoryError,
    OverflowError,
    NotImplementedError,
    IndexError,
    BufferError,
    RuntimeError,
)


def pools(rng):
    """Values by kind; about a third of them released, foreign or of the wrong type."""
    device = cl.get_platforms()[0].get_devices()[0]
    contexts = [cl.Context([device]) for _ in range(2)]
    made = {
        name: []
        for name in "context queue buffer program kernel event svm array image sampler".split()
    }
    flags = cl.mem_flags
    for context in contexts:
        queue = cl.CommandQueue(context)
        made["context"].append(context)
        made["queue"].append(queue)
        for size in (4, 64, 1024):
            made["buffer"].append(cl.Buffer(context, flags.READ_WRITE, size))
        made["program"].append(cl.Program(context, TEXT).build())
        made["kernel"] += [cl.Kernel(made["program"][-1], name) for name in ("scale", "part")]
        made["event"].append(cl.enqueue_marker(queue))
        done = cl.UserEvent(context)
        done.set_status(0)
        made["event"].append(done)
        made["array"].append(cl_array.arange(queue, 16, dtype=np.float32))
        shape = (4, 4)
        form = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.UNSIGNED_INT8)
        made["image"].append(cl.Image(context, flags.READ_WRITE, form, shape))
        made["sampler"].append(
            cl.Sampler(context, False, cl.addressing_mode.CLAMP, cl.filter_mode.NEAREST)
        )
        gone = cl.Buffer(context, flags.READ_WRITE, 64)
        gone.release()
        made["buffer"].append(gone)
        svm = cl.SVMAllocation(context, 64)
        made["svm"].append(svm)
        svm = cl.SVMAllocation(context, 64)
        svm.release()
        made["svm"].append(svm)
    made["host"] = [np.zeros(n, np.float32) for n in (1, 16, 256)] + [
        bytearray(64),
        b"1234",
        np.zeros((4, 4))[:, ::2],
    ]
    made["number"] = [
        0,
        1,
        4,
        16,
        64,
        -1,
        2**31,
        2**40,
        2**63,
        1.5,
        np.float32(2),
        np.int64(8),
        True,
    ]
    made["shape"] = [
        (4,),
        (16,),
        (1,),
        (0,),
        (4, 4),
        (2, 2, 2),
        (1, 1, 1, 1),
        (-4,),
        4,
        "x",
        None,
        (1.5,),
    ]
    made["nonsense"] = [None, "text", object(), [], {}, -7, b"", (None,), np.str_("a"), lambda: 0]
    made["events"] = [None, [], [made["event"][0]], made["event"], [None], "ab", made["event"][1]]
    made["text"] = [TEXT, "", "__kernel void f(", "int", 5, None, "__kernel void f() {}"]
    return made


CALLS = {
    "Buffer": (cl.Buffer, "context number number", {"hostbuf": "host"}),
    "SVMAllocation": (cl.SVMAllocation, "context number number", {}),
    "CommandQueue": (cl.CommandQueue, "context nonsense number", {}),
    "UserEvent": (cl.UserEvent, "context", {}),
    "Program": (lambda c, t: cl.Program(c, t).build(), "context text", {}),
    "Kernel": (cl.Kernel, "program text", {}),
    "launch": (lambda k, q, g, w, *a: k(q, g, w, *a), "kernel queue shape shape buffer number", {}),
    "set_arg": (lambda k, n, v: k.set_arg(n, v), "kernel number buffer", {}),
    "set_args": (lambda k, *v: k.set_args(*v), "kernel buffer number", {}),
    "enqueue_nd_range_kernel": (
        cl.enqueue_nd_range_kernel,
        "queue kernel shape shape",
        {"wait_for": "events"},
    ),
    "enqueue_copy": (cl.enqueue_copy, "queue buffer host", {"wait_for": "events"}),
    "enqueue_copy_back": (cl.enqueue_copy, "queue host buffer", {"wait_for": "events"}),
    "enqueue_copy_between": (
        cl.enqueue_copy,
        "queue buffer buffer",
        {"byte_count": "number", "src_offset": "number"},
    ),
    "enqueue_copy_svm": (cl.enqueue_copy, "queue svm host", {}),
    "enqueue_fill_buffer": (
        cl.enqueue_fill_buffer,
        "queue buffer host number number",
        {"wait_for": "events"},
    ),
    "enqueue_marker": (cl.enqueue_marker, "queue events", {}),
    "enqueue_barrier": (cl.enqueue_barrier, "queue events", {}),
    "wait_for_events": (cl.wait_for_events, "events", {}),
    "get_sub_region": (lambda b, *a: b.get_sub_region(*a), "buffer number number", {}),
    "get_info": (lambda o, n: o.get_info(n), "buffer number", {}),
    "queue_info": (lambda o, n: o.get_info(n), "queue number", {}),
    "event_info": (lambda o, n: o.get_info(n), "event number", {}),
    "profile": (lambda e: e.profile.end, "event", {}),
    "set_status": (lambda e, n: e.set_status(n), "event number", {}),
    "work_group_info": (lambda k, n, d: k.get_work_group_info(n, d), "kernel number nonsense", {}),
    "image": (cl.Image, "context number nonsense shape", {}),
    "Array": (cl_array.Array, "queue shape nonsense", {"data": "buffer"}),
    "to_device": (cl_array.to_device, "queue host", {}),
    "add": (lambda a, b: (a + b).get(), "array array", {}),
    "index": (lambda a, k: a[k].get(), "array shape", {}),
    "assign": (lambda a, k, v: a.__setitem__(k, v), "array shape host", {}),
    "map": (
        lambda q, b, n, s: cl.enqueue_map_buffer(q, b, 3, n, s, np.float32)[0].sum(),
        "queue buffer number shape",
        {},
    ),
    "release": (lambda b: b.release(), "svm", {}),
    "finish": (lambda q: q.finish(), "queue", {}),
}


def main(seed, count):
    faulthandler.enable()
    rng = random.Random(seed)
    values = pools(rng)
    kinds = list(values)
    returned = raised = 0
    for number in range(count):
        name = rng.choice(list(CALLS))
        function, positional, options = CALLS[name]
        wanted = positional.split()
        if rng.random() < 0.05:
            wanted = wanted[:-1]
        if rng.random() < 0.05:
            wanted = [*wanted, "nonsense"]

        def one(kind):
            if rng.random() < 0.15:
                kind = rng.choice(kinds)
            return rng.choice(values[kind])

        args = [one(kind) for kind in wanted]
        given = {key: one(kind) for key, kind in options.items() if rng.random() < 0.5}
        if os.environ.get("UNISONO_FUZZ_SHOWS"):
            print(number, name, [type(a).__name__ for a in args], given, flush=True)
        try:
            function(*args, **given)
            returned += 1
        except EXPECTED as error:
            raised += 1
            assert str(error), f"{name}: no message"
        except AttributeError as error:  # a method of an object of another class
            raised += 1
            assert "attribute" in str(error), f"{name}: {error!r} for {args!r}, {given!r}"
        except Exception as error:
            raise AssertionError(f"{name}: {error!r} for {args!r}, {given!r}") from error
        for q in values["queue"] if number % 50 == 0 else ():
            q.finish()
    print(f"{returned} returned, {raised} raised")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
