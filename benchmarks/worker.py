"""One process of one benchmark: worker.py NAME WHO prints seconds as JSON; run.py starts it."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))


def main():
    name, who = sys.argv[1:]
    if name.startswith(("jacobi", "line-", "loops", "prange")):
        import jacobi as module
    elif name == "mask":
        import polygon as module
    elif name in ("expression", "asarray", "small"):
        import expressions as module
    elif name in (
        "sum",
        "argmax",
        "cumsum",
        "sort",
        "argsort",
        "top-100",
        "unique",
        "unique-distinct",
        "histogram",
    ):
        import orders as module
    elif name in ("matmul", "norm", "fft", "rfft", "random", "normal"):
        import libraries as module
    elif name == "exercises":
        import exercises as module
    elif name in ("record", "jit-call"):
        import call_costs as module
    elif name in ("statements", "element-read", "element-write"):
        import statements as module
    elif name.startswith(("vectorize", "stencil", "c-call")):
        import decorators as module
    elif name.startswith("suite-"):
        import suites as module
    elif name.startswith("cuda-"):
        import on_cuda as module
    elif name.startswith("device-"):
        import on_devices as module
    elif name.startswith("start-device-"):
        import device_starts as module
    elif name.startswith("queue-"):
        import queues as module
    elif name.startswith("opencl-"):
        import pyopencl_peers as module
    elif name.startswith("ranks-"):
        import clusters.rows as module
    elif name == "functions":
        import functions as module
    elif name.startswith(("first-call", "compile-")):
        import first_calls as module
    else:
        import starts as module
    print(json.dumps(module.measure(name, who)))


if __name__ == "__main__":
    main()
