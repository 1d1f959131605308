"""``stencil``: kernels of neighbours, as loops over a whole array.

How it works. The body's indices are relative: ``a[-1, 0]`` becomes ``a[i0 - 1, i1]``. Text is generated with loops
over the inside, where no index leaves the array, and over the border, slab by slab: there elements get `cval`, or
indices are brought back into the array. The text is an ordinary compiled function, so that stencils fuse and run in
parallel like others, alone and inside of compiled functions.
"""

from __future__ import annotations

import ast
import copy
import math

from .. import _engine
from .._arrays import ufunc as _ufunc
from . import prange
from .source import read_function
from .text import compile_text

# The index that stands for i beyond an axis of n elements (NumPy's names of `pad`).
_borders = {
    "edge": "min(max({i}, 0), {n} - 1)",
    "wrap": "({i}) % {n}",
    "reflect": "(({i}) if 0 <= ({i}) < {n} else -({i}) if ({i}) < 0 else 2 * ({n} - 1) - ({i}))",
    "symmetric": "(({i}) if 0 <= ({i}) < {n} else -({i}) - 1 if ({i}) < 0 else 2 * {n} - 1 - ({i}))",
}
_spellings = {"nearest": "edge", "mirror": "reflect"}


def stencil(
    func_or_mode="constant", *, cval=None, neighborhood=None, standard_indexing=(), **options
):
    """Make a function of arrays of a kernel that computes one element from its neighbours.

    Parameters
    ----------
    func_or_mode : function or str
        What happens at the border: ``"constant"`` (elements whose neighbours are not all there get `cval`), or where
        the missing neighbours come from: ``"edge"`` (also ``"nearest"``), ``"wrap"``, ``"reflect"`` (also
        ``"mirror"``), ``"symmetric"``, as in `pad`.
    cval : int or float, optional
        Of the border; 0 if not given, but a call with `out` then leaves the border of `out` as it is.
    neighborhood : tuple of (int, int), optional
        The lowest and highest offset along each axis; needed where indices are not constants.
    standard_indexing : tuple of str
        Names of arrays whose indices count from their beginning.

    Returns
    -------
    Stencil
        Called with the kernel's arguments, and `out`. The first array that is indexed relatively gives the shape;
        other such arrays have the same shape.

    Raises
    ------
    CompileError
        Where an offset is no constant and there is no `neighborhood`.
    ValueError
        For an unknown border, and at calls for arrays of other shapes.

    Examples
    --------
    >>> import unisono as un
    >>> @un.stencil
    ... def mean(a):
    ...     return (a[-1] + a[0] + a[1]) / 3
    >>> mean(un.asarray([3.0, 6.0, 9.0, 3.0])).tolist()
    [0.0, 6.0, 6.0, 0.0]
    """
    for name in options:
        if name not in ("nopython", "parallel"):
            raise TypeError(
                f"stencil: unknown argument; got {name}=; expected cval=, neighborhood= or standard_indexing="
            )
    mode = func_or_mode if isinstance(func_or_mode, str) else "constant"
    mode = _spellings.get(mode, mode)
    if mode != "constant" and mode not in _borders:
        raise ValueError(
            f"stencil: no such border; got {mode!r}; expected 'constant', 'edge', 'wrap', 'reflect' or 'symmetric'"
        )
    if isinstance(standard_indexing, str):
        standard_indexing = (standard_indexing,)

    def make(function):
        return Stencil(function, mode, cval, neighborhood, tuple(standard_indexing))

    return make if isinstance(func_or_mode, str) else make(func_or_mode)


