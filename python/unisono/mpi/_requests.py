"""Requests: what is under way, one or several at once, and requests that start again and again."""

import threading
import time

from .._engine import CommError, _setting
from ._objects import ObjectRequest, wait_for
from ._status import UNDEFINED, Status
from ._types import _Request


def _test(self, status=None):
    """Whether it is done, and None (buffers hold what arrived)."""
    return self.Test(status), None


def _wait(self, status=None):
    """Wait until it is done."""
    wait_for(self, status)


def _active(requests, call):
    """The positions of those that are under way."""
    for k, request in enumerate(requests):
        if not isinstance(request, _Request):
            raise TypeError(
                f"{call}: element {k} is {type(request).__name__!r}; expected a Request, as Isend and Irecv give"
            )
    return [k for k, request in enumerate(requests) if request._is_active]


def _patience():
    """Seconds that a rank waits."""
    return float(_setting("comm_timeout")) or float("inf")


def _one_done(requests, active):
    """The position of one that is done, waiting for it."""
    if not any(isinstance(requests[k], ObjectRequest | Grequest) for k in active):
        return _Request._wait_any(requests)
    end = time.monotonic() + _patience()
    while True:
        for k in active:
            if requests[k].Get_status():
                return k
        if time.monotonic() > end:
            requests[active[0]].wait()  # says what nobody sent


def _fill(statuses, made):
    """Puts what is known of several messages into a list, which grows where it is too short."""
    if statuses is None:
        return
    if isinstance(statuses, list):
        statuses += [Status() for _ in range(len(made) - len(statuses))]
    for status, one in zip(statuses, made, strict=False):
        status.__dict__.update(one.__dict__)


def _waited(requests, statuses):
    made = [Status() for _ in requests]
    objects = [r.wait(status) for r, status in zip(requests, made, strict=True)]
    _fill(statuses, made)
    return objects


def _tested(requests, statuses):
    """The objects where all are done, else None."""
    if not all([request.Get_status() for request in requests]):
        return None
    return _waited(requests, statuses)


def _any(requests, call, waits, status):
    """The position of one that is done and its object; -1 where none is, UNDEFINED where none is under way."""
    requests = list(requests)
    active = _active(requests, call)
    if not active:
        if status is not None:
            status.__dict__.update(Status().__dict__)
        return UNDEFINED, None
    if waits:
        found = _one_done(requests, active)
    else:
        found = next((k for k in active if requests[k].Get_status()), -1)
    return found, requests[found].wait(status) if found >= 0 else None


def _some(requests, call, waits, statuses):
    """The positions of those that are done and their objects; None where none is under way."""
    requests = list(requests)
    active = _active(requests, call)
    if not active:
        return None, None
    if waits:
        _one_done(requests, active)
    found = [k for k in active if requests[k].Get_status()]
    return found, _waited([requests[k] for k in found], statuses)


def _wait_all(requests, statuses=None):
    """Wait until all are done; what lower-case receives got, in their order."""
    return _waited(list(requests), statuses)


def _Wait_all(requests, statuses=None):
    """Wait until all are done."""
    if statuses is None:
        for request in requests:
            request.Wait()
    else:
        _waited(list(requests), statuses)
    return True


def _Wait_any(requests, status=None):
    """Wait until one that is under way is done; its index, or UNDEFINED where none is under way."""
    return _any(requests, "Waitany", True, status)[0]


def _wait_any(requests, status=None):
    """The same: the index, and what a lower-case receive got."""
    return _any(requests, "waitany", True, status)


def _Wait_some(requests, statuses=None):
    """Wait until one or more are done; their indices, or None where none is under way."""
    return _some(requests, "Waitsome", True, statuses)[0]


def _wait_some(requests, statuses=None):
    """The same: the indices, and what lower-case receives got."""
    return _some(requests, "waitsome", True, statuses)


def _Test_all(requests, statuses=None):
    """Whether all are done."""
    if statuses is None:
        return all([request.Test() for request in requests])
    return _tested(list(requests), statuses) is not None


