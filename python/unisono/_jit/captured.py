"""Resolves names that lead outside of a compiled function, and flattens what they stand for."""

from __future__ import annotations

import ast
import builtins
import cmath
import enum
import itertools
import math
import sys
import types
import weakref

from .. import _engine
from .._engine import CompileError
from .._loaded import loaded
from . import foreign, kernel_words
from .desugar import Value, _at, _call_of
from .interpreted import path_of
from .namespaces import held_by, numpy_path
from .plain_functions import compiled_function, why_not

_most_names = 256  # of captured arrays, before those of functions that are gone are looked for
_PYTHON = ("range", "len", "min", "max", "abs", "int", "float", "bool", "sum", "any", "all")
_PYTHON += ("pow", "round", "divmod", "enumerate", "zip", "reversed", "list", "sorted")
_PYTHON += ("tuple", "complex", "isinstance", "map", "filter", "print")
_PYTHON += ("str", "ord", "chr", "dict", "set", "bytes", "bytearray", "type")

_VALUES = (slice, range, type(...))  # classes of Python whose objects are values of their fields


# Of captured arrays, by name: by number, the identity of the mapping or cell where the name stands and the
# functions that capture it there. The number is free again when none of these is left.
_places = {}
_owners = (
    weakref.WeakKeyDictionary()
)  # by function: mappings of others that it captures from, which stay


def _name_of(owner, key, function):
    """A name that no variable has, the same in all functions that capture the array there."""
    held = _places.setdefault(key, {})
    for where in [w for w, (_, users) in held.items() if not users]:
        del held[where]
    where = next((w for w, (o, _) in held.items() if o == id(owner)), None)
    if where is None:
        where = next(w for w in itertools.count() if w not in held)
        held[where] = id(owner), weakref.WeakSet()
    held[where][1].add(function)
    cells = function.__closure__ or ()
    if owner is not function.__globals__ and not any(c is owner for c in cells):
        _owners.setdefault(function, {})[id(owner)] = owner
    if len(_places) > _most_names:
        _drop_unused_places()
    return f"{key}.global{where or ''}"


def _drop_unused_places():
    for key in [k for k, held in _places.items() if not any(u for _, u in held.values())]:
        del _places[key]


def is_array(value):
    """Whether it is an array, of NumPy or ours."""
    kind = type(value)
    is_known = kind.__name__ == "ndarray" and kind.__module__ in ("numpy", "unisono")
    return is_known and not _engine._is_value(value)


def is_taken(value):
    """Whether each call takes it from where it stands, as it takes an argument: it may change."""
    kind = type(value)
    if is_array(value) or kind in (list, dict, set, frozenset, getattr(_engine, "_Comm", None)):
        return True
    if kind is tuple:  # what holds an array
        return any(map(is_array, value))
    if not _is_known_class(kind):
        return False
    from .classes import describe

    return describe(kind)["form"] in ("instance", "object")


def is_plain_number(value):
    """Whether it is a number of Python's own that is a constant of compiled code as it is."""
    kind = value.__class__
    return kind is float or kind is bool or (kind is int and -(2**63) <= value < 2**63)


def is_number(value):
    """Whether it is a number of Python or NumPy that compiled code can take as an argument."""
    kind = type(value)
    if kind is int:
        return -(2**63) <= value < 2**63
    if kind in (bool, float, complex):
        return True
    return _is_numpy_scalar(value) and _is_known_dtype(value.dtype.name)


