"""``python -m unisono doctor``: what was searched on this machine, what was found, and what is missing."""

import ctypes
import os
import shutil
import sys
from pathlib import Path

USAGE = """usage: python -m unisono doctor
       python -m unisono devices [FILTER] [--all]
       python -m unisono include
       python -m unisono build FILE.py [-o FOLDER] [-n NAME]

doctor prints what was searched, found and missing. devices lists devices, with --all all that their drivers tell;
FILTER is a back end, a kind or a name, or several between commas, as of un.devices. include prints the folder of the headers for extensions. build
compiles the functions of a file that un.jit made with signatures into a package NAME (by default FILE_compiled) in
FOLDER (by default the file's), which runs without a compiler."""

# What each plugin needs and gives: file beside the engine, library that it links, consequence of its absence.
_PLUGINS = (
    ("libunisono_clang.so", "clang 19 (Debian: libclang-19-dev)", "un.c_module compiles nothing"),
    ("libunisono_llvm.so", "LLVM 19 (Debian: llvm-19-dev)", "nothing is compiled; block runs all"),
    ("libunisono_threads.so", "oneTBB (Debian: libtbb-dev)", "the engine's own threads are used"),
    (
        "libunisono_mpi_openmpi.so",
        "Open MPI's headers (Debian: libopenmpi-dev)",
        "there is no un.mesh('mpi')",
    ),
)
# Libraries that are loaded at run time: name, files tried in order, what it is for.
_LIBRARIES = (
    ("OpenCL loader", ("libOpenCL.so.1",), "OpenCL devices"),
    ("CUDA driver", ("libcuda.so.1",), "CUDA devices"),
    ("Open MPI", ("libmpi.so.40", "libmpi.so"), "meshes and messages"),
    ("MPICH", ("libmpich.so.12",), "the same, in jobs that MPICH starts"),
)


def _title(text):
    print(f"\n{text}")


def _row(mark, name, text):
    print(f"  {mark:<8}{name:<28} {text}".rstrip())


def _load(files):
    """Try to load a library; return (found, what to say)."""
    reasons = []
    for file in files:
        try:
            ctypes.CDLL(file)
        except OSError as error:
            reasons.append(str(error))
        else:
            return True, file
    return False, "; ".join(reasons)


def _plugins(folder):
    _title(f"plugins, searched in {folder}")
    for file, needs, without in _PLUGINS:
        path = folder / file
        if file == "libunisono_clang.so" and not path.exists() and _has_clang(folder):
            _row("found", file, "part of libunisono_llvm.so")
            continue
        if not path.exists():
            _row("missing", file, f"not built: needs {needs}; without it {without}")
            continue
        # Lazy binding in a process of its own, so that asking changes nothing here.
        found, text = _load_apart(path)
        if not found and "cannot open shared object file" in text:
            _row("missing", file, f"cannot be loaded: {text}; without it {without}")
        else:
            _row("found" if found else "broken", file, "loads" if found else text)


def _has_clang(folder):
    """Whether the plugin of LLVM holds clang, too, as it does in wheels."""
    path = folder / "libunisono_llvm.so"
    return path.exists() and _load_apart(path, "unisono_clang_compile")[0]


def _load_apart(path, *symbols):
    """Try to load a library that has these symbols; return (loaded, the error's last line)."""
    import subprocess

    # What the engine loads before a plugin comes first: the machine's MPI.
    code = (
        "import ctypes, os, sys\n"
        "name = os.path.basename(sys.argv[1])\n"
        "mpi = 'libmpich.so.12' if '_mpich' in name else 'libmpi.so.40' if '_mpi_' in name else None\n"
        "if mpi: ctypes.CDLL(mpi, mode=os.RTLD_LAZY | os.RTLD_GLOBAL)\n"
        "library = ctypes.CDLL(sys.argv[1], mode=os.RTLD_LAZY)\n"
        "[getattr(library, name) for name in sys.argv[2:]]"
    )
    environment = {**os.environ, "LD_LIBRARY_PATH": str(path.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), *symbols],
        capture_output=True,
        text=True,
        env=environment,
    )
    lines = done.stderr.strip().splitlines()
    return done.returncode == 0, lines[-1] if lines else f"status {done.returncode}"


def _libraries():
    _title("libraries, searched by the dynamic loader")
    for name, files, use in _LIBRARIES:
        found, text = _load(files)
        _row("found" if found else "missing", name, text if found else f"{text}; for {use}")
    mpirun = shutil.which("mpirun")
    _row("found" if mpirun else "missing", "mpirun", mpirun or "not in PATH; starts ranks")


