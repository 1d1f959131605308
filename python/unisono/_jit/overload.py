"""Implementations for compiled code of functions that are written elsewhere."""

from __future__ import annotations

import ast
import builtins
import copy
import importlib
import math
import types

from .. import _engine
from .._loaded import loaded
from . import JitFunction
from .captured import known_name
from .desugar import Known, Value
from .namespaces import numpy_path

__all__ = ["overload", "overload_attribute", "overload_method"]

_known = {}
_otherwise = {}  # by implementation: what compiled code called before
members = {}  # (name, is a method): pairs of types or their names, for isinstance, and an implementation

# What numpy_library.py and random_library.py have, which are loaded when one of them is first named.
_of_numpy = frozenset(
    "allclose append argwhere around array_equal array_split asarray_chkfinite average bincount convolve corrcoef correlate cross deg2rad degrees delete diff digitize dsplit "
    "ediff1d fill_diagonal frombuffer hsplit interp isclose iscomplex iscomplexobj isin isneginf isposinf isreal isrealobj kron median nanmax nanmean nanmin nansum percentile "
    "polyval quantile rad2deg radians round searchsorted split square tile trapezoid unique vsplit".split()
)
_of_numpy_nan = frozenset(
    "nan_to_num nanargmax nanargmin nancumprod nancumsum nanmedian nanpercentile nanprod nanquantile nanstd nanvar".split()
)
_of_numpy_orders = frozenset(
    "argpartition bartlett blackman cumulative_sum gradient hamming hanning i0 intersect1d kaiser lexsort partition polyadd polymul polysub roots setdiff1d setxor1d trim_zeros union1d unwrap".split()
)
_of_numpy_grids = frozenset(
    "compress copyto diag_indices_from diagflat extract geomspace indices insert logspace meshgrid ravel_multi_index resize select sinc take_along_axis tri "
    "tril_indices tril_indices_from triu_indices triu_indices_from unravel_index vander".split()
)
_of_numpy_shapes = frozenset(
    "atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_shapes dstack rot90".split()
)
_of_numpy_composed = frozenset(
    "divmod fix frexp heaviside ldexp logaddexp logaddexp2 modf spacing".split()
)
_of_math = frozenset(("comb", "dist", "factorial", "fsum", "gcd", "isqrt", "lcm", "perm", "prod"))
_of_bisect = frozenset(("bisect_left", "bisect_right", "insort_left", "insort_right"))
_of_operator = frozenset(
    "abs add and_ concat contains eq floordiv ge getitem gt iadd iand ifloordiv ilshift imatmul imod imul "
    "inv invert ior ipow irshift isub itruediv ixor le lshift lt matmul mod mul ne neg not_ or_ pos pow "
    "rshift sub truediv truth xor".split()
)
_of_heapq = frozenset("heapify heappop heappush heappushpop heapreplace nlargest nsmallest".split())
_of_python_random = frozenset(
    "betavariate choice choices expovariate gammavariate gauss getrandbits lognormvariate normalvariate "
    "paretovariate randint random randrange sample seed shuffle triangular uniform weibullvariate".split()
)
_of_floats = frozenset(
    "degrees erf erfc frexp gamma isclose ldexp lgamma modf radians remainder ulp".split()
)
_of_cmath = frozenset("acos acosh asin asinh atan atanh isclose".split())
_of_polynomials = frozenset("polyadd polyder polydiv polyint polymul polysub polyval".split())
_of_groups = frozenset(
    f"{scope}_group_{word}{op}"
    for scope in ("sub", "work")
    for word in ("reduce_", "scan_inclusive_", "scan_exclusive_")
    for op in ("add", "min", "max")
) | frozenset(
    """num_sub_groups sub_group_all sub_group_any sub_group_ballot sub_group_barrier sub_group_broadcast sub_group_id
    sub_group_local_id sub_group_shuffle sub_group_shuffle_down sub_group_shuffle_up sub_group_shuffle_xor sub_group_size
    work_group_all work_group_any work_group_broadcast""".split()
)
_of_cuda = frozenset(
    """activemask all_sync any_sync ballot_sync brev clz eq_sync ffs lanemask_lt match_all_sync match_any_sync popc
    shfl_down_sync shfl_sync shfl_up_sync shfl_xor_sync syncthreads_and syncthreads_count syncthreads_or syncwarp""".split()
)
_modules = (
    ("unisono._jit.group_words", _of_groups, ".warp_library"),
    ("unisono.cuda.warps", _of_cuda, ".warp_library:of_cuda"),
    ("math", _of_floats, ".float_library:of_math"),
    ("cmath", _of_cmath, ".float_library:of_cmath"),
    ("numpy.polynomial.polynomial", _of_polynomials, ".polynomial_library"),
    ("numpy.polynomial.polyutils", frozenset(("trimseq",)), ".polynomial_library:of_utilities"),
    ("bisect", _of_bisect, ".library"),
    ("heapq", _of_heapq, ".heap_library"),
    ("operator", _of_operator, ".operator_library"),
    ("random", _of_python_random, ".python_random_library"),
)
_of_linalg = frozenset(
    "cond eig eigh eigvals eigvalsh lstsq matrix_power matrix_rank pinv qr slogdet svd svdvals".split()
)
_numpy_pages = (
    (_of_numpy, ".numpy_library"),
    (_of_numpy_nan, ".numpy_nan"),
    (_of_numpy_orders, ".numpy_orders"),
    (_of_numpy_grids, ".numpy_grids"),
    (_of_numpy_shapes, ".numpy_shapes"),
    (_of_numpy_composed, ".numpy_composed"),
)
_page_of = {name: page for names, page in _numpy_pages for name in names}
_of_random = frozenset(
    "beta binomial chisquare choice dirichlet exponential f gamma geometric gumbel hypergeometric laplace "
    "logistic lognormal logseries multinomial negative_binomial noncentral_chisquare noncentral_f normal "
    "pareto permutation poisson power rand randint randn random random_sample ranf rayleigh sample seed "
    "shuffle standard_cauchy standard_exponential standard_gamma standard_normal standard_t triangular "
    "uniform vonmises wald weibull zipf".split()
)


