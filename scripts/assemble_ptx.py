#!/usr/bin/env python3
"""Assemble PTX for several architectures, and say what the kernels need.

    scripts/assemble_ptx.py FOLDER [--arch sm_80,sm_90,sm_120] [--table FILE] [--known FILE] [--most N]

Files are named after a hash of their text: with --known, those that the same assembler took in an earlier run are not
assembled again.

The assembler is nvJitLink of the package nvidia-nvjitlink, or the library that UNISONO_NVJITLINK names. The exit status is
1 where a file is refused or a kernel spills more than --spills bytes, 0 (and a line says so) without an assembler.
"""

import argparse
import collections
import concurrent.futures
import ctypes
import functools
import json
import os
import re
import sys
from pathlib import Path

PTX = 2  # NVJITLINK_INPUT_PTX


def library():
    """The path of nvJitLink; None where there is none."""
    if given := os.environ.get("UNISONO_NVJITLINK"):
        return given
    found = [p for f in sys.path for p in Path(f, "nvidia").rglob("libnvJitLink.so.*")]
    return str(found[0]) if found else None


@functools.cache  # the library has a hundred megabytes
def functions(path):
    """The functions of nvJitLink by their plain names: the library's carry its release."""
    names = sorted(set(re.findall(rb"__nvJitLink\w+?_\d+_\d+", Path(path).read_bytes())))
    loaded = ctypes.CDLL(path)
    return {n[2:].rsplit(b"_", 2)[0].decode(): getattr(loaded, n.decode()) for n in names}


def assemble(path, file, architecture):
    """What the assembler said: (text of an error or None, its report)."""
    f = functions(path)
    text = Path(file).read_bytes()
    options = (ctypes.c_char_p * 2)(f"-arch={architecture}".encode(), b"-verbose")
    handle, size = ctypes.c_void_p(), ctypes.c_size_t()
    status = f["nvJitLinkCreate"](ctypes.byref(handle), 2, options)
    if status == 0:
        status = f["nvJitLinkAddData"](
            handle, PTX, text + b"\0", ctypes.c_size_t(len(text) + 1), b"kernels"
        )
    if status == 0:
        status = f["nvJitLinkComplete"](handle)
    logs = []
    for kind in ("Error", "Info"):
        f[f"nvJitLinkGet{kind}LogSize"](handle, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value + 1)
        f[f"nvJitLinkGet{kind}Log"](handle, log)
        logs.append(log.value.decode(errors="replace"))
    f["nvJitLinkDestroy"](ctypes.byref(handle))
    return (logs[0] or f"status {status}") if status else None, logs[1]


def several(path, files, architectures):
    """The same of several files."""
    return [(file, a, *assemble(path, file, a)) for file in files for a in architectures]


def used(report):
    """Name, registers, bytes of spills and of shared memory of each kernel in a report."""
    for part in report.split("Compiling entry function")[1:]:
        name = re.match(r"\s*'(\w+)'", part)
        numbers = [
            re.search(p, part)
            for p in (r"Used (\d+) registers", r"(\d+) bytes spill stores", r"(\d+) bytes smem")
        ]
        if numbers[0]:
            yield name[1] if name else "", *(int(n[1]) if n else 0 for n in numbers)


def remembered(known, assembler):
    """What an earlier run found out: kernels by file and architecture."""
    try:
        with open(known or "/nonexistent") as f:
            kept = json.load(f)
    except (OSError, ValueError):
        return {}
    return kept["files"] if kept.get("assembler") == assembler else {}


def main():
    """Assemble all files, print a line per architecture."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("--arch", default="sm_80,sm_90,sm_120")
    parser.add_argument("--table", help="where a row for each kernel goes")
    parser.add_argument("--known", help="where it is kept which files were assembled")
    parser.add_argument(
        "--most", type=int, default=1 << 30, help="how many files, the first by name, are assembled"
    )
    parser.add_argument("--spills", type=int, default=1 << 30)
    options = parser.parse_args()
    path, architectures = library(), options.arch.split(",")
    if not path:
        print("the package nvidia-nvjitlink is not installed: nothing was assembled")
        return 0
    files = sorted(str(f) for f in Path(options.folder).glob("*.ptx"))
    if len(files) > options.most:
        print(f"assembling {options.most} of {len(files)} files")
        files = files[: options.most]
    status = os.stat(path)
    assembler = f"{path} {status.st_size} {status.st_mtime_ns}"
    before = remembered(options.known, assembler)
    found = {
        f: {a: before[stem][a] for a in architectures}
        for f in files
        if set(architectures) <= before.get(stem := Path(f).stem, {}).keys()
    }
    new = [f for f in files if f not in found]
    if found:
        print(f"{len(found)} of {len(files)} files were assembled before")
    refused, rows, failed = [], [], False
    with concurrent.futures.ProcessPoolExecutor() as pool:
        parts = [new[k : k + 16] for k in range(0, len(new), 16)]
        for part in pool.map(
            several,
            *zip(*[(path, p, architectures) for p in parts], strict=True) if parts else [[]],
        ):
            for file, architecture, error, report in part:
                if error:
                    refused.append((file, architecture, error))
                else:
                    found.setdefault(file, {})[architecture] = list(used(report))
    for file, kernels in found.items():
        for architecture in architectures:
            rows += [(architecture, Path(file).stem, *k) for k in kernels.get(architecture, [])]
    if options.known:
        kept = {Path(f).stem: kernels for f, kernels in found.items()}
        Path(options.known).write_text(json.dumps({"assembler": assembler, "files": kept}))
    for file, architecture, error in refused:
        print(f"{file} for {architecture}: {error}")
    by_architecture = collections.defaultdict(list)
    for architecture, _, _, *numbers in rows:
        by_architecture[architecture].append(numbers)
    print("architecture  files  kernels  most registers  that spill  most spilled  most shared")
    for architecture in architectures:
        kernels = by_architecture[architecture] or [(0, 0, 0)]
        registers, spills, shared = zip(*kernels, strict=True)
        failed = failed or max(spills) > options.spills
        print(
            f"{architecture:<12} {len(files):>6} {len(by_architecture[architecture]):>8} {max(registers):>15}"
            f" {sum(s > 0 for s in spills):>11} {max(spills):>13} {max(shared):>12}"
        )
    if options.table:
        lines = ["architecture,file,kernel,registers,spilled,shared"] + [
            ",".join(map(str, r)) for r in sorted(rows)
        ]
        Path(options.table).write_text("\n".join(lines) + "\n")
    return 1 if refused or failed else 0


if __name__ == "__main__":
    sys.exit(main())
