"""Lists, dicts and sets that are empty where they are made, and read or passed on before something is stored in them."""

import pytest
import unisono as un
from jit_devices import host_devices

GRAPH = {"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}


def read_in_front(text):
    stack = []
    for i, c in enumerate(text):
        while len(stack) > 1 and stack[-1][0] == c:
            stack.pop()
        stack.append((c, i))
    return stack


def looked_up_in_front(words):
    seen = {}
    for k, w in enumerate(words):
        if w in seen and seen[w][1].upper() == "A":
            print("again", w)
        seen[w] = (k, w[0])
    return seen


def joined_in_front(text):
    rows, cell = [], []
    for c in text:
        if c == ",":
            rows.append("".join(cell))
            cell = []
        else:
            cell.append(c)
    return rows, "".join(cell)


def sorted_by_visits(graph):
    seen, out = set(), []

    def visit(v):
        if v in seen:
            return
        for w in graph[v]:
            visit(w)
        seen.add(v)
        out.append(v)

    for v in graph:
        visit(v)
    return out[::-1], sorted(seen)


def returned_by_visits(graph):
    def walk(v):
        found = []
        for w in graph[v]:
            found += walk(w)
        found.append((v, len(v)))
        return found

    return walk("a")


def paths_from(graph, v, path, out):
    if not graph[v]:
        out.append(path + [v])
        return
    for w in graph[v]:
        paths_from(graph, w, path + [v], out)


def all_paths(graph):
    out = []
    paths_from(graph, "a", [], out)
    return out


def components(graph):
    index, low, stack, out = {}, {}, [], []

    def connect(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in graph[v]:
            if w not in index:
                connect(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            part = []
            while True:
                part.append(stack.pop())
                if part[-1] == v:
                    break
            out.append(sorted(part))

    for v in graph:
        if v not in index:
            connect(v)
    return out


CASES = [
    (read_in_front, "abbac"),
    (looked_up_in_front, ["ab", "cd", "ab"]),
    (joined_in_front, "ab,c,"),
    (sorted_by_visits, GRAPH),
    (returned_by_visits, GRAPH),
    (all_paths, GRAPH),
    (components, {**GRAPH, "d": ["b"]}),
]


@pytest.mark.parametrize("on", host_devices())
@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_as_python(on, case, capfd):
    function, argument = case
    want = function(argument), capfd.readouterr().out
    assert (un.jit(function, device=on)(argument), capfd.readouterr().out) == want


def test_the_first_refusal_is_told_where_nothing_tells_more():
    @un.jit
    def odd(n):
        items = []
        for k in range(n):
            print(items[k].name)
        items.append(n)
        return items

    with pytest.raises(un.CompileError, match="has no attribute 'name'"):
        odd(1)


def test_generators_that_call_themselves_first():
    def towers(n):
        def move(k, a, b, c):
            if k:
                yield from move(k - 1, a, c, b)
                yield (a, c)
                yield from move(k - 1, b, a, c)

        return list(move(n, "A", "B", "C"))

    assert un.jit(towers)(3) == towers(3)


def interprets(source):
    values = {}
    tokens = []
    pos = 0

    def peek():
        return tokens[pos] if pos < len(tokens) else ""

    def take():
        nonlocal pos
        t = tokens[pos]
        pos += 1
        return t

    def expression():
        v = atom()
        while peek() in ("+", "*"):
            v = v + atom() if take() == "+" else v * atom()
        return v

    def atom():
        t = take()
        if t == "(":
            v = expression()
            take()
            return v
        return int(t) if t.isdigit() else values[t]

    for line in source.split(";"):
        tokens = line.split()
        pos = 0
        name = take()
        take()
        values[name] = expression()
    return values


def test_a_function_inside_tells_the_keys_that_it_looks_up():
    compiled = un.jit(interprets)
    source = "x = 3 ; y = x * ( 2 + x ) ; z = y + x"
    assert compiled(source) == interprets(source)
    with pytest.raises(KeyError, match="q"):
        compiled("x = q")
