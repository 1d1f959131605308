"""Random kernels of indices, as OpenCL C and as Python functions of a work-item that compute the same."""

import random

BITS = {"int": (32, True), "uint": (32, False), "long": (64, True)}


def wrapped(kind, value):
    """As an integer of the type keeps it."""
    bits, signed = BITS[kind]
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def quotient(a, b):
    """C's, towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a, b):
    return a - quotient(a, b) * b


NAMES = {"wrapped": wrapped, "quotient": quotient, "remainder": remainder, "min": min, "max": max}


class Kernel:
    """``c``: the text; ``item(gid, lid, group, n, m, a, b, read)`` appends to ``read`` what a work-item reads: array and index."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.c, self.py = [], []
        self.care = self.draw.choice([0.3, 0.9])
        self.depth = self.count = 0
        self.names = [("gid", "int"), ("lid", "int"), ("group", "int"), ("n", "int"), ("m", "int")]
        for _ in range(self.draw.randint(2, 5)):
            self.statement()
        if not any("total" in line for line in self.c[1:]):
            self.access()
        head = "__kernel void walk(__global const float* a, __global const float* b, "
        head += "__global float* out, int n, int m) {\n    int gid = get_global_id(0), lid = get_local_id(0), "
        head += "group = get_group_id(0);\n    float total = 0;\n"
        self.text = head + "\n".join(self.c) + "\n    out[get_global_id(0)] = total;\n}\n"
        scope = dict(NAMES)
        exec(
            "def item(gid, lid, group, n, m, a, b, read):\n" + "\n".join([*self.py, "    return"]),
            scope,
        )
        self.item = scope["item"]

    def line(self, c, py):
        indent = "    " * (self.depth + 1)
        if c:
            self.c.append(indent + c)
        if py:
            self.py.append(indent + py)

    def expression(self, kind, depth=0):
        """C text and Python text of one value of the type."""
        known = [name for name, k in self.names if k == kind]
        way = self.draw.random()
        if depth > 1 or way < 0.4:
            if known and self.draw.random() < 0.75:
                name = self.draw.choice(known)
                return name, name
            number = self.draw.choice([0, 1, 2, 3, 5, 8, 16, 31, 100])
            return f"({kind}){number}", str(number)
        if way < 0.42:
            other = self.draw.choice([k for k in BITS if k != kind])
            c, py = self.expression(other, depth + 1)
            return f"({kind})({c})", f"wrapped('{kind}', {py})"
        a, b = self.expression(kind, depth + 1), self.expression(kind, depth + 1)
        op = self.draw.choice(
            ["+", "+", "+", "-", "-", "*", "*", "/", "%", "<<", ">>", "&", "min", "max", "?", "big"]
        )
        if op in ("min", "max"):
            return f"{op}({a[0]}, {b[0]})", f"{op}({a[1]}, {b[1]})"
        if op == "?":
            c = self.condition(depth + 1)
            return f"({c[0]} ? {a[0]} : {b[0]})", f"({a[1]} if {c[1]} else {b[1]})"
        if op in ("/", "%"):
            divisor = self.draw.choice([1, 2, 3, 7, 16])
            name = "quotient" if op == "/" else "remainder"
            if self.draw.random() < 0.5:
                low = f"max({b[0]}, ({kind})1)", f"max({b[1]}, 1)"
                return f"({a[0]} {op} {low[0]})", f"{name}({a[1]}, {low[1]})"
            return f"({a[0]} {op} ({kind}){divisor})", f"{name}({a[1]}, {divisor})"
        if op in ("<<", ">>"):
            by = self.draw.choice([0, 1, 2, 4])
            return f"({a[0]} {op} {by})", f"wrapped('{kind}', {a[1]} {op} {by})"
        if op == "&":
            mask = self.draw.choice([1, 7, 15, 63])
            return f"({a[0]} & ({kind}){mask})", f"({a[1]} & {mask})"
        if op == "big":
            factor = self.draw.choice([65536, 1000003, 2147483647])
            return f"({a[0]} * ({kind}){factor})", f"wrapped('{kind}', {a[1]} * {factor})"
        return f"({a[0]} {op} {b[0]})", f"wrapped('{kind}', {a[1]} {op} {b[1]})"

    def condition(self, depth=0):
        kind = self.draw.choice(list(BITS))
        a, b = self.expression(kind, depth + 1), self.expression(kind, depth + 1)
        op = self.draw.choice(["<", "<=", ">", ">=", "==", "!="])
        c = f"({a[0]} {op} {b[0]})", f"({a[1]} {op} {b[1]})"
        if depth < 2 and self.draw.random() < 0.3:
            other = self.condition(depth + 1)
            both = self.draw.random() < 0.6
            return (
                f"({c[0]} {'&&' if both else '||'} {other[0]})",
                f"({c[1]} {'and' if both else 'or'} {other[1]})",
            )
        if self.draw.random() < 0.1:
            return f"!{c[0]}", f"(not {c[1]})"
        return c

    def index(self):
        kind = self.draw.choice(["int", "int", "int", "uint", "long"])
        way = self.draw.random()
        if way < 0.4:
            names = [name for name, k in self.names if k == kind and name not in "nm"] or ["3"]
            return (self.draw.choice(names),) * 2
        c, py = self.expression(kind)
        if way < 0.6:
            return f"clamp({c}, ({kind})0, ({kind})15)", f"min(max({py}, 0), 15)"
        if way < 0.7:
            return f"({c} & ({kind})15)", f"({py} & 15)"
        return c, py

    def access(self):
        array = self.draw.choice("aab")
        c, py = self.index()
        if self.draw.random() < self.care:  # behind its own test
            self.line(
                f"if ({c} >= 0 && {c} < {'n' if array == 'a' else 'm'}) {{",
                f"if 0 <= {py} < {'n' if array == 'a' else 'm'}:",
            )
            self.depth += 1
            self.line(f"total += {array}[{c}];", f"read.append(({array}, {py}))")
            self.depth -= 1
            self.line("}", None)
            return
        self.line(f"total += {array}[{c}];", f"read.append(({array}, {py}))")

    def declare(self):
        kind = self.draw.choice(["int", "int", "uint", "long"])
        c, py = self.expression(kind)
        name = f"v{self.count}"
        self.count += 1
        self.line(f"{kind} {name} = {c};", f"{name} = {py}")
        self.names.append((name, kind))

    def assign(self):
        own = [(name, kind) for name, kind in self.names if name.startswith("v")]
        if not own:
            return self.declare()
        name, kind = self.draw.choice(own)
        c, py = self.expression(kind)
        self.line(f"{name} = {c};", f"{name} = {py}")

    def block(self):
        self.depth += 1
        known = list(self.names)
        self.line(None, "pass")
        for _ in range(self.draw.randint(1, 3)):
            self.statement()
        self.names = known
        self.depth -= 1

    def branch(self):
        c, py = self.condition()
        if self.draw.random() < 0.25:
            self.line(f"if ({c}) {{ out[get_global_id(0)] = total; return; }}", f"if {py}: return")
            return
        self.line(f"if ({c}) {{", f"if {py}:")
        self.block()
        if self.draw.random() < 0.4:
            self.line("} else {", "else:")
            self.block()
        self.line("}", None)

    def loop(self):
        name = f"j{self.count}"
        self.count += 1
        begin, end = self.expression("int", 2), self.expression("int", 2)
        step = self.draw.choice([1, 1, 2, 3])
        begin = f"clamp({begin[0]}, -8, 8)", f"max(-8, min(8, {begin[1]}))"
        end = f"clamp({end[0]}, -8, 12)", f"max(-8, min(12, {end[1]}))"
        self.names.append((name, "int"))
        if self.draw.random() < 0.5:
            self.line(
                f"for (int {name} = {begin[0]}; {name} < {end[0]}; {name} += {step}) {{", None
            )
            self.line(None, f"for {name} in range({begin[1]}, {end[1]}, {step}):")
            if "j" in end[1] or "v" in end[1]:  # evaluated anew in C
                self.c[-1] = self.c[-1].replace(f"{name} < {end[0]}", f"{name} < (n > 6 ? 6 : n)")
                self.py[-1] = self.py[-1].replace(f", {end[1]}, ", ", (6 if n > 6 else n), ")
            self.block()
        else:
            self.line(f"int {name} = {end[0]};", f"{name} = {end[1]}")
            self.line(f"while ({name} > 0) {{", f"while {name} > 0:")
            self.block()
            if self.draw.random() < 0.3:
                c, py = self.condition()
                self.line(f"    if ({c}) break;", f"    if {py}: break")
            self.line(f"    {name} >>= 1;", f"    {name} >>= 1")
        self.line("}", None)
        self.names = [known for known in self.names if known[0] != name]

    def statement(self):
        ways = [self.access, self.access, self.declare, self.declare, self.assign]
        if self.depth < 3:
            ways += [self.branch, self.branch, self.loop]
        self.draw.choice(ways)()
