"""Structs of C text with bit-fields, and unions by value."""

import pickle

import numpy as np
import pytest
import unisono as un

TEXT = """
typedef struct { unsigned a : 3; int b : 5; unsigned c : 8; double x; _Bool on : 1; } Flags;
Flags make(int a, int b, int c, double x) { Flags f = {a, b, c, x, 1}; return f; }
int sum(Flags f) { return f.a + 10 * f.b + 1000 * f.c + 100000 * f.on; }
int first(const Flags* f) { return f->a + 10 * f->b; }
typedef struct {
    struct { unsigned lo : 4, hi : 4; } n[2];
    int k;
    long w : 40;
    unsigned : 3;
    long z : 20;
} Outer;
long outer(Outer o) { return o.n[0].lo + 10 * o.n[0].hi + 100 * o.n[1].lo + 1000 * o.n[1].hi + 10000 * o.k + 100000 * o.w + o.z; }
const Outer fixed = {{{1, 2}, {3, 4}}, 5, -6, -7};
typedef union { unsigned raw; float number; struct { unsigned lo : 16, hi : 16; }; } Word;
Word word(unsigned raw) { Word w; w.raw = raw; return w; }
unsigned high(Word w) { return w.hi; }
"""


@pytest.fixture(scope="module")
def c():
    return un.c_module(TEXT)


def test_bit_fields_survive_copies_and_are_known_by_name(c):
    made = c.make(1, -2, 3, 4.5)
    assert (made["a"], made["b"], made["c"], made["x"], made["on"]) == (1, -2, 3, 4.5, True)
    assert str(made) == "(a=1, b=-2, c=3, x=4.5, on=True)"
    wanted = 1 - 20 + 3000 + 100000
    flags = np.zeros(2, c.Flags)
    flags[1] = made
    for same in (
        made,
        np.array(made),
        flags[1],
        flags[1:].copy()[0],
        pickle.loads(pickle.dumps(flags))[1],
    ):
        assert c.sum(same) == wanted
    assert c.sum((1, -2, 3, 4.5, True)) == wanted
    assert c.sum({"a": 1, "b": -2, "c": 3, "x": 4.5, "on": True}) == wanted
    assert c.first(flags[1:]) == -19
    flags[0]["b"], flags[0]["c"] = -16, 255
    assert c.sum(flags[0]) == -160 + 255000 and flags[0]["a"] == 0


def test_numbers_that_do_not_fit_bit_fields_are_refused(c):
    with pytest.raises(
        OverflowError, match="a: 8 does not fit in C's bit-field of 3 bits; got 8; expected 0 to 7"
    ):
        c.sum((8, 0, 0, 0.0, 0))
    with pytest.raises(OverflowError, match="expected -16 to 15"):
        np.zeros(1, c.Flags)[0]["b"] = 16
    with pytest.raises(TypeError, match="pass a tuple or dataclass of its fields a, b, c, x, on"):
        c.sum((1.5, 0, 0, 0.0, 0))


def test_structs_inside_and_constants_have_them_too(c):
    assert c.outer((((1, 2), (3, 4)), 5, 6, 7)) == 654321 + 7
    assert c.outer(c.fixed) == -545679 - 7 == c.outer(np.array(c.fixed))
    assert c.fixed["n"][1]["hi"] == 4 and c.fixed["w"] == -6


def test_unions_by_value(c):
    made = c.word(0x50007)
    assert made["raw"] == 0x50007 and made["hi"] == 5 and made["lo"] == 7
    assert c.high(made) == 5 == c.high({"hi": 5}) == c.high({"raw": 0x5FFFF})
    assert c.high({"number": 1.0}) == 0x3F80


def test_compiled_functions_pass_them_as_tuples(c):
    @un.jit
    def changed(a):
        f = c.make(a, -2, 3, 4.5)
        return c.sum(f), f.a, f.b, f.on, c.sum((a, 1, 2, 3.0, False))

    assert changed(5) == (102985, 5, -2, True, 2015)

    @un.jit
    def total(flags):
        s = 0
        for k in range(len(flags)):
            s += c.first(flags[k])
        return s

    flags = np.zeros(3, c.Flags)
    flags[2]["a"], flags[1]["b"] = 7, -3
    assert total(flags) == 7 - 30
