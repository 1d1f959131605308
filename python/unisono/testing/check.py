"""`testing.check`: the same call on several devices, and the first line after which something differs.

A Python function is followed by its lines (`_Follow`): after each, the values of its variables are compared with those of the first place.
A compiled function is followed inside: a copy of it, written by `_Logging`, keeps what each of its assignments stored.
"""

import ast
import contextlib
import inspect
import linecache
import sys
import textwrap
import warnings

import numpy as np

from .. import _engine

__all__ = ["check"]

_longest_log = 1 << 20  # assignments of a compiled function that are compared


class _Tolerance:
    def __init__(self, rtol, atol):
        self.rtol, self.atol = rtol, atol

    def differing(self, a, b):
        """Whether each element differs; None where even shapes or kinds do."""
        if a.shape != b.shape or (a.dtype.kind in "OSUV") != (b.dtype.kind in "OSUV"):
            return None
        if a.dtype.kind not in "fc" or b.dtype.kind not in "fc":
            return np.asarray(a != b)
        coarse = max(a.dtype, b.dtype, key=lambda t: np.finfo(t).eps)
        rtol = np.finfo(coarse).eps ** 0.75 if self.rtol is None else self.rtol
        with np.errstate(all="ignore"):
            known = np.abs(a[np.isfinite(a)])
            atol = rtol * known.max(initial=0.0) if self.atol is None else self.atol
            near = np.abs(a - b) <= atol + rtol * np.abs(a)
            near &= np.isfinite(a) & np.isfinite(b)
        return ~(near | (a == b) | (np.isnan(a) & np.isnan(b)))

    def says(self, name, a, b, places):
        """How two values of a name differ, in a line of text; empty where they agree."""
        wrong = self.differing(a, b)
        if wrong is None:
            return f"{name}: {a.dtype} of shape {a.shape} on {places[0]}, {b.dtype} of shape {b.shape} on {places[1]}"
        if not wrong.any():
            return ""
        at = tuple(int(k) for k in np.argwhere(wrong)[0]) if wrong.ndim else ()
        where = f"{name}[{', '.join(map(str, at))}]" if at else name
        text = f"{where} is {a[at]!s} on {places[0]} and {b[at]!s} on {places[1]}"
        if wrong.ndim:
            text += f"; {int(wrong.sum())} of {wrong.size} elements differ"
        return text


def _parts(name, value, depth=0):
    """Arrays and numbers that a value is made of, as NumPy's, with names."""
    if isinstance(value, (_engine._Array, np.ndarray)):
        found = np.asarray(value)
        if found.dtype.kind != "O":
            yield name, found.copy()
    elif isinstance(value, (bool, int, float, complex, np.generic)):
        found = np.asarray(value)
        if found.dtype.kind != "O":
            yield name, found
    elif isinstance(value, (tuple, list)) and depth < 3:
        for k, part in enumerate(value):
            yield from _parts(f"{name}[{k}]", part, depth + 1)
    elif isinstance(value, dict) and depth < 3:
        for k, part in value.items():
            yield from _parts(f"{name}[{k!r}]", part, depth + 1)
    elif not isinstance(value, str) and hasattr(value, "__float__"):
        with contextlib.suppress(Exception):
            yield name, np.asarray(value)


def _placed(value, place):
    """The value with copies of its arrays on the place."""
    import unisono as un

    if isinstance(value, (un._engine._Array, np.ndarray)):
        return un.asarray(np.array(value), device=place)
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        return type(value)(_placed(v, place) for v in value)
    if type(value) is dict:
        return {k: _placed(v, place) for k, v in value.items()}
    return value


def _outcome(call, func, args, kwargs, place):
    """(parts of the result and of the arguments, error) of one run."""
    import unisono as un

    args, kwargs = _placed(args, place), _placed(kwargs, place)
    with un.device(place):
        try:
            parts = dict(_parts("result", call(func, *args, **kwargs)))
        except Exception as error:
            return {}, error
        names = _names_of(func, len(args))
        for name, value in [*zip(names, args, strict=False), *kwargs.items()]:
            parts.update(_parts(name, value))
    return parts, None


def _names_of(func, count):
    try:
        names = list(inspect.signature(getattr(func, "py_func", func)).parameters)[:count]
    except (TypeError, ValueError):
        names = []
    return names + [f"argument {k}" for k in range(len(names), count)]


def _difference(first, other, places, tolerance):
    """Lines that say how two outcomes differ."""
    (parts, error), (others, other_error) = first, other
    if type(error) is not type(other_error):
        said = [f"{type(e).__name__}: {e}" if e else "no error" for e in (error, other_error)]
        return [f"{said[0]} on {places[0]}; {said[1]} on {places[1]}"]
    lines = [
        tolerance.says(name, parts[name], others[name], places) for name in parts if name in others
    ]
    lines += [
        f"{name} is there on {places[name in others]} alone"
        for name in sorted(parts.keys() ^ others.keys())
    ]
    return [line for line in lines if line]


