"""Rewrites Python's richer forms into the few that the engine knows: loops over ranges, if, assignments.

Each function takes a syntax tree and gives syntax trees; the flattener goes on with those. Names that
appear here only begin with two underscores and a digit's place, as in ``__i1``.
"""

from __future__ import annotations

import ast
import builtins
import copy
import enum


class Known(ast.Name):
    """A function of the engine by its name, whatever the name means where the user stands."""

    _fields = ("id", "ctx")


class Value(ast.expr):
    """A value that stands for itself."""

    _fields = ("value", "ctx")


class Let(ast.expr):
    """Statements, then the value of an expression."""

    _fields = ("body", "value")


class Desugar:
    """The forms that need fresh names; ``resolve`` and ``locals`` are the flattener's."""

    fresh_names = 0
    last_builtin = None, None  # what is called, and the name of the builtin that it is
    rebound = frozenset()  # names that the loop whose items are sought gives other values

    def fresh(self, hint):
        self.fresh_names += 1
        name = f"__{hint}{self.fresh_names}"
        self.locals.add(name)
        return name

    def builtin(self, e):
        """The name of the builtin that a call goes to, or None."""
        if not isinstance(e, ast.Call):
            return None
        asked, name = self.last_builtin
        if asked is e.func:  # each form of calls asks
            return name
        found, value = self.resolve(e.func)
        name = getattr(value, "__name__", "")
        name = name if found and getattr(builtins, name, None) is value else None
        self.last_builtin = e.func, name
        return name

    # ---- loops
    def plain_loop(self, s):
        """Statements that run the loop as loops over ranges, or None where it is one already."""
        if self.is_range(s.iter):
            if isinstance(s.target, ast.Name):
                return None
            return None
        return self.nested_loops(s) or self.flat_loop(s)

    def flat_loop(self, s):
        """One loop, which counts the items."""
        before = []
        rebound, self.rebound = self.rebound, _rebound(s)
        length, item = self.iteration(s.iter, before)
        self.rebound = rebound
        index = self.fresh("i")
        first = _assign(s.target, item(_name(index, s.iter)))
        loop = ast.For(
            target=_name(index, s.target, ast.Store()),
            iter=_at(ast.Call(func=self.range_of(s.iter), args=[length], keywords=[]), s.iter),
            body=[first, *s.body],
            orelse=s.orelse,
        )
        return [*before, _at(loop, s)]

    def nested_loops(self, s):
        """Loops inside of each other for np.ndindex and np.ndenumerate, or None where their number is not known."""
        e = s.iter
        found, value = self.resolve(e.func) if isinstance(e, ast.Call) else (False, None)
        name = getattr(value, "__name__", "") if found else ""
        if name not in ("ndindex", "ndenumerate") or e.keywords or not _may_be_copied(s.body):
            return None
        given = e.args
        if len(given) == 1 and isinstance(given[0], (ast.Tuple, ast.List)):
            given = given[0].elts
        if not given or any(isinstance(a, ast.Starred) for a in given):
            return None
        before = []
        if name == "ndindex" and len(given) > 1:
            rebound, self.rebound = self.rebound, _rebound(s)
            sizes = [self.kept(a, before, "d") for a in given]
            self.rebound = rebound
            return [*before, self.nest(s, sizes, None)]
        array, target = None, s.target
        if name == "ndenumerate" and len(given) == 1:
            pair = target.elts if isinstance(target, (ast.Tuple, ast.List)) else ()
            if len(pair) != 2 or any(isinstance(t, ast.Starred) for t in pair):
                return None
            rebound, self.rebound = self.rebound, _rebound(s)
            array, target = self.kept(given[0], before, "a"), pair[0]
            self.rebound = rebound
            shape = _at(ast.Attribute(value=array, attr="shape", ctx=ast.Load()), e)
        elif isinstance(given[0], ast.Attribute) and given[0].attr == "shape":
            shape = given[0]
        else:
            return None
        kept = self.fresh("d")
        before.append(_assign(_name(kept, e, ast.Store()), shape))
        shape = _name(kept, e)
        # A loop for each number of axes: the compiler takes the one that the array has.
        known = target.elts if isinstance(target, (ast.Tuple, ast.List)) else ()
        items = _at(
            ast.Call(func=e.func, args=[array if array is not None else shape], keywords=[]), e
        )
        made = self.flat_loop(
            _at(ast.For(target=s.target, iter=items, body=s.body, orelse=s.orelse), s)
        )
        for rank in (len(known),) if len(known) > 1 else (3, 2):
            at = lambda k: ast.Subscript(value=shape, slice=_constant(k, e), ctx=ast.Load())  # noqa: E731
            nest = self.nest(s, [_at(at(k), e) for k in range(rank)], array)
            count = _call("len", e, shape)
            test = ast.Compare(left=count, ops=[ast.Eq()], comparators=[_constant(rank, e)])
            made = [_at(ast.If(test=_at(test, e), body=[nest], orelse=made), s)]
        return [*before, *made]

    def nest(self, s, sizes, array):
        """The loop `s` as one loop for each size; of an array, its elements beside the indices."""
        e = s.iter
        names = [self.fresh("i") for _ in sizes]
        index = lambda: _tuple(e, *(_name(n, e) for n in names))  # noqa: E731
        body, target = _copy(s.body), _copy(s.target)
        if array is None:
            body.insert(0, _assign(target, index()))
        else:
            element = _at(ast.Subscript(value=array, slice=index(), ctx=ast.Load()), e)
            body[:0] = [_assign(target.elts[1], element), _assign(target.elts[0], index())]
        for k in reversed(range(len(sizes))):
            known = _at(Known(id="range", ctx=ast.Load()), e)
            loop = ast.For(
                target=_name(names[k], s.target, ast.Store()),
                iter=_at(ast.Call(func=known, args=[sizes[k]], keywords=[]), e),
                body=body,
                orelse=_copy(s.orelse) if k == 0 else [],
            )
            body = [_at(loop, s)]
        return body[0]

    def is_range(self, e):
        if not isinstance(e, ast.Call):
            return False
        found, value = self.resolve(e.func)
        name = getattr(value, "__name__", "")
        return found and (value is range or name == "prange")

    def range_of(self, e):
        """What a loop over `e` counts with: range, or prange where it is a call of pndindex."""
        from . import prange

        found, value = self.resolve(e.func) if isinstance(e, ast.Call) else (False, None)
        is_parallel = found and getattr(value, "__name__", "") == "pndindex"
        known = Value(value=prange) if is_parallel else Known(id="range", ctx=ast.Load())
        return _at(known, e)

    def kept(self, e, before, hint):
        """The expression, evaluated once."""
        if isinstance(e, ast.Constant) or (isinstance(e, ast.Name) and e.id not in self.rebound):
            return e
        name = self.fresh(hint)
        before.append(_assign(_name(name, e, ast.Store()), e))
        return _name(name, e)

    def iteration(self, e, before):
        """(number of items, function that gives item k) of what is looped over."""
        if isinstance(e, ast.GeneratorExp):  # its items are all made, in order
            e = _at(ast.ListComp(elt=e.elt, generators=e.generators), e)
        if self.generator_of(e) is not None and not hasattr(e, "is_listed"):
            e.is_listed = True  # a loop over what has another form than loops take ends here
            e = self.refused_endless(e) if self.is_endless(e) else self.as_list(e)
        if isinstance(e, ast.Attribute) and e.attr == "flat" and not self.resolve(e)[0]:
            flat = _at(ast.Attribute(value=e.value, attr="ravel", ctx=ast.Load()), e)
            e = _at(ast.Call(func=flat, args=[], keywords=[]), e)
        name = self.builtin(e)
        starred = name and any(isinstance(a, ast.Starred) for a in e.args)
        plain = name and not e.keywords and not starred
        if name == "range" and plain and 1 <= len(e.args) <= 3:
            return self.iteration_of_range(e, before)
        found, value = self.resolve(e.func) if isinstance(e, ast.Call) else (False, None)
        if found and getattr(value, "__name__", "") in ("ndindex", "pndindex") and not e.keywords:
            return self.iteration_of_indices(e, before)
        is_pairs = found and getattr(value, "__name__", "") == "ndenumerate" and not e.keywords
        if is_pairs and len(e.args) == 1 and not isinstance(e.args[0], ast.Starred):
            return self.iteration_of_elements(e, before)
        if (
            found
            and getattr(value, "__name__", "") == "nditer"
            and len(e.args) == 1
            and not e.keywords
        ):
            # An item is an array without axes there; its operators and item() are those of a number.
            return self.iteration(self.elements_of(e, before), before)
        known = self.iteration_of_itertools(e, value, before) if found else None
        if known is not None:
            return known
        if name == "enumerate" and len(e.args) + len(e.keywords) in (1, 2) and e.args:
            starts = [*e.args[1:], *(k.value for k in e.keywords)]
            length, item = self.iteration(e.args[0], before)
            if not starts:
                return length, lambda k: _tuple(e, k, item(k))
            start = self.kept(starts[0], before, "s")
            return length, lambda k: _tuple(e, _add(k, start), item(k))
        is_loose = all(
            k.arg == "strict" and isinstance(k.value, ast.Constant) and k.value.value is False
            for k in (e.keywords if name == "zip" else ())
        )
        if name == "zip" and is_loose and not starred and e.args:
            parts = [self.iteration(a, before) for a in e.args]
            lengths = [n for n, _ in parts]
            length = lengths[0] if len(parts) == 1 else _call("min", e, *lengths)
            return length, lambda k: _tuple(e, *(item(k) for _, item in parts))
        if name == "reversed" and plain and len(e.args) == 1:
            length, item = self.iteration(e.args[0], before)
            count = self.fresh("n")
            before.append(_assign(_name(count, e, ast.Store()), length))
            last = _sub(_name(count, e), _constant(1, e))
            return _name(count, e), lambda k: item(_sub(last, k))
        if name == "map" and plain and len(e.args) > 1:
            parts = [self.iteration(a, before) for a in e.args[1:]]
            length = parts[0][0] if len(parts) == 1 else _call("min", e, *(n for n, _ in parts))
            call = lambda k: ast.Call(  # noqa: E731
                func=e.args[0], args=[item(k) for _, item in parts], keywords=[]
            )
            return length, lambda k: _at(call(k), e)
        found, value = self.resolve(e)
        if found and isinstance(value, enum.EnumMeta):
            members = [_at(Value(value=m, ctx=ast.Load()), e) for m in value]
            return self.iteration(_tuple(e, *members), before)
        array = e
        if not isinstance(e, ast.Name) or e.id in self.rebound:
            array = self.kept(e, before, "a")

        def item(k):
            made = _at(ast.Subscript(value=array, slice=k, ctx=ast.Load()), e)
            made.is_iteration = True  # of a dict the key, not the value of one
            return made

        return _call("iteration", e, array), item

    def iteration_of_indices(self, e, before):
        """np.ndindex(n, m): all indices, the last running fastest."""
        given = e.args
        if len(given) == 1 and isinstance(given[0], (ast.Tuple, ast.List)):
            given = given[0].elts
        elif len(given) == 1:  # a shape, of any number of axes
            shape = self.kept(given[0], before, "d")
            return _known(e, "count_of", shape), lambda k: _known(e, "index_at", k, shape)
        if not given:
            return _constant(1, e), lambda _: _tuple(e)
        sizes = [self.kept(a, before, "d") for a in given]
        length = sizes[0]
        for size in sizes[1:]:
            length = _mul(length, size)

        def item(k):
            items, rest = [], k
            for size in reversed(sizes[1:]):
                items.insert(0, _binary(rest, ast.Mod(), size))
                rest = _floordiv(rest, size)
            return _tuple(e, rest, *items)

        return length, item

    def iteration_of_elements(self, e, before):
        """np.ndenumerate(array): pairs of an index and the element there."""
        array = self.kept(e.args[0], before, "a")
        shape = _at(ast.Attribute(value=array, attr="shape", ctx=ast.Load()), e)
        shape = self.kept(shape, before, "d")

        index = self.fresh("i")

        def item(k):
            found = _assign(_name(index, e, ast.Store()), _known(e, "index_at", k, shape))
            element = ast.Subscript(value=array, slice=_name(index, e), ctx=ast.Load())
            return _at(Let(body=[found], value=_tuple(e, _name(index, e), _at(element, e))), e)

        return _known(e, "count_of", shape), item

    def elements_of(self, e, before):
        """np.nditer(a), np.nditer((a, b)): the elements in the order of memory, together those of several arrays."""
        given = e.args[0].elts if isinstance(e.args[0], (ast.Tuple, ast.List)) else e.args
        arrays = [self.kept(a, before, "a") for a in given]
        if len(arrays) == 1:
            return _known(e, "in_memory_order", arrays[0])
        everything = lambda: _tuple(e, *arrays)  # noqa: E731
        calls = []
        for array in arrays:
            choice = ast.IfExp(
                test=_known(e, "are_alike", everything()),
                body=_known(e, "in_common_order", array, everything()),
                orelse=_known(e, "in_common_shape", array, everything()),
            )
            calls.append(_at(choice, e))
        return _call("zip", e, *calls)

    def iteration_of_range(self, e, before):
        args = [self.kept(a, before, "r") for a in e.args]
        begin = args[0] if len(args) > 1 else _constant(0, e)
        end = args[0] if len(args) == 1 else args[1]
        step = args[2] if len(args) == 3 else _constant(1, e)
        known = _integer(step)
        if known == 1:
            length = _sub(end, begin)
        elif known is not None and known > 0:
            length = _floordiv(_add(_sub(end, begin), _constant(known - 1, e)), step)
        else:
            rising = _floordiv(_sub(_add(_sub(end, begin), step), _constant(1, e)), step)
            falling = _floordiv(_add(_add(_sub(end, begin), step), _constant(1, e)), step)
            test = _at(ast.Compare(left=step, ops=[ast.Gt()], comparators=[_constant(0, e)]), e)
            length = _at(ast.IfExp(test=test, body=rising, orelse=falling), e)
        length = _call("max", e, length, _constant(0, e))
        if known == 1:
            return length, lambda k: _add(begin, k) if _integer(begin) != 0 else k
        return length, lambda k: _add(begin, _mul(k, step))

    # ---- generators
    def reduced(self, e):
        """sum, any or all of a generator as statements and a value, or None."""
        name = self.builtin(e)
        if name not in ("sum", "any", "all") or e.keywords or not e.args:
            return None
        generator = e.args[0]
        if not isinstance(generator, (ast.GeneratorExp, ast.ListComp)):
            return None
        if len(e.args) > (2 if name == "sum" else 1):
            return None
        if any(g.is_async for g in generator.generators):
            return None
        result = self.fresh(name)
        store = lambda: _name(result, e, ast.Store())  # noqa: E731
        if name == "sum":
            start = e.args[1] if len(e.args) == 2 else _constant(0, e)
            body = [_assign(store(), _add(_name(result, e), generator.elt))]
        else:
            start = _constant(name == "all", e)
            test = generator.elt
            if name == "all":
                test = _at(ast.UnaryOp(op=ast.Not(), operand=test), generator.elt)
            found = [_assign(store(), _constant(name == "any", e)), _at(ast.Break(), e)]
            body = [_at(ast.If(test=test, body=found, orelse=[]), e)]
        stop = None
        if name != "sum":
            stop = _name(result, e)
            if name == "all":
                stop = _at(ast.UnaryOp(op=ast.Not(), operand=stop), e)
        body = self.generated(e, generator.generators, body, stop)
        return _at(Let(body=[_assign(store(), start), *body], value=_name(result, e)), e)

    def generated(self, e, generators, body, stop=None):
        """The loops of a generator around `body`, left where `stop` holds behind an inner one."""
        names = {}
        for number, g in reversed(list(enumerate(generators))):
            for n in ast.walk(g.target):
                if isinstance(n, ast.Name):
                    names[n.id] = self.fresh("v")
            for test in reversed(g.ifs):
                body = [_at(ast.If(test=test, body=body, orelse=[]), e)]
            loop = _at(ast.For(target=g.target, iter=g.iter, body=body, orelse=[]), e)
            body = [loop]
            if number > 0 and stop is not None:
                body.append(_at(ast.If(test=stop, body=[_at(ast.Break(), e)], orelse=[]), e))
        # A generator's variables are its own; what its first loop goes over is read outside of it.
        made = [_Rename(names).visit(_copied(s)) for s in body]
        made[0].iter = _copied(generators[0].iter)
        return made

    def mapped(self, e):
        """map and filter as list comprehensions, or None."""
        name = self.builtin(e)
        if name not in ("map", "filter") or e.keywords or len(e.args) < 2:
            return None
        if any(isinstance(a, ast.Starred) for a in e.args):
            return None
        function, *lists = e.args
        names = [_name(self.fresh("m"), e, ast.Store()) for _ in lists]
        read = [_name(n.id, e) for n in names]
        call = _at(ast.Call(func=function, args=read, keywords=[]), e)
        target, source = names[0], lists[0]
        if name == "map" and len(lists) > 1:
            target = _at(ast.Tuple(elts=names, ctx=ast.Store()), e)
            source = _call("zip", e, *lists)
        tests = [call] if name == "filter" else []
        loop = ast.comprehension(target=target, iter=source, ifs=tests, is_async=0)
        made = ast.ListComp(elt=call if name == "map" else read[0], generators=[loop])
        return _at(made, e)

    def filled_list(self, e):
        """A list comprehension as a list that loops append to."""
        result = self.fresh("list")
        append = ast.Attribute(value=_name(result, e), attr="append", ctx=ast.Load())
        call = _at(ast.Call(func=_at(append, e), args=[e.elt], keywords=[]), e)
        body = self.generated(e, e.generators, [_at(ast.Expr(value=call), e)])
        empty = _at(ast.List(elts=[], ctx=ast.Load()), e)
        body = [_assign(_name(result, e, ast.Store()), empty), *body]
        return _at(Let(body=body, value=_name(result, e)), e)

    def changed_by(self, e, result, name, *args):
        """The statement ``result.name(*args)``."""
        method = _at(ast.Attribute(value=_name(result, e), attr=name, ctx=ast.Load()), e)
        return _at(ast.Expr(value=_at(ast.Call(func=method, args=[*args], keywords=[]), e)), e)

    def list_with_stars(self, e):
        """``[*a, b]`` as a list that is extended and appended to."""
        result = self.fresh("list")
        empty = _at(ast.List(elts=[], ctx=ast.Load()), e)
        body = [_assign(_name(result, e, ast.Store()), empty)]
        for i in e.elts:
            is_star = isinstance(i, ast.Starred)
            given = (i.value, "extend") if is_star else (i, "append")
            body.append(self.changed_by(i, result, given[1], given[0]))
        return _at(Let(body=body, value=_name(result, e)), e)

    def first_item(self, e):
        """``next(x for x in items)``, or of iter(items), with a default or without, or None."""
        if self.builtin(e) != "next" or e.keywords or len(e.args) not in (1, 2):
            return None
        given = e.args[0]
        if self.builtin(given) == "iter" and len(given.args) == 1:
            item = self.fresh("x")
            loop = ast.comprehension(
                target=_name(item, e, ast.Store()), iter=given.args[0], ifs=[], is_async=0
            )
            given = _at(ast.GeneratorExp(elt=_name(item, e), generators=[loop]), e)
        if not isinstance(given, ast.GeneratorExp) or len(given.generators) != 1:
            return None
        result = self.fresh("next")
        store = lambda: _name(result, e, ast.Store())  # noqa: E731
        body = [_assign(store(), given.elt), _at(ast.Break(), e)]
        (loop,) = self.generated(e, given.generators, body)
        before = []
        if len(e.args) == 2:
            before = [_assign(store(), e.args[1])]
        else:
            error = _at(Known(id="StopIteration", ctx=ast.Load()), e)
            raised = _at(ast.Call(func=error, args=[], keywords=[]), e)
            loop.orelse = [_at(ast.Raise(exc=raised, cause=None), e)]
        return _at(Let(body=[*before, loop], value=_name(result, e)), e)


