"""The engine's types of messages, communicators and windows, which most programs need none of."""

from .. import _engine

_Comm, _Matched, _Request, _Window = _engine._mpi_types()