def overload(function, **options):
    """Give a function an implementation that compiled functions call in its place.

    Parameters
    ----------
    function : callable
        What compiled code names: of any module, or of your own.
    **options
        As of `jit`, for the implementation; also as a dict, ``jit_options=``, in Numba's spelling.

    Returns
    -------
    decorator
        Takes the implementation, a Python function with the same parameters, and returns it.

    Raises
    ------
    TypeError
        `function` cannot be called, or the implementation is no Python function.

    Notes
    -----
    Python goes on to call the function itself. ``isinstance(x, float)`` and ``x is None`` in an
    implementation are decided by the types of the call when it is compiled, so that one
    implementation may serve several types. As in Numba it may instead return the function, or the
    lambda, that does the work, made inside or beside it: ``return impl``; where it returns none for the types of a call, compiled
    code calls what it called without it. Functions that were compiled before keep what they had.
    For machine-level operations, see `intrinsic`.

    Examples
    --------
    >>> import statistics, unisono as un
    >>> @un.overload(statistics.fmean)
    ... def fmean(values):
    ...     s = 0.0
    ...     for v in values:
    ...         s += v
    ...     return s / len(values)
    >>> @un.jit
    ... def spread(a, b):
    ...     return statistics.fmean((a, b)) - a
    >>> spread(1.0, 4.0)
    1.5
    """
    if not callable(function):
        raise TypeError(
            f"overload: only functions have implementations; got {type(function).__name__}; "
            f"name the function that compiled code calls"
        )

    def register(implementation):
        otherwise = implementation_of(function) or function
        made = _implementation(implementation, "overload", options)
        _known[id(function)] = (function, made)
        _otherwise[implementation] = otherwise
        return implementation

    return register


def overload_method(type_, name, **options):
    """Give values of a type a method that compiled functions call.

    Parameters
    ----------
    type_ : type
        A kind of types: ``types.Array``, ``types.UnicodeType``, ``types.Float``...
    name : str
        The method's name.
    **options
        As of `overload`.

    Returns
    -------
    decorator
        Takes the implementation, whose first parameter is the value, and returns it.

    Raises
    ------
    TypeError
        If the type is of another kind.

    Examples
    --------
    >>> import numpy as np, unisono as un
    >>> from unisono import types
    >>> @un.overload_method(types.Array, "middle")
    ... def middle(a):
    ...     return a[len(a) // 2]
    >>> @un.jit
    ... def f(a):
    ...     return a.middle()
    >>> f(np.arange(5.0))
    2.0
    """
    return _member(type_, name, True, options)


def overload_attribute(type_, name, **options):
    """Give values of a type an attribute that compiled functions read.

    Parameters
    ----------
    type_ : type
        A kind of types: ``types.Array``, ``types.UnicodeType``, ``types.Float``...
    name : str
        The attribute's name.
    **options
        As of `overload`.

    Returns
    -------
    decorator
        Takes the implementation, whose parameter is the value, and returns it.

    Raises
    ------
    TypeError
        If the type is of another kind.

    Examples
    --------
    >>> import numpy as np, unisono as un
    >>> from unisono import types
    >>> @un.overload_attribute(types.Array, "rows")
    ... def rows(a):
    ...     return a.shape[0]
    >>> @un.jit
    ... def f(a):
    ...     return a.rows
    >>> f(np.ones((5, 2)))
    5
    """
    return _member(type_, name, False, options)


def _member(type_, name, is_method, options):
    what = "overload_method" if is_method else "overload_attribute"
    names = getattr(type_, "python", ())
    if names == () or "None" in names:
        raise TypeError(
            f"{what}: members belong to a kind of types; got {type_!r}; write types.Array, types.Float or the like"
        )

    def register(implementation):
        made = _implementation(implementation, what, options)
        members.setdefault((name, is_method), []).append((names, made))
        return implementation

    return register


