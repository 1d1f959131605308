"""Writes docs/namespace.md, which of NumPy's names unisono has: scripts/namespace_doc.py [--check]."""

import sys
from pathlib import Path

import numpy as np
import unisono as un

PAGE = Path(__file__).resolve().parents[1] / "docs/namespace.md"
# Why names are missing; the first reason whose list has the name counts.
REASONS = {
    "dates and times: arrays hold numbers": "busday_count busday_offset busdaycalendar datetime64 datetime_as_string "
    "datetime_data is_busday timedelta64",
    "text, bytes, records and Python objects: arrays hold numbers": "bytes_ char character object_ rec recarray record "
    "str_ strings void flexible",
    "extended precision: no device has it": "longdouble clongdouble complex256 float128",
    "matrices and masked arrays: use arrays, and `where=`": "asmatrix bmat ma matrix",
    "NumPy's own tools": "core ctypeslib dtypes emath f2py get_include info lib polynomial show_config show_runtime test "
    "testing typing nested_iters nditer memmap ScalarType sctypeDict typecodes getbufsize setbufsize mintypecode typename "
    "exceptions",
    "types of NumPy's scalars: a value is an array without axes": "generic number integer signedinteger unsignedinteger "
    "inexact floating complexfloating",
}
SUBPACKAGES = ("linalg", "fft", "random")


def table(names, has):
    """Lines of the names that are there, and of those that are not with the reason."""
    there = [n for n in names if n in has]
    lines = [", ".join(f"`{n}`" for n in there) or "none yet"]
    missing = [n for n in names if n not in has]
    groups = {}
    for name in missing:
        reason = next(
            (r for r, listed in REASONS.items() if name in listed.split()), "not there yet"
        )
        groups.setdefault(reason, []).append(name)
    if groups:
        lines += ["", "| missing | why |", "|---|---|"]
        lines += [
            f"| {', '.join(f'`{n}`' for n in listed)} | {reason} |"
            for reason, listed in sorted(groups.items())
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
