"""Programs that repeat one launch of a kernel: its OpenCL C, its arguments, and the contents of its buffers."""

import base64
import builtins
import zlib

import numpy as np

from .memory import Buffer, LocalMemory


def captured(kernel, queue, global_size, local_size, args, options):
    """Python text of a program that launches the kernel with these arguments."""
    program = getattr(kernel, "_program", None)
    source = getattr(program, "_source", None)
    if source is None:
        raise builtins.RuntimeError(
            f"capture_call: the OpenCL C of kernel '{kernel.function_name}' is not known; build its program from source"
        )
    values, data = [], []
    for k, arg in enumerate(args):
        values.append(_argument(k, arg, queue, data))
    sizes = [repr(_plain(global_size)), repr(_plain(local_size))]
    for name, value in options.items():
        if name == "wait_for":
            continue
        values.append(f"{name}={_plain(value)!r}")
    lines = [
        "import base64",
        "import zlib",
        "",
        "import numpy as np",
        "import unisono.opencl as cl",
        "",
    ]
    lines += [f"SOURCE = {source!r}", f"OPTIONS = {list(program._options)!r}", ""]
    for k, content in data:
        text = base64.b64encode(zlib.compress(content)).decode()
        lines += [
            f"DATA_{k} = (",
            *(f"    {text[at : at + 90]!r}" for at in range(0, len(text), 90)),
            ")",
            "",
        ]
    lines += ["", "def main():", "    context = cl.create_some_context(interactive=False)"]
    lines += ["    queue = cl.CommandQueue(context)"]
    for k, _ in data:
        lines += [
            f"    data = bytearray(zlib.decompress(base64.b64decode(DATA_{k})))",
            f"    argument_{k} = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=data)",
        ]
    lines += [
        f"    kernel = cl.Program(context, SOURCE).build(OPTIONS).{kernel.function_name}",
        f"    kernel(queue, {', '.join(sizes + values)})",
        "    queue.finish()",
        "",
        "",
        'if __name__ == "__main__":',
        "    main()",
        "",
    ]
    return "\n".join(lines)


def _argument(k, arg, queue, data):
    """Text of an argument; the contents of a buffer go to `data`."""
    from .copies import enqueue_copy

    if hasattr(arg, "base_data"):
        arg = arg.data
    if isinstance(arg, Buffer):
        content = bytearray(arg.size)
        enqueue_copy(queue, content, arg)
        data.append((k, bytes(content)))
        return f"argument_{k}"
    if isinstance(arg, LocalMemory):
        return f"cl.LocalMemory({arg.size})"
    if arg is None or isinstance(arg, (bool, int, float)) and not isinstance(arg, np.generic):
        return repr(arg)
    if isinstance(arg, np.generic) and arg.dtype.names is None:
        return f"np.frombuffer({arg.tobytes()!r}, {arg.dtype.str!r})[0]"
    raise builtins.RuntimeError(
        f"capture_call: argument {k + 1} is a {type(arg).__name__}; expected a buffer, a number, LocalMemory or None"
    )


def _plain(size):
    """Sizes as a tuple of ints."""
    if size is None or isinstance(size, (int, np.integer)):
        return size if size is None or isinstance(size, bool) else int(size)
    return tuple(int(n) for n in size)
