"""Hints by name, which calls of MPI take and here are kept alone."""


class Info(dict):
    """Hints by name, as a dict of text.

    Examples
    --------
    >>> import unisono as un
    >>> info = un.mpi.Info.Create({"no_locks": "true"})
    >>> info.Get("no_locks"), info.Get("else") is None
    ('true', True)
    """

    @classmethod
    def Create(cls, items=None):
        """New hints."""
        return cls(items or {})

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
        return type(self)(self)

    copy = Dup

    def Free(self):
        """Forget all."""
        self.clear()


INFO_NULL = Info()
INFO_ENV = Info()
