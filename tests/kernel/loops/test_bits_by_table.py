"""Short loops over bits become tables: the same bits as CPython's, whatever the polynomial and however few the iterations."""

import numpy as np
import pytest
import unisono as un


def reflected(data, poly):
    crc = 0xFFFF
    for b in data:
        cur = 0xFF & b
        for _ in range(8):
            if (crc & 1) ^ (cur & 1):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            cur >>= 1
    return crc


def from_the_top(data, poly):
    crc = 0
    for b in data:
        crc ^= int(b) << 8
        for _ in range(8):
            if crc & 0x8000:
                crc = ((crc << 1) ^ poly) & 0xFFFF
            else:
                crc = (crc << 1) & 0xFFFF
    return crc


def chosen(data, poly):
    crc = 0xFFFFFFFF
    for b in data:
        crc ^= int(b)
        for _ in range(8):
            crc = (crc >> 1) ^ poly if crc & 1 == 1 else crc >> 1
    return crc


def masked(data, poly):
    crc = -1
    for b in data:
        crc ^= int(b)
        for _ in range(8):
            crc = (crc >> 1) ^ (poly & -(crc & 1))
    return crc


def multiplied(data, poly):
    crc = 0
    for b in data:
        crc ^= int(b)
        for _ in range(8):
            crc = (crc >> 1) ^ (crc & 1) * poly
    return crc


def a_bit_at_a_time(data, poly):
    crc = 0
    for b in data:
        for i in range(8):
            bit = (crc >> 7) & 1
            bit ^= (int(b) >> (7 - i)) & 1
            crc = (crc << 1) & 0xFF
            if bit == 1:
                crc ^= poly
    return crc


def with_the_first_condition_negated(data, poly):
    crc = 0xFFFF
    for b in data:
        crc ^= int(b)
        for _ in range(8):
            low = crc & 1
            crc >>= 1
            if low != 0:
                crc = crc ^ poly
    return crc


def shifted_in(data, taps):
    state = 0xACE1
    total = 0
    for b in data:
        state ^= int(b)
        for _ in range(8):
            bit = (state ^ (state >> 2) ^ (state >> 3) ^ (state >> 5)) & 1
            state = ((state >> 1) & 0x7FFF) | (bit << 15)
        total += state
    return total ^ taps


def two_at_once(data, poly):
    a = 0xFF
    b = 0x1FF
    for x in data:
        a ^= int(x)
        for _ in range(4):
            if b & 1:
                a ^= poly
            b = (b >> 1) ^ (poly if a & 1 else 0)
            a >>= 1
        b += 3
    return a * 1000003 + b


linear = [
    reflected,
    from_the_top,
    chosen,
    masked,
    multiplied,
    a_bit_at_a_time,
    with_the_first_condition_negated,
    shifted_in,
    two_at_once,
]


def counted(data, poly):
    """Not linear: a sum."""
    crc = 0
    for b in data:
        crc ^= int(b)
        for _ in range(8):
            crc = (crc >> 1) + poly if crc & 1 else crc >> 1
        crc &= 0xFFFFFF
    return crc


def inverted(data, poly):
    """A branch that its bit does not decide alone."""
    crc = 0
    for b in data:
        crc ^= int(b)
        for _ in range(8):
            crc = (crc >> 1) ^ poly if (crc & 3) == 3 else crc >> 1
    return crc


def multiplied_by_itself(data, poly):
    crc = 1
    for b in data:
        crc ^= int(b)
        for _ in range(8):
            crc = (crc >> 1) ^ (poly if crc & 1 else crc & 0xF0)
    return crc


def with_a_changing_constant(data, poly):
    crc = 1
    for b in data:
        crc ^= int(b)
        for _ in range(8):
            crc = (crc >> 1) ^ poly if crc & 1 else crc >> 1
        poly = (poly * 5) & 0xFFFF
    return crc


others = [counted, inverted, multiplied_by_itself, with_a_changing_constant]


