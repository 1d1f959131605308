"""Writes the syntax trees of engine/algorithms/*.py, which the engine contains: scripts/algorithm_trees.py [--check]."""

import linecache
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = "engine/algorithms"


def tree(path):
    """Return the C++ literal with the syntax tree of the kernel that a file is named after."""
    name = path.relative_to(ROOT).as_posix()
    text = path.read_text()
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module = {"__name__": path.stem}
    exec(compile(text, name, "exec"), module)
    return f'R"tree({module[path.stem]._serialise()})tree"\n'


def main():
    stale = []
    for path in sorted((ROOT / FOLDER).glob("*.py")):
        made, target = tree(path), path.with_suffix(".tree")
        if "--check" not in sys.argv:
            target.write_text(made)
        elif not target.exists() or target.read_text() != made:
            stale.append(target.name)
    if stale:
        print(
            f"{FOLDER}: {', '.join(stale)} stale: run scripts/algorithm_trees.py", file=sys.stderr
        )
    return len(stale) > 0


if __name__ == "__main__":
    sys.exit(main())