class Stencil:
    """A kernel of neighbours as a function of arrays, made by :func:`stencil`.

    Attributes
    ----------
    py_func : function
        The kernel.
    neighborhood : tuple of (int, int)
        The lowest and highest offset along each axis.
    """

    def __init__(self, function, mode, cval, neighborhood, standard):
        self.__wrapped__ = function
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__
        self.__module__, self.__doc__ = function.__module__, function.__doc__
        kernel = _Kernel(function, neighborhood, standard)
        self.neighborhood = kernel.reach
        self._names, self._relative, self._border = kernel.params, kernel.relative, mode
        kernel.keep_border(mode == "constant" and cval is None)
        self._written = kernel.written
        scope = {
            **function.__globals__,
            **_cells(function),
            "prange": prange,
            "np": _numpy(),
            "jit_": _helper,
            "cval_": cval,
        }
        text = kernel.text(mode, cval)
        self._compiled = compile_text(text, f"{kernel.name}_new", scope)
        self._into = self._compiled.py_func.__globals__[f"{kernel.name}_{kernel.given_out}"]

    @property
    def py_func(self):
        """The kernel that was decorated."""
        return self.__wrapped__

    @property
    def _in_compiled_code(self):
        """What compiled functions call when they name this object."""
        return self._compiled

    def __call__(self, *args, out=None):
        import unisono as un

        if len(args) != len(self._names):
            raise TypeError(
                f"{self.__name__}: takes {len(self._names)} arguments; got {len(args)}; give one for each parameter"
            )
        args = list(args)
        first = None
        for k, name in enumerate(self._names):
            if name not in self._relative:
                continue
            x = args[k] = _ufunc.as_array(args[k])
            if x.ndim != len(self.neighborhood):
                raise ValueError(
                    f"{self.__name__}: '{name}' has another rank; got shape {tuple(x.shape)}; the kernel has "
                    f"{len(self.neighborhood)} relative indices"
                )
            first = x if first is None else first
            if tuple(x.shape) != tuple(first.shape):
                raise ValueError(
                    f"{self.__name__}: arrays that are indexed relatively have one shape; got {tuple(first.shape)} "
                    f"and {tuple(x.shape)}; slice them, or name one in standard_indexing"
                )
        if any(isinstance(x, _engine._Array) and isinstance(x.device, _engine.Mesh) for x in args):
            from .._runtime.parts import stencil as by_parts

            relative = [name in self._relative for name in self._names]
            made = by_parts(
                self.__name__, self._compiled, args, relative, self.neighborhood, self._border
            )
            if out is not None:
                out[self._written] = made[self._written]
            return made if out is None else out
        if out is None:
            return self._compiled(*args)
        if tuple(out.shape) != tuple(first.shape):
            raise ValueError(
                f"{self.__name__}: out has another shape; got {tuple(out.shape)}; expected {tuple(first.shape)}"
            )
        target = _ufunc.as_array(out)
        if any(un.may_share_memory(target, x) for x in args if hasattr(x, "shape")):
            target[self._written] = self._compiled(*args)[self._written]
        else:
            self._into(*args, target)
        return out

    def __reduce__(self):
        return self.__qualname__

    def __repr__(self):
        return f"<unisono.stencil {self.__module__}.{self.__qualname__}>"


def written(cval):
    """The element of a border in the text: NaN and infinities have no literal."""
    if cval is None:
        return "0"
    is_plain = isinstance(cval, (bool, int)) or (isinstance(cval, float) and math.isfinite(cval))
    return repr(cval) if is_plain and type(cval) in (bool, int, float) else "cval_"


def _helper(function):
    """Mark a helper of generated text."""
    from . import always_jit

    return always_jit(function)


def _numpy():
    """What generated text calls `np`: the names alone count."""
    import unisono as un

    return un


def _cells(function):
    """Values that the kernel captured."""
    return {
        name: cell.cell_contents
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        )
    }


