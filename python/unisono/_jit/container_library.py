"""What deques, counters and ordered dicts do, for the lists and dicts that compiled code has in their place."""

from __future__ import annotations

from . import jit


@jit
def popleft(items):
    if len(items) == 0:
        raise IndexError("pop from an empty deque")
    return items.pop(0)


@jit
def pop(items):
    if len(items) == 0:
        raise IndexError("pop from an empty deque")
    return items.pop()


@jit
def append_right(items, x, maxlen=None):
    items.append(x)
    if maxlen is not None:
        if len(items) > maxlen:
            items.pop(0)


@jit
def appendleft(items, x, maxlen=None):
    items.insert(0, x)
    if maxlen is not None:
        if len(items) > maxlen:
            items.pop()


@jit
def extend(items, more, maxlen=None):
    for x in list(more):
        append_right(items, x, maxlen)


@jit
def extendleft(items, more, maxlen=None):
    for x in list(more):
        appendleft(items, x, maxlen)


@jit
def rotate(items, n=1):
    if len(items) > 1:
        k = n % len(items)
        if 2 * k <= len(items):
            for _ in range(k):
                items.insert(0, items.pop())
        else:
            for _ in range(len(items) - k):
                items.append(items.pop(0))


@jit
def count_items(counts, more):
    if isinstance(more, dict):
        for k, n in more.items():
            counts[k] = counts.get(k, 0) + n
    else:
        for x in more:
            counts[x] = counts.get(x, 0) + 1


@jit
def discount_items(counts, more):
    if isinstance(more, dict):
        for k, n in more.items():
            counts[k] = counts.get(k, 0) - n
    else:
        for x in more:
            counts[x] = counts.get(x, 0) - 1


@jit
def most_common(counts, n=None):
    pairs = sorted(counts.items(), key=lambda pair: pair[1], reverse=True)
    return pairs if n is None else pairs[: max(n, 0)]


@jit
def total(counts):
    return sum(counts.values())


@jit
def elements(counts):
    made = []
    for k, n in counts.items():
        for _ in range(n):
            made.append(k)
    return made


@jit
def move_to_end(items, key, last=True):
    value = items.pop(key)
    if last:
        items[key] = value
    else:
        others = items.copy()
        items.clear()
        items[key] = value
        items.update(others)


@jit
def popitem(items, last=True):
    if len(items) == 0:
        raise KeyError("dictionary is empty")
    if last:
        return items.popitem()
    first = next(iter(items))
    return first, items.pop(first)
