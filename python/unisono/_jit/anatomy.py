"""What became of each source line of a compiled function: the facts that `explain` and `annotate` show.

`versions_of` asks the engine for every specialisation: kernel IR, LLVM IR, assembly and remarks with lines, counted facts
per line (engine/ir/line_facts.h). `_Code` sorts the generated text by line; `_notes` puts facts and remarks into words.
"""

from __future__ import annotations

import ast
import os
import re
import textwrap
from collections import Counter, defaultdict

CLASSES = {
    "none": "no code of its own",
    "once": "runs once",
    "vector": "in a loop, on vectors",
    "scalar": "in a loop, one element at a time",
    "tested": "in a loop, with an index test at each access",
    "called": "in a loop, with calls or new memory",
}


class Line:
    """One source line and all that is known of it."""

    def __init__(self, number, text):
        self.number, self.text = number, text
        self.cost, self.depth = "none", 0
        self.share = None  # of the time, where it was measured
        self.notes = []  # pairs: a word for what happened, and a sentence
        self.types = {}
        self.ir, self.llvm, self.assembly = [], [], []


class Part:
    """A Python function in the compiled code: the function itself first, then those it calls."""

    def __init__(self, name, file, first, lines):
        self.name, self.file = name, file
        self.lines = [Line(first + k, text) for k, text in enumerate(lines)]

    def line(self, number):
        k = number - self.lines[0].number
        return self.lines[k] if 0 <= k < len(self.lines) else None


class Version:
    """One specialisation."""

    def __init__(self, facts):
        self.signature = facts["signature"]
        self.report = facts["report"]
        self.assembly = facts["asm"]
        self.parts = []
        seen = set()
        for name, file, first, lines in facts["sources"]:
            if (file, first) not in seen:
                seen.add((file, first))
                self.parts.append(Part(name, file, first, lines))
        _fill(self, facts)

    def line(self, file, number):
        for part in self.parts:
            if part.file == file and (found := part.line(number)):
                return found
        return None


def versions_of(function):
    """A `Version` per specialisation; raises where none is compiled."""
    versions = [Version(facts) for facts in function._remarks()]
    if not versions:
        raise ValueError(
            f"{function.__name__}: nothing is compiled yet; got no specialisation; call the function first, "
            f"or give it a signature"
        )
    return versions


def _fill(version, facts):
    code = _Code(version, facts["files"])
    code.read_ir(facts["lowered"])
    code.read_llvm(facts["llvm"])
    code.read_assembly(facts["asm"])
    built = {(f["file"], f["line"]): f for f in facts["built"]}
    made = {(f["file"], f["line"]): f for f in facts["made"]}
    remarks = defaultdict(list)
    for pass_name, name, done, _, file, line, text in facts["remarks"]:
        remarks[_plain(file), line].append((pass_name, name, done, text))
    plans = _plans(facts["report"])
    types = _types(facts["types"])
    called = defaultdict(int)  # by name: loops around the calls of it
    for part in version.parts:
        shape = _Shape(part)
        outer = called[part.name]
        _move_documentation(part, shape)
        for line in part.lines:
            key = (part.file, line.number)
            before, after = built.get(key), made.get(key)
            said = remarks.get((_plain(part.file), line.number), ())
            line.depth = outer + max((f["depth"] for f in (before, after) if f), default=0)
            line.notes = _notes(shape, line, before, after, said)
            if part is version.parts[0]:
                line.types = {n: types[n] for n in shape.names.get(line.number, ()) if n in types}
                line.notes += [("plan", text) for text in plans.get(line.number, ())]
            line.cost = _cost(shape, line, outer, after)
        for name, numbers in shape.calls.items():
            around = max(shape.around[n] for n in numbers) + outer
            called[name] = max(called[name], around)