class _Rename(ast.NodeTransformer):
    def __init__(self, names):
        self.names = names

    def visit_Name(self, node):
        if node.id in self.names:
            node.id = self.names[node.id]
        return node


def _copied(tree):
    import copy

    return copy.deepcopy(tree)


def _at(node, place):
    for field in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
        setattr(node, field, getattr(place, field))
    return node


def _name(name, place, ctx=None):
    return _at(ast.Name(id=name, ctx=ctx or ast.Load()), place)


def _constant(value, place):
    return _at(ast.Constant(value=value), place)


def _integer(e):
    """The value of an integer written as such, or None."""
    if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.USub):
        value = _integer(e.operand)
        return None if value is None else -value
    return e.value if isinstance(e, ast.Constant) and type(e.value) is int else None


def _assign(target, value):
    return _at(ast.Assign(targets=[target], value=value), value)


def _rebound(loop):
    """Names that a loop's target and body assign."""
    nodes = (n for part in (loop.target, *loop.body) for n in ast.walk(part))
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _may_be_copied(body):
    """Whether a loop's body may stand in several loops: it has no functions, and no break of its own."""
    for s in body:
        for n in ast.walk(s):
            if isinstance(n, (ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.Try, ast.With)):
                return False
    return not any(_breaks(s) for s in body)


