"""What wheels carry, and what they must not: wheels of dist/, and the libraries of this build."""

import os
import re
import shutil
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest
import unisono as un

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(un._engine.__file__).parent
# Libraries of every system that the wheel's tag names, those that lie in it, and those of sanitized builds.
SYSTEM = r"lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|z)\.so\.\d+|ld-linux-x86-64\.so\.2"
OWN = r"libunisono\.so|libtbb\.so\.12|lib(a|ub|t)san\.so\.\d+"
# scripts/wheel.sh writes there; a wheel of another state of the tree is not this test's matter.
WHEELS = sorted(Path(os.environ.get("UNISONO_WHEELS", ROOT / "dist")).glob("unisono-*.whl"))
needs_readelf = pytest.mark.skipif(not shutil.which("readelf"), reason="no readelf")


def needed(path):
    """Libraries that a shared object names."""
    done = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True)
    return re.findall(r"\(NEEDED\).*\[(.*)\]", done.stdout)


@needs_readelf
def test_the_engine_and_its_mpi_plugin_name_no_vendor_library():
    files = [
        Path(un._engine.__file__),
        *FOLDER.glob("libunisono.so"),
        *FOLDER.glob("libunisono_mpi_*.so"),
    ]
    for file in files:
        others = [name for name in needed(file) if not re.fullmatch(f"{SYSTEM}|{OWN}", name)]
        assert others == [], file


def test_notices_name_what_is_carried():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    texts = "".join((ROOT / file).read_text() for file in project["license-files"])
    for name in (
        "nanobind",
        "robin-map",
        "Highway",
        "LLVM",
        "Zstandard",
        "oneTBB",
        "Apache License",
    ):
        assert name in texts


@pytest.mark.skipif(not WHEELS, reason="no wheel in dist/: scripts/wheel.sh builds one")
@pytest.mark.parametrize("wheel", WHEELS, ids=lambda path: path.name)
def test_a_wheel_is_self_contained(wheel, tmp_path):
    assert "manylinux" in wheel.name
    assert wheel.stat().st_size < 60 * 2**20
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        libraries = [name for name in names if re.search(r"\.so(\.\d+)*$", name)]
        archive.extractall(tmp_path, libraries)
    files = {Path(name).name for name in libraries}
    assert {"libunisono.so", "libunisono_llvm.so", "libunisono_threads.so", "libtbb.so.12"} <= files
    assert "unisono/glibc-hwcaps/x86-64-v3/libunisono.so" in names
    assert not [
        name for name in files if re.match(r"lib(mpi|open-|hwloc|pmix|LLVM|clang|z3|icu)", name)
    ]
    for kept in ("LICENSE", "THIRD_PARTY_NOTICES.txt"):
        assert any(name.endswith(f".dist-info/licenses/{kept}") for name in names)
    for name in libraries if shutil.which("readelf") else []:
        others = [n for n in needed(tmp_path / name) if not re.fullmatch(f"{SYSTEM}|{OWN}", n)]
        assert others == [], name
