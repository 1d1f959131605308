"""Numbers, names and classes of MPI's for errors, limits and kinds, which programs compare or pass on."""

from ._buffers.recipes import combiners

_codes = """
SUCCESS ERR_BUFFER ERR_COUNT ERR_TYPE ERR_TAG ERR_COMM ERR_RANK ERR_REQUEST ERR_ROOT ERR_GROUP ERR_OP ERR_TOPOLOGY
ERR_DIMS ERR_ARG ERR_UNKNOWN ERR_TRUNCATE ERR_OTHER ERR_INTERN ERR_IN_STATUS ERR_PENDING ERR_ACCESS ERR_AMODE ERR_ASSERT
ERR_BAD_FILE ERR_BASE ERR_CONVERSION ERR_DISP ERR_DUP_DATAREP ERR_FILE_EXISTS ERR_FILE_IN_USE ERR_FILE ERR_INFO_KEY
ERR_INFO_NOKEY ERR_INFO_VALUE ERR_INFO ERR_IO ERR_KEYVAL ERR_LOCKTYPE ERR_NAME ERR_NO_MEM ERR_NOT_SAME ERR_NO_SPACE
ERR_NO_SUCH_FILE ERR_PORT ERR_QUOTA ERR_READ_ONLY ERR_RMA_CONFLICT ERR_RMA_SYNC ERR_SERVICE ERR_SIZE ERR_SPAWN
ERR_UNSUPPORTED_DATAREP ERR_UNSUPPORTED_OPERATION ERR_WIN ERR_RMA_RANGE ERR_RMA_ATTACH ERR_RMA_FLAVOR ERR_RMA_SHARED
"""
named = {name: number for number, name in enumerate(_codes.split())}
named |= {
    "ERR_LASTCODE": 92, "KEYVAL_INVALID": -1, "MAX_PROCESSOR_NAME": 255, "MAX_ERROR_STRING": 255, "MAX_OBJECT_NAME": 63,
    "MAX_LIBRARY_VERSION_STRING": 255, "MAX_INFO_KEY": 35, "MAX_INFO_VAL": 255, "MAX_PORT_NAME": 1023,
    "MAX_DATAREP_STRING": 127, "VERSION": 3, "SUBVERSION": 1, "UNIVERSE_SIZE": 6, "APPNUM": 5, "LASTUSEDCODE": 7,
}  # fmt: skip
named |= {f"COMBINER_{name}": number for name, number in combiners.items()}


class Errhandler:
    """What an error of MPI does: here it is always an exception.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.COMM_SELF.Set_errhandler(un.mpi.ERRORS_RETURN)
    """

    def __init__(self, name="ERRHANDLER_NULL"):
        self.name = name

    def __repr__(self):
        return f"unisono.mpi.{self.name}"

    def __bool__(self):
        return self.name != "ERRHANDLER_NULL"

    def Free(self):
        """Forget it: nothing is to be done."""


for _name in ("ERRHANDLER_NULL", "ERRORS_RETURN", "ERRORS_ARE_FATAL", "ERRORS_ABORT"):
    named[_name] = Errhandler(_name)
