"""Typed containers in Numba's spelling: they are Python's, whose types compiled functions find themselves."""

from __future__ import annotations

from typing import Any

from .types import Type

__all__ = ["Dict", "List", "Set"]


class List:
    """A list for compiled functions: Python's own.

    Parameters
    ----------
    iterable : iterable, optional
        The first items.

    Returns
    -------
    list

    Examples
    --------
    >>> import unisono as un
    >>> from unisono.typed import List
    >>> @un.jit
    ... def names(xs):
    ...     xs.append("c")
    ...     return len(xs)
    >>> xs = List(["a", "b"])
    >>> names(xs), xs
    (3, ['a', 'b', 'c'])
    """

    def __new__(cls, iterable: Any = ()) -> Any:
        return list(iterable)

    @staticmethod
    def empty_list(item_type: Any, allocated: int = 0) -> list[Any]:
        """An empty list; what is stored first tells its type."""
        return []


class Dict:
    """A dict for compiled functions: Python's own.

    Parameters
    ----------
    entries : dict or iterable of pairs, optional
        The first entries.

    Returns
    -------
    dict

    Examples
    --------
    >>> import unisono as un
    >>> from unisono.typed import Dict
    >>> @un.jit
    ... def count(d, key):
    ...     d[key] = d.get(key, 0) + 1
    >>> d = Dict.empty(key_type=str, value_type=int)
    >>> count(d, "a")
    >>> d
    {'a': 1}
    """

    def __new__(cls, entries: Any = ()) -> Any:
        return dict(entries)

    @staticmethod
    def empty(key_type: Any, value_type: Any, n_keys: int = 0) -> dict[Any, Any]:
        """An empty dict; what is stored first tells its types."""
        return {}


class Set:
    """A set for compiled functions: Python's own.

    Parameters
    ----------
    iterable : iterable or type, optional
        The first items; or the type of those to come, such as ``un.types.intp``, which makes an empty set.

    Returns
    -------
    set

    Examples
    --------
    >>> import unisono as un
    >>> from unisono.typed import Set
    >>> @un.jit
    ... def drop(s, item):
    ...     s.discard(item)
    >>> s = Set(["a", "b"])
    >>> drop(s, "b")
    >>> s
    {'a'}
    """

    def __new__(cls, iterable: Any = ()) -> Any:
        is_type = isinstance(iterable, (type, Type))
        return set() if is_type else set(iterable)

    @staticmethod
    def empty(item_type: Any) -> set[Any]:
        """An empty set; what is stored first tells its type."""
        return set()
