"""Functions of object files, archives and shared libraries behind `declare_device`."""

import os
import shutil
import subprocess

import numpy as np
import pytest
import unisono as un

TEXT = """
int product_of(int a, int b) { return a * b; }
double total(const double *x, long long n) { double s = 0; for (long long i = 0; i < n; i++) s += x[i]; return s; }
void put(float *x, int at, float v) { x[at] = v; }
"""
cc = shutil.which("cc")
pytestmark = pytest.mark.skipif(cc is None, reason="no C compiler")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The three kinds of files by their ending."""
    folder = tmp_path_factory.mktemp("linked")
    (folder / "f.c").write_text(TEXT)
    made = {e: str(folder / f"f{e}") for e in (".o", ".a", ".so")}
    subprocess.run([cc, "-fPIC", "-c", "-o", made[".o"], folder / "f.c"], check=True)
    subprocess.run(["ar", "rcs", made[".a"], made[".o"]], check=True)
    subprocess.run([cc, "-shared", "-o", made[".so"], made[".o"]], check=True)
    return made


@pytest.mark.parametrize("ending", [".o", ".a", ".so"])
def test_functions_of_a_file(files, ending):
    product_of = un.declare_device("product_of", "int32(int32, int32)", link=files[ending])
    total = un.declare_device("total", "float64(float64[::1], int64)")
    put = un.declare_device("put", "void(float32[::1], int32, float32)")

    @un.jit(link=[files[ending]])
    def f(x, y):
        put(y, 1, 2.5)
        return product_of(6, 7) + total(x, len(x))

    y = np.zeros(3, "f4")
    assert f(np.arange(4.0), y) == 48.0
    assert y.tolist() == [0, 2.5, 0]
    assert product_of(6, 7) == 42


def test_a_kernel_on_the_host_calls_them(files):
    product_of = un.declare_device("product_of", "int32(int32, int32)", link=files[".o"])

    @un.kernel
    def k(x):
        i = un.global_id(0)
        x[i] = product_of(x[i], 3)

    x = np.arange(4, dtype="i4")
    k[4](x)
    assert x.tolist() == [0, 3, 6, 9]


def test_errors(files, tmp_path):
    with pytest.raises(un.CompileError, match="nothing that is linked defines 'other'"):
        un.declare_device("other", "int32(int32)", link=files[".so"])(1)
    with pytest.raises(un.CompileError, match="is not a file"):
        un.declare_device("product_of", "int32(int32)", link=str(tmp_path / "none.o"))(1)
    (tmp_path / "bad.o").write_text("no object")
    with pytest.raises(un.CompileError, match="cannot be linked"):
        un.declare_device("product_of", "int32(int32)", link=str(tmp_path / "bad.o"))(1)
    with pytest.raises(un.CompileError, match="takes or gives scalar complex128"):
        un.declare_device("product_of", "complex128(int32)", link=files[".so"])(1)


def test_a_file_is_found_from_the_working_folder(files, monkeypatch):
    folder, name = os.path.split(files[".so"])
    monkeypatch.chdir(folder)
    assert un.declare_device("product_of", "int32(int32, int32)", link=name)(6, 7) == 42
