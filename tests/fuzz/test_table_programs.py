"""Random programs of dicts, sets, lists of objects and dataclasses that share names, against CPython.

``UNISONO_FUZZ_SEEDS=first:count`` runs other seeds than the default.
"""

import copy
import importlib.util
import os
import random

import pytest
import unisono as un

FIRST, COUNT = map(int, os.environ.get("UNISONO_FUZZ_SEEDS", "0:60").split(":"))

HEAD = """
from dataclasses import dataclass


@dataclass
class P:
    x: int
    y: float = 0.5


"""

KINDS = {
    "d": [  # a dict of text to int
        "{n}['{t}'] = k % 50",
        "{n}['{t}'] = {n}.get('{t}', 0) + 1",
        "{n}.pop('{t}', 0)",
        "{n}.update({o})",
        "k += len({n})",
        "k += {n}['{t}']",
        "del {n}['{t}']",
        "for key in {n}: k += len(key) + {n}[key] % 3",
        "for key, v in {n}.items(): k += v % 5",
        "k += sum({n}.values()) % 11",
        "k += '{t}' in {n}",
        "k += {n} == {o}",
        "{n} = {o}",
        "{n} = {{'{t}': k % 9}}",
        "{n} = {o}.copy()",
    ],
    "s": [  # a set of ints
        "{n}.add(k % 7)",
        "{n}.discard(k % 5)",
        "{n} |= {o}",
        "{n} = {n} & {o}",
        "{n} = {n} ^ {o}",
        "{n} -= {o}",
        "k += len({n} | {o})",
        "k += sum({n}) % 13",
        "k += (k % 7) in {n}",
        "k += {n} <= {o}",
        "{n} = {o}",
        "{n} = {o}.copy()",
        "{n}.remove(k % 3)",
    ],
    "l": [  # a list of texts
        "{n}.append('{t}')",
        "{n} += {o}[:2]",
        "{n}.insert(k % 4, str(k % 10))",
        "{n}.pop()",
        "{n}[k % 3] = '{t}'",
        "{n}.sort()",
        "{n}.reverse()",
        "{n} = {n}[::2]",
        "{n} = {o}",
        "k += len(','.join({n}))",
        "k += {n}.count('{t}')",
        "k += {n}.index('{t}')",
        "for t in {n}: k += len(t)",
        "k += {n} < {o}",
        "del {n}[k % 2]",
    ],
    "r": [  # a list of lists of ints
        "{n}.append([k % 5])",
        "{n}[k % 2].append(k % 9)",
        "{n}[0] = {o}[0]",
        "k += sum({n}[0]) % 7",
        "k += len({n}[-1])",
        "for row in {n}: k += len(row)",
        "{n} = {o}",
        "{n} = {n} + {o}[:1]",
        "{n}.pop()",
        "k += {n} == {o}",
    ],
    "n": [  # a list of ints
        "{n}.append(k % 9)",
        "{n}[k % 2] = k % 50",
        "{n}.sort()",
        "{n}.pop()",
        "{n} += {o}",
        "k += sum({n}) % 7",
        "k += {n}[-1] % 3",
        "k += {n} == {o}",
        "{n} = {o}",
        "for v in {n}: k += v % 2",
    ],
    "p": [  # an object
        "{n}.x += k % 4",
        "{n}.y = {o}.y + 0.25",
        "{n} = {o}",
        "{n} = P(k % 6)",
        "k += {n} == {o}",
        "k += {n}.x % 3",
        "k += {n} is {o}",
        "{n}.x, {o}.x = {o}.x, {n}.x",
    ],
}


class Writer:
    """Writes a function of two variables of each of two kinds, that are changed and exchanged."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.kinds = self.random.sample(list(KINDS), 2)
        self.lines = []

    def statement(self, indent, depth):
        put = lambda text: self.lines.append("    " * indent + text)  # noqa: E731
        kind = self.random.choice(self.kinds)
        names = [kind + "0", kind + "1"]
        self.random.shuffle(names)
        form = self.random.choice(KINDS[kind])
        roll = self.random.random()
        if depth > 0 and roll < 0.2:
            put(f"if k % 3 == {self.random.randint(0, 2)}:")
            self.block(indent + 1, depth - 1)
        elif depth > 0 and roll < 0.35:
            put(f"for i{indent} in range({self.random.randint(0, 3)}):")
            self.block(indent + 1, depth - 1)
        else:
            put(form.format(n=names[0], o=names[1], t=self.random.choice(["a", "bb", "ccc"])))

    def block(self, indent, depth):
        for _ in range(self.random.randint(1, 3)):
            self.statement(indent, depth)

    def function(self):
        params = [k + i for k in self.kinds for i in "01"]
        self.lines = [f"def f(k, {', '.join(params)}):"]
        for _ in range(self.random.randint(3, 7)):
            self.statement(1, 2)
        self.lines.append(f"    return k, {', '.join(params)}")
        return HEAD + "\n".join(self.lines) + "\n"

    def arguments(self, module):
        made = {
            "d": lambda i: {"a": 1 + i, "bb": 2},
            "s": lambda i: {1, 2 + i},
            "l": lambda i: ["a", "bb", "ccc"][: 2 + i],
            "r": lambda i: [[1], [2, 3 + i]],
            "n": lambda i: [4, 1 + i, 2],
            "p": lambda i: module.P(1 + i),
        }
        return [made[k](i) for k in self.kinds for i in range(2)]


def shown(value):
    """With the order of dicts, without that of sets; which of them are one object."""
    seen = {}

    def one(v):
        if isinstance(v, (tuple, list)):
            return type(v).__name__, seen.setdefault(id(v), len(seen)), [one(x) for x in v]
        if isinstance(v, set):
            return "set", seen.setdefault(id(v), len(seen)), sorted(v)
        if isinstance(v, dict):
            return "dict", seen.setdefault(id(v), len(seen)), list(v.items())
        if hasattr(v, "__dict__"):
            return "object", seen.setdefault(id(v), len(seen)), sorted(vars(v).items())
        return type(v).__name__, v

    return one(value)


def outcome(function, args):
    try:
        value = function(*args)
    except un.CompileError:
        raise
    except Exception as error:
        value = type(error).__name__
    return shown((value, args))


def module_of(seed, tmp_path):
    path = tmp_path / f"tables_{seed}.py"
    path.write_text(Writer(seed).function())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[path.stem] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return path, module


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_tables_that_share_names(seed, tmp_path):
    path, module = module_of(seed, tmp_path)
    compiled = un.jit(module.f, device="interp")
    for k in (0, 1, 5):
        args = Writer(seed).arguments(module)
        try:
            got = outcome(lambda *a, k=k: compiled(k, *a), copy.deepcopy(args))
        except un.CompileError:
            return
        want = outcome(lambda *a, k=k: module.f(k, *a), copy.deepcopy(args))
        assert got == want, f"k={k}\n{path.read_text()}"


def test_most_programs_compile(tmp_path):
    compiled = 0
    for seed in range(40):
        _, module = module_of(seed, tmp_path)
        try:
            outcome(
                lambda *a, f=module.f: un.jit(f, device="interp")(3, *a),
                Writer(seed).arguments(module),
            )
            compiled += 1
        except un.CompileError:
            pass
    assert compiled > 25
