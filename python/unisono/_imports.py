"""What the import of other modules brings about: registrations with libraries, and NumPy's modules under our name.

A registration runs once, after the library's module has run. Nothing is imported for it, and a library that is never
imported costs nothing.
"""

import sys

# Functions of `_arrays/exchange/registration.py` by the module that they register with.
_registrations = {
    "numbers": "register_with_numbers",
    "numpy.testing": "register_with_testing",
    "numpy.ctypeslib": "register_with_ctypeslib",  # until NumPy 2.2
    "numpy.ctypeslib._ctypeslib": "register_with_ctypeslib",
    "pandas.core.common": "register_with_pandas",
    "pandas.core.dtypes.cast": "register_with_columns",
    "pandas.core.dtypes.missing": "register_with_missing",
    "pandas.core.groupby.grouper": "register_with_groups",
    "pandas.core.frame": "register_with_frames",
    "pandas.core.reshape.pivot": "register_with_pivots",
    "scipy.sparse.linalg._dsolve._superlu": "register_with_superlu",
    "scipy.spatial.distance": "register_with_distances",
    "einops._backends": "register_with_einops",
    "dask.array.backends": "register_with_dask",
}

# What is NumPy's own: ``import unisono.ma`` gives ``numpy.ma``, and what lies in it. What lies in `unisono.lib` itself
# is ours.
_package = __name__.partition(".")[0]
_numpys = frozenset("char ctypeslib dtypes lib ma matrixlib polynomial rec strings typing".split())
_ours = ("lib", "lib.stride_tricks")


class _NumpysLoader:
    """Loads a module of NumPy under a name of ours."""

    def __init__(self, name):
        self._name = name

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        import importlib

        sys.modules[module.__name__] = importlib.import_module(self._name)


class _RegisteringLoader:
    """A module's own loader; the registration runs behind it."""

    def __init__(self, loader):
        self._loader = loader

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _register(module.__name__, module)

    def __getattr__(self, name):
        return getattr(self._loader, name)


def _register(name, module):
    """Run a registration once; a library whose tables have changed stays as it is, and refuses our arrays itself."""
    registration = _registrations.pop(name, None)
    try:
        if registration is not None:
            from ._arrays.exchange import registration as functions

            getattr(functions, registration)(module)
    except AttributeError:
        pass


class _Finder:
    """Of ``sys.meta_path``: first there, or a second copy would be loaded of what lies in NumPy's packages."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in _registrations:
            # By the finders behind this one, with another loader.
            others = (f for f in sys.meta_path if f is not _Finder and hasattr(f, "find_spec"))
            spec = next(filter(None, (f.find_spec(name, path, target) for f in others)), None)
            if spec is not None and hasattr(spec.loader, "exec_module"):
                spec.loader = _RegisteringLoader(spec.loader)
            return spec
        package, _, rest = name.partition(".")
        if package != _package or rest.partition(".")[0] not in _numpys or rest in _ours:
            return None
        import importlib.util

        if importlib.util.find_spec("numpy." + rest) is None:
            return None
        return importlib.util.spec_from_loader(name, _NumpysLoader("numpy." + rest))


def install():
    """Register with what is loaded already, and from now on with what is imported."""
    for name in list(_registrations):
        if name in sys.modules:
            _register(name, sys.modules[name])
    sys.meta_path.insert(0, _Finder)
