"""Frozen dataclasses and named tuples that hold texts: made, compared, ordered, returned."""

import heapq
from collections import namedtuple
from dataclasses import dataclass

import pytest
import unisono as un
from jit_devices import all_devices

pytestmark = pytest.mark.parametrize("on", all_devices())

Point = namedtuple("Point", "x name")


@dataclass(order=True, frozen=True)
class Job:
    priority: float
    name: str


def ordered(names):
    jobs = [Job(len(n) / 2, n) for n in names]
    least, most = jobs[0], jobs[0]
    for j in jobs:
        if j < least:
            least = j
        if j > most:
            most = j
    heap = []
    for j in jobs:
        heapq.heappush(heap, j)
    first = heapq.heappop(heap)
    return least, most.name, [j.name for j in sorted(jobs)], first, first == least


def named(s):
    p = Point(1.5, s)
    q = p._replace(name=s + "!")
    return p._fields, q, q.name, len(p._fields)


def passed(job):
    return job.name + "?", job.priority, Job(job.priority + 1, job.name)


@pytest.mark.parametrize(
    ("function", "given"),
    [(ordered, ["b", "ccc", "a", "dd"]), (named, "ü"), (passed, Job(1.0, "x"))],
)
def test_as_python(on, function, given):
    assert un.jit(function, device=on)(given) == function(given)
