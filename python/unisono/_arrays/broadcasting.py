"""The iterator over broadcast arguments."""

from .axes import as_array
from .ufunc import broadcast_shapes


class broadcast:
    """The shape that arrays broadcast to, and their elements side by side.

    Parameters
    ----------
    *args : array_like

    Raises
    ------
    ValueError
        If the shapes cannot be broadcast together.

    Examples
    --------
    >>> import unisono as un
    >>> b = un.broadcast([[1], [2]], [3, 4])
    >>> b.shape, [(int(x), int(y)) for x, y in b]
    ((2, 2), [(1, 3), (1, 4), (2, 3), (2, 4)])
    """

    def __init__(self, *args):
        self._arrays = [as_array(a) for a in args]
        self.shape = broadcast_shapes(*(x.shape for x in self._arrays))
        self.nd = self.ndim = len(self.shape)
        self.numiter = len(args)
        self.size = 1
        for n in self.shape:
            self.size *= n
        self.reset()

    @property
    def iters(self):
        """Iterators over the elements of each array, broadcast."""
        from .functions import broadcast_to

        return tuple(broadcast_to(x, self.shape).flat for x in self._arrays)

    def reset(self):
        """Begin again."""
        self.index = 0
        self._iterators = None

    def __iter__(self):
        return self

    def __next__(self):
        if self._iterators is None:
            self._iterators = self.iters
        made = [next(i) for i in self._iterators]
        self.index += 1
        return tuple(made)