def _test_all(requests, statuses=None):
    """Whether all are done, and what lower-case receives got, else None."""
    objects = _tested(list(requests), statuses)
    return objects is not None, objects


def _test_any(requests, status=None):
    """The index of one that is done, whether there is one, and what a lower-case receive got."""
    found, got = _any(requests, "testany", False, status)
    return found if found >= 0 else UNDEFINED, found != -1, got


def _Test_any(requests, status=None):
    """The index of one that is done, else UNDEFINED, and whether there is one or none is under way."""
    return _test_any(requests, status)[:2]


def _Test_some(requests, statuses=None):
    """The indices of those that are done; None where none is under way."""
    return _some(requests, "Testsome", False, statuses)[0]


def _test_some(requests, statuses=None):
    """The same, and what lower-case receives got."""
    return _some(requests, "testsome", False, statuses)


def _status_all(requests, statuses=None):
    """Whether all are done, about which tests and waits still tell."""
    made = [Status() for _ in requests]
    done = all([r.Get_status(status) for r, status in zip(requests, made, strict=True)])
    if done:
        _fill(statuses, made)
    return done


def _status_any(requests, status=None):
    """The index of one that is done, else UNDEFINED, and whether there is one or none is under way."""
    active = _active(list(requests), "Get_status_any")
    found = next((k for k in active if requests[k].Get_status(status)), UNDEFINED)
    return found, found != UNDEFINED or not active


def _status_some(requests, statuses=None):
    """The indices of those that are done; None where none is under way."""
    active = _active(list(requests), "Get_status_some")
    made = [(k, status) for k in active if requests[k].Get_status(status := Status())]
    _fill(statuses, [status for _, status in made])
    return [k for k, _ in made] if active else None


def _reduce(self):
    raise ValueError("Request: what is under way cannot be pickled")


class _OfRequests:
    """A function of a list of requests; compiled code has one of its own."""

    def __init__(self, name, function):
        self.__name__ = name
        self.__doc__ = function.__doc__
        self._function = function

    def __call__(self, requests, *status, **given):
        return self._function(requests, *status, **given)

    def __repr__(self):
        return f"unisono.mpi.Request.{self.__name__}"

    @property
    def _in_compiled_code(self):
        from .._jit.mpi_library import of_requests

        return of_requests[self.__name__]


class Prequest(_Request):
    """A message that is started as often as wanted: `Send_init` and `Recv_init` make one.

    Examples
    --------
    >>> import unisono as un
    >>> comm, x, y = un.mpi.COMM_SELF, un.ones(2), un.zeros(2)
    >>> both = [comm.Recv_init(y, 0), comm.Send_init(x, 0)]
    >>> for _ in range(3):
    ...     x += y
    ...     un.mpi.Prequest.Startall(both)
    ...     un.mpi.Request.Waitall(both)
    True
    True
    True
    >>> y.tolist()
    [4.0, 4.0]
    """

    def __init__(self, start):
        super().__init__()
        self._start = start

    def Start(self):
        """Start it once more."""
        if self._is_active:
            raise RuntimeError("Start: the request is under way; wait for it first")
        self._take(self._start())

    @staticmethod
    def Startall(requests):
        """Start all of these."""
        for request in requests:
            request.Start()

    def __bool__(self):
        return self._start is not None

    def Free(self):
        """Start it no more."""
        self._start = None


