"""Writes the syntax trees of engine/algorithms/*.py, which the engine contains: scripts/algorithm_trees.py [--check]."""

import linecache
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = "engine/algorithms"


def rows(path):
    """Return the rows of a file's kernels in the table of algorithms: names and syntax trees as C++ literals."""
    name = path.relative_to(ROOT).as_posix()
    text = path.read_text()
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module = {"__name__": path.stem}
    exec(compile(text, name, "exec"), module)
    kernels = [k for k, v in module.items() if hasattr(v, "_serialise")]
    return "".join(f'{{"{k}", R"tree({module[k]._serialise()})tree"}},\n' for k in kernels)


def main():
    stale = []
    for path in sorted((ROOT / FOLDER).glob("*.py")):
        made, target = rows(path), path.parent / "trees" / f"{path.stem}.tree"
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
