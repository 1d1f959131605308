"""Object files and shared libraries whose functions compiled code calls by a declared name (``link=``)."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile

from .._engine import CompileError

ENDINGS = (".o", ".a", ".so")
_C = {
    "bool": "_Bool", "int8": "signed char", "uint8": "unsigned char", "int16": "short", "uint16": "unsigned short",
    "int32": "int", "uint32": "unsigned", "int64": "long long", "uint64": "unsigned long long", "float32": "float",
    "float64": "double",
}  # fmt: skip


def is_object(source):
    """Whether it is the path of an object file, an archive or a shared library."""
    return os.fspath(source).endswith(ENDINGS)


class LinkedObject:
    """The functions of one file, by their declarations: the result is returned, arrays are pointers."""

    def __init__(self, source):
        self._source = source
        self._library, self._folder = os.path.abspath(source), None
        if not os.path.exists(source):
            raise CompileError(
                f"declare_device: link={source!r} is not a file; give the path of an object file"
            )
        if not source.endswith(".so"):
            self._folder = tempfile.TemporaryDirectory(prefix="unisono-link-")
            self._library = os.path.join(self._folder.name, "linked.so")
            self._make_library()
        self._made = {}

    def _make_library(self):
        linker = next(filter(None, map(shutil.which, ("cc", "gcc", "clang", "ld"))), None)
        if linker is None:
            raise CompileError(
                f"declare_device: link={self._source!r} needs a linker; got none on the path; install binutils, or give a "
                f"shared library or the text"
            )
        whole = "-Wl,--whole-archive"
        plain = os.path.basename(linker) == "ld"
        whole = "--whole-archive" if plain else whole
        command = [linker, "-shared", "-o", self._library, whole, self._source]
        command.append(whole.replace("--whole", "--no-whole"))
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise CompileError(
                f"declare_device: link={self._source!r} cannot be linked: {done.stderr.strip()}; compile it with -fPIC"
            )

    def declared(self, name, result, arguments):
        """The compiled function of that name and signature; None if the file has none."""
        from .c_module import c_module

        types = [self._spelled(name, t) for t in arguments]
        result = self._spelled(name, result)
        text = f"{result} {name}({', '.join(types) or 'void'});"
        if not hasattr(ctypes.CDLL(self._library), name):
            return None
        if text not in self._made:
            module = c_module([], text, libraries=[self._library])
            self._made[text] = getattr(module, name)
        return self._made[text]

    def _spelled(self, name, t):
        if t[0] == "void":
            return "void"
        if t[0] not in ("scalar", "array") or t[1] not in _C:
            raise CompileError(
                f"declare_device: '{name}' of {self._source!r} takes or gives {t[0]} {t[1]}; expected numbers, and arrays of "
                f"them; link its C text"
            )
        return _C[t[1]] + (" *" if t[0] == "array" else "")
