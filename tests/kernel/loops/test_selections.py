"""Selections in loops: on x86 they are conditional moves, since only the data tell whether a branch is predicted."""

import platform
import re

import numpy as np
import unisono as un


def lower_bound(x, v):
    low = 0
    high = x.size
    while low < high:
        middle = (low + high) // 2
        if x[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low


def test_no_branches():
    x = np.sort(np.random.default_rng(3).random(300))
    f = un.njit(lower_bound)
    assert f(x, 0.4) == lower_bound(x, 0.4)
    if platform.machine() == "x86_64":
        text = "\n".join(f.inspect_asm().values())
        assert len(re.findall(r"\bcmov", text)) >= 2


def position_of_least(x):
    best = 0
    for i in range(len(x)):
        if x[i] < x[best]:
            best = i
    return best


def test_positions_of_records_take_branches():
    x = np.random.default_rng(3).random(300)
    f = un.njit(position_of_least)
    assert f(x) == np.argmin(x)
    assert f(x[::-1].copy()) == np.argmin(x[::-1])
    if platform.machine() == "x86_64":
        text = "\n".join(f.inspect_asm().values())
        assert not re.search(r"ucomisd[^\n]*\n\s*cmov", text)
