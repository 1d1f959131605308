"""Groups: ranks in an order, of which communicators are made."""

from ._status import UNDEFINED

IDENT, CONGRUENT, SIMILAR, UNEQUAL = range(4)


def _own_world_rank():
    from ._job import connect

    return connect()["world"].rank


class Group:
    """Ranks in an order, without messages.

    Examples
    --------
    >>> import unisono as un
    >>> group = un.mpi.COMM_WORLD.Get_group()
    >>> group.size, group.Excl([0]).size
    (1, 0)
    """

    def __init__(self, group=None):
        self._members = None if group is None else group._members  # ranks of COMM_WORLD

    @classmethod
    def _of(cls, members):
        made = cls()
        made._members = tuple(members)
        return made

    def _known(self, call):
        if self._members is None:
            raise ValueError(
                f"Group.{call}: no group; got GROUP_NULL; expected one that is not freed"
            )
        return self._members

    def __repr__(self):
        return "Group(NULL)" if self._members is None else f"Group({list(self._members)})"

    def __bool__(self):
        return self._members is not None

    def __eq__(self, other):
        return self._members == other._members if isinstance(other, Group) else NotImplemented

    def __hash__(self):
        return hash(self._members)

    def Get_size(self):
        """Number of ranks."""
        return len(self._known("Get_size"))

    def Get_rank(self):
        """This rank's number in the group; UNDEFINED where it is none of them."""
        members, own = self._known("Get_rank"), _own_world_rank()
        return members.index(own) if own in members else UNDEFINED

    size = property(Get_size, doc="Number of ranks.")
    rank = property(Get_rank, doc="This rank's number; UNDEFINED where it is none of them.")

    def Translate_ranks(self, ranks=None, group=None):
        """The numbers that ranks of this group have in another, by default the world's; UNDEFINED where they are in none."""
        members = self._known("Translate_ranks")
        if group is None:
            from ._job import connect

            group = connect()["world"].Get_group()
        others = group._known("Translate_ranks")
        ranks = range(len(members)) if ranks is None else ranks
        found = [
            members[_checked(r, members, "Translate_ranks")] if r >= 0 else None for r in ranks
        ]
        return [
            r if m is None else others.index(m) if m in others else UNDEFINED
            for r, m in zip(ranks, found, strict=True)
        ]

    def Compare(self, group):
        """IDENT for the same ranks in the same order, SIMILAR in another, else UNEQUAL."""
        mine, other = self._known("Compare"), group._known("Compare")
        return IDENT if mine == other else SIMILAR if set(mine) == set(other) else UNEQUAL

    def Dup(self):
        """The same ranks."""
        return type(self)._of(self._known("Dup"))

    @classmethod
    def Union(cls, group1, group2):
        """The ranks of the first, then those of the second that are not in it."""
        first, second = group1._known("Union"), group2._known("Union")
        return cls._of([*first, *(m for m in second if m not in first)])

    @classmethod
    def Intersection(cls, group1, group2):
        """The ranks of the first that are in the second."""
        second = group2._known("Intersection")
        return cls._of(m for m in group1._known("Intersection") if m in second)

    @classmethod
    def Difference(cls, group1, group2):
        """The ranks of the first that are not in the second."""
        second = group2._known("Difference")
        return cls._of(m for m in group1._known("Difference") if m not in second)

    def Incl(self, ranks):
        """These ranks of it, in this order."""
        members = self._known("Incl")
        return type(self)._of(members[_checked(r, members, "Incl")] for r in ranks)

    def Excl(self, ranks):
        """All ranks of it but these."""
        members = self._known("Excl")
        out = {_checked(r, members, "Excl") for r in ranks}
        return type(self)._of(m for k, m in enumerate(members) if k not in out)

    def Range_incl(self, ranks):
        """The ranks of ranges (first, last, step), the last included."""
        return self.Incl(_spread(ranks))

    def Range_excl(self, ranks):
        """All ranks but those of ranges (first, last, step), the last included."""
        return self.Excl(_spread(ranks))

    def Free(self):
        """Forget the ranks: the group is GROUP_NULL then."""
        self._members = None


def _checked(rank, members, call):
    if not 0 <= rank < len(members):
        raise ValueError(
            f"Group.{call}: no such rank; got {rank}; expected 0 to {len(members) - 1}"
        )
    return rank


def _spread(ranges):
    return [
        r
        for first, last, step in ranges
        for r in range(first, last + (1 if step > 0 else -1), step)
    ]


GROUP_NULL = Group()
GROUP_EMPTY = Group._of(())


def compare(one, other):
    """IDENT for one communicator, CONGRUENT for the same ranks in the same order, SIMILAR in another, else UNEQUAL."""
    if one.Is_inter():
        return one.Compare(other)
    if one._same(other):
        return IDENT
    found = one.Get_group().Compare(other.Get_group())
    return CONGRUENT if found == IDENT else found
