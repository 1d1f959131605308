"""Start-up of programs on many ranks: rank 0 reads modules and sends them to the others.

Rank 0 imports what the program names in its import statements, and so reads all modules that this needs. It sends the
code of all of them, and of the program, in one broadcast; on the other ranks an importer gives it out. These wait for
it at the first line of the package `unisono.mpi`, so that most of unisono itself comes from rank 0, too. Modules that
the program imports later, and extension modules, are read by each rank.
"""

import marshal
import sys
from importlib.machinery import ExtensionFileLoader, ModuleSpec, SourceFileLoader
from importlib.util import find_spec

_received = []  # the program's text and the failure to read it

USAGE = "usage: python -m unisono.mpi program.py [argument]..."


class Importer:
    """Finds and loads modules whose code came from rank 0: name -> (file, folders of a package or None, code).

    Of extension modules, which have no code, it knows the file, so that no folder is searched.
    """

    def __init__(self, modules):
        self._modules = modules

    def find_spec(self, name, path=None, target=None):
        """The specification of a module that rank 0 sent, or None."""
        if name not in self._modules:
            return None
        file, folders, code = self._modules[name]
        loader = self if code is not None else ExtensionFileLoader(name, file)
        spec = ModuleSpec(name, loader, origin=file, is_package=folders is not None)
        spec.has_location = True
        if folders is not None:
            spec.submodule_search_locations = list(folders)
        return spec

    def create_module(self, spec):
        """Modules are made as usual."""

    def exec_module(self, module):
        """Run a module's code."""
        exec(self.get_code(module.__name__), module.__dict__)

    def is_package(self, name):
        """Whether a module is a package."""
        return self._modules[name][1] is not None

    def get_code(self, name):
        """A module's code."""
        return marshal.loads(self._modules[name][2])

    def get_filename(self, name):
        """Where a module's source is."""
        return self._modules[name][0]

    def get_source(self, name):
        """A module's source, which is read when asked for."""
        return SourceFileLoader(name, self.get_filename(name)).get_source(name)

    def get_data(self, path):
        """The bytes of a file beside a module."""
        with open(path, "rb") as file:
            return file.read()

    def get_resource_reader(self, name):
        """Access to files of a package."""
        return SourceFileLoader(name, self.get_filename(name)).get_resource_reader(name)


def _imports(tree):
    """Modules that a program names in its import statements."""
    import ast

    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _preload(names):
    """Import modules where they are; what fails will fail again in the program, at its line."""
    import importlib

    for name in names:
        try:
            if find_spec(name) is not None:
                importlib.import_module(name)
        except Exception:
            sys.modules.pop(name, None)


def _submodules(package):
    """Modules of a package that loads them at their first use."""
    import pkgutil

    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.endswith("__main__"):
            yield module.name


def _code_of(name, spec):
    """File, folders and code of a module that is a file; None of others."""
    loader = spec.loader
    if isinstance(loader, ExtensionFileLoader):
        return spec.origin, None, None
    if not isinstance(loader, SourceFileLoader):
        return None
    try:
        code = loader.get_code(name)
    except Exception:
        return None
    folders = spec.submodule_search_locations
    return spec.origin, None if folders is None else list(folders), marshal.dumps(code)


def _collect():
    """Of all modules there are, and those of this package, file, folders and code."""
    import unisono

    specs = {name: getattr(m, "__spec__", None) for name, m in list(sys.modules.items())}
    for name in _submodules(unisono):
        if name not in specs:
            specs[name] = find_spec(name)
    found = {}
    for name, spec in specs.items():
        if spec is not None and name != "__main__" and (entry := _code_of(spec.name, spec)):
            found[name] = entry
    return found


def _read(program):
    """The program's text, and the modules that other ranks will ask for."""
    import ast
    import tokenize

    with tokenize.open(program) as file:
        text = file.read()
    _preload(dict.fromkeys(_imports(ast.parse(text, program))))
    return text


def _broadcast(comm, data):
    """Bytes of rank 0, by the engine's call: the package that has `Bcast` is not there yet."""
    comm._start(1, None, None, data, None, 0, 0).Wait()
    return data


def _send(comm, found):
    """Send what `receive_modules` takes."""
    import pickle

    text, modules, failure = found
    data = marshal.dumps((text, modules, pickle.dumps(failure)))
    _broadcast(comm, bytearray(len(data).to_bytes(8, "little")))
    _broadcast(comm, bytearray(data))


def receive_modules():
    """Where ``python -m unisono.mpi program.py`` has begun: on all ranks but rank 0, wait for what it has read."""
    given = _arguments_of_module(sys.orig_argv)
    if not given or given[0] in ("-h", "--help"):
        return
    from .._engine import _let_others_compile, _mpi_types
    from ._job import begin

    _mpi_types()
    comm = begin()[1]
    if comm.rank == 0:
        return
    data = _broadcast(comm, bytearray(int.from_bytes(_broadcast(comm, bytearray(8)), "little")))
    text, modules, failure = marshal.loads(data)
    _received[:] = text, failure
    _let_others_compile()
    sys.meta_path.insert(0, Importer(modules))


def _arguments_of_module(words):
    """The arguments of ``python -m unisono.mpi``; None of another command."""
    for at, word in enumerate(words[1:-1], 1):
        if word.startswith("-") and word.endswith("m") and words[at + 1] == "unisono.mpi":
            return words[at + 2 :]
    return None


def main(arguments):
    """Run a program as ``__main__``, with modules that rank 0 read."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE)
        sys.exit(0 if arguments else 2)
    from ._job import connect

    comm = connect()["world"]
    program = arguments[0]
    sys.argv = list(arguments)
    sys.path[0] = program.rpartition("/")[0]
    if comm.rank == 0:
        text, modules, failure = None, {}, None
        try:
            text = _read(program)
            modules = _collect() if comm.size > 1 else {}
        except (OSError, SyntaxError) as error:
            failure = error
        _send(comm, (text, modules, failure))
    else:
        import pickle

        text, failure = _received[0], pickle.loads(_received[1])
    if failure is not None:
        raise failure
    run(program, text)


def run(program, text, name="__main__", *others, package=None, names=None):
    """Run the program's text as the main module; tracebacks and compiled functions find its lines.

    It is found under other names, too: what was pickled where it has another name is found here. `package`: that it is
    part of; `names`: what it has before it runs.
    """
    import linecache

    linecache.cache[program] = (len(text), None, text.splitlines(keepends=True), program)
    module = type(sys)(name)
    module.__file__ = program
    module.__package__ = package
    module.__dict__.update(names or {})
    for known in ("__main__", name, *others):
        sys.modules[known] = module
    exec(compile(text, program, "exec", dont_inherit=True), module.__dict__)
