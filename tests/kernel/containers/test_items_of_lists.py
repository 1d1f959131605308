"""Items of lists of lists, tuples and arrays between changes of the lists."""

import random

import numpy as np
import pytest
import unisono as un


def _walk(rows, steps):
    total = 0.0
    for kind, i, j in steps:
        if kind == 0:
            rows.append([float(i), float(j)])
        elif kind == 1 and len(rows) > 1:
            rows.pop(0)
        elif kind == 2:
            rows.insert(0, [float(j)])
        elif kind == 3:
            rows[i % len(rows)][-1] = float(j)
        elif kind == 4:
            rows[-1 - i % len(rows)] = [float(i)]
        elif kind == 5:
            rows[1:1] = [[float(i)], [float(j)]]
        elif kind == 6 and len(rows) > 3:
            del rows[::2]
        elif kind == 7:
            rows.reverse()
        else:
            rows.sort()
        total += rows[i % len(rows)][0] + rows[-1][-1]
    return total


@pytest.mark.parametrize("seed", range(4))
def test_items_between_changes(seed):
    draw = random.Random(seed)
    steps = [tuple(draw.randrange(n) for n in (9, 50, 50)) for _ in range(300)]
    ours, theirs = [[1.0]], [[1.0]]
    assert un.jit(_walk)(ours, steps) == _walk(theirs, steps)
    assert ours == theirs


def test_places_outside_of_a_list():
    @un.jit
    def read(rows, i, j):
        return rows[i][j]

    @un.jit
    def write(rows, i, j):
        rows[i][j] = 9
        return rows

    rows = [[1, 2], [3]]
    assert read(rows, -1, 0) == 3 and read(rows, 0, -2) == 1
    assert write(rows, -2, -1) == [[1, 9], [3]] and rows == [[1, 9], [3]]
    for function in (read, write):
        for i, j in ((2, 0), (-3, 0), (1, 1), (1, -2), (1 << 62, 0), (-(1 << 63), 0)):
            with pytest.raises(IndexError):
                function(rows, i, j)
    assert rows == [[1, 9], [3]]


def test_items_of_several_kinds():
    @un.jit
    def swap(pairs, arrays, texts):
        pairs[0], pairs[-1] = pairs[-1], pairs[0]
        arrays[0] = arrays[1] + arrays[0]
        texts[1] = texts[0] + texts[-1]
        nothing = [None, None]
        nothing[1] = None
        return pairs[0][1] + arrays[0][1] + len(texts[1]) + len(nothing)

    pairs, arrays = [(1, 2.5), (3, 4.5)], [np.ones(2), np.arange(2.0)]
    texts = ["a", "b", "cd"]
    assert swap(pairs, arrays, texts) == 4.5 + 2 + 3 + 2
    assert pairs == [(3, 4.5), (1, 2.5)] and texts == ["a", "acd", "cd"]


def test_rows_that_are_one():
    @un.jit
    def shared(n):
        row = [0] * 3
        rows = [list(row) for _ in range(n)]
        rows.append(rows[0])
        rows[0][1] = 7
        rows[-1][2] += 5
        return rows

    rows = shared(2)
    assert rows == [[0, 7, 5], [0, 0, 0], [0, 7, 5]]
