"""How messages and exchanges of two groups travel: what stands behind an intercommunicator."""

from ._calls_of_mpi import call_of_mpi
from ._job import connect
from ._status import UNDEFINED


class Paired:
    """Of two groups of one job: messages of each group travel on a communicator of all ranks in which this group comes
    first, so that what is received tells the number of its sender as it is.
    """

    def __init__(self, local_size, both, is_first):
        """`both`: of all ranks, the first group before the other."""
        first_size = local_size if is_first else both.size - local_size
        turned = both.Split(0, (both.rank - first_size) % both.size)
        self.whole, self._is_first = both, is_first
        self.outgoing, self.incoming = (both, turned) if is_first else (turned, both)
        self._turned = turned
        self.local_size, self.remote_size = local_size, both.size - local_size

    def dest(self, rank):
        """Of a rank of the other group its number for `outgoing`."""
        return rank + self.local_size

    def of_all(self, values, nothing):
        """A list for `whole`, of one for the other group."""
        own = [nothing] * self.local_size
        return own + values if self._is_first else values + own

    def of_others(self, values):
        """The part of a list of `whole` that is of the other group."""
        return values[self.local_size :] if self._is_first else values[: self.remote_size]

    def remote_ranks(self):
        """The world's numbers of the other group."""
        return self.outgoing._world_ranks()[self.local_size :]

    def dup(self, local):
        """One of the same ranks."""
        return Paired(local.size, self.whole.Dup(), self._is_first)

    def split(self, local, color, key):
        """The link of the ranks that give one colour; None where one of the groups has none of them."""
        own = color, not self._is_first, key, self.whole.rank
        alike = sorted(one[1:] for one in self.whole.allgather(own) if one[0] == color)
        if color == UNDEFINED or len({is_last for is_last, *_ in alike}) < 2:
            self.whole.Split(UNDEFINED)
            return None
        return Paired(local.size, self.whole.Split(color, alike.index(own[1:])), self._is_first)

    def call(self, name, waits, given):
        """None: what it would do is made of exchanges."""

    def merge(self, is_last):
        """A communicator of all ranks."""
        lasts = self.whole.allgather((not self._is_first, is_last))
        first, last = (next(h for side, h in lasts if side == k) for k in (False, True))
        return (self._turned if first and not last else self.whole).Dup()

    def free(self):
        """Give it up."""
        self._turned.Free()
        self.whole.Free()

    disconnect = free


class Linked:
    """Of processes that one side started or met: an intercommunicator of MPI's."""

    def __init__(self, both):
        self.whole = self.outgoing = self.incoming = both
        self.local_size, self.remote_size = both.size, both._partners

    def dest(self, rank):
        """The number as it is."""
        return rank

    def of_all(self, values, nothing):
        """The list as it is."""
        return values

    def of_others(self, values):
        """The list as it is."""
        return values

    def remote_ranks(self):
        """Numbers of the other group, which are those of no rank of the world."""
        return connect()["job"].remote_ranks(self.whole)

    def dup(self, local):
        """One of the same ranks."""
        return Linked(self.whole.Dup())

    def split(self, local, color, key):
        """The link of the ranks that give one colour; None where one of the groups has none of them."""
        made = connect()["job"].split(self.whole, color, key)
        return Linked(made) if made else None

    def call(self, name, waits, given):
        """A collective call by MPI's of that name, as programs of other libraries make it: its request, which is done
        where it waits. None where MPI has no such operation.
        """
        return call_of_mpi(self.whole, name, waits, given)

    def merge(self, is_last):
        """A communicator of all ranks."""
        return connect()["job"].merge(self.whole, is_last)

    def free(self):
        """Give it up."""
        self.whole.Free()

    def disconnect(self):
        """Complete its messages and give it up; the processes may end apart then."""
        self.whole._disconnect()
