"""What `explain` returns: text, and the same as a picture for notebooks and as DOT.

The engine writes the text (engine/tape/plan/describe.cpp). `plan_of` reads kernels and where their inputs come from out of it;
`_layers` gives each box of the picture a row below all that it reads.
"""

import re
from collections import Counter
from html import escape


class Kernel:
    """One kernel of a plan: its number, where it runs, what it does and what it reads."""

    def __init__(self, number, head):
        self.number, self.head = number, head
        self.operations, self.sources, self.lines, self.why = [], [], "", ""

    @property
    def title(self):
        """Its name and the shape that it runs over, or the library call that it is."""
        name, _, call = self.head.partition(": ")
        if name.startswith("over ") or "operations fused" in call:
            return f"kernel {self.number} {name}".strip()
        return f"kernel {self.number}: {call.partition(' of ')[0]}"

    @property
    def work(self):
        """Its operations, each once: ``2 add, mul``."""
        counted = Counter(self.operations)
        return ", ".join(f"{n} {op}" if n > 1 else op for op, n in counted.items())

    @property
    def traffic(self):
        """Bytes that it reads and writes, where they are known."""
        found = re.search(r"reads (\d+) bytes.*writes (\d+) bytes", self.head)
        return f"reads {_bytes(found[1])}, writes {_bytes(found[2])}" if found else ""


def _bytes(n):
    n = int(n)
    for unit in ("bytes", "KiB", "MiB"):
        if n < 1024:
            return f"{n} {unit}" if unit == "bytes" else f"{n:.1f} {unit}"
        n /= 1024
    return f"{n:.1f} GiB"


def plan_of(text):
    """Kernels that an explanation lists."""
    kernels = []
    for line in text.splitlines():
        head = re.match(r"kernel (\d+)(?: (over .*)|(: .*))$", line)
        if head:
            kernels.append(Kernel(int(head[1]), head[2] or head[3]))
            called = re.match(r": .*? of ((?:(?:kernel|array) \d+(?:, )?)+)$", head[3] or "")
            if called:
                kernels[-1].sources += called[1].split(", ")
        elif not kernels or not line.startswith("  "):
            continue
        elif line.startswith("  lines: "):
            kernels[-1].lines = line.removeprefix("  lines: ")
        elif line.startswith("  not fused"):
            kernels[-1].why = line.partition(": it ")[2]
        elif node := re.match(r"    %\d+ = (\S+)(?: \d+ from ((?:kernel|array) \d+))?", line):
            if node[2]:
                kernels[-1].sources.append(node[2])
            elif not re.match(r"[-\d]|True|False|scalar|cast|input|inf|nan", node[1]):
                kernels[-1].operations.append(node[1])
        elif reduction := re.match(r"    (reduce-\w+) ", line):
            kernels[-1].operations.append(reduction[1])
    return kernels


def _edges(kernels):
    """Pairs of names, each once: what is read, who reads it."""
    return list(dict.fromkeys((s, f"kernel {k.number}") for k in kernels for s in k.sources))


def _layers(kernels, edges):
    """Names of boxes by rows: arrays that are read first, each kernel below what it reads."""
    depth = {source: 0 for source, _ in edges if source.startswith("array")}
    for kernel in kernels:
        name = f"kernel {kernel.number}"
        depth[name] = 1 + max((depth.get(s, 0) for s, to in edges if to == name), default=0)
    rows = [[] for _ in range(max(depth.values(), default=0) + 1)]
    for name, at in depth.items():
        rows[at].append(name)
    return [row for row in rows if row]


class Explanation(str):
    """Text that a prompt shows as it is, and a notebook as a picture."""

    __slots__ = ()
    __repr__ = str.__str__

    def to_dot(self):
        """The kernels and what they read as a graph in the language of Graphviz.

        Returns
        -------
        str

        Examples
        --------
        >>> import unisono as un
        >>> print(un.explain(un.ones(3).sum()).to_dot().splitlines()[0])
        digraph plan {
        """
        kernels = plan_of(self)
        edges = _edges(kernels)
        quoted = ["digraph plan {", "  node [shape=box];"]
        for name in dict.fromkeys(s for s, _ in edges if s.startswith("array")):
            quoted.append(f'  "{name}" [shape=ellipse];')
        for kernel in kernels:
            label = "\\n".join(_label(kernel)).replace('"', '\\"')
            quoted.append(f'  "kernel {kernel.number}" [label="{label}"];')
        quoted += [f'  "{source}" -> "{to}";' for source, to in edges]
        return "\n".join([*quoted, "}"])

    def _repr_html_(self):
        """The picture, and the text below it."""
        kernels = plan_of(self)
        picture = _svg(kernels) if kernels else ""
        first, _, _ = self.partition("\n")
        return (
            f"<div><p>{escape(first)}</p>{picture}<details><summary>text</summary>"
            f"<pre>{escape(self)}</pre></details></div>"
        )


def _label(kernel):
    """Lines of a kernel's box."""
    lines = [kernel.title, kernel.work, kernel.traffic, kernel.lines]
    return [line if len(line) <= 60 else line[:59] + "…" for line in lines if line]


_line, _gap, _letter = 16, 34, 6.6  # pixels: height of a line, between rows, width of a letter


def _svg(kernels):
    """Boxes in rows, and arrows between them."""
    edges = _edges(kernels)
    labels = {f"kernel {k.number}": _label(k) for k in kernels}
    reasons = {f"kernel {k.number}": k.why for k in kernels if k.why}
    rows = _layers(kernels, edges)
    boxes, top, right = {}, 10, 0
    for row in rows:
        left, height = 10, 0
        for name in row:
            lines = labels.get(name, [name])
            box = (left, top, _letter * max(map(len, lines)) + 16, _line * len(lines) + 10)
            boxes[name] = box
            left, height = left + box[2] + 20, max(height, box[3])
        right, top = max(right, left), top + height + _gap
    parts = [_arrow(boxes[s], boxes[to]) for s, to in edges if s in boxes]
    parts += [_box(name, boxes[name], labels, reasons) for row in rows for name in row]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{right:.0f}" height="{top - _gap + 10}" '
        'font-family="monospace" font-size="11"><defs><marker id="tip" markerWidth="8" markerHeight="8" refX="7" '
        'refY="4" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#666"/></marker></defs>'
        + "".join(parts)
        + "</svg>"
    )


def _arrow(source, to):
    x1, y1 = source[0] + source[2] / 2, source[1] + source[3]
    x2, y2 = to[0] + to[2] / 2, to[1]
    bend = (y1 + y2) / 2
    return (
        f'<path d="M{x1:.0f},{y1} C{x1:.0f},{bend} {x2:.0f},{bend} {x2:.0f},{y2}" fill="none" stroke="#666" '
        'marker-end="url(#tip)"/>'
    )


def _box(name, box, labels, reasons):
    x, y, width, height = box
    array = name not in labels
    tip = f"<title>not fused with an earlier kernel: it {escape(reasons.get(name, ''))}</title>"
    made = (
        f'<g>{tip if name in reasons else ""}<rect x="{x}" y="{y}" width="{width:.0f}" height="{height}" '
        f'rx="{12 if array else 3}" fill="{"#eef5ff" if array else "#fff8e6"}" stroke="#888"/>'
    )
    for k, line in enumerate(labels.get(name, [name])):
        weight = ' font-weight="bold"' if k == 0 else ""
        made += (
            f'<text x="{x + 8}" y="{y + 16 + _line * k}" fill="#222"{weight}>{escape(line)}</text>'
        )
    return made + "</g>"