class _Kernel:
    """The body of a kernel and what its indices reach."""

    def __init__(self, function, neighborhood, standard):
        is_lambda = function.__name__ == "<lambda>"
        self.name = "kernel" if is_lambda else function.__name__  # in the text that is written
        definition, self.file, _, _ = read_function(function)
        if isinstance(definition, ast.Lambda):
            body = [ast.copy_location(ast.Return(value=definition.body), definition.body)]
            definition = ast.copy_location(
                ast.FunctionDef(self.name, definition.args, body, []), definition
            )
        self.definition = definition
        self.params = [a.arg for a in definition.args.args]
        for name in standard:
            if name not in self.params:
                raise ValueError(
                    f"stencil: standard_indexing names no parameter; got {name!r}; expected one of {self.params}"
                )
        self.ranks = {}
        lows, highs = {}, {}
        for node in ast.walk(definition):
            if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
                continue
            name = node.value.id
            if name not in self.params or name in standard:
                continue
            if isinstance(node.ctx, ast.Store):
                self.refuse(node, f"a kernel does not write '{name}'", "return the element's value")
            index = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            self.ranks.setdefault(name, len(index))
            if len(index) != self.ranks[name]:
                self.refuse(node, f"'{name}' is indexed with {len(index)} indices here and with {self.ranks[name]} before",
                            "give an index for each axis")  # fmt: skip
            for axis, e in enumerate(index):
                offset = _constant(e)
                if offset is None:
                    if neighborhood is None:
                        self.refuse(
                            e,
                            f"the offset {ast.unparse(e)} is not a constant integer",
                            "give neighborhood=((low, high),)",
                        )
                    continue
                lows[axis] = min(lows.get(axis, 0), offset)
                highs[axis] = max(highs.get(axis, 0), offset)
        self.relative = list(self.ranks)
        if not self.relative:
            self.refuse(definition, "no array is indexed", "read neighbours as in a[-1] or a[0, 1]")
        rank = self.ranks[self.relative[0]]
        if any(r != rank for r in self.ranks.values()):
            self.refuse(definition, f"arrays of different ranks are indexed: {self.ranks}", "name those of another rank in standard_indexing")  # fmt: skip
        if neighborhood is None:
            neighborhood = tuple((lows[k], highs[k]) for k in range(rank))
        if len(neighborhood) != rank:
            raise ValueError(
                f"stencil: neighborhood has {len(neighborhood)} axes; the kernel indexes {rank}; give (low, high) for each"
            )
        self.reach = tuple((int(low), int(high)) for low, high in neighborhood)
        self.rank = rank

    def keep_border(self, keeps):
        """Choose what a call with `out` writes: all elements, or those inside of the border."""
        self.given_out = "inside" if keeps else "into"
        self.written = ...
        if keeps:
            sides = [(max(0, -low), max(0, high)) for low, high in self.reach]
            self.written = tuple(slice(low, -high if high else None) for low, high in sides)

    def refuse(self, node, what, way_out):
        raise _engine.CompileError(
            f"{self.name}: a stencil's kernel cannot be compiled: {what}\n"
            f'  File "{self.file}", line {getattr(node, "lineno", self.definition.lineno)}\n'
            f"    {ast.unparse(node).splitlines()[0]}\n"
            f"to do: {way_out}"
        )

    def text(self, mode, cval):
        """Return the module with the functions <name>_new, <name>_into and <name>_inside."""
        first, params = self.relative[0], ", ".join(self.params)
        index = [f"i{k}_" for k in range(self.rank)]
        low = [max(0, -reach[0]) for reach in self.reach]
        high = [max(0, reach[1]) for reach in self.reach]
        lines = [
            f"def {self.name}_point({params}, {', '.join(index)}):",
            *self.body(index, None),
            "",
        ]
        if mode != "constant":
            lines += [
                f"def {self.name}_border({params}, {', '.join(index)}):",
                *self.body(index, mode),
                "",
            ]
        point = f"{self.name}_point({params}, {', '.join(index)})"
        border = (
            written(cval)
            if mode == "constant"
            else f"{self.name}_border({params}, {', '.join(index)})"
        )
        loops, inside = [], None
        for slab in self.slabs(low, high, first):
            inside = len(loops) if loops and inside is None else inside
            depth = 1
            for k, (begin, end, _) in enumerate(slab):
                loop = "prange" if k == 0 else "range"
                loops.append(f"{'    ' * depth}for {index[k]} in {loop}({begin}, {end}):")
                depth += 1
            is_inside = all(inside for _, _, inside in slab)
            inner = self.inline(index, depth) if is_inside else None
            value = [f"{'    ' * depth}out_[{', '.join(index)}] = {point if is_inside else border}"]
            loops += inner or value
        lines += [f"def {self.name}_into({params}, out_):", *loops, ""]
        if self.given_out == "inside":
            lines += [f"def {self.name}_inside({params}, out_):", *loops[:inside], ""]
        # The result's dtype is that of one element; a NumPy scalar takes Python's 0 in.
        zero = "False" if self.gives_bool() else "0"
        enough = " and ".join(f"{first}.shape[{k}] > {low[k] + high[k]}" for k in range(self.rank))
        at = ", ".join(str(n) for n in low)
        takes_out = [
            f"def {self.name}_new({params}, out=None):",
            "    if out is not None:",
            f"        if out.shape != {first}.shape:",
            f"            raise ValueError('{self.name}: out has another shape; pass one of the shape of {first}')",
            f"        {self.name}_{self.given_out}({params}, out)",
            "        return out",
        ]
        lines += [
            *(takes_out if "out" not in self.params else [f"def {self.name}_new({params}):"]),
            f"    like_ = {zero}",
            f"    if {enough}:",
            f"        like_ = {self.name}_point({params}, {at})",
            f"    out_ = np.full({first}.shape, like_)",
            f"    {self.name}_into({params}, out_)",
            "    return out_",
        ]
        return self.decorated("\n".join(lines) + "\n")

    def decorated(self, text):
        """Mark the helpers as compiled functions."""
        last = f"def {self.name}_new"
        return text.replace("def ", "@jit_\ndef ").replace(f"@jit_\n{last}", last)

    def gives_bool(self):
        nodes = list(ast.walk(self.definition))
        assigned = [(t.id, n.value) for n in nodes if isinstance(n, ast.Assign)
                    for t in n.targets if isinstance(t, ast.Name)]  # fmt: skip

        def is_truth(e, around=()):
            if isinstance(e, (ast.Compare, ast.BoolOp)):
                return True
            if isinstance(e, ast.UnaryOp):
                inverted = isinstance(e.op, ast.Invert) and is_truth(e.operand, around)
                return isinstance(e.op, ast.Not) or inverted
            if isinstance(e, ast.BinOp) and isinstance(e.op, (ast.BitAnd, ast.BitOr, ast.BitXor)):
                return is_truth(e.left, around) and is_truth(e.right, around)
            if isinstance(e, ast.IfExp):
                return is_truth(e.body, around) and is_truth(e.orelse, around)
            if isinstance(e, ast.Name) and e.id not in around:
                values = [v for name, v in assigned if name == e.id]
                return bool(values) and all(is_truth(v, (*around, e.id)) for v in values)
            return isinstance(e, ast.Constant) and isinstance(e.value, bool)

        return all(is_truth(n.value) for n in nodes if isinstance(n, ast.Return))

    def slabs(self, low, high, first):
        """Parts of the space as (begin, end, inside the axis) for each axis; the first part is the inside."""
        extents = [f"{first}.shape[{k}]" for k in range(self.rank)]
        whole = [("0", n, True) for n in extents]
        inside = [(str(a), f"{n} - {b}", True) for a, b, n in zip(low, high, extents, strict=True)]
        yield inside
        for k in range(self.rank):
            if low[k]:
                yield [*inside[:k], ("0", f"min({low[k]}, {extents[k]})", False), *whole[k + 1 :]]
            if high[k]:
                begin = f"max({extents[k]} - {high[k]}, min({low[k]}, {extents[k]}))"
                yield [*inside[:k], (begin, extents[k], False), *whole[k + 1 :]]

    def body(self, index, mode):
        """The kernel's statements with indices from the array's beginning."""
        made = [_Shift(self, index, mode).visit(copy.deepcopy(s)) for s in self.definition.body]
        text = "\n".join(ast.unparse(ast.fix_missing_locations(s)) for s in made)
        return ["    " + line for line in text.splitlines()]

    def inline(self, index, depth):
        """The kernel's statements in place, where the only return is its end; else None."""
        body = self.definition.body
        returns = [n for n in ast.walk(self.definition) if isinstance(n, ast.Return)]
        if len(returns) != 1 or returns[0] is not body[-1] or returns[0].value is None:
            return None
        lines = self.body(index, None)
        made = ast.parse("\n".join(line[4:] for line in lines)).body
        target = ast.parse(f"out_[{', '.join(index)}]").body[0].value
        target.ctx = ast.Store()
        made[-1] = ast.Assign(targets=[target], value=made[-1].value)
        made = [
            s for s in made if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
        ]
        text = "\n".join(ast.unparse(ast.fix_missing_locations(s)) for s in made)
        return ["    " * depth + line for line in text.splitlines()]


