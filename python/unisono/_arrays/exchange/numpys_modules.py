"""Imports of modules that are NumPy's own: ``import unisono.ma`` gives ``numpy.ma``, and what lies in it."""

import sys

# What lies in `unisono.lib` itself is ours.
_numpys = frozenset("char ctypeslib dtypes lib ma matrixlib polynomial rec strings typing".split())
_ours = ("lib", "lib.stride_tricks")


class _Finder:
    """Of ``sys.meta_path``: first there, or a second copy would be loaded of what lies in NumPy's packages."""

    def __init__(self, package):
        self._start = package + "."

    def find_spec(self, name, path=None, target=None):
        if not name.startswith(self._start):
            return None
        rest = name[len(self._start) :]
        if rest.partition(".")[0] not in _numpys or rest in _ours:
            return None
        import importlib.util

        if importlib.util.find_spec("numpy." + rest) is None:
            return None
        return importlib.util.spec_from_loader(name, _Loader("numpy." + rest))


class _Loader:
    def __init__(self, name):
        self._name = name

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        import importlib

        sys.modules[module.__name__] = importlib.import_module(self._name)


def install(package):
    """Let modules of `package` that are NumPy's be imported."""
    sys.meta_path.insert(0, _Finder(package))
