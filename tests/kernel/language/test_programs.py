"""Small programs as they are written for Python: with CPython and compiled."""

import functools
import heapq
import math
import random
from collections import deque

import pytest
import unisono as un


def breadth_first(n):
    graph = {"A": ["B", "C"], "B": ["D"], "C": ["D", "E"], "D": ["F"], "E": ["F"], "F": []}
    waiting, distance, order = deque(["A"]), {"A": 0}, []
    while waiting:
        u = waiting.popleft()
        order.append(u)
        for v in graph[u]:
            if v not in distance:
                distance[v] = distance[u] + 1
                waiting.append(v)
    return order, distance


def shortest_paths(n):
    graph = {0: [(1, 4.0), (2, 1.0)], 1: [(3, 1.0)], 2: [(1, 2.0), (3, 5.0)], 3: []}
    distance = {v: math.inf for v in graph}
    distance[0] = 0.0
    before = {}
    heap = [(0.0, 0)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > distance[u]:
            continue
        for v, w in graph[u]:
            if d + w < distance[v]:
                distance[v] = d + w
                before[v] = u
                heapq.heappush(heap, (d + w, v))
    path = [3]
    while path[-1] in before:
        path.append(before[path[-1]])
    return distance, path[::-1]


def rows_of_lists(n):
    rows = [[], [(1, 2.5)], []]
    rows[0].append((n, 0.5))
    return rows, {1: [2.5], 2: []}


def largest(n):
    words = ["pear", "apple", "fig"]
    pairs = [(n, 1), (2, 7), (2, 9)]
    best = (0, 0)
    for k in range(1, n):
        best = max(best, (k % 4, k))
    return (
        best,
        max(words),
        min(words),
        max(pairs),
        min(pairs),
        max("b", "a", "c"),
        min((2, 1), (1, 5)),
    )


def remembered(n):
    calls = 0

    @functools.cache
    def fibonacci(k):
        if k < 2:
            return k
        return fibonacci(k - 1) + fibonacci(k - 2)

    @functools.cache
    def paths(x, y):
        if x == 0 or y == 0:
            return 1
        else:
            return paths(x - 1, y) + paths(x, y - 1)

    return fibonacci(n), paths(n // 4, n // 4), calls


def notation(n):
    operators = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}
    stack = []
    for token in f"3 4 {n} * 1 - +".split():
        if token in operators:
            b = stack.pop()
            a = stack.pop()
            stack.append(operators[token](a, b))
        else:
            stack.append(float(token))
    return stack.pop()


def product_of_matrices(n):
    a, b = [[1, 2], [3, n]], [[5, 6], [7, 8]]
    return [
        [sum(x * y for x, y in zip(r, c, strict=False)) for c in zip(*b, strict=False)] for r in a
    ]


def random_walk(n):
    random.seed(n)
    x = y = 0
    for _ in range(100):
        dx, dy = random.choice([(0, 1), (0, -1), (1, 0), (-1, 0)])
        x += dx
        y += dy
    return x, y


def orders(n):
    found = []

    def extend(path, used):
        if len(path) == 3:
            found.append(path[:])
            return
        for i in range(3):
            if used[i]:
                continue
            used[i] = True
            path.append(i)
            extend(path, used)
            path.pop()
            used[i] = False

    extend([], [False] * 3)
    return found


def by_count(n):
    counts = {"b": 2, "a": n, "c": 1}
    words = ["Pear", "apple", "Fig"]
    words.sort(key=str.lower)
    return (
        sorted(counts, key=counts.get),
        max(counts, key=counts.get),
        words,
        min(words, key=str.upper),
    )


PROGRAMS = [by_count, orders, breadth_first, shortest_paths, rows_of_lists, largest]
PROGRAMS += [remembered, notation, product_of_matrices, random_walk]


@pytest.mark.parametrize("function", PROGRAMS)
def test_as_python(function):
    assert un.jit(function)(24) == function(24)
