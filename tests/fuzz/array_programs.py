"""Random array programs as Python text, run statement by statement on NumPy and on unisono.

A program is a list of statements over variables v0, v1... NumPy runs each statement first, while the program is
generated: shapes and values are known then, so that statements are mostly valid and every float result is exact in
any order. Then unisono runs the same text; exceptions are compared at once, variables now and then and at the end.
"""

import ast
import builtins
import warnings

import numpy as np
import unisono as un

DTYPES = [
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64"),
]
SMALL = [0, 1, 1, 2, 3, 4, 5, 7]
BINARY = [
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    "<",
    "<=",
    ">",
    ">=",
    "==",
    "!=",
]
OPERATORS = {
    type(ast.parse(f"a {op} b", mode="eval").body.op): op
    for op in ["+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>"]
}
INPLACE = ["+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>"]


def numbers(shape, dtype, seed):
    """Small integers of either sign, the same for any dtype that holds them."""
    flat = (np.arange(int(np.prod(shape))) * 7 + seed * 3) % 11
    if dtype == "bool":
        flat = flat % 2
    elif not dtype.startswith("uint"):
        flat = flat - 5
    return flat.reshape(shape).astype(dtype)


def builtin_bases(error):
    return {c for c in type(error).__mro__ if c.__module__ == "builtins"} - {
        Exception,
        BaseException,
        object,
    }


def same_class(ours, theirs):
    """The most specific built-in classes agree (NumPy's own classes derive from them)."""
    theirs = builtin_bases(theirs) - {
        getattr(builtins, n) for n in ("LookupError", "ArithmeticError", "RuntimeError")
    }
    return bool(builtin_bases(ours) & theirs)


def bits(x):
    """The bytes of an array, with one NaN for all."""
    x = np.array(x)
    if x.dtype.kind == "f":
        x[np.isnan(x)] = np.nan
    return x.tobytes()


class Mismatch(AssertionError):
    """unisono and NumPy disagree."""


def made_of(host, seed, device):
    """Ours with these numbers: by turns a copy, by asarray, and NumPy's own memory."""
    if device is not None or seed % 3 == 0 or host.ndim == 0:
        return un.array(host, device=device)
    return un.asarray(host) if seed % 3 == 1 else un.asarray(host, copy=False)


