"""Einstein summation: parses the subscripts, chooses an order of pairs, contracts each pair by matmul."""

import itertools
import math
import operator

from .. import _engine
from .._arrays.axes import as_array_beside, byte_strides, store
from .._arrays.creation import asarray
from .._dtype.functions import can_cast, result_type
from .._engine import matmul

_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _parse(operands):
    """Return the terms of the inputs, that of the output, and the arrays; ellipses are spelt out."""
    if not operands:
        raise ValueError("einsum: expected subscripts and arrays; got no arguments")
    if isinstance(operands[0], str):
        text = operands[0].replace(" ", "")
        arrays = _arrays(operands[1:])
    else:
        text, arrays = _text_of_lists(operands)
    inputs, arrow, output = text.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(arrays):
        raise ValueError(
            f"einsum: subscripts '{text}' name {len(terms)} operands; got {len(arrays)} arrays"
        )
    for c in text.replace("->", "").replace("...", "").replace(",", ""):
        if c not in _letters:
            raise ValueError(f"einsum: '{c}' is not a valid subscript in '{text}'; use letters")
    free = [c for c in _letters if c not in text]
    most = 0
    for k, (term, x) in enumerate(zip(terms, arrays, strict=True)):
        rest = x.ndim - len(term.replace("...", ""))
        if rest < 0 or (rest and "..." not in term):
            raise ValueError(
                f"einsum: operand {k} has {x.ndim} axes, its subscripts '{term}' name "
                f"{len(term.replace('...', ''))}; use '...' for the others"
            )
        if term.count("...") > 1:
            raise ValueError(f"einsum: '...' stands twice in '{term}'; expected once")
        if "..." in term:
            most = max(most, rest)
    ellipsis = "".join(free[:most])
    for k, (term, x) in enumerate(zip(terms, arrays, strict=True)):
        rest = x.ndim - len(term.replace("...", ""))
        terms[k] = term.replace("...", ellipsis[most - rest :])
    if arrow:
        if most and "..." not in output:
            raise ValueError(
                f"einsum: the output '{output}' has no '...', which stands for {most} axes of the operands"
            )
        output = output.replace("...", ellipsis)
    else:
        named = "".join(terms)
        output = ellipsis + "".join(
            sorted(c for c in set(named) if named.count(c) == 1 and c not in ellipsis)
        )
    for c in output:
        if c not in "".join(terms):
            raise ValueError(f"einsum: the output has the subscript '{c}', which no operand has")
        if output.count(c) > 1:
            raise ValueError(f"einsum: the output has the subscript '{c}' twice; expected once")
    return terms, output, arrays


def _text_of_lists(operands):
    operands = list(operands)
    output = operands.pop() if len(operands) % 2 else None
    arrays = _arrays(operands[0::2])

    def text(items):
        for i in items:
            if i is not Ellipsis and not 0 <= i < len(_letters):
                raise ValueError(
                    f"einsum: subscript {i} is not within the valid range [0, {len(_letters)})"
                )
        return "".join("..." if i is Ellipsis else _letters[i] for i in items)

    subscripts = ",".join(text(items) for items in operands[1::2])
    return (subscripts if output is None else f"{subscripts}->{text(output)}"), arrays


def _arrays(operands):
    return [x if isinstance(x, _Traced) else as_array_beside(x, *operands) for x in operands]


def _extents(terms, arrays):
    sizes = {}
    for term, x in zip(terms, arrays, strict=True):
        own = {}
        for c, n in zip(term, x.shape, strict=True):
            if own.setdefault(c, n) != n:
                raise ValueError(
                    f"einsum: the subscript '{c}' is repeated in '{term}', for axes of extents {own[c]} and {n}; "
                    "expected equal extents"
                )
            if sizes.get(c, 1) != 1 and n not in (1, sizes[c]):
                raise ValueError(
                    f"einsum: the subscript '{c}' stands for axes of extents {sizes[c]} and {n}"
                )
            if n != 1 or c not in sizes:
                sizes[c] = n
    return sizes