def _implementation(function, what, options):
    if isinstance(function, _engine.Dispatcher):
        return function
    from .options import checked

    # Numba's spelling: options of `jit` in a dict, and two that choose nothing here
    options = {**options, **(options.get("jit_options") or {})}
    options = {
        n: v for n, v in options.items() if n not in ("jit_options", "strict", "prefer_literal")
    }
    return JitFunction(function, False, None, checked(options, what) | {"chooses": True})


class NoImplementation:
    """What is called where none of the implementations returns a function."""

    def __init__(self, function):
        self.function = function

    def __repr__(self):
        return getattr(self.function, "__name__", repr(self.function))


def called_choice(definition, implementation):
    """The body of an implementation, with calls of the functions inside that it returns."""
    body = copy.deepcopy(definition.body)
    walked = [n for s in body for n in ast.walk(s)]
    inside = {n.name for n in walked if isinstance(n, ast.FunctionDef)}
    for n in walked:
        if isinstance(n, ast.Assign) and isinstance(n.value, ast.Lambda):
            inside |= {t.id for t in n.targets if isinstance(t, ast.Name)}
    inside |= {
        n.value.id
        for n in walked
        if isinstance(n, ast.Return)
        and isinstance(n.value, ast.Name)
        and _names_function(n.value.id, implementation)
    }
    args = definition.args
    given = [ast.Name(id=a.arg, ctx=ast.Load()) for a in (*args.posonlyargs, *args.args)]
    if args.vararg:
        given.append(ast.Starred(ast.Name(id=args.vararg.arg, ctx=ast.Load()), ast.Load()))
    choice = _Choice(inside, given)
    body = [n for s in body for n in choice.statements(s)]
    otherwise = _otherwise.get(implementation)
    if not choice.made or isinstance(definition.body[-1], ast.Return) or args.kwonlyargs:
        return body
    if isinstance(otherwise, _engine.Dispatcher):
        function = Value(value=otherwise, ctx=ast.Load())
    elif known_name(otherwise):
        function = Known(id=known_name(otherwise), ctx=ast.Load())
    else:
        function = Value(value=NoImplementation(otherwise), ctx=ast.Load())
    call = ast.Return(ast.Call(func=function, args=copy.deepcopy(given), keywords=[]))
    return [*body, ast.fix_missing_locations(ast.copy_location(call, definition.body[-1]))]


def _names_function(name, implementation):
    """Whether a name around an implementation is a function's."""
    code = implementation.__code__
    if name in code.co_varnames or name in code.co_cellvars:
        return False
    if name in code.co_freevars:
        try:
            value = implementation.__closure__[code.co_freevars.index(name)].cell_contents
        except ValueError:  # assigned later
            return False
    else:
        value = implementation.__globals__.get(name)
    return isinstance(value, (types.FunctionType, _engine.Dispatcher))


class _Choice(ast.NodeTransformer):
    """``return impl`` as ``return impl(x, y)``."""

    def __init__(self, inside, given):
        self.inside, self.given = inside, given
        self.made = False  # whether a choice was found

    def statements(self, s):
        made = self.visit(s)
        return made if isinstance(made, list) else [made]

    def visit_FunctionDef(self, node):
        return node

    visit_Lambda = visit_FunctionDef

    def visit_Return(self, node):
        function, before = node.value, []
        if isinstance(function, ast.Lambda):
            name = "__chosen"
            before = [ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=function)]
            function = ast.Name(id=name, ctx=ast.Load())
        elif not isinstance(function, ast.Name) or function.id not in self.inside:
            return node
        self.made = True
        call = ast.Call(func=function, args=copy.deepcopy(self.given), keywords=[])
        made = [*before, ast.Return(value=call)]
        return [ast.fix_missing_locations(ast.copy_location(s, node)) for s in made]


def implementation_of(value):
    """The compiled function that stands for a value, or None."""
    found = _known.get(id(value))
    if found:
        return found[1]
    name = getattr(value, "__name__", None)
    owner = (
        builtins if name in ("bin", "hash", "hex", "oct") else math if name in _of_math else None
    )
    if owner and getattr(owner, name) is value:
        from .math_library import implementations

        return implementations[name]
    for home, names, library in _modules:
        module = loaded(home) if name in names else None
        if module and getattr(module, name) is value:
            file, _, table = library.partition(":")
            held = importlib.import_module(file, __package__)
            return getattr(held, table or "implementations")[name]
    if name not in _page_of and name not in _of_random and name not in _of_linalg:
        return None
    path = numpy_path(value)
    if path is None:
        return None
    part, _, name = path.rpartition(".")
    if part == "random" and name in _of_random:
        from . import random_library

        return random_library.implementations[name]
    if part == "linalg" and name in _of_linalg:
        from . import numpy_linalg

        return numpy_linalg.implementations[name]
    page = _page_of.get(name) if part == "" else None
    return importlib.import_module(page, __package__).implementations[name] if page else None