class Grequest(_Request):
    """A request of the program's own, which is done once it says so: `Grequest.Start` makes one.

    Examples
    --------
    >>> import unisono as un
    >>> request = un.mpi.Grequest.Start()
    >>> request.Test()
    False
    >>> request.complete("made")
    >>> request.wait()
    'made'
    """

    def __init__(self, query_fn=None, free_fn=None, cancel_fn=None, args=None, kargs=None):
        super().__init__()
        self._query, self._free, self._cancel = query_fn, free_fn, cancel_fn
        self._args, self._options = tuple(args or ()), dict(kargs or {})
        self._completed = threading.Event()
        self._object, self._is_taken = None, False

    @classmethod
    def Start(cls, query_fn=None, free_fn=None, cancel_fn=None, args=None, kargs=None):
        """A request that is under way until `Complete` is called, in this thread or another.

        Once it is done ``query_fn(status, *args, **kargs)`` fills in the status, and ``free_fn(*args, **kargs)`` is
        called; `Cancel` calls ``cancel_fn(completed, *args, **kargs)``.
        """
        return cls(query_fn, free_fn, cancel_fn, args, kargs)

    @property
    def _is_active(self):
        return not self._is_taken

    def Complete(self):
        """Say that it is done."""
        self._completed.set()

    def complete(self, obj=None):
        """Say that it is done, with an object for who waits for it."""
        self._object = obj
        self.Complete()

    def Cancel(self):
        """Ask that it be cancelled, which is the program's to do."""
        if self._cancel is not None:
            self._cancel(self._completed.is_set(), *self._args, **self._options)

    def Get_status(self, status=None):
        """Whether it is done, which tests and waits still tell."""
        if not self._completed.is_set():
            return False
        told = Status()
        if self._query is not None and not self._is_taken:
            self._query(told, *self._args, **self._options)
        if status is not None:
            status.__dict__.update(told.__dict__)
        return True

    def test(self, status=None):
        """Whether it is done, and the object of `complete`, once."""
        return self._tested(status)

    # Classes that derive from this one may have a `test` that calls `Test`.
    def _tested(self, status):
        if not Grequest.Get_status(self, status):
            return False, None
        made, self._object = self._object, None
        if not self._is_taken:
            self._is_taken = True
            if self._free is not None:
                self._free(*self._args, **self._options)
        return True, made

    def wait(self, status=None):
        """Wait until it is done; the object of `complete`."""
        return self._waited(status)

    def _waited(self, status):
        patience = _patience()
        if not self._completed.wait(patience if patience < threading.TIMEOUT_MAX else None):
            raise CommError(
                f"mpi: waited {patience:g} seconds for a Grequest, which nobody completed; call its Complete in "
                "another thread, or before; UNISONO_COMM_TIMEOUT sets how long to wait"
            )
        return self._tested(status)[1]

    def Test(self, status=None):
        """Whether it is done."""
        return self._tested(status)[0]

    def Wait(self, status=None):
        """Wait until it is done."""
        self._waited(status)
        return True

    cancel, get_status = Cancel, Get_status


def _equal(self, other):
    if not isinstance(other, _Request):
        return NotImplemented
    return self is other or (not self and not other)


_Request._holds_compiled_functions = True  # for compiled code, which finds these by name
_Request.test = _test
_Request.wait = _wait
_Request.__bool__ = lambda self: self._is_active
_Request.__eq__ = _equal
_Request.__hash__ = object.__hash__
_Request.__reduce__ = _reduce
_Request.get_status = _Request.Get_status
_Request.cancel = _Request.Cancel
_Request.Free = lambda self: None
for _name, _function in {
    "Waitall": _Wait_all,
    "Waitany": _Wait_any,
    "Waitsome": _Wait_some,
    "Testall": _Test_all,
    "Testany": _Test_any,
    "Testsome": _Test_some,
}.items():
    setattr(_Request, _name, _OfRequests(_name, _function))
for _name, _function in {
    "waitall": _wait_all,
    "waitany": _wait_any,
    "waitsome": _wait_some,
    "testall": _test_all,
    "testany": _test_any,
    "testsome": _test_some,
    "Get_status_all": _status_all,
    "get_status_all": _status_all,
    "Get_status_any": _status_any,
    "get_status_any": _status_any,
    "Get_status_some": _status_some,
    "get_status_some": _status_some,
}.items():
    setattr(_Request, _name, staticmethod(_function))
Request = _Request
REQUEST_NULL = Request()
