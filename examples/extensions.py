"""Native extensions in C, C++ (pybind11) and Cython: one source each, run on every device that is present.

Needs a C++ compiler, and ``pip install pybind11 cython``.
"""

import importlib.util
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import numpy as np
import unisono as un

SOURCES = Path(__file__).with_name("extensions")


def build(source, folder):
    """Compile a source file into a Python module in the folder, and import it."""
    source, folder = Path(source), Path(folder)
    include = [un.get_include(), sysconfig.get_path("include")]
    if source.suffix == ".pyx":
        made = folder / f"{source.stem}.cpp"
        subprocess.run([sys.executable, "-m", "cython", "--cplus", "-o", made, source], check=True)
        source = made
    elif source.suffix == ".cpp":
        import pybind11

        include.append(pybind11.get_include())
    compiler = ["cc", "-std=c11"] if source.suffix == ".c" else ["c++", "-std=c++20"]
    target = folder / f"{source.stem}{sysconfig.get_config_var('EXT_SUFFIX')}"
    flags = ["-O1", "-shared", "-fPIC", "-fvisibility=hidden", *(f"-I{i}" for i in include)]
    subprocess.run([*compiler, *flags, source, "-o", target], check=True)
    spec = importlib.util.spec_from_file_location(source.stem, target)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    """Build the three modules and run them on each device."""
    with tempfile.TemporaryDirectory() as folder:
        names = ("heat_c.c", "heat_pybind11.cpp", "heat_cython.pyx")
        in_c, in_pybind11, in_cython = (build(SOURCES / name, folder) for name in names)
        start = np.zeros((64, 64))
        start[0] = 100
        for device in un.devices():
            u = un.array(start, device=device)
            for _ in range(50):
                in_pybind11.step(u, kappa=0.2)
            shifted = in_c.axpy(0.5, u, un.ones_like(u))
            where, interface, _ = in_pybind11.queue(u)
            print(
                f"{where}: energy {in_cython.energy(u):.6f}, shifted {in_cython.energy(shifted):.6f}, "
                f"above 1: {in_pybind11.count_above(u, 1.0)}, queue of {interface or 'no vendor'}"
            )
        try:
            in_pybind11.step(un.zeros(3))
        except ValueError as error:
            print(f"refused: {error}")


if __name__ == "__main__":
    main()
