"""Devices, evaluation and settings."""

from . import _engine


def devices(filter=None):
    """All devices present, the CPU first.

    Parameters
    ----------
    filter : str, optional
        A back end ("opencl"), a kind ("gpu") or a name ("opencl:cpu:0"); only devices that match.

    Returns
    -------
    list of Device

    Examples
    --------
    >>> import unisono as un
    >>> un.devices()[0].name
    'cpu'
    """
    found = _engine._devices()
    if filter is None:
        return found
    return [d for d in found if filter in (d.name, d.kind) or d.name.startswith(filter + ":")]


class Explanation(str):
    """Text that a prompt shows as it is."""

    __slots__ = ()
    __repr__ = str.__str__


def explain(x, code=False):
    """What computing `x` runs, without computing it.

    Parameters
    ----------
    x : ndarray
    code : bool
        Also the generated code of the kernels that were compiled so far.

    Returns
    -------
    str
        Kernels, the lines they come from, what fused and why not more, bytes, kernel IR, and why the last
        evaluations took place.

    Examples
    --------
    >>> import unisono as un
    >>> print(un.explain(un.ones(3) + 1).splitlines()[0])
    2 pending operations
    """
    return Explanation(_engine._explain(x, code))


def synchronize():
    """Compute all that is pending and wait for all devices."""
    _engine._synchronize()


class eager:
    """Run each statement at its line: inside a ``with`` block, in a decorated function, or from now on.

    Examples
    --------
    >>> import unisono as un
    >>> with un.eager():
    ...     x = un.ones(3) + 1
    """

    def __init__(self, on=True):
        self._before = _engine._is_eager()
        _engine._set_eager(on)

    def __call__(self, function):
        import functools

        @functools.wraps(function)
        def run(*args, **options):
            with self:
                return function(*args, **options)

        return run

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        _engine._set_eager(self._before)
        return False
