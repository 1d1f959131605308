"""Which ranks have the elements of a box, as one-sided access asks: by formulas, without a table of all ranks."""

import tracemalloc
from itertools import product

import numpy as np
import pytest
import unisono as un
from unisono import _engine

layouts = [
    "block", (None, "block"), ("block", "block"), (3, 2), (2, 3), "cyclic", (("cyclic", 2), None),
    ("cyclic", ("cyclic", 3)), ((0, 4, 0, 1, 5, 3), None), (2, ("cyclic", 2)),
]  # fmt: skip
boxes = [((0, 13), (0, 7)), ((3, 4), (2, 3)), ((4, 9), (0, 7)), ((5, 5), (0, 7)), ((1, 12), (6, 7))]


@pytest.mark.parametrize("layout", layouts, ids=str)
def test_runs_lead_to_the_elements(layout):
    def program():
        return spread(whole, layout)

    whole = np.arange(13 * 7).reshape(13, 7)
    check_runs(program, whole)


@pytest.mark.parametrize("layout", ["block", (None, "block"), (3, 2)], ids=str)
@pytest.mark.parametrize("steps", [(2, 1), (-1, 3)], ids=str)
def test_views(layout, steps):
    def program():
        return spread(whole, layout)[view]

    whole = np.arange(13 * abs(steps[0]) * 7 * steps[1]).reshape(13 * abs(steps[0]), 7 * steps[1])
    view = tuple(slice(None, None, s) for s in steps)
    check_runs(program, whole[view])


def spread(whole, layout):
    return un.asarray(whole, mesh=un.mesh()).to_layout(layout)


def check_runs(program, whole):
    def rank():
        x = program()
        owners = _engine._mesh_owners(x)
        return np.asarray(x.local).tolist(), [owners.of(box) for box in boxes]

    found = un.mesh("virtual", 6).run(rank)
    parts, owned = [f[0] for f in found], found[0][1]
    for box, ranks in zip(boxes, owned, strict=True):
        seen = set()
        for rank, shape, axes in ranks:
            part = np.array(parts[rank]).reshape(shape)
            for cut in product(*axes):
                own = part[tuple(slice(at, at + end - begin) for begin, end, at in cut)]
                here = tuple(slice(begin, end) for begin, end, _ in cut)
                assert (own == whole[here]).all()
                seen |= set(own.ravel().tolist())
        inside = whole[tuple(slice(*r) for r in box)]
        assert seen == set(inside.ravel().tolist())


@pytest.mark.parametrize("layout", ["block", ("cyclic", 4)], ids=str)
def test_a_few_elements_cost_alike_in_large_and_small_jobs(layout):
    def program(p):
        x = un.zeros((7 * p, 3), mesh=un.mesh(), layout=(layout, None))
        tracemalloc.start()
        try:
            owners = _engine._mesh_owners(x)
            found = owners.of(((2 * p, 2 * p + 9), (0, 3)))
            return len(found), tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    costs = []
    for p in (1000, 100_000):
        m = un.mesh("virtual", p, sample=(p // 3,))
        costs.append(m.run(program, p)[0])
    assert costs[0][0] <= 4 and costs[1][0] <= 4
    assert costs[1][1] < costs[0][1] + 1000
