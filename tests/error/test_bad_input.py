"""What a user reads after a mistake: each statement of bad_input.txt with its error, word by word.

`python tests/error/test_bad_input.py` writes the file anew, to be read before it is committed.
"""

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import unisono as un

GOLDEN = Path(__file__).with_name("bad_input.txt")
STATEMENTS = """
a + un.ones(4)
a += un.ones((3, 3))
a[:] = un.ones(4)
a.reshape(4, 2)
a.reshape(-1, -1)
a.reshape(2, 3, -2)
un.concatenate([a, un.ones((3, 2))])
un.concatenate([])
un.stack([a, un.ones((3, 2))])
a @ un.ones((2, 2))
un.dot(a, un.ones(4))
un.einsum("ij,jk", a, a)
un.broadcast_to(a, (2, 2))
un.where([True, False], un.ones(3), 0)
un.zeros(3, dtype="float31")
un.sum([1, "x"])
un.asarray([[1, 2], [3]])
un.asarray(None)
un.asarray({})
un.arange(3) + "x"
i = un.arange(3); i += 0.5
a.astype("int8", casting="safe")
un.ones(3) << 1
~un.ones(3)
-un.ones(3, dtype=bool)
un.ones(3, dtype=bool) - un.ones(3, dtype=bool)
un.asarray([1], dtype="int8") + 300
un.asarray([300], dtype="int8")
un.zeros(3, dtype="uint8")[0] = -1
un.arange(3)[0] = float("nan")
int(un.asarray([float("nan")])[0])
int(un.asarray([float("inf")])[0])
float(un.asarray([1j])[0])
bool(a)
float(a)
[1, 2][un.asarray([1.0])[0]]
len(a[0, 0])
hash(a)
a.sum(axis=2)
a.max(axis=-3)
a.prod(axis=(0, 0))
a.sum(axis=1.0)
un.sum(a, axes=1)
un.mean(a, axis=7)
un.sort(a, axis=5)
un.cumsum(a, axis=2)
un.concatenate([a, a], axis=3)
a.transpose(0, 0)
un.moveaxis(a, 0, 4)
un.squeeze(a, axis=0)
un.zeros(0).max()
un.zeros(0).argmax()
a[5, 0]
a[-3]
a[0, 0, 0]
a[1.5]
a["x"]
a[..., ...]
a[un.asarray([0, 7])]
a[[0, -9]]
a[un.asarray([True, False, True])]
a[9, 0] = 1
un.take(a, [9], axis=0)
un.broadcast_to(a, (2, 2, 3))[0] = 1
a[0, 0][()] = 1
un.arange(3) ** -1
un.zeros(-1)
un.zeros((2, -5))
un.empty((3, -1), dtype="int8")
un.full(-2, 7)
un.eye(-1)
un.zeros(2.5)
un.arange(0, 1, 0)
un.linspace(0, 1, -1)
un.zeros((10**6, 10**8))
un.empty((2**40, 2**40))
float(un.ones(2**44).sum())
un.linalg.inv(un.zeros((2, 2)))
un.linalg.inv(a)
un.linalg.cholesky(-un.eye(2))
un.linalg.solve(un.eye(2), un.ones(3))
un.fft.fft(a, n=0)
un.random.default_rng(0).normal(scale=-1)
un.random.default_rng(0).integers(5, 2)
un.random.default_rng(0).choice(3, 5, replace=False)
un.percentile(a, 120)
un.add(a, a, axis=1)
un.add(a, a, out=un.zeros(3))
un.add(a, a, out=un.zeros((2, 3), dtype="int32"))
un.frombuffer(b"abc", dtype="float64")
un.asarray([1.0]).view("float64").view("complex128")
a.T.view("float32")
un.flobble
un.float_
un.int
un.trapz
a.flobble
un.set_printoptions(precision=1.5)
un.set_num_threads(0)
un.load("/nonexistent.npy")
un.load(files / "garbage.npy")
un.load(files / "empty.npy")
un.load(files / "short.npy")
un.load(files / "lying.npy")
un.load(files / "objects.npy")
un.load(files / "archive.npz")["b"]
un.loadtxt(files / "ragged.txt")
un.loadtxt(files / "words.txt")
un.fromfile(files / "nothing.bin")
un.memmap(files / "ragged.txt", "float64", "r", shape=100)
un.save("/nonexistent/x.npy", a)
un.save(open("/dev/full", "wb", buffering=0), un.ones(100000))
un.savetxt("/dev/full", un.ones(10000))
un.ones(100000).tofile("/dev/full")
"""


