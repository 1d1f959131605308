"""Floating-point errors: NumPy's `errstate`, ignored by default.

The engine looks for errors only while someone watches: it then tests operands and results of each operation, which
makes an operation wait for its result.
"""

import contextlib
import contextvars
import warnings

from .. import _engine

# In the order of the engine's flags, which are NumPy's: 1, 2, 4, 8.
_names = ("divide", "over", "under", "invalid")
_texts = ("divide by zero", "overflow", "underflow", "invalid value")
_ways = ("ignore", "warn", "raise", "call", "print", "log")
_ignored = (dict.fromkeys(_names, "ignore"), None)
# The treatment of each error, and what "call" and "log" use.
_state = contextvars.ContextVar("unisono.errstate", default=_ignored)


def _enter(state):
    """Make that the state of this context."""
    before = _state.get()
    _state.set(state)
    change = _is_watching(state) - _is_watching(before)
    if change:
        _engine._watch_float_errors(change)


def _is_watching(state):
    return any(way != "ignore" for way in state[0].values())


def _changed(what, all, given):
    """The treatments with some of them changed."""
    made = dict(_state.get()[0])
    for name, way in zip(_names, given, strict=True):
        way = all if way is None else way
        if way is None:
            continue
        if way not in _ways:
            raise ValueError(f"{what}: {name}={way!r} is not known; expected one of {_ways}")
        made[name] = way
    return made


def _check_call(what, func):
    if func is None or callable(func) or callable(getattr(func, "write", None)):
        return
    raise ValueError(f"{what}: expected a function, or an object with a write method; got {func!r}")


def _report(flags, operation):
    """Treat errors of an operation as this context wants it."""
    ways, call = _state.get()
    for k, name in enumerate(_names):
        way = ways[name]
        if not flags & 1 << k or way == "ignore":
            continue
        text = f"{_texts[k]} encountered in {operation}"
        if way == "warn":
            warnings.warn(text, RuntimeWarning, stacklevel=2)
        elif way == "raise":
            raise FloatingPointError(text)
        elif way == "print":
            print(f"Warning: {text}")
        elif call is None:
            raise NameError(f"errstate: {way!r} needs a function or log; give call=, or seterrcall")
        elif way == "call":
            call(_texts[k], flags)
        else:
            call.write(f"Warning: {text}\n")


_engine._set_float_error_handler(_report)


def geterr():
    """How floating-point errors are treated in this context.

    Returns
    -------
    dict
        For ``divide``, ``over``, ``under`` and ``invalid`` one of ``"ignore"`` (the default), ``"warn"``, ``"raise"``,
        ``"call"``, ``"print"`` and ``"log"``.

    Examples
    --------
    >>> import unisono as un
    >>> un.geterr()["divide"]
    'ignore'
    """
    return dict(_state.get()[0])


def seterr(all=None, divide=None, over=None, under=None, invalid=None):
    """Set how floating-point errors are treated in this context; see `errstate`.

    Parameters
    ----------
    all, divide, over, under, invalid : str, optional

    Returns
    -------
    dict
        The treatment before.

    Raises
    ------
    ValueError
        If a treatment is unknown.

    Examples
    --------
    >>> import unisono as un
    >>> un.seterr(all="ignore")["over"]
    'ignore'
    """
    before = geterr()
    given = (divide, over, under, invalid)
    _enter((_changed("seterr", all, given), _state.get()[1]))
    return before


def geterrcall():
    """Return what ``"call"`` and ``"log"`` use in this context.

    Returns
    -------
    callable, log object or None

    Examples
    --------
    >>> import unisono as un
    >>> un.geterrcall() is None
    True
    """
    return _state.get()[1]


def seterrcall(func):
    """Set what ``"call"`` calls with the error's text and flags, or where ``"log"`` writes.

    Parameters
    ----------
    func : callable, object with ``write``, or None

    Returns
    -------
    callable, log object or None
        What was there before.

    Raises
    ------
    ValueError
        If `func` is none of these.

    Examples
    --------
    >>> import unisono as un
    >>> un.seterrcall(None) is None
    True
    """
    _check_call("seterrcall", func)
    before = geterrcall()
    _enter((_state.get()[0], func))
    return before


class errstate(contextlib.ContextDecorator):
    """Treat floating-point errors in a ``with`` block or a function, as NumPy's.

    Parameters
    ----------
    call : callable or object with ``write``, optional
    all, divide, over, under, invalid : str, optional
        ``"ignore"``, ``"warn"`` (RuntimeWarning), ``"raise"`` (FloatingPointError), ``"call"``, ``"print"``, ``"log"``.

    Raises
    ------
    ValueError
        If a treatment is unknown, or `call` is neither a function nor a log object.

    Notes
    -----
    Arithmetic, functions, sums and casts are looked at, each at its own line; products of matrices and other library
    operations are not. Outside such a block nothing is looked at and nothing costs time.

    Examples
    --------
    >>> import unisono as un
    >>> with un.errstate(divide="raise"):
    ...     un.asarray([1.0]) / 0
    Traceback (most recent call last):
    FloatingPointError: divide by zero encountered in divide
    """

    def __init__(self, *, call=None, all=None, divide=None, over=None, under=None, invalid=None):
        _check_call("errstate", call)
        self._given = (all, (divide, over, under, invalid))
        _changed("errstate", *self._given)
        self._call = call
        self._before = []

    def __enter__(self):
        before = _state.get()
        self._before.append(before)
        call = before[1] if self._call is None else self._call
        _enter((_changed("errstate", *self._given), call))
        return self

    def __exit__(self, *exception):
        _enter(self._before.pop())
