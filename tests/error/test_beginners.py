"""What people write in their first hour gets a message that says what to write instead."""

import inspect
import re

import pytest
import unisono as un

X = un.arange(6.0).reshape(2, 3)
A = un.ones(3)


@pytest.mark.parametrize(
    ("call", "kind", "parts"),
    [
        (lambda: un.zeros(3, 4), TypeError, ["4 is not a dtype", "one tuple", "un.zeros((3, 4))"]),
        (lambda: un.ones(3, (4, 5)), TypeError, ["(4, 5) is not a dtype", "one tuple"]),
        (lambda: un.zeros(3, "flot64"), TypeError, ["'flot64' is not a dtype", "did you mean 'float64'?"]),
        (lambda: un.arange("a"), TypeError, ["arange: start, stop and step are numbers; got 0, 'a'"]),
        (lambda: A.astype("ulnt64"), TypeError, ["did you mean 'uint64'?"]),
        (lambda: un.concatenate(A, A), TypeError, ["one argument", "un.concatenate((a, b))"]),
        (lambda: un.stack(A, A), TypeError, ["one argument", "un.stack((a, b))"]),
        (lambda: un.concatenate([A], [A]), TypeError, ["got a second list as axis"]),
        (lambda: un.random.rand((2, 3)), TypeError, ["one by one; got (2, 3)", "rand(2, 3), or random((2, 3))"]),
        (lambda: un.random.randn((2, 3)), TypeError, ["randn(2, 3), or standard_normal((2, 3))"]),
        (lambda: un.random.normal(0, 1, 3, 4), TypeError, ["normal: the shape is one argument", "size=(3, 4)"]),
        (lambda: un.random.uniform(0, 1, 3, 4), TypeError, ["uniform: the shape is one argument", "size=(3, 4)"]),
        (lambda: un.random.random(2, 3), TypeError, ["random: 3 is not a dtype", "as in size=(2, 3)"]),
        (lambda: un.random.randint(0, 9, 3, 4), TypeError, ["4 is not a dtype", "as in size=(2, 3)"]),
        (lambda: un.random.default_rng(0).integers(0, 9, 3, 4), TypeError, ["4 is not a dtype"]),
        (lambda: un.reshape(A, 2, 3), TypeError, ["order must be one of 'C', 'F', 'A'; got an object of type int", "as in reshape(a, (2, 3))"]),
        (lambda: A.flatten("x"), ValueError, ["order must be one of 'C', 'F', 'A', 'K'; got 'x'"]),
        (
            lambda: un.random.default_rng(0).normal(0.0, 1.0, 3, 4, 5),
            TypeError,
            ["got 3 extents one by one", "size=(3, 4, 5)"],
        ),
    ],
)  # fmt: skip
def test_messages_say_what_to_write(call, kind, parts):
    with pytest.raises(kind) as caught:
        call()
    for part in parts:
        assert part in str(caught.value)


def test_no_suggestion_where_nothing_is_near():
    for name in ("objects", "foo", "datetime64[zs]", ""):
        with pytest.raises(TypeError) as caught:
            un.zeros(3, dtype=name)
        assert "did you mean" not in str(caught.value)


def test_an_absent_device_says_what_was_searched():
    report = un._engine._backend_reports()["cuda"]
    if any(str(d).startswith("cuda") for d in un.devices()):
        pytest.skip("there is a CUDA device")
    with pytest.raises(un.DeviceError) as caught:
        un.zeros(3, device="cuda")
    text = str(caught.value)
    assert "there is no device 'cuda'" in text and "present: cpu" in text
    assert all(line in text for line in report) and report


# Arguments behind the first of functions that need some.
MORE = {
    "roll": (1,), "quantile": (0.5,), "percentile": (50,), "nanquantile": (0.5,), "nanpercentile": (50,),
}  # fmt: skip


def functions_with_axes():
    for space in (un, un.linalg, un.fft):
        for name in dir(space):
            function = getattr(space, name)
            doc = inspect.getdoc(function) or ""
            if re.search(r"^axis : int or (tuple|pair) of int", doc, re.M) and not name.startswith(
                "_"
            ):
                yield pytest.param(function, name, id=f"{space.__name__}.{name}")


@pytest.mark.parametrize(("function", "name"), list(functions_with_axes()))
def test_functions_whose_text_says_tuple_of_axes_take_one(function, name):
    x = X if name != "squeeze" else X[None, None]
    assert function(x, *MORE.get(name, ()), axis=(0, 1)) is not None


@pytest.mark.parametrize(
    "name", "append delete cumprod argsort argmin stack diff trapezoid unwrap split insert".split()
)
def test_functions_of_one_axis_say_so(name):
    doc = inspect.getdoc(getattr(un, name))
    assert re.search(r"^axis : int(, optional| or None, optional)$", doc, re.M)
