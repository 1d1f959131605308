"""Iterators of ``itertools`` as Python generators, whose bodies stand around the loops over them."""

from __future__ import annotations

import functools

from .text import function_of_text


def accumulate(iterable, func=None, *, initial=None):
    items = list(iterable)
    start = 0
    if initial is None:
        if len(items) == 0:
            return
        total = items[0]
        start = 1
    else:
        total = initial
    yield total
    for i in range(start, len(items)):
        if func is None:
            total = total + items[i]
        else:
            total = func(total, items[i])
        yield total


def accumulate_lazily(iterable, func=None, *, initial=None):
    total = initial
    if initial is not None:
        yield initial
    for x in iterable:
        if total is None:
            total = x
        elif func is None:
            total = total + x
        else:
            total = func(total, x)
        yield total


def takewhile(predicate, iterable):
    for x in iterable:
        if not predicate(x):
            return
        yield x


def dropwhile(predicate, iterable):
    is_open = False
    for x in iterable:
        if not is_open:
            is_open = not predicate(x)
        if is_open:
            yield x


def filterfalse(predicate, iterable):
    for x in iterable:
        if predicate is None:
            if not x:
                yield x
        elif not predicate(x):
            yield x


def starmap(function, iterable):
    for x in iterable:
        yield function(*x)


def compress(data, selectors):
    for x, is_selected in zip(data, selectors):  # noqa: B905
        if is_selected:
            yield x


def from_iterable(iterable):
    for items in iterable:
        yield from items


def groupby(iterable, key=None):
    items = list(iterable)
    begin = 0
    while begin < len(items):
        if key is None:
            common = items[begin]
        else:
            common = key(items[begin])
        end = begin + 1
        while end < len(items):
            if key is None:
                if items[end] != common:
                    break
            elif key(items[end]) != common:
                break
            end += 1
        group = items[begin:end]
        begin = end
        yield common, group


def count(start=0, step=1):
    n = start
    while True:
        yield n
        n = n + step


def islice(iterable, stop):
    k = 0
    if stop < 0:
        raise ValueError(
            "Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize."
        )
    if stop == 0:
        return
    for x in iterable:
        yield x
        k += 1
        if k >= stop:
            return


def islice_from(iterable, start, stop, step=1):
    at = 0
    wanted = 0 if start is None else start
    for x in iterable:
        if stop is not None:
            if at >= stop:
                return
        if at == wanted:
            wanted = wanted + (1 if step is None else step)
            yield x
        at += 1


def zip_longest2(a, b, fillvalue=None):
    first = list(a)
    second = list(b)
    for i in range(max(len(first), len(second))):
        x = first[i] if i < len(first) else fillvalue
        y = second[i] if i < len(second) else fillvalue
        yield x, y


_plain = (accumulate, compress, count, dropwhile, filterfalse, groupby, starmap, takewhile)
_generators = {f.__name__: f for f in _plain}
# What chooses index j, given those before it.
_chosen = {
    "combinations": ("range({above} + 1, n)", ""),
    "combinations_with_replacement": ("range({above}, n)", ""),
    "permutations": ("range(n)", "if {others}: continue"),
}


def permutations(iterable, r=None):
    items = list(iterable)
    n = len(items)
    count = n if r is None else r
    if count < 0:
        raise ValueError("r must be non-negative")
    places = list(range(n))
    left = [n - k for k in range(min(count, n))]
    is_open = count <= n
    while is_open:
        chosen = [items[places[k]] for k in range(count)]
        yield chosen
        is_open = False
        i = count - 1
        while i >= 0 and not is_open:
            left[i] -= 1
            if left[i] == 0:  # back to where it was before
                first = places[i]
                for k in range(i, n - 1):
                    places[k] = places[k + 1]
                places[n - 1] = first
                left[i] = n - i
                i -= 1
            else:
                other = n - left[i]
                places[i], places[other] = places[other], places[i]
                is_open = True


def combinations(iterable, r):
    items = list(iterable)
    n = len(items)
    if r < 0:
        raise ValueError("r must be non-negative")
    places = list(range(r))
    is_open = r <= n
    while is_open:
        chosen = [items[k] for k in places]
        yield chosen
        i = r - 1
        while i >= 0 and places[i] == n - r + i:
            i -= 1
        is_open = i >= 0
        if is_open:
            places[i] += 1
            for k in range(i + 1, r):
                places[k] = places[k - 1] + 1


def combinations_with_replacement(iterable, r):
    items = list(iterable)
    n = len(items)
    if r < 0:
        raise ValueError("r must be non-negative")
    places = [0] * r
    is_open = n > 0 or r == 0
    while is_open:
        chosen = [items[k] for k in places]
        yield chosen
        i = r - 1
        while i >= 0 and places[i] == n - 1:
            i -= 1
        is_open = i >= 0
        if is_open:
            k = places[i] + 1
            for j in range(i, r):
                places[j] = k


# What gives lists, where the number of items is not known when the function is compiled.
_of_any_count = {f.__name__: f for f in (combinations, combinations_with_replacement, permutations)}


def generator_for(name, given, count, gives_rows):
    """The generator that stands for a class of itertools, or None.

    Parameters
    ----------
    name : str
    given : int
        How many arguments there are by position.
    count : int or None
        How many items are chosen, where the call says so.
    gives_rows : bool
        Whether a list does as well as a tuple.
    """
    if name in _chosen:
        if count is not None and 1 <= count <= 8:
            return _choosing(name, count)
        return _of_any_count[name] if gives_rows else None
    if name == "islice":
        return islice if given == 2 else islice_from
    if name == "zip_longest":
        return zip_longest2 if given == 2 else None
    return _generators.get(name)


@functools.cache
def _choosing(name, count):
    """Loops over `count` indices, each inside of the one before."""
    numbers, test = _chosen[name]
    lines = [f"def {name}(iterable, r=None):", "    items = list(iterable)", "    n = len(items)"]
    for k in range(count):
        above = f"i{k - 1}" if k else "-1" if name == "combinations" else "0"
        lines.append(f"{' ' * 4 * (k + 1)}for i{k} in {numbers.format(above=above)}:")
        if test and k:
            others = " or ".join(f"i{k} == i{j}" for j in range(k))
            inside = " " * 4 * (k + 2)
            lines += [f"{inside}if {others}:", f"{inside}    continue"]
    given = "".join(f"items[i{k}], " for k in range(count))
    lines.append(f"{' ' * 4 * (count + 1)}yield ({given})")
    return function_of_text("\n".join(lines) + "\n", name)
