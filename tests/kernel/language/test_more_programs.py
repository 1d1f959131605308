"""Forms of ordinary programs: stars in patterns, unnamed Counters, sorts of objects, methods named as those of sets."""

from collections import Counter
from dataclasses import dataclass

import pytest
import unisono as un
from jit_devices import all_devices, far_devices


@dataclass
class Task:
    priority: int
    name: str

    def __lt__(self, other):
        return self.priority < other.priority


@dataclass
class Group:
    members: list

    def union(self, a, b):
        self.members.append(a + b)
        return len(self.members)


def commanded(text):
    match text.split():
        case ["push", n]:
            return f"push {int(n)}"
        case ["add" | "sub" as op]:
            return op.upper()
        case ["mid", *inner, last]:
            return f"{inner} {last}"
        case [first, *rest]:
            return f"{first} and {len(rest)}"
    return "empty"


def sorted_tasks(n):
    tasks = [Task(i * 3 % n, f"t{i}") for i in range(n)]
    numbers, words = [3, 1, 2], ["b", "a"]
    tasks.sort()
    numbers.sort()
    words.sort(reverse=True)
    first = [t.name for t in tasks]
    tasks.sort(reverse=True)
    return first, [t.priority for t in tasks], [t.name for t in sorted(tasks)], numbers, words


def extremes(n):
    return min((n - i, i) for i in range(n)), max([(i % 2, -i) for i in range(n)])


def counted(text):
    return (
        Counter(text).most_common(1),
        sorted(Counter(text).items()),
        [k for k, v in Counter(text).items() if v > 1],
        max(Counter(text.upper()).values()),
        dict(Counter(text)),
    )


def united(n):
    s = {1, n}
    return Group([0]).union(3, 4), sorted(s.union({3}, {4})), sorted(s.intersection({1, 2}, {1}))


def sections(text):
    name = None
    found = {}
    for line in text.split("\n"):
        if line.isalpha():
            name = line
            found[name] = []
        elif line and name is not None:
            found[name].append(int(line))
    return found


def turned(n):
    a = list(range(n))
    a[1:] = reversed(a[1:])
    return a


def starred_prints(n):
    mixed = (1, "a", 2.5)
    rows = [[1, 2], [3, 4]]
    print(*mixed)
    print("all:", *mixed, *rows[0], sep="; ")
    print(*range(n), None, True, sep="", end="!\n")
    print("x", *(k * 2 for k in range(n)), "y")
    for row in rows:
        print(*row)
    print(*zip(rows[0], "ab", strict=False))
    print(*map(str, rows[1]), *sorted(rows[0], reverse=True), sep=",")
    print(*[], *"abc", *{1: 2, 3: 4})
    return n


def rounded(x):
    return round(x, -2), round(x, -1), round(-x, -3)


CASES = [
    *((rounded, x) for x in (1251, 50, 150, 2**62, 250.0, 149.999, 0.4, 1500.0, -3.0)),
    (starred_prints, 3),
    *((commanded, t) for t in ("push 3", "sub", "mid a b c", "nop x y", "")),
    (sorted_tasks, 5),
    (extremes, 4),
    (counted, "abca"),
    (united, 2),
    (sections, "a\n1\n2\nb\n\n3"),
    (turned, 4),
]


@pytest.mark.parametrize("on", all_devices())
@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0].__name__}-{c[1]}")
def test_as_python(on, case, capfd):
    function, argument = case
    if function is united and on in far_devices():
        pytest.skip("sets joined of others are memory of the host, which is known when it runs")
    want = repr(function(argument)), capfd.readouterr().out
    assert (repr(un.jit(function, device=on)(argument)), capfd.readouterr().out) == want
