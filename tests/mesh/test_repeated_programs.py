"""Loops whose windows repeat: a share of the random ones; all of them by repeated_programs.py."""

import numpy as np
import pytest
import unisono as un

from .repeated_programs import run_seed


@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
def test_loops_are_numpys(ranks):
    assert sum(run_seed(ranks, 100 * ranks + k) for k in range(6)) > 0


def test_windows_of_a_loop_are_found_once():
    def program(n, steps):
        m = un.mesh()
        x, q, r = (un.zeros((n + 2, n), mesh=m) for _ in range(3))
        r[1:-1] = 1
        p = r.copy()
        rho = (r * r).sum()
        before = m._repeated_windows
        for _ in range(steps):
            q[1:-1] = 2 * p[1:-1] - p[:-2] - p[2:]
            alpha = rho / (p * q).sum()
            x += alpha * p
            r -= alpha * q
            new = (r * r).sum()
            p *= new / rho
            p += r
            rho = new
        return np.asarray(x), m._repeated_windows - before

    alone = un.mesh("virtual", 1).run(program, 40, 20)[0][0]
    for x, repeated in un.mesh("virtual", 3).run(program, 40, 20):
        assert np.array_equal(x, alone)  # the numbers of the first step are not those of others
        assert repeated >= 2 * 20 - 8


def test_what_repeats_on_other_layouts_is_not_taken_for_the_same():
    def program():
        m = un.mesh()
        made = []
        for layout in ["block", "block", "block", "replicated", ("cyclic", None), "block", (None, "block")]:  # fmt: skip
            a = un.asarray(np.arange(35.0).reshape(7, 5), mesh=m, layout=layout)
            b = a + 1
            b[1:] += a[:-1]
            made.append(np.asarray(b))
        return made

    for made in un.mesh("virtual", 3).run(program):
        assert all(np.array_equal(x, made[0]) for x in made)


def test_a_fault_in_a_window_that_repeats_is_raised():
    def program():
        m = un.mesh()
        a = un.asarray(np.arange(12.0), mesh=m)
        for _ in range(5):
            b = a * 2
            b[1:] += a[:-1]
            un.eval(b)
        kept = m._repeated_windows
        with pytest.raises(ValueError):
            un.linalg.inv(un.zeros((4, 4), mesh=m))
        c = a * 2
        c[1:] += a[:-1]
        return kept, np.asarray(c).tolist()

    for kept, c in un.mesh("virtual", 2).run(program):
        assert kept > 0 and c[:3] == [0.0, 2.0, 5.0]