class Captured:
    """``node`` and ``unsupported`` are the flattener's."""

    def class_defaults(self, cls):
        """Nodes of the values that fields have where a call gives none."""
        from .classes import defaults

        held = defaults(cls)
        return {
            k: self.captured(self.definition, f"default of field {k}", v) for k, v in held.items()
        }

    def resolve(self, e):
        """Return (whether the name leads outside of the function, what it stands for now)."""
        if isinstance(e, ast.Name):
            return self.resolve_name(e.id)
        if isinstance(e, ast.Call):
            return self.limits(e)
        if isinstance(e, Value):
            return True, e.value
        if not isinstance(e, ast.Attribute):
            return False, None
        found, owner = self.resolve(e.value)
        if not found:
            return False, None
        known = self.members.get((id(owner), e.attr))
        if known is not None:
            return True, known[1]
        is_module = (
            isinstance(owner, types.ModuleType)
            or hasattr(owner, "_holds_compiled_functions")
            or foreign.is_library(owner)
        )
        if type(owner).__name__ in ("finfo", "iinfo") and hasattr(owner, e.attr):
            return True, getattr(owner, e.attr)
        if e.attr == "_fields" and isinstance(owner, type) and issubclass(owner, tuple):
            return True, getattr(owner, "_fields", ())
        if isinstance(owner, enum.EnumMeta) and e.attr in owner.__members__:
            return True, owner.__members__[e.attr]
        if isinstance(owner, enum.Enum) and e.attr in ("name", "value"):
            return True, getattr(owner, e.attr)
        if not is_module:
            return False, None
        if not hasattr(owner, e.attr):
            self.guard_absence(held_by(owner), e.attr)
            return False, None
        held = held_by(owner)
        if e.attr in held.get("_variables", ()):  # of C text: it changes behind our back
            return False, None
        value = getattr(owner, e.attr)
        if e.attr in held and (_is_plain(value) or not _is_settled(owner)):
            self.guard(held, e.attr, value)
        self.members[id(owner), e.attr] = owner, value
        return True, value

    def limits(self, e):
        """np.finfo(dtype), np.iinfo(dtype) and np.dtype(dtype) of a known dtype."""
        found, value = self.resolve(e.func)
        names = ("finfo", "iinfo", "dtype")
        if not found or getattr(value, "__name__", "") not in names or e.keywords:
            return False, None
        if numpy_path(value) not in names:
            return False, None
        known, dtype = self.resolve(e.args[0]) if len(e.args) == 1 else (False, None)
        if value.__name__ == "dtype" and e.args and isinstance(e.args[0], ast.Constant):
            known, dtype = isinstance(e.args[0].value, str), e.args[0].value
        return (True, value(dtype)) if known else (False, None)

    def is_itself(self, name):
        """Whether the name is the function's own, before anything is bound to it."""
        scope = self.function.__globals__
        if name != self.name or name in scope or hasattr(builtins, name):
            return False
        try:
            return name not in self.cells or self.cells[name].cell_contents is None
        except ValueError:
            return True

    def resolve_name(self, name):
        if name in self.imported:
            return True, self.imported[name]
        if name in self.locals:
            return False, None
        known = self.outside.get(name)
        if known is None:  # asked for many times
            known = self.outside[name] = self.resolve_outside(name)
        return known

    def resolve_outside(self, name):
        if self.number_around(name) is not None:
            return False, None
        if name in self.cells:
            try:
                value = self.cells[name].cell_contents
            except ValueError:
                self.guard_absence(self.cells[name], name)
                return False, None
            self.guard(self.cells[name], name, value)
            return True, value
        scope = self.function.__globals__
        if name in scope:
            self.guard(scope, name, scope[name])
            return True, scope[name]
        self.guard_absence(scope, name)
        if hasattr(builtins, name):
            return True, getattr(builtins, name)
        return False, None

    def number_around(self, name):
        """Where a number stands around a function that was made to be an argument: it may be another each time.

        Those of a module are such around lambdas only: others take them for constants.
        """
        if not self.options.get("takes_numbers"):
            return None
        try:
            if name in self.cells:
                cell = self.cells[name]
                return (cell, name) if is_number(cell.cell_contents) else None
        except ValueError:
            return None
        scope = self.function.__globals__
        is_free = self.function.__name__ == "<lambda>" and name not in self.locals
        return (scope, name) if is_free and is_number(scope.get(name)) else None

    def guard(self, owner, name, *value):
        """Note a value that a later call must still find."""
        if value and is_taken(value[0]) and self.takes_arrays:
            return  # each call looks it up
        if not any(g[0] is owner and g[1] == name for g in self.guards):
            self.guards.append((owner, name, *value))

    def guard_absence(self, owner, name):
        """Note that there is nothing of that name: where there is later, the function is read anew.

        But for its own, which it gets once it is decorated.
        """
        if owner is not None and name != self.name:
            self.guard(owner, name)

    def captured_array(self, e, value):
        """What may change and is captured: a parameter behind the others, which each call looks up."""
        owner, key, _ = self.place_of(e, value)
        if isinstance(owner, dict) and key not in owner:  # as un.mpi.COMM_WORLD is
            what = f"'{ast.unparse(e)}', which its module makes when it is asked for,"
            return self.unsupported(
                e, what, f"write `{key.lower()} = {ast.unparse(e)}` outside of the function"
            )
        return self.name_of_array(e, _name_of(owner, key, self.function), (owner, key))

    def captured_item(self, e):
        """What a captured dict of several types has at a constant key, as if it were a name; else None."""
        key = e.slice.value if isinstance(e.slice, ast.Constant) else None
        if not isinstance(key, str) or not isinstance(e.ctx, ast.Load) or not self.takes_arrays:
            return None
        found, owner = self.resolve(e.value)
        if not found or type(owner) is not dict:
            return None
        if key not in owner:
            self.guard_absence(owner, key)
            return None
        if len({type(v) for v in owner.values()}) == 1:
            return None
        value = owner[key]
        self.guards.append(self.place_of(e.value, owner))
        if is_taken(value):
            return self.name_of_array(e, _name_of(owner, key, self.function), (owner, key))
        self.guard(owner, key, value)
        return self.captured(e, ast.unparse(e), value)

    def name_of_array(self, at, name, place):
        root = self
        while root.around is not None:
            root = root.around
        root.arrays[name] = place
        root.locals.add(name)
        return self.expression_Name(_at(ast.Name(id=name, ctx=ast.Load()), at))

    def compiled_form(self, value):
        if self.is_own is None:
            self.is_own = _is_own(self.function)
        return _compiled_form(value, self.is_own)

    def captured(self, at, name, value):
        if kernel_words.is_lane(value):
            return self.expression(kernel_words.lane(at))
        given, value = value, self.compiled_form(value)
        if value is None:
            return self.node(at, "NoneValue")
        if hasattr(value, "linked"):  # of declare_device
            try:
                value = value.linked(self.options.get("link", ()))
            except CompileError as error:
                raise CompileError(
                    f"{self.name}: {error}; {name} is called at {self.file}:{at.lineno}"
                ) from None
        if isinstance(value, enum.Enum) and isinstance(value, (int, float, str)):
            value = value.value
        if value is ...:
            return self.node(at, "Call", [self.captured(at, "...", type(...))])
        if isinstance(value, str):
            return self.node(at, "Text", text=value)
        kind = type(value)
        if kind is int and 2**63 <= value < 2**64:
            return self.node(at, "Const", value=("uint64", value))
        if kind is int and not -(2**63) <= value < 2**63:
            return self.unsupported(
                at, f"the integer {value}", "integers are 64 bits wide in compiled functions"
            )
        if kind is complex:
            parts = [self.node(at, "Const", value=p) for p in (value.real, value.imag)]
            return self.node(at, "Call", [self.node(at, "Builtin", text="complex"), *parts])
        if _is_numpy_scalar(value) and value.dtype.kind == "c":
            number = self.captured(at, name, value.item())
            dtype = self.node(at, "Builtin", text=f"dtype:{value.dtype.name}")
            return self.node(at, "Call", [dtype, number])
        if kind in (bool, int, float):
            return self.node(at, "Const", value=value)
        if isinstance(value, tuple) and _is_known_class(kind):
            items = [
                self.captured(at, f"{name}.{f}", item)
                for f, item in zip(kind._fields, value, strict=True)
            ]
            return self.node(at, "Call", [self.captured(at, kind.__name__, kind), *items])
        if _is_known_class(kind):
            from .classes import describe

            if describe(kind)["form"] in ("instance", "object"):
                advice = (
                    f"it is an object of {kind.__name__}, which may change; pass it as an argument"
                )
                return self.node(at, "Opaque", text=name, value=advice)
            fields = describe(kind)["fields"]
            items = [
                self.node(at, "Keyword", [self.captured(at, f"{name}.{f}", getattr(value, f))], f)
                for f in fields
            ]
            return self.node(at, "Call", [self.class_node(at, kind.__name__, kind), *items])
        if kind is tuple or (kind is bytes and len(value) <= 1024 and self.gives_items(at)):
            items = [self.captured(at, f"{name}[{i}]", item) for i, item in enumerate(value)]
            return self.node(at, "Tuple", items)
        if kind is bytes and len(value) <= 1024:
            from .bytes_library import of_latin

            made = ast.Constant(value=value.decode("latin-1"))
            return self.expression(_call_of(of_latin, at, _at(made, at)))
        if _is_numpy_scalar(value) and _is_known_dtype(value.dtype.name):
            return self.node(at, "Const", value=(value.dtype.name, value.item()))
        if given is self.function and self.around is None:
            return self.node(at, "Function", text=name, value=-1)
        if isinstance(value, _engine.Dispatcher):
            index = next((i for i, c in enumerate(self.callees) if c is value), len(self.callees))
            if index == len(self.callees):
                self.callees.append(value)
            path = None if given is value else path_of(given)
            taken = value._captured_arrays() if self.takes_arrays else ()
            arrays = [self.name_of_array(at, *found) for found in taken]
            note = (index, path) if path else index
            return self.node(at, "Function", arrays, name, note)
        known = known_name(value)
        if known:
            path = path_of(value) if known.startswith(("np.", "un.")) else None
            return self.node(at, "Builtin", text=known, value=path)
        if _is_known_class(value) or _is_records(value):
            return self.class_node(at, name, value)
        return self.node(at, "Opaque", text=name, value=f"it is {_what(value)}")

    def class_node(self, at, name, cls):
        if cls not in self.classes:
            self.classes.append(cls)
        return self.node(at, "Class", text=name, value=self.classes.index(cls))


