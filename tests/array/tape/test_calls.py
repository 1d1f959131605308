"""Library calls are entries: recorded, run with what they depend on, and told by the log."""

import numpy as np
import unisono as un


def last_calls(count):
    return [call for row in un.flush_log()[-count:] for call in row["calls"]]


def test_many_parts_are_joined_by_one_call():
    parts = [un.zeros(3000) + k for k in range(20)]
    flushes = un.stats()["flushes"]
    joined = un.concatenate(parts)
    assert un.stats()["flushes"] == flushes
    assert joined[3000 * 7] == 7
    assert un.stats()["flushes"] == flushes + 1
    assert "concatenate" in un.flush_log()[-1]["calls"]
    np.testing.assert_array_equal(joined, np.repeat(np.arange(20.0), 3000))


def test_many_parts_are_joined_in_memory_that_one_of_them_reads():
    a = np.arange(60_000.0)
    x = un.asarray(a.copy())
    pieces = [slice(k * 3000, (k + 1) * 3000) for k in reversed(range(20))]
    un.concatenate([x[s] for s in pieces], out=x)
    np.testing.assert_array_equal(x, np.concatenate([a[s] for s in pieces]))


def test_places_and_repeats_are_calls():
    a = np.arange(80_000) % 3
    x = un.asarray(a)
    places = un.nonzero(x)[0]
    assert last_calls(1) == ["nonzero"]  # counting few blocks runs at once
    repeated = un.repeat(x, x)
    assert last_calls(3) == ["count", "repeat", "take"]
    np.testing.assert_array_equal(places, np.nonzero(a)[0])
    np.testing.assert_array_equal(repeated, np.repeat(a, a))