class _Shift(ast.NodeTransformer):
    """Makes relative indices absolute."""

    def __init__(self, kernel, index, mode):
        self.kernel, self.index, self.mode = kernel, index, mode

    def visit_Subscript(self, node):
        self.generic_visit(node)
        if not isinstance(node.value, ast.Name) or node.value.id not in self.kernel.ranks:
            return node
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        made = []
        for k, e in enumerate(items):
            offset = _constant(e)
            if offset == 0:
                text = self.index[k]
            elif offset is not None:
                text = f"{self.index[k]} {'-' if offset < 0 else '+'} {abs(offset)}"
            else:
                text = f"{self.index[k]} + ({ast.unparse(e)})"
            if self.mode:
                text = _borders[self.mode].format(i=text, n=f"{node.value.id}.shape[{k}]")
            made.append(text)
        node.slice = ast.parse(f"x[{', '.join(made)}]").body[0].value.slice
        return node


def _constant(e):
    """The offset that an index expression is, or None."""
    if isinstance(e, ast.UnaryOp) and isinstance(e.op, (ast.USub, ast.UAdd)):
        value = _constant(e.operand)
        return None if value is None else -value if isinstance(e.op, ast.USub) else value
    is_int = isinstance(e, ast.Constant) and type(e.value) is int
    return e.value if is_int else None
