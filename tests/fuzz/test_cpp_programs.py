"""Random C++ functions and classes: called from Python, and their C functions from compiled code, they give what NumPy's
numbers of the same types give.

``UNISONO_FUZZ_SEEDS=first:count`` runs other seeds than the default.
"""

import os
import random

import numpy as np
import pytest
import unisono as un
from functions_of_text import function_of

FIRST, COUNT = map(int, os.environ.get("UNISONO_FUZZ_SEEDS", "0:20").split(":"))
TYPES = {
    "double": "float64",
    "float": "float32",
    "int": "int32",
    "unsigned": "uint32",
    "long long": "int64",
    "short": "int16",
    "unsigned char": "uint8",
    "bool": "bool",
}


class Writer:
    """Text of C++, and a model of each function in NumPy's numbers."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.text, self.models = ["#include <cstddef>", "namespace deep { namespace er {"], {}
        for k in range(self.random.randint(2, 4)):
            self.function(f"f{k}")
        self.text.append("} }")
        self.reduction()
        self.class_()

    def kind(self):
        return self.random.choice(list(TYPES))

    def function(self, name):
        """A sum of products of arguments, each cast to the result first, with a default for the last one."""
        kinds = [self.kind() for _ in range(self.random.randint(1, 4))]
        result = self.random.choice(["double", "long long", "float", "int"])
        factors = [self.random.randint(-3, 3) for _ in kinds]
        default = self.random.choice([None, self.random.randint(0, 5)])
        heads = [f"{t} p{i}" for i, t in enumerate(kinds)]
        if default is not None:
            heads[-1] += f" = {default}"
        terms = " + ".join(f"({result}) p{i} * ({result}) {c}" for i, c in enumerate(factors))
        self.text.append(f"inline {result} {name}({', '.join(heads)}) {{ return {terms}; }}")
        wide = np.dtype(TYPES[result]).type

        def model(*given):
            given = [*given, *([] if len(given) == len(kinds) else [default])]
            with np.errstate(all="ignore"):
                total = wide(np.dtype(TYPES[kinds[0]]).type(given[0])) * wide(factors[0])
                for i in range(1, len(kinds)):
                    total = total + wide(np.dtype(TYPES[kinds[i]]).type(given[i])) * wide(
                        factors[i]
                    )
            return total

        self.models[name] = (model, kinds, default is not None)

    def reduction(self):
        self.item = self.random.choice([t for t in TYPES if t != "bool"])
        self.text.append(
            f"template <class T> static T summed(const T* x, std::size_t n, T s) {{ for (std::size_t i = 0; i < n; ++i) s += x[i]; return s; }}\n"
            f"double total(const {self.item}* x, int n) {{ double s = 0; for (int i = 0; i < n; ++i) s += x[i]; return s; }}\n"
            f"void shift({self.item}* x, int n, {self.item} by) {{ for (int i = 0; i < n; ++i) x[i] = ({self.item}) (x[i] + by); }}"
        )

    def class_(self):
        self.state = self.random.choice(["double", "int", "long long"])
        self.step = self.random.randint(1, 4)
        self.text.append(
            f"class Counter {{ {self.state} held; public: explicit Counter({self.state} start = {self.step}) : held(start) {{}}\n"
            f"  {self.state} next({self.state} by) {{ held += by * {self.step}; return held; }}\n"
            f"  {self.state} now() const {{ return held; }} Counter twice() const {{ return Counter(held * 2); }}\n"
            f"  Counter operator+(const Counter& o) const {{ return Counter(held + o.held); }}\n"
            f"  bool operator<(const Counter& o) const {{ return held < o.held; }} }};"
        )

    def value(self, kind):
        if kind == "bool":
            return self.random.random() < 0.5
        low = 0 if kind.startswith("unsigned") else -100
        number = self.random.randint(low, 100)
        return number + self.random.choice([0.0, 0.5]) if kind in ("double", "float") else number


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_functions_and_classes(seed):
    writer = Writer(seed)
    text = "\n".join(writer.text)
    module = un.cpp_module(text)
    for name, (model, kinds, has_default) in writer.models.items():
        for _ in range(4):
            given = [writer.value(k) for k in kinds]
            if has_default and writer.random.random() < 0.3:
                given.pop()
            expected, got = model(*given), getattr(module, name)(*given)
            assert got == expected, f"{name}{tuple(given)}: {got} {expected}\n{text}"
    x = np.array([writer.value(writer.item) for _ in range(5)], TYPES[writer.item])
    assert module.total(x, 5) == float(x.astype(np.float64).sum()), text
    y, by = x.copy(), writer.value(writer.item)
    module.shift(y, 5, by)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(y, x + x.dtype.type(by), err_msg=text)
    start = writer.value(writer.state)
    counter, held = module.Counter(start), start
    for _ in range(3):
        by = writer.value(writer.state)
        held += by * writer.step
        assert counter.next(by) == held == counter.now(), text
    other = counter.twice() + module.Counter()
    assert other.now() == held * 2 + writer.step and (counter < other) == (held < other.now()), text


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_functions_in_compiled_code(seed):
    writer = Writer(seed)
    text = "\n".join(writer.text)
    module = un.cpp_module(text)
    for name, (model, kinds, _) in writer.models.items():
        symbols = [n for n in dir(module.interface) if n.split("_")[-1] == name or n == name]
        assert symbols, f"{dir(module.interface)}\n{text}"
        names = [f"p{k}" for k in range(len(kinds))]
        f = function_of(
            f"def f({', '.join(names)}):\n    return call({', '.join(names)}) + 0\n",
            "f",
            f"<cpp {seed} {name}>",
            call=getattr(module.interface, symbols[0]),
        )
        compiled = un.jit(f)
        for _ in range(3):
            given = [writer.value(k) for k in kinds]
            assert compiled(*given) == model(*given), f"{name}{tuple(given)}\n{text}"
