"""Writes docs/namespace.md, which of NumPy's names unisono has: scripts/namespace_doc.py [--check]."""

import sys
from pathlib import Path

import numpy as np
import unisono as un
from unisono._lazy import numpys

PAGE = Path(__file__).resolve().parents[1] / "docs/namespace.md"
# Why names are missing, what to use instead, and the names; the first row that lists a name counts.
REASONS = (
    (
        "dates and times: arrays hold numbers",
        "count days or seconds in int64; `pandas` for calendars",
        "busday_count busday_offset busdaycalendar datetime64 datetime_as_string datetime_data is_busday timedelta64",
    ),
    (
        "text and bytes: arrays hold numbers",
        "lists of `str`; uint8 arrays of bytes",
        "bytes_ char character str_ strings flexible",
    ),
    (
        "records: arrays hold numbers of one dtype",
        "one array per field, or a `dict` of them",
        "rec recarray record void",
    ),
    (
        "Python objects: arrays hold numbers",
        "lists; `un.vectorize` or `un.frompyfunc` for calls",
        "object_",
    ),
    (
        "extended precision: no device has it, and C compilers differ in it",
        "`float64`, with `un.sum`'s pairwise order",
        "longdouble clongdouble complex256 float128",
    ),
    ("matrices: one array type", "two-dimensional arrays, `@`, `un.block`", "asmatrix bmat matrix"),
    ("masked arrays: one array type", "`where=`, `un.where`, NaN and the `nan*` functions", "ma"),
    (
        "iterates element by element in Python",
        "array statements; `@un.jit` for loops; `un.ndindex`, `un.broadcast`",
        "nditer nested_iters",
    ),
    (
        "NumPy's C interface",
        "DLPack, the buffer protocol, headers of our own (`un.get_include()`)",
        "core ctypeslib f2py",
    ),
    ("prints documentation", "`help(un.name)`", "info"),
    ("runs NumPy's tests", "`./test`", "test"),
)
SUBPACKAGES = ("linalg", "fft", "random")


def table(names, has):
    """Lines of the names that are there, and of those that are not with the reason."""
    there = [n for n in names if n in has]
    lines = [", ".join(f"`{n}`" for n in there) or "none yet"]
    missing = [n for n in names if n not in has and n not in numpys]
    groups = {}
    for name in missing:
        row = next(
            ((r, w) for r, w, listed in REASONS if name in listed.split()),
            ("not supported yet", ""),
        )
        groups.setdefault(row, []).append(name)
    if groups:
        lines += ["", "| missing | why | instead |", "|---|---|---|"]
        lines += [
            f"| {', '.join(f'`{n}`' for n in listed)} | {reason} | {instead} |"
            for (reason, instead), listed in sorted(groups.items())
        ]
    lent = [n for n in names if n in numpys]
    if lent:
        lines += [
            "",
            "NumPy's own objects, which take and give NumPy's arrays: "
            + ", ".join(f"`{n}`" for n in lent)
            + ".",
        ]
    return lines, len(there)


def page():
    """Return the text of the page."""
    has = {n for n in dir(un) if not n.startswith("_") or n == "__array_namespace_info__"}
    names = sorted(n for n in np.__all__ if n not in SUBPACKAGES and n != "__version__")
    lines, there = table(names, has)
    text = [
        "# Which of NumPy's names are there",
        "",
        f"Written by `scripts/namespace_doc.py` from the packages themselves: the main namespace of NumPy "
        f"{np.__version__.rsplit('.', 1)[0]} and of unisono.",
        "Functions take NumPy's arguments; a keyword that they do not know is a `TypeError`. Where results differ:",
        "[differences.md](differences.md).",
        "",
        f"## `unisono`: {there} of {len(names)}",
        "",
        *lines,
    ]
    for sub in SUBPACKAGES:
        theirs = sorted(n for n in getattr(np, sub).__all__ if not n.startswith("_"))
        ours = getattr(un, sub, None)
        lines, there = table(theirs, set(dir(ours)) if ours else set())
        text += ["", f"## `unisono.{sub}`: {there} of {len(theirs)}", "", *lines]
    own = sorted(n for n in has - set(np.__all__) if not isinstance(getattr(un, n), type(sys)))
    text += ["", "## Beyond NumPy", "", ", ".join(f"`{n}`" for n in own)]
    return "\n".join(text) + "\n"


def main():
    made = page()
    if "--check" not in sys.argv:
        PAGE.write_text(made)
    elif not PAGE.exists() or PAGE.read_text() != made:
        print("docs/namespace.md is stale: run scripts/namespace_doc.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