def numbers(n, seed):
    return np.random.default_rng(seed).integers(0, 256, n, dtype=np.uint8)


@pytest.mark.parametrize("function", linear + others)
def test_bits_are_those_of_python(function):
    compiled = un.jit(function)
    for seed, n in enumerate((0, 1, 7, 31, 64, 65, 300, 2000)):
        data = numbers(n, seed)
        for poly in (0x8408, 0x1021, 1, 0, 0xEDB88320, -0x71):
            assert compiled(data, poly) == function(data.tolist(), poly), (n, hex(poly))


@pytest.mark.parametrize("function", linear)
def test_linear_loops_have_tables(function):
    compiled = un.jit(function)
    compiled(numbers(10, 0), 7)
    assert "%table" in llvm(compiled)


@pytest.mark.parametrize("function", others)
def test_other_loops_have_none(function):
    compiled = un.jit(function)
    compiled(numbers(10, 0), 7)
    assert "%table" not in llvm(compiled)


def llvm(compiled):
    return compiled.inspect_llvm()


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64, np.int32])
def test_every_width(dtype):
    def crc(data, start, poly, one):
        c = start
        for k in range(data.size):
            c = c ^ data[k]
            for _ in range(8):
                c = (c >> one) ^ poly if c & one else c >> one
        return c

    compiled = un.jit(crc)
    data = np.random.default_rng(4).integers(0, 100, 500).astype(dtype)
    arguments = data, dtype(90), dtype(0x5D), dtype(1)
    assert compiled(*arguments) == crc(*arguments)
    # The step is an argument: only where it is a number can the bits be followed.
    assert "%table" not in llvm(compiled)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64, np.int32])
def test_every_width_of_a_state(dtype):
    def crc(data, start, poly):
        c = start
        for k in range(data.size):
            c = c ^ data[k]
            for _ in range(8):
                c = (c >> 1) ^ poly if c & 1 else c >> 1
        return c

    compiled = un.jit(crc)
    data = np.random.default_rng(4).integers(0, 100, 500).astype(dtype)
    assert compiled(data, dtype(90), dtype(0x5D)) == crc(data, dtype(90), dtype(0x5D))
    assert compiled(data - 50, dtype(90), dtype(0x5D)) == crc(data - 50, dtype(90), dtype(0x5D))
    assert "%table" in llvm(compiled)


def test_many_rows_take_one_place():
    """Memory of tables does not grow with the loops around them."""

    @un.jit
    def each_row(data, out):
        for i in range(data.shape[0]):
            out[i] = 0xFFFF
            crc = 0xFFFF
            for j in range(data.shape[1]):
                crc ^= int(data[i, j])
                for _ in range(8):
                    crc = (crc >> 1) ^ 0x8408 if crc & 1 else crc >> 1
            out[i] = crc

    data = np.random.default_rng(1).integers(0, 256, (20000, 200), dtype=np.uint8)
    out = np.zeros(20000, np.int64)
    each_row(data, out)
    assert "%table" in llvm(each_row)
    for i in (0, 1, 19999):
        assert out[i] == chosen_from(data[i].tolist())


def chosen_from(row):
    crc = 0xFFFF
    for b in row:
        crc ^= b
        for _ in range(8):
            crc = (crc >> 1) ^ 0x8408 if crc & 1 else crc >> 1
    return crc


def test_parallel_rows():
    @un.jit(parallel=True)
    def each_row(data, out):
        for i in un.prange(data.shape[0]):
            crc = 0xFFFF
            for j in range(data.shape[1]):
                crc ^= int(data[i, j])
                for _ in range(8):
                    crc = (crc >> 1) ^ 0x8408 if crc & 1 else crc >> 1
            out[i] = crc

    data = np.random.default_rng(2).integers(0, 256, (300, 200), dtype=np.uint8)
    out = np.zeros(300, np.int64)
    each_row(data, out)
    assert out.tolist() == [chosen_from(row) for row in data.tolist()]
