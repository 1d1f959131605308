"""Processor groups: which ranks an array or an operation belongs to, and which nodes they are on."""

from .. import mpi

WORLD, MIRROR = 0, 1


class Group:
    """Ranks with a communicator of their own; on other ranks it is None."""

    def __init__(self, ranks, comm):
        self.ranks = list(ranks)  # of the world
        self.comm = comm
        self.size = len(self.ranks)

    @property
    def rank(self):
        """This process's number in the group, or -1."""
        return self.comm.rank if self.comm is not None else -1


_groups = {}
_default = [WORLD]
_nodes = []  # of each rank of the world its node


def world():
    """The group of all ranks."""
    if WORLD not in _groups:
        comm = mpi.COMM_WORLD
        _groups[WORLD] = Group(range(comm.size), comm)
    return _groups[WORLD]


def nodes():
    """The node of each rank of the world, numbered in the order of their first ranks."""
    if not _nodes:
        comm = world().comm
        node = comm.Split_nodes()
        firsts = comm.allgather(node.bcast(comm.rank))
        order = sorted(set(firsts))
        _nodes.extend(order.index(first) for first in firsts)
        ranks = [r for r, first in enumerate(firsts) if first == firsts[comm.rank]]
        _groups[MIRROR] = Group(ranks, node)
    return _nodes


def group_of(handle=-1):
    """The group of a handle; of a negative one, the default group."""
    world()
    if handle == MIRROR:
        nodes()
    handle = _default[0] if handle is None or handle < 0 else handle
    if handle not in _groups:
        raise ValueError(
            f"ga: no such processor group; got {handle}; expected a result of pgroup_create or pgroup_split"
        )
    return _groups[handle]


def _new(group):
    handle = max(_groups, default=MIRROR) + 1
    handle = max(handle, MIRROR + 1)
    _groups[handle] = group
    return handle


def pgroup_get_default():
    """Handle of the default processor group."""
    world()
    return _default[0]


def pgroup_get_world():
    """Handle of the group of all ranks."""
    return WORLD


def pgroup_get_mirror():
    """Handle of the group of this node's ranks; an array created on it has a copy on each node."""
    nodes()
    return MIRROR


def pgroup_set_default(pgroup=-1):
    """Make a group the default one, or the world; its ranks do it together."""
    world()
    handle = WORLD if pgroup < 0 else pgroup
    group_of(handle)
    _default[0] = handle


def pgroup_create(list):
    """Make a group of ranks of the default group, in that order; all ranks of the default group call."""
    outer = group_of()
    ranks = [outer.ranks[int(i)] for i in list]
    base = world().comm
    comm = base.Create_group(ranks) if base.rank in ranks else None
    return _new(Group(ranks, comm))


def pgroup_destroy(pgroup):
    """Forget a group; returns whether there was one."""
    group = _groups.get(pgroup)
    if group is None or pgroup in (WORLD, MIRROR):
        return False
    del _groups[pgroup]
    if _default[0] == pgroup:
        _default[0] = WORLD
    if group.comm is not None:
        group.comm.Free()
    return True


def pgroup_split(pgroup, num_group):
    """Split a group into as many parts of consecutive ranks; returns the handle of this rank's part."""
    group = group_of(pgroup)
    return pgroup_split_irreg(pgroup, group.rank * num_group // group.size)


def pgroup_split_irreg(pgroup, color):
    """Split a group by colours; returns the handle of this rank's part."""
    group = group_of(pgroup)
    colors = group.comm.allgather(int(color))
    ranks = [group.ranks[r] for r, c in enumerate(colors) if c == color]
    return _new(Group(ranks, group.comm.Split(int(color), group.rank)))


def pgroup_nnodes(pgroup=-1):
    """Number of ranks of a group."""
    return group_of(pgroup).size


def pgroup_nodeid(pgroup=-1):
    """This rank's number in a group."""
    return group_of(pgroup).rank


def pgroup_absolute_id(pgroup, pid):
    """The number in the world of a rank of a group."""
    return group_of(pgroup).ranks[pid]


def nnodes():
    """Number of ranks of the default group."""
    return group_of().size


def nodeid():
    """This rank's number in the default group."""
    return group_of().rank


def cluster_nnodes():
    """Number of nodes that the program runs on."""
    return max(nodes()) + 1


def cluster_nodeid(proc=-1):
    """The node of a rank, or of this one."""
    return nodes()[world().rank if proc < 0 else proc]


def cluster_proc_nodeid(proc):
    """The node of a rank."""
    return nodes()[proc]


def cluster_nprocs(node):
    """Number of ranks on a node; of a negative one, on this node."""
    node = cluster_nodeid() if node < 0 else node
    return nodes().count(node)


def cluster_procid(node, proc):
    """The rank that is number `proc` on a node."""
    return [r for r, n in enumerate(nodes()) if n == node][proc]
