"""Functions inside that call each other in a circle, as a parser's do.

They name each other directly, not as values around them, so each takes what any of them reads around them:
whoever calls one has all that it needs.
"""

from __future__ import annotations

import ast
import copy


class Circles:
    """``function_inside``, ``locals`` and ``around`` are the flattener's."""

    defined = {}  # functions that are defined once here
    called = {}  # by each of them, among them
    circles = {}  # all of the circle, by the names of its functions
    numbers = {}  # of those that are flattened among the functions inside
    beside = {}  # of a function in a circle: the numbers of all of it
    shared = ()  # names that all of its circle take
    renamed = {}  # those of them that are other variables here: what they are called here

    def find_circles(self, nodes):
        """Note those among the nodes of the body."""
        inside = [n for n in nodes if isinstance(n, ast.FunctionDef)]
        plain = [
            f
            for f in inside
            if f.name not in self.generators and all(map(self.is_own_decorator, f.decorator_list))
        ]
        names = [f.name for f in inside]
        self.defined = {f.name: f for f in plain if names.count(f.name) == 1}
        self.called = {n: _names_read(f) & self.defined.keys() for n, f in self.defined.items()}
        self.circles, self.numbers = {}, {}
        reached = {n: _reached(n, self.called) for n in self.called}
        for n in reached:
            circle = [m for m in reached if m in reached[n] and n in reached[m]]
            if len(circle) > 1:
                self.circles[n] = circle

    def number_inside(self, s):
        """Where a function that is defined once stands among those inside; None for others."""
        if self.defined.get(getattr(s, "name", None)) is not s:
            return None
        if s.name not in self.numbers:
            circle = self.circles.get(s.name, [s.name])
            numbers = {n: len(self.nested) + i for i, n in enumerate(circle)}
            self.numbers = {**self.numbers, **numbers}
            self.nested += [None] * len(circle)
            if self.may_change_around():
                # What these read around them is read at each call: it is known once they are flattened.
                needed = set().union(*(self.called[n] for n in circle)) - set(circle)
                for n in sorted(needed):
                    self.number_inside(self.defined[n])
            if len(circle) > 1:
                self.flatten_circle(circle, numbers)
            else:
                inner = self.function_inside(s, s.name, s.name)
                self.nested[numbers[s.name]] = inner.run()
                self.functions[s.name] = inner.captured_names
        return self.numbers[s.name]

    def may_change_around(self):
        """Whether functions inside, here or around, assign names around them."""
        scope = self
        while scope is not None and not scope.writers:
            scope = scope.around
        return scope is not None

    def flatten_circle(self, circle, numbers):
        """What one of them reads is known when it is flattened: once more, where that is news to the others."""
        names, before = [], None
        while names != before:
            before = names
            for n in circle:
                definition = copy.deepcopy(self.defined[n])
                inner = self.function_inside(definition, n, n)
                inner.join_circle(numbers, before)
                self.nested[numbers[n]] = inner.run()
                ours = {own: name for name, own in inner.renamed.items()}
                taken = [ours.get(c, c) for c in inner.captured_names]
                names = [*names, *(c for c in taken if c not in names)]
        for n in circle:
            self.functions[n] = names

    def join_circle(self, numbers, names):
        self.beside, self.shared = numbers, names
        own = self.locals - set(self.captured_names)
        self.renamed = {n: f"{n}.around" for n in names if n in own}
        taken = [self.renamed.get(n, n) for n in names]
        self.captured_names = taken if taken else self.captured_names
        self.locals |= set(taken)

    def function_beside(self, e):
        """A function of the circle, called with all that this one has taken for it; None for other names."""
        if e.id not in self.beside or e.id in self.locals:
            return None
        if self.names_written_by(e.id) and not hasattr(e, "is_called"):
            return self.odd_writer(e, self.names_written_by(e.id), "as a value")
        names = [self.renamed.get(n, n) for n in self.shared]
        return self.node(
            e, "Function", self.captured_values(names, e), e.id, -2 - self.beside[e.id]
        )


def _names_read(function):
    """Names of others that the function reads, as far as its own do not hide them."""
    args = function.args
    own = {a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    nodes = [n for s in function.body for n in ast.walk(s)]
    read = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return read - own


def _reached(name, called):
    found, waiting = set(), [name]
    while waiting:
        for n in called[waiting.pop()] - found:
            found.add(n)
            waiting.append(n)
    return found