class _Follow:
    """Runs a function and hands what changed after each of its lines to `note`, which says whether to go on."""

    def __init__(self, note):
        self.note, self.line, self.code = note, 0, None

    def __call__(self, func, *args, **kwargs):
        self.code, before = func.__code__, sys.gettrace()
        self.known = {}
        sys.settrace(self._enter)
        try:
            return func(*args, **kwargs)
        finally:
            sys.settrace(before)

    def _enter(self, frame, event, _):
        if frame.f_code is not self.code:
            return None
        self.line = frame.f_lineno
        self.known = self._values(frame)
        return self._step

    @staticmethod
    def _values(frame):
        return {n: v for k, value in list(frame.f_locals.items()) for n, v in _parts(k, value)}

    def _step(self, frame, event, value):
        if event not in ("line", "return"):
            return self._step
        now = self._values(frame)
        changed = {
            n: v for n, v in now.items() if n not in self.known or not _same_bits(self.known[n], v)
        }
        self.known = now
        if changed and not self.note(self.line, changed):
            return None
        self.line = frame.f_lineno
        return self._step


def _same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def _first_line(func, args, kwargs, places, tolerance):
    """(line, what differs) of a Python function; None where its lines do not differ."""
    steps, found, count = [], [], 0

    def keep(line, changed):
        steps.append((line, changed))
        return True

    def compare(line, changed):
        nonlocal count
        if count >= len(steps) or steps[count][0] != line:
            expected = f"line {steps[count][0]}" if count < len(steps) else "the end"
            found.append((line, [f"{expected} follows on {places[0]}, this line on {places[1]}"]))
            return False
        differs = _difference((steps[count][1], None), (changed, None), places, tolerance)
        count += 1
        if differs:
            found.append((line, differs))
        return not differs

    _outcome(_Follow(keep), func, args, kwargs, places[0])
    follow = _Follow(compare)
    _, error = _outcome(follow, func, args, kwargs, places[1])
    if not found and error is not None:
        found.append((follow.line, [f"{type(error).__name__} on {places[1]}"]))
    return found[0] if found else None


class _Logging(ast.NodeTransformer):
    """Notes what each assignment of a function stores: `_log[k]` its value, `_at[k]` which it was, `_at[-1]` the next k."""

    def __init__(self, kinds, skipped):
        self.kinds, self.skipped, self.sites = kinds, skipped, []

    def _note(self, target, line):
        text = ast.unparse(target)
        site = len(self.sites)
        self.sites.append((line, text))
        if text in self.skipped:
            return []
        value = f"({text}).sum()" if self.kinds.get(text) == "array" else text
        return ast.parse(
            f"if _at[-1] < _log.shape[0]:\n    _log[_at[-1]] = {value}\n    _at[_at[-1]] = {site}\n_at[-1] += 1"
        ).body

    def _after(self, node, targets):
        self.generic_visit(node)
        notes = []
        for target in targets:
            parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
            for part in parts:
                if isinstance(part, (ast.Name, ast.Subscript)):
                    load = ast.parse(ast.unparse(part), mode="eval").body
                    notes += self._note(load, node.lineno)
        return [node, *notes]

    def visit_Assign(self, node):
        return self._after(node, node.targets)

    def visit_AugAssign(self, node):
        return self._after(node, [node.target])

    def visit_AnnAssign(self, node):
        return self._after(node, [node.target] if node.value else [])

    def visit_FunctionDef(self, node):
        return node  # functions inside stay as they are

    def visit_Lambda(self, node):
        return node


def _logging_copy(func, kinds, skipped):
    """A compiled copy of a compiled function with `_log` and `_at` behind its parameters, and (line, name) of its assignments."""
    import unisono as un

    source = func.py_func
    lines, first = inspect.getsourcelines(source)
    tree = ast.parse(textwrap.dedent("".join(lines)))
    definition = tree.body[0]
    ast.increment_lineno(tree, first - 1)
    definition.decorator_list = []
    definition.args.defaults, definition.args.kw_defaults = [], []
    logging = _Logging(kinds, skipped)
    body = []
    for statement in definition.body:
        done = logging.visit(statement)
        body += done if isinstance(done, list) else [done]
    definition.body = body
    definition.args.args += [ast.arg("_log"), ast.arg("_at")]
    ast.fix_missing_locations(tree)
    text = ast.unparse(tree)
    name = f"<steps of {source.__name__}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names = dict(source.__globals__)
    if source.__closure__:
        names.update(
            zip(
                source.__code__.co_freevars,
                (c.cell_contents for c in source.__closure__),
                strict=True,
            )
        )
    exec(compile(text, name, "exec"), names)
    options = {
        k: v
        for k, v in func._options_given.items()
        if k in ("fastmath", "boundscheck", "error_model")
    }
    return un.jit(**options)(names[source.__name__]), logging.sites


def _log_of(func, args, kwargs, place, kinds, skipped):
    import unisono as un

    copy, sites = _logging_copy(func, kinds, skipped)
    log = un.zeros(_longest_log, dtype="complex128", device=place)
    at = un.zeros(_longest_log + 1, dtype="int64", device=place)
    args, kwargs = _placed(args, place), _placed(kwargs, place)
    error = None
    with un.device(place), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the copy
        try:
            copy(*args, **kwargs, _log=log, _at=at)
        except un.errors.CompileError:
            raise
        except Exception as raised:
            error = raised
    at = np.asarray(at)
    count = min(int(at[-1]), _longest_log)
    return [sites[k] for k in at[:count]], np.asarray(log)[:count], error


