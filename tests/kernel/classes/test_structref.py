"""Numba's structures, whose fields have the types of what they are made with."""

import numpy as np
import pytest
import unisono as un
from unisono import types
from unisono.experimental import structref


@structref.register
class PointType(types.StructRef):
    def preprocess_fields(self, fields):
        return tuple((name, types.unliteral(t)) for name, t in fields)


class Point(structref.StructRefProxy):
    def __new__(cls, name, at=None):
        return structref.StructRefProxy.__new__(cls, name, np.zeros(2) if at is None else at)

    @property
    def at(self):
        return place(self)

    @property
    def norm(self):
        return length(self)


@un.njit
def place(p):
    return p.at


@un.njit
def length(p):
    return np.sqrt((p.at**2).sum())


structref.define_proxy(Point, PointType, ["name", "at"])


@un.overload_method(PointType, "distance")
def distance(self, other):
    def impl(self, other):
        return np.sqrt(((self.at - other.at) ** 2).sum())

    return impl


@un.overload_attribute(PointType, "axes")
def axes(self):
    return lambda self: self.at.size


def kind(x):
    raise AssertionError


@un.overload(kind)
def kind_of(x):
    if isinstance(x, PointType):
        return lambda x: "point"
    return lambda x: "other"


def test_made_by_python_and_used_in_compiled_code():
    @un.njit
    def used(p):
        q = Point("q", np.arange(2) + 1.0)
        p.at[0] = 3
        return p.distance(q), p.axes, kind(p), kind(2), p.name

    p = Point("p")
    assert used(p) == (8**0.5, 2, "point", "other", "p")
    assert p.at.tolist() == [3, 0]
    assert p.norm == 3


def test_fields_of_other_types_and_changes():
    @un.njit
    def made(name, at):
        p = Point(name, at)
        p.name = p.name + p.name
        return p

    @un.njit
    def renamed(p):
        p.name = "new"
        p.at = p.at[::-1]

    p, q = made("a", np.arange(3)), made(1.5, np.ones((2, 2), np.float32))
    assert isinstance(p, Point)
    assert (p.name, q.name) == ("aa", 3.0)
    assert q.at.dtype == np.float32
    renamed(p)
    assert p.name == "new"
    assert p.at.tolist() == [2, 1, 0]
    assert p != made("a", np.arange(3))


def test_errors():
    with pytest.raises(TypeError, match="expected its fields name, at"):
        structref.StructRefProxy.__new__(Point, 1)
    with pytest.raises(TypeError, match="define_proxy first"):
        structref.StructRefProxy.__new__(structref.StructRefProxy, 1)
    with pytest.raises(TypeError, match="register: structures have types of their own"):
        structref.register(types.StructRef)
    with pytest.raises(TypeError, match="decorate it with structref.register"):
        structref.define_proxy(Point, types.StructRef, ["a"])
    with pytest.raises(TypeError, match="a subclass of StructRefProxy"):
        structref.define_proxy(int, PointType, ["a"])