def _move_documentation(part, shape):
    """What a function does when it is entered stands at its head, not at its first string."""
    head = part.line(shape.head)
    for line in part.lines:
        if line.number in shape.documentation and head is not None:
            for kind in ("ir", "llvm", "assembly"):
                getattr(head, kind).extend(getattr(line, kind))
                setattr(line, kind, [])


def _plain(path):
    return os.path.normpath(path)


class _Shape:
    """What the syntax says of a function's lines: loops, names, calls, the documentation text."""

    def __init__(self, part):
        self.loops, self.outer_loops = set(), set()  # lines where loops begin
        self.around = defaultdict(int)  # loops around a line, but for those that begin there
        self.names, self.calls = defaultdict(list), defaultdict(set)
        self.head, self.documentation = part.lines[0].number, range(0)
        self._first = part.lines[0].number - 1
        try:
            tree = ast.parse(textwrap.dedent("\n".join(line.text for line in part.lines)))
        except SyntaxError:  # a lambda in the middle of a statement
            return
        self._walk(tree, 0)
        function = tree.body[0]
        if isinstance(function, ast.FunctionDef):
            self.head = function.lineno + self._first
            if ast.get_docstring(function) is not None:
                text = function.body[0]
                first, last = text.lineno + self._first, text.end_lineno + self._first
                self.documentation = range(first, last + 1)

    def _walk(self, node, depth):
        number = getattr(node, "lineno", 0) + self._first
        if isinstance(node, ast.stmt):
            for n in range(number, node.end_lineno + self._first + 1):
                self.around[n] = max(self.around[n], depth)
        elif isinstance(node, (ast.Name, ast.arg)):
            name = node.id if isinstance(node, ast.Name) else node.arg
            if name not in self.names[number]:
                self.names[number].append(name)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            self.calls[node.func.id].add(number)
        is_loop = isinstance(node, (ast.For, ast.While))
        if is_loop:
            self.loops.add(number)
            if any(isinstance(n, (ast.For, ast.While)) for s in node.body for n in ast.walk(s)):
                self.outer_loops.add(number)
        for name, value in ast.iter_fields(node):
            inner = depth + (is_loop and name == "body")
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    self._walk(child, inner)


def _types(text):
    """``name: type`` lines; a name that has several types at different places lists them."""
    found = {}
    for line in text.splitlines():
        name, _, kind = line.strip().partition(": ")
        name = name.split(".")[0]
        if kind and kind not in found.get(name, "").split(" or "):
            found[name] = f"{found[name]} or {kind}" if name in found else kind
    return found


def _plans(report):
    """What the report of parallel loops says of the loop at each line."""
    found, at = defaultdict(list), None
    for line in report.splitlines():
        if not line.startswith("  "):
            head = re.search(r"at line (\d+)", line)
            at = int(head[1]) if head else None
        elif at and line.strip() and not line.endswith(": none"):
            found[at].append(line.strip())
    return found


