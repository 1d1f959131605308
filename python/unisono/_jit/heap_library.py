"""Functions of ``heapq`` that compiled code calls: CPython's steps, which leave its order in the list."""

from __future__ import annotations

from . import jit


@jit
def _sift_up(heap, start, place):
    """Towards the root, until the item above is no larger."""
    item = heap[place]
    while place > start:
        above = (place - 1) >> 1
        if not item < heap[above]:
            break
        heap[place] = heap[above]
        place = above
    heap[place] = item


@jit
def _sift_down(heap, start):
    """To the bottom along the smaller items below, and from there up to its place."""
    end = len(heap)
    place = start
    item = heap[place]
    below = 2 * place + 1
    while below < end:
        right = below + 1
        if right < end and not heap[below] < heap[right]:
            below = right
        heap[place] = heap[below]
        place = below
        below = 2 * place + 1
    heap[place] = item
    _sift_up(heap, start, place)


@jit
def heappush(heap, item):
    heap.append(item)
    _sift_up(heap, 0, len(heap) - 1)


@jit
def heappop(heap):
    if len(heap) == 0:
        raise IndexError("index out of range")
    last = heap.pop()
    if len(heap) == 0:
        return last
    first = heap[0]
    heap[0] = last
    _sift_down(heap, 0)
    return first


@jit
def heapreplace(heap, item):
    if len(heap) == 0:
        raise IndexError("index out of range")
    first = heap[0]
    heap[0] = item
    _sift_down(heap, 0)
    return first


@jit
def heappushpop(heap, item):
    if len(heap) > 0 and heap[0] < item:
        first = heap[0]
        heap[0] = item
        _sift_down(heap, 0)
        return first
    return item


@jit
def heapify(x):
    for i in range(len(x) // 2 - 1, -1, -1):
        _sift_down(x, i)


@jit
def nlargest(n, iterable, key=None):
    if key is None:
        return sorted(iterable, reverse=True)[: max(n, 0)]
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


@jit
def nsmallest(n, iterable, key=None):
    if key is None:
        return sorted(iterable)[: max(n, 0)]
    return sorted(iterable, key=key)[: max(n, 0)]


implementations = {
    f.__name__: f
    for f in (heapify, heappop, heappush, heappushpop, heapreplace, nlargest, nsmallest)
}