def write_files(folder):
    """Files that lie, each in its way."""
    un.save(folder / "good.npy", un.arange(6.0).reshape(2, 3))
    good = (folder / "good.npy").read_bytes()
    un.savez(folder / "archive.npz", a=un.ones(2))
    contents = {
        "garbage.npy": b"garbage" * 10,
        "empty.npy": b"",
        "short.npy": good[:-8],
        "lying.npy": good.replace(b"(2, 3)", b"(9, 9)"),
        "objects.npy": good.replace(b"'<f8'", b"'|O' "),
        "ragged.txt": b"1 2\n3\n",
        "words.txt": b"1 x\n",
    }
    for name, data in contents.items():
        (folder / name).write_bytes(data)


def message_of(statement, files):
    """Class and text of the error that a statement raises; the array that it touched is unharmed."""
    a = un.arange(6.0).reshape(2, 3) * 1
    names = {"un": un, "a": a, "files": files}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(statement, names)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
    else:
        text = "nothing is raised"
    assert a.tolist() == [[0, 1, 2], [3, 4, 5]], statement
    text = text.replace(str(files), "FILES").replace("\n", " | ")
    # CPython 3.13 words this differently.
    keyword = r"(\w+)\(\) got an unexpected keyword argument '(\w+)'\. Did you mean '\w+'\?"
    text = re.sub(keyword, r"'\2' is an invalid keyword argument for \1()", text)
    return re.sub(r"(limit of|present:|expected one of bool,) [^;]*", r"\1 ...", text)


def golden():
    blocks = GOLDEN.read_text().strip().split("\n\n") if GOLDEN.exists() else []
    return dict(block.split("\n    ", 1) for block in blocks)


@pytest.mark.parametrize("statement", STATEMENTS.strip().splitlines())
def test_the_message(statement, tmp_path):
    write_files(tmp_path)
    assert message_of(statement, tmp_path) == golden()[statement]


def test_every_row_of_the_golden_file_is_tried_and_raises():
    assert list(golden()) == STATEMENTS.strip().splitlines()
    assert [s for s, text in golden().items() if text == "nothing is raised"] == []


@pytest.mark.parametrize(
    "program, expected",
    [
        ("un.asarray([float('nan'), 1e30]).astype('int32').tolist()", [-(2**31)] * 2),
        ("(un.asarray([1.0, 0.0]) / 0).tolist()", "[inf, nan]"),
        ("(un.arange(3) // 0).tolist()", [0, 0, 0]),
        ("(un.arange(3) % 0).tolist()", [0, 0, 0]),
        ("un.sqrt(un.asarray([-1.0])).tolist()", "[nan]"),
    ],
)
def test_what_is_no_error_has_a_defined_result(program, expected):
    got = eval(program)
    assert got == expected or str(got) == expected


def test_a_program_goes_on_after_each_mistake(tmp_path):
    """The process survives all of them in a row, and computes."""
    write_files(tmp_path)
    for statement in STATEMENTS.strip().splitlines():
        message_of(statement, tmp_path)
    x = un.arange(1000) * 2.0
    assert float(x.sum()) == 999000


PROGRAM_ON_A_BROKEN_CACHE = """
import os, unisono as un
x = un.arange(300_000) * 0.5
for _ in range(3):
    y = un.sqrt(x * x + 1) - x
    un.eval(y)
print(float(y[0]))
"""


def run(folder):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM_ON_A_BROKEN_CACHE],
        env={**os.environ, "UNISONO_CACHE_DIR": str(folder), "UNISONO_EXECUTOR": "cpu"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("damage", ["flip", "empty", "cut", "text", "folder"])
def test_a_corrupt_entry_in_the_cache_is_compiled_again(tmp_path, damage):
    assert run(tmp_path) == "1.0"
    entries = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    assert entries
    for entry, data in entries.items():
        if damage == "folder":
            entry.unlink()
            entry.mkdir()
            continue
        flipped = (
            data[: len(data) // 2]
            + bytes([data[len(data) // 2] ^ 255])
            + data[len(data) // 2 + 1 :]
        )
        entry.write_bytes(
            {"flip": flipped, "empty": b"", "cut": data[:-9], "text": b"text"}[damage]
        )
    assert run(tmp_path) == "1.0"
    if damage != "folder":
        assert all(entry.read_bytes() == data for entry, data in entries.items())


def test_a_cache_on_a_full_or_missing_disk_costs_nothing_but_time():
    for folder in ("/dev/full", "/proc/none"):
        assert run(folder) == "1.0"


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        rows = [f"{s}\n    {message_of(s, folder)}" for s in STATEMENTS.strip().splitlines()]
    GOLDEN.write_text("\n\n".join(rows) + "\n")
