"""Element-wise work shared out over several devices."""

import threading
import time

from .. import _engine


class across:
    """A function of arrays whose work several devices do together.

    The arrays are cut along their first axis, each device computes one part, and the parts of the result are put
    together where the first array lies. The first call cuts by compute units, later ones by how many elements a second
    each device did in the calls before, copies included. An element of the result must depend only on the elements at
    its place: bits are those of one device then.

    Parameters
    ----------
    devices : list of Device or str
        At least one. A name may stand for several devices, as in `unisono.devices`: ``["cpu", "opencl"]``.
    function : callable
        Takes and returns arrays of a common first extent; a tuple of them is a result too. It may be a compiled
        function.

    Raises
    ------
    TypeError
        If `function` cannot be called, or if it is called without arrays.
    DeviceError
        If there is no such device.
    ValueError
        When called, if a result does not have the first extent of the arrays.

    Examples
    --------
    >>> import unisono as un
    >>> f = un.across(
    ...     ["cpu", "opencl"] if un.devices("opencl") else ["cpu"], lambda x, y: un.sqrt(x) + y
    ... )
    >>> f(un.full(1000, 4.0), un.ones(1000)).tolist()[:2]
    [3.0, 3.0]
    >>> round(sum(f.shares.values()), 6)
    1.0
    """

    def __init__(self, devices, function):
        if isinstance(devices, str) or not callable(function):
            raise TypeError(
                "across: expected a list of devices and a function; got "
                f"{type(devices).__name__} and {type(function).__name__}"
            )
        self._devices = _distinct(devices)
        self._function = function
        self._rates = [float(max(d.compute_units, 1)) for d in self._devices]
        self._calls = 0
        self._lock = threading.Lock()
        self.__doc__ = getattr(function, "__doc__", None)
        self.__name__ = getattr(function, "__name__", "across")

    @property
    def shares(self):
        """Parts of the work that the devices do at the next call, by name; their sum is 1."""
        total = sum(self._rates)
        return {d.name: rate / total for d, rate in zip(self._devices, self._rates, strict=True)}

    def __call__(self, *arrays):
        import unisono as un

        given = [a if _is_number(a) else un.asarray(a) for a in arrays]
        rank = max((a.ndim for a in given if not _is_number(a)), default=0)
        if rank == 0:
            raise TypeError(f"{self.__name__}: expected at least one array with an axis; got none")
        whole = [a for a in given if not _is_number(a) and a.ndim == rank]
        n = max(a.shape[0] for a in whole)
        is_cut = [not _is_number(a) and a.ndim == rank and a.shape[0] == n for a in given]
        home = next(a for a in given if not _is_number(a)).device
        cuts = self._cuts(n)
        parts = [None] * len(self._devices)
        seconds = [0.0] * len(self._devices)
        errors = [None] * len(self._devices)
        un.eval(*whole)  # what the parts share is computed once

        def work(k):
            begin = time.perf_counter()
            try:
                parts[k] = self._part(k, given, is_cut, cuts[k], cuts[k + 1], home)
            except BaseException as error:
                errors[k] = error
            seconds[k] = time.perf_counter() - begin

        busy = [k for k in range(len(self._devices)) if cuts[k] < cuts[k + 1] or n == k == 0]
        threads = [threading.Thread(target=work, args=(k,)) for k in busy[1:]]
        for t in threads:
            t.start()
        work(busy[0])
        for t in threads:
            t.join()
        for error in errors:
            if error is not None:
                raise error
        self._note(cuts, seconds)
        made = [parts[k] for k in busy]
        if isinstance(made[0], tuple):
            return tuple(_joined(list(column)) for column in zip(*made, strict=True))
        return _joined(made)

    def _cuts(self, n):
        """Where the parts begin, and the end of the last."""
        with self._lock:
            rates = list(self._rates)
        cuts, done = [0], 0.0
        for rate in rates:
            done += rate
            cuts.append(round(n * done / sum(rates)))
        return cuts

    def _part(self, k, given, is_cut, begin, end, home):
        """The function of one device's part, at home."""
        import unisono as un

        device = self._devices[k]
        with un.device(device):
            args = [
                a if _is_number(a) else (a[begin:end] if cut else a).to_device(device)
                for a, cut in zip(given, is_cut, strict=True)
            ]
            made = self._function(*args)
        results = made if isinstance(made, tuple) else (made,)
        for r in results:
            if getattr(r, "shape", ())[:1] != (end - begin,):
                raise ValueError(
                    f"{self.__name__}: expected a result with the first extent of the arrays, {end - begin} in this "
                    f"part; got shape {getattr(r, 'shape', None)}; across takes functions of single elements"
                )
        results = tuple(un.asarray(r).to_device(home) for r in results)
        un.eval(*results)
        if home.name != "cpu":  # whose queue goes on by itself
            un.eval(*(r[-1:].to_device("cpu") for r in results))
        return results if isinstance(made, tuple) else results[0]

    def _note(self, cuts, seconds):
        """Elements a second; the first call has compiled, and is not counted."""
        with self._lock:
            self._calls += 1
            if self._calls == 1:
                return
            measured = [
                (cuts[k + 1] - cuts[k]) / seconds[k] if cuts[k] < cuts[k + 1] else 0.0
                for k in range(len(seconds))
            ]
            if self._calls == 2:
                self._rates = measured
            else:
                self._rates = [
                    (old + new) / 2 if new else old
                    for old, new in zip(self._rates, measured, strict=True)
                ]
            # A device that was slow once is measured again.
            least = sum(self._rates) / 64
            self._rates = [max(rate, least) for rate in self._rates]


def _is_number(x):
    return isinstance(x, (int, float, complex)) or not hasattr(x, "__len__")


def _distinct(devices):
    found = []
    for d in devices:
        named = [d] if not isinstance(d, str) else _named(d)
        found += [x for x in named if x not in found]
    if not found:
        raise TypeError("across: expected at least one device; got an empty list")
    return found


def _named(text):
    """The device of that name, or all that match."""
    from .devices import devices as search

    matching = search(text)
    exact = [d for d in matching if d.name == text]
    return exact or matching or [_engine._find_device(text)]


def _joined(parts):
    import unisono as un

    return parts[0] if len(parts) == 1 else un.concatenate(parts)