def _devices(un, engine):
    from ._runtime.devices import summary

    _title("back ends")
    for name, lines in engine._backend_reports().items():
        for line in lines or ["nothing to report"]:
            _row("", name, line.removeprefix(f"{name}: "))
    _title("devices")
    found = un.devices()
    for d in found:
        _row("found", d.name, summary(d))
    for kind in ("opencl", "cuda"):
        if not any(d.name.startswith(kind) for d in found):
            _row("missing", f"{kind} devices", "see the back end's line above")


def _cache(engine):
    _title("kernel cache")
    text = {name: value for name, _, _, _, value in engine._settings()}["cache_dir"]
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(text) if text else Path(home) / "unisono"
    if not folder.exists():
        _row("", str(folder), "not there yet: it is made when a kernel is compiled")
        return
    files = [f for f in folder.rglob("*") if f.is_file()]
    state = f"{len(files)} files, {sum(f.stat().st_size for f in files) / 1024:.0f} KiB"
    stat = folder.stat()
    if stat.st_uid != os.getuid():
        state += "; not used: it belongs to another user"
    elif stat.st_mode & 0o022:
        state += "; not used: others may write it (chmod go-w)"
    elif not os.access(folder, os.W_OK):
        state += "; read-only"
    _row("found", str(folder), state)


def _settings(engine):
    _title("settings")
    for _, variable, fallback, meaning, value in engine._settings():
        origin = "environment" if variable in os.environ else "default"
        _row("", variable, f"{value or fallback or '-'} ({origin}): {meaning}")


def doctor():
    """Print the report; return 0 if the CPU works."""
    print(f"Python {sys.version.split()[0]} at {sys.executable}")
    try:
        import unisono as un

        from . import _engine as engine
    except ImportError as error:
        print(f"unisono cannot be imported: {error}")
        return 1
    print(f"unisono {un.__version__} at {Path(__file__).parent}")
    _plugins(Path(engine.__file__).parent)
    _libraries()
    _devices(un, engine)
    _cache(engine)
    _settings(engine)
    _title("a computation on the CPU")
    x = un.arange(1000)
    total = int((x * x).sum())
    works = total == sum(k * k for k in range(1000))
    _row("works" if works else "WRONG", "sum of squares", str(total))
    return 0 if works else 1


def devices(arguments):
    """List devices; return the exit status: 1 if none matches."""
    import argparse

    from ._runtime.devices import devices, page, summary

    parser = argparse.ArgumentParser(prog="python -m unisono devices")
    parser.add_argument("filter", nargs="?")
    parser.add_argument("-a", "--all", action="store_true")
    given = parser.parse_args(arguments)
    found = devices(given.filter)
    for d in found:
        print("\n".join(page(d)) if given.all else f"{d.name:<20} {summary(d)}")
    if not found:
        present = ", ".join(d.name for d in devices())
        print(
            f"unisono devices: none matches; got {given.filter!r}; present: {present}",
            file=sys.stderr,
        )
    return 0 if found else 1


def build(arguments):
    """Build a package of a file's compiled functions; return the exit status."""
    import argparse
    import importlib.util

    parser = argparse.ArgumentParser(prog="python -m unisono build")
    parser.add_argument("file", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("-n", "--name")
    given = parser.parse_args(arguments)
    if not given.file.is_file():
        print(f"unisono build: there is no file {given.file}", file=sys.stderr)
        return 1
    sys.path.insert(0, str(given.file.resolve().parent))
    spec = importlib.util.spec_from_file_location(given.file.stem, given.file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[given.file.stem] = module
    spec.loader.exec_module(module)
    import unisono as un

    try:
        name = given.name or given.file.stem + "_compiled"
        made = un.compile_module(name, module, given.output or given.file.parent)
    except (ValueError, TypeError) as error:
        print(f"unisono build: {error}", file=sys.stderr)
        return 1
    from ._jit.ahead import why_left_out

    for key, value in vars(module).items():
        why = why_left_out(value)
        if why and not key.startswith("_"):
            print(f"unisono build: left out {key}: {why}", file=sys.stderr)
    print(made)
    return 0


def main(arguments):
    """Run a command; return the exit status."""
    if arguments[:1] == ["build"]:
        return build(arguments[1:])
    if arguments[:1] == ["devices"]:
        return devices(arguments[1:])
    if arguments == ["include"]:
        print(Path(__file__).parent / "include")
        return 0
    if arguments == ["doctor"]:
        return doctor()
    wanted = {"-h", "--help"} & set(arguments)
    if arguments and not wanted:
        print(
            f"python -m unisono: there is no such command; got {' '.join(arguments)!r}; "
            "expected doctor, devices, include or build",
            file=sys.stderr,
        )
    print(USAGE, file=sys.stdout if wanted else sys.stderr)
    return 0 if wanted else 2


def _run():
    """`main` on the command line; a reader that leaves a pipe early (`| head`) is no error."""
    try:
        status = main(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # Nothing more can be written: the flush at exit must not fail, too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    return status


if __name__ == "__main__":
    sys.exit(_run())
