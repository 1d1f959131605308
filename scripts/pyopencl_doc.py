"""Writes docs/pyopencl.md, which of PyOpenCL's names unisono.opencl has: scripts/pyopencl_doc.py [--check].

The names are those of docs/pyopencl_names.txt, which `--names` writes anew from an installed pyopencl.
"""

import importlib
import inspect
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, NAMES = DOCS / "pyopencl.md", DOCS / "pyopencl_names.txt"
MODULES = (
    "", "array", "clmath", "clrandom", "elementwise", "reduction", "scan", "algorithm", "bitonic_sort", "tools",
    "cltypes", "characterize",
)  # fmt: skip
CLASSES = (
    "Platform Device Context CommandQueue Event UserEvent NannyEvent Buffer Image ImageFormat ImageDescriptor Sampler "
    "MemoryMap Program Kernel LocalMemory SVM SVMAllocation SVMPointer SVMMap array.Array"
).split()
# Why names are missing, and what to use instead.
REASONS = (
    (
        "memory is not shared with OpenGL",
        "gl_context_info get_gl_sharing_context_properties enqueue_acquire_gl_objects",
    ),
    (
        "kernels by templates of Mako",
        "ElementwiseTemplate ReductionTemplate ScanTemplate KernelTemplateBase",
    ),
    ("pipes are not made: no driver that was tried has them", "Pipe"),
    ("Bessel's and Hankel's functions", "bessel_jn bessel_yn hankel_01"),
    ("an AMD extension", "enqueue_copy_buffer_p2p_amd"),
    ("lists of lists: count, `cumsum` the counts, and write", "ListOfListsBuilder"),
)


def own_names(module):
    """Public names that a module of pyopencl defines or passes on from its extension."""
    found = []
    for name, value in vars(module).items():
        if name.startswith("_") or inspect.ismodule(value) or "TypeVar" in type(value).__name__:
            continue
        home = getattr(value, "__module__", "")
        if (
            isinstance(home, str)
            and home.startswith("pyopencl")
            and (home == module.__name__ or home.startswith("pyopencl._cl"))
        ):
            found.append(name)
        elif type(value) is type and issubclass(value, importlib.import_module("numpy").generic):
            found.append(name)
    return found


def write_names():
    """Asks the installed pyopencl."""
    lines = [
        f"# Public names of pyopencl {importlib.import_module('pyopencl.version').VERSION_TEXT}"
    ]
    for module in MODULES:
        theirs = importlib.import_module(f"pyopencl.{module}".rstrip("."))
        lines.append(f"{module or '-'} {' '.join(sorted(own_names(theirs)))}")
    for path in CLASSES:
        home, _, name = path.rpartition(".")
        theirs = getattr(importlib.import_module(f"pyopencl.{home}".rstrip(".")), name)
        lines.append(
            f"class:{path} {' '.join(sorted(n for n in dir(theirs) if not n.startswith('_')))}"
        )
    NAMES.write_text("\n".join(lines) + "\n")


def reason(name):
    """Why it is missing."""
    found = next((why for why, names in REASONS if name in names.split()), None)
    if (
        found is None
        and name.startswith("get_")
        and name.endswith(("_kernel", "_program", "_types", "_kind"))
    ):
        return "kernels that PyOpenCL's own arrays and reductions are made of: here they are the engine's statements"
    return found or "helpers of PyOpenCL's own modules"


def page():
    """Text of the page."""
    head, *rows = NAMES.read_text().splitlines()
    version = head.split()[-1]
    table, missing = [], []
    for row in rows:
        where, *names = row.split()
        if where.startswith("class:"):
            home, _, name = where[6:].rpartition(".")
            ours = getattr(importlib.import_module(f"unisono.opencl.{home}".rstrip(".")), name)
            has = (
                set(dir(ours))
                | set(getattr(ours, "__slots__", ()))
                | set(ATTRIBUTES.get(where[6:], "").split())
            )
        else:
            ours = importlib.import_module(f"unisono.opencl.{where.strip('-')}".rstrip("."))
            has = set(dir(ours))
        left = [n for n in names if n not in has]
        what = "`pyopencl`" if where == "-" else f"`{where.removeprefix('class:')}`"
        shown = ", ".join(f"`{n}`" for n in left[:6]) + (
            f" and {len(left) - 6} more" if len(left) > 6 else ""
        )
        table.append(f"| {what} | {len(names) - len(left)} of {len(names)} | {shown} |")
        missing += left
    reasons = {}
    for name in missing:
        reasons.setdefault(reason(name), []).append(name)
    lines = [
        "# PyOpenCL's names",
        "",
        f"Which public names of pyopencl {version} `unisono.opencl` has: written by `scripts/pyopencl_doc.py`, from the names in",
        "[pyopencl_names.txt](pyopencl_names.txt). Behaviour is told in [opencl.md](opencl.md).",
        "",
        "| module or class | present | missing |",
        "|---|---|---|",
        *table,
        "",
        "| why | names |",
        "|---|---|",
        *[f"| {why} | {', '.join(f'`{n}`' for n in names)} |" for why, names in reasons.items()],
    ]
    return "\n".join(lines) + "\n"


# What instances have and classes do not.
ATTRIBUTES = {
    "LocalMemory": "size",
    "array.Array": "allocator context dtype events queue shape strides",
    "SVM": "mem",
    "SVMAllocation": "size svm_ptr",
    "SVMMap": "array event svm queue",
}


def main():
    if "--names" in sys.argv:
        write_names()
        return 0
    text = page()
    if "--check" not in sys.argv:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        print("docs/pyopencl.md: stale, run scripts/pyopencl_doc.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
