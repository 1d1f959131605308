"""Assertions with the names of ``cupy.testing``: NumPy's, for arrays of any device and of NumPy, mixed."""

from __future__ import annotations

import functools

import numpy.testing

from .._engine import _Array
from . import asnumpy

__all__ = [
    "assert_allclose",
    "assert_array_almost_equal",
    "assert_array_almost_equal_nulp",
    "assert_array_equal",
    "assert_array_less",
    "assert_array_list_equal",
    "assert_array_max_ulp",
]


def _of_hosts(name):
    function = getattr(numpy.testing, name)

    @functools.wraps(function)
    def asserted(x, y, *args, **options):
        return function(_on_host(x), _on_host(y), *args, **options)

    asserted.__doc__ = f"`numpy.testing.{name}` of copies on the host."
    return asserted


def _on_host(x):
    return asnumpy(x) if isinstance(x, _Array) else x


assert_allclose = _of_hosts("assert_allclose")
assert_array_almost_equal = _of_hosts("assert_array_almost_equal")
assert_array_almost_equal_nulp = _of_hosts("assert_array_almost_equal_nulp")
assert_array_equal = _of_hosts("assert_array_equal")
assert_array_less = _of_hosts("assert_array_less")
assert_array_max_ulp = _of_hosts("assert_array_max_ulp")


def assert_array_list_equal(xlist, ylist, err_msg="", verbose=True):
    """`assert_array_equal` of each array of one list with that of the other."""
    if len(xlist) != len(ylist):
        raise AssertionError(
            f"assert_array_list_equal: the lists have {len(xlist)} and {len(ylist)} arrays"
        )
    for x, y in zip(xlist, ylist, strict=True):
        assert_array_equal(x, y, err_msg=err_msg, verbose=verbose)