def _breaks(s):
    """Whether a break in the statement leaves the loop around it."""
    if isinstance(s, ast.Break):
        return True
    inner = s.orelse if isinstance(s, (ast.For, ast.While)) else ast.iter_child_nodes(s)
    return any(_breaks(n) for n in inner if isinstance(n, (ast.stmt, ast.match_case)))


def _copy(node):
    """Nodes of their own; the values in them are the same."""
    if isinstance(node, list):
        return [_copy(n) for n in node]
    if not isinstance(node, ast.AST) or isinstance(node, Value):
        return node
    made = copy.copy(node)
    for field in node._fields:
        setattr(made, field, _copy(getattr(node, field, None)))
    return made


def _known(place, name, *args):
    """A call of a function of indices.py."""
    from . import indices

    function = _at(Value(value=getattr(indices, name), ctx=ast.Load()), place)
    return _at(ast.Call(func=function, args=list(args), keywords=[]), place)


def _call_of(function, at, *args):
    """A call of a function of the library."""
    known = _at(Value(value=function, ctx=ast.Load()), at)
    return _at(ast.Call(func=known, args=list(args), keywords=[]), at)


def _call(name, place, *args):
    known = _at(Known(id=name, ctx=ast.Load()), place)
    return _at(ast.Call(func=known, args=list(args), keywords=[]), place)


def _tuple(place, *items):
    return _at(ast.Tuple(elts=list(items), ctx=ast.Load()), place)


def _binary(left, op, right):
    return _at(ast.BinOp(left=left, op=op, right=right), left)


def _add(left, right):
    return _binary(left, ast.Add(), right)


def _sub(left, right):
    return left if _integer(right) == 0 else _binary(left, ast.Sub(), right)


def _mul(left, right):
    return _binary(left, ast.Mult(), right)


def _floordiv(left, right):
    return _binary(left, ast.FloorDiv(), right)
