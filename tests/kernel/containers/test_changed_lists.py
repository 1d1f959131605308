"""Compiled functions that change a list of numbers which another one made or was given."""

import pytest
import unisono as un


@un.jit
def push(heap, x):
    heap.append(x)
    i = len(heap) - 1
    while i > 0 and heap[(i - 1) // 2] > heap[i]:
        heap[i], heap[(i - 1) // 2] = heap[(i - 1) // 2], heap[i]
        i = (i - 1) // 2


@un.jit
def pop(heap):
    top = heap[0]
    last = heap.pop()
    if len(heap) > 0:
        heap[0] = last
        i = 0
        while 2 * i + 1 < len(heap):
            k = 2 * i + 1
            if k + 1 < len(heap) and heap[k + 1] < heap[k]:
                k += 1
            if heap[i] <= heap[k]:
                break
            heap[i], heap[k] = heap[k], heap[i]
            i = k
    return top


def through_a_heap(n):
    heap = []
    for i in range(n):
        push(heap, (i * 7) % 5)
    return [pop(heap) for _ in range(n)], len(heap)


@un.jit
def part(items, low, high):
    pivot = items[high]
    i = low
    for k in range(low, high):
        if items[k] < pivot:
            items[i], items[k] = items[k], items[i]
            i += 1
    items[i], items[high] = items[high], items[i]
    return i


@un.jit
def quicksort(items, low, high):
    if low < high:
        middle = part(items, low, high)
        quicksort(items, low, middle - 1)
        quicksort(items, middle + 1, high)


def sorted_here(n):
    items = [(i * 31 % 17) * 0.5 for i in range(n)]
    quicksort(items, 0, n - 1)
    same = items
    same.append(1.0)
    return items


def sorted_given(items):
    quicksort(items, 0, len(items) - 1)
    return items


def searched(n):
    seen = [False] * n
    order = []

    def visit(u):
        if seen[u]:
            return
        seen[u] = True
        order.append(u)
        for v in ((u * 2) % n, (u + 3) % n):
            visit(v)

    visit(0)
    return order, seen


def counted(n):
    cell = [0]
    halves = []
    halves.append(0)

    def more(k):
        cell[0] += k
        halves[0] += k

    for i in range(n):
        more(i)
    return cell[0], halves[0]


@pytest.mark.parametrize("f", [through_a_heap, sorted_here, searched, counted])
def test_changed_by_a_callee(f):
    for n in (7, 1):
        assert un.jit(f)(n) == f(n)


def test_a_list_that_was_given():
    mine, theirs = [5, 3, 9, 1], [5, 3, 9, 1]
    assert un.jit(sorted_given)(mine) == sorted_given(theirs)
    assert mine == theirs == [1, 3, 5, 9]
    mine = [2.5, -1.0]
    quicksort(mine, 0, 1)
    assert mine == [-1.0, 2.5]