def _diagonal(term, x, sizes):
    """A view without repeated subscripts, and without axes of extent 1 that others broadcast."""
    strides = dict.fromkeys(term, 0)
    for c, n, s in zip(term, x.shape, byte_strides(x), strict=True):
        if n != 1 or sizes[c] == 1:
            strides[c] += s // x.itemsize
    kept = [c for c in strides if not (sizes[c] != 1 and strides[c] == 0 and _is_one(c, term, x))]
    if len(kept) == len(term):
        return term, x
    shape = [sizes[c] for c in kept]
    return "".join(kept), _engine._strided(x, tuple(shape), tuple(strides[c] for c in kept), 0)


def _is_one(c, term, x):
    return all(n == 1 for name, n in zip(term, x.shape, strict=True) if name == c)


def _sum(x, axes):
    if not axes:
        return x
    if x.dtype.kind == "b":
        return x.any(axis=tuple(axes))
    return x.sum(axis=tuple(axes), dtype=x.dtype)


def _arrange(term, x, wanted):
    """`x` with its axes in the order of `wanted`; other axes are summed."""
    x = _sum(x, [k for k, c in enumerate(term) if c not in wanted])
    term = [c for c in term if c in wanted]
    order = [term.index(c) for c in wanted if c in term]
    return x if order == list(range(len(order))) else x.transpose(order)


def _contract(one, x, two, y, kept, sizes):
    """The product of two operands, summed over what is not in `kept`; and its subscripts."""
    shared = [c for c in one if c in two]
    batch = [c for c in shared if c in kept]
    summed = [c for c in shared if c not in kept]
    left = [c for c in one if c not in two and c in kept]
    right = [c for c in two if c not in one and c in kept]
    x = _arrange(one, x, batch + left + summed)
    y = _arrange(two, y, batch + summed + right)
    extents = [[sizes[c] for c in group] for group in (batch, left, summed, right)]
    if not summed:
        x = x.reshape((*extents[0], *extents[1], *(1 for _ in right)))
        y = y.reshape((*extents[0], *(1 for _ in left), *extents[3]))
        return "".join(batch + left + right), x * y
    m, k, n = (math.prod(group) for group in extents[1:])
    product = _matmul(x.reshape((*extents[0], m, k)), y.reshape((*extents[0], k, n)))
    made = product.reshape((*extents[0], *extents[1], *extents[3]))
    return "".join(batch + left + right), made


def _greedy_path(terms, output, sizes):
    """Pairs to contract: each time the one that shrinks the operands most, then the cheapest."""
    left = list(terms)
    path = []
    while len(left) > 1:
        best = None
        for i, j in itertools.combinations(range(len(left)), 2):
            others = set(output).union(*(t for k, t in enumerate(left) if k not in (i, j)))
            union = set(left[i]) | set(left[j])
            made = union & others
            size = math.prod(sizes[c] for c in made)
            before = sum(math.prod(sizes[c] for c in left[k]) for k in (i, j))
            cost = (not set(left[i]) & set(left[j]), size - before)
            cost += (math.prod(sizes[c] for c in union),)
            if best is None or cost < best[0]:
                best = cost, i, j, "".join(sorted(made))
        _, i, j, made = best
        path.append((i, j))
        left = [t for k, t in enumerate(left) if k not in (i, j)] + [made]
    return path


class _Traced:
    """Stands for an array while a plan is made: notes what is done to it."""

    def __init__(self, shape, dtype, step):
        self.shape, self.dtype, self.step, self.ndim = tuple(shape), dtype, step, len(shape)

    def _noted(self, shape, function, *arguments):
        return _Traced(shape, self.dtype, (function, self, *arguments))

    def reshape(self, shape):
        return self if shape == self.shape else self._noted(shape, "reshape", shape)

    def transpose(self, order):
        shape = [self.shape[k] for k in order]
        return self._noted(shape, "transpose", tuple(order))

    def sum(self, axis, dtype):
        shape = [n for k, n in enumerate(self.shape) if k not in axis]
        return self._noted(shape, "sum_of", axis, dtype.name)

    def any(self, axis):
        shape = [n for k, n in enumerate(self.shape) if k not in axis]
        return self._noted(shape, "any_of", axis)

    def diagonal(self, term, sizes):
        kept = dict.fromkeys(term)
        if len(kept) == len(term):
            return self
        own = {c: sizes[c] for c in kept}
        return self._noted(own.values(), "diagonal", term, own)

    def __mul__(self, other):
        shape = [max(n, k) for n, k in zip(self.shape, other.shape, strict=True)]
        return self._noted(shape, "multiply", other)


