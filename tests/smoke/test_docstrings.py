"""The examples in docstrings run and print what they say."""

import doctest
import importlib
import pkgutil

import pytest
import unisono as un

# The mesh is left out: its example starts MPI, which belongs to the ranks of tests/mpi.
LEFT_OUT = ("__main__", "libunisono", "_mesh")
MODULES = sorted(
    m.name
    for m in pkgutil.walk_packages(un.__path__, "unisono.")
    if not any(text in m.name for text in LEFT_OUT)
)


@pytest.mark.parametrize("name", ["unisono", *MODULES])
def test_module(name):
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module)
    assert failed == 0


def test_array_type_and_devices():
    finder = doctest.DocTestFinder(recurse=False)
    tried = 0
    for member in ("sum", "prod", "max", "min", "astype", "copy", "reshape", "to_device"):
        for test in finder.find(getattr(un.ndarray, member), f"ndarray.{member}", globs={}):
            runner = doctest.DocTestRunner()
            runner.run(test)
            tried += runner.tries
            assert runner.failures == 0, member
    assert tried > 0