def _is_own(function):
    """Whether the library is written in it: there, builtins mean what they are, whatever users give them."""
    return (getattr(function, "__module__", None) or "").startswith(__package__ + ".")


def _compiled_form(value, is_own=False):
    """What a call in compiled code runs of an object that another decorator made; else the object itself."""
    if (
        is_own
        and getattr(builtins, getattr(value, "__name__", ""), None) is value
        and known_name(value)
    ):
        return value
    if callable(value):
        from .overload import implementation_of

        other = implementation_of(value)
        if other is not None:
            return other
        made = foreign.function_of(value)
        if made is not None:
            return made
        made = compiled_function(value)
        if made is not None:
            return made
    return getattr(type(value), "_in_compiled_code", None) and value._in_compiled_code or value


def _is_known_class(value):
    """Whether it is a class that compiled code can make objects of."""
    if not isinstance(value, type):
        return False
    if value.__module__.split(".")[0] in ("builtins", "numpy"):
        return value in _VALUES
    from .classes import describe

    return describe(value) is not None


def _is_records(value):
    """Whether it is NumPy's dtype of records."""
    numpy = loaded("numpy")
    return numpy is not None and isinstance(value, numpy.dtype) and value.names is not None


def _what(value):
    odd = foreign.why_not(value)
    if odd is not None:
        return odd
    if isinstance(value, types.FunctionType):
        return why_not(value) or "a Python function"
    if isinstance(value, types.BuiltinFunctionType):
        return "a function that compiled code does not know"
    if isinstance(value, types.ModuleType):
        return "a module"
    if isinstance(value, type) and "__del__" in dir(value):
        return "a class with __del__, which nothing would call there"
    if value is frozenset:
        return "a class whose objects compiled code only reads (in, len, loops); use set(...) where that does"
    if isinstance(value, enum.EnumMeta):
        return "an Enum; name its members, and loop over it"
    libraries = {"numpy", "unisono", *sys.stdlib_module_names}
    if isinstance(value, type) and value.__module__.partition(".")[0] not in libraries:
        return "a class of plain objects; decorate it with @dataclasses.dataclass or @un.jitclass"
    if getattr(getattr(value, "__self__", None), "__module__", "") == "random":
        return "a function of the module random that compiled code does not have; use another of its functions, or np.random"
    name = type(value).__name__
    if name == "UntypedIntrinsic":
        return 'an intrinsic without types; write @un.intrinsic("int32(uint64)")'
    if name == "NoImplementation":
        return "a function whose implementations return none for these types"
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _is_plain(value):
    return isinstance(value, (bool, int, float, complex, tuple, str)) or _is_numpy_scalar(value)


