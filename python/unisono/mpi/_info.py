"""Hints by name, which calls of MPI take and here are kept alone."""

import sys


class Info(dict):
    """Hints by name, as a dict of text.

    Examples
    --------
    >>> import unisono as un
    >>> info = un.mpi.Info.Create({"no_locks": "true"})
    >>> info.Get("no_locks"), info.Get("else") is None
    ('true', True)
    """

    def __init__(self, info=None):
        super().__init__(info or {})
        # Of which hints it is an object; None: of none, as INFO_NULL and what was freed.
        self._hints = info._hints if isinstance(info, Info) else None if info is None else object()

    @classmethod
    def Create(cls, items=None):
        """New hints."""
        made = cls({})
        made.update(items or {})
        return made

    @classmethod
    def Create_env(cls, args=None):
        """Hints about how this process was started, by these arguments or its own."""
        args = sys.argv if args is None else [args] if isinstance(args, str) else list(args)
        made = cls({})
        if args:
            made["command"], made["argv"] = str(args[0]), " ".join(map(str, args[1:]))
        return made

    def __bool__(self):
        return self._hints is not None

    def __eq__(self, other):
        return self._hints is other._hints if isinstance(other, Info) else NotImplemented

    def __ne__(self, other):
        return not self == other  # dict has one of its own

    def __reduce__(self):
        for name in ("INFO_NULL", "INFO_ENV"):
            known = globals()[name]
            if self is known:
                return name
            if self._hints is known._hints:
                return type(self), (known,)
        return type(self).Create, (dict(self),)

    def keys(self):
        """The names."""
        return list(super().keys())

    def values(self):
        """The values, in the order of names."""
        return list(super().values())

    def items(self):
        """Names and values."""
        return list(super().items())

    def __setitem__(self, key, value):
        self._check()
        super().__setitem__(key, value)

    def update(self, *items, **named):
        """Set several."""
        self._check()
        super().update(*items, **named)

    def _check(self):
        if self._hints is None:
            raise KeyError("Info: INFO_NULL has no hints; make some with Info.Create")

    def Get(self, key):
        """The value of a name; None where there is none."""
        return self.get(key)

    def Set(self, key, value):
        """Set the value of a name."""
        self[key] = value

    def Delete(self, key):
        """Remove a name."""
        del self[key]

    def Get_nkeys(self):
        """Number of names."""
        return len(self)

    def Get_nthkey(self, n):
        """The name at a position, in the order in which they were set."""
        return list(self)[n]

    def Dup(self):
        """A copy."""
        return type(self).Create(dict(self)) if self else type(self)()

    copy = Dup

    def Free(self):
        """Forget all: it is INFO_NULL then."""
        self.clear()
        self._hints = None


INFO_NULL = Info()
INFO_ENV = Info.Create_env()