class Program:
    """One random program; `run` generates and compares it."""

    def __init__(self, seed, device=None, length=40):
        self.rng = np.random.default_rng(seed)
        self.seed = seed
        self.length = length
        self.text = []
        self.device = device
        self.host = device is None  # index arrays are there on the host only
        self.theirs = {"xp": np, "np": np, "new": numbers}
        self.ours = {
            "xp": un,
            "np": np,
            "new": lambda *a: made_of(numbers(*a), a[2], device),
        }
        self.count = 0

    # Choices.
    def pick(self, items):
        return items[int(self.rng.integers(len(items)))]

    def chance(self, p):
        return self.rng.random() < p

    def names(self):
        return [n for n in self.theirs if n[0] == "v" and n[1:].isdigit()]

    def name(self, test=lambda x: True):
        fitting = [n for n in self.names() if test(self.theirs[n])]
        return self.pick(fitting) if fitting else None

    def fresh(self):
        self.count += 1
        return f"v{self.count}"

    def target(self):
        """A new name, or one that is bound anew: the old value dies if nothing else holds it."""
        return self.pick(self.names()) if self.names() and self.chance(0.3) else self.fresh()

    # Pieces of statements.
    def shape(self):
        return tuple(self.pick(SMALL) for _ in range(self.pick([0, 1, 1, 2, 2, 2, 3])))

    def scalar(self):
        kind = self.pick(["int", "int", "float", "bool", "np", "np", "0d"])
        value = int(self.rng.integers(-4, 5))
        if kind == "int":
            return repr(
                value if not self.chance(0.05) else self.pick([300, -1, 2**31, -(2**31) - 1])
            )
        if kind == "float":
            return self.pick(
                [repr(value / 2), repr(value / 2), "float('inf')", "float('nan')", "-0.0"]
            )
        if kind == "bool":
            return repr(value > 0)
        dtype = self.pick(DTYPES)
        if dtype == "bool" or dtype.startswith("uint"):
            value = abs(value)
        if kind == "0d":
            return f"new((), '{dtype}', {abs(value)})"
        return f"np.{dtype}({value})"

    def one_index(self, extent):
        kind = self.pick(["slice", "slice", "slice", "step", "reverse", "int", "all"])
        if kind == "all" or (extent == 0 and kind == "int"):
            return ":"
        if kind == "int":
            beyond = 1 if self.chance(0.03) else 0
            return str(int(self.rng.integers(-extent - beyond, extent + beyond)))
        bounds = [
            "" if self.chance(0.3) else str(int(self.rng.integers(-extent - 1, extent + 2)))
            for _ in range(2)
        ]
        step = {"slice": "1", "step": self.pick(["2", "3", "-2", "-3"]), "reverse": "-1"}[kind]
        return f"{bounds[0]}:{bounds[1]}" + ("" if step == "1" else ":" + step)

    def index(self, x):
        if x.ndim == 0:
            return "..."
        used = int(self.rng.integers(1, x.ndim + 1))
        items = [self.one_index(x.shape[k]) for k in range(used)]
        if self.chance(0.15):
            items.insert(int(self.rng.integers(len(items) + 1)), "None")
        if self.chance(0.1) and used < x.ndim:
            at = int(self.rng.integers(len(items) + 1))
            last = (
                [self.one_index(e) for e in x.shape[x.ndim - (len(items) - at) :]]
                if at < len(items)
                else []
            )
            items = items[:at] + ["..."] + (last if "None" not in items else [])
        return ", ".join(items)

    def operand_for(self, shape):
        """An expression that probably broadcasts against `shape`."""
        if self.chance(0.3):
            return self.scalar()
        for _ in range(6):
            n = self.name()
            if n is None:
                break
            try:
                np.broadcast_shapes(self.theirs[n].shape, shape)
                return n
            except ValueError:
                x = self.theirs[n]
                if x.ndim and self.chance(0.5):
                    text = f"{n}[{self.index(x)}]"
                    if self.works(text) and self.fits(text, shape):
                        return text
                elif self.chance(0.02):
                    return n
        k = int(self.rng.integers(len(shape) + 1))
        kept = tuple(e if self.chance(0.8) else 1 for e in shape[k:])
        return f"new({kept}, '{self.pick(DTYPES)}', {int(self.rng.integers(9))})"

    def works(self, text):
        try:
            eval(text, self.theirs)
            return True
        except Exception:
            return False

    def fits(self, text, shape):
        try:
            np.broadcast_shapes(np.shape(eval(text, self.theirs)), shape)
            return True
        except ValueError:
            return False

    # Statements.
    def statement(self):
        kinds = [
            self.make,
            self.view,
            self.view,
            self.view,
            self.binary,
            self.binary,
            self.binary,
            self.unary,
        ]
        kinds += [
            self.in_place,
            self.in_place,
            self.in_place,
            self.assign,
            self.assign,
            self.swap,
            self.where,
        ]
        kinds += [self.reduce, self.reduce, self.cast, self.copy, self.minmax, self.drop]
        if self.host:
            kinds += [self.picked, self.picked, self.put, self.put, self.moved]
        return self.pick(kinds)() if len(self.names()) > 1 else self.make()

    def make(self):
        shape = self.shape()
        if self.names() and self.chance(0.6):
            shape = self.theirs[self.name()].shape
        return f"{self.target()} = new({shape}, '{self.pick(DTYPES)}', {int(self.rng.integers(9))})"

    def view(self):
        n = self.name(lambda x: x.ndim > 0)
        if not n:
            return None
        x = self.theirs[n]
        kind = self.pick(["index"] * 6 + ["T", "transpose", "reshape", "ravel", "broadcast"])
        if kind == "index":
            text = f"{n}[{self.index(x)}]"
        elif kind == "T":
            text = f"{n}.T"
        elif kind == "transpose":
            text = f"{n}.transpose({tuple(int(k) for k in self.rng.permutation(x.ndim))})"
        elif kind == "ravel":
            text = f"{n}.ravel()"
        elif kind == "broadcast":
            text = f"xp.broadcast_to({n}, {(self.pick([1, 2, 3]), *x.shape)})"
        else:
            text = f"{n}.reshape({self.factors(x.size)})"
        return f"{self.target()} = {text}"

    def factors(self, size):
        if size == 0:
            return (0, int(self.rng.integers(1, 4)))
        found = []
        for p in (2, 3, 5, 7):
            while size % p == 0:
                found.append(p)
                size //= p
        found = [found[k] for k in self.rng.permutation(len(found))]
        while len(found) > 3:
            found[-2:] = [found[-2] * found[-1]]
        if found and self.chance(0.3):
            found[int(self.rng.integers(len(found)))] = -1
        return tuple(int(f) for f in found) if found else (1,)

    def binary(self):
        n = self.name()
        a, b = n, self.operand_for(self.theirs[n].shape)
        if self.chance(0.3):
            a, b = b, a
        text = f"{a} {self.pick(BINARY)} {b}"
        if self.chance(0.3):
            text = f"({text}) {self.pick(BINARY)} {self.operand_for(self.theirs[n].shape)}"
        return f"{self.target()} = {text}"

    def minmax(self):
        n = self.name()
        other = self.operand_for(self.theirs[n].shape)
        if self.has_negative_zero(n) or self.has_negative_zero(other):
            return None  # which zero is the smaller one is left open
        return f"{self.target()} = xp.{self.pick(['minimum', 'maximum'])}({n}, {other})"

    def has_negative_zero(self, text):
        x = np.asarray(eval(text, self.theirs))
        return x.dtype.kind == "f" and bool((np.signbit(x) & (x == 0)).any())

    def unary(self):
        n = self.name()
        text = self.pick(
            [f"-{n}", f"~{n}", f"abs({n})", f"xp.sqrt({n})", f"xp.logical_not({n} > 1)"]
        )
        return f"{self.target()} = {text}"

    def in_place(self):
        n = self.name()
        x = self.theirs[n]
        op = self.pick(INPLACE)
        if x.ndim and self.chance(0.7):
            index = self.index(x)
            text = f"{n}[{index}]"
            if not self.works(text):
                return f"{text} {op}= 1"
            shape = np.shape(eval(text, self.theirs))
            if self.chance(0.5):  # the same array, shifted, reversed or as it is
                other = f"{n}[{self.index(x)}]"
                if self.works(other) and self.fits(other, shape):
                    return f"{text} {op}= {other}"
            return f"{text} {op}= {self.operand_for(shape)}"
        return f"{n} {op}= {self.operand_for(x.shape)}"

    def assign(self):
        n = self.name(lambda x: isinstance(x, np.ndarray))
        if not n:
            return None
        x = self.theirs[n]
        text = f"{n}[{self.index(x)}]"
        if not self.works(text):
            return f"{text} = 0"
        shape = np.shape(eval(text, self.theirs))
        for _ in range(3):
            other = self.name(lambda y: y.ndim > 0) if self.chance(0.5) else n
            if other and self.theirs[other].ndim:
                value = f"{other}[{self.index(self.theirs[other])}]"
                if self.works(value) and self.fits(value, shape):
                    if self.chance(0.4):
                        value = f"{value} {self.pick(['+', '*', '-'])} {self.operand_for(shape)}"
                    elif self.reads_what_it_writes(text, value):
                        value = f"xp.array({value})"
                    return f"{text} = {value}"
        return f"{text} = {self.operand_for(shape)}"

    def reads_what_it_writes(self, target, value):
        """Whether NumPy copies nothing though lines overlap whose elements lie differently far apart."""
        to, x = eval(target, self.theirs), eval(value, self.theirs)
        lines = all(isinstance(y, np.ndarray) and y.ndim == 1 for y in (to, x))
        return lines and to.strides != x.strides and np.may_share_memory(to, x)

    def swap(self):
        n = self.name(lambda x: isinstance(x, np.ndarray) and x.ndim > 0 and x.shape[0] > 1)
        if not n:
            return None
        x = self.theirs[n]
        i, j = (
            ", ".join(
                str(int(self.rng.integers(max(e, 1)))) for e in x.shape[: self.pick([1, x.ndim])]
            )
            for _ in range(2)
        )
        return f"{n}[{i}], {n}[{j}] = {n}[{j}], {n}[{i}]"

    def where(self):
        n = self.name(lambda x: x.ndim > 0)
        if not n:
            return None
        shape = self.theirs[n].shape
        a, b = (self.operand_for(shape) for _ in range(2))
        if np.lib.NumpyVersion(np.__version__) < "2.5.0":
            # It takes the low bits of integers that do not fit, where later versions raise.
            a, b = ("1" if x.lstrip("-").isdigit() and not 0 <= int(x) < 128 else x for x in (a, b))
        return f"{self.target()} = xp.where({self.pick([n, n + ' > 0'])}, {a}, {b})"

    def cast(self):
        return f"{self.target()} = {self.name()}.astype('{self.pick(DTYPES)}')"

    def fancy(self, n):
        """An index of variable `n` with arrays: integers, masks, or both beside basic ones."""
        x = self.theirs[n]
        if self.chance(0.35):
            test = self.pick([f"{n} > 1", f"{n} == 2", f"{n} != {n}", f"{n} < 0"])
            if x.ndim > 1 and self.chance(0.3):
                return f"({test})[:, 0]"
            return test
        items, common = [], self.pick([(3,), (4,), (2, 2), (1,), (0,)])
        for k in range(int(self.rng.integers(1, x.ndim + 1))):
            extent = x.shape[k]
            if self.chance(0.4):
                items.append(self.one_index(extent))
                continue
            if self.chance(0.2) and extent < 8:
                values = (self.rng.random(extent) < 0.5).tolist()
                items.append(f"np.array({values}, dtype=bool)")
                continue
            beyond = 1 if self.chance(0.03) else 0
            shape = common if extent + beyond else (0,)
            low, high = -extent - beyond, max(extent + beyond, 1 - extent)
            values = self.rng.integers(low, high, shape).tolist()
            text = f"np.array({values}, dtype='{self.pick(['int64', 'int32'])}')"
            items.append(f"xp.asarray({text})" if self.chance(0.5) else text)
        if self.chance(0.1):
            items.insert(int(self.rng.integers(len(items) + 1)), "None")
        return ", ".join(items)

    def picked(self):
        n = self.name(lambda x: isinstance(x, np.ndarray) and x.ndim > 0)
        if not n:
            return None
        return f"{self.target()} = {n}[{self.fancy(n)}]"

    def put(self):
        n = self.name(lambda x: isinstance(x, np.ndarray) and x.ndim > 0)
        if not n:
            return None
        text = f"{n}[{self.fancy(n)}]"
        if not self.works(text):
            return f"{text} = 0"
        shape = np.shape(eval(text, self.theirs))
        op = "" if self.chance(0.5) else self.pick(INPLACE)
        # What goes into no elements is checked less by NumPy (docs/differences.md).
        value = self.operand_for(shape) if np.prod(shape) else self.scalar()
        if not op and ("[" in value or value in self.theirs):
            value = f"xp.array({value})"  # NumPy reads what overlaps while it writes
        return f"{text} {op}= {value}"

    def moved(self):
        n = self.name(lambda x: x.ndim > 0)
        if not n:
            return None
        x = self.theirs[n]
        axis = int(self.rng.integers(-x.ndim, x.ndim))
        other = self.name(lambda y: y.ndim == x.ndim)
        text = self.pick(
            [
                f"xp.concatenate(({n}, {other}), axis={axis})",
                f"xp.stack(({n}, {n} + 1), axis={axis})",
                f"xp.roll({n}, {int(self.rng.integers(-4, 5))}, axis={axis})",
                f"xp.repeat({n}, {int(self.rng.integers(0, 3))}, axis={axis})",
                f"xp.tile({n}, 2)" if x.size else f"xp.roll({n}, 1)",
                f"xp.take({n}, [0, {-1 if x.shape[axis] else 0}], axis={axis})",
                f"xp.pad({n}, 1, '{self.pick(['constant', 'edge', 'wrap', 'reflect'])}')",
                f"xp.nonzero({n})[0].copy()",
            ]
        )
        return f"{self.target()} = {text}"

    def copy(self):
        name, kind = self.name(), self.pick(["copy", "flatten"])
        if not self.host and not self.theirs[name].ndim:
            kind = "copy"  # numbers, which reductions give, are the host's
        return f"{self.target()} = {name}.{kind}()"

    def drop(self):
        return f"del {self.name()}" if len(self.names()) > 4 else None

    def reduce(self):
        n = self.name()
        x = self.theirs[n]
        how = self.pick(["sum", "sum", "max", "min", "any", "all", "prod"])
        if how in ("sum", "prod") and not self.exact(x, how):
            how = "max"
        if how in ("max", "min") and self.has_negative_zero(n):
            return None
        axis = None
        if x.ndim and self.chance(0.6):
            axes = [int(k) for k in self.rng.permutation(x.ndim)[: self.pick([1, 1, 2])]]
            axis = axes[0] if len(axes) == 1 else tuple(axes)
            if self.chance(0.03):
                axis = x.ndim
        keep = ", keepdims=True" if self.chance(0.2) else ""
        return f"{self.target()} = {n}.{how}(axis={axis}{keep})"

    @staticmethod
    def exact(x, how):
        """Whether a reduction gives the same bits in any order."""
        if x.dtype.kind != "f":
            return True
        y = np.abs(x.astype("float64"))
        limit = 2.0 ** {2: 11, 4: 24, 8: 53}[x.dtype.itemsize]
        if not np.isfinite(y).all() or (y != np.floor(y)).any():
            return False
        if how == "prod":
            return x.size == 0 or (x != 0).all() and np.prod(np.maximum(y, 1)) < limit
        return y.sum() < limit and not (np.signbit(x) & (x == 0)).any()

    # Running.
    def known_gap(self):
        """Whether NumPy's result, now in `theirs`, has a dtype that unisono lacks (docs/differences.md)."""
        return any(self.theirs[n].dtype.name not in DTYPES for n in self.names())

    def step(self):
        text = self.statement()
        if not text or self.internal_gap(text):
            return
        if "//" in text and self.divides_infinity(text):
            return  # as the array API has it (docs/differences.md)
        before = {n: self.theirs[n] for n in self.names()}
        memory = {}
        for x in before.values():
            base = x
            while getattr(base, "base", None) is not None:
                base = base.base
            memory[id(base)] = (base, np.array(base))
        failed = None
        with (
            np.errstate(all="ignore", invalid="warn"),
            warnings.catch_warnings(record=True) as caught,
        ):
            warnings.simplefilter("always")
            try:
                exec(text, self.theirs)
            except Exception as e:
                failed = e
        # NumPy's scalars refuse what its arrays convert by platform.
        undefined = any("in cast" in str(w.message) for w in caught) or str(failed).startswith(
            "cannot convert float"
        )
        if undefined or self.known_gap():
            for n in self.names():
                del self.theirs[n]
            self.theirs.update(before)
            for base, value in memory.values():
                if isinstance(base, np.ndarray):
                    base.flags.writeable = True
                    base[...] = value
            return
        for n in self.names():  # NumPy's results keep their operands' axis order; ours are packed
            x = self.theirs[n]
            if x is before.get(n) or x.ndim < 2 or x.flags.c_contiguous:
                continue
            # What index arrays pick is a transposed view of memory that nobody else has.
            own = x.base is not None and not any(np.may_share_memory(x, y) for y in before.values())
            if x.base is None or own:
                self.theirs[n] = np.ascontiguousarray(x)
        self.text.append(text)
        try:
            exec(text, self.ours)
        except Exception as e:
            if failed is None:
                raise Mismatch(f"unisono raised {type(e).__name__}: {e}") from e
            if not same_class(e, failed) and "not defined for dtype bool" not in str(e):
                raise Mismatch(
                    f"unisono raised {type(e).__name__}: {e}\nNumPy raised {type(failed).__name__}: {failed}"
                ) from e
        else:
            if failed is not None:
                raise Mismatch(f"NumPy raised {type(failed).__name__}: {failed}; unisono did not")

    def internal_gap(self, text):
        """Whether a part of the statement has a dtype that unisono lacks; asked before the statement runs."""
        tree = ast.parse(text)
        parts = [n for n in ast.walk(tree) if isinstance(n, ast.BinOp | ast.Call)]
        for n in ast.walk(tree):
            if isinstance(n, ast.AugAssign):
                parts.append(
                    ast.parse(
                        f"{ast.unparse(n.target)} {OPERATORS[type(n.op)]} ({ast.unparse(n.value)})",
                        mode="eval",
                    ).body
                )
        for part in parts:
            try:
                with np.errstate(all="ignore"):
                    value = eval(ast.unparse(part), self.theirs)
            except Exception:
                continue
            values = value if isinstance(value, tuple | list) else (value,)
            if any(np.asarray(x).dtype.name not in DTYPES for x in values):
                return True
        return False

    def divides_infinity(self, text):
        """Whether an operand of a floor division is infinite."""
        operands = []
        for n in ast.walk(ast.parse(text)):
            if isinstance(n, ast.BinOp) and isinstance(n.op, ast.FloorDiv):
                operands += [n.left, n.right]
            if isinstance(n, ast.AugAssign) and isinstance(n.op, ast.FloorDiv):
                operands += [ast.parse(ast.unparse(n.target), mode="eval").body, n.value]
        for operand in operands:
            try:
                with np.errstate(all="ignore"):
                    value = np.asarray(eval(ast.unparse(operand), self.theirs))
            except Exception:
                continue
            if value.dtype.kind == "f" and np.isinf(value).any():
                return True
        return False

    def compare(self, name):
        theirs, ours = self.theirs[name], self.ours[name]
        got = np.asarray(ours.to_device("cpu"))
        if ours.shape != theirs.shape or got.shape != theirs.shape:
            raise Mismatch(f"{name}: shape {ours.shape}, NumPy {theirs.shape}")
        if ours.dtype != theirs.dtype.name or got.dtype != theirs.dtype:
            raise Mismatch(f"{name}: dtype {ours.dtype}, NumPy {theirs.dtype}")
        if bits(got) != bits(theirs):
            raise Mismatch(f"{name}: value\n{got}\nNumPy\n{theirs}")

    def run(self):
        try:
            for _ in range(self.length):
                self.step()
                if self.names() and self.chance(0.08):
                    n = self.name()
                    self.text.append(f"# compare {n}")
                    self.compare(n)
            for n in self.names():
                self.text.append(f"# compare {n}")
                self.compare(n)
        except Exception as e:
            raise Mismatch(
                f"seed {self.seed}\n" + "\n".join(self.text) + f"\n{type(e).__name__}: {e}"
            ) from e
