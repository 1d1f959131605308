"""Programs that used to read or write memory that is not theirs."""

import ctypes
import gc
import subprocess
import sys
import textwrap
import weakref

import numpy as np
import pytest
import unisono as un


def run(program, **environment):
    import os

    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


@pytest.mark.slow
def test_statements_whose_code_is_gone():
    """Attributes and methods that record, run by code objects that die at once, as cells of notebooks do."""
    done = run(
        """
        import unisono as un
        a = un.asarray([1, 2, 3])
        def cell(s):
            exec(compile(s, "<cell>", "exec"), {"a": a})
        for k in range(4000):
            cell("repr(a)")
            cell("a.imag")
            cell("a.copy()")
            cell("a.astype('f4')")
            cell("x={'k%d':[%d,'abc%d']}" % (k, k, k))
            cell("def f(x,y=%d): return x+y*%d" % (k, k))
        print(a.sum())
        """
    )
    assert done.stdout == "6\n", done.stderr[-2000:]


@pytest.mark.parametrize(
    "subscripts, shape",
    [
        ("ii->i", (0, 1)),
        ("ii", (3, 1)),
        ("ii->i", (1, 3)),
        ("iij->j", (0, 1, 2)),
        ("iji->j", (2, 3, 1)),
    ],
)
def test_repeated_subscripts_of_unequal_extents(subscripts, shape):
    with pytest.raises(ValueError, match=r"einsum: the subscript 'i' is repeated"):
        un.einsum(subscripts, un.zeros(shape))
    square = un.ones((3, 3))
    assert un.einsum("ii", square) == 3 and un.einsum("ii->i", square).tolist() == [1, 1, 1]


def test_no_blas_is_an_error():
    done = run(
        """
        import unisono as un
        for call in (lambda: un.linalg.solve(un.eye(200), un.ones(200)), lambda: un.linalg.svd(un.ones((9, 9)))):
            try:
                print(call())
            except un.UnsupportedError as e:
                print(e)
        print((un.ones((4, 4)) @ un.ones((4, 4)))[0, 0])
        """,
        UNISONO_BLAS="/nonexist",
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr[-2000:]
    assert (
        all("no BLAS and LAPACK library was found" in line for line in lines[:2])
        and lines[2] == "4.0"
    )


@pytest.mark.parametrize("dtype", ["float64", "int32", "complex128", "bool", None])
@pytest.mark.parametrize("change", ["clear", "grow", "inner", "outer"])
def test_a_list_that_changes_while_it_is_converted(dtype, change):
    rows = []

    class Changes:
        def _run(self):
            if change == "clear":
                rows.clear()
            elif change == "grow":
                rows.extend([[1.0, 1.0]] * 3)
            elif change == "inner":
                rows[1].clear()
            else:
                rows[0] = 7
            return 1.0

        def __float__(self):
            return self._run()

        def __index__(self):
            return int(self._run())

        def __complex__(self):
            return complex(self._run())

        def __bool__(self):
            return bool(self._run())

        def __array__(self, dtype=None, copy=None):
            return np.array(self._run())

    rows.extend([Changes(), 2.0] for _ in range(4))
    try:
        made = un.asarray(rows, dtype=dtype)
    except (RuntimeError, ValueError, TypeError):
        return
    assert made.shape == (4, 2)


def test_cleared_lists_are_named():
    elements = []

    class Clears:
        def __float__(self):
            elements.clear()
            return 1.0

    elements.extend(Clears() for _ in range(5))
    with pytest.raises(RuntimeError, match="array: a sequence changed its length"):
        un.asarray(elements, dtype="float64")


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
    ]  # fmt: skip


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
Destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)


class Producer:
    """Hands over a tensor as it is told."""

    def __init__(self, data, ndim, shape, strides=None):
        self.shape = (ctypes.c_int64 * max(len(shape or ()), 1))(*(shape or ()))
        pointer = (
            ctypes.cast(self.shape, ctypes.POINTER(ctypes.c_int64)) if shape is not None else None
        )
        self.memory = ctypes.create_string_buffer(4096)
        address = ctypes.addressof(self.memory) if data else None
        self.strides = (ctypes.c_int64 * len(strides))(*strides) if strides else None
        self.tensor = Tensor(address, 1, 0, ndim, 2, 64, 1, pointer, self.strides, 0, None, None)

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **options):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = (
            ctypes.py_object,
            [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
        )
        self.name = b"dltensor"
        return new(ctypes.addressof(self.tensor), self.name, None)


@pytest.mark.parametrize(
    "data, ndim, shape, strides",
    [
        (True, -1, (4,), None),
        (True, 65, (1,), None),
        (True, 1000, (1,), None),
        (False, 1, (4,), None),
        (True, 1, None, None),
        (True, 2, (4, -1), None),
        (True, 2, (2**40, 2**40), None),
        (True, 1, (2**61,), None),
        (True, 1, (4,), (2**62,)),
        (True, 1, (4,), (-(2**62),)),
        (True, 2, (4, 4), (2**59, 2**59)),
    ],
)
def test_malformed_tensors(data, ndim, shape, strides):
    with pytest.raises(
        ValueError, match="from_dlpack: the capsule holds no tensor that can be read"
    ):
        un.from_dlpack(Producer(data, ndim, shape, strides))


def test_well_formed_tensors():
    assert un.from_dlpack(Producer(True, 1, (4,))).tolist() == [0, 0, 0, 0]
    assert un.from_dlpack(Producer(False, 1, (0,))).shape == (0,)
    assert un.from_dlpack(Producer(True, 1, (1,), (2**62,))).tolist() == [0]
    assert un.from_dlpack(Producer(True, 1, (3,), (0,))).tolist() == [0, 0, 0]


class FreedWithCapsule(Producer):
    """Frees the tensor when its capsule goes, and fills the memory with what no tensor is."""

    def __init__(self, *args):
        super().__init__(*args)
        self.events = events = []
        place, size = ctypes.addressof(self.tensor), ctypes.sizeof(self.tensor)

        def destroy(capsule):
            events.append("capsule")
            ctypes.memset(place, 0xFF, size)

        self.delete = Deleter(lambda tensor: events.append("tensor"))
        self.destroy = Destructor(destroy)
        self.tensor.deleter = ctypes.cast(self.delete, ctypes.c_void_p)

    def __dlpack__(self, **options):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, Destructor]
        self.name = b"dltensor"
        return new(ctypes.addressof(self.tensor), self.name, self.destroy)


def test_tensors_that_go_with_their_capsule():
    producer = FreedWithCapsule(True, 1, (4,))
    x = un.from_dlpack(producer)
    assert producer.events == []
    assert (x + 1).tolist() == [1, 1, 1, 1]
    del x
    gc.collect()
    assert producer.events == ["tensor", "capsule"]


def test_refused_tensors_stay_their_capsule_s():
    producer = FreedWithCapsule(True, 1, (-4,))
    with pytest.raises(ValueError, match="from_dlpack: the capsule holds no tensor"):
        un.from_dlpack(producer)
    gc.collect()
    assert producer.events == ["capsule"]


def test_tensors_without_a_deleter_keep_their_producer():
    x = un.from_dlpack(producer := Producer(True, 1, (4,)))
    gone = weakref.ref(producer)
    del producer
    gc.collect()
    assert gone() is not None and x.tolist() == [0, 0, 0, 0]
    del x
    gc.collect()
    assert gone() is None
