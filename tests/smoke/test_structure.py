"""What the engine's design excludes, looked for in its sources."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def sources(*folders):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".cpp", ".h", ".def"):
                yield path.relative_to(ROOT).as_posix(), path.read_text()


# Who reads an array's memory on the host, and why that is no statement of the tape.
HOST_MEMORY = {
    "engine/api/arrays.cpp": "memory that C programs open",
    "engine/tape/record/views.cpp": "where it is defined",
    "engine/tape/record/record.h": "where it is declared",
    "engine/library/gather/index.cpp": "positions, tested before an indexing statement returns",
    "engine/library/random/bit_stream.cpp": "parameters of NumPy's generators, whose state is a Python object's",
    "engine/comm/parts/exchange.cpp": "counts that say how much ranks exchange",
    "engine/comm/parts/factoring.cpp": "signs of a factor, found step by step",
    "bindings/array/exchange/buffer.cpp": "buffers of Python",
    "bindings/array/exchange/dlpack.cpp": "capsules",
    "bindings/array/methods.cpp": "bytes and lists of an array",
    "bindings/array/shape.cpp": "views of other libraries",
    "bindings/functions/fast_calls.cpp": "few elements of calls that run at once",
    "bindings/functions/linalg.cpp": "Fortran procedures, by address",
}


def test_only_the_doors_read_memory_on_the_host():
    found = {
        name for name, text in sources("engine", "bindings") if re.search(r"\bhost_data\(", text)
    }
    assert found == set(HOST_MEMORY)


@pytest.mark.parametrize(
    "pattern",
    [
        r"std::function<void\(std::span<const View>",  # operations as closures over memory
        r"\bTape::instance\b",
        r"^\s*static (thread_local )?(Tape|Places|Layouts|Flights|Counters)\b[ &*]+\w+\s*[;={]",  # state of a context
    ],
)
def test_the_engine_has_none_of(pattern):
    found = [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}"
        for name, text in sources("engine", "bindings")
        for match in re.finditer(pattern, text, re.MULTILINE)
    ]
    assert found == []


def test_lower_rooms_do_not_know_those_above():
    """Arrows point down: what a room includes lies beside it or below (docs/layout.md)."""
    above = {
        "core": "ops ir passes backends tape primitives library frontend algorithms comm api",
        "ops": "passes backends tape primitives library frontend algorithms comm api",
        "ir": "passes backends tape primitives library frontend algorithms comm api",
        "passes": "backends tape primitives library frontend algorithms comm api",
        "backends": "tape primitives library algorithms comm api",
        "tape": "library frontend algorithms comm api",
    }
    wrong = [
        f"{name} includes {room}"
        for folder, rooms in above.items()
        for name, text in sources(f"engine/{folder}")
        for room in rooms.split()
        if not (room == "tape" and name.startswith("engine/backends/block/"))  # the named exception
        and re.search(rf'^#include "{room}/', text, re.MULTILINE)
    ]
    assert wrong == []