def _is_settled(owner):
    """Whether functions of the module stay what they are: it is of a library that we know."""
    root = getattr(owner, "__name__", "").partition(".")[0]
    return isinstance(owner, types.ModuleType) and (
        root in ("numpy", "unisono") or root in sys.stdlib_module_names
    )


def _is_numpy_scalar(value):
    """Whether it is a number with a dtype: a scalar of NumPy, or a value of ours."""
    kind = type(value)
    if kind in (bool, int, float, complex):
        return False
    is_number = kind.__module__ == "numpy" or isinstance(value, (int, float, complex))
    if not is_number or kind.__name__ == "ndarray":
        return _engine._is_value(value)
    return hasattr(value, "dtype") and hasattr(value, "item")


def known_name(value):
    """The engine's name of a function or dtype that it knows, else None."""
    if _is_dtype(value):  # of which ours have names as classes do
        return f"dtype:{value.name}" if _is_known_dtype(value.name) else None
    name = getattr(value, "__name__", None)
    if name is None:
        return "np.mgrid" if numpy_path(value) == "mgrid" else None
    if getattr(builtins, name, None) is value:
        return name if name in _PYTHON else None
    if getattr(math, name, None) is value:
        return f"math.{name}"
    if getattr(cmath, name, None) is value:
        return f"cmath.{name}"
    module = getattr(value, "__module__", None) or ""
    if name in ("integer", "floating") and numpy_path(value) == name:
        return f"np.{name}"
    if isinstance(value, type):
        plain = name.rstrip("_")
        if module in ("numpy", "unisono") and plain == "ndarray":
            return "np.ndarray"
        is_dtype = module in ("numpy", "unisono") and _is_known_dtype(plain)
        return f"dtype:{plain}" if is_dtype else None
    if module == "unisono.atomic":
        return f"atomic.{name}"
    if module == "dataclasses" and name == "replace":
        return "dataclasses.replace"
    home = (module or type(value).__module__).split(".")[0]
    if home not in ("numpy", "unisono") or _is_namesake(home, module, name, value):
        return None
    path = numpy_path(value) or name
    shown = path if path.partition(".")[0] in _APART else name  # unknown: for the message
    return f"un.{shown}" if home == "unisono" else f"np.{shown}"


_APART = ("char", "emath", "ma", "polynomial", "random", "strings")


def _is_namesake(home, module, name, value):
    """Whether a function only has the name of another that compiled code knows: emath.sqrt, ma.sum..."""
    held = sys.modules[home]  # ours are made when they are asked for
    found = vars(held).get(name) if home == "numpy" else getattr(held, name, None)
    if found is value or found is None:
        return False
    part = module.removeprefix(f"{home}.").partition(".")[0]
    return part in (*_APART, "_legacy_random") or module == "numpy.lib.scimath"


def _is_known_dtype(name):
    from .._dtype import objects as _dtypes

    return name in _dtypes._table


def _is_dtype(value):
    kind = type(value)
    # Numba's own type objects have the names of dtypes.
    is_numbas = kind.__module__.startswith("numba.core.types.")
    return kind.__name__ == "dtype" or kind.__name__.endswith("DType") or is_numbas