class _Code:
    """Puts lines of generated text at the source lines that they come from."""

    def __init__(self, version, files):
        self.version, self.files = version, files

    def _add(self, file, number, kind, text):
        line = self.version.line(file, number)
        if line is not None and len(getattr(line, kind)) < 400:
            getattr(line, kind).append(text)

    def read_ir(self, text):
        for line in text.splitlines():
            if line.lstrip().startswith("fault "):
                continue
            found = re.search(r"  # line (\d+)(?: of file (\d+))?$", line)
            if found and (k := int(found[2] or 0)) < len(self.files):
                self._add(self.files[k], int(found[1]), "ir", line[: found.start()])

    def read_llvm(self, text):
        nodes = dict(re.findall(r"^(!\d+) = (?:distinct )?(!DI\w+\(.*\))$", text, re.M))

        def field(node, name):
            found = re.search(rf'\b{name}: (?:"([^"]*)"|([^,)]+))', node)
            return (found[1] if found[1] is not None else found[2]) if found else ""

        def file_of(node):
            scope = nodes.get(field(node, "scope"), "")
            file = nodes.get(field(scope, "file"), "")
            return os.path.join(field(file, "directory"), field(file, "filename"))

        for line in text.splitlines():
            found = re.search(r", !dbg (!\d+)", line)
            node = nodes.get(found[1], "") if found and line.startswith("  ") else ""
            if node.startswith("!DILocation"):
                shown = re.sub(r", ![\w.]+ !\d+", "", line).strip()
                self._add(file_of(node), int(field(node, "line")), "llvm", shown)

    def read_assembly(self, text):
        files, at = {}, None
        for line in text.splitlines():
            word, _, rest = line.strip().partition("\t")
            if line.startswith("\t.section\t.debug"):
                at = None
            elif word == ".file":
                if found := re.match(r'(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?', rest):
                    files[found[1]] = os.path.join(found[2], found[3] or "")
            elif word == ".loc":
                number, row = rest.split()[:2]
                at = (files.get(number), int(row)) if number in files else None
            elif line.startswith("\t") and not word.startswith((".", "#")) and at:
                shown = re.sub(r"\s+# .*", "", line).strip().replace("\t", " ")
                self._add(*at, "assembly", shown)


_PACKED = re.compile(r"[yz]mm|^v?(add|sub|mul|div|sqrt|min|max|fn?m(add|sub)\d*)p[sd]\b")
_IMPORTED = re.compile(r"^call[q]? \*?unisono_(scratch|block|native)")


def _cost(shape, line, outer, after):
    words = {word for word, _ in line.notes}
    if not line.assembly and not words:
        return "none"
    around = outer + shape.around[line.number]
    if line.number in shape.outer_loops:
        return "once" if around == 0 else "scalar"
    if line.depth == 0 or not line.assembly:
        return "once"
    if after and after["test_depth"]:
        return "tested"
    if around and any(_IMPORTED.match(i) for i in line.assembly):
        return "called"
    if line.number in shape.loops:
        return "vector" if "vectorised" in words else "scalar"
    return "vector" if any(_PACKED.search(i) for i in line.assembly) else "scalar"


_WHY_SCALAR = {
    "CantReorderFPOps": "products of floats keep their order, which fixes their bits (fastmath=True lets go of it)",
    "CantVectorizeCall": "it calls a function that was not inlined",
    "CantVectorizeLibcall": "it calls a function that was not inlined",
    "NonReductionValueUsedOutsideLoop": "a value goes from one iteration to the next",
    "UnsafeDep": "an iteration may read what an earlier one has written",
    "BackwardVectorizable": "an iteration may read what an earlier one has written",
    "CantIdentifyArrayBounds": "arrays may overlap, and where is not known before the loop",
    "CFGNotUnderstood": "it has more than one way out (a break, a return, or a test that can fail)",
    "UnsupportedUncountableLoop": "it has more than one way out (a break, a return, or a test that can fail)",
    "CantComputeNumberOfIterations": "it may end early (an index test, a break, a return, an error inside), "
    "or how often it runs is not known when it starts",
    "VectorizationNotBeneficial": "vectors would not be faster",
    "InterleavingNotBeneficialAndDisabled": "vectors would not be faster",
    "CantVectorizeInstruction": "it does something that vectors cannot",
    "CantVectorizeInstructionReturnType": "it does something that vectors cannot",
    "CantVectorizeStore": "it stores in a way that vectors cannot",
    "NoInductionVariable": "it does not count",
    "LoopContainsUnsupportedSwitch": "it branches to many places",
    "CantVersionLoopWithOptForSize": "it is short",
    "UncountableLoop": "how often it runs is not known when it starts",
}
_SKIPPED = {
    "MissedDetails",
    "NotInnermostLoop",
    "AllDisabled",
    "NoDefinition",
    "InterleavingNotBeneficial",
}