def _first_assignment(func, args, kwargs, places, tolerance):
    """As `_first_line`, of a compiled function."""
    import unisono as un

    if kwargs:
        bound = inspect.signature(func.py_func).bind(*args, **kwargs)
        args, kwargs = bound.args, bound.kwargs
    _, sites = _logging_copy(func, {}, set())
    names = dict.fromkeys(text for _, text in sites)
    kinds, skipped = {}, set(names)
    # What can be logged is found by trying: numbers as they are, arrays by their sums.
    for name in names:
        skipped.discard(name)
        for kind in ("number", "array"):
            kinds[name] = kind
            try:
                _log_of(func, args, kwargs, places[0], kinds, skipped)
                break
            except un.errors.CompileError:
                continue
        else:
            skipped.add(name)
    if len(skipped) == len(names):
        return None
    logs = [_log_of(func, args, kwargs, place, kinds, skipped) for place in places]
    (sites, values, error), (others, other_values, other_error) = logs
    for k in range(max(len(sites), len(others))):
        if k >= min(len(sites), len(others)) or sites[k] != others[k]:
            said = [s[k] if k < len(s) else ("the end", "") for s in (sites, others)]
            line = next(s[0] for s in said if s[1])
            return line, [
                f"assignment {k + 1} is that of line {said[0][0]} on {places[0]}, and of {said[1][0]} on {places[1]}"
            ]
        says = tolerance.says(sites[k][1], values[k], other_values[k], places)
        if says:
            return sites[k][0], [
                says.replace("(", "").replace("+0j)", "").replace("0j)", "")
                + f" (assignment {k + 1})"
            ]
    if type(error) is not type(other_error) and sites:
        return sites[-1][0], ["this assignment is the last one where it fails"]
    return None


def check(f, args=(), kwargs=None, places=None, *, rtol=None, atol=None):
    """Run a call on several devices, and name the first line after which they differ.

    Parameters
    ----------
    f : callable
        A Python function of arrays, or a compiled one. Kernels are launched by a Python function.
    args, kwargs : tuple, dict
        Its arguments. Each place gets copies of the arrays, in its own memory.
    places : sequence of str or Device, optional
        The first is what the others are compared with. By default ``cpu``, the interpreter ``interp`` and all devices.
    rtol, atol : float, optional
        Floats agree if they differ by no more than ``atol + rtol * |first|``. By default `rtol` is the coarser dtype's
        epsilon to the power 3/4 (1.8e-12 of float64), and `atol` as much of an array's largest magnitude. Integers must be
        equal, NaN equals NaN. With 0 for both, the numbers must be the same.

    Raises
    ------
    AssertionError
        If results, arguments written to, or errors differ: the line, its text, and the first element that differs. Where
        lines agree one by one, the difference comes with their fusion, and the message says so.
    ValueError
        If there are fewer than two places.

    Examples
    --------
    >>> import numpy as np
    >>> import unisono as un
    >>> def f(x):
    ...     y = un.sqrt(x)
    ...     return y + 1
    >>> un.testing.check(f, (np.arange(4.0),), places=("cpu", "interp"))
    """
    import unisono as un

    if places is None:
        places = ["cpu", "interp", *(str(d) for d in un.devices() if str(d) != "cpu")]
    places = [getattr(p, "name", p) for p in places]
    if len(places) < 2:
        raise ValueError(
            f"check: places are at least two; got {places}; give the first to compare with, then the others"
        )
    kwargs, tolerance = kwargs or {}, _Tolerance(rtol, atol)

    def plain(func, *args, **kwargs):
        return func(*args, **kwargs)

    first = _outcome(plain, f, args, kwargs, places[0])
    for place in places[1:]:
        pair = (places[0], place)
        differs = _difference(first, _outcome(plain, f, args, kwargs, place), pair, tolerance)
        if differs:
            raise AssertionError(_message(f, args, kwargs, pair, tolerance, differs))


def _message(f, args, kwargs, places, tolerance, differs):
    source = getattr(f, "py_func", f)
    text = (
        f"check: {getattr(source, '__name__', repr(f))} differs between {places[0]} and {places[1]}"
    )
    code = getattr(source, "__code__", None)
    found = None
    if code is not None:
        follow = _first_assignment if isinstance(f, _engine.Dispatcher) else _first_line
        with contextlib.suppress(OSError, TypeError, SyntaxError):  # no source at hand
            found = follow(f, args, kwargs, places, tolerance)
    if found:
        line, says = found
        text += f"\n  first at {code.co_filename}:{line}\n    {linecache.getline(code.co_filename, line).strip()}"
        return text + "".join(f"\n  {s}" for s in says)
    text += "".join(f"\n  {s}" for s in differs)
    if code is not None and not isinstance(f, _engine.Dispatcher):
        text += "\n  each line by itself agrees: the difference comes where statements are fused, or run later"
    return text
