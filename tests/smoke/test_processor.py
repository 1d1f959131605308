"""A processor that is too old for the engine gets an error with the names of what it lacks, not a signal."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import unisono as un
from unisono._runtime.processor import error_of_import, missing_features

FOLDER = Path(un._engine.__file__).parent


def test_missing_features_are_named():
    nehalem = "flags\t\t: fpu sse sse2 ssse3 sse4_1 sse4_2 popcnt lahf_lm\n"
    assert missing_features(nehalem) == "avx avx2 bmi1 bmi2 f16c fma abm movbe".split()
    assert missing_features(nehalem.strip() + " avx avx2 bmi1 bmi2 f16c fma abm movbe\n") == []


def test_errors_of_the_loader_are_explained_and_others_kept():
    other = ImportError("no such file")
    assert error_of_import(other) is other
    made = error_of_import(ImportError("libunisono.so: CPU ISA level is lower than required"))
    for part in (
        "this processor lacks",
        "expected x86-64-v3 (AVX2",
        "use a newer machine",
        "libunisono.so",
    ):
        assert part in str(made)


@pytest.mark.skipif(not shutil.which("readelf"), reason="no readelf")
@pytest.mark.skipif((FOLDER / "glibc-hwcaps").exists(), reason="a build for all processors")
@pytest.mark.parametrize("file", sorted(f.name for f in FOLDER.glob("*unisono*.so")))
def test_every_library_says_which_processor_it_needs(file):
    done = subprocess.run(["readelf", "-n", FOLDER / file], capture_output=True, text=True)
    assert "x86-64-v3" in done.stdout, done.stdout


@pytest.mark.slow
@pytest.mark.skipif((FOLDER / "glibc-hwcaps").exists(), reason="a build for all processors")
@pytest.mark.skipif(not shutil.which("qemu-x86_64"), reason="no qemu-user (Debian: qemu-user)")
@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="a sanitized build does not run there")
def test_import_on_an_old_processor_raises():
    command = ["qemu-x86_64", "-cpu", "Nehalem", sys.executable, "-c", "import unisono"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "ImportError: unisono: this processor lacks" in done.stderr