def _matmul(x, y):
    if not isinstance(x, _Traced):
        return matmul(x, y)
    return x._noted((*x.shape[:-1], y.shape[-1]), "matmul", y)


def _written(x, names):
    """A traced result as Python's expression of the inputs' names."""
    if x.step is None:
        return names[id(x)]
    function, *given = x.step
    parts = [_written(a, names) if isinstance(a, _Traced) else repr(a) for a in given]
    return f"{function}({', '.join(parts)})"


_calls = {
    "reshape": lambda x, *to: x.reshape(*to),
    "transpose": lambda x, *axes: x.transpose(*axes),
    "any_of": lambda x, axis: x.any(axis=axis),
    "sum_of": lambda x, axis, dtype: x.sum(axis=axis, dtype=dtype),
    "diagonal": lambda x, term, sizes: _diagonal(term, x, sizes)[1],
    "multiply": operator.mul,
    "matmul": matmul,
}
_plans = {}


def _planned(text, arrays):
    """The result by the plan of such operands, made at the first ones; None where there is none."""
    key = [text]
    for x in arrays:
        key += x.shape, id(x.dtype)  # dtypes are there once
    key = tuple(key)
    plan = _plans.get(key)
    if plan is None:
        traced = [_Traced(x.shape, x.dtype, None) for x in arrays]
        terms, output, _ = _parse((text, *traced))
        sizes = _extents(terms, arrays)
        plain = all(
            tuple(sizes[c] for c in term) == x.shape and x.size and x.dtype is arrays[0].dtype
            for term, x in zip(terms, arrays, strict=True)
        )
        if plain:
            names = {id(x): f"x{k}" for k, x in enumerate(traced)}
            views = [x.diagonal(term, sizes) for term, x in zip(terms, traced, strict=True)]
            terms = ["".join(dict.fromkeys(term)) for term in terms]
            made = _contracted(terms, views, output, sizes, None)
            plan = eval(f"lambda {', '.join(names.values())}: {_written(made, names)}", _calls)
        if len(_plans) >= 256:
            _plans.clear()
        _plans[key] = plan = plan or ()
    return plan(*arrays) if plan else None


def _contracted(terms, arrays, output, sizes, path):
    """The result of contracting pairs along a path (the best one where None is given)."""
    for step in _greedy_path(terms, output, sizes) if path is None else path:
        made_term, made = _one_step(terms, arrays, sorted(step), output, sizes)
        terms = [t for k, t in enumerate(terms) if k not in step] + [made_term]
        arrays = [x for k, x in enumerate(arrays) if k not in step] + [made]
    return _arrange(terms[0], arrays[0], output)