def _notes(shape, line, before, after, remarks):
    notes = []
    if before:
        notes += _loop_notes(shape, line, before)
        notes += _index_notes(before, after)
        if before["arrays"]:
            n = before["arrays"]
            notes.append(("memory", f"makes {n} array{'s' * (n > 1)}"))
        if before["natives"]:
            notes.append(("call", "calls a routine of the library"))
        if before["interpreted"]:
            notes.append(("interpreter", "the interpreter runs this, some microseconds each time"))
    notes += _vector_notes(remarks)
    notes += _motion_notes(remarks)
    return notes


def _loop_notes(shape, line, facts):
    kinds = facts["loops"].split()
    n = facts["computed"]
    if not kinds:
        return []
    notes = []
    if line.number not in shape.loops:
        done = (
            f"{n} operations in it"
            if n > 1
            else "1 operation in it"
            if n
            else "it copies or combines"
        )
        notes.append(("fused", f"an array statement: loops of its own, {done}"))
    if "parallel" in kinds:
        notes.append(
            ("parallel", "iterations are shared among threads where there are enough of them")
        )
    return notes


def _index_notes(before, after):
    if not before["tested"]:
        return []
    n = before["tested"]
    what = "1 index" if n == 1 else f"{n} indices"
    if after and after["test_depth"]:
        why = before["why"] or "its range cannot be told before the loop"
        return [("tested", f"tested at each access: {why}")]
    if after and after["tests"]:
        return [("tested", f"{what} tested once")]
    if before["depth"] == 0:
        return [("in range", f"{what} known to be in range")]
    return [
        (
            "hoisted",
            f"no test of {what} in the loop: known to be in range, or tested once in front of it",
        )
    ]


def _vector_notes(remarks):
    notes, missed = [], None
    for pass_name, name, done, text in remarks:
        if pass_name != "loop-vectorize":
            continue
        if done and (
            found := re.search(r"width: (?:vscale x )?(\d+), interleaved count: (\d+)", text)
        ):
            notes.append(("vectorised", _width(int(found[1]), int(found[2]))))
        elif done:
            notes.append(("unrolled", text))
        elif name not in _SKIPPED:
            missed = _WHY_SCALAR.get(name, text.removeprefix("loop not vectorized: "))
    if missed and not notes:
        notes.append(("scalar", f"not vectorised: {missed}"))
    return list(dict.fromkeys(notes))


def _width(elements, vectors):
    if elements == 1:
        return f"{vectors} iterations at a time"
    return f"{elements} elements at a time" + (
        f", {vectors} vectors in flight" if vectors > 1 else ""
    )


def _motion_notes(remarks):
    notes, moved = [], Counter()
    for pass_name, name, done, text in remarks:
        if pass_name == "licm" and done and name in ("Hoisted", "PromoteLoopAccessesToScalar"):
            found = re.search(r"hoisting (?:%\S+ = )?(\w+)", text)
            moved[{"getelementptr": "address"}.get(found[1], found[1]) if found else "store"] += 1
        elif pass_name == "licm" and name == "LoadWithLoopInvariantAddressInvalidated":
            notes.append(
                (
                    "reloaded",
                    "an element that is the same each time is read again: the loop may write it",
                )
            )
        elif pass_name == "inline":
            called = re.search(r"'([^']+)'", text)
            who = called[1] if called else "a function"
            if done:
                notes.append(("inlined", f"{who} is part of this code"))
            elif name not in _SKIPPED:
                notes.append(
                    ("call", f"{who} is called: {text.partition('because ')[2] or 'it is long'}")
                )
    if moved:
        n = sum(moved.values())
        what = ", ".join(f"{k} {op}" if k > 1 else op for op, k in moved.most_common(4))
        what += ", ..." if len(moved) > 4 else ""
        notes.append(
            ("hoisted", f"{n} instruction{'s' * (n > 1)} moved in front of the loop: {what}")
        )
    return list(dict.fromkeys(notes))
