"""Random programs of lists that share names: what is compiled gives CPython's lists, the rest is refused.

``UNISONO_FUZZ_SEEDS=first:count`` runs other seeds than the default.
"""

import importlib.util
import os
import random

import pytest
import unisono as un

FIRST, COUNT = map(int, os.environ.get("UNISONO_FUZZ_SEEDS", "0:60").split(":"))


class Writer:
    """Writes a function whose three lists are appended to, exchanged, cut and made anew."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []

    def name(self):
        return self.random.choice("abc")

    def statement(self, indent, depth):
        put = lambda text: self.lines.append("    " * indent + text)  # noqa: E731
        name, other = self.random.sample("abc", 2)
        forms = [
            f"{self.name()}.append({self.random.choice(['n', '1', 'k', 'len(a)'])})",
            f"{self.name()}.append(k)",
            f"{name} = {other}",
            "a, b = b, a",
            f"{name}, {other} = {self.name()}, [k]",
            f"{name} = [{self.random.randint(0, 9)}, k]",
            f"{name} = {self.name()}[1:]",
            f"k += sum({name}) % 7",
        ]
        if depth > 0:
            forms += ["if", "if", "for"]
        form = self.random.choice(forms)
        if form == "if":
            put(f"if k % 3 == {self.random.randint(0, 2)}:")
            self.block(indent + 1, depth - 1)
            if self.random.random() < 0.5:
                put("else:")
                self.block(indent + 1, depth - 1)
        elif form == "for":
            put(f"for i{indent} in range({self.random.randint(0, 3)}):")
            self.block(indent + 1, depth - 1)
            if self.random.random() < 0.3:
                put(f"    if k % 2: {self.random.choice(['break', 'continue'])}")
        else:
            put(form)

    def block(self, indent, depth):
        for _ in range(self.random.randint(1, 3)):
            self.statement(indent, depth)

    def function(self):
        third = "a" if self.random.random() < 0.3 else "[7]"
        self.lines = ["def f(n):", "    k, a, b = n, [n], [2, n]", f"    c = {third}"]
        for _ in range(self.random.randint(2, 5)):
            self.statement(1, 3)
        self.lines.append("    return list(a), list(b), list(c), k")
        return "\n".join(self.lines) + "\n"


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_lists_that_share_names(seed, tmp_path):
    path = tmp_path / f"lists_{seed}.py"
    path.write_text(Writer(seed).function())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    compiled = un.jit(module.f, device="interp")
    for n in (0, 1, 5):
        try:
            got = compiled(n)
        except un.CompileError:
            return
        assert got == module.f(n), f"n={n}\n{path.read_text()}"


def test_most_programs_compile():
    compiled = 0
    for seed in range(40):
        scope, text = {}, Writer(seed).function()
        import linecache

        linecache.cache[f"<lists {seed}>"] = (
            len(text),
            None,
            text.splitlines(True),
            f"<lists {seed}>",
        )
        exec(compile(text, f"<lists {seed}>", "exec"), scope)
        try:
            un.jit(scope["f"], device="interp")(3)
            compiled += 1
        except un.CompileError:
            pass
    assert compiled > 12
