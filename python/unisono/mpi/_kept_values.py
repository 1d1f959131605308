"""Values that communicators keep by keys, and the copies and ends of communicators, which they follow."""

import os

from ._errors import named as _errors
from ._types import _Comm

TAG_UB, HOST, IO, WTIME_IS_GLOBAL = range(4)  # what `Get_attr` is asked
# Variables of the launcher's, and what holds without one.
_OF_LAUNCHER = {
    _errors["UNIVERSE_SIZE"]: ("OMPI_UNIVERSE_SIZE", 1),
    _errors["APPNUM"]: ("OMPI_MCA_orte_app_num", 0),
}

_keys = []  # of values that communicators keep: the functions that copy and delete them
_FIRST_KEY = 1000
_duplicate, _free = _Comm.Dup, _Comm.Free


def _known_key(keyval, call):
    if not _FIRST_KEY <= keyval < _FIRST_KEY + len(_keys):
        raise ValueError(f"{call}: no such key; got {keyval}; expected one that Create_keyval gave")
    return keyval


class KeptValues:
    """Methods of communicators that keep values."""

    @classmethod
    def Create_keyval(cls, copy_fn=None, delete_fn=None, nopython=False):
        """A key for values that communicators keep; a copy has those for which ``copy_fn`` gives one."""
        _keys.append((copy_fn, delete_fn))
        return _FIRST_KEY + len(_keys) - 1

    @classmethod
    def Free_keyval(cls, keyval):
        """Use a key no more: the result is KEYVAL_INVALID."""
        return _errors["KEYVAL_INVALID"]

    def Get_attr(self, keyval):
        """The value that was set for a key; the largest tag for TAG_UB; how many processes the launcher has room for for
        UNIVERSE_SIZE, and the number of the program among those of one start for APPNUM; else None.
        """
        if keyval >= _FIRST_KEY:
            return self._kept().get(keyval)
        if keyval in _OF_LAUNCHER:
            name, otherwise = _OF_LAUNCHER[keyval]
            return int(os.environ.get(name, otherwise))
        return 2**31 - 1 if keyval == TAG_UB else True if keyval == WTIME_IS_GLOBAL else None

    def Set_attr(self, keyval, attrval):
        """Keep a value for a key, which `Create_keyval` gave."""
        self._kept()[_known_key(keyval, "Set_attr")] = attrval

    def Delete_attr(self, keyval):
        """Forget the value of a key."""
        kept = self._kept()
        if _known_key(keyval, "Delete_attr") in kept:
            delete = _keys[keyval - _FIRST_KEY][1]
            if delete is not None:
                delete(self, keyval, kept[keyval])
            del kept[keyval]

    def _kept(self):
        return self.__dict__.setdefault("_attributes", {})

    def Dup(self, info=None):
        """A communicator of the same ranks, in the same grid or graph, whose messages are apart."""
        made = _Comm.__new__(type(self), _duplicate(self))
        made._grid, made._graph, made._whole_graph = self._grid, self._graph, self._whole_graph
        self._copy_kept(made)
        return made

    def _copy_kept(self, made):
        """Give a copy of the communicator the values that are to be copied."""
        for keyval, value in self._kept().items():
            copy = _keys[keyval - _FIRST_KEY][0]
            given = NotImplemented if copy is None else copy(self, keyval, value)
            if given is not NotImplemented:
                made.Set_attr(keyval, given)

    def Free(self):
        """Give the communicator up: it is COMM_NULL then. All its ranks call."""
        for keyval in list(self._kept()):
            self.Delete_attr(keyval)
        _free(self)