def einsum(*operands, out=None, optimize=False, dtype=None, order="K", casting="safe"):
    """Einstein's summation convention on the operands.

    Pairs are contracted by matrix products, in an order that keeps intermediate results small.

    Parameters
    ----------
    *operands : str and array_like
        Subscripts such as ``"ij,jk->ik"`` and the arrays, or arrays and lists of subscripts in turn.
    out : ndarray, optional
    optimize : bool, str or list
        A path of `einsum_path` is followed; otherwise the order is always optimised.
    dtype : dtype, optional
        Dtype of the computation.
    order : {'C', 'F', 'A', 'K'}
        'F': columns of the result lie together.
    casting : {"no", "equiv", "safe", "same_kind", "unsafe"}
        Which conversions to `dtype` and `out` are allowed.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `operands` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> int(un.einsum("ii", un.arange(9).reshape(3, 3)))
    12
    >>> un.einsum("ij,j->i", [[1, 2], [3, 4]], [1, 1]).tolist()
    [3, 7]
    """
    if not operands:
        raise ValueError("einsum: no operands; give subscripts such as 'ij,jk->ik' and the arrays")
    if out is not None and not isinstance(out, _engine._Array):
        raise TypeError(f"einsum: out= must be an array of unisono; got {type(out).__name__}")
    order = order.upper() if isinstance(order, str) else order
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"einsum: order must be 'C', 'F', 'A' or 'K'; got {order!r}")
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise ValueError(
            f"einsum: casting must be 'no', 'equiv', 'safe', 'same_kind' or 'unsafe'; got {casting!r}"
        )
    if out is dtype is None and not optimize and order == "K" and isinstance(operands[0], str):
        arrays = _arrays(operands[1:])
        value = _planned(operands[0], arrays)
        if value is not None:
            return store("einsum", value[...] if value is arrays[0] else value, None)
        operands = (operands[0], *arrays)
    terms, output, arrays = _parse(operands)
    if out is None and order == "K" and len(arrays) == 1 and set(terms[0]) == set(output):
        dtype = None  # a view of the operand, as NumPy's
    if dtype is None and any(x.dtype is not arrays[0].dtype for x in arrays):
        dtype = result_type(*arrays)  # of products and sums of some of them, too
    if dtype is not None:
        arrays = [x.astype(dtype, copy=False) for x in arrays]
    sizes = _extents(terms, arrays)
    for k, (term, x) in enumerate(zip(terms, arrays, strict=True)):
        terms[k], arrays[k] = _diagonal(term, x, sizes)
    given = isinstance(optimize, (list, tuple)) and optimize and optimize[0] == "einsum_path"
    value = _contracted(terms, arrays, output, sizes, list(optimize[1:]) if given else None)
    if out is None and value is arrays[0]:
        value = value[...]
    if out is None:
        if order == "F" and value.ndim > 1:
            return asarray(value, order="F")
        return store("einsum", value, None)
    if casting not in ("same_kind", "unsafe") and not can_cast(value.dtype, out.dtype, casting):
        raise TypeError(
            f"einsum: cannot cast from {value.dtype} to {out.dtype} by the rule {casting!r}"
        )
    out[...] = value
    return out


def _one_step(terms, arrays, step, output, sizes):
    others = set(output).union(*(t for k, t in enumerate(terms) if k not in step))
    term, x = terms[step[0]], arrays[step[0]]
    for n, k in enumerate(step[1:]):
        later = others.union(*(terms[q] for q in step[n + 2 :]))
        term, x = _contract(term, x, terms[k], arrays[k], later, sizes)
    return term, x


def einsum_path(*operands, optimize="greedy"):
    """The order of contractions that `einsum` takes.

    Parameters
    ----------
    *operands : str and array_like
        As for `einsum`.
    optimize : bool or str
        False: all at once; a path is given back; otherwise the order is the greedy one.

    Returns
    -------
    path : list
        ``"einsum_path"`` and the positions of the operands of each contraction.
    text : str
        A description.

    Raises
    ------
    TypeError
        If `operands` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.einsum_path("ij,jk,kl->il", un.ones((2, 9)), un.ones((9, 3)), un.ones((3, 4)))[0]
    ['einsum_path', (0, 1), (0, 1)]
    """
    terms, output, arrays = _parse(operands)
    sizes = _extents(terms, arrays)
    if isinstance(optimize, (list, tuple)) and optimize[:1] in (["einsum_path"], ("einsum_path",)):
        path = list(optimize[1:])
    elif optimize is False:
        path = [tuple(range(len(arrays)))]
    else:
        path = _greedy_path(
            [_diagonal(t, x, sizes)[0] for t, x in zip(terms, arrays, strict=True)], output, sizes
        )
    lines = [f"contraction: {','.join(terms)}->{output}"]
    lines += [f"step {n + 1}: operands {pair}" for n, pair in enumerate(path)]
    return ["einsum_path", *path], "\n".join(lines)
